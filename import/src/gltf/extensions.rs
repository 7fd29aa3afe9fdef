//! The extensions that a file may require.

use super::fault::cut;
use super::json::Document;
use super::json_extensions::{EXT_MESHOPT, KHR_MESHOPT};
use super::json_material::NOT_READ;
use super::vrm::UNREAD;
use crate::fault::fault;
use throng::error::{AssetFault, ObjectKind, Result};

pub(super) const DRACO: &str = "KHR_draco_mesh_compression";

/// Extensions that a file may require, besides [`NOT_READ`] and [`UNREAD`]: those that are read,
/// and those without which the import still represents the model.
const SUPPORTED: [&str; 52] = [
    // Read.
    "EXT_mesh_gpu_instancing",
    "KHR_animation_pointer",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_unlit",
    "KHR_materials_variants",
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "KHR_texture_transform",
    "MSFT_lod",
    "VRM",
    "VRMC_springBone",
    "VRMC_vrm",
    "VRMC_vrm_animation",
    // Images in other formats. Placeholders replace those that cannot be decoded.
    "EXT_texture_avif",
    "EXT_texture_webp",
    "GOOGLE_texture_basis",
    "KHR_texture_basisu",
    "MSFT_texture_dds",
    // Parts of a scene or metadata that a character does not have.
    "AGI_articulations",
    "AGI_stk_metadata",
    "CESIUM_primitive_outline",
    "EXT_instance_features",
    "EXT_lights_ies",
    "EXT_lights_image_based",
    "EXT_mesh_features",
    "EXT_mesh_manifold",
    "EXT_structural_metadata",
    "FB_geometry_metadata",
    "GODOT_single_root",
    "GRIFFEL_bim_data",
    "KHR_audio_emitter",
    "KHR_collision_shapes",
    "KHR_environment_map",
    "KHR_implicit_shapes",
    "KHR_interactivity",
    "KHR_lights_punctual",
    "KHR_node_hoverability",
    "KHR_node_selectability",
    "KHR_physics_rigid_bodies",
    "KHR_rigid_bodies",
    "KHR_xmp",
    "KHR_xmp_json_ld",
    "MSFT_audio_emitter",
    "OMI_audio_emitter",
    "OMI_link",
    "OMI_personality",
    "OMI_physics_body",
    "OMI_physics_joint",
    "OMI_physics_shape",
    "OMI_seat",
    "OMI_spawn_point",
];

/// Extensions whose decoder is a Cargo feature: whether it is enabled, and its name.
const BY_FEATURE: [(&str, bool, &str); 3] = [
    (DRACO, cfg!(feature = "draco"), "draco"),
    (EXT_MESHOPT, cfg!(feature = "meshopt"), "meshopt"),
    (KHR_MESHOPT, cfg!(feature = "meshopt"), "meshopt"),
];

/// Rejects required extensions without which the model cannot be read.
pub(super) fn check(doc: &Document) -> Result<()> {
    check_but(doc, "")
}

/// Rejects required extensions without which the clips cannot be read.
pub(super) fn check_for_clips(doc: &Document) -> Result<()> {
    // It only compresses meshes.
    check_but(doc, DRACO)
}

fn is_supported(name: &str) -> bool {
    let mut all = SUPPORTED.iter().chain(&NOT_READ).chain(&UNREAD);
    all.any(|known| *known == name)
}

fn check_but(doc: &Document, allowed: &str) -> Result<()> {
    for name in doc
        .extensions_required
        .iter()
        .filter(|name| *name != allowed)
    {
        let by_feature = BY_FEATURE.into_iter().find(|(known, ..)| known == name);
        let why = match by_feature {
            Some((_, true, _)) => continue,
            Some((extension, false, feature)) => AssetFault::NoDecoder { extension, feature },
            None if is_supported(name) => continue,
            None => AssetFault::Requires(cut(name)),
        };
        return Err(fault(ObjectKind::File, None, "extensionsRequired", why));
    }
    Ok(())
}
