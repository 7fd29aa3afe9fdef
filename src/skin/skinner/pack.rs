//! A primitive's streams in the form that the kernels need: eight vertices side by side.

use super::lanes::Influence;
use crate::character::Character;
use crate::error::{Error, Result};
use crate::mesh::{MorphTarget, Primitive};
use crate::palette::{Mat3x4, PaletteRef};
use crate::simd::{Row as Block, WIDTH};
use crate::skin::vertices::direction;
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

/// The contents of an entry of 48 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// A matrix.
    Matrix,
    /// A dual quaternion in rows 0 and 1.
    Dual,
    /// A dual quaternion in rows 0 and 1, and a stretch in row 2.
    DualStretch,
}

/// Memory that is kept between calls.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) palette: Vec<Mat3x4>,
    pub(super) morphed: Streams,
    /// Positions, three numbers per vertex.
    pub(super) positions: Vec<f32>,
}

/// The palette in entries of 48 bytes: unchanged, or converted into `room`.
///
/// Entries with an offset are expanded to matrices here, once per entry and not once per vertex.
pub(super) fn entries<'a>(
    palette: PaletteRef<'a>,
    room: &'a mut Vec<Mat3x4>,
) -> (Entries, &'a [Mat3x4]) {
    room.clear();
    match palette {
        PaletteRef::Mat3x4(list) => (Entries::Matrix, list),
        PaletteRef::DualQuatStretch(list) => (Entries::DualStretch, bytemuck::cast_slice(list)),
        PaletteRef::DualQuat(list) => {
            room.extend(list.iter().map(|entry| Mat3x4 {
                rows: [entry.real, entry.dual, [0.0; 4]],
            }));
            (Entries::Dual, room)
        }
        PaletteRef::QuatOffset(list) => {
            room.extend(list.iter().map(|entry| entry.expand()));
            (Entries::Matrix, room)
        }
    }
}

/// The primitive's streams after its active morph targets.
///
/// A target is active if its weight is not 0. If none is active, the rest streams are returned.
/// Otherwise the result is built in `room`, by the same steps as [`morph`](crate::skin::morph()).
/// Normals and tangents are only morphed if `directions` is true. `weights` has a weight for each
/// target.
pub(super) fn morphed<'a>(
    packed: &'a Packed,
    weights: &[f32],
    directions: bool,
    room: &'a mut Streams,
) -> &'a Streams {
    let own = weights.iter().skip(packed.first_weight).copied();
    let active = || {
        packed
            .targets
            .iter()
            .zip(own.clone())
            .filter(|(_, weight)| *weight != 0.0)
    };
    if active().next().is_none() {
        return &packed.rest;
    }
    room.positions.clone_from(&packed.rest.positions);
    for (target, weight) in active() {
        add(target, &target.positions, weight, &mut room.positions);
    }
    if !directions {
        return room;
    }
    room.normals.clone_from(&packed.rest.normals);
    room.tangents.clone_from(&packed.rest.tangents);
    for (target, weight) in active() {
        add(target, &target.normals, weight, &mut room.normals);
        add(target, &target.tangents, weight, &mut room.tangents);
    }
    normalize(&mut room.normals, &packed.rest.normals);
    normalize(&mut room.tangents, &packed.rest.tangents);
    room
}

fn add<const N: usize>(
    target: &MorphTarget,
    deltas: &[Vec3],
    weight: f32,
    stream: &mut [[Block; N]],
) {
    for (vertex, delta) in target.vertices.iter().zip(deltas) {
        let (block, lane) = (*vertex as usize / WIDTH, *vertex as usize % WIDTH);
        let Some(block) = stream.get_mut(block) else {
            continue;
        };
        let change = weight * *delta;
        for (axis, change) in block.iter_mut().zip(change.to_array()) {
            axis.0[lane] += change;
        }
    }
}

/// Normalises the vectors that have moved away from `rest`.
fn normalize<const N: usize>(stream: &mut [[Block; N]], rest: &[[Block; N]]) {
    for (block, rest) in stream.iter_mut().zip(rest) {
        if block == rest {
            continue;
        }
        for lane in 0..WIDTH {
            let vector = |of: &[Block; N]| Vec3::new(of[0].0[lane], of[1].0[lane], of[2].0[lane]);
            let (moved, base) = (vector(block), vector(rest));
            if moved != base {
                let unit = direction(moved, base).to_array();
                for (axis, value) in block.iter_mut().zip(unit) {
                    axis.0[lane] = value;
                }
            }
        }
    }
}
