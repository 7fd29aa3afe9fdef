//! The parts of a glTF 2.0 file: `.glb`, or `.gltf` with data URIs or other files.

use super::json::Document;
use super::source::Source;
use super::{
    animation, container, extensions, material, mesh, morph, parse, ranges, scene, skin,
    spawn_points, texture, vrm,
};
use crate::fault::file_part;
use crate::input::Input;
use throng::error::{Object, ObjectKind, Result};
use throng::import::{RawCharacter, Repair, RepairKind};

pub(crate) fn read_raw(input: &Input<'_>, repairs: &mut Vec<Repair>) -> Result<RawCharacter> {
    let options = input.files.options;
    let parts = container::split(input.bytes)?;
    let doc = parse::document(parts.json, parts.json_start, options)?;
    extensions::check(&doc)?;
    note_trailing(&doc, &parts, repairs);
    let mut source = Source::new(&doc, &parts, &input.files);
    ranges::check(&doc)?;
    let parents = scene::parents(&doc)?;
    let drawn = scene::drawn(&doc, &parents, options, repairs)?;
    let nodes = scene::nodes(&doc, parents, &drawn.levels);
    texture::check(&doc)?;
    let (mut materials, needs) = material::read(&doc)?;
    morph::check(&doc)?;
    let morphs = morph::weights(&mut source)?;
    let mut primitives = mesh::read(&mut source, &drawn.carriers, &needs, repairs)?;
    for primitive in &mut primitives {
        let of_node = morphs.binary_search_by_key(&primitive.node, |morph| morph.node);
        primitive.morph = of_node.ok();
    }
    let images = texture::load_images(&mut source, &mut materials, needs, &primitives, repairs)?;
    material::give_default(&mut materials, &mut primitives);
    let skins = skin::read(&mut source, &primitives)?;
    skin::note(&doc, &drawn.reached, &primitives, repairs);
    let mut raw = RawCharacter {
        name: options.name.clone(),
        skins,
        spawn_points: spawn_points::read(&mut source, &nodes, &drawn.finest(), repairs)?,
        level_groups: drawn.levels.groups,
        objects: scene::objects(&doc),
        nodes,
        primitives,
        materials,
        variants: variants(&doc),
        images,
        animations: animation::read(&mut source, repairs)?,
        morphs,
        ..RawCharacter::default()
    };
    vrm::read(&doc, &mut raw, repairs)?;
    Ok(raw)
}

/// The names of material variants.
fn variants(doc: &Document) -> Vec<Box<str>> {
    let all = doc.extensions.variants.as_ref();
    let all = all.into_iter().flat_map(|all| all.variants.iter());
    let name = |name: &Option<String>| name.as_deref().unwrap_or_default().into();
    all.map(|variant| name(&variant.name)).collect()
}

/// Reports bytes after the container, and bytes in its binary chunk after the buffer and padding.
pub(super) fn note_trailing(
    doc: &Document,
    parts: &container::Container<'_>,
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

/// Reads only nodes, skins, animations and morph weights.
pub(crate) fn read_clips(input: &Input<'_>, repairs: &mut Vec<Repair>) -> Result<RawCharacter> {
    let options = input.files.options;
    let parts = container::split(input.bytes)?;
    let doc = parse::document(parts.json, parts.json_start, options)?;
    extensions::check_for_clips(&doc)?;
    note_trailing(&doc, &parts, repairs);
    let mut source = Source::new(&doc, &parts, &input.files);
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
