//! Builds clips from curves: chooses the rate, what moves and which tracks are kept as curves.

use super::additive::Base;
use super::build_weights;
use super::components::{COMPONENTS, Property};
use super::curve::CurveClip;
use super::frames::{Made, make};
use super::measure::{Measure, Worst};
use super::packed::{BlockKeys, Clip, ClipOptions, ClipReport, VertexError};
use super::probes::Probes;
use super::rates::timings;
use super::steps::search;
use super::tested_times::Times;
use super::timing::Timing;
use super::track::{Interpolation, Keys, Track, TrackValues};
use super::unpacked::Unpacked;
use super::weights::WeightKeys;
use crate::error::{Result, expect_index};
use crate::id::Id;
use crate::mesh::Model;
use crate::skeleton::{Transform, rest_model_pose};

/// Number of attempts to find the tracks to blame; after that, all are kept as curves.
const ATTEMPTS: usize = 6;
/// Two rules that end the search for a rate.
///
/// - `ENOUGH`: the search stops at the first rate whose sampling error is within this part of the
///   bound, because that leaves enough for packing.
/// - `LONGER`: it also stops before a rate that needs more than this many times the frames of the
///   best one.
const ENOUGH: f32 = 0.6;
const LONGER: f64 = 1.6;
/// Part of the bound that morph weights may use in clips that move joints, too. What they leave is
/// for the joints.
const OF_WEIGHTS: f32 = 0.25;
/// Part of the bound that is left for the joints at least, even if weights in `f32` cannot be as
/// exact as the bound requires.
const LEAST_LEFT: f32 = 0.5;
/// Part of the bound within which keys of kept tracks are rounded.
const OF_KEPT: f32 = 0.125;
/// Least cosine between the rotations of neighbouring frames: they are at most a quarter of a turn
/// apart, unless no rate achieves that. Blending relies on it for its precision.
const LEAST_COSINE: f32 = 0.7;

impl Clip {
    /// Packs curves. With a `reference`, they are differences from this pose.
    pub(crate) fn pack(
        (model, probes): (&Model, &Probes),
        raw: &CurveClip,
        reference: Option<&[Transform]>,
        options: &ClipOptions,
    ) -> Result<Self> {
        let rest = model.skeleton.rest_pose();
        let base = reference.map_or(Base::Rest(&rest), Base::Reference);
        if let Some(last) = raw.tracks().last() {
            expect_index("joint", last.joint.into(), rest.len())?;
        }
        options.check()?;
        let bound_m = options.error_m.unwrap_or(probes.error_m());
        let both = !raw.tracks().is_empty() && !raw.weight_tracks().is_empty();
        let of_weights = if both { OF_WEIGHTS } else { 1.0 };
        let weights = build_weights::weights(model, raw, of_weights * bound_m)?;
        let moved_m = weights.moved.map_or(0.0, |moved| moved.error_m);
        let left_m = (bound_m - moved_m).max(LEAST_LEFT * bound_m);
        let builder = Builder {
            model,
            raw,
            base,
            quantise: options.quantise,
            measure: Measure::new((model, probes), raw, left_m, base),
        };
        Ok(with_weights(builder.joints(), weights))
    }
}

/// Builds a clip without its morph weights.
struct Builder<'a> {
    model: &'a Model,
    raw: &'a CurveClip,
    base: Base<'a>,
    quantise: bool,
    measure: Measure<'a>,
}

