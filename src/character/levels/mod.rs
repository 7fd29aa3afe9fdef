//! Levels of detail: their sizes and errors, and making them.
//!
//! - `poses`: the poses in which errors are measured.
//! - `surface`: the nearest point of a triangle mesh.
//! - `measure`: the error of levels over all poses.
//! - `simplify`: one primitive through the simplifier, a feature.
//! - `make`: new levels, a feature.

#[cfg(feature = "lod")]
mod make;
mod measure;
mod poses;
#[cfg(feature = "lod")]
mod simplify;
mod surface;

use super::asset::Character;
use crate::mesh::Primitive;
#[cfg(feature = "lod")]
pub use make::LevelOptions;

/// The size and the error of a level of detail, over all primitives of a character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelInfo {
    /// The number of triangles of one instance.
    pub triangles: usize,
    /// The number of vertices that one instance uses.
    pub vertices: usize,
    /// The largest distance in metres between a vertex of the full character and the surface of
    /// this level, see [`MeshLevel::error_m`](crate::mesh::MeshLevel::error_m).
    ///
    /// As all lengths of a character, it is in the metres of its import. A glTF file that was
    /// modelled in centimetres is a hundred times as large, and so is this, unless
    /// [`ImportOptions::scale`](crate::import::ImportOptions::scale) is 0.01: Fox.glb is 155 m
    /// long. The transform of an instance scales both, which [`Detail::error_px`] takes into
    /// account.
    ///
    /// [`Detail::error_px`]: crate::Detail::error_px
    pub error_m: f32,
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
            };
            let levels = self.primitives().iter();
            let levels = levels.filter_map(|primitive| primitive.levels.get(at));
            levels.fold(none, |sum, level| LevelInfo {
                triangles: sum.triangles + level.indices.len() / 3,
                vertices: sum.vertices + level.vertices as usize,
                error_m: sum.error_m.max(level.error_m),
            })
        })
    }

    /// The same character without coarser levels of detail. Vertices keep their order.
    #[must_use]
    pub fn without_levels(mut self) -> Self {
        for primitive in &mut self.model.primitives {
            primitive.levels.clear();
        }
        self
    }

    /// The number of coarser levels of detail, without the full level.
    pub(crate) fn level_count(&self) -> usize {
        let first = self.primitives().first();
        first.map_or(0, |primitive: &Primitive| primitive.levels.len())
    }
}
