//! Late views: people who hide people are drawn first, and the others only if somebody sees them.

use super::walls::{Canvas, Walls};
use crate::reference::words::Fails;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::read_image::{ImageRead, read_image};
use crate::support::{SMALL, Setup, each, placed, view};
use throng::ash::vk;
use throng::glam::{Affine3A, Quat, Vec3, vec3};
use throng::{
    Capacity, Crowd, Frame, PassDesc, PassId, PassKind, Play, Stages, View, ViewStats, builtin,
};
use throng_standalone::{Begin, Target, TargetDesc};

const ROWS: usize = 12;
const COLUMNS: usize = 10;
const MOTION: vk::Format = vk::Format::R32G32_SFLOAT;

/// A crowd that walks on the spot behind giants, once as it is and once behind late views.
struct World {
    crowds: [Crowd; 2],
    colors: [PassId; 2],
    motions: [PassId; 2],
    canvas: Canvas,
    walls: Walls,
    motion: Target,
    frames_in_flight: FramesInFlight,
    now_s: f64,
}

/// The figures of the frame before, and the pictures.
struct Drawn {
    before: Option<ViewStats>,
    color: Vec<u8>,
    motion: Vec<u8>,
}

impl World {
    fn new(setup: &mut Setup) -> Self {
        let capacity = Capacity {
            instances: 128,
            palette_entries: 8192,
            histories: 1,
            depth_pixels: EXTENT.width * EXTENT.height,
            late_views: 1,
            ..SMALL
        };
        let crowds = [(); 2].map(|()| setup.crowd_with(Stages::Gpu, 1, capacity));
        let mut walls = Walls::new(&setup.context);
        walls.set(&[]);
        let canvas = Canvas::new(&setup.context, &walls, [EXTENT.width, EXTENT.height], 1);
        let desc = TargetDesc {
            name: "motion",
            extent: EXTENT,
            color_format: MOTION,
            ..TargetDesc::default()
        };
        let motion = Target::new(&setup.context, &desc).unwrap();
        let mut crowds = crowds;
        let colors = crowds
            .each_mut()
            .map(|crowd| unsafe { crowd.create_pass(&canvas.target.pass_desc()) }.unwrap());
        let motions = crowds.each_mut().map(|crowd| {
            let desc = PassDesc {
                kind: PassKind::Motion,
                ..motion.pass_desc()
            };
            unsafe { crowd.create_pass(&desc) }.unwrap()
        });
        let mannequin = builtin::mannequin().unwrap().character;
        for crowd in &mut crowds {
            let kind = setup.add(crowd, &mannequin);
            for number in 0..ROWS * COLUMNS {
                let (row, column) = ((number / COLUMNS) as f32, (number % COLUMNS) as f32);
                // The trunks of giants stand in front of the others, and cover most of them.
                let giant = row == 0.0;
                let (scale, low) = if giant { (5.0, -5.5) } else { (1.0, 0.0) };
                let place = vec3(column * 0.6 - 2.7, low, -row * 0.7);
                let turn = Quat::from_rotation_y(if giant { 0.0 } else { 0.3 * column });
                let clip = ["Walk", "Idle"][number % 2];
                let size = Vec3::splat(scale);
                let place = Affine3A::from_scale_rotation_translation(size, turn, place);
                crowd.spawn(kind, &placed(place, Play::new(clip))).unwrap();
            }
        }
        Self {
            crowds,
            colors,
            motions,
            canvas,
            walls,
            motion,
            frames_in_flight: FramesInFlight::new(&setup.context, 1),
            now_s: 0.0,
        }
    }

    fn view(&self, late: bool) -> View {
        let along = vec3(0.2 * self.now_s as f32, 0.0, 0.0);
        let eye = vec3(0.0, 1.6, 3.0) + along;
        View {
            history: Some(0),
            late,
            ..view(eye, vec3(0.0, 1.0, -4.0) + along, EXTENT)
        }
    }

    /// Draws a frame of one of the crowds. `draws` records colour, after the frame was prepared.
    fn frame(
        &mut self,
        setup: &mut Setup,
        side: usize,
        draws: impl FnOnce(&mut Frame<'_>, &Scene<'_>),
    ) -> Drawn {
        let view = self.view(side == 1);
        let cmd = self.frames_in_flight.begin(&setup.context, 0);
        let device = setup.context.device.clone();
        let crowd = &mut self.crowds[side];
        let mut frame = setup.begin(crowd, 0, self.now_s);
        let before = frame.view_stats().first().copied();
        let ids = unsafe { frame.record_prepare(cmd, &[view]) }.unwrap();
        let scene = Scene {
            device: &device,
            cmd,
            canvas: &self.canvas,
            pass: self.colors[side],
            view: ids[0],
        };
        draws(&mut frame, &scene);
        let begin = Begin {
            color: [9.0; 4],
            ..Begin::default()
        };
        unsafe {
            self.motion.begin(&device, cmd, &begin);
            frame.record_draw(cmd, ids[0], self.motions[side]).unwrap();
            self.motion.end(&device, cmd);
        }
        self.frames_in_flight.submit(&setup.context, 0);
        self.frames_in_flight.wait(&setup.context, 0);
        let read = ImageRead {
            image: self.motion.color().0,
            aspect: vk::ImageAspectFlags::COLOR,
            layout: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
            layer: 0,
            extent: EXTENT,
            texel_bytes: 8,
        };
        Drawn {
            before,
            color: self.canvas.target.read_rgba().unwrap(),
            motion: unsafe { read_image(&setup.context, &read) }.unwrap(),
        }
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        for crowd in self.crowds {
            unsafe { crowd.destroy(&mut setup.context.allocator()) };
        }
        self.canvas.destroy(&setup.context);
        self.walls.destroy(&setup.context);
    }
}

