//! The parts that all words of clips consist of: rows, delays of frames, and ends.

use super::time::{fixed, words};
use crate::clip::Timing;
use crate::gpu::constants::CLIP_ROWS;

/// Words of the header of a clip.
pub(super) const CLIP_HEADER: usize = CLIP_ROWS as usize * 4;

impl Timing {
    /// Steps of a position a second, for shaders: intervals between frames, or seconds.
    pub(crate) fn steps_per_s(&self) -> f64 {
        if self.rate > 0.0 { self.rate } else { 1.0 }
    }
}

/// The row that comes next.
pub(super) fn row_of(out: &[u32]) -> u32 {
    (out.len() / 4) as u32
}

pub(super) fn pad(out: &mut Vec<u32>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Adds the delays of frames. Returns their first word, or 0 if there are none.
pub(super) fn push_offsets(out: &mut Vec<u32>, timing: &Timing) -> u32 {
    if timing.offsets.is_empty() {
        return 0;
    }
    let start = out.len() as u32;
    out.extend(timing.offsets.chunks(2).map(|pair| {
        let [low, high] = [pair[0], pair.get(1).copied().unwrap_or(0)];
        u32::from(low as u16) | u32::from(high as u16) << 16
    }));
    pad(out);
    start
}

/// The position of the end of a clip.
pub(crate) fn span(timing: &Timing) -> [u32; 2] {
    words(fixed(timing.end_s * timing.steps_per_s()))
}

/// The positions of the end and the start.
pub(super) fn ends(timing: &Timing) -> [u32; 4] {
    let [end, start] = [timing.end_s, timing.start_s].map(|s| fixed(s * timing.steps_per_s()));
    let [[end, more_end], [start, more_start]] = [end, start].map(words);
    [end, more_end, start, more_start]
}
