//! People who hide people: late views, with reveals that are submitted, lost or refused.

use crate::support::{
    COLOR, SIZE, SKY, Target, clip_from_world, desc, descriptor, gpu, idle, messages, pass_desc,
    read, texture, whole,
};
use throng::glam::{Affine3A, Mat4, Vec3, vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::{Capacity, CharacterDesc, PassId, PassKind, Play, Spawn, Stages, View, ViewStats};
use throng_reference::picture::{covered, different};
use throng_reference::ribbon::{built, ribbon};
use throng_wgpu::{Crowd, Depth, Encoder, Error, Frame, Gpu, PassDesc, throng};

const MOTION: wgpu::TextureFormat = wgpu::TextureFormat::Rg16Float;
/// People behind the giant, whom nobody sees.
const BEHIND: u32 = 4;

/// A crowd with a giant, people behind it and people beside it.
struct World {
    gpu: Gpu,
    crowd: Crowd,
    color: PassId,
    motion: PassId,
    screen: Screen,
    late: bool,
}

/// The attachments.
struct Screen {
    target: Target,
    velocity: wgpu::Texture,
}

/// The pictures of a frame, with the figures of the one before.
struct Drawn {
    color: Vec<u8>,
    motion: Vec<u8>,
    before: ViewStats,
}

/// The end of a frame's encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Submitted,
    /// The engine submits the command buffers itself.
    ByEngine,
    /// The encoder is dropped.
    Dropped,
    /// It is kept until the next frame has begun, and submitted then.
    Kept,
    /// wgpu rejects it, because of another command.
    Rejected,
    /// The command buffers are dropped by an engine, which says so.
    DroppedByEngine,
}

impl End {
    const LOST: [Self; 4] = [
        Self::Dropped,
        Self::Kept,
        Self::Rejected,
        Self::DroppedByEngine,
    ];
}

impl Screen {
    /// Draws into colour and depth, or motion and depth, which are cleared first or loaded.
    fn draw(
        &self,
        (frame, encoder): (&Frame<'_>, &mut Encoder),
        (view, pass): (throng::ViewId, PassId),
        (moves, clear): (bool, bool),
    ) -> Result<(), Error> {
        let (color, sky) = match moves {
            true => (&self.velocity, wgpu::Color::TRANSPARENT),
            false => (&self.target.color, SKY),
        };
        let (color, depth) = (whole(color), whole(&self.target.depth));
        let mut colors = Vec::new();
        let desc = descriptor(&mut colors, (&color, None, &depth), clear);
        let mut colors = desc.color_attachments.to_vec();
        if clear && let Some(color) = &mut colors[0] {
            color.ops.load = wgpu::LoadOp::Clear(sky);
        }
        let desc = wgpu::RenderPassDescriptor {
            color_attachments: &colors,
            ..desc
        };
        frame.draw(encoder, view, pass, &desc)
    }
}

impl World {
    fn new(gpu: &Gpu, late: bool) -> Self {
        let mut desc = desc(3, Stages::Gpu);
        desc.capacity = Capacity {
            depth_pixels: SIZE.width * SIZE.height,
            late_views: 1,
            histories: 1,
            ..desc.capacity
        };
        let mut crowd = Crowd::new(gpu, &desc).unwrap();
        let person = built(ribbon(4)).character;
        let person = crowd
            .add_character(&person, &CharacterDesc::default())
            .unwrap();
        let giant = RawPrimitive::cuboid(vec3(8.0, 12.0, 0.2));
        let giant = RawCharacter::rigid("giant", vec![giant], Vec::new());
        let giant = giant.build(&ImportOptions::default()).unwrap().character;
        let giant = crowd
            .add_character(&giant, &CharacterDesc::default())
            .unwrap();
        let mut spawn = |kind, at: Vec3, play: Play<'static>| {
            let world_from_model = Affine3A::from_translation(at);
            let spawn = Spawn {
                world_from_model,
                play,
                ..Spawn::default()
            };
            crowd.spawn(kind, &spawn).unwrap();
        };
        spawn(giant, vec3(4.2, 2.0, 2.0), Play::REST);
        for number in 0..BEHIND {
            let x = 1.2 + 0.2 * number as f32;
            spawn(person, vec3(x, 0.5, -4.0), "sway".into());
        }
        for (x, clip) in [(-2.0, "sway"), (-1.1, "turn")] {
            spawn(person, vec3(x, 0.0, 0.0), clip.into());
        }
        let color = crowd.create_pass(&pass_desc(1)).unwrap();
        let motion = PassDesc {
            kind: PassKind::Motion,
            color_formats: &[Some(MOTION)],
            ..pass_desc(1)
        };
        let motion = crowd.create_pass(&motion).unwrap();
        Self {
            gpu: gpu.clone(),
            crowd,
            color,
            motion,
            screen: Screen {
                target: Target::new(gpu, SIZE, 1),
                velocity: texture(gpu, MOTION, SIZE, 1),
            },
            late,
        }
    }

