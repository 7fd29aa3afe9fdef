//! Reads the VRM extensions of both versions.

use super::json::{SpringBone1, Vrm0, Vrm1, VrmAnimation};
use super::scene::VrmScene;
use super::{expressions, facing, humanoid, springs};
use throng::error::Result;
use throng::retarget::VrmKind;

/// Reads `VRMC_vrm` and `VRMC_springBone`, if the file has them.
///
/// # Errors
/// [`Error::Asset`](throng::Error::Asset) for too many morph weights of expressions, and too
/// many pairs of a swinging joint and a collider.
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
///
/// # Errors
/// As [`read_vrm1`].
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
    facing::face_forward(scene.raw);
    Ok(())
}
