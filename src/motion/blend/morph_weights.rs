//! Blending of morph weights: layers of weighted means and added differences, as for joints.

use super::clip_sample::{ClipSample, full_weight};

/// The number of weights that are blended at a time, on the stack.
const CHUNK: usize = 32;

/// Blends the morph weights of samples into `out`, which holds those of the rest pose.
///
/// For each of them:
///
/// 1. The first layer is applied over the weights at rest, and each layer over the one below it. A
///    layer gives the mean of its clips that are not additive, weighted by the samples' weights. A
///    clip that does not drive the morph weight counts with the value from below. If the samples'
///    weights sum to less than the full weight, the value from below gets the missing weight.
/// 2. Then each additive clip of the layer adds its difference, times its sample's weight.
///
/// So a fade between a clip without morph weights and one with them is even, as for a joint that
/// only one of the clips drives. Sums are computed in `f64`, and nothing is allocated. Masks have
/// no effect. Weights of a clip beyond the length of `out` are ignored.
pub(crate) fn blend_weights<'a>(
    samples: impl Iterator<Item = ClipSample<'a>> + Clone,
    out: &mut [f32],
) {
    if samples.clone().any(|sample| sample.clip.drives_weights()) {
        for (number, out) in out.chunks_mut(CHUNK).enumerate() {
            blend_chunk(number * CHUNK, samples.clone(), out);
        }
    }
}

/// Blends one chunk. `first` is the index of its first weight, and `out` holds the rest values.
fn blend_chunk<'a>(
    first: usize,
    samples: impl Iterator<Item = ClipSample<'a>> + Clone,
    out: &mut [f32],
) {
    let range = first..first + out.len();
    let mut value = [0.0_f64; CHUNK];
    for (value, rest) in value.iter_mut().zip(&*out) {
        *value = f64::from(*rest);
    }
    let mut left = samples;
    while let Some(ClipSample { layer: number, .. }) = left.clone().next() {
        let layer = left.clone().take_while(|sample| sample.layer == number);
        // Sums over the layer: weights of all clips, weights of those that drive each, and their
        // values.
        let mut whole = 0.0_f64;
        let (mut driven, mut sum) = ([0.0_f64; CHUNK], [0.0_f64; CHUNK]);
        for ClipSample {
            clip,
            time_s,
            weight,
            ..
        } in layer.clone()
        {
            if !clip.is_additive() {
                let weight = f64::from(weight);
                whole += weight;
                clip.sample_weights_in(time_s, range.clone(), |index, value| {
                    driven[index - first] += weight;
                    sum[index - first] += weight * f64::from(value);
                });
            }
        }
        let whole = whole.max(full_weight(number));
        for ((value, driven), sum) in value.iter_mut().zip(driven).zip(sum) {
            if driven >= whole {
                *value = sum / driven;
            } else if driven > 0.0 {
                *value = (sum + (whole - driven) * *value) / whole;
            }
        }
        for ClipSample {
            clip,
            time_s,
            weight,
            ..
        } in layer.clone()
        {
            if clip.is_additive() {
                clip.sample_weights_in(time_s, range.clone(), |index, difference| {
                    value[index - first] += f64::from(weight) * f64::from(difference);
                });
            }
        }
        let last = layer.count() - 1;
        left.nth(last);
    }
    for (out, value) in out.iter_mut().zip(value) {
        *out = value as f32;
    }
}
