//! Builds morph weights from curves: chooses the rate, the bits, and what is kept as curves.

use super::curve::CurveClip;
use super::curve_sample::{Playhead, sample_weights, weight_range};
use super::keys::MAX_BITS;
use super::packed::VertexError;
use super::rates::timings_over;
use super::stream::BitWriter;
use super::tested_times::{between, own_times_s};
use super::timing::Timing;
use super::track::{Interpolation, WeightTrack};
use super::weights::{Column, EvenWeights, PADDING, WeightKeys};
use crate::error::{Result, expect_index};
use crate::mesh::{Model, PaletteJoint};
use crate::skeleton::rest_model_pose;

/// Upper and lower limits of the tolerance of a weight. The upper limit exists for normals, which
/// rotate with the weight. The lower one is the precision of `f32` for weights around 1.
const MOST_OFF: f32 = 1e-3;
const LEAST_OFF: f32 = 1e-6;
/// Largest quantisation steps to try, in parts of the tolerance. Rounding to fields costs half a
/// step; the rest is left for the curvature of the curve. The first step that works is used.
const STEPS: [f32; 2] = [1.9, 1.0];
/// A track with more keys than this is kept as a curve.
const MAX_KEYS: usize = 1 << 16;

/// Packed weights, and how far they are off.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) weights: Vec<WeightKeys>,
    /// The largest difference between any weight and the file's.
    pub(super) error: f32,
    /// The vertex that their errors may move furthest in the rest pose, together, and the distance.
    pub(super) moved: Option<VertexError>,
}

/// The worst error of one weight.
#[derive(Debug, Clone, Copy, Default)]
struct Off {
    error: f32,
    time_s: f64,
}

/// Packs the morph weights of a clip.
///
/// The vertices that they move, with all weights together, stay within `bound_m`.
pub(super) fn weights(model: &Model, raw: &CurveClip, bound_m: f32) -> Result<Made> {
    let count = model.morph_weights.len();
    if let Some(last) = raw.weight_tracks().last() {
        expect_index("morph weight", weight_range(last).end - 1, count)?;
    }
    let mut made = Made::default();
    if raw.weight_tracks().is_empty() {
        return Ok(made);
    }
    let mut moving = vec![false; count];
    for track in raw.weight_tracks() {
        let keys = track.numbers();
        for (number, moving) in moving[weight_range(track)].iter_mut().enumerate() {
            *moving = keys.change(|a, b| a[number] == b[number]);
        }
    }
    let reaches = reaches(model, &moving);
    let mut off = vec![Off::default(); count];
    for track in raw.weight_tracks() {
        let range = weight_range(track);
        let moves = moving[range.clone()].contains(&true);
        let packed = pack(track, &reaches[range.clone()], moves, bound_m);
        let kept = WeightKeys::Curve(track.clone());
        match packed {
            Some((even, errors)) if WeightKeys::size(&even) < kept.size() => {
                let worst = errors.iter().map(|off| off.error);
                made.error = worst.fold(made.error, f32::max);
                off[range].copy_from_slice(&errors);
                made.weights.push(even);
            }
            _ => made.weights.push(kept),
        }
    }
    made.moved = moved(model, &off);
    Ok(made)
}

/// Returns the vertex that these errors of the weights may move furthest, if they move any.
fn moved(model: &Model, off: &[Off]) -> Option<VertexError> {
    let scales = scales(model);
    let mut worst: Option<VertexError> = None;
    for (number, (primitive, scale)) in model.primitives.iter().zip(scales).enumerate() {
        // For each vertex: the distance, the largest part of it, and the time of that.
        let mut moves = vec![(0.0_f32, 0.0_f32, 0.0_f64); primitive.vertex_count()];
        let first = primitive.first_weight.index();
        for (target, off) in primitive.targets.iter().zip(&off[first..]) {
            for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
                let moved = delta.length() * scale * off.error;
                let (sum, most, time_s) = &mut moves[*vertex as usize];
                *sum += moved;
                if moved > *most {
                    (*most, *time_s) = (moved, off.time_s);
                }
            }
        }
        for (vertex, (error_m, _, time_s)) in (0..).zip(moves) {
            if error_m > worst.map_or(0.0, |worst| worst.error_m) {
                worst = Some(VertexError {
                    error_m,
                    primitive: number as u32,
                    vertex,
                    time_s,
                });
            }
        }
    }
    worst
}

/// Returns how far each morph weight can move a vertex, in metres of the rest pose.
///
/// For each weight, this is the largest distance by which a unit of all weights in `moving` moves
/// any vertex that this weight affects. If each weight's error is at most the bound divided by this
/// distance, then all of them together move no vertex further than the bound.
fn reaches(model: &Model, moving: &[bool]) -> Vec<f32> {
    let scales = scales(model);
    let mut reaches = vec![0.0_f32; moving.len()];
    for (primitive, scale) in model.primitives.iter().zip(scales) {
        let first = primitive.first_weight.index();
        let targets = primitive.targets.iter().zip(first..);
        let targets = targets.filter(|(_, weight)| moving.get(*weight) == Some(&true));
        let mut moves = vec![0.0_f32; primitive.vertex_count()];
        for (target, _) in targets.clone() {
            for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
                moves[*vertex as usize] += delta.length() * scale;
            }
        }
        for (target, weight) in targets {
            let own = target.vertices.iter().map(|vertex| moves[*vertex as usize]);
            reaches[weight] = own.fold(reaches[weight], f32::max);
        }
    }
    reaches
}

