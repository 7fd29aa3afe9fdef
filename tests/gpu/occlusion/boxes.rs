//! Boxes of shared poses: which instances have one, and that it hides them where their spheres do
//! not.

use super::walls::{Canvas, Walls};
use crate::reference::handles::Handles;
use crate::support::frames::FramesInFlight;
use crate::support::{SMALL, Setup, described, each, placed};
use throng::animator::{Pose, ShowPose};
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Quat, Vec3, vec3};
use throng::palette::SkinningMethod;
use throng::{Capacity, CharacterId, Crowd, Detail, InstanceId, Play, Stages, View, builtin};
use throng_standalone::Begin;

/// The wall in front of a person: wider than the box of any clip by a texel of its pyramid, and not
/// as wide as the sphere.
const HALF_M: f32 = 0.95;
const HEIGHT_M: f32 = 2.3;

struct Stage {
    crowd: Crowd,
    kind: CharacterId,
    walls: Walls,
    canvas: Canvas,
    frames: FramesInFlight,
    time_s: f64,
}

impl Stage {
    fn new(setup: &mut Setup, method: SkinningMethod) -> Self {
        let capacity = Capacity {
            depth_pixels: 64 * 64,
            ..SMALL
        };
        let mut crowd = setup.crowd_with(Stages::Gpu, 1, capacity);
        let character = builtin::mannequin().unwrap().character;
        let kind = setup.add_with(&mut crowd, &character, &described(method, false));
        let walls = Walls::new(&setup.context);
        Self {
            crowd,
            kind,
            canvas: Canvas::new(&setup.context, &walls, [64, 64], 1),
            walls,
            frames: FramesInFlight::new(&setup.context, 1),
            time_s: 0.0,
        }
    }

    fn spawn<'a>(&mut self, scale: Vec3, play: impl Into<Play<'a>>) -> InstanceId {
        let turn = Quat::from_rotation_y(0.3);
        let place = Affine3A::from_scale_rotation_translation(scale, turn, Vec3::ZERO);
        self.crowd.spawn(self.kind, &placed(place, play)).unwrap()
    }

    /// The instances that a wall hides which is as high and wide as a person of this scale.
    fn hidden(&mut self, setup: &mut Setup, scale: f32, pose_error_px: f32) -> u32 {
        let (half, height) = (HALF_M * scale, HEIGHT_M * scale);
        let corners = [(-half, -1.0), (half, -1.0), (half, height), (-half, height)];
        let [a, b, c, d] = corners.map(|(x, y)| vec3(x, y, 4.0));
        self.walls.set(&[[a, b, c], [a, c, d]]);
        let eye = vec3(0.0, 1.0, 10.0);
        let clip_from_view = rh::proj::vulkan::orthographic(-4.0, 4.0, -4.0, 4.0, 0.1, 50.0);
        let view_from_world = rh::view::look_at_mat4(eye, vec3(0.0, 1.0, 0.0), Vec3::Y);
        let camera = View {
            detail: Detail {
                pose_error_px,
                ..Detail::default()
            },
            ..View::new(
                clip_from_view * view_from_world,
                eye,
                self.canvas.target.extent(),
            )
        };
        let mut hidden = 0;
        // The figures are those of the frame before.
        for _ in 0..3 {
            self.time_s += 0.01;
            self.crowd.update(self.time_s).unwrap();
            let cmd = self.frames.begin(&setup.context, 0);
            let context = &mut setup.context;
            let device = context.device.clone();
            unsafe {
                self.canvas.target.begin(&device, cmd, &Begin::default());
                self.walls
                    .draw((&device, cmd), &self.canvas, &camera, false);
                self.canvas.target.end(&device, cmd);
                self.canvas.read_only(&device, cmd);
                let allocator = &mut context.allocator();
                let mut frame = self.crowd.begin_frame(allocator, 0, self.time_s).unwrap();
                hidden = frame.view_stats().first().map_or(0, |view| view.hidden);
                let depth = self.canvas.depth(false);
                frame
                    .record_prepare_behind(cmd, &[camera], &[depth])
                    .unwrap();
            }
            self.frames.submit(context, 0);
            self.frames.wait(context, 0);
        }
        hidden
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames.destroy(&setup.context);
        unsafe { self.crowd.destroy(&mut setup.context.allocator()) };
        self.canvas.destroy(&setup.context);
        self.walls.destroy(&setup.context);
    }
}

/// All instances share poses.
const SHARES: f32 = 1e6;

#[test]
fn boxes_hide_who_shares_a_pose_or_rests() {
    each(|setup| {
        let mut stage = Stage::new(setup, SkinningMethod::Linear);
        for (play, scale) in [
            (Play::REST, Vec3::ONE),
            (Play::new("Walk"), Vec3::ONE),
            (Play::new("Idle").speed(0.0), vec3(-0.5, 0.5, 0.5)),
            (Play::new("Walk"), vec3(1.5, 1.4, 1.2)),
        ] {
            let id = stage.spawn(scale, play);
            let most = scale.abs().max_element();
            assert_eq!(stage.hidden(setup, most, SHARES), 1, "{play:?} {scale}");
            // What is not as high as the box does not hide it.
            assert_eq!(
                stage.hidden(setup, 0.7 * most, SHARES),
                0,
                "{play:?} {scale}"
            );
            let sphere = stage.crowd.live(id).bounding_sphere();
            assert!(sphere.radius > HALF_M * most, "{}", sphere.radius);
            stage.crowd.despawn(id).unwrap();
        }
        stage.destroy(setup);
    });
}

#[test]
fn own_poses_keep_to_their_spheres() {
    each(|setup| {
        let mut stage = Stage::new(setup, SkinningMethod::Linear);
        let id = stage.spawn(Vec3::ONE, "Walk");
        assert_eq!(stage.hidden(setup, 1.0, SHARES), 1);
        // The view asks for a pose of its own.
        assert_eq!(stage.hidden(setup, 1.0, 0.0), 0);
        assert_eq!(stage.hidden(setup, 1.0, SHARES), 1);
        // Two clips at once, until the fade has ended.
        stage
            .crowd
            .live_mut(id)
            .play(Play::new("Idle").fade_s(0.5))
            .unwrap();
        assert_eq!(stage.hidden(setup, 1.0, SHARES), 0);
        stage.time_s += 1.0;
        assert_eq!(stage.hidden(setup, 1.0, SHARES), 1);
        // A pose that the program sets.
        let rest = builtin::mannequin()
            .unwrap()
            .character
            .skeleton()
            .rest_pose();
        let mut pose = rest;
        pose[0].translation.y += 0.5;
        let mut it = stage.crowd.live_mut(id);
        it.set_pose(Pose::Local(&pose), &ShowPose::default())
            .unwrap();
        assert_eq!(stage.hidden(setup, 1.0, SHARES), 0);
        stage.destroy(setup);
        let mut stage = Stage::new(setup, SkinningMethod::DualQuat);
        for play in [Play::REST, Play::new("Walk")] {
            let id = stage.spawn(Vec3::ONE, play);
            assert_eq!(stage.hidden(setup, 1.0, SHARES), 0, "{play:?}");
            stage.crowd.despawn(id).unwrap();
        }
        stage.destroy(setup);
    });
}
