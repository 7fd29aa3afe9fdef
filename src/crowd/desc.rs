//! The descriptions of a crowd and of its characters.

use crate::crowd::{Capacity, RayDesc};
use crate::error::{Error, Result, expect};
use crate::gpu::constants::REMEMBERED;
use crate::gpu::{Device, Features, limit};
use crate::pass::scatter::MAX_CHANGES;
use crate::simd::SimdLevel;
use crate::threads::Threads;
use ash::vk;

/// See [`Crowd::MAX_FRAMES_IN_FLIGHT`](super::Crowd::MAX_FRAMES_IN_FLIGHT).
pub(crate) const MAX_FRAMES_IN_FLIGHT: u32 = 16;
/// See [`Crowd::MAX_VIEWS`](super::Crowd::MAX_VIEWS).
pub(crate) const MAX_VIEWS: u32 = 32;
/// The most views with late instances: the GPU must remember their levels.
const MAX_LATE_VIEWS: u32 = REMEMBERED as u32;
/// The largest offset alignment that can be requested. Devices demand 256 at most.
const MAX_ALIGNMENT: u64 = 1 << 16;

/// The processors that cull and pose.
///
/// The pictures are the same, except for the rounding of poses, and shared poses of far instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Stages {
    /// [`Self::Gpu`], but [`Self::Cpu`] if the device is software, which runs on the CPU itself.
    #[default]
    Auto,
    /// The CPU culls and poses.
    Cpu,
    /// The GPU culls and chooses levels of detail, and the CPU poses.
    ///
    /// The CPU's work does not grow with the number of instances that rest, and views are drawn
    /// with indirect draws. What depends on it:
    ///
    /// - [`Frame::draw_bindings`](super::Frame::draw_bindings),
    ///   [`Frame::draw_ranges`](super::Frame::draw_ranges) and
    ///   [`Frame::level`](super::Frame::level) are errors. Own pipelines use
    ///   [`Frame::indirect_draws`](super::Frame::indirect_draws).
    /// - What views show is known some frames later: see
    ///   [`Crowd::view_stats`](super::Crowd::view_stats).
    ///
    /// Characters with blended materials are sorted, so the CPU decides about their instances
    /// nevertheless.
    GpuCull,
    /// The GPU culls as with [`Self::GpuCull`], and poses instances.
    ///
    /// The CPU's work does not grow with the number of instances that play clips. Some instances
    /// are posed on the CPU nevertheless: [`Crowd::posed_by`] says which, and why. Both kinds stand
    /// in the same draws, and an instance may change from one to the other in any frame. What their
    /// palettes move differs by at most 5e-6 of the model's size, if no chain has more than 20
    /// joints. Far instances share poses, as far as each view allows: see
    /// [`Detail::pose_error_px`](super::Detail::pose_error_px).
    ///
    /// [`Crowd::posed_by`]: super::Crowd::posed_by
    Gpu,
}

impl Stages {
    /// The stages on a device, which are never [`Self::Auto`].
    pub(crate) fn on(self, device: &Device) -> Self {
        match self {
            Self::Auto if device.is_software => Self::Cpu,
            Self::Auto => Self::Gpu,
            chosen => chosen,
        }
    }
}

