//! The parts of an EZMesh file.

use super::{clips, meshes, skeletons, xml};
use crate::budget::Budget;
use crate::framed::frames;
use crate::framed::inverse_rest::{check_origin, unusable_inverse};
use crate::input::Input;
use crate::textures;
use roxmltree::Node;
use throng::error::Result;
use throng::import::{ImportOptions, RawCharacter, Repair};
use throng::skeleton::Skeleton;

/// Reads a file. With a skeleton, reads only skeletons and animations; a file without a skeleton
/// takes this one.
pub(crate) fn read(
    input: &Input<'_>,
    clips_for: Option<&Skeleton>,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let (files, options) = (&input.files, input.files.options);
    let mut budget = Budget::new(options);
    let document = xml::document(input.bytes, &budget)?;
    let root = xml::root(&document)?;
    if clips_for.is_none() {
        xml::note_left_out(root, repairs);
    }
    let skeletons = skeletons::read(root, &budget)?;
    let mut raw = with_clips(root, &skeletons, clips_for, &mut budget, repairs)?;
    raw.name = options.name.clone();
    if clips_for.is_some() {
        return Ok(raw);
    }
    let names = meshes::read(root, &skeletons, &mut raw, &mut budget, repairs)?;
    let names: Vec<_> = names.iter().map(|(at, name)| (*at, &**name)).collect();
    textures::load(&mut raw, &names, &mut budget, files, repairs)?;
    if let Some((bone, _)) = unusable_inverse(&raw) {
        check_origin(&raw.nodes, bone)?;
    }
    Ok(raw)
}

/// Returns true if the file has a skeleton.
pub(crate) fn has_skeleton(bytes: &[u8], options: &ImportOptions) -> Result<bool> {
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
