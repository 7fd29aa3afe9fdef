//! Characters and clips with morph weights, and their exact values.

use crate::models::{Model, models};
use crate::reference::random;
use crate::reference::raws;
use crate::reference::raws::node;
use crate::reference::rig::keys;
use crate::reference::rng::Rng;
use std::sync::LazyLock;
use throng::Id;
use throng::character::Character;
use throng::clip::{Clip, ClipOptions, CurveClip, Interpolation, WeightTrack};
use throng::glam::{Affine3A, Vec3};
use throng::import::{ImportOptions, RawChannel, RawCharacter, RawKeys, RawPrimitive};

/// The largest allowed error of a weight.
pub(super) const MOST_OFF: f64 = 1e-3;
/// The largest allowed displacement of a vertex, for a character of 1.8 m.
pub(super) const BOUND_M: f64 = 1e-4;
/// `f32` in a weight of at most 2 and in the value between two keys: a few roundings.
pub(super) const ROUNDING: f64 = 1e-6;

/// Models whose clips drive morph weights.
pub(super) fn morphing_models() -> impl Iterator<Item = &'static Model> {
    static RANDOM: LazyLock<Vec<Model>> = LazyLock::new(|| {
        let random = (0..24).map(|seed| {
            let mut raw = random::morphing(seed);
            // Every fourth also moves its joints. Packing that takes most of the time.
            let moves = seed % 4 == 0;
            for animation in &mut raw.animations {
                let weights = |channel: &RawChannel| matches!(channel.values, RawKeys::Weights(_));
                animation
                    .channels
                    .retain(|channel| moves || weights(channel));
            }
            Model::raw(format!("random {seed}"), raw)
        });
        random.collect()
    });
    let drives = |model: &&Model| {
        let mut clips = model.character.curves().iter();
        clips.any(|clip| !clip.weight_tracks().is_empty())
    };
    models().iter().chain(&*RANDOM).filter(drives)
}

/// A character of one triangle. Each of `targets` morph targets moves one vertex by `reach_m`.
pub(super) fn morphing(targets: usize, reach_m: f32) -> Character {
    let raw = character_of(targets, reach_m);
    raw.build(&ImportOptions::curves_only()).unwrap().character
}

pub(super) fn character_of(targets: usize, reach_m: f32) -> RawCharacter {
    let target = raws::moves(vec![Vec3::Y * reach_m], vec![2]);
    RawCharacter {
        nodes: vec![node("node", None, throng::skeleton::Transform::IDENTITY)],
        primitives: vec![RawPrimitive {
            positions: vec![Vec3::ZERO, Vec3::X * 1.8, Vec3::Y],
            indices: vec![0, 1, 2],
            morph: Some(0),
            targets: vec![target; targets],
            ..RawPrimitive::default()
        }],
        morphs: vec![raws::morph(0, "", vec![0.25; targets])],
        ..RawCharacter::default()
    }
}

pub(super) fn curves(character: &Character, tracks: Vec<WeightTrack>) -> CurveClip {
    let clip = CurveClip::new("clip", Vec::new(), character.skeleton()).unwrap();
    clip.with_weight_tracks(tracks, character.morph_weights().len())
        .unwrap()
}

pub(super) fn pack(character: &Character, raw: &CurveClip) -> Clip {
    Clip::new(character, raw, &ClipOptions::default()).unwrap()
}

