//! The public functions that read the "Building the Game" WebGL format.

use super::{clips, model, vertices};
use crate::error::{AssetFault, Error, ObjectKind, Result};
use crate::import::RawCharacter;
use crate::import::budget::Budget;
use crate::import::complete::complete;
use crate::import::fault::fault;
use crate::import::folder::{Folder, given, open};
use crate::import::format::Format;
use crate::import::frames;
use crate::import::imported::Imported;
use crate::import::options::ImportOptions;
use crate::import::repair::Repair;
use crate::import::sidecar;
use crate::skeleton::Skeleton;
use std::io::ErrorKind;
use std::path::Path;

/// Imports a model of the "Building the Game" WebGL format: the bytes of a `.wglmodel` and of its
/// `.wglvert`.
///
/// # Contents that are read
/// - Vertices: positions, two sets of texture coordinates, normals, tangents, colours (sRGB
///   encoded) and three weights and joints. Indices have 16 bits.
/// - `meshes` (or `models`) of `submeshes` (or `meshes`), each with its range of indices and bones.
/// - `bones`, in any order. Bones without an inverse bind matrix take that of the rest pose, which
///   is reported if they are `skinned`.
///
/// The format is left-handed. Everything is mirrored in x, as in other converters from that engine
/// to glTF: a character that faces +Z still does, and its left hand is on its left.
///
/// Weights in a file without bones, and textures, are left out and reported as a [`Repair`].
/// `.wglanim` files are read by [`add_clips`](crate::import::add_clips).
///
/// # Errors
/// [`Error::Asset`], naming the object at fault and the reason. Nodes are bones, and buffers are
/// the lumps of the `.wglvert`.
pub fn wgl(model: &[u8], vertices: &[u8], options: &ImportOptions) -> Result<Imported> {
    let read = &mut |uri: &str| given(options, uri);
    complete(options, None, read, |_, repairs| {
        read_model(model, options, repairs, || Ok(vertices.to_vec()))
    })
}

/// Imports a `.wglmodel` file, with the `.wglvert` of the same name in its folder; see [`wgl`].
///
/// The extension of the vertices has the case of the model's extension, or lower case.
///
/// [`ImportOptions::resources`] provides the `.wglvert`, if it is set. A `.wglanim` file becomes a
/// character with a joint for each bone and nothing to draw; to play it on a model, use
/// [`add_clips_file`](crate::import::add_clips_file).
///
/// An animation description beside the file is read as by [`import::file`](crate::import::file()).
///
/// # Errors
/// - [`Error::Description`] for a TOML file that does not fit.
/// - [`Error::Io`] if the file itself cannot be read.
/// - [`Error::Asset`], naming the object at fault and the reason, also for the `.wglvert`.
pub fn wgl_file(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported> {
    let path = path.as_ref();
    let options = options.clone().named(path);
    let (bytes, folder) = open(path, &options)?;
    read_file(&bytes, path, &folder, &options)
}

/// [`wgl_file`] for the contents of the file at `path`.
pub(in crate::import) fn read_file(
    bytes: &[u8],
    path: &Path,
    folder: &Folder,
    options: &ImportOptions,
) -> Result<Imported> {
    let beside = sidecar::read(path, folder, options)?;
    let read = &mut |uri: &str| folder.given(options, uri);
    complete(options, beside, read, |read, repairs| {
        match Format::of(bytes, &path.to_string_lossy()) {
            Ok(Format::WglClip) => read_clips(bytes, None, options, repairs),
            Ok(Format::WglVertices) => Err(vertices_alone()),
            _ => read_model(bytes, options, repairs, || beside_model(path, read)),
        }
    })
}

fn vertices_alone() -> Error {
    let why = AssetFault::Invalid("has only vertices; the .wglmodel of the same name is imported");
    fault(ObjectKind::File, None, "", why)
}

/// The bytes of the `.wglvert` with the name of the model.
///
/// Its extension has the case of the model's extension, or lower case.
fn beside_model(path: &Path, read: &mut dyn FnMut(&str) -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    let cased = cased_extension(path);
    let first = with_extension(path, &cased, read);
    if cased == EXTENSION || !is_missing(&first) {
        return first;
    }
    let second = with_extension(path, EXTENSION, read);
    if is_missing(&second) { first } else { second }
}

fn is_missing(file: &Result<Vec<u8>>) -> bool {
    let Err(Error::Asset { why, .. }) = file else {
        return false;
    };
    matches!(why, AssetFault::Unreadable { kind, .. } if *kind == ErrorKind::NotFound)
}

fn with_extension(
    path: &Path,
    extension: &str,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let name = path.with_extension(extension);
    let name = name.file_name().and_then(|name| name.to_str());
    let at = |why| fault(ObjectKind::File, None, "vertices", why);
    let name = name.ok_or_else(|| at(AssetFault::Invalid("have a name that is not UTF-8")))?;
    read(name).map_err(|error| match error {
        Error::Io { kind, .. } => at(AssetFault::Unreadable {
            uri: name.into(),
            kind,
        }),
        other => other.in_file(name),
    })
}

/// The extension of vertices.
const EXTENSION: &str = "wglvert";

/// The extension of the vertices of this model, each letter in the case of the model's extension.
fn cased_extension(model: &Path) -> String {
    let cases = model.extension().and_then(|extension| extension.to_str());
    let cases = cases.unwrap_or_default().chars().map(Some);
    let letters = EXTENSION.chars().zip(cases.chain(std::iter::repeat(None)));
    let cased = letters.map(|(letter, case)| match case {
        Some(case) if case.is_ascii_uppercase() => letter.to_ascii_uppercase(),
        _ => letter,
    });
    cased.collect()
}

fn read_model(
    bytes: &[u8],
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
    vertex_bytes: impl FnOnce() -> Result<Vec<u8>>,
) -> Result<RawCharacter> {
    let mut budget = Budget::new(options);
    let model = model::document(bytes, &budget)?;
    let vertices = vertices::read(&vertex_bytes()?, &mut budget)?;
    let mut raw = model::read(&model, &vertices, &mut budget, repairs)?;
    raw.name = options.name.clone();
    Ok(raw)
}

/// Reads the clip of a `.wglanim` file, with the joints of `skeleton` as its hierarchy.
pub(in crate::import) fn read_clips(
    bytes: &[u8],
    skeleton: Option<&Skeleton>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let mut budget = Budget::new(options);
    let clips = vec![clips::read(bytes, &mut budget)?];
    let nodes = frames::nodes(&clips, skeleton);
    budget.nodes(nodes.len())?;
    Ok(RawCharacter {
        name: options.name.clone(),
        animations: frames::animations(clips, &nodes, repairs),
        nodes,
        ..RawCharacter::default()
    })
}
