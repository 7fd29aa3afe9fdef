//! The public functions that read glTF 2.0: `.glb`, and `.gltf` with data URIs or other files.

use super::super::RawCharacter;
use super::json::Document;
use super::source::Source;
use crate::error::{Object, ObjectKind, Result};
use crate::import::complete::complete;
use crate::import::fault::object;
use crate::import::folder::{Folder, given, open};
use crate::import::imported::Imported;
use crate::import::options::ImportOptions;
use crate::import::repair::{Repair, RepairKind, note};
use crate::import::sidecar;
use std::path::Path;

/// Imports a self-contained `.glb` or `.gltf` file from bytes.
///
/// It may refer to other files only if [`ImportOptions::resources`] provides them. Otherwise use
/// [`gltf_file`].
///
/// # Contents that are read
/// - The meshes of the chosen scene, with all sets of joints and weights, normals, tangents and one
///   set of colours.
/// - The texture coordinates that the material's textures name (`TEXCOORD_0` if there are none).
/// - Morph targets of positions, normals and tangents, with their weights and names
///   (`extras.targetNames` of the mesh).
/// - Skins, even if their joints are not in the scene.
/// - All animations of translation, rotation, scale and weights.
/// - Metallic-roughness materials with their textures (PNG, JPEG, WebP).
///
/// A mesh on a node without a skin follows that node rigidly. A mesh with a skin but without joints
/// and weights does so too, with a [`Repair`]. A primitive without a material gets the format's
/// default, which is white, metallic and rough.
///
/// A material's textures may use any two sets of texture coordinates. The first set that one of
/// [`Material::textures`](crate::mesh::Material::textures) names becomes
/// [`uvs`](crate::mesh::Primitive::uvs), the second [`uvs1`](crate::mesh::Primitive::uvs1). A
/// texture that uses a third set is left out.
///
/// # Contents that are left out
/// Each of these is reported as a [`Repair`]:
/// - Points and lines.
/// - Morph targets of other attributes, or of attributes that the primitive does not have.
/// - Textures of used materials without an image.
/// - `KHR_materials_*` extensions of used materials that are not read and change how a surface
///   looks.
/// - Trailing indices that make no full triangle.
/// - Animation channels without a node, of a path that glTF 2.0 does not have, or with a pointer to
///   anything but a property of a node.
///
/// Images that are missing or cannot be decoded are replaced or left out; see
/// [`RepairKind::ImageReplaced`] and [`RepairKind::ImageLeftOut`].
///
/// # Extensions
/// - `KHR_mesh_quantization`, `KHR_texture_transform`, `KHR_materials_emissive_strength` and
///   `KHR_materials_unlit` are read.
/// - `KHR_animation_pointer` is read if it points to a property of a node that glTF 2.0 can
///   animate.
/// - `EXT_mesh_gpu_instancing` becomes [`Imported::spawn_points`].
/// - `KHR_node_visibility`: meshes of invisible nodes are left out; if all are, none is.
/// - `KHR_materials_pbrSpecularGlossiness` is converted; see [`RepairKind::SpecularGlossiness`].
/// - `EXT_meshopt_compression` and `KHR_meshopt_compression` need the Cargo feature `meshopt`,
///   `KHR_draco_mesh_compression` needs `draco`, and `EXT_texture_webp` needs `webp`. A compression
///   without its feature is an error,
///   [`AssetFault::NoDecoder`](crate::error::AssetFault::NoDecoder), unless it is optional and the
///   file has uncompressed data too.
/// - Of VRM 0.x and 1.0, humanoid bones
///   ([`Skeleton::roles`](crate::skeleton::Skeleton::roles)), expressions
///   ([`Character::expressions`](crate::character::Character::expressions)) and spring bones
///   ([`Character::springs`](crate::character::Character::springs)). A character of version 0.x is
///   turned so that it faces +Z.
///
/// A file may also require extensions without which the model can still be drawn, such as those of
/// other textures, finer shading and lights. The README lists them. Any other required extension is
/// an error. Any other optional one is ignored.
///
/// # Checks
/// Indices, counts and ranges are checked in the whole file, values only in the parts that are
/// used. Alignment is not checked, because everything is read byte by byte.
///
/// ```no_run
/// use throng::import::{ImportOptions, gltf};
///
/// let bytes = std::fs::read("knight.glb")?;
/// let knight = gltf(&bytes, &ImportOptions::default())?;
/// for repair in &knight.repairs {
///     println!("{repair}");
/// }
/// println!("{} joints", knight.skeleton().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason.
/// [`Error::InFile`](crate::Error::InFile) if the file does not have the scene that
/// [`ImportOptions::scene`] names, or a node of [`ImportOptions::leave_out`].
pub fn gltf(bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
    let read = &mut |uri: &str| given(options, uri);
    complete(options, None, read, |read, repairs| {
        read_raw(bytes, read, options, repairs)
    })
}

