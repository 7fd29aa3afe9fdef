//! Clips of glTF files for characters of other files.

use super::read::note_trailing;
use super::source::Source;
use super::{animation, container, morph, parse, ranges, resources, scene, skin};
use crate::character::Character;
use crate::error::{Error, Result};
use crate::import::options::{ImportOptions, Repair};
use crate::import::{AddedClips, ClipsFor, RawCharacter};
use crate::skeleton::Skeleton;
use std::path::Path;

/// The character with the clips of another `.glb` or `.gltf` file, which refers to no other files:
/// matched by the names of the joints and of the morph targets.
///
/// Only the nodes, skins, animations and the names of morph targets are read of the file, in all of
/// its scenes: it needs no mesh and no skin, and what it draws is not decoded. Everything else is
/// as [`RawCharacter::add_clips`] says, which tells what is matched, how clips are named and what
/// is reported.
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
/// [`Error::Asset`], naming the object at fault and the reason, also if the file has no animation;
/// [`Error::NoCommonJoints`] if nothing that the file animates is found in the character.
pub fn add_clips(
    character: &Character,
    bytes: &[u8],
    options: &ImportOptions,
) -> Result<AddedClips> {
    let read = &mut |uri: &str| Err(resources::unreachable(uri));
    add_clips_with(character, bytes, read, options)
}

/// The same from a `.glb` or `.gltf` file; the files that it refers to are read as by
/// [`gltf_file`](super::read::gltf_file).
///
/// # Errors
/// As [`add_clips`]; [`Error::Io`] if the file itself can't be read.
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

/// The same from the bytes of a `.glb` or `.gltf` file, whose other files `read` provides as for
/// [`gltf_with`](super::read::gltf_with).
///
/// # Errors
/// As [`add_clips`]; an [`Error::Io`] of `read` becomes an
/// [`AssetFault::Unreadable`](crate::error::AssetFault::Unreadable) of the object that asked.
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

/// The clips of a `.glb` or `.gltf` file that refers to no other files, on a skeleton of another
/// one: for those who have no [`Character`]. Where there is one, [`add_clips`] is the way: it knows
/// the morph weights, too, keeps the names of clips apart and finds anew what depends on clips.
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

/// Nodes, skins, animations and morph weights alone.
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
    // For its checks of nodes and scenes; what a scene leaves out may be animated all the same.
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
