//! Skeletons: bones by name, each with the name of its parent.

use super::xml::{attribute, check_count, children, elements, name, numbers};
use crate::budget::Budget;
use crate::fault::file_part;
use crate::framed::inverse_rest::inverse_rest;
use roxmltree::Node;
use std::collections::HashMap;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::{Quat, Vec3};
use throng::import::{RawNode, RawSkin};
use throng::skeleton::Transform;

/// All bones of a file as nodes, and a skin for each skeleton.
#[derive(Debug, Default)]
pub(super) struct Skeletons {
    pub(super) nodes: Vec<RawNode>,
    pub(super) skins: Vec<RawSkin>,
    /// The first skin with each name.
    of_name: HashMap<Box<str>, usize>,
}

impl Skeletons {
    /// The skin with the name that a mesh states. Meshes often name none, or one of another file.
    pub(super) fn skin(&self, name: &str) -> Option<usize> {
        let named = self.of_name.get(name).copied();
        named.or_else(|| (!self.skins.is_empty()).then_some(0))
    }
}

pub(super) fn read(root: Node<'_, '_>, budget: &Budget<'_>) -> Result<Skeletons> {
    let mut all = Skeletons::default();
    for (index, skeleton) in elements(root, "Skeleton").enumerate() {
        let at = Object::new(ObjectKind::Skin, index, "");
        let bones: Vec<Node<'_, '_>> = children(skeleton, "Bone").collect();
        check_count(skeleton, "count", bones.len() as u64, &at)?;
        if bones.is_empty() {
            return Err(Error::asset(at, AssetFault::Missing("bones")));
        }
        let first = all.nodes.len();
        budget.nodes(first + bones.len())?;
        let mut of_name = HashMap::new();
        for (number, bone) in bones.iter().enumerate() {
            of_name.entry(name(*bone, "name")).or_insert(first + number);
        }
        for (number, bone) in bones.iter().enumerate() {
            all.nodes.push(node(*bone, first + number, &of_name)?);
        }
        let title = name(skeleton, "name");
        all.of_name.entry(title.into()).or_insert(all.skins.len());
        all.skins.push(RawSkin {
            name: title.into(),
            joints: (first..all.nodes.len()).collect(),
            inverse_bind: Vec::new(),
        });
    }
    for list in elements(root, "Skeletons") {
        let got = children(list, "Skeleton").count();
        check_count(list, "count", got as u64, &file_part("Skeletons"))?;
    }
    let inverse = inverse_rest(&all.nodes);
    for skin in &mut all.skins {
        skin.inverse_bind = skin.joints.iter().map(|joint| inverse[*joint]).collect();
    }
    Ok(all)
}

fn node(bone: Node<'_, '_>, index: usize, of_name: &HashMap<&str, usize>) -> Result<RawNode> {
    let at = |part: &str| Object::new(ObjectKind::Node, index, part);
    let parent = match attribute(bone, "parent") {
        None | Some("") => None,
        Some(parent) => {
            let found = of_name.get(parent).copied();
            let why = "names a parent that is no bone of the skeleton";
            Some(found.ok_or_else(|| Error::asset(at("parent"), AssetFault::Invalid(why)))?)
        }
    };
    let position = numbers(bone, "position", &at("position"))?;
    let orientation = numbers(bone, "orientation", &at("orientation"))?;
    let scale = numbers(bone, "scale", &at("scale"))?;
    Ok(RawNode {
        name: name(bone, "name").into(),
        parent,
        transform: Transform {
            translation: position.map_or(Vec3::ZERO, Vec3::from_array),
            rotation: orientation.map_or(Quat::IDENTITY, Quat::from_array),
            scale: scale.map_or(Vec3::ONE, Vec3::from_array),
        },
        matrix: None,
    })
}
