//! Points and parameters of blend spaces.

use crate::error::{Error, Result};
use crate::order;
use glam::Vec2;

/// Indices sorted by `key`. An error names the first two whose keys are equal.
pub(super) fn sorted_apart<K: PartialOrd + Copy>(
    count: usize,
    key: impl Fn(usize) -> K,
) -> Result<Vec<usize>> {
    let mut order: Vec<usize> = (0..count).collect();
    let compare = |a: &usize, b: &usize| key(*a).partial_cmp(&key(*b));
    // The sort is stable, so the lower of two indices comes first.
    order::sort_indices(&mut order, &|a, b| {
        compare(&a, &b).unwrap_or(core::cmp::Ordering::Equal)
    });
    match order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
        Some(pair) => Err(Error::duplicate("position", pair[0]).at("point", pair[1])),
        None => Ok(order),
    }
}

/// A parameter's coordinate: NaN becomes 0, and infinities become the ends of the range.
pub(super) const fn counted(value: f32) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(-f32::MAX, f32::MAX) as f64
    }
}

pub(super) fn counted2(at: Vec2) -> [f64; 2] {
    [counted(at.x), counted(at.y)]
}
