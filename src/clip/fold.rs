//! Removes motion that is too small to matter from a clip.

use super::packed::{Block, BlockKeys, Clip, Property, components};
use super::quantise::Lane;
use crate::simd::{Row, WIDTH};

/// Decision about a moving property of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Moves,
    /// Becomes constant, at the middle of its range.
    Constant,
    Rest,
}

/// Returns `clip` with fewer moving properties. `fate` decides for the lanes of each property.
///
/// The keys of `clip` are not packed, and `lanes` are its lanes.
pub(super) fn folded(clip: &Clip, lanes: &[Lane], fate: impl Fn(&[Lane], usize) -> Fate) -> Clip {
    let BlockKeys::Plain(keys, stride) = &clip.keys else {
        return clip.clone();
    };
    let mut stay = Vec::new();
    let (mut blocks, mut constants) = (Vec::new(), Vec::new());
    for old in &clip.blocks {
        let mut block = Block {
            rows: [0; 3],
            flags: old.flags,
        };
        for property in Property::ALL {
            let first = old.rows[property as usize] as usize;
            let row = &mut block.rows[property as usize];
            if old.rests(property) {
                continue;
            }
            if !old.moves(property) {
                *row = constants.len() as u32;
                constants.extend(&clip.constants[first..first + property.len()]);
                continue;
            }
            let own = &lanes[first..first + property.len()];
            let mut fate = fate(own, first);
            if fate == Fate::Rest && old.flags & Block::KEPT != 0 {
                fate = Fate::Constant;
            }
            if fate == Fate::Moves {
                *row = stay.len() as u32;
                stay.extend(first..first + property.len());
                continue;
            }
            block.flags &= !(Block::MOVES << property as u8);
            if fate == Fate::Rest {
                block.flags |= Block::REST << property as u8;
            } else {
                *row = constants.len() as u32;
                let middle = |lane: &Lane| Row(lane.spans.map(|span| span.middle()));
                constants.extend(own.iter().map(middle));
            }
        }
        blocks.push(block);
    }
    let frames = keys.chunks_exact((*stride).max(1));
    let kept: Vec<Row> = frames
        .flat_map(|frame| stay.iter().map(|row| frame[*row]))
        .collect();
    let mut folded = Clip {
        name: clip.name.clone(),
        blocks,
        constants,
        keys: BlockKeys::Plain(kept, stay.len()),
        timing: clip.timing.clone(),
        rest: clip.rest.clone(),
        kept: clip.kept.clone(),
        weights: clip.weights.clone(),
        ..*clip
    };
    if stay.is_empty() {
        folded.timing.single_frame();
    }
    folded
}

/// Returns true if `negligible` accepts every lane's distance from the rest pose.
pub(super) fn at_rest(
    clip: &Clip,
    lanes: &[Lane],
    negligible: impl Fn(usize, usize, f32) -> bool,
) -> bool {
    lanes.iter().enumerate().all(|(row, lane)| {
        let component = lane.property.first() + lane.component;
        (0..WIDTH).all(|number| {
            let joint = lane.block * WIDTH + number;
            if joint >= clip.rest.len() {
                return true;
            }
            let rest = components(&clip.at_rest(joint))[component];
            let span = &lane.spans[number];
            negligible(row, number, (span.max - rest).max(rest - span.min))
        })
    })
}
