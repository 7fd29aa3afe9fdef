//! Clips that go somewhere, and poses of clips in plain `f64`.

use crate::reference::maths::M4;
use crate::reference::rig;
use crate::reference::rng::Rng;
use crate::reference::scene::{self, Channel, Curve, Local, Node, Path, Scene};
use core::f32::consts::TAU;
use throng::character::{AnimationDesc, Character, ClipDesc, RootMotionDesc};
use throng::clip::{CurveClip, Interpolation, Keys, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::motion::{RootMotion, RootTransform};
use throng::skeleton::Transform;
use throng::{Error, Id};

/// Extracts root motion by a description. Returns the clip in place, and its motion.
///
/// The character has no other clip of this name.
pub(crate) fn extract(
    character: &Character,
    clip: &CurveClip,
    root_motion: &RootMotionDesc,
) -> Result<(CurveClip, RootMotion), Error> {
    let desc = AnimationDesc {
        clips: vec![ClipDesc {
            name: clip.name().into(),
            root_motion: Some(root_motion.clone()),
            ..ClipDesc::default()
        }],
        ..AnimationDesc::default()
    };
    let whole = character.clone().with_clips(vec![clip.clone()])?;
    let index = whole.curves().len() - 1;
    let split = whole.with_animation(&desc)?;
    let motion = split.root_motion(Id::new(index as u16)).unwrap();
    Ok((split.curves()[index].clone(), motion.clone()))
}

/// The name of a joint of a chain.
pub(crate) fn joint(index: usize) -> String {
    format!("joint {index}")
}

/// Some of the axes x, y and z.
pub(crate) fn axes(which: [bool; 3]) -> String {
    let chosen = "xyz".chars().zip(which);
    chosen.filter_map(|(axis, is)| is.then_some(axis)).collect()
}

/// Model matrices of all joints of a clip at a time, by the second opinion on curves.
pub(crate) struct Poses(Scene);

impl Poses {
    pub(crate) fn new(character: &Character, clip: &CurveClip) -> Self {
        let nodes = character.skeleton().joints().iter().map(|joint| Node {
            name: String::new(),
            parent: joint.parent.map(Into::into),
            local: local(&joint.rest),
        });
        let channels = clip.tracks().iter().map(channel).collect();
        Self(Scene {
            nodes: nodes.collect(),
            clips: vec![scene::Clip {
                name: String::new(),
                channels,
            }],
            ..Scene::default()
        })
    }

    pub(crate) fn at(&self, time_s: f64) -> Vec<M4> {
        self.0.globals(Some((0, time_s)))
    }

    pub(crate) fn rest(&self) -> Vec<M4> {
        self.0.globals(None)
    }
}

fn local(rest: &Transform) -> Local {
    Local::Trs {
        t: rest.translation.to_array().map(f64::from),
        r: rest.rotation.to_array().map(f64::from),
        s: rest.scale.to_array().map(f64::from),
    }
}

fn channel(track: &Track) -> Channel {
    fn of<T: Copy>(
        track: &Track,
        path: Path,
        keys: &Keys<T>,
        wide: impl Fn(T) -> Vec<f64>,
    ) -> Channel {
        Channel {
            node: track.joint.into(),
            path,
            curve: match keys.interpolation {
                Interpolation::Step => Curve::Step,
                Interpolation::Linear => Curve::Linear,
                Interpolation::CubicSpline => Curve::Cubic,
            },
            times: keys.times_s.iter().map(|t| f64::from(*t)).collect(),
            values: keys.values.iter().map(|v| wide(*v)).collect(),
        }
    }
    let vector = |v: Vec3| v.to_array().map(f64::from).to_vec();
    match &track.values {
        TrackValues::Translation(keys) => of(track, Path::Translation, keys, vector),
        TrackValues::Scale(keys) => of(track, Path::Scale, keys, vector),
        TrackValues::Rotation(keys) => of(track, Path::Rotation, keys, |q: Quat| {
            q.to_array().map(f64::from).to_vec()
        }),
    }
}

/// A motion as a matrix, written out.
pub(crate) fn matrix(motion: &RootTransform) -> M4 {
    let (sin, cos) = motion.yaw_rad.sin_cos();
    let [x, y, z] = motion.translation.to_array();
    [
        [cos, 0.0, sin, x],
        [0.0, 1.0, 0.0, y],
        [-sin, 0.0, cos, z],
        [0.0, 0.0, 0.0, 1.0],
    ]
}

pub(crate) const CURVES: [Interpolation; 3] = [
    Interpolation::Step,
    Interpolation::Linear,
    Interpolation::CubicSpline,
];

fn times(rng: &mut Rng, end_s: f32) -> Vec<f32> {
    let inner = 1 + rng.below(8);
    let first = [0.0, 0.1 * end_s][rng.below(2)];
    let mut times: Vec<f32> = (0..inner).map(|_| rng.range(0.11, 0.99) * end_s).collect();
    times.push(first);
    times.push(end_s);
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}

/// Random keys of one property, with tangents if the curve needs them.
pub(crate) fn keys<T: Copy>(
    rng: &mut Rng,
    curve: Interpolation,
    end_s: f32,
    value: impl Fn(&mut Rng, f32) -> T,
    tangent: impl Fn(&mut Rng) -> T,
) -> Keys<T> {
    let times_s = times(rng, end_s);
    let mut values = Vec::new();
    for time in &times_s {
        let value = value(rng, *time);
        if curve == Interpolation::CubicSpline {
            values.extend([tangent(rng), value, tangent(rng)]);
        } else {
            values.push(value);
        }
    }
    rig::keys(curve, times_s, values)
}

pub(crate) fn translation(rng: &mut Rng, curve: Interpolation, end_s: f32) -> TrackValues {
    let way = rng.vector(-2.0, 2.0);
    TrackValues::Translation(keys(
        rng,
        curve,
        end_s,
        |rng, t| way * t + rng.vector(-0.2, 0.2),
        |rng| rng.vector(-1.0, 1.0),
    ))
}

/// Turning mostly about one axis near +Y, and several times around.
pub(crate) fn rotation(rng: &mut Rng, curve: Interpolation, end_s: f32) -> TrackValues {
    let axis = (Vec3::Y + rng.vector(-0.3, 0.3)).normalize();
    let rate = rng.range(-1.5, 1.5);
    let tilt = Quat::from_axis_angle(rng.direction(), rng.range(0.0, 0.5));
    TrackValues::Rotation(keys(
        rng,
        curve,
        end_s,
        |rng, t| {
            let swing = Quat::from_axis_angle(rng.direction(), rng.range(0.0, 0.2));
            swing * Quat::from_axis_angle(axis, rate * t * TAU / end_s) * tilt
        },
        |rng| Quat::from_array([0; 4].map(|_| rng.range(-0.3, 0.3))),
    ))
}

pub(crate) fn even_scale(rng: &mut Rng, curve: Interpolation, end_s: f32) -> TrackValues {
    TrackValues::Scale(keys(
        rng,
        curve,
        end_s,
        |rng, _| Vec3::splat(rng.range(0.7, 1.4)),
        |_| Vec3::splat(0.1),
    ))
}
