//! An instance as the CPU knows it, and what those that are skinned on the CPU need together.

use super::root::Rooted;
use crate::animator::ActorId;
use crate::gpu::layout;
use crate::gpu::layout::{NONE, SOURCE_RESIDENT, SOURCE_RING};

/// Where the vertices of an instance are deformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SkinningStage {
    /// In the vertex shader of every draw: nothing is stored.
    #[default]
    Vertex,
    /// By the skin stage on the GPU, once a frame, into device memory that draws then read.
    Compute,
    /// By its twin on the CPU, on the threads of rayon's current pool while the frame is prepared,
    /// into the same memory. Takes a character that was added with
    /// [`CharacterDesc::cpu_skinning`](super::CharacterDesc::cpu_skinning).
    Cpu,
}

/// A range that an instance has of one of the shared buffers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Allocation {
    pub(super) start: u32,
    pub(super) size: u32,
}

#[derive(Debug, Clone)]
pub(super) struct InstanceState {
    pub(super) record: layout::GpuInstance,
    /// What it is to the animator of its character.
    pub(super) actor: ActorId,
    /// Whether its palette lies in the ring; else it has the rest palette of its character.
    pub(super) in_ring: bool,
    /// How its transform follows its root motion, if it does.
    pub(super) rooted: Option<Rooted>,
    pub(super) generation: u32,
    pub(super) alive: bool,
    pub(super) dirty: bool,
    pub(super) mirrored: bool,
    /// Its place among its character's members.
    pub(super) place: u32,
    pub(super) skin: SkinningStage,
    /// Rows of a frame in flight of the palette ring.
    pub(super) rows: Allocation,
    /// Words of a frame's morph weights.
    pub(super) morphs: Allocation,
    /// Words of the deformed vertices.
    pub(super) skinned: Allocation,
}

/// What the instances that are skinned on the CPU need together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CpuSkinned {
    pub(super) count: u32,
    /// Of deformed vertices.
    pub(super) words: u32,
    /// Of palettes.
    pub(super) rows: u32,
    /// Morph weights.
    pub(super) weights: u32,
}

impl CpuSkinned {
    /// With or without an instance.
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
    /// Says in the record where the palette lies, in the ring or in the character's own rest
    /// palette; and where morph weights and deformed vertices do.
    pub(super) fn place_shares(&mut self) {
        (self.record.source, self.record.palette_base) = if self.in_ring {
            (SOURCE_RING, self.rows.start)
        } else {
            (SOURCE_RESIDENT, 0)
        };
        let start = |allocation: Allocation| {
            if allocation.size > 0 {
                allocation.start
            } else {
                NONE
            }
        };
        self.record.morphs = start(self.morphs);
        self.record.skinned = start(self.skinned);
    }
}

/// Words of an instance's morph weights in a frame in flight: a count, and two for each weight.
pub(super) fn morph_words(weights: usize) -> u32 {
    match weights as u32 {
        0 => 0,
        count => 1 + 2 * count,
    }
}

/// How many weights have so many words.
pub(super) fn weights_in(words: u32) -> u32 {
    words / 2
}
