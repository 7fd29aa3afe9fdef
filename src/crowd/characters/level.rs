//! The levels of detail of a character, and their draws.

use crate::character::Character;
use crate::gpu::{Blending, PrimitiveDraw, SkinnedMesh};
use crate::mesh::{AlphaMode, Primitive};
use crate::order;

/// Drawing data of one primitive.
#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    /// The bit that instances set to hide it, or 0 if it cannot be hidden.
    pub(crate) bit: u128,
    pub(super) blended: bool,
    /// For no variant and for each one, the class of its material. Empty if variants do not change
    /// it.
    pub(super) classes: Vec<u32>,
}

/// A level of detail of a character.
#[derive(Debug)]
pub(crate) struct Level {
    /// The mesh's draws in drawing order: draws that share state are neighbours, blended ones are
    /// last.
    pub(super) draws: Vec<PrimitiveDraw>,
    /// The number of draws that are not blended.
    solid: usize,
    /// The number of vertices of each primitive.
    pub(crate) vertices: Vec<u32>,
    /// Triangles of an instance that hides nothing.
    pub(crate) triangles: u32,
    /// The largest error of its primitives, in metres.
    pub(super) error_m: f32,
}

impl Level {
    /// A level of a character. 0 is the full one.
    pub(super) fn new(character: &Character, mesh: &SkinnedMesh, level: usize) -> Self {
        let coarser = |primitive: &Primitive| {
            let at = level.checked_sub(1)?;
            let level = primitive.levels.get(at)?;
            Some((level.drawn_vertices(), level.indices.len(), level.error_m))
        };
        let each = character.primitives().iter().map(|primitive| {
            let full = (primitive.vertex_count() as u32, primitive.indices.len());
            coarser(primitive).unwrap_or((full.0, full.1, 0.0))
        });
        let draws = [mesh.draws(), mesh.variant_draws()];
        let draws = draws.into_iter().filter_map(|levels| levels.get(level));
        let draws = ordered_draws(draws.flatten().copied().collect());
        Self {
            solid: draws.partition_point(|draw| draw.alpha != AlphaMode::Blend),
            draws,
            vertices: each.clone().map(|(vertices, ..)| vertices).collect(),
            triangles: each.clone().map(|(_, indices, _)| indices as u32 / 3).sum(),
            error_m: each.map(|(.., error)| error).fold(0.0, f32::max),
        }
    }

    /// The draws that are blended, or those that are not.
    pub(crate) fn draws(&self, blended: bool) -> &[PrimitiveDraw] {
        let (solid, rest) = self.draws.split_at(self.solid.min(self.draws.len()));
        if blended { rest } else { solid }
    }
}

/// The mesh's draws in drawing order. Blended primitives keep the order of the file.
fn ordered_draws(mut draws: Vec<PrimitiveDraw>) -> Vec<PrimitiveDraw> {
    order::sort_by_key(&mut draws, |draw| {
        let blending = Blending::of(draw.alpha);
        let blended = blending == Blending::Blend;
        let state = (
            blending,
            (draw.variant, draw.surface),
            draw.double_sided,
            (draw.flip_code.is_some(), draw.flipped),
            draw.material,
            draw.index_type.as_raw(),
        );
        (blended, (!blended).then_some(state), draw.primitive)
    });
    draws
}
