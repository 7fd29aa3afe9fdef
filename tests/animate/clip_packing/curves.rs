//! A clip's curves in `f64`, as glTF 2.0 defines them (appendix C), and model poses.

use crate::reference::maths::{M4, Q, mul, point, slerp, trs, unit4};
use throng::character::Character;
use throng::clip::{CurveClip, Interpolation, Keys, TrackValues};
use throng::skeleton::Transform;

/// A local transform: translation, rotation, scale.
pub(crate) type Local = ([f64; 3], Q, [f64; 3]);

pub(crate) fn local(joint: &Transform) -> Local {
    (
        joint.translation.to_array().map(f64::from),
        joint.rotation.to_array().map(f64::from),
        joint.scale.to_array().map(f64::from),
    )
}

/// The local pose of the curves at a time.
pub(crate) fn exact(character: &Character, clip: &CurveClip, time: f64) -> Vec<Local> {
    let joints = character.skeleton().joints();
    let mut pose: Vec<Local> = joints.iter().map(|joint| local(&joint.rest)).collect();
    for track in clip.tracks() {
        let joint = &mut pose[usize::from(track.joint)];
        match &track.values {
            TrackValues::Translation(keys) => {
                joint.0 = sample(keys, time, |v| v.to_array().map(f64::from), lerp);
            }
            TrackValues::Scale(keys) => {
                joint.2 = sample(keys, time, |v| v.to_array().map(f64::from), lerp);
            }
            TrackValues::Rotation(keys) => {
                let unit = |q: Q| if q == [0.0; 4] { q } else { unit4(q) };
                let along = |a: Q, b: Q, u: f64| slerp(unit(a), unit(b), u);
                let turn = sample(keys, time, |q| q.to_array().map(f64::from), along);
                joint.1 = unit(turn);
            }
        }
    }
    pose
}

fn lerp(a: [f64; 3], b: [f64; 3], u: f64) -> [f64; 3] {
    [0, 1, 2].map(|k| a[k] * (1.0 - u) + b[k] * u)
}

fn sample<T: Copy, const N: usize>(
    keys: &Keys<T>,
    time: f64,
    number: impl Fn(T) -> [f64; N],
    linear: impl Fn([f64; N], [f64; N], f64) -> [f64; N],
) -> [f64; N] {
    let cubic = keys.interpolation == Interpolation::CubicSpline;
    let value = |key: usize| number(keys.values[if cubic { 3 * key + 1 } else { key }]);
    let times: Vec<f64> = keys.times_s.iter().map(|t| f64::from(*t)).collect();
    let after = times.iter().position(|t| *t > time);
    let k = match after {
        Some(0) => return value(0),
        None => return value(times.len() - 1),
        Some(next) => next - 1,
    };
    let length = times[k + 1] - times[k];
    let u = (time - times[k]) / length;
    match keys.interpolation {
        Interpolation::Step => value(k),
        Interpolation::Linear => linear(value(k), value(k + 1), u),
        Interpolation::CubicSpline => {
            let (out, into) = (
                number(keys.values[3 * k + 2]),
                number(keys.values[3 * k + 3]),
            );
            let (a, b) = (value(k), value(k + 1));
            std::array::from_fn(|i| {
                let (u2, u3) = (u * u, u * u * u);
                (2.0 * u3 - 3.0 * u2 + 1.0) * a[i]
                    + length * (u3 - 2.0 * u2 + u) * out[i]
                    + (3.0 * u2 - 2.0 * u3) * b[i]
                    + length * (u3 - u2) * into[i]
            })
        }
    }
}

/// The model pose of a local one.
pub(crate) fn model(character: &Character, pose: &[Local]) -> Vec<M4> {
    let mut all: Vec<M4> = Vec::new();
    for (joint, (t, r, s)) in character.skeleton().joints().iter().zip(pose) {
        let own = trs(*t, *r, *s);
        all.push(match joint.parent {
            None => own,
            Some(parent) => mul(&all[usize::from(parent)], &own),
        });
    }
    all
}

/// For each joint, six points along its axes, 3 cm away at rest in a character of 1.8 m.
///
/// They are in the space of the joint.
pub(crate) fn points(character: &Character) -> Vec<[[f64; 3]; 6]> {
    let joints = character.skeleton().joints();
    let rest: Vec<Local> = joints.iter().map(|joint| local(&joint.rest)).collect();
    let distance = 0.03 * scale(character);
    let all = model(character, &rest);
    all.iter()
        .map(|m| {
            [0, 1, 2, 3, 4, 5].map(|side: usize| {
                let axis = side % 3;
                let column = [0, 1, 2].map(|row| m[row][axis]);
                let length = column.iter().map(|v| v * v).sum::<f64>().sqrt();
                let reach = distance / if length > 0.0 { length } else { 1.0 };
                let mut point = [0.0; 3];
                point[axis] = if side < 3 { reach } else { -reach };
                point
            })
        })
        .collect()
}

/// The character's size as a multiple of 1.8 m.
pub(crate) fn scale(character: &Character) -> f64 {
    let size = f64::from(character.rest_bounds().size().max_element());
    if size > 0.0 { size / 1.8 } else { 1.0 }
}

/// The worst distance between the joints' points in two model poses, and the joint.
pub(crate) fn apart(points: &[[[f64; 3]; 6]], a: &[M4], b: &[M4]) -> (f64, usize) {
    let mut worst = (0.0, 0);
    for (joint, points) in points.iter().enumerate() {
        for p in points {
            let (p, q) = (point(&a[joint], *p), point(&b[joint], *p));
            let off = (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f64>().sqrt();
            if off > worst.0 || off.is_nan() {
                worst = (off, joint);
            }
        }
    }
    worst
}
