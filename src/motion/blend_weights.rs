//! Blending of morph weights: levels of weighted means and added differences, as for joints.

use crate::clip::Clip;
use crate::error::{Result, expect_len};

/// A clip at a time, for blending its morph weights.
#[derive(Debug, Clone, Copy)]
pub struct WeightSample<'a> {
    /// The clip. A clip that drives no morph weights also takes part.
    pub clip: &'a Clip,
    /// The clip's own time in seconds, clamped to the clip. NaN counts as 0.
    pub time_s: f64,
    /// Its weight in the blend. A sample whose weight is not positive and finite is ignored.
    pub weight: f32,
    /// The level that it belongs to. Samples must ascend in level.
    pub level: u8,
}

impl<'a> WeightSample<'a> {
    /// Creates a sample with weight 1 on the first level.
    #[must_use]
    pub const fn new(clip: &'a Clip, time_s: f64) -> Self {
        Self {
            clip,
            time_s,
            weight: 1.0,
            level: 0,
        }
    }

    /// Sets the weight.
    #[must_use]
    pub const fn weighted(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Sets the level.
    #[must_use]
    pub const fn on_level(self, level: u8) -> Self {
        Self { level, ..self }
    }
}

/// The number of weights that are blended at a time, on the stack.
const CHUNK: usize = 32;

/// Blends the morph weights of samples into `out`.
///
/// There is one value for each of
/// [`Character::morph_weights`](crate::character::Character::morph_weights). For each of them:
///
/// 1. The first level is applied over `rest`, and each level over the one below it. A level gives
///    the mean of its clips that are not additive, weighted by the samples' weights. A clip that
///    does not drive the morph weight counts with the value from below. If the samples' weights sum
///    to less than the threshold, the value from below gets the missing weight. The threshold is
///    `threshold` on level 0, and 1 on the levels above.
/// 2. Then each additive clip of the level adds its difference, times its sample's weight.
///
/// So a fade between a clip without morph weights and one with them is even, as for a joint that
/// only one of the clips drives. Sums are computed in `f64`, and nothing is allocated. Weights of a
/// clip beyond the length of `out` are ignored.
///
/// ```
/// use throng::motion::{BLEND_THRESHOLD, WeightSample, blend_weights};
///
/// let character = throng::builtin::mannequin()?.character;
/// let rest: Vec<f32> = character.morph_weights().iter().map(|weight| weight.rest).collect();
/// let mut weights = rest.clone();
/// let [walk, wave] = [&character.clips()[0], &character.clips()[1]];
/// let samples = [
///     WeightSample::new(walk, 0.2).weighted(0.75),
///     WeightSample::new(wave, 0.7).weighted(0.25),
/// ];
/// blend_weights(&rest, BLEND_THRESHOLD, samples.into_iter(), &mut weights)?;
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`](crate::error::Error::Argument) if `out` and `rest` have different lengths.
/// Nothing is written then.
pub fn blend_weights<'a>(
    rest: &[f32],
    threshold: f32,
    samples: impl Iterator<Item = WeightSample<'a>> + Clone,
    out: &mut [f32],
) -> Result<()> {
    expect_len("morph weights", out.len(), rest.len())?;
    out.copy_from_slice(rest);
    let samples = samples.filter(|sample| sample.weight > 0.0 && sample.weight.is_finite());
    if !samples.clone().any(|sample| sample.clip.drives_weights()) {
        return Ok(());
    }
    for (number, out) in out.chunks_mut(CHUNK).enumerate() {
        blend_chunk(number * CHUNK, threshold, samples.clone(), out);
    }
    Ok(())
}

/// Blends one chunk. `first` is the index of its first weight, and `out` holds the rest values.
fn blend_chunk<'a>(
    first: usize,
    threshold: f32,
    samples: impl Iterator<Item = WeightSample<'a>> + Clone,
    out: &mut [f32],
) {
    let range = first..first + out.len();
    let mut value = [0.0_f64; CHUNK];
    for (value, rest) in value.iter_mut().zip(&*out) {
        *value = f64::from(*rest);
    }
    let mut left = samples;
    while let Some(WeightSample { level: number, .. }) = left.clone().next() {
        let level = left.clone().take_while(|sample| sample.level == number);
        let threshold = if number == 0 { threshold.into() } else { 1.0 };
        // Sums over the level: weights of all clips, weights of those that drive each, and their
        // values.
        let mut whole = 0.0_f64;
        let (mut driven, mut sum) = ([0.0_f64; CHUNK], [0.0_f64; CHUNK]);
        for sample in level.clone().filter(|sample| !sample.clip.is_additive()) {
            let weight = f64::from(sample.weight);
            whole += weight;
            let clip = sample.clip;
            clip.sample_weights_in(sample.time_s, range.clone(), |index, value| {
                driven[index - first] += weight;
                sum[index - first] += weight * f64::from(value);
            });
        }
        let whole = whole.max(threshold);
        for ((value, driven), sum) in value.iter_mut().zip(driven).zip(sum) {
            if driven >= whole {
                *value = sum / driven;
            } else if driven > 0.0 {
                *value = (sum + (whole - driven) * *value) / whole;
            }
        }
        for sample in level.clone().filter(|sample| sample.clip.is_additive()) {
            let weight = f64::from(sample.weight);
            let clip = sample.clip;
            clip.sample_weights_in(sample.time_s, range.clone(), |index, difference| {
                value[index - first] += weight * f64::from(difference);
            });
        }
        let last = level.count() - 1;
        left.nth(last);
    }
    for (out, value) in out.iter_mut().zip(value) {
        *out = value as f32;
    }
}
