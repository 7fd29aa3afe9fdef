//! Repacks a primitive's streams for the kernels: eight vertices side by side.

use super::lanes::Influence;
use crate::character::Character;
use crate::error::{Error, Result};
use crate::mesh::{MorphTarget, Primitive};
use crate::palette::Mat3x4;
use crate::simd::{Row as Block, WIDTH};
use glam::{Vec3, Vec4};
use std::ops::Range;

/// The streams to be skinned, in blocks of eight vertices.
///
/// The last block is padded with copies of the last vertex. Streams that the primitive lacks are
/// empty.
#[derive(Debug, Clone, Default)]
pub(super) struct Streams {
    pub(super) positions: Vec<[Block; 3]>,
    pub(super) normals: Vec<[Block; 3]>,
    pub(super) tangents: Vec<[Block; 4]>,
}

/// Consecutive blocks with the same number of influences per vertex.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    pub(super) blocks: Range<usize>,
    /// Index of the first influence of the first block.
    pub(super) first: usize,
    /// Influences per vertex: the most that any vertex of the run uses.
    pub(super) count: usize,
}

/// A repacked primitive.
///
/// Every offset of its influences is that of an entry of the character's palette.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    pub(super) vertices: usize,
    pub(super) rest: Streams,
    /// The influences, block by block. Within a block, the strongest come first.
    pub(super) influences: Vec<Influence>,
    pub(super) runs: Vec<Run>,
    pub(super) targets: Vec<MorphTarget>,
    pub(super) first_weight: usize,
}

impl Packed {
    /// Repacks a primitive.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the primitive addresses entries that the palette lacks. This does not
    /// happen for a character's own primitives, but offsets are not checked again later.
    pub(super) fn new(character: &Character, primitive: &Primitive) -> Result<Self> {
        let vertices = primitive.vertex_count();
        let (influences, runs) = influences(character, primitive)?;
        Ok(Self {
            vertices,
            rest: Streams {
                positions: blocks(&primitive.positions, Vec3::to_array),
                normals: blocks(&primitive.normals, Vec3::to_array),
                tangents: blocks(&primitive.tangents, Vec4::to_array),
            },
            influences,
            runs,
            targets: primitive.targets.clone(),
            first_weight: primitive.first_weight.index(),
        })
    }
}

fn blocks<T: Copy, const N: usize>(list: &[T], numbers: fn(&T) -> [f32; N]) -> Vec<[Block; N]> {
    let block = |vertices: &[T]| {
        let mut block = [Block::default(); N];
        for lane in 0..WIDTH {
            // Chunks are not empty.
            let vertex = &vertices[lane.min(vertices.len() - 1)];
            for (axis, number) in numbers(vertex).into_iter().enumerate() {
                block[axis].0[lane] = number;
            }
        }
        block
    };
    list.chunks(WIDTH).map(block).collect()
}

fn influences(character: &Character, primitive: &Primitive) -> Result<(Vec<Influence>, Vec<Run>)> {
    let vertices = primitive.vertex_count();
    let palette = character.palette().len();
    let (mut all, mut runs): (Vec<Influence>, Vec<Run>) = (Vec::new(), Vec::new());
    for block in 0..vertices.div_ceil(WIDTH) {
        let lanes: [usize; WIDTH] =
            std::array::from_fn(|lane| (block * WIDTH + lane).min(vertices - 1));
        let count = lanes.map(|vertex| used(primitive, vertex));
        let count = count.into_iter().max().unwrap_or(1);
        match runs.last_mut() {
            Some(run) if run.count == count => run.blocks.end += 1,
            _ => runs.push(Run {
                blocks: block..block + 1,
                first: all.len(),
                count,
            }),
        }
        let first = all.len();
        all.resize(first + count, Influence::default());
        for (lane, vertex) in lanes.into_iter().enumerate() {
            let own = primitive.influences(vertex).take(count);
            for (influence, (joint, weight)) in all[first..].iter_mut().zip(own) {
                let entry = u64::from(primitive.palette.start) + joint as u64;
                if entry >= palette as u64 {
                    return Err(Error::not_found("palette entry", entry as usize, palette));
                }
                influence.offsets[lane] = offset(entry)?;
                influence.weights.0[lane] = weight;
            }
        }
    }
    Ok((all, runs))
}

/// The number of influences of a vertex up to the last nonzero weight, at least one.
fn used(primitive: &Primitive, vertex: usize) -> usize {
    let weighted = primitive.influences(vertex).enumerate();
    let last = weighted
        .filter(|(_, (_, weight))| *weight != 0.0)
        .map(|(at, _)| at + 1)
        .last();
    last.unwrap_or(1).max(1)
}

fn offset(entry: u64) -> Result<u32> {
    let bytes = entry.saturating_mul(size_of::<Mat3x4>() as u64);
    u32::try_from(bytes).map_err(|_| Error::Capacity {
        what: "bytes of a palette",
        asked: bytes,
        cap: u32::MAX.into(),
    })
}
