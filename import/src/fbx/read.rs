//! The scene of an FBX file, binary or text.

use super::animation::{self, allocator};
use super::convert::{failed, of_file};
use super::images::{self, Decoder};
use super::material;
use super::mesh::Meshes;
use super::nodes::Nodes;
use crate::budget::Budget;
use crate::fault::{file_part, message};
use crate::format::is_fbx;
use crate::input::Input;
use throng::error::{AssetFault, Object, ObjectKind, Result};
use throng::import::{ImportOptions, RawCharacter, Repair, RepairKind, UpAxis};
use ufbx::{
    FileFormat, GeometryTransformHandling, InheritModeHandling, LoadOpts, MirrorAxis, SceneRoot,
    SpaceConversion,
};

/// The most nodes above one another.
const MAX_DEPTH: u32 = 4096;

/// Reads a file, and the axis that it says is up. Clips for characters from other files need no
/// materials and images, so it can leave out `images`.
pub(crate) fn read(
    input: &Input<'_>,
    images: bool,
    repairs: &mut Vec<Repair>,
) -> Result<(RawCharacter, Option<UpAxis>)> {
    let (files, options) = (&input.files, input.files.options);
    let with_images = images && options.meshes && options.images;
    let scene = load(input.bytes, options, with_images)?;
    let mut budget = Budget::new(options);
    note_unread(&scene, repairs);
    let nodes = Nodes::read(&scene, options)?;
    let meshes = Meshes::read(&scene, &nodes, &mut budget, repairs)?;
    let mut used = vec![false; scene.materials.len()];
    for material in meshes.primitives.iter().filter_map(|p| p.material) {
        if let Some(used) = used.get_mut(material) {
            *used = true;
        }
    }
    images::list(&scene.textures, files);
    let decoder = Decoder {
        budget: &mut budget,
        files,
    };
    let (materials, images) = material::read(&scene, &used, decoder, with_images, repairs)?;
    let animations = animation::read(&scene, &nodes, &meshes.driven, &mut budget, repairs)?;
    let raw = RawCharacter {
        name: options.name.clone(),
        level_groups: nodes.level_groups(&scene),
        objects: nodes.objects(&scene),
        nodes: nodes.raw,
        skins: meshes.skins.raw,
        primitives: meshes.primitives,
        materials,
        images,
        animations,
        morphs: meshes.morphs,
        ..RawCharacter::default()
    };
    Ok((raw, stated_up(&scene)))
}

/// The axis that points up by the file, which was converted to Y.
fn stated_up(scene: &ufbx::Scene) -> Option<UpAxis> {
    let number = |name| Some(scene.settings.props.find_prop(name)?.value_int);
    match (number("UpAxis")?, number("UpAxisSign").unwrap_or(1)) {
        (1, 1) => Some(UpAxis::Y),
        (2, 1) => Some(UpAxis::Z),
        _ => None,
    }
}

/// Reads the scene. ufbx opens no other file, because external files are not enabled.
fn load(bytes: &[u8], options: &ImportOptions, images: bool) -> Result<SceneRoot> {
    if !is_fbx(bytes) {
        return Err(of_file(AssetFault::Invalid("is not an FBX file")));
    }
    let load = LoadOpts {
        temp_allocator: allocator(options),
        result_allocator: allocator(options),
        // ufbx reads other formats too.
        file_format: FileFormat::Fbx,
        load_external_files: false,
        ignore_embedded: !images,
        clean_skin_weights: true,
        node_depth_limit: MAX_DEPTH,
        target_axes: ufbx::CoordinateAxes::right_handed_y_up(),
        target_unit_meters: 1.0,
        space_conversion: SpaceConversion::ModifyGeometry,
        handedness_conversion_axis: MirrorAxis::X,
        geometry_transform_handling: GeometryTransformHandling::Preserve,
        inherit_mode_handling: InheritModeHandling::Compensate,
        scale_helper_name: "scale".into(),
        normalize_normals: true,
        normalize_tangents: true,
        ..LoadOpts::default()
    };
    ufbx::load_memory(bytes, load).map_err(|error| failed(&error, options.limits.decoded_bytes))
}

/// Reports warnings of the parser and surfaces that are not read.
fn note_unread(scene: &ufbx::Scene, repairs: &mut Vec<Repair>) {
    let file = file_part("");
    for warning in &scene.metadata.warnings {
        let kind = RepairKind::Fbx(message(&warning.description));
        Repair::note(repairs, &file, kind, warning.count as u64);
    }
    for (index, _) in scene.nurbs_surfaces.iter().enumerate() {
        let object = Object::new(ObjectKind::Mesh, index, "NURBS surface");
        Repair::note(repairs, &object, RepairKind::LeftOut, 1);
    }
}
