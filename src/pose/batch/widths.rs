//! How many bits each component of each joint needs.
//!
//! What a key may be off by, its tolerance, is guessed from how far the joint's descendants reach, and from how many joints of
//! a chain add up their errors. Then it is measured: tolerances of joints whose descendants all lie within the bound
//! grow, those of others shrink, a few times over; and the least that lay within the bound is kept.

use super::clip::{Clip, Property};
use super::fold::{Fate, at_rest, folded};
use super::lanes::WIDTH;
use super::measure::{Exact, Measure, Worst};
use super::pack::WINDOW_BITS;
use super::quantise::{Lane, lanes, packed};
use crate::character::NO_PARENT;
use glam::Vec3;

/// How often tolerances are changed and measured.
const ROUNDS: usize = 16;
/// At most so many poses of joints are looked at in each.
const MAX_POSES: usize = 1 << 17;
/// Of what may be used, what the search uses, so that times that it did not look at are within, too.
const SEARCHED: f32 = 0.98;
/// How far tolerances move towards what the errors say, at first and at last, as a power of it; and at most, as a factor of 2 to
/// that.
const PACE: [f32; 2] = [0.9, 0.1];
const MOST: f32 = 1.0;
/// What moves by less than this part of its tolerance is left out.
const TRIFLE: f32 = 0.1;

/// What is known of a joint.
#[derive(Debug, Clone, Copy, Default)]
struct Reach {
    /// How far the points of the joint and its descendants lie from it, at most, in model space.
    far: f32,
    /// How long a unit of its parent's space is in model space, at most.
    parent: f32,
    /// How long each of its axes is in its parent's space, at most.
    axes: Vec3,
    /// How many joints that move are on the longest chain through it.
    chain: f32,
}

/// The packed clip of the fewest bits that was found, and its worst error.
pub(super) fn search(clip: &Clip, measure: &Measure<'_>) -> Option<(Clip, Worst)> {
    let exact = measure.exact(clip, MAX_POSES / clip.rest.len().max(1));
    let lanes = lanes(clip);
    let reaches = reaches(clip, measure, &exact, &lanes);
    let base = tolerances(&lanes, &reaches, measure.limit_m());
    let clip = &without_trifles(clip, &lanes, &base);
    let lanes = &super::quantise::lanes(clip);
    let base = tolerances(lanes, &reaches, measure.limit_m());
    let limit = measure.limit_m() * SEARCHED;
    let mut powers = vec![0.0_f32; clip.rest.len()];
    let mut best: Option<(usize, Vec<f32>)> = None;
    for round in 0..ROUNDS {
        let widths = widths(lanes, &base, &powers);
        let Some(tried) = packed(clip, lanes, &widths) else {
            // Too many bits in a row.
            break;
        };
        let errors = measure.errors(&tried, &exact);
        let slack = slack(clip, &errors, limit);
        let bits: u32 = widths.as_flattened().iter().sum();
        if slack.iter().all(|slack| *slack >= 0.0)
            && best
                .as_ref()
                .is_none_or(|(least, _)| (bits as usize) < *least)
        {
            best = Some((bits as usize, powers.clone()));
        }
        let part = round as f32 / (ROUNDS - 1) as f32;
        let pace = PACE[0] + (PACE[1] - PACE[0]) * part;
        for (power, slack) in powers.iter_mut().zip(&slack) {
            let pace = if *slack < 0.0 { 1.1 } else { pace };
            *power += (pace * slack).clamp(-MOST, MOST);
        }
    }
    let mut powers = best.map_or(powers, |(_, powers)| powers);
    // What the search did not look at may be a little worse.
    for _ in 0..ROUNDS {
        let tried = finished(clip, lanes, &widths(lanes, &base, &powers))?;
        if let Some(worst) = measure.within(&tried) {
            return Some((tried, worst));
        }
        for power in &mut powers {
            *power -= 0.15;
        }
    }
    None
}

/// The clip without what moves so little that it does not matter.
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

/// The packed clip, without the properties whose fields have no bits: they become constants, which take less.
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

/// Takes bits from the widest fields of a row until it has no more than it may; whether that is enough is measured.
fn fit(row: &mut [u32; WIDTH]) {
    while row.iter().sum::<u32>() > WINDOW_BITS {
        if let Some(widest) = row.iter_mut().max() {
            *widest -= 1;
        }
    }
}

/// For each joint, the power of 2 by which the error of it and of all its descendants is below the limit, at least.
fn slack(clip: &Clip, errors: &[f32], limit: f32) -> Vec<f32> {
    let mut slack: Vec<f32> = errors
        .iter()
        .map(|error| {
            (limit / error.max(f32::MIN_POSITIVE))
                .log2()
                .clamp(-20.0, 20.0)
        })
        .collect();
    for joint in (0..slack.len()).rev() {
        let parent = clip.rest[joint].parent;
        if parent != NO_PARENT {
            let own = slack[joint];
            let parent = &mut slack[usize::from(parent)];
            *parent = parent.min(own);
        }
    }
    slack
}

fn reaches(clip: &Clip, measure: &Measure<'_>, exact: &Exact, lanes: &[Lane]) -> Vec<Reach> {
    let joints = clip.rest.len();
    let mut reaches = vec![Reach::default(); joints];
    let mut far = Vec::new();
    for model in &exact.models {
        far.clear();
        far.resize(joints, measure.point_m());
        for joint in (0..joints).rev() {
            let reach = &mut reaches[joint];
            reach.far = reach.far.max(far[joint]);
            let length = |joint: usize| {
                let m = &model[joint].matrix3;
                Vec3::new(m.x_axis.length(), m.y_axis.length(), m.z_axis.length())
            };
            let parent = clip.rest[joint].parent;
            if parent == NO_PARENT {
                reach.parent = 1.0;
                reach.axes = reach.axes.max(length(joint));
                continue;
            }
            let parent = usize::from(parent);
            let scale = length(parent).max_element();
            reach.parent = reach.parent.max(scale);
            reach.axes = reach.axes.max(length(joint) / scale.max(f32::MIN_POSITIVE));
            let apart = model[joint].translation - model[parent].translation;
            far[parent] = far[parent].max(apart.length() + far[joint]);
        }
    }
    chains(clip, lanes, &mut reaches);
    reaches
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
        if let Some(parent) = above.get(usize::from(clip.rest[joint].parent)).copied() {
            above[joint] += parent;
        }
    }
    let mut below = vec![0.0_f32; joints];
    for joint in (0..joints).rev() {
        reaches[joint].chain = (above[joint] + below[joint]).max(1.0);
        let own = below[joint] + moves[joint];
        if let Some(parent) = below.get_mut(usize::from(clip.rest[joint].parent)) {
            *parent = parent.max(own);
        }
    }
}

/// What each lane's key may be off by, at a guess.
fn tolerances(lanes: &[Lane], reaches: &[Reach], limit: f32) -> Vec<[f32; WIDTH]> {
    let of = |lane: &Lane, number: usize| {
        let Some(reach) = reaches.get(lane.block * WIDTH + number) else {
            return f32::INFINITY;
        };
        // Errors of independent keys add up as their squares; those of three components, too.
        let share = limit / (3.0 * reach.chain).sqrt();
        let span = &lane.spans[number];
        match lane.property {
            Property::Rotation => {
                // What lies along the quaternion is lost when it is normalised.
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
