//! Inverse bind matrices of formats that bind their meshes in the rest pose.

use super::{RawNode, RawTransform};
use glam::{DAffine3, Mat4};

/// The inverse of each node's rest transform in model space.
///
/// Nodes that are their own ancestors, or have a parent that does not exist, get the identity. They
/// are rejected later.
pub(super) fn inverse_rest(nodes: &[RawNode]) -> Vec<Mat4> {
    let mut model: Vec<Option<DAffine3>> = vec![None; nodes.len()];
    let mut open = Vec::new();
    for start in 0..nodes.len() {
        let mut at = Some(start);
        open.clear();
        while let Some(node) = at.filter(|node| model.get(*node).is_some_and(Option::is_none)) {
            open.push(node);
            // A longer walk has met a node twice.
            if open.len() > nodes.len() {
                return vec![Mat4::IDENTITY; nodes.len()];
            }
            at = nodes[node].parent;
        }
        while let Some(node) = open.pop() {
            let parent = nodes[node].parent.and_then(|parent| *model.get(parent)?);
            model[node] = Some(parent.unwrap_or(DAffine3::IDENTITY) * local(&nodes[node]));
        }
    }
    let inverse = |model: &Option<DAffine3>| {
        let inverse = model.unwrap_or(DAffine3::IDENTITY).inverse();
        let [x, y, z] = [inverse.x_axis, inverse.y_axis, inverse.z_axis];
        let column = |axis: glam::DVec3, w| axis.as_vec3().extend(w);
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
    match &node.transform {
        RawTransform::Trs(trs) => {
            let rotation = trs.rotation.as_dquat();
            let length = rotation.length();
            let rotation = match length > 0.0 {
                true => rotation / length,
                false => glam::DQuat::IDENTITY,
            };
            let scale = trs.scale.as_dvec3();
            DAffine3::from_scale_rotation_translation(scale, rotation, trs.translation.as_dvec3())
        }
        RawTransform::Matrix(matrix) => DAffine3::from_mat4(matrix.as_dmat4()),
    }
}