/// The largest factor by which a vertex of each primitive is moved further in the rest pose.
fn scales(model: &Model) -> Vec<f32> {
    let models = rest_model_pose(&model.skeleton);
    let scale = |entry: &PaletteJoint| {
        let m = (models[usize::from(entry.joint)] * entry.inverse_bind).matrix3;
        let axes = [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.length());
        axes.into_iter().fold(0.0, f32::max)
    };
    let primitives = model.primitives.iter().map(|primitive| {
        let entries = &model.palette[model.palette_range(primitive)];
        entries.iter().map(scale).fold(0.0, f32::max)
    });
    primitives.collect()
}

/// Packs a track at uniform times and returns the error of each weight. `None` if no rate follows
/// it.
fn pack(
    track: &WeightTrack,
    reaches: &[f32],
    moves: bool,
    bound_m: f32,
) -> Option<(WeightKeys, Vec<Off>)> {
    let times = &track.keys.times_s;
    let steps = track.keys.interpolation == Interpolation::Step;
    if times.len() > MAX_KEYS || moves && steps {
        return None;
    }
    let tolerances: Vec<f32> = reaches
        .iter()
        .map(|reach| (bound_m / reach).clamp(LEAST_OFF, MOST_OFF))
        .collect();
    let single = Timing::single(*times.first()?, *times.last()?);
    let timings = if moves {
        timings_over(&single, times, times.len(), size_of_val(reaches))
    } else {
        vec![single]
    };
    let mut tried = timings
        .iter()
        .flat_map(|timing| STEPS.map(|step| (timing, step)));
    tried.find_map(|(timing, step)| even(track, timing, &tolerances, step))
}

/// Returns the track with the frames of `timing` and its errors, if within tolerances.
fn even(
    track: &WeightTrack,
    timing: &Timing,
    tolerances: &[f32],
    step: f32,
) -> Option<(WeightKeys, Vec<Off>)> {
    let count = tolerances.len();
    let mut values = vec![0.0; timing.frames * count];
    for (frame, values) in values.chunks_exact_mut(count).enumerate() {
        sample(track, timing.time_s(frame), values);
    }
    let mut columns = Vec::with_capacity(count);
    let mut bits = 0;
    for (number, tolerance) in tolerances.iter().enumerate() {
        let frames = values.iter().skip(number).step_by(count);
        let column = column(frames.copied(), tolerance * step, bits)?;
        bits += column.width;
        columns.push(column);
    }
    let mut bytes = Vec::new();
    for values in values.chunks_exact(count) {
        let mut frame = BitWriter::default();
        for (column, value) in columns.iter().zip(values) {
            let field = ((value - column.min) / column.scale + 0.5) as u32;
            frame.put(field.min((1 << column.width) - 1), column.width);
        }
        bytes.append(&mut frame.finish());
    }
    bytes.resize(bytes.len() + PADDING, 0);
    let even = EvenWeights {
        first_weight: track.first_weight,
        timing: timing.clone(),
        columns,
        stride: bits.div_ceil(8) as usize,
        bytes,
    };
    let errors = errors(track, &even, tolerances)?;
    Some((WeightKeys::Even(even), errors))
}

/// Chooses how a weight with these values is encoded in fields, with steps of at most `step`. The
/// fields start at bit `bit` of a frame.
fn column(values: impl Iterator<Item = f32> + Clone, step: f32, bit: u32) -> Option<Column> {
    let min = values.clone().fold(f32::INFINITY, f32::min);
    let max = values.fold(f32::NEG_INFINITY, f32::max);
    if min == max {
        return Some(Column {
            min,
            scale: 1.0,
            bit,
            width: 0,
        });
    }
    let scale = step.log2().floor().exp2();
    let [first, last] = [min, max].map(|value| (f64::from(value) / f64::from(scale)).round());
    // All multiples in between have 24 bits at most, and so have their differences.
    let exact = first.abs().max(last.abs()) <= f64::from(1 << MAX_BITS);
    let steps = last - first;
    let width = (0..=MAX_BITS).find(|width| steps < f64::from(1_u32 << width))?;
    exact.then_some(Column {
        min: first as f32 * scale,
        scale,
        bit,
        width,
    })
}

/// Returns the worst error of each weight if all are within their tolerances. Errors are measured
/// at the keys, between keys of splines, and between frames.
fn errors(track: &WeightTrack, even: &EvenWeights, tolerances: &[f32]) -> Option<Vec<Off>> {
    let keys = own_times_s(&track.numbers()).into_iter();
    let frames = (0..even.timing.frames - 1).flat_map(|frame| {
        let [from, to] = [frame, frame + 1].map(|frame| even.timing.time_s(frame));
        between(from, to)
    });
    let mut exact = vec![0.0; tolerances.len()];
    let mut worst = vec![Off::default(); tolerances.len()];
    for time_s in keys.chain(frames) {
        sample(track, time_s, &mut exact);
        let mut beyond = false;
        even.sample(time_s, 0..exact.len(), |weight, value| {
            let off = (value - exact[weight]).abs();
            let worst = &mut worst[weight];
            if off > worst.error {
                *worst = Off { error: off, time_s };
            }
            // NaN is never within the bound.
            let bound = tolerances[weight];
            beyond |= off > bound || off.is_nan();
        });
        if beyond {
            return None;
        }
    }
    Some(worst)
}

fn sample(track: &WeightTrack, time_s: f64, out: &mut [f32]) {
    let at = &mut Playhead { time_s, key: 0 };
    sample_weights(track, at, 0..out.len(), |number, value| out[number] = value);
}
