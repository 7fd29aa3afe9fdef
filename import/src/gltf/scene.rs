//! Nodes and scenes: the parents of nodes, and the nodes that are drawn.

use super::fault::lookup;
use super::json::{Document, Node};
use super::lod::{self, Levels};
use crate::fault::{check_cap, fault, file_part, no_scene};
use std::collections::HashSet;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{ImportOptions, RawNode, Repair, RepairKind};
use throng::skeleton::Transform;

/// The parent of each node. Rejects hierarchies that are not a forest.
pub(super) fn parents(doc: &Document) -> Result<Vec<Option<usize>>> {
    let mut parents = vec![None; doc.nodes.len()];
    for (index, node) in doc.nodes.iter().enumerate() {
        for (number, child) in node.children.iter().enumerate() {
            let referrer = || Object::new(ObjectKind::Node, index, format!("children[{number}]"));
            let (child, _) = lookup(&doc.nodes, *child, "node", referrer)?;
            if let Some(first) = parents[child].replace(index) {
                let why = AssetFault::SecondParent {
                    first: first as u64,
                    second: index as u64,
                };
                return Err(fault(ObjectKind::Node, child, "", why));
            }
        }
    }
    // Each walk towards a root marks its nodes with its own number. Reaching a node with that
    // number again means a cycle.
    let mut walked_by = vec![usize::MAX; parents.len()];
    for start in 0..parents.len() {
        let mut at = Some(start);
        while let Some(node) = at {
            if walked_by[node] == start {
                return Err(fault(ObjectKind::Node, node, "", AssetFault::OwnAncestor));
            }
            if walked_by[node] != usize::MAX {
                break;
            }
            walked_by[node] = start;
            at = parents[node];
        }
    }
    Ok(parents)
}

pub(super) struct Drawn {
    /// By node, true if it is in the scene.
    pub(super) reached: Vec<bool>,
    /// The nodes that carry a mesh, ascending.
    pub(super) carriers: Vec<usize>,
    pub(super) levels: Levels,
}

impl Drawn {
    /// The nodes that carry a mesh and are not drawn at a coarser level only.
    pub(super) fn finest(&self) -> Vec<usize> {
        let carriers = self.carriers.iter().copied();
        carriers
            .filter(|node| !self.levels.is_coarser[*node])
            .collect()
    }
}