    fn view(&self, time_s: f64) -> View {
        let (clip_from_world, eye) = clip_from_world();
        let moved = Mat4::from_translation(Vec3::X * 0.02 * time_s as f32);
        View {
            history: Some(0),
            late: self.late,
            ..throng_wgpu::view(clip_from_world * moved, eye, SIZE)
        }
    }

    /// One frame, or `None` if it is lost.
    fn frame(&mut self, time_s: f64, end: End) -> Option<Drawn> {
        let mut encoder = Encoder::new(&self.gpu);
        let view = self.view(time_s);
        self.crowd.update(time_s).unwrap();
        if end == End::Rejected {
            // First of all, because wgpu has noted the layouts of what comes before.
            let gone = texture(&self.gpu, COLOR, SIZE, 1);
            let (color, depth) = (whole(&gone), whole(&self.screen.target.depth));
            let mut colors = Vec::new();
            let desc = descriptor(&mut colors, (&color, None, &depth), true);
            drop(encoder.begin_render_pass(&desc));
            gone.destroy();
        }
        let mut frame = self.crowd.begin_frame(time_s).unwrap();
        let before = frame.view_stats().first().copied().unwrap_or_default();
        let views = frame.prepare(&[view]).unwrap();
        let screen = &self.screen;
        screen
            .draw(
                (&frame, &mut encoder),
                (views[0], self.color),
                (false, true),
            )
            .unwrap();
        if self.late {
            let late = views[0].late();
            let early = screen.draw((&frame, &mut encoder), (late, self.color), (false, false));
            assert!(matches!(early, Err(Error::Throng(_))), "{early:?}");
            let depths = [Depth::new(&screen.target.depth)];
            frame.reveal(&mut encoder, &depths).unwrap();
            let twice = frame.reveal(&mut encoder, &depths);
            assert!(matches!(twice, Err(Error::Throng(_))), "{twice:?}");
            screen
                .draw((&frame, &mut encoder), (late, self.color), (false, false))
                .unwrap();
        }
        screen
            .draw(
                (&frame, &mut encoder),
                (views[0], self.motion),
                (true, true),
            )
            .unwrap();
        self.end(encoder, time_s, end);
        idle(&self.gpu);
        (!End::LOST.contains(&end)).then(|| Drawn {
            color: read(&self.gpu, &self.screen.target.color),
            motion: read(&self.gpu, &self.screen.velocity),
            before,
        })
    }

    fn end(&mut self, encoder: Encoder, time_s: f64, end: End) {
        match end {
            End::Submitted => drop(encoder.submit().unwrap()),
            End::Dropped => drop(encoder),
            End::Kept => {
                self.crowd.begin_frame(time_s).unwrap();
                let kept = encoder.submit();
                assert!(matches!(kept, Err(Error::Late { .. })), "{kept:?}");
            }
            End::Rejected => {
                let rejected = encoder.submit();
                assert!(
                    matches!(rejected, Err(Error::Rejected { .. })),
                    "{rejected:?}"
                );
            }
            End::ByEngine | End::DroppedByEngine => {
                // SAFETY: they are submitted in order, in one call, or abandoned.
                let commands = unsafe { encoder.into_command_buffers() };
                if end == End::ByEngine {
                    self.gpu.queue().submit(commands);
                } else {
                    drop(commands);
                    self.crowd.abandon_reveal();
                }
            }
        }
    }
}

