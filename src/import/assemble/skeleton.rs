//! Conversion of nodes to joints: breadth first, every parent before its children.

use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::id::Id;
use crate::import::RawNode;
use crate::import::fault::{check_cap, fault, file_part};
use crate::import::options::ImportOptions;
use crate::import::repair::{Repair, RepairKind};
use crate::skeleton::{Joint, Skeleton, Transform, rest_model_pose};
use glam::{Affine3A, DQuat, Mat4, Quat, Vec4};
use std::sync::Arc;

/// The largest deviation of a matrix's last row from 0, 0, 0, 1.
const LAST_ROW_TOLERANCE: f32 = 1e-4;
/// The largest cosine between two axes of a matrix that counts as free of shear. It covers the
/// rounding of products of a few 32-bit matrices.
const SHEAR_TOLERANCE: f32 = 1e-5;
/// The largest cosine that counts as an inaccuracy, for matrices written with few digits. Such
/// shear is removed and reported. Larger shear is taken as intended, and no joint can represent it.
const SLIGHT_SHEAR: f32 = 1e-3;
/// The largest deviation from length 1 of a quaternion that is not reported. Normalised 8-bit
/// components are off by up to 0.008.
const UNIT_TOLERANCE: f64 = 0.01;

/// Builds the skeleton of the nodes in `wanted` and their ancestors. Also returns the joint of each
/// node.
pub(super) fn build(
    nodes: &[RawNode],
    mut wanted: Vec<bool>,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<(Skeleton, Vec<Option<u16>>)> {
    let cap = |what, asked: usize, cap: usize| {
        check_cap(|| file_part(""), what, asked as u64, cap as u64)
    };
    cap("nodes", nodes.len(), options.limits.nodes)?;
    let order = RawNode::breadth_first(nodes)?;
    for (node, _) in order.iter().rev() {
        if let (true, Some(parent)) = (wanted[*node], nodes[*node].parent) {
            wanted[parent] = true;
        }
    }
    let count = wanted.iter().filter(|wanted| **wanted).count();
    cap("joints", count, Skeleton::MAX_JOINTS)?;
    let mut joint_of: Vec<Option<u16>> = vec![None; nodes.len()];
    let mut joints = Vec::with_capacity(count);
    let mut levels = Vec::new();
    for (node, depth) in order {
        let raw = &nodes[node];
        check_finite(node, raw)?;
        if !wanted[node] {
            continue;
        }
        let joint = joints.len() as u16;
        joint_of[node] = Some(joint);
        let parent = raw.parent.and_then(|parent| joint_of[parent]);
        joints.push(Joint {
            name: raw.name.clone(),
            parent: parent.map(Id::new),
            rest: transform(node, raw, repairs)?,
        });
        if levels.len() == depth {
            levels.push(joint..joint);
        }
        levels[depth].end = joint + 1;
    }
    let joints = joints.into();
    let skeleton = Skeleton {
        joints,
        levels,
        roles: Arc::default(),
        vrm: None,
    };
    Ok((skeleton, joint_of))
}

impl RawNode {
    /// All nodes with their depths, roots first. Within each depth, nodes are in the order of their
    /// parents.
    ///
    /// # Errors
    /// [`Error::Asset`] for a parent that does not exist, and for a cycle.
    pub fn breadth_first(nodes: &[Self]) -> Result<Vec<(usize, usize)>> {
        let count = nodes.len();
        let mut starts = vec![0_usize; count + 1];
        for (index, node) in nodes.iter().enumerate() {
            match node.parent {
                Some(parent) if parent >= count => {
                    let why = AssetFault::dangling("node", parent, count);
                    return Err(fault(ObjectKind::Node, index, "parent", why));
                }
                Some(parent) => starts[parent + 1] += 1,
                None => {}
            }
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut children = vec![0_usize; starts[count]];
        let mut next = starts.clone();
        for (index, node) in nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[next[parent]] = index;
                next[parent] += 1;
            }
        }
        let roots = nodes.iter().enumerate().filter(|(_, n)| n.parent.is_none());
        let mut order: Vec<_> = roots.map(|(index, _)| (index, 0)).collect();
        let mut done = 0;
        while let Some((node, depth)) = order.get(done).copied() {
            let own = &children[starts[node]..starts[node + 1]];
            order.extend(own.iter().map(|child| (*child, depth + 1)));
            done += 1;
        }
        if order.len() < count {
            return Err(cycle(nodes, &order));
        }
        Ok(order)
    }
}

