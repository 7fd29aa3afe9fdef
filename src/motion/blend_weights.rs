//! Blending morph weights: levels of weighted means and added differences, as joints are blended.

use crate::clip::Clip;
use crate::error::{Result, expect_len};

/// A clip at a time whose morph weights take part in a blend.
#[derive(Debug, Clone, Copy)]
pub struct WeightSample<'a> {
    /// The clip. One that drives no morph weights takes part, too.
    pub clip: &'a Clip,
    /// The clip's own time in seconds, clamped to it. Not a number counts as 0.
    pub time_s: f64,
    /// Its part in the blend. What is not positive and finite takes no part.
    pub weight: f32,
    /// Which level it belongs to; samples ascend in it.
    pub level: u8,
}

impl<'a> WeightSample<'a> {
    /// `clip` at `time_s`, on the first level with weight 1.
    #[must_use]
    pub const fn new(clip: &'a Clip, time_s: f64) -> Self {
        Self {
            clip,
            time_s,
            weight: 1.0,
            level: 0,
        }
    }

    /// The same with this weight.
    #[must_use]
    pub const fn weighted(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// The same on another level.
    #[must_use]
    pub const fn on_level(self, level: u8) -> Self {
        Self { level, ..self }
    }
}

/// So many weights are blended at a time, on the stack.
const CHUNK: usize = 32;

/// Blends the morph weights of samples into `out`, one for each of
/// [`Character::morph_weights`](crate::character::Character::morph_weights), for each weight:
///
/// - The first level lies over `rest`, each level over the one below it. A level shows the mean of
///   what its clips that are not additive have, by the samples' weights. A clip that does not drive
///   the morph weight has what lies below. Where the samples' weights sum to less than the
///   threshold, what lies below has the part that is missing. The threshold is `threshold` on level
///   0 and 1 on those above.
/// - Then each additive clip of the level adds its difference, times its sample's weight.
///
/// So a fade from a clip without morph weights to one with them is even, as it is for joints that
/// only one of the clips drives. Sums are `f64`; nothing is allocated. Weights beyond `out` are
/// left out.
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
/// [`Error::Argument`](crate::error::Error::Argument) if `out` is not as long as `rest`; nothing is
/// written then.
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

/// Blends into `out`, whose first weight is number `first`: it holds those at rest.
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
        // What the weights sum to, of all clips and of those that drive each, and the values' sum.
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
