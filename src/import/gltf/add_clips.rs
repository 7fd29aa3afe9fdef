//! Adding clips of glTF files to characters from other files.

use super::read::note_trailing;
use super::source::Source;
use super::{animation, container, morph, parse, ranges, resources, scene, skin};
use crate::character::Character;
use crate::error::{Error, Result};
use crate::import::options::ImportOptions;
use crate::import::repair::Repair;
use crate::import::{AddedClips, ClipsFor, RawCharacter};
use crate::skeleton::Skeleton;
use std::path::Path;

/// Adds the clips of another `.glb` or `.gltf` file to a character.
///
/// The file must not refer to other files. Joints and morph targets are matched by name.
///
/// Only nodes, skins, animations and names of morph targets are read, in all scenes of the file.
/// The file needs no mesh and no skin, and what it draws is not decoded. See
/// [`RawCharacter::add_clips`] for the matching, the names of clips and the report.
///
/// ```no_run
/// use throng::import::{ImportOptions, add_clips, gltf};
///
/// let knight = gltf(&std::fs::read("knight.glb")?, &ImportOptions::default())?;
/// let options = ImportOptions { name: "dance".into(), ..Default::default() };
/// let added = add_clips(&knight, &std::fs::read("dance.glb")?, &options)?;
/// for joint in &added.report.unmatched {
///     println!("{} is not in the skeleton: {} tracks left out", joint.name, joint.tracks);
/// }
/// let dance = added.character.clip("dance")?.index();
/// # let _ = dance;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// - [`Error::Asset`], naming the object at fault and the reason. Also if the file has no
///   animation.
/// - [`Error::NoCommonJoints`] if nothing that the file animates is found in the character.
pub fn add_clips(
    character: &Character,
    bytes: &[u8],
    options: &ImportOptions,
) -> Result<AddedClips> {
    let read = &mut |uri: &str| Err(resources::unreachable(uri));
    add_clips_with(character, bytes, read, options)
}

/// [`add_clips`] for the path of a `.glb` or `.gltf` file.
///
/// Files that it refers to are read as by [`gltf_file`](super::read::gltf_file).
///
/// # Errors
/// As [`add_clips`], and [`Error::Io`] if the file itself cannot be read.
pub fn add_clips_file(
    character: &Character,
    path: impl AsRef<Path>,
    options: &ImportOptions,
) -> Result<AddedClips> {
    let path = path.as_ref();
    let mut options = options.clone();
    if options.name.is_empty() {
        let name = path.file_name().unwrap_or(path.as_os_str());
        options.name = name.to_string_lossy().into();
    }
    let cap = options.max_resource_bytes;
    let bytes = resources::read_file(path, cap).map_err(|e: Error| e.in_file(&options.name))?;
    let folder = resources::Folder::of(path)?;
    add_clips_with(
        character,
        &bytes,
        &mut |uri| folder.read(uri, cap),
        &options,
    )
}

/// [`add_clips`] for bytes of a file whose other files `read` provides.
///
/// `read` works as for [`gltf_with`](super::read::gltf_with).
///
/// # Errors
/// As [`add_clips`]. An [`Error::Io`] of `read` becomes an
/// [`AssetFault::Unreadable`](crate::error::AssetFault::Unreadable) of the object that refers to
/// the file.
pub fn add_clips_with(
    character: &Character,
    bytes: &[u8],
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    options: &ImportOptions,
) -> Result<AddedClips> {
    let mut run = || {
        let mut repairs = Vec::new();
        let raw = read_clips(bytes, read, options, &mut repairs)?;
        let mut added = raw.add_clips(character, options)?;
        repairs.append(&mut added.report.repairs);
        added.report.repairs = repairs;
        Ok(added)
    };
    run().map_err(|error: Error| error.in_file(&options.name))
}

/// Makes clips for a skeleton from a `.glb` or `.gltf` file.
///
/// The file must not refer to other files.
///
/// Use this if there is only a skeleton and no [`Character`]. Otherwise use [`add_clips`], which
/// also matches morph weights, keeps the names of clips distinct and recomputes the properties that
/// depend on clips.
///
/// # Errors
/// As [`add_clips`].
pub fn clips_for(skeleton: &Skeleton, bytes: &[u8], options: &ImportOptions) -> Result<ClipsFor> {
    let run = || {
        let mut repairs = Vec::new();
        let read = &mut |uri: &str| Err(resources::unreachable(uri));
        let raw = read_clips(bytes, read, options, &mut repairs)?;
        let mut found = raw.clips_for(skeleton, options)?;
        repairs.append(&mut found.report.repairs);
        found.report.repairs = repairs;
        Ok(found)
    };
    run().map_err(|error: Error| error.in_file(&options.name))
}

/// Reads only nodes, skins, animations and morph weights.
fn read_clips(
    bytes: &[u8],
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let parts = container::split(bytes)?;
    let doc = parse::document(parts.json, parts.json_start, options)?;
    note_trailing(&doc, &parts, repairs);
    let mut source = Source::new(&doc, parts.bin, read, options);
    ranges::check(&doc)?;
    let parents = scene::parents(&doc)?;
    // Called for its checks of nodes and scenes. Nodes that the scene leaves out may still be
    // animated.
    scene::mesh_nodes(&doc, &parents, options, &mut Vec::new())?;
    morph::check(&doc)?;
    Ok(RawCharacter {
        name: options.name.clone(),
        nodes: scene::nodes(&doc, parents),
        skins: skin::read(&mut source, &[])?,
        animations: animation::read(&mut source, repairs)?,
        morphs: morph::weights(&mut source)?,
        ..RawCharacter::default()
    })
}
