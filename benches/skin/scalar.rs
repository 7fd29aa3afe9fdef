//! A hand-optimised scalar loop: blended matrices over flat lists, without vector instructions.

use throng::mesh::{JointIndices, Primitive};
use throng::palette::Mat3x4;

/// Writes positions, then normals, three numbers each, to `out`.
pub(crate) fn skin(primitive: &Primitive, palette: &[Mat3x4], out: &mut [f32]) {
    match &primitive.joints {
        JointIndices::U8(joints) => each(primitive, palette, joints, out),
        JointIndices::U16(joints) => each(primitive, palette, joints, out),
    }
}

fn each<J: Copy + Into<usize>>(
    primitive: &Primitive,
    palette: &[Mat3x4],
    joints: &[J],
    out: &mut [f32],
) {
    let palette = &palette[primitive.palette.start as usize..];
    let k = primitive.influences_per_vertex as usize;
    let (positions, normals) = out.split_at_mut(primitive.positions.len() * 3);
    for vertex in 0..primitive.positions.len() {
        let own = vertex * k..(vertex + 1) * k;
        let m = if k == 1 {
            palette[joints[vertex].into()].rows
        } else {
            blend(palette, &joints[own.clone()], &primitive.weights[own])
        };
        let at = vertex * 3..vertex * 3 + 3;
        let p = primitive.positions[vertex];
        for (to, row) in positions[at.clone()].iter_mut().zip(m) {
            *to = row[0] * p.x + row[1] * p.y + row[2] * p.z + row[3];
        }
        normals[at].copy_from_slice(&normal(m, primitive.normals[vertex].to_array()));
    }
}

fn blend<J: Copy + Into<usize>>(
    palette: &[Mat3x4],
    joints: &[J],
    weights: &[u16],
) -> [[f32; 4]; 3] {
    let mut sum = [[0.0; 4]; 3];
    for (joint, weight) in joints.iter().zip(weights) {
        let (entry, weight) = (&palette[(*joint).into()], f32::from(*weight) / 65_535.0);
        for (sum, row) in sum.iter_mut().zip(&entry.rows) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += weight * value;
            }
        }
    }
    sum
}

/// Transforms a normal with the cofactors and the sign of the determinant.
fn normal([x, y, z]: [[f32; 4]; 3], n: [f32; 3]) -> [f32; 3] {
    let cross = |a: [f32; 4], b: [f32; 4]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let dot = |a: [f32; 3], b: [f32; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let cofactors = [cross(y, z), cross(z, x), cross(x, y)];
    let image = cofactors.map(|row| dot(row, n));
    let length = dot(image, image).sqrt();
    let determinant = dot([x[0], x[1], x[2]], cofactors[0]);
    let factor = if determinant < 0.0 { -1.0 } else { 1.0 } / length;
    image.map(|value| value * factor)
}
