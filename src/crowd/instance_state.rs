//! The CPU's state of an instance, and the totals of instances skinned on the CPU.

use crate::animator::ActorId;
use crate::gpu::GpuInstance;
use crate::gpu::palettes::ROW_BYTES;
use ash::vk;

/// The stage that deforms an instance's vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SkinningStage {
    /// The vertex shader of every draw. Nothing is stored.
    #[default]
    Vertex,
    /// The skin stage on the GPU, once per frame, into device memory that draws then read.
    Compute,
    /// The CPU skinning stage, into the same memory.
    ///
    /// It runs while the frame is prepared, on the threads of
    /// [`CrowdDesc::threads`](super::CrowdDesc::threads). The character must have been added with
    /// [`CharacterDesc::cpu_skinning`](super::CharacterDesc::cpu_skinning).
    Cpu,
}

/// An instance's range of one of the shared buffers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Allocation {
    pub(super) start: u32,
    pub(super) size: u32,
}

/// The state of an instance.
#[derive(Debug, Clone)]
pub(super) struct InstanceState {
    pub(super) record: GpuInstance,
    /// Its actor in the animator of its character.
    pub(super) actor: ActorId,
    /// True if its palette lies in the ring. Otherwise it uses its character's rest palette.
    pub(super) in_ring: bool,
    /// The device address of that rest palette.
    pub(super) rest_palette: vk::DeviceAddress,
    pub(super) generation: u32,
    pub(super) alive: bool,
    pub(super) dirty: bool,
    pub(super) flipped: bool,
    /// Its index among its character's members.
    pub(super) place: u32,
    pub(super) skin: SkinningStage,
    /// Rows of the palette ring, the same in every frame in flight.
    pub(super) rows: Allocation,
    /// Words of a frame's morph weights.
    pub(super) morphs: Allocation,
    /// Words of the deformed vertices.
    pub(super) skinned: Allocation,
}

/// Totals of the instances that are skinned on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CpuSkinned {
    pub(super) count: u32,
    /// Words of deformed vertices.
    pub(super) words: u32,
    /// Rows of palettes.
    pub(super) rows: u32,
    /// Morph weights.
    pub(super) weights: u32,
}

impl CpuSkinned {
    /// Adds an instance to the totals, or subtracts it.
    pub(super) fn count(&mut self, instance: &InstanceState, comes: bool) {
        if instance.skin != SkinningStage::Cpu {
            return;
        }
        // A count, and two words for each weight.
        let weights = instance.morphs.size / 2;
        for (all, own) in [
            (&mut self.count, 1),
            (&mut self.words, instance.skinned.size),
            (&mut self.rows, instance.rows.size),
            (&mut self.weights, weights),
        ] {
            *all = if comes { *all + own } else { *all - own };
        }
    }
}

impl InstanceState {
    /// Writes the offsets of palette, morph weights and deformed vertices to the record.
    ///
    /// The palette is that in the ring or the character's rest palette.
    pub(super) fn write_offsets(&mut self) {
        (self.record.source, self.record.palette) = if self.in_ring {
            let offset = u64::from(self.rows.start) * ROW_BYTES;
            (GpuInstance::SOURCE_RING, offset)
        } else {
            (GpuInstance::SOURCE_ADDRESS, self.rest_palette)
        };
        let start = |allocation: Allocation| {
            if allocation.size > 0 {
                allocation.start
            } else {
                GpuInstance::NONE
            }
        };
        self.record.morphs = start(self.morphs);
        self.record.skinned = start(self.skinned);
    }
}

/// Words of an instance's morph weights in one frame: a count, and two for each weight.
pub(super) fn morph_words(weights: usize) -> u32 {
    match weights as u32 {
        0 => 0,
        count => 1 + 2 * count,
    }
}

/// The number of weights that so many words hold.
pub(super) fn weights_in(words: u32) -> u32 {
    words / 2
}
