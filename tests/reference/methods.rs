//! The skinning methods in `f64`, as their papers and the crate's documents define them.
//!
//! Each combines a vertex's skinning matrices and weights into one matrix. That matrix transforms
//! points by [`point`](super::maths::point), normals by [`normal`](super::maths::normal) and
//! directions by [`direction`].

use super::maths::{IDENTITY, M4, Q, V3, ZERO, cross, dot, length, sub, trs, unit4};

/// The parts of a matrix that a palette format stores.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    pub translation: V3,
    pub rotation: Q,
    pub stretch: V3,
}

/// Splits a matrix into the lengths of its columns and a rotation.
///
/// The first column of the rotation has the direction of the matrix's first column. Its second lies
/// in the plane of the matrix's first two.
pub fn parts(m: &M4) -> Parts {
    let column = |c: usize| [m[0][c], m[1][c], m[2][c]];
    let unit = |v: V3| v.map(|x| x / length(v));
    let (a, b, c) = (column(0), column(1), column(2));
    let x = unit(a);
    let y = unit(sub(b, x.map(|v| v * dot(x, b))));
    let z = cross(x, y);
    Parts {
        translation: column(3),
        rotation: quaternion(x, y, z),
        stretch: [length(a), length(b), length(c)],
    }
}

/// The quaternion of a rotation with these columns.
///
/// After S. W. Shepperd, Quaternion from rotation matrix (1978): of the four ways to write it, the
/// one with the largest divisor.
fn quaternion(x: V3, y: V3, z: V3) -> Q {
    let squares = [
        1.0 + x[0] - y[1] - z[2],
        1.0 - x[0] + y[1] - z[2],
        1.0 - x[0] - y[1] + z[2],
        1.0 + x[0] + y[1] + z[2],
    ];
    let (yz, zx, xy) = (y[2] - z[1], z[0] - x[2], x[1] - y[0]);
    let (sum_xy, sum_xz, sum_yz) = (x[1] + y[0], x[2] + z[0], y[2] + z[1]);
    let rows = [
        [squares[0], sum_xy, sum_xz, yz],
        [sum_xy, squares[1], sum_yz, zx],
        [sum_xz, sum_yz, squares[2], xy],
        [yz, zx, xy, squares[3]],
    ];
    let best = (0..4)
        .max_by(|a, b| squares[*a].total_cmp(&squares[*b]))
        .unwrap();
    unit4(rows[best])
}

/// A skinning matrix, and the parts of it that the formats store.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub matrix: M4,
    pub parts: Parts,
    /// The matrix that rotation, offset and one scale can represent.
    pub offset: M4,
}

impl Entry {
    pub fn new(matrix: M4) -> Self {
        let parts = parts(&matrix);
        let scale = parts.stretch.iter().sum::<f64>() / 3.0;
        Self {
            matrix,
            parts,
            offset: trs(parts.translation, parts.rotation, [scale; 3]),
        }
    }
}

/// The Hamilton product.
fn product(a: Q, b: Q) -> Q {
    let ([x, y, z, w], [i, j, k, r]) = (a, b);
    [
        w * i + x * r + y * k - z * j,
        w * j - x * k + y * r + z * i,
        w * k + x * j - y * i + z * r,
        w * r - x * i - y * j - z * k,
    ]
}

/// Linear blending: `Σ wᵢ Mᵢ`.
pub fn linear(influences: &[(Entry, f64)]) -> M4 {
    sum(influences
        .iter()
        .map(|(entry, weight)| (&entry.matrix, *weight)))
}

fn sum<'a>(weighted: impl Iterator<Item = (&'a M4, f64)>) -> M4 {
    let mut sum = ZERO;
    for (matrix, weight) in weighted {
        for row in 0..4 {
            for column in 0..4 {
                sum[row][column] += weight * matrix[row][column];
            }
        }
    }
    sum
}

/// Linear blending of the matrices that rotation, offset and one scale can represent.
pub fn quat_offset(influences: &[(Entry, f64)]) -> M4 {
    sum(influences
        .iter()
        .map(|(entry, weight)| (&entry.offset, *weight)))
}

/// Dual quaternion linear blending: `Σ wᵢ ±q̂ᵢ / |Σ wᵢ ±qᵢ|`, with signs by the first influence.
///
/// It is applied after the stretch `Σ wᵢ sᵢ`, or alone if `stretches` is false.
pub fn dual_quat(influences: &[(Entry, f64)], stretches: bool) -> M4 {
    let (mut real, mut dual, mut stretch) = ([0.0; 4], [0.0; 4], [0.0; 3]);
    let first = influences[0].0.parts.rotation;
    for (entry, weight) in influences {
        let parts = entry.parts;
        let q = parts.rotation;
        let [x, y, z] = parts.translation;
        let half = product([x / 2.0, y / 2.0, z / 2.0, 0.0], q);
        let cosine: f64 = (0..4).map(|k| q[k] * first[k]).sum();
        let sign = if cosine < 0.0 { -weight } else { *weight };
        for k in 0..4 {
            real[k] += sign * q[k];
            dual[k] += sign * half[k];
        }
        for (sum, factor) in stretch.iter_mut().zip(parts.stretch) {
            *sum += weight * factor;
        }
    }
    let length = real.iter().map(|v| v * v).sum::<f64>().sqrt();
    let conjugate = [-real[0], -real[1], -real[2], real[3]];
    let [x, y, z, _] = product(dual, conjugate).map(|v| 2.0 * v / (length * length));
    let stretch = if stretches { stretch } else { [1.0; 3] };
    trs([x, y, z], real, stretch)
}

/// The image of a direction in the surface, at length 1, or `None` if it is nearly flat.
pub fn direction(m: &M4, d: V3) -> Option<V3> {
    let linear = [m[0], m[1], m[2]].map(|row| row[0] * d[0] + row[1] * d[1] + row[2] * d[2]);
    let largest = [0, 1, 2].map(|c| length([m[0][c], m[1][c], m[2][c]]));
    let largest = largest.into_iter().fold(0.0, f64::max);
    let got = length(linear);
    (got > 0.05 * largest).then(|| linear.map(|v| v / got))
}

pub fn determinant(m: &M4) -> f64 {
    let column = |c: usize| [m[0][c], m[1][c], m[2][c]];
    dot(column(0), cross(column(1), column(2)))
}

/// The largest distance between the images of a box corner under `a` and under `b`.
pub fn displacement(a: &M4, b: &M4, min: V3, max: V3) -> f64 {
    let corner = |bits: usize| [0, 1, 2].map(|k| if bits >> k & 1 == 1 { max[k] } else { min[k] });
    let apart = |p: V3| length(sub(super::maths::point(a, p), super::maths::point(b, p)));
    (0..8).map(|bits| apart(corner(bits))).fold(0.0, f64::max)
}

/// A matrix from rows of `f32`.
pub fn wide(rows: &[[f32; 4]; 3]) -> M4 {
    let mut out = IDENTITY;
    for (wide, row) in out.iter_mut().zip(rows) {
        *wide = row.map(f64::from);
    }
    out
}
