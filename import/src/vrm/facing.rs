//! The direction that a character faces.

use throng::glam::{Affine3A, Mat4, Quat, Vec3, Vec4};
use throng::import::{RawCharacter, RawKeys};

/// Half a turn about +Y.
const HALF_TURN: Quat = Quat::from_xyzw(0.0, 1.0, 0.0, 0.0);

/// Turns a character of version 0.x, which faces -Z, so that it faces +Z.
///
/// The roots are turned, and the channels that drive them. Nothing below them changes. Spawn points
/// turn about the world's origin, together with what they place.
pub(crate) fn face_forward(raw: &mut RawCharacter) {
    let turned = |v: Vec3| Vec3::new(-v.x, v.y, -v.z);
    for node in raw.nodes.iter_mut().filter(|node| node.parent.is_none()) {
        let trs = &mut node.transform;
        trs.translation = turned(trs.translation);
        trs.rotation = HALF_TURN * trs.rotation;
        if let Some(matrix) = &mut node.matrix {
            *matrix = Mat4::from_diagonal(Vec4::new(-1.0, 1.0, -1.0, 1.0)) * *matrix;
        }
    }
    let turn = Affine3A::from_quat(HALF_TURN);
    for point in &mut raw.spawn_points {
        // Half a turn is its own inverse.
        point.world_from_model = turn * point.world_from_model * turn;
    }
    let nodes = &raw.nodes;
    let is_root = |node: usize| nodes.get(node).is_some_and(|node| node.parent.is_none());
    let channels = raw.animations.iter_mut().flat_map(|a| &mut a.channels);
    for channel in channels.filter(|channel| is_root(channel.node)) {
        // Tangents turn as values do.
        match &mut channel.values {
            RawKeys::Translation(keys) => keys.iter_mut().for_each(|key| *key = turned(*key)),
            RawKeys::Rotation(keys) => keys.iter_mut().for_each(|key| *key = HALF_TURN * *key),
            RawKeys::Scale(_) | RawKeys::Weights(_) => {}
        }
    }
}
