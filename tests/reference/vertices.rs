//! All vertices of a character in two poses, in `f64`.

use crate::maths::{M4, mul};
use throng::character::Character;

/// The distance of a vertex between two poses, with the indices of its primitive and in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Farthest {
    pub off_m: f64,
    pub primitive: usize,
    pub vertex: usize,
}

/// The vertex of full detail that is farthest apart in two model poses. Morph weights are at rest.
pub fn farthest(character: &Character, a: &[M4], b: &[M4]) -> Farthest {
    let mut worst = Farthest::default();
    let parts = character.primitives().iter().enumerate();
    for (primitive, part) in parts.filter(|(_, part)| !part.indices.is_empty()) {
        let off = differences(character, primitive, a, b);
        for vertex in 0..part.vertex_count() {
            let off_m = distance(character, (primitive, vertex), &off);
            if off_m > worst.off_m || off_m.is_nan() {
                worst = Farthest {
                    off_m,
                    primitive,
                    vertex,
                };
            }
        }
    }
    worst
}

/// The distance of one vertex between two model poses.
pub fn apart(character: &Character, at: (usize, usize), a: &[M4], b: &[M4]) -> f64 {
    distance(character, at, &differences(character, at.0, a, b))
}

/// The differences of a primitive's skinning matrices.
fn differences(character: &Character, primitive: usize, a: &[M4], b: &[M4]) -> Vec<M4> {
    let range = character.palette_range(&character.primitives()[primitive]);
    let entries = character.palette()[range].iter();
    let off = entries.map(|entry| {
        let joint = usize::from(entry.joint);
        let bind = entry.inverse_bind;
        let columns = [
            bind.matrix3.x_axis,
            bind.matrix3.y_axis,
            bind.matrix3.z_axis,
            bind.translation,
        ];
        let mut inverse = crate::maths::IDENTITY;
        for (column, values) in columns.into_iter().enumerate() {
            for (row, value) in values.to_array().into_iter().enumerate() {
                inverse[row][column] = f64::from(value);
            }
        }
        let mut off = a[joint];
        for (row, of_b) in off.iter_mut().flatten().zip(b[joint].iter().flatten()) {
            *row -= of_b;
        }
        mul(&off, &inverse)
    });
    off.collect()
}

fn distance(character: &Character, (primitive, vertex): (usize, usize), off: &[M4]) -> f64 {
    let part = &character.primitives()[primitive];
    let mut position = part.positions[vertex].to_array().map(f64::from);
    for (target, weight) in part
        .targets
        .iter()
        .zip(&character.morph_weights()[part.first_weight.index()..])
    {
        if let Ok(at) = target.vertices.binary_search(&(vertex as u32)) {
            let delta = target.positions[at].to_array();
            for (to, delta) in position.iter_mut().zip(delta) {
                *to += f64::from(delta) * f64::from(weight.rest);
            }
        }
    }
    let [x, y, z] = position;
    let mut sum = [0.0; 3];
    for (joint, weight) in part.influences(vertex).filter(|(_, weight)| *weight > 0.0) {
        for (row, sum) in sum.iter_mut().enumerate() {
            let m = &off[joint][row];
            *sum += f64::from(weight) * (m[0] * x + m[1] * y + m[2] * z + m[3]);
        }
    }
    sum.iter().map(|v| v * v).sum::<f64>().sqrt()
}
