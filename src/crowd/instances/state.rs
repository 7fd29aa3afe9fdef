//! The CPU's state of an instance, and the totals of instances skinned on the CPU.

use crate::animator::{ActorId, Animator};
use crate::crowd::SkinningStage;
use crate::crowd::capacity::Need;
use crate::crowd::visibility::cull::WorldSphere;
use crate::error::{Result, expect_in};
use crate::gpu::GpuInstance;
use crate::gpu::half;
use crate::gpu::layout::GpuChange;
use crate::gpu::palettes::ROW_BYTES;
use crate::mesh::Sphere;
use ash::vk;
use bytemuck::Zeroable;
use glam::Affine3A;

/// The memory that an instance of a character takes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sizes {
    /// Rows of the palette ring.
    pub(crate) rows: u32,
    /// Words of a frame's morph weights.
    pub(crate) morphs: u32,
    /// Words of deformed vertices, unless the vertex shader deforms them.
    pub(crate) skinned: u32,
}

impl Sizes {
    /// Words of deformed vertices at this stage.
    pub(crate) fn words(&self, stage: SkinningStage) -> u32 {
        match stage {
            SkinningStage::Vertex => 0,
            SkinningStage::Compute | SkinningStage::Cpu => self.skinned,
        }
    }

    /// The capacities that an instance needs at this stage.
    pub(crate) fn need(&self, stage: SkinningStage) -> Need {
        let words = u64::from(self.words(stage));
        Need {
            instances: 1,
            rows: self.rows.into(),
            morph_weights: weights_in(self.morphs).into(),
            blended: 0,
            skinned_words: words,
            cpu_skinned_words: u64::from(stage == SkinningStage::Cpu) * words,
        }
    }
}

/// The properties that all instances of a character share.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kind {
    pub(crate) sizes: Sizes,
    /// The device address of the rest palette.
    pub(crate) rest_palette: vk::DeviceAddress,
}

/// True if a transform mirrors.
pub(crate) fn is_flipped(transform: &Affine3A) -> bool {
    transform.matrix3.determinant() < 0.0
}

/// True if a transform mirrors, or is so flat that the sign of a product with it is undecided.
pub(crate) fn may_flip(transform: &Affine3A) -> bool {
    let m = transform.matrix3;
    let most = m.x_axis.length() * m.y_axis.length() * m.z_axis.length();
    m.determinant() <= 1e-5 * most
}

/// The state of an instance.
#[derive(Debug, Clone)]
pub(crate) struct InstanceState {
    pub(crate) record: GpuChange,
    /// The index of its character.
    pub(crate) character: u32,
    /// Its actor in the animator of its character.
    pub(crate) actor: ActorId,
    pub(crate) generation: u32,
    /// Its index among its character's members.
    pub(crate) member: u32,
    /// The first of its rows of the palette ring, the same in every frame in flight, if it has
    /// some.
    pub(crate) row: u32,
    pub(crate) has_rows: bool,
    /// True if its palette lies in the ring. Otherwise it uses its character's rest palette.
    pub(crate) in_ring: bool,
    pub(crate) alive: bool,
    /// True until its record is uploaded for the first time.
    pub(crate) is_new: bool,
    /// `is_new` before the last upload of anything new.
    pub(crate) was_new: bool,
    pub(crate) flipped: bool,
    /// True if its record is where the picture has it, and not the game.
    pub(crate) pictured: bool,
    pub(crate) skin: SkinningStage,
}

const _: () = assert!(size_of::<InstanceState>() == 128);

/// The colours of an instance, as the engine sets them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Colors {
    pub(crate) tint: [f32; 4],
    pub(crate) second_tint: [f32; 3],
}

impl Default for Colors {
    fn default() -> Self {
        Self {
            tint: [1.0; 4],
            second_tint: [1.0; 3],
        }
    }
}