/// Options for creating a [`Crowd`](super::Crowd).
#[derive(Debug, Clone)]
pub struct CrowdDesc {
    /// Frames in flight, 1 to [`Crowd::MAX_FRAMES_IN_FLIGHT`](super::Crowd::MAX_FRAMES_IN_FLIGHT).
    pub frames_in_flight: u32,
    /// The initial capacities.
    pub capacity: Capacity,
    /// The threads that evaluate poses.
    pub threads: Threads,
    /// The SIMD level that evaluates poses, or `None` for the best of the CPU.
    ///
    /// See [`Animator::set_simd_level`](crate::animator::Animator::set_simd_level).
    pub simd_level: Option<SimdLevel>,
    /// Puts the frame rings in host memory, even if the CPU could write device-local memory.
    ///
    /// The frame's own command buffer then copies them to device-local memory. If this is false,
    /// host memory is used only if no heap that is device-local and host-visible is large enough.
    pub staged: bool,
    /// A minimum alignment for offsets into the rings.
    ///
    /// It is a power of two up to 65,536, or 0 for no minimum. Offsets are multiples of this, of
    /// what the device demands, and of 64. Use it to test against the demands of other devices.
    pub min_offset_alignment: u64,
    /// The processors that cull and pose.
    pub stages: Stages,
    /// Additional usage flags of the buffer of deformed vertices.
    ///
    /// throng's own passes and use as a vertex buffer need none. To build acceleration structures,
    /// set `SHADER_DEVICE_ADDRESS | ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR`, and
    /// [`Features::ACCELERATION_STRUCTURE`](crate::gpu::Features::ACCELERATION_STRUCTURE). Flags of
    /// other extensions are rejected.
    pub skinned_usage: vk::BufferUsageFlags,
    /// Lets rays meet the crowd. With `None`, nothing is made for them.
    #[doc(alias = "raytracing")]
    pub rays: Option<RayDesc>,
    /// Measures stages with GPU timestamps.
    ///
    /// [`Crowd::gpu_times`](super::Crowd::gpu_times) has the results. There are none if a
    /// graphics queue family of the device has no timestamps (`timestampValidBits` of 0). CPU times
    /// are in [`Stats`](super::Stats), with or without this.
    pub profile: bool,
}

impl Default for CrowdDesc {
    fn default() -> Self {
        Self {
            frames_in_flight: 2,
            capacity: Capacity::default(),
            threads: Threads::One,
            simd_level: None,
            staged: false,
            min_offset_alignment: 0,
            stages: Stages::default(),
            skinned_usage: vk::BufferUsageFlags::empty(),
            rays: None,
            profile: false,
        }
    }
}

/// The usage flags of Vulkan 1.3 that need no extension.
const CORE_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::VERTEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);
/// The usage flag that [`Features::ACCELERATION_STRUCTURE`] allows.
pub(crate) const BUILD_INPUT: vk::BufferUsageFlags =
    vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;

pub(crate) fn check_desc(desc: &CrowdDesc, device: &Device) -> Result<()> {
    let least = |what, value: u32| {
        if value == 0 {
            Err(Error::out_of_range(what, value, 1.0, u32::MAX))
        } else {
            Ok(())
        }
    };
    least("CrowdDesc::frames_in_flight", desc.frames_in_flight)?;
    least("Capacity::views", desc.capacity.views)?;
    for (what, asked, cap) in [
        (
            "CrowdDesc::frames_in_flight",
            desc.frames_in_flight,
            MAX_FRAMES_IN_FLIGHT,
        ),
        ("Capacity::views", desc.capacity.views, MAX_VIEWS),
        (
            "Capacity::late_views",
            desc.capacity.late_views,
            MAX_LATE_VIEWS.min(desc.capacity.views),
        ),
        ("Capacity::instances", desc.capacity.instances, MAX_CHANGES),
    ] {
        limit(what, asked.into(), cap.into())?;
    }
    if let Some(rays) = &desc.rays {
        rays.check(device, desc.stages.on(device) == Stages::Gpu)?;
    }
    let alignment = desc.min_offset_alignment;
    let fits = alignment <= MAX_ALIGNMENT && (alignment == 0 || alignment.is_power_of_two());
    let why = "must be 0 or a power of two up to 65,536";
    expect("CrowdDesc::min_offset_alignment", fits, why)?;
    let others = desc.skinned_usage & !CORE_USAGE;
    match others {
        others if others.is_empty() => Ok(()),
        BUILD_INPUT => {
            let needed = Features::ACCELERATION_STRUCTURE;
            device.expect_enabled("CrowdDesc::skinned_usage", needed)
        }
        _ => Err(Error::invalid(
            "CrowdDesc::skinned_usage",
            "must have flags of Vulkan 1.3 and of acceleration structure builds only",
        )),
    }
}
