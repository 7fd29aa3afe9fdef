//! The levels of detail that a character has.

use crate::character::asset::Character;
use crate::mesh::Primitive;
use std::ops::Range;

/// The size and the error of a level of detail, over all primitives of a character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelInfo {
    /// The number of triangles of one instance.
    pub triangles: usize,
    /// The number of vertices that one instance uses.
    pub vertices: usize,
    /// The largest distance in metres between the surfaces of the full character and of this
    /// level, see [`MeshLevel::error_m`](crate::mesh::MeshLevel::error_m).
    ///
    /// As all lengths of a character, it is in the metres of its import. A glTF file that was
    /// modelled in centimetres is a hundred times as large, and so is this, unless
    /// [`ImportOptions::scale`](crate::import::ImportOptions::scale) is 0.01: Fox.glb is 155 m
    /// long. The transform of an instance scales both, which [`Detail::error_px`] takes into
    /// account.
    ///
    /// [`Detail::error_px`]: crate::Detail::error_px
    pub error_m: f32,
    /// The area that this level covers in pictures, relative to the full level: a mean over poses
    /// of the clips, seen from several directions. A level below 1 looks thin.
    pub cover: f32,
}

impl Character {
    /// The coarser levels of detail, finest first. The full level is not among them.
    ///
    /// Element `i` sums up [`Primitive::levels`]`[i]` of all primitives. Empty if the character has
    /// no levels.
    ///
    /// ```
    /// let mannequin = throng::builtin::mannequin()?.character;
    /// let coarsest = mannequin.levels().last().unwrap();
    /// assert!(coarsest.triangles < 200 && coarsest.error_m < 0.3);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[doc(alias = "LOD")]
    pub fn levels(&self) -> impl ExactSizeIterator<Item = LevelInfo> + DoubleEndedIterator + '_ {
        (0..self.level_count()).map(|at| {
            let none = LevelInfo {
                triangles: 0,
                vertices: 0,
                error_m: 0.0,
                cover: 1.0,
            };
            let levels = self.primitives().iter();
            let levels = levels.filter_map(|primitive| primitive.levels.get(at));
            levels.fold(none, |sum, level| LevelInfo {
                triangles: sum.triangles + level.indices.len() / 3,
                vertices: sum.vertices + level.drawn_vertices() as usize,
                error_m: sum.error_m.max(level.error_m),
                cover: level.cover,
            })
        })
    }

    /// The same character without coarser levels of detail. Vertices keep their order.
    #[must_use]
    pub fn without_levels(mut self) -> Self {
        self.remove_levels(0);
        self
    }

    /// Removes all coarser levels of detail but the first `kept`, none of which is a mesh of its
    /// own.
    pub(in crate::character) fn remove_levels(&mut self, kept: usize) {
        let model = &mut self.model;
        let far = model
            .primitives
            .extract_if(.., |primitive| primitive.is_far());
        let far = far.map(|primitive| primitive.material).min();
        let used = model.primitives.iter().flat_map(Primitive::all_materials);
        if let Some(far) = far.filter(|far| used.max().is_some_and(|used| used < *far)) {
            model.materials.truncate(far as usize);
        }
        for primitive in &mut model.primitives {
            primitive.levels.truncate(kept);
        }
    }

    /// The indices of the coarser levels that are meshes of their own, see [`Primitive::is_far`].
    /// They are the last ones.
    pub(crate) fn far_levels(&self) -> Range<usize> {
        let count = self.level_count();
        let far = self
            .primitives()
            .iter()
            .filter(|primitive| primitive.is_far());
        let first = far.filter_map(|primitive| {
            let mut levels = primitive.levels.iter();
            levels.position(|level| !level.indices.is_empty())
        });
        first.min().unwrap_or(count)..count
    }

    /// The number of coarser levels of detail, without the full level.
    pub(crate) fn level_count(&self) -> usize {
        let first = self.primitives().first();
        first.map_or(0, |primitive: &Primitive| primitive.levels.len())
    }
}