/// The nodes of the scene that carry a mesh, and of the coarser levels of its nodes.
pub(super) fn drawn(
    doc: &Document,
    parents: &[Option<usize>],
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<Drawn> {
    let (count, cap) = (doc.nodes.len() as u64, options.limits.nodes as u64);
    check_cap(|| file_part(""), "nodes", count, cap)?;
    for (index, node) in doc.nodes.iter().enumerate() {
        let at = |part: &str| Object::new(ObjectKind::Node, index, part);
        if let Some(mesh) = node.mesh {
            lookup(&doc.meshes, mesh, "mesh", || at("mesh"))?;
        }
        if let Some(skin) = node.skin {
            lookup(&doc.skins, skin, "skin", || at("skin"))?;
        }
        for (number, id) in lod::coarser(node).iter().enumerate() {
            lookup(&doc.nodes, *id, "node", || at(&lod::part(number)))?;
        }
        check_matrix(index, node)?;
    }
    for (index, scene) in doc.scenes.iter().enumerate() {
        for (number, node) in scene.nodes.iter().enumerate() {
            let referrer = || Object::new(ObjectKind::Scene, index, format!("nodes[{number}]"));
            lookup(&doc.nodes, *node, "node", referrer)?;
        }
    }
    let reached = match chosen_scene(doc, options)? {
        None => vec![true; doc.nodes.len()],
        Some(scene) => reachable(doc, parents, scene, repairs),
    };
    let levels = Levels::read(doc, parents, &reached, repairs);
    if !options.meshes {
        return Ok(Drawn {
            reached,
            carriers: Vec::new(),
            levels,
        });
    }
    let is_drawn = |index: usize| reached[index] || levels.is_coarser[index];
    let carries = |index: &usize| is_drawn(*index) && doc.nodes[*index].mesh.is_some();
    let carriers: Vec<usize> = (0..doc.nodes.len()).filter(carries).collect();
    let carriers = without_hidden(doc, carriers, repairs);
    Ok(Drawn {
        reached,
        carriers,
        levels,
    })
}

/// The nodes that are visible, or all of them if none is.
fn without_hidden(doc: &Document, carriers: Vec<usize>, repairs: &mut Vec<Repair>) -> Vec<usize> {
    let is_hidden = |node: &Node| node.extensions.as_ref().is_some_and(|all| all.is_hidden());
    let of_hidden = (0..doc.nodes.len()).filter(|index| is_hidden(&doc.nodes[*index]));
    let hidden = doc.at_or_below(of_hidden.collect());
    if carriers.iter().all(|node| hidden[*node]) {
        for node in &carriers {
            let object = Object::new(ObjectKind::Node, *node, "mesh");
            Repair::note(repairs, &object, RepairKind::InvisibleShown, 1);
        }
        return carriers;
    }
    let (left_out, shown): (Vec<usize>, Vec<usize>) =
        carriers.into_iter().partition(|node| hidden[*node]);
    for node in left_out {
        let object = Object::new(ObjectKind::Node, node, "mesh");
        Repair::note(repairs, &object, RepairKind::Invisible, 1);
    }
    shown
}

fn chosen_scene(doc: &Document, options: &ImportOptions) -> Result<Option<usize>> {
    let default = match doc.scene {
        None => (!doc.scenes.is_empty()).then_some(0),
        Some(scene) => {
            let referrer = || file_part("scene");
            Some(lookup(&doc.scenes, scene, "scene", referrer)?.0)
        }
    };
    match options.scene {
        None => Ok(default),
        Some(scene) => {
            if scene < doc.scenes.len() {
                return Ok(Some(scene));
            }
            Err(no_scene(scene, doc.scenes.len()))
        }
    }
}

fn reachable(
    doc: &Document,
    parents: &[Option<usize>],
    scene: usize,
    repairs: &mut Vec<Repair>,
) -> Vec<bool> {
    let roots = doc.scenes[scene].nodes.iter();
    let roots: Vec<usize> = roots.map(|root| *root as usize).collect();
    let with_parent = roots
        .iter()
        .filter(|root| parents[**root].is_some())
        .count();
    let at = Object::new(ObjectKind::Scene, scene, "nodes");
    let kind = RepairKind::SceneRootWithParent;
    Repair::note(repairs, &at, kind, with_parent as u64);
    doc.at_or_below(roots)
}

fn check_matrix(index: usize, node: &Node) -> Result<()> {
    let has_trs = node.translation.is_some() || node.rotation.is_some() || node.scale.is_some();
    let identity = Mat4::IDENTITY.to_cols_array();
    if has_trs && node.matrix.is_some_and(|matrix| matrix != identity) {
        let why = AssetFault::Invalid("is combined with translation, rotation or scale");
        return Err(Error::asset(
            Object::new(ObjectKind::Node, index, "matrix"),
            why,
        ));
    }
    Ok(())
}

pub(super) fn nodes(doc: &Document, parents: Vec<Option<usize>>, levels: &Levels) -> Vec<RawNode> {
    let nodes = doc.nodes.iter().zip(&parents);
    let mut nodes: Vec<RawNode> = nodes.map(|(node, at)| raw_node((node, *at))).collect();
    for root in common_roots(doc, &parents) {
        for child in doc.nodes[root].children.iter() {
            nodes[*child as usize].parent = None;
        }
    }
    for (coarser, finest) in &levels.outside {
        nodes[*coarser].parent = nodes[*finest].parent;
    }
    nodes
}

/// The nodes that are meshes, cameras or lights, or that an export added.
pub(super) fn objects(doc: &Document) -> Vec<usize> {
    let is_object = |index: &usize| {
        let node = &doc.nodes[*index];
        let is_light = node.extensions.as_ref().is_some_and(|all| all.light.0);
        let is_added = node.extras.is_socket || node.extras.is_common_root;
        node.mesh.is_some() || node.camera.0 || is_light || is_added
    };
    (0..doc.nodes.len()).filter(is_object).collect()
}

/// The nodes that an export added above several roots, unless they do more than that by now.
fn common_roots(doc: &Document, parents: &[Option<usize>]) -> Vec<usize> {
    let is_marked = |index: &usize| {
        let node = &doc.nodes[*index];
        let raw = raw_node((node, None));
        node.extras.is_common_root
            && parents[*index].is_none()
            && node.mesh.is_none()
            && raw.matrix.is_none()
            && raw.transform == Transform::IDENTITY
    };
    let mut marked: Vec<usize> = (0..doc.nodes.len()).filter(is_marked).collect();
    if !marked.is_empty() {
        let channels = doc.animations.iter().flat_map(|of| of.channels.iter());
        let targets = channels.filter_map(|channel| channel.target.node);
        let joints = doc.skins.iter().flat_map(|skin| skin.joints.iter());
        let used: HashSet<u64> = targets.chain(joints.copied()).collect();
        marked.retain(|index| !used.contains(&(*index as u64)));
    }
    marked
}

fn raw_node((node, parent): (&Node, Option<usize>)) -> RawNode {
    let transform = Transform {
        translation: node.translation.map_or(Vec3::ZERO, Vec3::from_array),
        rotation: node.rotation.map_or(Quat::IDENTITY, Quat::from_array),
        scale: node.scale.map_or(Vec3::ONE, Vec3::from_array),
    };
    let matrix = node.matrix.filter(|_| transform == Transform::IDENTITY);
    RawNode {
        name: node.name.as_deref().unwrap_or_default().into(),
        parent,
        transform,
        matrix: matrix.map(|matrix| Mat4::from_cols_array(&matrix)),
    }
}