/// Colour and motion are those of a crowd that draws everybody, although nobody behind the giant is
/// drawn, and although some frames are lost: after those, motion is that since the frame before.
#[test]
fn pictures_are_those_of_everybody() {
    let gpu = gpu();
    let [mut all, mut some] = [false, true].map(|late| World::new(&gpu, late));
    let some_lost = |lost| [lost, End::ByEngine, End::Submitted, lost, End::Submitted];
    let mut ends = vec![End::Submitted; 6];
    ends.extend(End::LOST.into_iter().flat_map(some_lost));
    ends.extend([End::Submitted; 4]);
    let last = ends.len() - 1;
    for (number, end) in ends.into_iter().enumerate() {
        let time_s = 0.1 * number as f64;
        let Some(drawn) = some.frame(time_s, end) else {
            // What was lost never was.
            continue;
        };
        let whole = all.frame(time_s, End::Submitted).unwrap();
        let what = format!("frame {number}, {end:?}");
        assert!(covered(&whole.color) > 500);
        assert_eq!(different(&whole.color, &drawn.color, 0), 0, "{what}");
        // In the first frame, nobody moves yet.
        assert_eq!(
            number > 0,
            whole.motion.iter().any(|byte| *byte != 0),
            "{what}"
        );
        assert_eq!(different(&whole.motion, &drawn.motion, 0), 0, "{what}");
        // Figures are three frames late. Depth of the first frame is empty, so it reveals all. They
        // are drawn once more, and their depth hides some.
        let all = BEHIND + 3;
        let figures = match number {
            0..3 => continue,
            3 => (all, 0, all),
            4 => (all, 0, 0),
            _ if number == 5 || number == last => (3, BEHIND, 0),
            _ => continue,
        };
        let before = drawn.before;
        assert_eq!(
            (before.shown, before.hidden, before.late),
            figures,
            "{what}"
        );
    }
    drop((all, some, gpu));
    messages::expect_none();
}

/// Draws after a reveal are submitted after it, in whatever encoder. Otherwise they are refused, as
/// is a reveal without a frame, of another device, or with a texture that has no depth.
#[test]
fn draws_without_their_reveal_are_refused() {
    let gpu = gpu();
    let mut world = World::new(&gpu, true);
    for (number, in_order) in [true, false, true].into_iter().enumerate() {
        let time_s = 0.1 * number as f64;
        let view = world.view(time_s);
        world.crowd.update(time_s).unwrap();
        let [mut first, mut second] = [(); 2].map(|()| Encoder::new(&gpu));
        let (color, depth) = (
            whole(&world.screen.target.color),
            whole(&world.screen.target.depth),
        );
        let mut frame = world.crowd.begin_frame(time_s).unwrap();
        let unprepared = frame.reveal(&mut first, &[]);
        assert!(
            matches!(unprepared, Err(Error::NotPrepared)),
            "{unprepared:?}"
        );
        let views = frame.prepare(&[view]).unwrap();
        let other = crate::support::gpu();
        let other = frame.reveal(&mut Encoder::new(&other), &[]);
        assert!(matches!(other, Err(Error::OtherEncoder)), "{other:?}");
        let no_depth = frame.reveal(&mut first, &[Depth::new(&world.screen.target.color)]);
        assert!(
            matches!(no_depth, Err(Error::Format { .. })),
            "{no_depth:?}"
        );
        let mut colors = Vec::new();
        let desc = descriptor(&mut colors, (&color, None, &depth), true);
        frame
            .draw(&mut first, views[0], world.color, &desc)
            .unwrap();
        let depths = [Depth::new(&world.screen.target.depth)];
        frame.reveal(&mut first, &depths).unwrap();
        frame
            .draw(&mut second, views[0], world.color, &desc)
            .unwrap();
        if in_order {
            first.submit().unwrap();
            second.submit().unwrap();
        } else {
            let early = second.submit();
            assert!(
                matches!(early, Err(Error::Unrevealed { frame: 2 })),
                "{early:?}"
            );
            first.submit().unwrap();
        }
        idle(&gpu);
    }
    assert!(covered(&read(&gpu, &world.screen.target.color)) > 500);
    drop((world, gpu));
    messages::expect_none();
}

