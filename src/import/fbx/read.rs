//! The public functions that read FBX.

use super::animation::{self, allocator};
use super::fault::{failed, of_file};
use super::images::{Decoded, Images};
use super::material;
use super::mesh::Meshes;
use super::nodes::Nodes;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::RawCharacter;
use crate::import::complete::complete;
use crate::import::fault::{message, object};
use crate::import::folder::{Folder, given, open};
use crate::import::format::is_fbx;
use crate::import::imported::Imported;
use crate::import::options::ImportOptions;
use crate::import::repair::{Repair, RepairKind, note};
use crate::import::sidecar;
use std::path::Path;
use ufbx::{
    FileFormat, GeometryTransformHandling, InheritModeHandling, LoadOpts, MirrorAxis, SceneRoot,
    SpaceConversion,
};

/// The most nodes above one another.
const MAX_DEPTH: u32 = 4096;

/// Imports an FBX file from bytes: binary or text, versions 5 to 7.7.
///
/// Units and axes are converted to metres and +Y up. Lengths in metres are part of vertices and
/// translations, so no node gets a scale from the conversion.
///
/// # Contents that are read
/// - Meshes with their polygons, normals, tangents, the first set of colours and the first set of
///   texture coordinates, and one primitive for each material. Geometric transforms are part of
///   the vertices.
/// - Skins, with any number of influences. Vertices without weights follow the mesh's node.
/// - Blend shapes, including shapes in between. Each shape has a morph weight.
/// - All takes, each as one animation, in the range of the take. Layers of a take are combined.
/// - Materials, as far as [`Material`](crate::mesh::Material) goes, with their textures (PNG, JPEG)
///   for base colour, emission, normals and occlusion. Textures may be embedded. Otherwise
///   [`ImportOptions::resources`] or, for [`fbx_file`], the file's folder provides them, by the
///   relative path in the file or by the name alone.
///
/// # Animation
/// Curves that are linear keep their keys. Others are sampled at the smallest multiple of the
/// file's frame rate that is at least 60 per second. Keys that a straight line replaces are left
/// out. Stepped keys stay steps. Curves that repeat or go on outside their keys fill the take.
///
/// In 657 of 666 published files, posed vertices are at most 1.5 mm per metre of the scene's size
/// from where ufbx evaluates them between frames. In the others, values overshoot within a frame,
/// ufbx skins with dual quaternions, or a skin is bound to the root.
///
/// # Contents that are left out
/// Each of these is reported as a [`Repair`]:
/// - Points and lines, NURBS and geometry caches.
/// - Meshes of invisible nodes, if another node is visible.
/// - Second skins of a mesh.
/// - Textures for roughness, metalness and opacity.
///
/// Cameras, lights and constraints are ignored, and so are [`ImportOptions::scene`] and a skin's
/// wish for dual quaternions: the engine chooses the
/// [`SkinningMethod`](crate::palette::SkinningMethod).
///
/// Warnings of the parser, such as clamped indices, are repairs too; see [`RepairKind::Fbx`].
///
/// ```no_run
/// use throng::import::{ImportOptions, fbx};
///
/// let bytes = std::fs::read("knight.fbx")?;
/// let knight = fbx(&bytes, &ImportOptions::default())?;
/// println!("{} joints", knight.skeleton().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason.
pub fn fbx(bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
    let read = &mut |path: &str| given(options, path);
    complete(options, None, read, |read, repairs| {
        read_raw(bytes, read, options, repairs)
    })
}

