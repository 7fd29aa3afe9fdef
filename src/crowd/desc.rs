//! What a crowd is made for, and how much it has room for.

use super::frame::MAX_VIEWS;
use crate::Threads;
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::{RingMemory, limit};
use crate::pass::scatter::MAX_CHANGES;
use ash::vk;

/// The most frames that can be in flight.
pub const MAX_FRAMES_IN_FLIGHT: u32 = 16;
/// The largest offset alignment that can be asked for; devices demand 256 at most.
const MAX_ALIGNMENT: u64 = 1 << 16;

/// How much a crowd has room for. Grown between frames by
/// [`Crowd::reserve`](super::state::Crowd::reserve).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Instances alive at the same time.
    pub instances: u32,
    /// Palette entries of all instances together: the sum of each one's
    /// [`Character::palette`](crate::character::Character::palette) length. 48 bytes each, in every
    /// frame in flight.
    pub palette_entries: u32,
    /// Views of one frame, at most [`MAX_VIEWS`].
    pub views: u32,
    /// Morph weights of all instances together: the sum of each one's
    /// [`Character::morph_weights`](crate::character::Character::morph_weights) length. 12 bytes
    /// each, in every frame in flight.
    pub morph_weights: u32,
    /// Instances with blended materials, counted once for each view of a frame. 4 bytes each, in
    /// every frame in flight.
    pub blended: u32,
    /// Words (of 4 bytes) of the deformed vertices of all instances that are skinned by compute or
    /// on the CPU: the sum of each one's
    /// [`SkinnedLayout::words`](crate::skin::SkinnedLayout::words).
    pub skinned_words: u32,
    /// Of these, words of those that are skinned on the CPU; in every frame in flight, too.
    pub cpu_skinned_words: u32,
    /// Views that keep a history for motion vectors ([`View::history`](super::View::history)). Each
    /// holds all of the above twice.
    pub histories: u32,
}

impl Capacity {
    /// Room for a thousand instances of 64 joints, none of them skinned to memory and no history.
    pub const DEFAULT: Self = Self {
        instances: 1024,
        palette_entries: 65_536,
        views: 4,
        morph_weights: 4096,
        blended: 1024,
        skinned_words: 0,
        cpu_skinned_words: 0,
        histories: 0,
    };

    /// Words of a frame's morph weights: a count for each instance, and two for each weight.
    pub(super) fn morph_words(&self) -> u32 {
        self.morph_weights.saturating_mul(3).max(4)
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What a [`Crowd`](super::state::Crowd) is made for.
#[derive(Debug, Clone)]
pub struct CrowdDesc {
    /// Frames in flight, 1 to [`MAX_FRAMES_IN_FLIGHT`].
    pub frames_in_flight: u32,
    /// Room to begin with.
    pub capacity: Capacity,
    /// The threads that poses are evaluated on.
    pub threads: Threads,
    /// Where the frame ring lies.
    pub ring: RingMemory,
    /// Offsets into the ring are multiples of this (a power of two up to 65,536) and of what the
    /// device demands; 0 asks for nothing more. For testing what a device with larger demands would
    /// see.
    pub min_offset_alignment: u64,
    /// What the deformed vertices are used for beyond throng's own passes and as a vertex buffer:
    /// to build acceleration structures from them, `SHADER_DEVICE_ADDRESS |
    /// ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR` (with an allocator that was made for
    /// device addresses).
    pub skinned_usage: vk::BufferUsageFlags,
    /// Measure stages: timestamps on the GPU ([`Crowd::gpu_times`](super::state::Crowd::gpu_times)) and a
    /// clock on the CPU ([`Stats::cpu`](super::Stats::cpu)). Leave it off where the queue family
    /// has no timestamps (`timestampValidBits` of 0).
    pub profile: bool,
}

impl Default for CrowdDesc {
    fn default() -> Self {
        Self {
            frames_in_flight: 2,
            capacity: Capacity::default(),
            threads: Threads::One,
            ring: RingMemory::Auto,
            min_offset_alignment: 0,
            skinned_usage: vk::BufferUsageFlags::empty(),
            profile: false,
        }
    }
}

pub(super) fn check_desc(desc: &CrowdDesc) -> Result<()> {
    let least = |what, value: u32| {
        let why = ArgumentFault::OutOfRange {
            value: value.into(),
            min: 1.0,
            max: u32::MAX.into(),
        };
        if value == 0 {
            Err(Error::Argument { what, why })
        } else {
            Ok(())
        }
    };
    least("CrowdDesc::frames_in_flight", desc.frames_in_flight)?;
    limit(
        "frames_in_flight",
        desc.frames_in_flight.into(),
        MAX_FRAMES_IN_FLIGHT.into(),
    )?;
    least("Capacity::instances", desc.capacity.instances)?;
    least("Capacity::palette_entries", desc.capacity.palette_entries)?;
    least("Capacity::views", desc.capacity.views)?;
    limit("views", desc.capacity.views.into(), MAX_VIEWS.into())?;
    limit(
        "instances",
        desc.capacity.instances.into(),
        MAX_CHANGES.into(),
    )?;
    let alignment = desc.min_offset_alignment;
    if alignment > MAX_ALIGNMENT || alignment != 0 && !alignment.is_power_of_two() {
        let why = ArgumentFault::Invalid("must be 0 or a power of two up to 65,536");
        return Err(Error::Argument {
            what: "CrowdDesc::min_offset_alignment",
            why,
        });
    }
    Ok(())
}