impl Builder<'_> {
    fn joints(&self) -> Clip {
        let (raw, measure) = (self.raw, &self.measure);
        let mut kept: Vec<bool> = raw.tracks().iter().map(steps).collect();
        let timings = timings(raw, self.model.skeleton.len());
        let mut best: Option<Clip> = None;
        for timing in &timings {
            let longer = |best: &Clip| timing.frames as f64 > best.timing.frames as f64 * LONGER;
            if best.as_ref().is_some_and(longer) {
                break;
            }
            let Made { clip, least_cosine } = self.sampled(timing, &kept);
            if least_cosine < LEAST_COSINE {
                continue;
            }
            let times = measure.times(&clip);
            let Some(worst) = measure.within(&Unpacked::new(&clip, self.base), &times) else {
                continue;
            };
            let clip = self.stored((clip, worst), timing, &kept, &times);
            let smaller = |best: &Clip| clip.report.bytes < best.report.bytes;
            if best.as_ref().is_none_or(smaller) {
                best = Some(clip);
            }
            if worst.error_m <= ENOUGH * measure.bound_m || !self.quantise {
                break;
            }
        }
        if let Some(best) = best {
            return best;
        }
        let most = timings
            .last()
            .cloned()
            .unwrap_or(Timing::single(raw.start_s(), raw.duration_s()));
        for _ in 0..ATTEMPTS {
            let clip = self.sampled(&most, &kept).clip;
            let (worst, blamed) = measure.blame(&clip);
            if blamed.is_empty() {
                let times = measure.times(&clip);
                return self.stored((clip, worst), &most, &kept, &times);
            }
            keep(raw, &blamed, &mut kept);
        }
        kept.fill(true);
        let clip = make(
            self.model,
            raw,
            self.base,
            Timing::single(raw.start_s(), raw.duration_s()),
            &kept,
        )
        .clip;
        let (worst, _) = measure.blame(&clip);
        let times = measure.times(&clip);
        self.with_vertex(clip, worst, &times)
    }

    /// The clip with plain keys. `kept` has true for each track that is kept as a curve.
    fn sampled(&self, timing: &Timing, kept: &[bool]) -> Made {
        let mut made = make(self.model, self.raw, self.base, timing.clone(), kept);
        if self.quantise {
            round_kept(&mut made.clip, self.model, self.measure.bound_m);
        }
        made
    }

    /// Stores the clip as requested. Keys are packed if that is possible and saves space.
    ///
    /// Tracks of joints that no packing holds within the bound are kept as curves.
    fn stored(
        &self,
        (plain, worst): (Clip, Worst),
        timing: &Timing,
        kept: &[bool],
        times: &Times<'_>,
    ) -> Clip {
        let plain = reported(plain, &worst);
        let mut kept = kept.to_vec();
        let mut fewer: Option<Clip> = None;
        for _ in 0..if self.quantise { ATTEMPTS } else { 0 } {
            match search(fewer.as_ref().unwrap_or(&plain), &self.measure, times) {
                Ok((packed, worst)) => {
                    let packed = reported(packed, &worst);
                    if packed.report.bytes < plain.report.bytes {
                        return packed;
                    }
                    break;
                }
                Err(blamed) => {
                    let before = kept.clone();
                    keep(self.raw, &blamed, &mut kept);
                    if kept == before {
                        break;
                    }
                    fewer = Some(self.sampled(timing, &kept).clip);
                }
            }
        }
        self.with_vertex(plain, worst, times)
    }

    /// Reports the worst error, for which the worst vertex may have to be found.
    fn with_vertex(&self, clip: Clip, worst: Worst, times: &Times<'_>) -> Clip {
        let made = Unpacked::new(&clip, self.base);
        let worst = self.measure.with_vertex(worst, &made, times);
        reported(clip, &worst)
    }
}

/// Adds the morph weights to the clip.
fn with_weights(mut clip: Clip, made: build_weights::Made) -> Clip {
    clip.mark_close_rotations();
    let sizes = made.weights.iter().map(WeightKeys::size);
    let driven = made.weights.iter().map(|keys| keys.range().len());
    clip.report.memory_bytes += sizes.sum::<usize>();
    clip.report.raw_bytes += raw_bytes(&clip, driven.sum());
    clip.report.weight_error = made.error;
    clip.weights = made.weights;
    if let Some(moved) = made.moved {
        let report = &mut clip.report;
        // The sum of both errors, where the larger one is.
        if moved.error_m > report.error_m {
            report.error_time_s = moved.time_s;
        }
        report.error_m += moved.error_m;
        let own = report.vertex_error;
        let worst = own.filter(|own| own.error_m >= moved.error_m);
        report.vertex_error = Some(VertexError {
            error_m: own.map_or(0.0, |own| own.error_m) + moved.error_m,
            ..worst.unwrap_or(moved)
        });
    }
    clip.report.bytes = saved_bytes(&clip);
    clip
}