/// Imports a `.glb` or `.gltf` file; see [`gltf`].
///
/// Without [`ImportOptions::resources`], files that it refers to are read only from its folder and
/// the folders inside that. Paths must be relative (after percent-decoding), without `..`, and must
/// still lie in the folder after all links are followed. Only plain files are read.
///
/// Animation data that glTF cannot store may be in a TOML file of the same name: `knight.toml`
/// beside `knight.glb`. [`AnimationDesc`](crate::character::AnimationDesc) describes its contents,
/// and [`ImportOptions::sidecar`] controls whether it is read.
///
/// # Errors
/// - [`Error::Description`](crate::Error::Description) for a TOML file that does not fit, with
///   file, line and part.
/// - [`Error::Io`](crate::Error::Io) if the file itself cannot be read.
/// - [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason.
/// - [`Error::InFile`](crate::Error::InFile) if the file does not have the scene that
///   [`ImportOptions::scene`] names, or a node of [`ImportOptions::leave_out`].
pub fn gltf_file(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported> {
    let path = path.as_ref();
    let options = options.clone().named(path);
    let (bytes, folder) = open(path, &options)?;
    read_file(&bytes, path, &folder, &options)
}

/// [`gltf_file`] for the contents of the file at `path`.
pub(in crate::import) fn read_file(
    bytes: &[u8],
    path: &Path,
    folder: &Folder,
    options: &ImportOptions,
) -> Result<Imported> {
    let beside = sidecar::read(path, folder, options)?;
    let read = &mut |uri: &str| folder.given(options, uri);
    complete(options, beside, read, |read, repairs| {
        read_raw(bytes, read, options, repairs)
    })
}

pub(crate) fn read_raw(
    bytes: &[u8],
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let parts = super::container::split(bytes)?;
    let doc = super::parse::document(parts.json, parts.json_start, options)?;
    super::extensions::check(&doc)?;
    note_trailing(&doc, &parts, repairs);
    let mut source = Source::new(&doc, &parts, read, options);
    super::ranges::check(&doc)?;
    let parents = super::scene::parents(&doc)?;
    let carriers = super::scene::mesh_nodes(&doc, &parents, options, repairs)?;
    let nodes = super::scene::nodes(&doc, parents);
    super::texture::check(&doc)?;
    let (mut materials, needs) = super::material::read(&doc)?;
    super::morph::check(&doc)?;
    let morphs = super::morph::weights(&mut source)?;
    let mut primitives = super::mesh::read(&mut source, &carriers, &needs, repairs)?;
    for primitive in &mut primitives {
        let of_node = morphs.binary_search_by_key(&primitive.node, |morph| morph.node);
        primitive.morph = of_node.ok();
    }
    let images =
        super::texture::load_images(&mut source, &mut materials, needs, &primitives, repairs)?;
    super::material::give_default(&mut materials, &mut primitives);
    let mut raw = RawCharacter {
        name: options.name.clone(),
        skins: super::skin::read(&mut source, &primitives)?,
        spawn_points: super::spawn_points::read(&mut source, &nodes, &carriers, repairs)?,
        nodes,
        primitives,
        materials,
        images,
        animations: super::animation::read(&mut source, repairs)?,
        morphs,
        ..RawCharacter::default()
    };
    super::vrm::read(&doc, &mut raw, repairs)?;
    Ok(raw)
}

/// Reports bytes after the container, and bytes in its binary chunk after the buffer and padding.
pub(crate) fn note_trailing(
    doc: &Document,
    parts: &super::container::Parts<'_>,
    repairs: &mut Vec<Repair>,
) {
    let own = doc.buffers.first().filter(|buffer| buffer.uri.is_none());
    let spare = match (own, parts.bin) {
        (Some(buffer), Some(bin)) => (bin.len() as u64).saturating_sub(buffer.byte_length),
        _ => 0,
    };
    let file = Object {
        kind: ObjectKind::File,
        index: None,
        part: Box::default(),
    };
    let of_buffer = object(ObjectKind::Buffer, 0, "");
    let padding = 3;
    for (object, count, least) in [(file, parts.trailing, 1), (of_buffer, spare, padding + 1)] {
        if count >= least {
            note(repairs, &object, RepairKind::TrailingBytes, count);
        }
    }
}