/// An error that names a node of the cycle which makes some nodes unreachable.
fn cycle(nodes: &[RawNode], reached: &[(usize, usize)]) -> Error {
    let mut seen = vec![false; nodes.len()];
    for (node, _) in reached {
        seen[*node] = true;
    }
    let mut at = seen.iter().position(|seen| !seen).unwrap_or(0);
    for _ in 0..nodes.len() {
        at = nodes[at].parent.unwrap_or(at);
    }
    fault(ObjectKind::Node, at, "", AssetFault::OwnAncestor)
}

fn check_finite(node: usize, raw: &RawNode) -> Result<()> {
    let bad = |what: &'static str, values: &[f32]| {
        let at = values.iter().position(|v| !v.is_finite())?;
        let why = AssetFault::value("component", at, values[at], "finite");
        Some(fault(ObjectKind::Node, node, what, why))
    };
    let t = &raw.transform;
    let found = match raw.matrix {
        None => bad("translation", &t.translation.to_array())
            .or_else(|| bad("rotation", &t.rotation.to_array()))
            .or_else(|| bad("scale", &t.scale.to_array())),
        Some(m) => bad("matrix", &m.to_cols_array()),
    };
    found.map_or(Ok(()), Err)
}

fn transform(node: usize, raw: &RawNode, repairs: &mut Vec<Repair>) -> Result<Transform> {
    match &raw.matrix {
        None => {
            let (rotation, repair) = unit(raw.transform.rotation);
            if let Some(kind) = repair {
                Repair::note(
                    repairs,
                    &Object::new(ObjectKind::Node, node, "rotation"),
                    kind,
                    1,
                );
            }
            Ok(Transform {
                rotation,
                ..raw.transform
            })
        }
        Some(matrix) => {
            let at = |why| fault(ObjectKind::Node, node, "matrix", AssetFault::Invalid(why));
            let affine = affine(matrix).map_err(at)?;
            if let Some(exact) = Transform::from_affine(&affine, SHEAR_TOLERANCE) {
                return Ok(exact);
            }
            let near = Transform::from_affine(&affine, SLIGHT_SHEAR)
                .ok_or_else(|| at("is not a product of translation, rotation and scale"))?;
            let at = Object::new(ObjectKind::Node, node, "matrix");
            Repair::note(repairs, &at, RepairKind::ShearRemoved, 1);
            Ok(near)
        }
    }
}

/// The affine part of a finite matrix whose last row is 0, 0, 0, 1.
fn affine(matrix: &Mat4) -> Result<Affine3A, &'static str> {
    let affine = affine_part(matrix)?;
    if !is_affine(matrix) {
        return Err("has a last row other than 0, 0, 0, 1");
    }
    Ok(affine)
}

/// The affine part of a finite matrix, whatever its last row is.
pub(super) fn affine_part(matrix: &Mat4) -> Result<Affine3A, &'static str> {
    if !matrix.is_finite() {
        return Err("has a component that is not finite");
    }
    Ok(Affine3A::from_mat4(*matrix))
}

/// True if the last row of a matrix is 0, 0, 0, 1.
pub(in crate::import) fn is_affine(matrix: &Mat4) -> bool {
    let last = matrix.row(3) - Vec4::W;
    last.abs().max_element() <= LAST_ROW_TOLERANCE
}

/// The normalised quaternion, and the repair that was needed.
pub(super) fn unit(raw: Quat) -> (Quat, Option<RepairKind>) {
    let wide = DQuat::from_array(raw.to_array().map(f64::from));
    let length = wide.length();
    if length == 0.0 {
        return (Quat::IDENTITY, Some(RepairKind::ZeroQuaternion));
    }
    let off = (length - 1.0).abs();
    if off < 1e-7 {
        return (raw, None);
    }
    let normal = Quat::from_array(wide.to_array().map(|v| (v / length) as f32));
    let repair = (off > UNIT_TOLERANCE).then_some(RepairKind::QuaternionNormalised);
    (normal, repair)
}

pub(super) fn rest_model(skeleton: &Skeleton, joint_of: &[Option<u16>]) -> Result<Vec<Affine3A>> {
    let model = rest_model_pose(skeleton);
    let finite = |joint: u16| model[usize::from(joint)].is_finite();
    match joint_of.iter().position(|joint| !joint.is_none_or(finite)) {
        None => Ok(model),
        Some(node) => {
            let why = AssetFault::Invalid("has a rest transform too large for 32-bit numbers");
            Err(fault(ObjectKind::Node, node, "", why))
        }
    }
}
