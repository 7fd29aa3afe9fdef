//! Skeletons from places in model space, and poses in `f64`.

use crate::reference::maths::{IDENTITY, M4, Q, V3, length, mul, sub, trs, unit4};
use crate::reference::raws;
use crate::reference::rng::Rng;
use throng::Id;
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawNode};
use throng::retarget::{JointLink, JointMap};
use throng::skeleton::{Joint, Skeleton, Transform};

/// A joint: name, parent, place and turn in model space.
pub(crate) struct At {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) place: V3,
    pub(crate) turn: Q,
}

pub(crate) fn at(name: &str, parent: Option<usize>, place: V3, turn: Q) -> At {
    let name = name.into();
    At {
        name,
        parent,
        place,
        turn,
    }
}

pub(crate) fn skeleton(nodes: Vec<RawNode>) -> Skeleton {
    let raw = RawCharacter {
        skins: vec![raws::skin(0..nodes.len(), Vec::new())],
        nodes,
        ..RawCharacter::default()
    };
    let built = raw.build(&ImportOptions::curves_only()).unwrap();
    built.character.skeleton().clone()
}

/// The skeleton of joints below a turned and scaled node.
///
/// The joints have the given positions and rotations nevertheless.
pub(crate) fn placed(joints: &[At], node: Option<(Q, f64)>) -> Skeleton {
    let mut nodes = Vec::new();
    let (turn, scale) = node.unwrap_or(([0.0, 0.0, 0.0, 1.0], 1.0));
    let first = usize::from(node.is_some());
    if node.is_some() {
        nodes.push(raws::node(
            "Armature",
            None,
            transform([0.0; 3], turn, scale),
        ));
    }
    for joint in joints {
        let (above, origin, by) = match joint.parent {
            Some(parent) => (joints[parent].turn, joints[parent].place, scale),
            None => (turn, [0.0; 3], scale),
        };
        let offset = rotate(inverse(above), sub(joint.place, origin)).map(|v| v / by);
        nodes.push(raws::node(
            joint.name.as_str(),
            joint
                .parent
                .map(|p| p + first)
                .or((first == 1).then_some(0)),
            transform(offset, times(inverse(above), joint.turn), 1.0),
        ));
    }
    skeleton(nodes)
}

fn transform(t: V3, r: Q, s: f64) -> Transform {
    raws::transform(
        Vec3::from_array(t.map(|v| v as f32)),
        Quat::from_array(unit4(r).map(|v| v as f32)),
        Vec3::splat(s as f32),
    )
}

pub(crate) fn times(a: Q, b: Q) -> Q {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

pub(crate) fn inverse(q: Q) -> Q {
    let [x, y, z, w] = unit4(q);
    [-x, -y, -z, w]
}

pub(crate) fn rotate(q: Q, v: V3) -> V3 {
    let [x, y, z, _] = times(times(q, [v[0], v[1], v[2], 0.0]), inverse(q));
    [x, y, z]
}

pub(crate) fn random_turn(rng: &mut Rng) -> Q {
    rng.rotation().to_array().map(f64::from)
}

/// Model matrices of a local pose.
pub(crate) fn model(skeleton: &Skeleton, local: &[Transform]) -> Vec<M4> {
    let mut out: Vec<M4> = Vec::new();
    for (joint, local) in skeleton.joints().iter().zip(local) {
        let own = trs(
            local.translation.to_array().map(f64::from),
            local.rotation.to_array().map(f64::from),
            local.scale.to_array().map(f64::from),
        );
        let above = match joint.parent {
            None => IDENTITY,
            Some(parent) => out[usize::from(parent)],
        };
        out.push(mul(&above, &own));
    }
    out
}

pub(crate) fn rest(skeleton: &Skeleton) -> Vec<Transform> {
    skeleton.joints().iter().map(|joint| joint.rest).collect()
}

pub(crate) fn position(model: &[M4], skeleton: &Skeleton, name: &str) -> V3 {
    let joint = skeleton
        .joint(name)
        .unwrap_or_else(|_| panic!("no joint {name}"));
    [0, 1, 2].map(|row| model[usize::from(joint)][row][3])
}

pub(crate) fn direction(model: &[M4], skeleton: &Skeleton, from: &str, to: &str) -> V3 {
    let way = sub(
        position(model, skeleton, to),
        position(model, skeleton, from),
    );
    way.map(|v| v / length(way))
}

/// The largest difference of two model poses: places, and axes times `reach`.
pub(crate) fn difference(a: &[M4], b: &[M4], reach: f64) -> f64 {
    let mut worst = 0.0_f64;
    for (a, b) in a.iter().zip(b) {
        for row in 0..3 {
            for column in 0..4 {
                let by = if column == 3 { 1.0 } else { reach };
                worst = worst.max((a[row][column] - b[row][column]).abs() * by);
            }
        }
    }
    worst
}

/// The link of a joint of the target that follows one.
pub(super) fn link_of(map: &JointMap, target: Id<Joint>) -> &JointLink {
    let mut links = map.links().iter();
    links.find(|link| link.target == target).unwrap()
}