/// The game goes on between a frame and its draws, after its reveal or without one. Only the frame
/// itself records a reveal.
#[test]
fn late_views_of_resumed_frames() {
    let gpu = gpu();
    let [mut all, mut some] = [false, true].map(|late| World::new(&gpu, late));
    for number in 0..4 {
        let time_s = 0.1 * f64::from(number);
        let whole = all.frame(time_s, End::Submitted).unwrap();
        let mut encoder = Encoder::new(&gpu);
        let view = some.view(time_s);
        some.crowd.update(time_s).unwrap();
        let mut frame = some.crowd.begin_frame(time_s).unwrap();
        let views = frame.prepare(&[view]).unwrap();
        let (early, late) = ((views[0], some.color), (views[0].late(), some.color));
        let to = (&frame, &mut encoder);
        some.screen.draw(to, early, (false, true)).unwrap();
        let depths = [Depth::new(&some.screen.target.depth)];
        frame.reveal(&mut encoder, &depths).unwrap();
        let ids: Vec<_> = some.crowd.instances().collect();
        let saved = some.crowd.snapshot();
        for id in ids {
            some.crowd.despawn(id).unwrap();
        }
        some.crowd.update(time_s + 0.05).unwrap();
        let mut frame = some.crowd.resume_frame().unwrap();
        let twice = frame.reveal(&mut encoder, &depths);
        assert!(matches!(twice, Err(Error::Throng(_))), "{twice:?}");
        let to = (&frame, &mut encoder);
        some.screen.draw(to, late, (false, false)).unwrap();
        encoder.submit().unwrap();
        let color = read(&gpu, &some.screen.target.color);
        assert_eq!(different(&whole.color, &color, 0), 0, "frame {number}");
        some.crowd.restore(&saved).unwrap();
    }
    // A frame without a reveal draws those seen before, and cannot be revealed once it is resumed.
    let view = some.view(0.4);
    some.crowd.update(0.4).unwrap();
    let mut frame = some.crowd.begin_frame(0.4).unwrap();
    let views = frame.prepare(&[view]).unwrap();
    some.crowd.update(0.5).unwrap();
    let mut frame = some.crowd.resume_frame().unwrap();
    let mut encoder = Encoder::new(&gpu);
    let to = (&frame, &mut encoder);
    some.screen
        .draw(to, (views[0], some.color), (false, true))
        .unwrap();
    let depths = [Depth::new(&some.screen.target.depth)];
    let refused = frame.reveal(&mut encoder, &depths).unwrap_err();
    assert!(refused.to_string().contains("resumed"), "{refused}");
    let to = (&frame, &mut encoder);
    let late = (views[0].late(), some.color);
    let unrevealed = some.screen.draw(to, late, (false, false));
    assert!(
        matches!(unrevealed, Err(Error::Throng(_))),
        "{unrevealed:?}"
    );
    encoder.submit().unwrap();
    // The lists of an abandoned reveal have nothing in them that may be drawn.
    let view = some.view(0.5);
    let mut frame = some.crowd.begin_frame(0.5).unwrap();
    frame.prepare(&[view]).unwrap();
    let mut encoder = Encoder::new(&gpu);
    frame.reveal(&mut encoder, &depths).unwrap();
    some.crowd.resume_frame().unwrap();
    drop(encoder);
    some.crowd.abandon_reveal();
    let resumed = some.crowd.resume_frame();
    assert!(matches!(resumed, Err(Error::NotPrepared)), "{resumed:?}");
    drop((all, some, gpu));
    messages::expect_none();
}
