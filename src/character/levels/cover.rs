//! The area that levels of detail cover in pictures, relative to the full level.

use super::poses::{Poses, Shot};
use super::whole::Whole;
use crate::error::Result;
use glam::{Mat3A, Vec2, Vec3A, Vec3Swizzles as _};
use rayon::prelude::*;
use std::ops::Range;

/// The most poses that are seen.
const POSES: usize = 16;
/// The longest edge of the bounds at rest, in pixels.
const PIXELS: f32 = 160.0;
/// The directions from which a pose is seen: turns about the vertical axis and tilts, in degrees.
/// The opposite directions show the same area.
const DIRECTIONS: [[f32; 2]; 4] = [[0.0, 0.0], [45.0, 25.0], [90.0, 0.0], [135.0, 25.0]];

/// The shots that are seen, evenly distributed.
pub(super) fn seen(poses: &Poses<'_>) -> Vec<Shot> {
    let step = poses.shots.len().div_ceil(POSES).max(1);
    poses.shots.iter().step_by(step).copied().collect()
}

/// One level of a character: its triangles, and the primitives that are rigid.
pub(super) struct Covering {
    /// With the numbers of the [`Whole`].
    pub(super) indices: Vec<u32>,
    pub(super) rigid: Vec<usize>,
}

/// For each coarser level, its mean area over that of the full level.
pub(super) fn covers(poses: &Poses<'_>, whole: &Whole<'_>) -> Result<Vec<f32>> {
    let primitives = whole.primitives();
    let levels = primitives.first().map_or(0, |of| of.levels.len());
    let level = |at: usize| {
        let is_rigid = |number: &usize| primitives[*number].levels[at].rigid;
        Covering {
            indices: whole.triangles(at + 1),
            rigid: (0..primitives.len()).filter(is_rigid).collect(),
        }
    };
    let levels: Vec<Covering> = (0..levels).map(level).collect();
    covers_of(poses, whole, &levels)
}

/// For each level, its mean area over that of the full level. 1 for a character that covers
/// nothing.
pub(super) fn covers_of(
    poses: &Poses<'_>,
    whole: &Whole<'_>,
    levels: &[Covering],
) -> Result<Vec<f32>> {
    let full = whole.triangles(0);
    let of_shot = |shot: &Shot| {
        let palette = poses.palette(*shot)?;
        let blended = whole.posed(&palette, false).positions;
        let rigid = whole.posed(&palette, true).positions;
        let coarser = levels.iter().map(|level| {
            let mut positions = blended.clone();
            for number in &level.rigid {
                let own = whole.vertices(*number);
                let own = own.start as usize..own.end as usize;
                positions[own.clone()].copy_from_slice(&rigid[own]);
            }
            area(&positions, &level.indices, whole.size())
        });
        let full = area(&blended, &full, whole.size());
        Ok(coarser.chain([full]).collect())
    };
    let none = || vec![0; levels.len() + 1];
    let sum = |a: Vec<u64>, b: Vec<u64>| Ok(a.into_iter().zip(b).map(|(a, b)| a + b).collect());
    let areas = seen(poses).par_iter().map(of_shot).try_reduce(none, sum)?;
    let (full, coarser) = areas.split_last().unwrap_or((&0, &[]));
    let cover = |area: &u64| match full {
        0 => 1.0,
        full => (*area as f64 / *full as f64) as f32,
    };
    Ok(coarser.iter().map(cover).collect())
}

/// The number of pixels that triangles cover, from all directions.
pub(super) fn area(positions: &[Vec3A], indices: &[u32], size: f32) -> u64 {
    let scale = PIXELS / size.max(f32::MIN_POSITIVE);
    let seen = DIRECTIONS.iter().map(|[turn, tilt]| {
        let turn = Mat3A::from_rotation_y(turn.to_radians());
        let view = Mat3A::from_rotation_x(tilt.to_radians()) * turn;
        let flat = positions.iter().map(|at| (view * *at).xy() * scale);
        covered(&flat.collect::<Vec<Vec2>>(), indices)
    });
    seen.sum()
}

/// The number of pixels whose centres are inside of any triangle.
fn covered(flat: &[Vec2], indices: &[u32]) -> u64 {
    let corners = || indices.iter().map(|index| flat[*index as usize]);
    let least = corners().fold(Vec2::INFINITY, Vec2::min).floor();
    let most = corners().fold(Vec2::NEG_INFINITY, Vec2::max).ceil();
    // A pose may reach far beyond the bounds at rest.
    let extent = (most - least).min(Vec2::splat(16.0 * PIXELS));
    if !extent.cmpge(Vec2::ZERO).all() {
        return 0;
    }
    let (width, height) = (extent.x as usize + 1, extent.y as usize + 1);
    let words = width.div_ceil(64);
    let mut pixels = vec![0_u64; words * height];
    for triangle in indices.as_chunks::<3>().0 {
        let corners = triangle.map(|index| flat[index as usize] - least);
        for (y, span) in spans(corners, [width, height]) {
            fill(
                &mut pixels[y * words..(y + 1) * words],
                span.start,
                span.end,
            );
        }
    }
    let ones = pixels.iter().map(|word| u64::from(word.count_ones()));
    ones.sum()
}

/// For each row of pixels, those whose centres are inside of a triangle.
pub(super) fn spans(
    [a, b, c]: [Vec2; 3],
    [width, height]: [usize; 2],
) -> impl Iterator<Item = (usize, Range<usize>)> {
    let low = a.y.min(b.y).min(c.y) - 0.5;
    let high = (a.y.max(b.y).max(c.y) - 0.5).min(height as f32 - 1.0);
    let rows = low.ceil().max(0.0) as usize..(high.floor() + 1.0).max(0.0) as usize;
    rows.map(move |y| {
        let middle = y as f32 + 0.5;
        let (mut first, mut last) = (f32::INFINITY, f32::NEG_INFINITY);
        for (from, to) in [(a, b), (b, c), (c, a)] {
            if (from.y <= middle) != (to.y <= middle) {
                let part = (middle - from.y) / (to.y - from.y);
                let x = from.x + (to.x - from.x) * part;
                (first, last) = (first.min(x), last.max(x));
            }
        }
        let start = (first - 0.5).ceil().max(0.0) as usize;
        let end = ((last - 0.5).floor() + 1.0).clamp(0.0, width as f32) as usize;
        (y, start..end)
    })
}

/// Sets the bits from `start` to `end`.
fn fill(row: &mut [u64], start: usize, end: usize) {
    if start >= end {
        return;
    }
    let (first, last) = (start / 64, (end - 1) / 64);
    for (at, word) in row.iter_mut().enumerate().take(last + 1).skip(first) {
        let mut bits = u64::MAX;
        if at == first {
            bits &= u64::MAX << (start % 64);
        }
        if at == last {
            bits &= u64::MAX >> (63 - (end - 1) % 64);
        }
        *word |= bits;
    }
}
