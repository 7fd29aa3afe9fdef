//! Adding clips of glTF files to characters from other files.

use super::read::note_trailing;
use super::resources::{given, open};
use super::source::Source;
use super::{animation, container, morph, parse, ranges, scene, skin};
use crate::character::Character;
use crate::error::{Error, Result};
use crate::import::RawCharacter;
use crate::import::imported::Imported;
use crate::import::options::ImportOptions;
use crate::import::repair::{Repair, of_file};
use std::path::Path;

/// Adds the clips of another `.glb` or `.gltf` file to a character.
///
/// The file may refer to other files only if [`ImportOptions::resources`] provides them. Joints and
/// morph targets are matched by name.
///
/// Only nodes, skins, animations and names of morph targets are read, in all scenes of the file.
/// The file needs no mesh and no skin, and what it draws is not decoded. See
/// [`RawCharacter::add_clips`] for the matching, the names of clips and the repairs.
///
/// ```no_run
/// use throng::import::{ImportOptions, add_clips, gltf};
///
/// let knight = gltf(&std::fs::read("knight.glb")?, &ImportOptions::default())?;
/// let options = ImportOptions { name: "dance".into(), ..Default::default() };
/// let added = add_clips(&knight, &std::fs::read("dance.glb")?, &options)?;
/// for repair in &added.repairs {
///     println!("{repair}");
/// }
/// let dance = added.clip("dance")?;
/// # let _ = dance;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// - [`Error::Asset`], naming the object at fault and the reason. Also if the file has no
///   animation.
/// - [`Error::NoCommonJoints`] if nothing that the file animates is found in the character.
pub fn add_clips(character: &Character, bytes: &[u8], options: &ImportOptions) -> Result<Imported> {
    add(character, bytes, &mut |uri| given(options, uri), options)
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
) -> Result<Imported> {
    let path = path.as_ref();
    let options = options.clone().named(path);
    let (bytes, folder) = open(path, &options)?;
    let read = &mut |uri: &str| folder.given(&options, uri);
    add(character, &bytes, read, &options)
}

fn add(
    character: &Character,
    bytes: &[u8],
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
    options: &ImportOptions,
) -> Result<Imported> {
    let mut run = || {
        let mut repairs = Vec::new();
        let raw = read_clips(bytes, read, options, &mut repairs)?;
        let mut added = raw.add_clips(character, options)?;
        repairs.append(&mut added.repairs);
        added.repairs = of_file(repairs, &options.name);
        Ok(added)
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
    let mut source = Source::new(&doc, &parts, read, options);
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
