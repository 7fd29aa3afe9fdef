//! Palettes and streams in the form that the kernels need, built for one call.

use super::kernel::Entries;
use super::pack::{Packed, Streams};
use crate::palette::{Mat3x4, PaletteRef};
use crate::simd::{Row as Block, WIDTH};
use crate::skin::morph::direction;
use glam::Vec3;

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
        add(
            &target.vertices,
            &target.positions,
            weight,
            &mut room.positions,
        );
    }
    if !directions {
        return room;
    }
    room.normals.clone_from(&packed.rest.normals);
    room.tangents.clone_from(&packed.rest.tangents);
    for (target, weight) in active() {
        add(&target.vertices, &target.normals, weight, &mut room.normals);
        add(
            &target.vertices,
            &target.tangents,
            weight,
            &mut room.tangents,
        );
    }
    normalize(&mut room.normals, &packed.rest.normals);
    normalize(&mut room.tangents, &packed.rest.tangents);
    room
}

fn add<const N: usize>(vertices: &[u32], deltas: &[Vec3], weight: f32, stream: &mut [[Block; N]]) {
    for (vertex, delta) in vertices.iter().zip(deltas) {
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
