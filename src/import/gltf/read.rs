//! The glTF 2.0 reader: `.glb`, and `.gltf` with data URIs or files beside it.

use super::super::RawCharacter;
use super::json::Document;
use super::source::Source;
use crate::character::AnimationSource;
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::import::options::{ImportOptions, Imported, Repair, RepairKind, fault};
use std::path::Path;

/// A character from the bytes of a `.glb` or `.gltf` file that refers to no other files.
///
/// Read are: the chosen scene's meshes with all sets of joints and weights, normals, tangents, one
/// set of colours and the texture coordinates that the material's textures name (`TEXCOORD_0` if
/// there are no textures); morph targets of positions, normals and tangents, with their weights and
/// names (`extras.targetNames` of the mesh); skins, whether or not their joints are in the scene;
/// all animations of translation, rotation, scale and weights; metallic-roughness materials with
/// their textures (PNG, JPEG). A mesh on a node without a skin follows that node rigidly; so, with
/// a [`Repair`], does one with a skin but without joints and weights. A primitive without a
/// material gets the format's own, which is white, metallic and rough.
///
/// A material's textures may use two sets of coordinates, whichever these are: the first that one
/// of [`Material::textures`](crate::mesh::Material::textures) names becomes
/// [`uvs`](crate::mesh::Primitive::uvs), the second
/// [`uvs1`](crate::mesh::Primitive::uvs1). A texture over a third one is left out.
///
/// Left out, with a [`Repair`], are points and lines, what morph targets do to other attributes or
/// to ones that the primitive lacks, and of the materials in use textures whose pixels only an
/// extension gives, and the `KHR_materials_*` extensions that are not read and change how a surface
/// looks.
///
/// Of extensions, `KHR_mesh_quantization`, `KHR_texture_transform`,
/// `KHR_materials_emissive_strength` and `KHR_materials_unlit` are read. Those that the model can
/// be drawn without may be required: the other `KHR_materials_*` ones but for
/// specular-glossiness, `KHR_lights_punctual` and `KHR_xmp_json_ld`. Any other one that is required
/// makes an error, any other one that is not is ignored.
///
/// Indices, counts and ranges are checked in the whole file, values in what is used of it.
/// Alignment is not checked, since everything is read byte by byte.
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
/// [`Error::Asset`], naming the object at fault and the reason; [`Error::NotFound`] if
/// [`ImportOptions::scene`] names a scene that the file lacks.
pub fn gltf(bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
    gltf_with(
        bytes,
        &mut |uri| Err(super::resources::unreachable(uri)),
        options,
    )
}

