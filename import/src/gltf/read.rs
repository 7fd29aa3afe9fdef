//! The parts of a glTF 2.0 file: `.glb`, or `.gltf` with data URIs or other files.

use super::json::Document;
use super::source::Source;
use crate::fault::file_part;
use crate::folder::Files;
use throng::error::{Object, ObjectKind, Result};
use throng::import::{ImportOptions, RawCharacter, Repair, RepairKind};

pub(crate) fn read_raw(
    bytes: &[u8],
    files: &Files<'_>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let parts = super::container::split(bytes)?;
    let doc = super::parse::document(parts.json, parts.json_start, options)?;
    super::extensions::check(&doc)?;
    note_trailing(&doc, &parts, repairs);
    let mut source = Source::new(&doc, &parts, files, options);
    super::ranges::check(&doc)?;
    let parents = super::scene::parents(&doc)?;
    let drawn = super::scene::drawn(&doc, &parents, options, repairs)?;
    let nodes = super::scene::nodes(&doc, parents, &drawn.levels);
    super::texture::check(&doc)?;
    let (mut materials, needs) = super::material::read(&doc)?;
    super::morph::check(&doc)?;
    let morphs = super::morph::weights(&mut source)?;
    let mut primitives = super::mesh::read(&mut source, &drawn.carriers, &needs, repairs)?;
    for primitive in &mut primitives {
        let of_node = morphs.binary_search_by_key(&primitive.node, |morph| morph.node);
        primitive.morph = of_node.ok();
    }
    let images =
        super::texture::load_images(&mut source, &mut materials, needs, &primitives, repairs)?;
    super::material::give_default(&mut materials, &mut primitives);
    let skins = super::skin::read(&mut source, &primitives)?;
    super::skin::note(&doc, &drawn.reached, &primitives, repairs);
    let mut raw = RawCharacter {
        name: options.name.clone(),
        skins,
        spawn_points: super::spawn_points::read(&mut source, &nodes, &drawn.finest(), repairs)?,
        level_groups: drawn.levels.groups,
        objects: super::scene::objects(&doc),
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
pub(super) fn note_trailing(
    doc: &Document,
    parts: &super::container::Container<'_>,
    repairs: &mut Vec<Repair>,
) {
    let own = doc.buffers.first().filter(|buffer| buffer.uri.is_none());
    let spare = match (own, parts.bin) {
        (Some(buffer), Some(bin)) => (bin.len() as u64).saturating_sub(buffer.byte_length),
        _ => 0,
    };
    let file = file_part("");
    let of_buffer = Object::new(ObjectKind::Buffer, 0, "");
    let padding = 3;
    for (object, count, least) in [(file, parts.trailing, 1), (of_buffer, spare, padding + 1)] {
        if count >= least {
            Repair::note(repairs, &object, RepairKind::TrailingBytes, count);
        }
    }
}