/// The target of a frame.
struct Scene<'a> {
    device: &'a throng::ash::Device,
    cmd: vk::CommandBuffer,
    canvas: &'a Canvas,
    pass: PassId,
    view: throng::ViewId,
}

impl Scene<'_> {
    /// Draws the view alone.
    fn draw(&self, frame: &Frame<'_>) {
        unsafe {
            let target = &self.canvas.target;
            target.begin(self.device, self.cmd, &Begin::default());
            frame.record_draw(self.cmd, self.view, self.pass).unwrap();
            target.end(self.device, self.cmd);
        }
    }

    fn reveal(&self, frame: &mut Frame<'_>) {
        self.canvas.read_only(self.device, self.cmd);
        let depth = self.canvas.depth(false);
        unsafe { frame.record_reveal(self.cmd, &[depth]) }.unwrap();
    }

    /// Draws what was seen, reveals, and draws the rest on top.
    fn draw_in_parts(&self, frame: &mut Frame<'_>) {
        self.draw(frame);
        self.reveal(frame);
        self.canvas.resume(self.device, self.cmd);
        unsafe {
            let late = self.view.late();
            frame.record_draw(self.cmd, late, self.pass).unwrap();
            self.canvas.target.end(self.device, self.cmd);
        }
    }

    /// Draws what was seen, reveals, and draws everything once more.
    fn draw_again(&self, frame: &mut Frame<'_>) {
        self.draw(frame);
        self.reveal(frame);
        self.draw(frame);
    }
}

/// Colour is that of a crowd without late views, from the first frame on, and so is motion where no
/// instance was revealed. Most of the crowd is hidden, and little is revealed.
#[test]
fn people_hide_people() {
    each(|setup| {
        let mut world = World::new(setup);
        let mut before: Option<[Drawn; 2]> = None;
        let (mut moved, mut figures) = (0, Vec::new());
        for number in 0..12 {
            let plain = world.frame(setup, 0, |frame, scene| scene.draw(frame));
            let late = world.frame(setup, 1, |frame, scene| {
                if number % 2 == 0 {
                    scene.draw_in_parts(frame);
                } else {
                    scene.draw_again(frame);
                }
            });
            assert!(plain.color == late.color, "frame {number}");
            if let Some([all, some]) = before.replace([plain, late]) {
                let [all_stats, stats] =
                    [0, 1].map(|side| before.as_ref().unwrap()[side].before.unwrap());
                assert_eq!(all_stats.shown, stats.shown + stats.hidden);
                assert_eq!(all_stats.outside, stats.outside);
                if stats.late == 0 {
                    assert!(all.motion == some.motion, "frame {}", number - 1);
                    moved += usize::from(all.motion != vec![0; all.motion.len()]);
                }
                figures.push(stats);
            }
            world.now_s += 1.0 / 60.0;
        }
        for ViewStats {
            shown,
            hidden,
            late,
            ..
        } in &figures
        {
            println!("{shown} shown, {hidden} hidden, {late} late");
        }
        // All are late in the first frame. Later ones hide a tenth of them or more, and reveal few:
        // 12 to 23 of 120 were measured on lavapipe.
        assert_eq!(figures[0].late, figures[0].shown);
        let rest = &figures[2..];
        assert!(
            rest.iter()
                .all(|stats| stats.hidden * 10 >= stats.shown + stats.hidden)
        );
        assert!(rest.iter().all(|stats| stats.late * 5 <= stats.shown));
        assert!(moved >= 2, "{moved}");
        world.destroy(setup);
    });
}

/// Mistakes are refused, and a frame without a reveal does no harm to the next one.
#[test]
fn reveals_come_once_in_a_frame() {
    each(|setup| {
        let mut world = World::new(setup);
        for number in 0..4 {
            let plain = world.frame(setup, 0, |frame, scene| scene.draw(frame));
            let late = world.frame(setup, 1, |frame, scene| {
                let draw = |frame: &Frame<'_>| unsafe {
                    frame.record_draw(scene.cmd, scene.view.late(), scene.pass)
                };
                draw(frame).fails("view: is late, but Frame::record_reveal was not called");
                if number == 1 {
                    // Nobody sees what is held back.
                    scene.draw(frame);
                    return;
                }
                scene.draw_again(frame);
                unsafe { frame.record_reveal(scene.cmd, &[]) }.fails("frame: was already revealed");
            });
            assert!(number == 1 || plain.color == late.color, "frame {number}");
            world.now_s += 1.0 / 60.0;
        }
        let capacity = world.crowds[1].capacity();
        let cmd = world.frames_in_flight.begin(&setup.context, 0);
        let view = world.view(true);
        let mut frame = setup.begin(&mut world.crowds[1], 0, world.now_s);
        unsafe {
            frame
                .record_reveal(cmd, &[])
                .fails("frame: was not prepared");
            let plain = View {
                history: None,
                late: false,
                ..view
            };
            frame
                .record_prepare(cmd, &[plain, view])
                .fails("view 1: …late views…Capacity::late_views…");
            assert_eq!(capacity.late_views, 1);
            frame.record_prepare(cmd, &[plain]).unwrap();
            frame.record_reveal(cmd, &[]).unwrap();
            setup.context.device.end_command_buffer(cmd).unwrap();
            world.crowds[1].abandon_frame();
        }
        world.destroy(setup);
    });
}
