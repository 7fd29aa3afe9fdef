//! Options and results of rays.

use crate::error::{Error, Result};
use crate::gpu::{Device, limit};
use crate::pass::rays::STORAGE_BUFFERS;
use ash::vk;

/// Bytes of a `VkAccelerationStructureInstanceKHR`.
pub(crate) const RECORD_BYTES: u64 = 64;

/// Lets rays meet the crowd: options of [`CrowdDesc::rays`](crate::CrowdDesc::rays).
///
/// Far people share poses, so they share bottom-level acceleration structures: one for each shared
/// pose, which is built once. The nearest people have slots: structures of their own, at a finer
/// level of detail, which each frame refits. [`Frame::record_rays`](crate::Frame::record_rays) has
/// the rest.
///
/// It needs [`Features::ACCELERATION_STRUCTURE`](crate::gpu::Features::ACCELERATION_STRUCTURE) and
/// [`Stages::Gpu`](crate::Stages::Gpu).
///
/// ```no_run
/// use throng::ash::vk;
/// use throng::{CrowdDesc, Culling, Frame, RayCrowd, RayDesc, Result, Stages, View};
///
/// fn desc() -> CrowdDesc {
///     let rays = RayDesc { max_people: 100_000, ..RayDesc::default() };
///     CrowdDesc { stages: Stages::Gpu, rays: Some(rays), ..CrowdDesc::default() }
/// }
///
/// /// # Safety
/// /// `cmd` is being recorded, outside of rendering.
/// unsafe fn record(
///     frame: &mut Frame<'_>,
///     cmd: vk::CommandBuffer,
///     camera: View,
/// ) -> Result<RayCrowd> {
///     let rays = View { culling: Culling::Rays, ..camera };
///     let views = unsafe { frame.record_prepare(cmd, &[camera, rays])? };
///     // The engine's commands that draw and trace follow.
///     unsafe { frame.record_rays(cmd, views[1]) }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "raytracing")]
#[doc(alias = "BLAS")]
pub struct RayDesc {
    /// The most people that rays meet in one frame: 16,384 unless set. Each takes 64 bytes, and
    /// what the top-level structure takes.
    pub max_people: u32,
    /// The most bottom-level structures that a frame builds: 64 unless set.
    pub builds_per_frame: u32,
    /// The most people of a character that have slots: 64 unless set.
    ///
    /// A slot takes the coarsest level of detail whose error is at most 1/128 of the model's size.
    /// People who are shown at a level that is finer than that of shared poses want slots, and
    /// people in a pose that no single clip has. The nearest ones get them: those whom no other
    /// view shows count as four times as far, and those without a clip as four times as near.
    /// If a character has one level alone, all in a pose of their own want slots. There are fewer
    /// slots if they take more than [`Self::bytes_per_character`].
    pub near_slots: u32,
    /// The most bytes of bottom-level structures for the shared poses of a character, before they
    /// are compacted: 16 MiB unless set.
    ///
    /// They have its finest level of detail with which the structures of the rest pose and all
    /// shared poses fit, or its coarsest. If these do not fit either, some poses have none.
    /// [`CharacterDesc::ray_levels`](crate::CharacterDesc::ray_levels) chooses others.
    pub bytes_per_character: u64,
    /// True if the crowd builds a top-level structure of its people alone. False for engines that
    /// copy the records into a structure of their own.
    pub tlas: bool,
    /// The shader stages that trace: compute and fragment shaders unless set.
    pub readers: vk::PipelineStageFlags,
}

impl Default for RayDesc {
    fn default() -> Self {
        Self {
            max_people: 16_384,
            builds_per_frame: 64,
            near_slots: 64,
            bytes_per_character: 16 << 20,
            tlas: true,
            readers: vk::PipelineStageFlags::COMPUTE_SHADER
                | vk::PipelineStageFlags::FRAGMENT_SHADER,
        }
    }
}