/// A character from a `.glb` or `.gltf` file; see [`gltf`]. The files that it refers to are read
/// from its folder and the folders in that, never from elsewhere: relative, percent-decoded paths
/// without `..` that still lie in the folder after all links are followed, and plain files only.
///
/// What belongs to the character's animation and glTF has no place for may lie beside the file as
/// TOML under the same name: `knight.toml` beside `knight.glb`.
/// [`AnimationDesc`](crate::character::AnimationDesc) says what is in it,
/// [`ImportOptions::sidecar`] whether it is read.
///
/// # Errors
/// [`Error::Animation`] and [`Error::StateMachine`] for such a file that does not fit, with file,
/// line and part. [`Error::Io`] if the file itself can't be read; [`Error::Asset`], naming the
/// object at fault and the reason; [`Error::NotFound`] if [`ImportOptions::scene`] names a scene
/// that the file lacks.
pub fn gltf_file(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported> {
    let path = path.as_ref();
    let mut options = options.clone();
    if options.name.is_empty() {
        let name = path.file_name().unwrap_or(path.as_os_str());
        options.name = name.to_string_lossy().into();
    }
    let cap = options.max_resource_bytes;
    let named = |error: Error| error.in_file(&options.name);
    let bytes = super::resources::read_file(path, cap).map_err(named)?;
    let folder = super::resources::Folder::of(path)?;
    let beside = super::sidecar::read(path, &folder, &options)?;
    import(&bytes, &mut |uri| folder.read(uri, cap), &options, beside)
}

/// A character from the bytes of a `.glb` or `.gltf` file, whose other files `read` provides.
///
/// `read` is given a relative path, percent-decoded, with `/` between folders. Paths that lead
/// out of the folder (`..`, absolute ones, schemes, drives, backslashes) never reach it.
///
/// # Errors
/// [`Error::Asset`], naming the object at fault and the reason; an [`Error::Io`] of `read` becomes
/// an [`AssetFault::Unreadable`] of the object that asked, other errors are passed on.
/// [`Error::NotFound`] if [`ImportOptions::scene`] names a scene that the file lacks.
pub fn gltf_with(
    bytes: &[u8],
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    options: &ImportOptions,
) -> Result<Imported> {
    import(bytes, read, options, None)
}

pub(crate) fn import(
    bytes: &[u8],
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    options: &ImportOptions,
    beside: Option<AnimationSource>,
) -> Result<Imported> {
    let run = || {
        let mut repairs = Vec::new();
        let raw = read_raw(bytes, read, options, &mut repairs)?;
        let animation = match (&options.animation, beside) {
            (Some(desc), _) => AnimationSource::of_desc(desc, Some(read))?,
            (None, beside) => beside.unwrap_or_default(),
        };
        let mut imported = raw.build_with(options, &animation)?;
        repairs.append(&mut imported.repairs);
        imported.repairs = repairs;
        Ok(imported)
    };
    run().map_err(|error: Error| error.in_file(&options.name))
}

pub(crate) fn read_raw(
    bytes: &[u8],
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let parts = super::container::split(bytes)?;
    let doc = super::parse::document(parts.json, parts.json_start, options)?;
    note_trailing(&doc, &parts, repairs);
    let mut source = Source::new(&doc, parts.bin, read, options);
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
    Ok(RawCharacter {
        name: options.name.clone(),
        skins: super::skin::read(&mut source, &primitives)?,
        nodes,
        primitives,
        materials,
        images,
        animations: super::animation::read(&mut source, repairs)?,
        morphs,
    })
}

/// Lists bytes after the container, and in its binary chunk after the buffer and its padding.
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
    let of_file = Object {
        kind: ObjectKind::File,
        index: None,
        part: Box::default(),
    };
    let of_buffer = object(ObjectKind::Buffer, 0, "");
    let padding = 3;
    for (object, count, least) in [
        (of_file, parts.trailing, 1),
        (of_buffer, spare, padding + 1),
    ] {
        if count >= least {
            let kind = RepairKind::TrailingBytes;
            repairs.push(Repair {
                object,
                kind,
                count,
            });
        }
    }
}

/// The element of a list that an index names.
pub(crate) fn lookup<'a, T>(
    list: &'a [T],
    index: u64,
    what: &'static str,
    referrer: impl FnOnce() -> Object,
) -> Result<(usize, &'a T)> {
    let at = usize::try_from(index).ok();
    match at.and_then(|at| Some((at, list.get(at)?))) {
        Some(found) => Ok(found),
        None => Err(Error::Asset {
            file: Box::default(),
            object: referrer(),
            why: AssetFault::Dangling {
                what,
                index,
                count: list.len() as u64,
            },
        }),
    }
}

pub(crate) fn object(kind: ObjectKind, index: usize, part: impl Into<Box<str>>) -> Object {
    Object {
        kind,
        index: Some(index),
        part: part.into(),
    }
}

pub(crate) fn fault_of(object: Object, why: AssetFault) -> Error {
    Error::Asset {
        file: Box::default(),
        object,
        why,
    }
}

/// Text from a file, cut to what fits an error message or a listing.
pub(crate) fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(200) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

pub(crate) fn not_allowed(what: &'static str, got: &str, allowed: &'static str) -> AssetFault {
    AssetFault::NotAllowed {
        what,
        got: cut(got),
        allowed,
    }
}

pub(crate) fn malformed(what: &'static str, at: usize) -> Error {
    let at = at as u64;
    fault(
        ObjectKind::File,
        None,
        "",
        AssetFault::Malformed { what, at },
    )
}

/// Whether the file says that it uses an extension.
pub(crate) fn uses(doc: &Document, extension: &str) -> bool {
    let mut declared = doc
        .extensions_used
        .iter()
        .chain(doc.extensions_required.iter());
    declared.any(|name| name == extension)
}
