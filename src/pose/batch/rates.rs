//! Which rates a clip is tried at.

use super::timing::Timing;
use crate::character::{RawClip, Transform};

/// Among these are those at which exporters bake, where the keys are hit.
const RATES_HZ: [f64; 16] = [
    2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0,
];
/// More frames than this are not made, nor more bytes while making them: a clip that would need more keeps its tracks.
const MAX_FRAMES: usize = 1 << 14;
const MAX_BYTES: usize = 1 << 28;
/// A length that is nearer than this to a whole number of intervals is one.
const WHOLE: f64 = 1e-3;

/// The frames to try, fewest first: a single one if the clip has no length.
pub(super) fn timings(raw: &RawClip, joints: usize) -> Vec<Timing> {
    let single = Timing::single(raw);
    let span = single.end_s - single.start_s;
    let bytes = (joints * size_of::<Transform>()).max(1);
    let most = (MAX_BYTES / bytes).clamp(2, MAX_FRAMES) - 1;
    if raw.tracks().is_empty() || span <= 0.0 {
        return vec![single];
    }
    let mut all: Vec<Timing> = RATES_HZ
        .into_iter()
        .chain(own_rates(raw, span))
        .chain([1.0 / span])
        .map(|rate| timing(single, rate, most))
        .collect();
    all.sort_by(|a, b| {
        (a.frames, a.rate)
            .partial_cmp(&(b.frames, b.rate))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    all.dedup_by(|a, b| a.frames == b.frames && (a.rate - b.rate).abs() <= 1e-9 * a.rate);
    all
}

/// Frames at `rate`, or at the rate that makes `most` intervals.
fn timing(single: Timing, rate: f64, most: usize) -> Timing {
    let span = single.end_s - single.start_s;
    let intervals = span * rate;
    let whole = (intervals.round() as usize).clamp(1, most);
    if (intervals - whole as f64).abs() <= WHOLE || intervals > most as f64 {
        let (frames, rate) = (whole + 1, whole as f64 / span);
        return Timing {
            frames,
            rate,
            ..single
        };
    }
    let frames = (intervals.ceil() as usize).clamp(1, most) + 1;
    Timing {
        frames,
        rate,
        ..single
    }
}

/// The rates at which the file's own keys lie, if they lie on a grid: the usual distance of those of the track that has most,
/// and that which divides the clip evenly. None beyond the highest rate.
fn own_rates(raw: &RawClip, span: f64) -> impl Iterator<Item = f64> {
    let times = raw.tracks().iter().map(|track| track.values.times_s());
    let times = times.max_by_key(|times| times.len()).unwrap_or(&[]);
    let mut gaps: Vec<f64> = times
        .windows(2)
        .map(|pair| f64::from(pair[1]) - f64::from(pair[0]))
        .collect();
    gaps.sort_by(f64::total_cmp);
    let usual = gaps.get(gaps.len() / 2).map(|gap| 1.0 / gap);
    let even = (!gaps.is_empty()).then(|| gaps.len() as f64 / span);
    let highest = RATES_HZ[RATES_HZ.len() - 1];
    [usual, even]
        .into_iter()
        .flatten()
        .filter(move |rate| *rate <= highest)
}