impl RayDesc {
    /// The most structures that a frame builds.
    const MAX_BUILDS: u32 = 1024;
    /// The most slots of a character.
    const MAX_SLOTS: u64 = 1024;

    /// The text of `shaders/include/throng_hit.glsl`, which includes `throng.glsl`.
    ///
    /// It says what a ray has met. `throng.glsl` is
    /// [`SetLayout::glsl`](crate::gpu::SetLayout::glsl).
    #[must_use]
    pub const fn hit_glsl() -> &'static str {
        include_str!("../../../shaders/include/throng_hit.glsl")
    }

    /// Checks the options for a crowd that poses on the GPU, or does not.
    pub(crate) fn check(&self, device: &Device, poses_on_gpu: bool) -> Result<()> {
        let accel = device.accel("CrowdDesc::rays")?;
        if !poses_on_gpu {
            let why = "needs CrowdDesc::stages to be Stages::Gpu";
            return Err(Error::invalid("CrowdDesc::rays", why));
        }
        let most = (device.limits.max_storage_range / RECORD_BYTES).min(accel.max_instances);
        let people = ("RayDesc::max_people (maxInstanceCount)", self.max_people);
        let slots = ("RayDesc::near_slots", self.near_slots);
        let buffers = "storage buffers of a stage (maxPerStageDescriptorStorageBuffers)";
        for ((what, value), most) in [
            (people, most),
            (slots, Self::MAX_SLOTS),
            ((buffers, STORAGE_BUFFERS), accel.max_storage_buffers.into()),
        ] {
            limit(what, value.into(), most)?;
        }
        let (people, builds) = ("RayDesc::max_people", "RayDesc::builds_per_frame");
        for (what, value, most) in [
            (people, self.max_people, u32::MAX),
            (builds, self.builds_per_frame, Self::MAX_BUILDS),
        ] {
            if value == 0 || value > most {
                return Err(Error::out_of_range(what, value, 1.0, most));
            }
        }
        Ok(())
    }
}

/// The people that rays meet in a frame, from [`Frame::record_rays`](crate::Frame::record_rays).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RayCrowd {
    /// The top-level structure, if [`RayDesc::tlas`] asks for it.
    pub tlas: Option<vk::AccelerationStructureKHR>,
    /// The buffer with a `VkAccelerationStructureInstanceKHR` for each of them.
    ///
    /// It has the usages `TRANSFER_SRC`, `SHADER_DEVICE_ADDRESS` and
    /// `ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR`.
    pub records: vk::Buffer,
    /// The device address of that buffer.
    pub address: vk::DeviceAddress,
    /// The descriptor set that a shader reads hits with, of the layout
    /// [`Crowd::ray_set_layout`](crate::Crowd::ray_set_layout): see
    /// `shaders/include/throng_hit.glsl`. It is valid in this frame.
    pub set: vk::DescriptorSet,
    /// The number of records, with empty ones behind the last of people. All of them belong into
    /// the count of a top-level structure's instances.
    pub count: u32,
}

/// Figures of rays. [`Crowd::ray_stats`](crate::Crowd::ray_stats) says of which frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RayStats {
    /// People that the view showed, as of an earlier frame.
    pub people: u32,
    /// Of these, those with slots.
    pub near: u32,
    /// Of these, those that rays meet in another pose than the one that is drawn: the nearest
    /// shared pose, or the rest pose.
    pub approximated: u32,
    /// Of these, those that no ray meets, because no structure of their character is built yet.
    pub without_structure: u32,
    /// Of these, those that no ray meets, because there are more than [`RayDesc::max_people`], or
    /// many more than some frames ago.
    pub left_out: u32,
    /// Bottom-level structures that exist.
    pub structures: u32,
    /// Bottom-level structures that wait to be built.
    pub waiting: u32,
    /// Bytes of bottom-level structures.
    pub bytes: u64,
    /// Bottom-level structures that were built in the frame begun last.
    pub built: u32,
    /// Slots that were refitted in the frame begun last.
    pub refitted: u32,
}
