//! Finds the step of the keys of each joint.
//!
//! The tolerance of a key is the error that it may have. A first guess follows from how far the
//! joint's descendants reach, and from how many joints of a chain add up their errors. Then the
//! error is measured. Tolerances of joints whose descendants all lie within the bound grow, and
//! others shrink. This is repeated a few times, and the smallest result within the bound is kept.

use super::compare::Detail;
use super::components::{Property, components};
use super::frames::{Fate, folded};
use super::keys::{Step, WINDOW_BITS};
use super::measure::{Measure, Most, Worst};
use super::octet::{EIGHT, Matrices, Octet};
use super::packed::{BlockKeys, Clip};
use super::quantise::{Part, packed, parts};
use super::tested_times::{Poses, TimeGroup, Times};
use super::unpacked::Unpacked;
use crate::simd::WIDTH;
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
/// Also returns the worst error.
///
/// # Errors
/// The joints that cause errors beyond the bound, if no steps suffice. None if nothing moves.
pub(super) fn search(
    clip: &Clip,
    measure: &Measure<'_>,
    times: &Times<'_>,
) -> Result<(Clip, Worst), Vec<u16>> {
    let BlockKeys::Plain(_, 1..) = &clip.keys else {
        return Err(Vec::new());
    };
    let searched = evenly(times.groups(Times::SEARCHED), clip.rest.len());
    let mut all = parts(clip);
    let reaches = reaches(clip, measure, &searched, &all);
    set_tolerances(&mut all, &reaches, measure.limit_m());
    let clip = &without_trifles(clip, &all);
    let mut parts = parts(clip);
    set_tolerances(&mut parts, &reaches, measure.limit_m());
    let mut powers = least(clip, measure, &searched, &mut parts);
    drop(searched);
    // Errors at times that the search did not test may be slightly larger.
    let mut blamed = Vec::new();
    for round in 0..ROUNDS {
        set_steps(&mut parts, &powers);
        let Some(tried) = finished(clip, &parts) else {
            break;
        };
        let made = Unpacked::new(&tried, measure.file.base);
        if let Some(worst) = measure.within(&made, times) {
            let worst = measure.with_vertex(worst, &made, times);
            return Ok((tried, worst));
        }
        if round + 1 == ROUNDS {
            blamed = measure.blame(&tried).1;
        }
        let mut errors = vec![Most::default(); powers.len()];
        let all = times.groups(0..Times::SETS);
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
    Err(blamed)
}

/// The correction of each joint's tolerances, as a power of 2, that needs the fewest bits.
fn least(
    clip: &Clip,
    measure: &Measure<'_>,
    searched: &[&TimeGroup],
    parts: &mut [Part],
) -> Vec<f32> {
    let limit = measure.limit_m() * SEARCHED;
    let mut powers = vec![0.0_f32; clip.rest.len()];
    let mut made = Unpacked::new(clip, measure.file.base);
    let mut errors = vec![Most::default(); powers.len()];
    let mut best: Option<(f32, Vec<f32>)> = None;
    for round in 0..ROUNDS {
        let before = (round > 0).then(|| parts.to_vec());
        set_steps(parts, &powers);
        let changed = change(clip, parts, before.as_deref(), &mut made);
        // Without a change, the errors are those of the round before.
        if changed.contains(&true) {
            measure.errors(&made, searched, (Detail::Guides, &changed), &mut errors);
        }
        let slack = slack(clip, &errors, limit);
        let bits = parts.iter().map(Part::bits).sum();
        if slack.iter().all(|slack| *slack >= 0.0)
            && best.as_ref().is_none_or(|(least, _)| bits < *least)
        {
            best = Some((bits, powers.clone()));
        }
        let share = round as f32 / (ROUNDS - 1) as f32;
        let pace = PACE[0] + (PACE[1] - PACE[0]) * share;
        for (power, slack) in powers.iter_mut().zip(&slack) {
            let pace = if *slack < 0.0 { 1.1 } else { pace };
            *power += (pace * slack).clamp(-MOST, MOST);
        }
    }
    best.map_or(powers, |(_, powers)| powers)
}

/// Rounds the keys in `made` to other steps than `before`. Returns the joints whose keys changed.
fn change(
    clip: &Clip,
    parts: &[Part],
    before: Option<&[Part]>,
    made: &mut Unpacked<'_>,
) -> Vec<bool> {
    let mut changed = vec![before.is_none(); clip.rest.len()];
    for (number, part) in parts.iter().enumerate() {
        if before.is_some_and(|before| before[number].step == part.step) {
            continue;
        }
        changed[part.joint] = true;
        for (row, column) in part.rows().zip(part.columns(clip)) {
            column.fill(made.keys_mut(row, part.joint % WIDTH));
        }
    }
    changed
}

/// At most [`MAX_POSES`] joint poses, evenly selected.
fn evenly(groups: Vec<&TimeGroup>, joints: usize) -> Vec<&TimeGroup> {
    let poses = groups.len() * joints * EIGHT;
    let step = poses.div_ceil(MAX_POSES).max(1);
    groups.into_iter().step_by(step).collect()
}

/// Drops motion that is too small to matter.
fn without_trifles(clip: &Clip, parts: &[Part]) -> Clip {
    folded(clip, parts, |own| {
        let trifle = |part: &Part, off: f32| off <= TRIFLE * part.tolerance;
        let is_still = |part: &Part| part.spans.iter().all(|span| trifle(part, span.length()));
        let rests = |part: &Part| {
            let rest = components(&clip.at_rest(part.joint));
            let mut spans = part.spans.iter().zip(&rest[part.property.range()]);
            spans.all(|(span, rest)| trifle(part, (span.max - rest).max(rest - span.min)))
        };
        if own.iter().all(rests) {
            Fate::Rest
        } else if own.iter().all(is_still) {
            Fate::Constant
        } else {
            Fate::Moves
        }
    })
}

/// Packs the clip. Properties whose keys need no steps become constants, which take less space.
fn finished(clip: &Clip, parts: &[Part]) -> Option<Clip> {
    let clip = folded(clip, parts, |own| {
        match own.iter().any(|part| part.step.is_some()) {
            true => Fate::Moves,
            false => Fate::Constant,
        }
    });
    let left = parts.iter().filter_map(|part| {
        let block = &clip.blocks[part.joint / WIDTH];
        let row = block.rows_of(part.property).start;
        block.moves(part.property).then_some(Part { row, ..*part })
    });
    let left: Vec<Part> = left.collect();
    if left.is_empty() {
        return Some(clip);
    }
    packed(&clip, &left)
}

/// Sets the step of each part, with its joint's correction.
fn set_steps(parts: &mut [Part], powers: &[f32]) {
    for part in &mut *parts {
        part.set_step(powers[part.joint].exp2());
    }
    parts.chunk_by_mut(|a, b| a.row == b.row).for_each(fit);
}

/// Doubles the steps of the widest fields of rows until each row fits into a window. The
/// measurement shows whether they are small enough.
fn fit(parts: &mut [Part]) {
    for component in 0..parts[0].property.len() {
        let width = |part: &Part| {
            // Rounding may add one at both ends.
            let length = f64::from(part.spans[component].length());
            part.step.map_or(0, |step| {
                (length / f64::from(step.value()) + 2.0).log2() as u32 + 1
            })
        };
        loop {
            let widths = parts.iter().map(width);
            let widest = widths.clone().enumerate().max_by_key(|(_, width)| *width);
            let Some((widest, _)) = widest.filter(|_| widths.sum::<u32>() > WINDOW_BITS) else {
                break;
            };
            let step = &mut parts[widest].step;
            *step = step.and_then(Step::doubled);
        }
    }
}

/// The margin of each joint: the power of 2 by which the errors of it and of all its descendants
/// are below the limit, at least.
fn slack(clip: &Clip, errors: &[Most], limit: f32) -> Vec<f32> {
    let own = errors.iter().map(|error| {
        let times = limit / error.error_m.max(f32::MIN_POSITIVE);
        times.log2().clamp(-20.0, 20.0)
    });
    let mut slack: Vec<f32> = own.collect();
    for joint in (0..slack.len()).rev() {
        let own = slack[joint];
        if let Some(parent) = slack.get_mut(usize::from(clip.rest[joint].parent_index())) {
            *parent = parent.min(own);
        }
    }
    slack
}

fn reaches(
    clip: &Clip,
    measure: &Measure<'_>,
    searched: &[&TimeGroup],
    parts: &[Part],
) -> Vec<Reach> {
    let mut reaches = vec![Reach::default(); clip.rest.len()];
    let mut exact = Poses::default();
    let mut far = vec![Octet::default(); reaches.len()];
    for group in searched {
        let models = &group.exact(&measure.file, &mut exact).models;
        for (joint, far) in far.iter_mut().enumerate() {
            *far = Octet::splat(measure.probes.reach_m(joint));
        }
        reach(clip, models, &mut far, &mut reaches);
    }
    chains(clip, parts, &mut reaches);
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

fn chains(clip: &Clip, parts: &[Part], reaches: &mut [Reach]) {
    let parent = |joint: usize| usize::from(clip.rest[joint].parent_index());
    let mut moves = vec![0.0_f32; reaches.len()];
    for part in parts {
        if part.spans.iter().any(|span| span.min < span.max) {
            moves[part.joint] = 1.0;
        }
    }
    let mut above = moves.clone();
    for joint in 0..above.len() {
        above[joint] += above.get(parent(joint)).copied().unwrap_or(0.0);
    }
    let mut below = vec![0.0_f32; reaches.len()];
    for (joint, reach) in reaches.iter_mut().enumerate().rev() {
        reach.chain = (above[joint] + below[joint]).max(1.0);
        let own = below[joint] + moves[joint];
        if let Some(parent) = below.get_mut(parent(joint)) {
            *parent = parent.max(own);
        }
    }
}

/// Sets a first guess of each part's tolerance.
fn set_tolerances(parts: &mut [Part], reaches: &[Reach], limit: f32) {
    for part in parts {
        let reach = &reaches[part.joint];
        // Errors of independent keys add up as their squares, and so do those of three components.
        let share = limit / (3.0 * reach.chain).sqrt();
        part.tolerance = match part.property {
            Property::Rotation => {
                // Errors along the quaternion vanish when it is normalised. Those of a component
                // that follows from the others add to theirs.
                let implied = part
                    .implied
                    .map(|implied| part.spans[implied.component].least());
                share * implied.unwrap_or(1.0) / (2.0 * reach.far)
            }
            Property::Translation => share / reach.parent,
            Property::Scale => share * reach.axes.min_element().max(1e-3) / reach.far,
        };
    }
}
