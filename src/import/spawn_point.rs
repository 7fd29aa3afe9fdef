//! Places for instances.

use glam::Affine3A;

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
