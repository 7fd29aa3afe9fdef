//! The result of an import.

use super::repair::Repair;
use crate::character::Character;
use crate::clip::Clip;
use crate::id::Id;
use glam::Affine3A;
use std::path::PathBuf;

/// A character, and a list of the repairs that were made to import it or its added clips.
///
/// Dereferences to the character, so `&imported` can be passed as `&Character`.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The character.
    pub character: Character,
    /// The harmless faults that were repaired and the parts that were left out.
    ///
    /// Repairs by the format's reader come first, then those by
    /// [`RawCharacter::build`](crate::import::RawCharacter::build), each in file order.
    pub repairs: Vec<Repair>,
    /// True if clips of a VRM Animation were added to a VRM model, and
    /// [retargeted](crate::retarget#vrm-animations).
    pub retargeted: bool,
    /// The error caused by
    /// [`ImportOptions::max_influences`](crate::import::ImportOptions::max_influences). `None` if
    /// no vertex lost a weight.
    pub influence_loss: Option<InfluenceLoss>,
    /// The vertices that were merged, and how well triangles and vertices are ordered.
    pub geometry: GeometryReport,
    /// The transforms at which the file draws copies of the character. Empty in most files.
    pub spawn_points: Vec<SpawnPoint>,
    /// The files of the asset, in the order of their paths, which are absolute.
    ///
    /// These are the imported file, all files that it refers to, and its animation data with the
    /// file that this may name. Files that do not exist, or were not needed, are listed too. A tool
    /// can watch or copy them, and must not write over them. Files that the added clips come from
    /// are in the result of
    /// `throng_import::add_clips`.
    ///
    /// Empty if only bytes were given.
    /// [`ImportOptions::resources`](super::ImportOptions::resources) knows the files that it
    /// provides, so they are not listed.
    pub files: Vec<PathBuf>,
}

/// The error caused by dropping influences: the vertex with the largest displacement.
///
/// The full and the limited influences are both blended linearly, without morph targets. They are
/// compared in the rest pose and in every clip, at each key time of its tracks and at a quarter,
/// half and three quarters of the way between two key times.
///
/// Clips with very many keys are sampled at fewer of these times, evenly spread. The limit is 4,096
/// poses over all clips. It is lower if the affected vertices have so many influences that this
/// would evaluate more than 2²⁸ (268 million) of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InfluenceLoss {
    /// The vertex's displacement in character space, in metres. Infinite if the pose overflows.
    pub displacement_m: f64,
    /// Index into [`Character::primitives`].
    pub primitive: usize,
    /// The index of the vertex in that primitive.
    pub vertex: usize,
    /// The clip with the largest displacement. `None`: the rest pose.
    pub clip: Option<Id<Clip>>,
    /// The time in that clip, in seconds. 0 in the rest pose.
    pub time_s: f64,
    /// The number of vertices that lost weights, over all primitives, before merging.
    ///
    /// Only vertices that triangles use are counted. The repairs list the number for each
    /// primitive.
    pub vertices: u64,
    /// The number of poses that were measured, including the rest pose.
    pub poses: usize,
}

