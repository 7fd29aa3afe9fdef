//! Functions that all blend spaces use, for points and weights.

use crate::error::{Error, Result};
use glam::Vec2;

/// The most points that a blend space can have.
pub(crate) const MAX_BLEND_POINTS: usize = 256;

pub(crate) fn check_count(count: usize) -> Result<()> {
    if count == 0 {
        return Err(Error::length("points of a blend space", 0, 1));
    }
    if count > MAX_BLEND_POINTS {
        return Err(Error::Capacity {
            what: "points of a blend space",
            asked: count as u64,
            cap: MAX_BLEND_POINTS as u64,
        });
    }
    Ok(())
}

pub(crate) fn check_finite(index: usize, value: f32) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(Error::not_finite("position", value).at("point", index))
}

/// Indices sorted by `key`. An error names the first two whose keys are equal.
pub(crate) fn sorted_apart<K: PartialOrd + Copy>(
    count: usize,
    key: impl Fn(usize) -> K,
) -> Result<Vec<usize>> {
    let mut order: Vec<usize> = (0..count).collect();
    let compare = |a: &usize, b: &usize| key(*a).partial_cmp(&key(*b));
    // The sort is stable, so the lower of two indices comes first.
    order.sort_by(|a, b| compare(a, b).unwrap_or(core::cmp::Ordering::Equal));
    match order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
        Some(pair) => Err(Error::duplicate("position", pair[0]).at("point", pair[1])),
        None => Ok(order),
    }
}

/// Cleans a parameter's coordinate.
///
/// NaN becomes 0, and infinities become the ends of the range.
pub(crate) const fn counted(value: f32) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(-f32::MAX, f32::MAX) as f64
    }
}

pub(crate) fn counted2(at: Vec2) -> [f64; 2] {
    [counted(at.x), counted(at.y)]
}

/// Writes the weights of a few points, and 0 for all others.
pub(crate) fn spread<const N: usize>(
    count: usize,
    few: [(usize, f32); N],
    out: &mut [f32],
) -> Result<()> {
    crate::error::expect_len("weights", out.len(), count)?;
    out.fill(0.0);
    for (index, weight) in few {
        if let Some(out) = out.get_mut(index) {
            *out += weight;
        }
    }
    Ok(())
}