/// Size in bytes of frames of `numbers` of 32 bits each at 30 Hz.
fn raw_bytes(clip: &Clip, numbers: usize) -> f64 {
    let span_s = clip.timing.end_s - clip.timing.start_s;
    let frames = (span_s * 30.0).round() + 1.0;
    frames * (numbers * size_of::<f32>()) as f64
}

/// Marks the tracks of these joints, which are in ascending order.
fn keep(raw: &CurveClip, joints: &[u16], kept: &mut [bool]) {
    for (track, kept) in raw.tracks().iter().zip(kept) {
        *kept |= joints.binary_search(&track.joint.0).is_ok();
    }
}

/// Rounds keys of kept tracks that are interpolated linearly to multiples of a power of 2, which
/// take fewer bits.
fn round_kept(clip: &mut Clip, model: &Model, bound_m: f32) {
    let rest = rest_model_pose(&model.skeleton);
    let size = model.rest_bounds.size().max_element();
    for track in &mut clip.kept {
        let parent = clip.rest[usize::from(track.joint)].parent_index();
        let parent = rest.get(usize::from(parent));
        let (property, keys) = (track.values.property(), track.values.numbers());
        let unit = match property {
            Property::Translation => parent.map_or(1.0, |parent| parent.matrix3.x_axis.length()),
            _ => size,
        };
        let grain = (OF_KEPT * bound_m / unit).log2().floor().exp2();
        // No value is so large that this is not finite.
        let round = |value: &f32| {
            let grain = f64::from(grain);
            ((f64::from(*value) / grain).round() * grain) as f32
        };
        if !grain.is_normal() || keys.interpolation != Interpolation::Linear {
            continue;
        }
        let keys = Keys {
            times_s: keys.times_s.to_vec(),
            values: keys.values.iter().map(round).collect(),
            interpolation: keys.interpolation,
        };
        track.values = TrackValues::of_numbers(property, keys);
    }
}

fn reported(mut clip: Clip, worst: &Worst) -> Clip {
    let kept = clip.kept.iter().map(|track| track.values.numbers().size());
    let (quantised, moving) = match &clip.keys {
        BlockKeys::Plain(rows, _) => (false, size_of_val(&rows[..])),
        BlockKeys::Packed(packed) => (true, packed.size()),
    };
    let memory_bytes = size_of::<Clip>()
        + moving
        + size_of_val(&clip.timing.offsets[..])
        + size_of_val(&clip.constants[..])
        + size_of_val(&clip.blocks[..])
        + size_of_val(&clip.kept[..])
        + kept.sum::<usize>();
    clip.report = ClipReport {
        quantised,
        rate_hz: clip.timing.rate,
        frames: clip.timing.frames,
        bytes: 0,
        memory_bytes,
        raw_bytes: raw_bytes(&clip, clip.rest.len() * COMPONENTS),
        error_m: worst.error_m,
        error_joint: Id::new(worst.joint),
        error_time_s: worst.time_s,
        vertex_error: worst.vertex.error,
        kept_tracks: clip.kept.len(),
        weight_error: 0.0,
    };
    clip.report.bytes = saved_bytes(&clip);
    clip
}

fn saved_bytes(clip: &Clip) -> usize {
    let mut bytes = Vec::new();
    clip.save(&mut bytes);
    bytes.len()
}

/// Returns true if a track jumps from value to value.
fn steps(track: &Track) -> bool {
    track.values.is_step() && track.values.numbers().change(|a, b| a == b)
}

pub(crate) fn rest_clip(model: &Model) -> Result<Clip> {
    let none = CurveClip::new("", Vec::new(), &model.skeleton)?;
    let joints = model.skeleton.joints().iter();
    let rest: Vec<Transform> = joints.map(|joint| joint.rest).collect();
    let timing = Timing::single(0.0, 0.0);
    let mut clip = make(model, &none, Base::Rest(&rest), timing, &[]).clip;
    clip.mark_close_rotations();
    Ok(clip)
}