/// The result of merging and ordering vertices and triangles, over all primitives.
///
/// Shaded vertices are the times that drawing an instance once runs the vertex shader. Once per
/// vertex is ideal. GPUs keep the results of the latest vertices. The model of this cache is a
/// queue of 32 vertices, which each draw starts empty: an index that is not in the queue is shaded
/// and pushes the oldest vertex out. Real GPUs differ, but an order that does well in this model
/// does well on them.
///
/// For saved characters, and for characters to which clips were added, nothing was merged, and
/// [`Self::file_shaded_vertices`] is the same as [`Self::shaded_vertices`].
///
/// ```
/// use throng::import::{ImportOptions, RawCharacter};
///
/// let imported = RawCharacter::mannequin().build(&ImportOptions::default())?;
/// let geometry = imported.geometry;
/// println!(
///     "{} vertices, shaded {} times, before {} times; {} draws",
///     geometry.vertices, geometry.shaded_vertices, geometry.file_shaded_vertices, geometry.draws
/// );
/// # Ok::<(), throng::Error>(())
/// ```
#[doc(alias = "ACMR")]
#[doc(alias = "ATVR")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GeometryReport {
    /// The number of vertices merged with another that is the same in all streams.
    ///
    /// These are positions, normals, tangents, texture coordinates, colours, influences and the
    /// offsets of all morph targets.
    pub merged_vertices: u64,
    /// The number of vertices left out, because no triangle uses them.
    pub unused_vertices: u64,
    /// The number of vertices that are left, without those of coarser levels of detail alone.
    pub vertices: u64,
    /// The number of shaded vertices in the file's order, after merging.
    ///
    /// Triangles that clips may flip are drawn twice, which counts in `shaded_vertices` alone.
    pub file_shaded_vertices: u64,
    /// The number of shaded vertices as imported.
    pub shaded_vertices: u64,
    /// The number of draws for a group of instances that show all parts.
    ///
    /// All instances of a group share each draw, so this does not depend on their number. It is the
    /// length of `SkinnedMesh::draws`: one for each primitive, one more if enough of its triangles
    /// follow one joint alone and others do not, and more for triangles that clips may flip.
    /// Passes that leave out some materials, and instances that hide parts, need fewer.
    pub draws: usize,
}

impl GeometryReport {
    fn of(character: &Character) -> Self {
        let (draws, shaded) = character.drawing();
        let near = character.primitives().iter();
        let near = near.filter(|primitive| !primitive.is_far());
        Self {
            vertices: near.map(|primitive| primitive.vertex_count() as u64).sum(),
            file_shaded_vertices: shaded,
            shaded_vertices: shaded,
            draws,
            ..Self::default()
        }
    }
}

impl Imported {
    pub(super) fn new(character: Character, repairs: Vec<Repair>) -> Self {
        Self {
            geometry: GeometryReport::of(&character),
            character,
            repairs,
            retargeted: false,
            influence_loss: None,
            spawn_points: Vec::new(),
            files: Vec::new(),
        }
    }

    /// The repairs as text, with one line for all repairs of one kind and file.
    ///
    /// A line names the first object, the number of other objects and the sum of the counts:
    /// `knight.glb: animation 0 and 54 more: rotation keys flipped onto the shortest arc (812)`.
    #[must_use]
    pub fn repair_summary(&self) -> Vec<String> {
        Repair::summary(&self.repairs)
    }
}

/// A character that needed no repairs, such as a saved one.
impl From<Character> for Imported {
    fn from(character: Character) -> Self {
        Self::new(character, Vec::new())
    }
}

impl core::ops::Deref for Imported {
    type Target = Character;

    fn deref(&self) -> &Character {
        &self.character
    }
}

/// A transform at which a file draws a copy of the character.
///
/// Files list them with the glTF extension `EXT_mesh_gpu_instancing`. One instance per spawn point
/// draws what the file shows:
///
/// ```
/// use throng::import::SpawnPoint;
/// use throng::{CharacterId, Crowd, Result, Spawn};
///
/// fn populate(crowd: &mut Crowd, knight: CharacterId, points: &[SpawnPoint]) -> Result<()> {
///     for point in points {
///         let world_from_model = point.world_from_model;
///         crowd.spawn(knight, &Spawn { world_from_model, ..Default::default() })?;
///     }
///     Ok(())
/// }
/// ```
#[doc(alias = "EXT_mesh_gpu_instancing")]
#[derive(Debug, Clone, PartialEq)]
pub struct SpawnPoint {
    /// The name of the node that carries the instances, or empty.
    pub node: Box<str>,
    /// World space from character space, in metres.
    ///
    /// It moves the character such that the node's mesh stands where the instance is. The node is
    /// in its rest pose.
    pub world_from_model: Affine3A,
}