/// The value that the curves have for a weight that a track drives.
pub(super) fn exact(track: &WeightTrack, number: usize, time_s: f64) -> f64 {
    let (keys, count) = (&track.keys, track.count as usize);
    let cubic = keys.interpolation == Interpolation::CubicSpline;
    let row = |row: usize| f64::from(keys.values[row * count + number]);
    let value = |key: usize| row(if cubic { 3 * key + 1 } else { key });
    let time = |key: usize| f64::from(keys.times_s[key]);
    let last = keys.times_s.len() - 1;
    if time_s <= time(0) {
        return value(0);
    }
    if time_s >= time(last) {
        return value(last);
    }
    let k = (0..last).rfind(|key| time(*key) <= time_s).unwrap();
    let length = time(k + 1) - time(k);
    let u = (time_s - time(k)) / length;
    match keys.interpolation {
        Interpolation::Step => value(k),
        Interpolation::Linear => value(k) * (1.0 - u) + value(k + 1) * u,
        Interpolation::CubicSpline => {
            let (u2, u3) = (u * u, u * u * u);
            (2.0 * u3 - 3.0 * u2 + 1.0) * value(k)
                + length * (u3 - 2.0 * u2 + u) * row(3 * k + 2)
                + (3.0 * u2 - 2.0 * u3) * value(k + 1)
                + length * (u3 - u2) * row(3 * k + 3)
        }
    }
}

/// All weights that the curves drive, by index.
pub(super) fn all_exact(raw: &CurveClip, time_s: f64) -> Vec<(usize, f64)> {
    let tracks = raw.weight_tracks().iter();
    let all = tracks.flat_map(|track| {
        (0..track.count as usize).map(move |number| {
            let index = track.first_weight.index() + number;
            (index, exact(track, number, time_s))
        })
    });
    all.collect()
}

pub(super) fn sampled(clip: &Clip, time_s: f64) -> Vec<(usize, f32)> {
    let mut all = Vec::new();
    clip.sample_weights(time_s, |id, value| all.push((id.index(), value)));
    all
}

pub(super) fn times(raw: &CurveClip, rng: &mut Rng) -> Vec<f64> {
    let tracks = raw.weight_tracks().iter();
    let keys = tracks.flat_map(|track| track.keys.times_s.iter().copied().map(f64::from));
    let mut all: Vec<f64> = keys.collect();
    let end = f64::from(raw.duration_s());
    all.extend((0..64).map(|_| f64::from(rng.range(-0.05, 1.05)) * end));
    all
}

/// The largest displacement of a vertex in the rest pose, for these errors of the weights.
pub(super) fn moved(character: &Character, off: &[f64]) -> f64 {
    let mut models: Vec<Affine3A> = Vec::new();
    for joint in character.skeleton().joints() {
        let own = joint.rest.to_affine();
        let parent = joint.parent.map(|parent| models[parent.index()]);
        models.push(parent.map_or(own, |parent| parent * own));
    }
    let mut worst = 0.0_f64;
    for primitive in character.primitives() {
        let entries = &character.palette()[character.palette_range(primitive)];
        let scale = entries.iter().map(|entry| {
            let m = models[usize::from(entry.joint)] * entry.inverse_bind;
            m.matrix3
                .x_axis
                .length()
                .max(m.matrix3.y_axis.length())
                .max(m.matrix3.z_axis.length())
        });
        let scale = f64::from(scale.fold(0.0, f32::max));
        let mut moves = vec![0.0; primitive.vertex_count()];
        let first = primitive.first_weight.index();
        for (number, target) in primitive.targets.iter().enumerate() {
            for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
                moves[*vertex as usize] += off[first + number].abs() * f64::from(delta.length());
            }
        }
        worst = moves.into_iter().fold(worst, |a, b| a.max(b * scale));
    }
    worst
}

/// A blink and a smile as baked at 30 Hz, and a weight that stays.
pub(super) fn baked(character: &Character, seconds: usize) -> CurveClip {
    let frames = seconds * 30;
    let times: Vec<f32> = (0..=frames).map(|frame| frame as f32 / 30.0).collect();
    let values = (0..=frames).flat_map(|frame| {
        let phase = (frame % frames) as f32 / frames as f32 * std::f32::consts::TAU;
        let blink = if frame % 45 == 7 { 1.0 } else { 0.0 };
        [blink, 0.3 - 0.5 * phase.cos(), 0.75]
    });
    let values: Vec<f32> = values.collect();
    let track = WeightTrack {
        first_weight: Id::new(1),
        count: 3,
        keys: keys(Interpolation::Linear, &times, &values),
    };
    curves(character, vec![track])
}
