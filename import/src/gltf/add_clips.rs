//! The clips of a glTF file, for characters from other files.

use super::read::note_trailing;
use super::source::Source;
use super::{animation, container, extensions, morph, parse, ranges, scene, skin, vrm};
use crate::folder::Files;
use throng::error::Result;
use throng::import::{ImportOptions, RawCharacter, Repair};

/// Reads only nodes, skins, animations and morph weights.
pub(crate) fn read_clips(
    bytes: &[u8],
    files: &Files<'_>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let parts = container::split(bytes)?;
    let doc = parse::document(parts.json, parts.json_start, options)?;
    extensions::check_for_clips(&doc)?;
    note_trailing(&doc, &parts, repairs);
    let mut source = Source::new(&doc, &parts, files, options);
    ranges::check(&doc)?;
    let parents = scene::parents(&doc)?;
    // Called for its checks of nodes and scenes. Nodes that the scene leaves out may still be
    // animated.
    let drawn = scene::drawn(&doc, &parents, options, &mut Vec::new())?;
    morph::check(&doc)?;
    let mut raw = RawCharacter {
        name: options.name.clone(),
        nodes: scene::nodes(&doc, parents, &drawn.levels),
        skins: skin::read(&mut source, &[])?,
        animations: animation::read(&mut source, repairs)?,
        morphs: morph::weights(&mut source)?,
        ..RawCharacter::default()
    };
    vrm::read_for_clips(&doc, &mut raw, repairs);
    Ok(raw)
}
