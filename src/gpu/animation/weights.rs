//! Morph weights of a clip as words for `shaders/include/weights.glsl`.

use super::curves::{Curve, push_curve};
use super::time::{fixed, words};
use super::words::{ends, pad, push_offsets, row_of};
use crate::clip::{Clip, EvenWeights, Interpolation, WeightKeys};
use crate::gpu::constants::{CURVE_CUBIC, CURVE_STEP, TRACK_CONSTANT, TRACK_CURVE, TRACK_MOVES};

/// Adds the morph weights of a clip, whose character has `count` of them. Returns the first word of
/// its tracks, one for each weight, or 0 if it drives none.
pub(super) fn push_weights(out: &mut Vec<u32>, clip: &Clip, count: usize) -> u32 {
    if !clip.drives_weights() {
        return 0;
    }
    let tracks = out.len();
    out.resize(tracks + count, 0);
    pad(out);
    for keys in &clip.weights {
        match keys {
            WeightKeys::Even(even) => push_even(out, tracks, even, clip.duration_s()),
            WeightKeys::Curve(track) => {
                let keys = &track.keys;
                let curve = Curve {
                    times_s: &keys.times_s,
                    interpolation: keys.interpolation,
                    width: track.count as usize,
                    values: keys.values.as_slice().into(),
                };
                let at = push_curve(out, &curve, &clip.timing);
                for weight in 0..track.count {
                    let row = row_of(out);
                    out.extend([at, weight, track.count, 0]);
                    out[tracks + track.first_weight.index() + weight as usize] =
                        row << 2 | TRACK_CURVE;
                }
            }
        }
    }
    tracks as u32
}

/// Adds weights at even times: a header as that of a clip, with the length of the clip behind it,
/// and a row for each weight.
fn push_even(out: &mut Vec<u32>, tracks: usize, even: &EvenWeights, duration_s: f64) {
    let timing = &even.timing;
    // Each frame begins in a word of its own, and a field is read from two words.
    let frame_words = even.stride.div_ceil(4);
    let frames_at = out.len() as u32;
    for frame in 0..timing.frames {
        let bytes = even.bytes.get(frame * even.stride..).unwrap_or_default();
        let bytes = bytes.get(..even.stride).unwrap_or(bytes);
        let word = |four: &[u8]| {
            let mut word = [0; 4];
            word[..four.len()].copy_from_slice(four);
            u32::from_le_bytes(word)
        };
        out.extend(bytes.chunks(4).map(word));
    }
    out.push(0);
    pad(out);
    let offsets = push_offsets(out, timing);
    let header = row_of(out);
    out.extend([timing.frames as u32, frame_words as u32, 0, offsets]);
    out.extend(ends(timing));
    out.extend([0, frames_at, 0, 0]);
    let [span, more_span] = words(fixed(duration_s * timing.steps_per_s()));
    out.extend([span, more_span, 0, 0]);
    for (number, column) in even.columns.iter().enumerate() {
        let (row, still) = (row_of(out), column.width == 0);
        out.extend([
            column.min.to_bits(),
            column.scale.to_bits(),
            column.bit,
            column.width,
        ]);
        out.extend([header, 0, 0, 0]);
        let kind = if still { TRACK_CONSTANT } else { TRACK_MOVES };
        out[tracks + even.first_weight.index() + number] = row << 2 | kind;
    }
}

const _: () = assert!(
    Interpolation::Step as u32 == CURVE_STEP && Interpolation::CubicSpline as u32 == CURVE_CUBIC
);