/// Imports an FBX file; see [`fbx`].
///
/// Textures that are not embedded are read only from its folder and the folders inside that, as by
/// [`gltf_file`](crate::import::gltf_file). The same holds for an animation description of the
/// same name: `knight.toml` beside `knight.fbx`.
///
/// # Errors
/// - [`Error::Description`](crate::Error::Description) for a TOML file that does not fit, with file,
///   line and part.
/// - [`Error::Io`](crate::Error::Io) if the file itself cannot be read.
/// - [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason.
pub fn fbx_file(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported> {
    let path = path.as_ref();
    let options = options.clone().named(path);
    let (bytes, folder) = open(path, &options)?;
    read_file(&bytes, path, &folder, &options)
}

/// [`fbx_file`] for the contents of the file at `path`.
pub(in crate::import) fn read_file(
    bytes: &[u8],
    path: &Path,
    folder: &Folder,
    options: &ImportOptions,
) -> Result<Imported> {
    let beside = sidecar::read(path, folder, options)?;
    let read = &mut |path: &str| folder.given(options, path);
    complete(options, beside, read, |read, repairs| {
        read_raw(bytes, read, options, repairs)
    })
}

/// Reads the takes of a file, for characters from other files.
pub(in crate::import) fn read_clips(
    bytes: &[u8],
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    // Materials and images are not needed.
    let options = ImportOptions {
        images: false,
        ..options.clone()
    };
    read_raw(bytes, read, &options, repairs)
}

fn read_raw(
    bytes: &[u8],
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let scene = load(bytes, options)?;
    let mut decoded = Decoded::new(options);
    note_unread(&scene, repairs);
    let nodes = Nodes::read(&scene, options)?;
    let meshes = Meshes::read(&scene, &nodes, &mut decoded, repairs)?;
    let mut used = vec![false; scene.materials.len()];
    for material in meshes.primitives.iter().filter_map(|p| p.material) {
        if let Some(used) = used.get_mut(material) {
            *used = true;
        }
    }
    let images = Images::new(&mut decoded, read);
    let (materials, images) = material::read(&scene, &used, images, options.images, repairs)?;
    let animations = animation::read(&scene, &nodes, &meshes.driven, options, repairs)?;
    Ok(RawCharacter {
        name: options.name.clone(),
        nodes: nodes.raw,
        skins: meshes.skins,
        primitives: meshes.primitives,
        materials,
        images,
        animations,
        morphs: meshes.morphs,
        ..RawCharacter::default()
    })
}

/// Reads the scene. ufbx opens no other file, because external files are not enabled.
fn load(bytes: &[u8], options: &ImportOptions) -> Result<SceneRoot> {
    if !is_fbx(bytes) {
        return Err(of_file(AssetFault::Invalid("is not an FBX file")));
    }
    let load = LoadOpts {
        temp_allocator: allocator(options),
        result_allocator: allocator(options),
        // ufbx reads other formats too.
        file_format: FileFormat::Fbx,
        load_external_files: false,
        ignore_embedded: !options.images,
        clean_skin_weights: true,
        node_depth_limit: MAX_DEPTH,
        target_axes: ufbx::CoordinateAxes::right_handed_y_up(),
        target_unit_meters: 1.0,
        space_conversion: SpaceConversion::ModifyGeometry,
        handedness_conversion_axis: MirrorAxis::X,
        geometry_transform_handling: GeometryTransformHandling::ModifyGeometry,
        inherit_mode_handling: InheritModeHandling::Compensate,
        geometry_transform_helper_name: "geometric transform".into(),
        scale_helper_name: "scale".into(),
        normalize_normals: true,
        normalize_tangents: true,
        ..LoadOpts::default()
    };
    ufbx::load_memory(bytes, load).map_err(|error| failed(&error, options.max_decoded_bytes))
}

/// Reports warnings of the parser and surfaces that are not read.
fn note_unread(scene: &ufbx::Scene, repairs: &mut Vec<Repair>) {
    let file = crate::error::Object {
        kind: ObjectKind::File,
        index: None,
        part: Box::default(),
    };
    for warning in &scene.metadata.warnings {
        let kind = RepairKind::Fbx(message(&warning.description));
        note(repairs, &file, kind, warning.count as u64);
    }
    for (index, _) in scene.nurbs_surfaces.iter().enumerate() {
        let object = object(ObjectKind::Mesh, index, "NURBS surface");
        note(repairs, &object, RepairKind::LeftOut, 1);
    }
}
