//! Inverse bind matrices of formats that bind their meshes in the rest pose.

use crate::fault::fault;
use throng::error::{AssetFault, ObjectKind, Result};
use throng::glam::{DAffine3, Mat4};
use throng::import::{RawCharacter, RawNode, RawPrimitive};

/// The inverse of each node's rest transform in model space.
///
/// If a node is its own ancestor, or has a parent that does not exist, all are the identity. Such
/// nodes are rejected later.
pub(crate) fn inverse_rest(nodes: &[RawNode]) -> Vec<Mat4> {
    let Ok(order) = RawNode::breadth_first(nodes) else {
        return vec![Mat4::IDENTITY; nodes.len()];
    };
    let mut model = vec![DAffine3::IDENTITY; nodes.len()];
    for (index, _) in order {
        let local = local(&nodes[index]);
        model[index] = nodes[index]
            .parent
            .map_or(local, |parent| model[parent] * local);
    }
    let inverse = |model: &DAffine3| {
        let inverse = model.inverse();
        let [x, y, z] = [inverse.x_axis, inverse.y_axis, inverse.z_axis];
        let column = |axis: throng::glam::DVec3, w| axis.as_vec3().extend(w);
        Mat4::from_cols(
            column(x, 0.0),
            column(y, 0.0),
            column(z, 0.0),
            column(inverse.translation, 1.0),
        )
    };
    model.iter().map(inverse).collect()
}

fn local(node: &RawNode) -> DAffine3 {
    let trs = &node.transform;
    match node.matrix {
        None => {
            let rotation = trs.rotation.as_dquat();
            let length = rotation.length();
            let rotation = match length > 0.0 {
                true => rotation / length,
                false => throng::glam::DQuat::IDENTITY,
            };
            let scale = trs.scale.as_dvec3();
            DAffine3::from_scale_rotation_translation(scale, rotation, trs.translation.as_dvec3())
        }
        Some(matrix) => DAffine3::from_mat4(matrix.as_dmat4()),
    }
}

/// The first joint of a used skin whose inverse bind matrix is unusable, and the reason.
///
/// These formats have the matrices at their bones, so errors should name a bone and not a skin.
pub(crate) fn unusable_inverse(raw: &RawCharacter) -> Option<(usize, &'static str)> {
    let skins = raw
        .skins
        .iter()
        .zip(RawPrimitive::used_skins(&raw.primitives, raw.skins.len()))
        .filter(|(_, used)| *used);
    let mut pairs = skins.flat_map(|(skin, _)| skin.joints.iter().zip(&skin.inverse_bind));
    let unusable = pairs.find(|(_, matrix)| !matrix.is_finite());
    unusable.map(|(joint, _)| (*joint, "has a component that is not finite"))
}

/// Reports that the rest pose of `node` has no finite inverse, by the node that causes this.
///
/// Transforms that are not finite are left to the construction of the skeleton.
pub(crate) fn check_origin(nodes: &[RawNode], node: usize) -> Result<()> {
    let Some(node) = origin_of_fault(nodes, node) else {
        return Ok(());
    };
    let why = AssetFault::Invalid("has a rest transform without a finite inverse");
    Err(fault(ObjectKind::Node, node, "", why))
}

/// The joint that makes the rest pose of `node` impossible to invert: the highest of its ancestors
/// without a finite inverse, or the node itself. `None` if its own transform is not finite.
fn origin_of_fault(nodes: &[RawNode], node: usize) -> Option<usize> {
    let inverse = inverse_rest(nodes);
    let mut at = node;
    while let Some(parent) = nodes[at].parent
        && inverse
            .get(parent)
            .is_some_and(|parent| !parent.is_finite())
    {
        at = parent;
    }
    let t = &nodes[at].transform;
    let is_finite = match nodes[at].matrix {
        None => t.translation.is_finite() && t.rotation.is_finite() && t.scale.is_finite(),
        Some(matrix) => matrix.is_finite(),
    };
    is_finite.then_some(at)
}
