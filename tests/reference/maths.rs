//! Vectors, quaternions and 4×4 matrices in `f64`, as plain arrays.

pub type V3 = [f64; 3];
/// A quaternion: x, y, z, w.
pub type Q = [f64; 4];
/// A matrix, as rows.
pub type M4 = [[f64; 4]; 4];

pub const IDENTITY: M4 = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 0.0, 1.0],
];

pub const ZERO: M4 = [[0.0; 4]; 4];

pub fn mul(a: &M4, b: &M4) -> M4 {
    let mut out = ZERO;
    for row in 0..4 {
        for column in 0..4 {
            out[row][column] = (0..4).map(|k| a[row][k] * b[k][column]).sum();
        }
    }
    out
}

/// A matrix from 16 numbers, column by column, as in glTF.
pub fn from_columns(list: &[f64]) -> M4 {
    let mut out = ZERO;
    for (at, value) in list.iter().enumerate() {
        out[at % 4][at / 4] = *value;
    }
    out
}

/// Translation × rotation × scale. The quaternion is normalised first.
pub fn trs(t: V3, r: Q, s: V3) -> M4 {
    let [x, y, z, w] = unit4(r);
    let rotation = [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - z * w),
            2.0 * (x * z + y * w),
        ],
        [
            2.0 * (x * y + z * w),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - x * w),
        ],
        [
            2.0 * (x * z - y * w),
            2.0 * (y * z + x * w),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ];
    let mut out = IDENTITY;
    for row in 0..3 {
        for column in 0..3 {
            out[row][column] = rotation[row][column] * s[column];
        }
        out[row][3] = t[row];
    }
    out
}

pub fn point(m: &M4, p: V3) -> V3 {
    [0, 1, 2].map(|row| m[row][0] * p[0] + m[row][1] * p[1] + m[row][2] * p[2] + m[row][3])
}

pub fn sub(a: V3, b: V3) -> V3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: V3, b: V3) -> V3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub fn length(a: V3) -> f64 {
    dot(a, a).sqrt()
}

pub fn distance(a: V3, b: V3) -> f64 {
    length(sub(a, b))
}

/// The angle between two directions, in radians.
pub fn angle(a: V3, b: V3) -> f64 {
    length(cross(a, b)).atan2(dot(a, b))
}

pub fn unit4(q: Q) -> Q {
    let length = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    q.map(|v| v / length)
}

/// Transforms a normal by the inverse transpose of the upper 3×3, computed with Cramer's rule.
///
/// It is `None` if the matrix is nearly flat, because the direction of a normal is then
/// meaningless.
pub fn normal(m: &M4, n: V3) -> Option<V3> {
    let column = |c: usize| [m[0][c], m[1][c], m[2][c]];
    let (x, y, z) = (column(0), column(1), column(2));
    let determinant = dot(x, cross(y, z));
    let largest = length(x).max(length(y)).max(length(z));
    let flat = determinant.abs() <= 0.05 * largest.powi(3);
    if flat || determinant.is_nan() || length(n) < 0.5 {
        return None;
    }
    let rows = [cross(y, z), cross(z, x), cross(x, y)];
    let image = [0, 1, 2].map(|i| (0..3).map(|k| rows[k][i] * n[k]).sum::<f64>() / determinant);
    Some(image.map(|v| v / length(image)))
}

/// Spherical linear interpolation as in glTF 2.0, appendix C.4.
pub fn slerp(a: Q, b: Q, u: f64) -> Q {
    let cosine: f64 = (0..4).map(|k| a[k] * b[k]).sum();
    let sign = if cosine < 0.0 { -1.0 } else { 1.0 };
    let angle = cosine.abs().min(1.0).acos();
    let (from, to) = if angle < 1e-7 {
        (1.0 - u, u)
    } else {
        (
            ((1.0 - u) * angle).sin() / angle.sin(),
            (u * angle).sin() / angle.sin(),
        )
    };
    [0, 1, 2, 3].map(|k| from * a[k] + sign * to * b[k])
}
