//! Finds the number of bits that each component of each joint needs.
//!
//! The tolerance of a key is the error that it may have. A first guess follows from how far the
//! joint's descendants reach, and from how many joints of a chain add up their errors. Then the
//! error is measured. Tolerances of joints whose descendants all lie within the bound grow, and
//! others shrink. This is repeated a few times, and the smallest result within the bound is kept.

use super::compare::Detail;
use super::frames::{Fate, at_rest, folded};
use super::keys::WINDOW_BITS;
use super::measure::{Measure, Most, Worst};
use super::octet::{EIGHT, Matrices, Octet};
use super::packed::{BlockKeys, Clip, Property};
use super::quantise::{Lane, lanes, packed};
use super::tested_times::{Pick, Times, picks};
use super::unpacked::Unpacked;
use crate::simd::WIDTH;
use crate::skeleton::NO_PARENT;
use glam::Vec3;

/// Number of times that tolerances are changed and measured.
const ROUNDS: usize = 16;
/// Limit of joint poses that are tested per round.
const MAX_POSES: usize = 1 << 17;
/// Part of the limit that the search uses, so that times that it did not test also stay within the
/// limit.
const SEARCHED: f32 = 0.98;
/// Speed of adapting tolerances to the measured errors.
///
/// - `PACE`: the exponent of the correction, in the first and the last round.
/// - `MOST`: the largest correction, as a power of 2.
const PACE: [f32; 2] = [0.9, 0.1];
const MOST: f32 = 1.0;
/// Motion smaller than this part of its tolerance is dropped.
const TRIFLE: f32 = 0.1;
/// Extra reduction of tolerances that turn out to be too large in the final check, as a power of 2,
/// in addition to what the measured error requires.
const BEYOND: f32 = 0.02;

/// The geometry of a joint that determines its tolerances.
#[derive(Debug, Clone, Copy, Default)]
struct Reach {
    /// Largest distance of test points of the joint and its descendants from it, in model space.
    far: f32,
    /// Largest length of a unit of its parent's space, in model space.
    parent: f32,
    /// Largest length of each of its axes, in its parent's space.
    axes: Vec3,
    /// Number of moving joints on the longest chain through it.
    chain: f32,
}

/// Packs `clip`, whose keys are plain, with the fewest bits that stay within the bound.
///
/// Also returns the worst error. `None` if no number of bits suffices, or nothing moves.
pub(super) fn search(
    clip: &Clip,
    measure: &Measure<'_>,
    times: &mut Times,
) -> Option<(Clip, Worst)> {
    let BlockKeys::Plain(_, 1..) = &clip.keys else {
        return None;
    };
    let searched = evenly(
        picks(measure.keys(), times, Times::SEARCHED),
        clip.rest.len(),
    );
    let lanes = lanes(clip);
    let reaches = reaches(clip, measure, &searched, &lanes);
    let base = tolerances(&lanes, &reaches, measure.limit_m());
    let clip = &without_trifles(clip, &lanes, &base);
    let lanes = &super::quantise::lanes(clip);
    let base = &tolerances(lanes, &reaches, measure.limit_m());
    let mut powers = least(clip, measure, &searched, lanes, base);
    drop(searched);
    // Errors at times that the search did not test may be slightly larger.
    for _ in 0..ROUNDS {
        let tried = finished(clip, lanes, &widths(lanes, base, &powers))?;
        let made = Unpacked::new(&tried, measure.base());
        if let Some(worst) = measure.within(&made, times) {
            let worst = measure.with_vertex(worst, &made, times);
            return Some((tried, worst));
        }
        let mut errors = vec![Most::default(); powers.len()];
        let all = picks(measure.keys(), times, 0..Times::SETS);
        let detail = Detail::Vertices(SEARCHED * measure.limit_m());
        measure.errors(
            &made,
            &all,
            (detail, &vec![true; powers.len()]),
            &mut errors,
        );
        let slack = slack(clip, &errors, measure.limit_m());
        for (power, slack) in powers.iter_mut().zip(slack) {
            *power += (slack - BEYOND).clamp(-MOST, 0.0);
        }
    }
    None
}

