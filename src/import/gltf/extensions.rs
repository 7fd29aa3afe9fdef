//! The extensions that a file may require.

use super::fault::cut;
use super::json::Document;
use super::json_extensions::{EXT_MESHOPT, KHR_MESHOPT};
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::fault::fault;

pub(super) const DRACO: &str = "KHR_draco_mesh_compression";

/// Extensions that a file may require: those that are read, and those without which the import
/// still represents the model.
const SUPPORTED: [&str; 74] = [
    // Read.
    "EXT_mesh_gpu_instancing",
    "KHR_animation_pointer",
    "KHR_materials_emissive_strength",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_unlit",
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "KHR_texture_transform",
    "VRM",
    "VRMC_springBone",
    "VRMC_vrm",
    "VRMC_vrm_animation",
    // Finer shading, which is reported.
    "ADOBE_materials_clearcoat_specular",
    "ADOBE_materials_clearcoat_tint",
    "ADOBE_materials_thin_transparency",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_volume",
    "KHR_materials_volume_scatter",
    "KHR_techniques_webgl",
    "MSFT_packing_normalRoughnessMetallic",
    "MSFT_packing_occlusionRoughnessMetallic",
    "NV_materials_mdl",
    "VRMC_materials_hdr_emissiveMultiplier",
    "VRMC_materials_mtoon",
    // Movements of VRM, which are reported.
    "VRMC_node_constraint",
    "VRMC_springBone_extended_collider",
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
    "KHR_materials_variants",
    "KHR_node_hoverability",
    "KHR_node_selectability",
    "KHR_physics_rigid_bodies",
    "KHR_rigid_bodies",
    "KHR_xmp",
    "KHR_xmp_json_ld",
    "MSFT_audio_emitter",
    "MSFT_lod",
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
            None if SUPPORTED.contains(&name.as_str()) => continue,
            None => AssetFault::Requires(cut(name)),
        };
        return Err(fault(ObjectKind::File, None, "extensionsRequired", why));
    }
    Ok(())
}
