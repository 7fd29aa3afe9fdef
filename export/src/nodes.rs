//! Nodes: joints, sockets and meshes.

use super::groups::Group;
use super::objects::named;
use super::omissions::{Omission, Omissions};
use super::skins::{Carrier, Skins};
use serde_json::{Value, json};
use std::ops::Range;
use throng::character::Character;
use throng::glam::{DQuat, Mat4, Quat, Vec3};
use throng::skeleton::Transform;

/// The largest cosine between the axes of a socket's offset that is written without a matrix.
const SHEAR_TOLERANCE: f32 = 1e-5;

/// The nodes of the file. The first ones are the joints.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) list: Vec<Value>,
    pub(super) roots: Vec<usize>,
    /// For each skin, the nodes of [`Skin::added`](super::skins::Skin::added).
    pub(super) added: Vec<Vec<usize>>,
    /// The nodes with morph weights, and the weights of each.
    pub(super) morphs: Vec<(usize, Range<usize>)>,
}

/// All nodes. The mesh of a group has the number of the group.
pub(super) fn write(
    character: &Character,
    groups: &[Group<'_>],
    skins: &Skins,
    omissions: &mut Omissions,
) -> Nodes {
    let joints = character.skeleton().joints();
    let mut nodes = Nodes::default();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); joints.len()];
    for (index, joint) in joints.iter().enumerate() {
        let mut node = named(&joint.name);
        put_transform(&mut node, &joint.rest);
        nodes.list.push(node);
        match joint.parent {
            Some(parent) => children[parent.index()].push(index),
            None => nodes.roots.push(index),
        }
    }
    for (name, socket) in character.sockets() {
        let mut node = named(name);
        match Transform::from_affine(&socket.offset, SHEAR_TOLERANCE) {
            Some(offset) => put_transform(&mut node, &offset),
            None => node["matrix"] = json!(Mat4::from(socket.offset).to_cols_array()),
        }
        node["extras"] = json!({ "throng": "socket" });
        children[socket.joint.index()].push(nodes.list.len());
        nodes.list.push(node);
    }
    for skin in &skins.list {
        let mut added = Vec::with_capacity(skin.added.len());
        for (joint, _) in &skin.added {
            let name = &joints[usize::from(*joint)].name;
            children[usize::from(*joint)].push(nodes.list.len());
            added.push(nodes.list.len());
            nodes.list.push(named(&format!("{name} (bound again)")));
        }
        omissions.add(Omission::NodesAdded, added.len());
        nodes.added.push(added);
    }
    for (joint, children) in children.into_iter().enumerate() {
        if !children.is_empty() {
            nodes.list[joint]["children"] = children.into();
        }
    }
    if skins.needs_root {
        let mut root = named(character.name());
        root["children"] = std::mem::take(&mut nodes.roots).into();
        root["extras"] = json!({ "throng": "common root" });
        nodes.roots.push(nodes.list.len());
        nodes.list.push(root);
    }
    for (mesh, (group, carrier)) in groups.iter().zip(&skins.carriers).enumerate() {
        let index = match carrier {
            Carrier::Joint(joint) => *joint,
            Carrier::Skin(skin) => {
                let mut node = named(group.part);
                node["skin"] = (*skin).into();
                nodes.roots.push(nodes.list.len());
                nodes.list.push(node);
                nodes.list.len() - 1
            }
        };
        nodes.list[index]["mesh"] = mesh.into();
        if group.weights > 0 {
            let weights = group.first_weight..group.first_weight + group.weights;
            nodes.morphs.push((index, weights));
        }
    }
    nodes
}

/// Writes a transform, without the parts that are those of the identity.
fn put_transform(node: &mut Value, transform: &Transform) {
    let Transform {
        translation,
        rotation,
        scale,
    } = transform;
    if *translation != Vec3::ZERO {
        node["translation"] = json!(translation.to_array());
    }
    if *rotation != Quat::IDENTITY {
        node["rotation"] = json!(unit(*rotation).to_array());
    }
    if *scale != Vec3::ONE {
        node["scale"] = json!(scale.to_array());
    }
}

/// The quaternion with unit length, and with the same bits if it has that already.
pub(super) fn unit(rotation: Quat) -> Quat {
    let wide = DQuat::from_array(rotation.to_array().map(f64::from));
    let length = wide.length();
    if (length - 1.0).abs() < 1e-7 {
        return rotation;
    }
    let normal = wide.to_array().map(|value| (value / length) as f32);
    let normal = Quat::from_array(normal);
    if normal.is_finite() {
        normal
    } else {
        Quat::IDENTITY
    }
}
