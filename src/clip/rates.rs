//! Chooses the sampling rates to try for a clip.

use super::curve::CurveClip;
use super::timing::Timing;
use crate::order;
use crate::skeleton::Transform;

/// Common rates, including those at which exporters bake, so that keys coincide.
const RATES_HZ: [f64; 16] = [
    2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0,
];
/// Limits of the number of frames and of the bytes used while sampling them. A clip that would
/// exceed them keeps its tracks as curves.
pub(super) const MAX_FRAMES: usize = 1 << 14;
const MAX_BYTES: usize = 1 << 28;
/// Limit of the number of frames for curves with few keys: `FRAMES`, and `FRAMES_PER_KEY` more for
/// each key time.
///
/// It bounds the work by the size of the curves. Curves that need more frames than this are smaller
/// than their frames.
const FRAMES: usize = 64;
const FRAMES_PER_KEY: usize = 16;
/// A length counts as a whole number of intervals if it is this close to one.
const WHOLE: f64 = 1e-3;
/// A key further than this from the grid, in 65536ths of an interval, makes the frames uneven.
const ON_GRID: f64 = 16.0;
/// Largest distance of a frame from the grid, in 65536ths of an interval.
const MOST_OFF: f64 = 32_000.0;

/// The timings to try, fewest frames first. A clip of zero length has a single frame.
pub(super) fn timings(raw: &CurveClip, joints: usize) -> Vec<Timing> {
    let single = Timing::single(raw.start_s(), raw.duration_s());
    if raw.tracks().is_empty() {
        return vec![single];
    }
    let frame_bytes = joints * size_of::<Transform>();
    let tracks = raw.tracks().iter().map(|track| track.values.times_s());
    let longest = tracks.max_by_key(|times| times.len()).unwrap_or(&[]);
    timings_over(&single, longest, raw.key_times().len(), frame_bytes)
}

/// The timings to try for keys at `times`, which lie within `single`.
///
/// There are keys at `keys` different times. Each frame takes `frame_bytes`.
pub(super) fn timings_over(
    single: &Timing,
    times: &[f32],
    keys: usize,
    frame_bytes: usize,
) -> Vec<Timing> {
    let span = single.end_s - single.start_s;
    let most = keys.saturating_mul(FRAMES_PER_KEY).saturating_add(FRAMES);
    let most = (MAX_BYTES / frame_bytes.max(1)).min(most);
    let most = most.clamp(2, MAX_FRAMES) - 1;
    if span <= 0.0 {
        return vec![single.clone()];
    }
    let even = RATES_HZ.into_iter().chain([1.0 / span]);
    let even = even.map(|rate| timing(single, rate, most));
    let own = own_rates(times, span).map(|rate| uneven(timing(single, rate, most), times));
    let mut all: Vec<Timing> = even.chain(own).collect();
    // Among timings with the same number of frames, those on the grid come first.
    order::sort_by_key(&mut all, |timing| (timing.frames, timing.offsets.len()));
    let same = |a: &mut Timing, b: &mut Timing| {
        a.frames == b.frames && a.offsets == b.offsets && (a.rate - b.rate).abs() <= 1e-9 * a.rate
    };
    all.dedup_by(same);
    all
}

/// Uniform frames at `rate`, or at the rate that makes `most` intervals.
fn timing(single: &Timing, rate: f64, most: usize) -> Timing {
    let span = single.end_s - single.start_s;
    let intervals = span * rate;
    let whole = (intervals.round() as usize).clamp(1, most);
    let (frames, rate) = if (intervals - whole as f64).abs() <= WHOLE || intervals > most as f64 {
        (whole + 1, whole as f64 / span)
    } else {
        ((intervals.ceil() as usize).clamp(1, most) + 1, rate)
    };
    Timing {
        frames,
        rate,
        ..single.clone()
    }
}

/// Moves each frame to the key near it.
fn uneven(mut timing: Timing, times: &[f32]) -> Timing {
    let mut offsets = vec![0_i16; timing.frames];
    for time in times {
        let at = (f64::from(*time) - timing.start_s) * timing.rate;
        let frame = at.round();
        // The first and the last frame stay in place.
        if let Some(offset) = offsets.get_mut(frame as usize)
            && frame >= 1.0
        {
            *offset = ((at - frame) * 65536.0).clamp(-MOST_OFF, MOST_OFF).round() as i16;
        }
    }
    let off = |offset: &i16| f64::from(*offset).abs() > ON_GRID;
    if offsets.iter().any(off) {
        timing.offsets = offsets;
    }
    timing
}

/// Candidate rates from the file's own keys.
///
/// One is from their median distance, the other from their mean distance, which divides the clip
/// evenly. Rates above the highest one are left out.
fn own_rates(times: &[f32], span: f64) -> impl Iterator<Item = f64> {
    let gap = |pair: &[f32]| f64::from(pair[1]) - f64::from(pair[0]);
    let mut gaps: Vec<f64> = times.windows(2).map(gap).collect();
    gaps.sort_by(f64::total_cmp);
    let usual = gaps.get(gaps.len() / 2).map(|gap| 1.0 / gap);
    let even = (!gaps.is_empty()).then(|| gaps.len() as f64 / span);
    let highest = RATES_HZ[RATES_HZ.len() - 1];
    let rates = [usual, even].into_iter().flatten();
    rates.filter(move |rate| *rate <= highest)
}
