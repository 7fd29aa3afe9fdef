//! The public functions that read EZMesh files.

use super::{clips, meshes, skeletons, xml};
use crate::error::Result;
use crate::import::RawCharacter;
use crate::import::budget::Budget;
use crate::import::complete::complete;
use crate::import::folder::{Folder, given, open};
use crate::import::frames;
use crate::import::imported::Imported;
use crate::import::inverse_rest::{check_origin, unusable_inverse};
use crate::import::options::ImportOptions;
use crate::import::repair::Repair;
use crate::import::sidecar;
use crate::skeleton::Skeleton;
use roxmltree::Node;
use std::path::Path;

/// Imports an EZMesh file (`.ezm`) from bytes.
///
/// EZMesh is the XML format of MeshImport, which PhysX tools wrote. The root element may be
/// `MeshSystem`, `SceneGraph` or `Mesh`. Names of elements, attributes and semantics may have any
/// case.
///
/// # Contents that are read
/// - `Mesh`: `MeshSection`s with a `vertexbuffer` of their own or of the mesh, and an
///   `indexbuffer`. Vertices have positions, normals, tangents with the sign of the binormals, two
///   sets of texture coordinates, colours, and up to 256 joints and weights. Colours are sRGB
///   encoded: hexadecimal `AARRGGBB`, or three or four numbers from 0 to 1.
/// - `Skeleton`: bones in any order. Meshes are bound in the rest pose.
/// - `Animation`: tracks of 7 or 10 numbers per frame (position, rotation, scale), at the rate of
///   `dtime`.
/// - `Material`s and the materials of sections, by name. The format has no colours, and textures
///   are not read.
///
/// A mesh with weights in a file without a skeleton is rigid. A file with animations and without a
/// skeleton gets a joint for each track; [`add_clips`](crate::import::add_clips) gives its clips to
/// a character.
///
/// # Contents that are left out
/// Each of these is reported as a [`Repair`]: other semantics, more than two sets of texture
/// coordinates, textures, tracks of joints that the skeleton does not have, and the elements
/// `TetraMesh`, `NodeTriangle`, `NodeInstance` and `MeshCollisionRepresentation`.
///
/// # Checks
/// Every count that the file states must match its contents, except for the duration of an
/// animation, which is only reported. Documents with a DTD are rejected, so there are no entities.
///
/// # Errors
/// [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason. The index of a
/// node is that of a bone, counted over all skeletons.
pub fn ezm(bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
    let read = &mut |uri: &str| given(options, uri);
    complete(options, None, read, |_, repairs| {
        read_raw(bytes, options, repairs)
    })
}

/// Imports an EZMesh file; see [`ezm`].
///
/// An animation description beside the file is read as by [`import::file`](crate::import::file()).
///
/// # Errors
/// - [`Error::Description`](crate::Error::Description) for a TOML file that does not fit.
/// - [`Error::Io`](crate::Error::Io) if the file itself cannot be read.
/// - [`Error::Asset`](crate::Error::Asset), naming the object at fault and the reason.
pub fn ezm_file(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Imported> {
    let path = path.as_ref();
    let options = options.clone().named(path);
    let (bytes, folder) = open(path, &options)?;
    read_file(&bytes, path, &folder, &options)
}

/// [`ezm_file`] for the contents of the file at `path`.
pub(in crate::import) fn read_file(
    bytes: &[u8],
    path: &Path,
    folder: &Folder,
    options: &ImportOptions,
) -> Result<Imported> {
    let beside = sidecar::read(path, folder, options)?;
    let read = &mut |uri: &str| folder.given(options, uri);
    complete(options, beside, read, |_, repairs| {
        read_raw(bytes, options, repairs)
    })
}

fn read_raw(
    bytes: &[u8],
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let mut budget = Budget::new(options);
    let document = xml::document(bytes, &budget)?;
    let root = xml::root(&document)?;
    xml::note_left_out(root, repairs);
    let skeletons = skeletons::read(root, &budget)?;
    let mut raw = with_clips(root, &skeletons, None, &mut budget, repairs)?;
    raw.name = options.name.clone();
    meshes::read(root, &skeletons, &mut raw, &mut budget, repairs)?;
    if let Some((bone, _)) = unusable_inverse(&raw) {
        check_origin(&raw.nodes, bone)?;
    }
    Ok(raw)
}

/// Reads only skeletons and animations. A file without a skeleton takes `skeleton`.
pub(in crate::import) fn read_clips(
    bytes: &[u8],
    skeleton: Option<&Skeleton>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let mut budget = Budget::new(options);
    let document = xml::document(bytes, &budget)?;
    let root = xml::root(&document)?;
    let skeletons = skeletons::read(root, &budget)?;
    let mut raw = with_clips(root, &skeletons, skeleton, &mut budget, repairs)?;
    raw.name = options.name.clone();
    Ok(raw)
}

/// Returns true if the file has a skeleton.
pub(in crate::import) fn has_skeleton(bytes: &[u8], options: &ImportOptions) -> Result<bool> {
    let document = xml::document(bytes, &Budget::new(options))?;
    let root = xml::root(&document)?;
    Ok(xml::elements(root, "Skeleton").next().is_some())
}

fn with_clips(
    root: Node<'_, '_>,
    skeletons: &skeletons::Skeletons,
    skeleton: Option<&Skeleton>,
    budget: &mut Budget<'_>,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let clips = clips::read(root, budget)?;
    let nodes = match skeletons.nodes.is_empty() {
        true => frames::nodes(&clips, skeleton),
        false => skeletons.nodes.clone(),
    };
    budget.nodes(nodes.len())?;
    Ok(RawCharacter {
        animations: frames::animations(clips, &nodes, repairs),
        nodes,
        skins: skeletons.skins.clone(),
        ..RawCharacter::default()
    })
}