impl Colors {
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) for a colour beyond half precision.
    pub(crate) fn check(&self) -> Result<()> {
        for value in self.tint {
            expect_in("tint", value, 0.0, half::MAX)?;
        }
        for value in self.second_tint {
            expect_in("second_tint", value, 0.0, half::MAX)?;
        }
        Ok(())
    }

    /// [`GpuInstance::colors`].
    pub(crate) fn packed(&self) -> [u32; 4] {
        GpuInstance::pack_colors(self.tint, self.second_tint, 0)
    }
}

/// Totals of all instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Totals {
    /// Rows for the palettes of all of them together.
    pub(crate) rows: u32,
    pub(crate) weights: u32,
    /// Instances that the skin stage deforms.
    pub(crate) computed: u32,
    pub(crate) cpu_skinned: CpuSkinned,
}

/// Totals of the instances that are skinned on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CpuSkinned {
    pub(crate) count: u32,
    /// Words of deformed vertices.
    pub(crate) words: u32,
    /// Rows of palettes.
    pub(crate) rows: u32,
    /// Morph weights.
    pub(crate) weights: u32,
}

impl Totals {
    /// Adds an instance of these sizes to the totals, or subtracts it.
    pub(crate) fn count(&mut self, skin: SkinningStage, sizes: &Sizes, comes: bool) {
        let weights = weights_in(sizes.morphs);
        let [computed, on_cpu] =
            [SkinningStage::Compute, SkinningStage::Cpu].map(|stage| u32::from(skin == stage));
        let cpu = &mut self.cpu_skinned;
        for (all, own) in [
            (&mut self.rows, sizes.rows),
            (&mut self.weights, weights),
            (&mut self.computed, computed),
            (&mut cpu.count, on_cpu),
            (&mut cpu.words, on_cpu * sizes.words(skin)),
            (&mut cpu.rows, on_cpu * sizes.rows),
            (&mut cpu.weights, on_cpu * weights),
        ] {
            *all = if comes { *all + own } else { *all - own };
        }
    }
}

impl InstanceState {
    /// The state of an index without an instance.
    pub(crate) fn dead(generation: u32) -> Self {
        Self {
            record: GpuChange::zeroed(),
            character: 0,
            actor: ActorId {
                index: 0,
                generation: 0,
            },
            generation,
            member: 0,
            row: 0,
            has_rows: false,
            in_ring: false,
            alive: false,
            is_new: true,
            was_new: true,
            flipped: false,
            pictured: false,
            skin: SkinningStage::Vertex,
        }
    }

    /// Its bounding sphere in world space. `animator` is that of its character.
    pub(crate) fn sphere(&self, animator: &Animator) -> WorldSphere {
        let sphere = animator.sphere(self.actor.index);
        WorldSphere::new(&sphere, &self.record.world_from_model)
    }

    /// The bounding sphere that the CPU keeps: that in world space, or if `only_gpu` looks at it,
    /// that in character space, with a scale of 0.
    pub(crate) fn kept_sphere(&self, animator: &Animator, only_gpu: bool) -> WorldSphere {
        if !only_gpu {
            return self.sphere(animator);
        }
        let Sphere { center, radius } = animator.sphere(self.actor.index);
        WorldSphere {
            center,
            radius,
            scale: 0.0,
        }
    }

    pub(crate) fn has_morphs(&self) -> bool {
        self.record.morphs != GpuInstance::NONE
    }

    /// Writes the address of its palette to the record: in the ring, or the rest palette.
    pub(crate) fn write_palette(&mut self, kind: &Kind) {
        self.record.palette = if self.in_ring {
            GpuInstance::in_ring(self.row * ROW_BYTES as u32)
        } else {
            kind.rest_palette
        };
    }
}

/// Words of an instance's morph weights in one frame: a count, and two for each weight.
pub(crate) fn morph_words(weights: usize) -> u32 {
    match weights as u32 {
        0 => 0,
        count => 1 + 2 * count,
    }
}

/// The number of weights in `words` words.
pub(crate) fn weights_in(words: u32) -> u32 {
    words / 2
}
