//! The people on the plaza, as rays meet them, and the camera.

use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Quat, Vec3, vec3};
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, Culling, Detail, Play, RayCrowd, RayDesc, Spawn,
    Stages, View, builtin,
};
use throng_standalone::{Context, FrameCommands};

use super::{Result, say};

pub(crate) const FRAMES_IN_FLIGHT: usize = 2;
const PEOPLE: u32 = 400;
/// The camera's angle around the plaza in the picture, from the side that faces the mirror.
pub(crate) const FRONT_RAD: f32 = 0.19;
const DISTANCE_M: f32 = 13.24;
const HEIGHT_M: f32 = 3.4;

/// The view that rays meet: everybody who is large enough for this eye, in front of it and behind.
///
/// The camera looks at the middle of the plaza.
pub(crate) fn view(angle_rad: f32, extent: vk::Extent2D) -> View {
    let (sin, cos) = angle_rad.sin_cos();
    let eye = vec3(DISTANCE_M * sin, HEIGHT_M, DISTANCE_M * cos);
    let view_from_world = rh::view::look_at_mat4(eye, vec3(0.0, 1.0, 0.0), Vec3::Y);
    let aspect = extent.width as f32 / extent.height as f32;
    let clip_from_view = rh::proj::vulkan::perspective(0.75, aspect, 0.1, 200.0);
    View {
        culling: Culling::Rays,
        detail: Detail {
            pose_error_px: 4.0,
            ..Detail::default()
        },
        ..View::new(clip_from_view * view_from_world, eye, extent)
    }
}

/// People who walk around on the plaza.
pub(crate) struct Plaza {
    crowd: Crowd,
}

impl Plaza {
    /// Adds the people. Call [`Self::destroy`] before the context is dropped.
    pub(crate) fn new(context: &mut Context) -> Result<Self> {
        // SAFETY: the context outlives the crowd.
        let device = unsafe { context.gpu_device() };
        let desc = CrowdDesc {
            frames_in_flight: FRAMES_IN_FLIGHT as u32,
            stages: Stages::Gpu,
            rays: Some(RayDesc::default()),
            capacity: Capacity {
                instances: PEOPLE,
                ..Capacity::new(1)
            },
            ..CrowdDesc::default()
        };
        let allocator = &mut context.allocator();
        let mut crowd = Crowd::new(&device, allocator, &desc)?;
        let mannequin = builtin::mannequin()?.character;
        let character = crowd.add_character(allocator, &mannequin, &CharacterDesc::default())?;
        for number in 0..PEOPLE {
            // A spiral of even density, with a clearing in the middle.
            let angle = number as f32 * 2.399_963;
            let radius = 0.62 * (number as f32 + 6.0).sqrt();
            let clip = ["Walk", "Idle", "Walk", "Run", "Wave"][number as usize % 5];
            let hue = |shift: f32| 0.62 + 0.38 * (number as f32 * 1.7 + shift).sin();
            let spawn = Spawn {
                world_from_model: Affine3A::from_rotation_translation(
                    Quat::from_rotation_y(-angle),
                    vec3(radius * angle.cos(), 0.0, radius * angle.sin() * 0.7 + 1.5),
                ),
                tint: [hue(0.0), hue(2.1), hue(4.2), 1.0],
                play: Play::new(clip).offset_s(f64::from(number) * 0.13),
                ..Spawn::default()
            };
            crowd.spawn(character, &spawn)?;
        }
        Ok(Self { crowd })
    }

    /// The layout of the set that shaders read hits with.
    pub(crate) fn hit_layout(&self) -> Result<vk::DescriptorSetLayout> {
        Ok(self.crowd.ray_set_layout().ok_or("the crowd has no rays")?)
    }

    /// Records the structures that rays of this frame meet.
    ///
    /// # Safety
    /// The frame was just begun, and is submitted.
    pub(crate) unsafe fn record(
        &mut self,
        context: &mut Context,
        frame: &FrameCommands<'_>,
        view: View,
        time_s: f64,
    ) -> Result<RayCrowd> {
        self.crowd.update(time_s)?;
        let (allocator, index) = (&mut context.allocator(), frame.frame_index as u32);
        // SAFETY: by this function's contract, the earlier frame of this index has finished, and
        // the command buffer is recording.
        unsafe {
            let mut crowd = self.crowd.begin_frame(allocator, index, time_s)?;
            let views = crowd.record_prepare(frame.cmd, &[view])?;
            Ok(crowd.record_rays(frame.cmd, views[0])?)
        }
    }

    /// Prints the figures of an earlier frame.
    pub(crate) fn describe(&self) {
        if let Some(stats) = self.crowd.ray_stats() {
            say(&format!(
                "{} people: {} structures, {:.1} MB, {} refits a frame",
                stats.people,
                stats.structures,
                stats.bytes as f64 / 1e6,
                stats.refitted
            ));
        }
    }

    /// Destroys the crowd. The device must be idle.
    pub(crate) fn destroy(self, context: &mut Context) {
        // SAFETY: the device is idle.
        unsafe { self.crowd.destroy(&mut context.allocator()) };
    }
}
