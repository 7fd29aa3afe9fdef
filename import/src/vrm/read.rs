//! Reads the VRM extensions of both versions.

use super::json::{SpringBone1, Vrm0, Vrm1, VrmAnimation};
use super::scene::VrmScene;
use super::{expressions, humanoid, springs};
use throng::error::Result;
use throng::glam::{Affine3A, Mat4, Quat, Vec3, Vec4};
use throng::import::{RawCharacter, RawKeys};
use throng::retarget::VrmKind;

/// Reads `VRMC_vrm` and `VRMC_springBone`, if the file has them.
pub(crate) fn read_vrm1(
    vrm: Option<&Vrm1>,
    bones: Option<&SpringBone1>,
    scene: &mut VrmScene<'_>,
) -> Result<()> {
    if let Some(vrm) = vrm {
        scene.raw.vrm = Some(VrmKind::Model);
        humanoid::read1("VRMC_vrm", &vrm.humanoid, scene);
        expressions::read1(&vrm.expressions, scene)?;
    }
    bones.map_or(Ok(()), |bones| springs::read1(bones, scene))
}

/// Reads the bones of `VRMC_vrm_animation`.
pub(crate) fn read_animation(vrm: &VrmAnimation, scene: &mut VrmScene<'_>) {
    scene.raw.vrm = Some(VrmKind::Animation);
    humanoid::read1("VRMC_vrm_animation", &vrm.humanoid, scene);
}

/// Reads `VRM` of version 0.x, and turns the character so that it faces +Z.
pub(crate) fn read_vrm0(vrm: &Vrm0, scene: &mut VrmScene<'_>) -> Result<()> {
    let is_toon = |shader: &str| !matches!(shader, "VRM_USE_GLTFSHADER" | "");
    let shaders = vrm.material_properties.0.iter();
    let shaders = shaders.filter_map(|material| material.shader.as_deref());
    let toon = shaders.filter(|shader| is_toon(shader)).count();
    if toon > 0 {
        scene.left_out("extensions.VRM.materialProperties".into(), toon);
    }
    scene.raw.vrm = Some(VrmKind::Model);
    humanoid::read0(&vrm.humanoid, scene);
    expressions::read0(&vrm.blend_shape_master, scene)?;
    springs::read0(&vrm.secondary_animation, scene)?;
    face_forward(scene.raw);
    Ok(())
}

/// Half a turn about +Y.
const HALF_TURN: Quat = Quat::from_xyzw(0.0, 1.0, 0.0, 0.0);

/// Turns a character of version 0.x, which faces -Z, so that it faces +Z.
///
/// The roots are turned, and the channels that drive them. Nothing below them changes. Spawn points
/// turn about the world's origin, together with what they place.
pub(crate) fn face_forward(raw: &mut RawCharacter) {
    let turned = |v: Vec3| Vec3::new(-v.x, v.y, -v.z);
    for node in raw.nodes.iter_mut().filter(|node| node.parent.is_none()) {
        let trs = &mut node.transform;
        trs.translation = turned(trs.translation);
        trs.rotation = HALF_TURN * trs.rotation;
        if let Some(matrix) = &mut node.matrix {
            *matrix = Mat4::from_diagonal(Vec4::new(-1.0, 1.0, -1.0, 1.0)) * *matrix;
        }
    }
    let turn = Affine3A::from_quat(HALF_TURN);
    for point in &mut raw.spawn_points {
        // Half a turn is its own inverse.
        point.world_from_model = turn * point.world_from_model * turn;
    }
    let nodes = &raw.nodes;
    let is_root = |node: usize| nodes.get(node).is_some_and(|node| node.parent.is_none());
    let channels = raw.animations.iter_mut().flat_map(|a| &mut a.channels);
    for channel in channels.filter(|channel| is_root(channel.node)) {
        // Tangents turn as values do.
        match &mut channel.values {
            RawKeys::Translation(keys) => keys.iter_mut().for_each(|key| *key = turned(*key)),
            RawKeys::Rotation(keys) => keys.iter_mut().for_each(|key| *key = HALF_TURN * *key),
            RawKeys::Scale(_) | RawKeys::Weights(_) => {}
        }
    }
}