/// The correction of each joint's tolerances, as a power of 2, that needs the fewest bits.
fn least(
    clip: &Clip,
    measure: &Measure<'_>,
    searched: &[Pick<'_>],
    lanes: &[Lane],
    base: &[[f32; WIDTH]],
) -> Vec<f32> {
    let limit = measure.limit_m() * SEARCHED;
    let mut powers = vec![0.0_f32; clip.rest.len()];
    let mut made = Unpacked::new(clip, measure.base());
    let mut errors = vec![Most::default(); powers.len()];
    let mut before: Option<Vec<[u32; WIDTH]>> = None;
    let mut best: Option<(u32, Vec<f32>)> = None;
    for round in 0..ROUNDS {
        let widths = widths(lanes, base, &powers);
        let changed = change(clip, lanes, before.as_deref(), &widths, &mut made);
        // Without a change, the errors are those of the round before.
        if changed.contains(&true) {
            measure.errors(&made, searched, (Detail::Guides, &changed), &mut errors);
        }
        let slack = slack(clip, &errors, limit);
        let bits: u32 = widths.as_flattened().iter().sum();
        if slack.iter().all(|slack| *slack >= 0.0)
            && best.as_ref().is_none_or(|(least, _)| bits < *least)
        {
            best = Some((bits, powers.clone()));
        }
        before = Some(widths);
        let share = round as f32 / (ROUNDS - 1) as f32;
        let pace = PACE[0] + (PACE[1] - PACE[0]) * share;
        for (power, slack) in powers.iter_mut().zip(&slack) {
            let pace = if *slack < 0.0 { 1.1 } else { pace };
            *power += (pace * slack).clamp(-MOST, MOST);
        }
    }
    best.map_or(powers, |(_, powers)| powers)
}

/// Sets the keys in `made` to fields of new widths. Returns the joints whose keys changed.
fn change(
    clip: &Clip,
    lanes: &[Lane],
    before: Option<&[[u32; WIDTH]]>,
    widths: &[[u32; WIDTH]],
    made: &mut Unpacked<'_>,
) -> Vec<bool> {
    let mut changed = vec![before.is_none(); clip.rest.len()];
    for (row, lane) in lanes.iter().enumerate() {
        for (number, width) in widths[row].into_iter().enumerate() {
            let joint = lane.block * WIDTH + number;
            if joint >= changed.len() || before.is_some_and(|before| before[row][number] == width) {
                continue;
            }
            changed[joint] = true;
            let keys = (0..clip.timing.frames).map(|frame| clip.key(frame, row, number));
            lane.spans[number].rounded(width, keys, made.keys_mut(row, number));
        }
    }
    changed
}

/// At most [`MAX_POSES`] joint poses, evenly selected.
fn evenly(picks: Vec<Pick<'_>>, joints: usize) -> Vec<Pick<'_>> {
    let poses = picks.len() * joints * EIGHT;
    let step = poses.div_ceil(MAX_POSES).max(1);
    picks.into_iter().step_by(step).collect()
}

/// Drops motion that is too small to matter.
fn without_trifles(clip: &Clip, lanes: &[Lane], base: &[[f32; WIDTH]]) -> Clip {
    folded(clip, lanes, |own, first| {
        let trifle =
            |row: usize, number: usize, off: f32| off <= TRIFLE * base[first + row][number];
        let mut spans = own.iter().enumerate().flat_map(|(row, lane)| {
            let spans = lane.spans.iter().enumerate();
            spans.map(move |(number, span)| trifle(row, number, span.max - span.min))
        });
        if at_rest(clip, own, trifle) {
            Fate::Rest
        } else if spans.all(|small| small) {
            Fate::Constant
        } else {
            Fate::Moves
        }
    })
}

/// Packs the clip. Properties whose fields have no bits become constants, which take less space.
fn finished(clip: &Clip, lanes: &[Lane], widths: &[[u32; WIDTH]]) -> Option<Clip> {
    let none = |row: &usize| widths[*row] == [0; WIDTH];
    let moves = |first: usize, count: usize| !(first..first + count).all(|row| none(&row));
    let clip = folded(clip, lanes, |own, first| {
        if moves(first, own.len()) {
            Fate::Moves
        } else {
            Fate::Constant
        }
    });
    let mut first = 0;
    let mut left = Vec::new();
    while let Some(lane) = lanes.get(first) {
        let count = lane.property.len();
        if moves(first, count) {
            left.extend(first..first + count);
        }
        first += count;
    }
    let widths: Vec<_> = left.iter().map(|row| widths[*row]).collect();
    let lanes: Vec<_> = left.iter().map(|row| lanes[*row].clone()).collect();
    if lanes.is_empty() {
        return Some(clip);
    }
    packed(&clip, &lanes, &widths)
}

fn widths(lanes: &[Lane], base: &[[f32; WIDTH]], powers: &[f32]) -> Vec<[u32; WIDTH]> {
    let pairs = lanes.iter().zip(base);
    pairs
        .map(|(lane, base)| {
            let mut row = std::array::from_fn(|number| {
                let power = powers.get(lane.block * WIDTH + number);
                power.map_or(0, |power| {
                    lane.spans[number].width(base[number] * power.exp2())
                })
            });
            fit(&mut row);
            row
        })
        .collect()
}

/// Takes bits from the widest fields of a row until the row fits. The measurement shows whether
/// that is enough.
fn fit(row: &mut [u32; WIDTH]) {
    while row.iter().sum::<u32>() > WINDOW_BITS {
        if let Some(widest) = row.iter_mut().max() {
            *widest -= 1;
        }
    }
}

/// The margin of each joint: the power of 2 by which the errors of it and of all its descendants
/// are below the limit, at least.
fn slack(clip: &Clip, errors: &[Most], limit: f32) -> Vec<f32> {
    let mut slack: Vec<f32> = errors
        .iter()
        .map(|error| {
            (limit / error.error_m.max(f32::MIN_POSITIVE))
                .log2()
                .clamp(-20.0, 20.0)
        })
        .collect();
    for joint in (0..slack.len()).rev() {
        let parent = clip.rest[joint].parent_index();
        if parent != NO_PARENT {
            let own = slack[joint];
            let parent = &mut slack[usize::from(parent)];
            *parent = parent.min(own);
        }
    }
    slack
}

fn reaches(
    clip: &Clip,
    measure: &Measure<'_>,
    searched: &[Pick<'_>],
    lanes: &[Lane],
) -> Vec<Reach> {
    let mut reaches = vec![Reach::default(); clip.rest.len()];
    let (mut local, mut out) = (Vec::new(), Vec::new());
    let mut far = vec![Octet::default(); reaches.len()];
    for pick in searched {
        let (models, _) = pick
            .set
            .models(measure.file(), pick.group, &mut local, &mut out);
        for (joint, far) in far.iter_mut().enumerate() {
            *far = Octet::splat(measure.probes().reach_m(joint));
        }
        reach(clip, models, &mut far, &mut reaches);
    }
    chains(clip, lanes, &mut reaches);
    reaches
}

/// Raises the reaches to those of eight model poses.
fn reach(clip: &Clip, models: &[Matrices], far: &mut [Octet], reaches: &mut [Reach]) {
    let length = |model: &Matrices, column: usize| {
        let [x, y, z] = [0, 1, 2].map(|row| model[column * 3 + row]);
        (x * x + y * y + z * z).sqrt()
    };
    let greatest = |value: Octet, least: f32| least.max(value.greatest());
    for joint in (0..models.len()).rev() {
        let own = &models[joint];
        let reach = &mut reaches[joint];
        reach.far = greatest(far[joint], reach.far);
        let mut one_over = Octet::splat(1.0);
        match models.get(usize::from(clip.rest[joint].parent_index())) {
            None => reach.parent = 1.0,
            Some(parent) => {
                let axes = [0, 1, 2].map(|axis| length(parent, axis));
                let scale = axes[0].max(axes[1]).max(axes[2]);
                reach.parent = greatest(scale, reach.parent);
                one_over = scale.map(|scale| 1.0 / scale.max(f32::MIN_POSITIVE));
                let mut apart = *own;
                for row in 9..12 {
                    apart[row] = own[row] - parent[row];
                }
                let parent = usize::from(clip.rest[joint].parent_index());
                far[parent] = far[parent].max(length(&apart, 3) + far[joint]);
            }
        }
        for axis in 0..3 {
            let own = greatest(length(own, axis) * one_over, reach.axes[axis]);
            reach.axes[axis] = own;
        }
    }
}

fn chains(clip: &Clip, lanes: &[Lane], reaches: &mut [Reach]) {
    let joints = reaches.len();
    let mut moves = vec![0.0_f32; joints];
    for lane in lanes {
        for (number, span) in lane.spans.iter().enumerate() {
            if let Some(moves) = moves.get_mut(lane.block * WIDTH + number)
                && span.min < span.max
            {
                *moves = 1.0;
            }
        }
    }
    let mut above = moves.clone();
    for joint in 0..joints {
        if let Some(parent) = above
            .get(usize::from(clip.rest[joint].parent_index()))
            .copied()
        {
            above[joint] += parent;
        }
    }
    let mut below = vec![0.0_f32; joints];
    for joint in (0..joints).rev() {
        reaches[joint].chain = (above[joint] + below[joint]).max(1.0);
        let own = below[joint] + moves[joint];
        if let Some(parent) = below.get_mut(usize::from(clip.rest[joint].parent_index())) {
            *parent = parent.max(own);
        }
    }
}

/// A first guess of each lane's tolerance.
fn tolerances(lanes: &[Lane], reaches: &[Reach], limit: f32) -> Vec<[f32; WIDTH]> {
    let of = |lane: &Lane, number: usize| {
        let Some(reach) = reaches.get(lane.block * WIDTH + number) else {
            return f32::INFINITY;
        };
        // Errors of independent keys add up as their squares, and so do those of three components.
        let share = limit / (3.0 * reach.chain).sqrt();
        let span = &lane.spans[number];
        match lane.property {
            Property::Rotation => {
                // Errors along the quaternion vanish when it is normalised.
                let least = if span.min < 0.0 && span.max > 0.0 {
                    0.0
                } else {
                    span.min.abs().min(span.max.abs())
                };
                let across = (1.0 - least * least).max(0.0).sqrt().max(0.05);
                share / (2.0 * reach.far * across)
            }
            Property::Translation => share / reach.parent,
            Property::Scale => {
                let axis = reach.axes[lane.component].max(1e-3);
                share * axis / reach.far
            }
        }
    };
    lanes
        .iter()
        .map(|lane| std::array::from_fn(|number| of(lane, number)))
        .collect()
}
