//! Skins that differ by a constant transform of their meshes.
//!
//! An exporter that quantises positions gives each mesh a grid of its own, and puts the grid into
//! the inverse bind matrices. So skins of the same joints have other matrices, equal up to the
//! transform from one grid to the other. Here meshes are moved to the grid of an earlier skin, so
//! that they share palette entries.

use crate::error::{Object, ObjectKind};
use crate::import::repair::{Repair, RepairKind};
use crate::import::{RawCharacter, RawPrimitive, RawSkin};
use glam::{DMat3, DMat4, DVec3, Mat4, Vec3, Vec4};
use std::collections::HashMap;

/// The most that a vertex may move, relative to the largest mesh.
///
/// For a person of 1.8 m, this is 7 micrometres. Exporters round the matrices to `f32`, which is up
/// to a tenth of it.
const BOUND: f64 = 4e-6;

/// The rounding of a similarity's matrix: columns of one length, at right angles.
const SIMILAR: f64 = 1e-5;

/// Moves meshes whose skins equal an earlier one up to a transform, and gives their skins the
/// matrices of that one.
pub(super) fn share(raw: &mut RawCharacter, repairs: &mut Vec<Repair>) {
    let used = RawPrimitive::used_skins(&raw.primitives, raw.skins.len());
    let regular = (0..raw.skins.len()).filter(|index| used[*index]);
    let regular = regular.filter(|index| is_regular(&raw.skins[*index]));
    let regular: Vec<(usize, [DVec3; 8])> = regular
        .map(|index| (index, corners(&raw.primitives, index)))
        .collect();
    if regular.len() < 2 {
        return;
    }
    let sizes = regular.iter().map(|(index, corners)| {
        let matrix = raw.skins[*index].inverse_bind[0].as_dmat4();
        matrix.transform_vector3(corners[7] - corners[0]).length()
    });
    let bound = BOUND * sizes.fold(0.0, f64::max);
    // The skins whose matrices stay.
    let mut kept: Vec<usize> = Vec::new();
    for (index, corners) in regular {
        let found = kept.iter().find_map(|earlier| {
            let moved = moved(&raw.skins[*earlier], &raw.skins[index], &corners, bound)?;
            Some((*earlier, moved))
        });
        let Some((earlier, from_own)) = found else {
            kept.push(index);
            continue;
        };
        if from_own == DMat4::IDENTITY {
            continue;
        }
        rebind(&mut raw.skins, earlier, index, &from_own);
        let own = raw.primitives.iter_mut();
        for primitive in own.filter(|primitive| primitive.skin == Some(index)) {
            transform(primitive, &from_own);
        }
        let at = Object::new(ObjectKind::Skin, index, "inverseBindMatrices");
        Repair::note(repairs, &at, RepairKind::SkinShared, 1);
    }
}

/// Returns true if a skin has a valid matrix for each joint, and each joint once.
fn is_regular(skin: &RawSkin) -> bool {
    let matrices = skin.inverse_bind.get(..skin.joints.len());
    let Some(matrices) = matrices.filter(|matrices| !matrices.is_empty()) else {
        return false;
    };
    let valid = |matrix: &Mat4| matrix.is_finite() && matrix.row(3) == Vec4::W;
    let mut joints = skin.joints.clone();
    joints.sort_unstable();
    let each_once = joints.windows(2).all(|pair| pair[0] != pair[1]);
    each_once && matrices.iter().all(valid)
}

/// The corners of the box around the vertices of a skin, and of their morph targets.
fn corners(primitives: &[RawPrimitive], skin: usize) -> [DVec3; 8] {
    let own = primitives.iter().filter(|it| it.skin == Some(skin));
    let points = own.flat_map(|it| {
        let moved = it.targets.iter().flat_map(|target| {
            let moved = target.vertices.iter().zip(&target.positions);
            moved.filter_map(|(vertex, delta)| Some(*it.positions.get(*vertex as usize)? + *delta))
        });
        it.positions.iter().copied().chain(moved)
    });
    let (mut least, mut greatest) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for point in points {
        (least, greatest) = (least.min(point), greatest.max(point));
    }
    let (least, greatest) = (least.as_dvec3(), greatest.as_dvec3());
    [0, 1, 2, 3, 4, 5, 6, 7].map(|corner: u8| {
        let [x, y, z] = [0, 1, 2].map(|axis| corner >> axis & 1 == 1);
        let pick = |upper: bool, axis: usize| if upper { greatest[axis] } else { least[axis] };
        DVec3::new(pick(x, 0), pick(y, 1), pick(z, 2))
    })
}

/// The transform from the mesh space of `skin` to that of `earlier`, if there is one with which no
/// joint sees a corner further than `bound` from where it was.
fn moved(earlier: &RawSkin, skin: &RawSkin, corners: &[DVec3; 8], bound: f64) -> Option<DMat4> {
    let of_joint = matrices(earlier);
    let common = |(joint, own): (&usize, &Mat4)| Some((*of_joint.get(joint)?, *own));
    let mut pairs = skin
        .joints
        .iter()
        .zip(&skin.inverse_bind)
        .filter_map(common);
    let (theirs, own) = pairs.next()?;
    if theirs == own && pairs.all(|(theirs, own)| theirs == own) {
        return Some(DMat4::IDENTITY);
    }
    let from_own = theirs.as_dmat4().inverse() * own.as_dmat4();
    if !from_own.is_finite() || !is_similarity(&DMat3::from_mat4(from_own)) {
        return None;
    }
    // Vertices and matrices are rounded to f32.
    let moved = corners.map(|it| from_own.transform_point3(it).as_vec3().as_dvec3());
    let mut all = skin.joints.iter().zip(&skin.inverse_bind);
    let close = all.all(|(joint, own)| {
        let new = new_matrix(of_joint.get(joint), own, &from_own).as_dmat4();
        let own = own.as_dmat4();
        let mut both = moved.iter().zip(corners);
        both.all(|(moved, corner)| {
            let (now, before) = (new.transform_point3(*moved), own.transform_point3(*corner));
            now.distance(before) <= bound
        })
    });
    close.then_some(from_own)
}

/// The matrix of a joint after the mesh has moved: that of the earlier skin, if it has one.
fn new_matrix(earlier: Option<&Mat4>, own: &Mat4, from_own: &DMat4) -> Mat4 {
    earlier.copied().unwrap_or_else(|| {
        let matrix = own.as_dmat4() * from_own.inverse();
        matrix.as_mat4()
    })
}

fn matrices(skin: &RawSkin) -> HashMap<usize, Mat4> {
    let pairs = skin.joints.iter().zip(&skin.inverse_bind);
    pairs.map(|(node, matrix)| (*node, *matrix)).collect()
}

/// Returns true if a matrix turns and scales by one factor above 0.
fn is_similarity(linear: &DMat3) -> bool {
    let [x, y, z] = [linear.x_axis, linear.y_axis, linear.z_axis];
    let squared = x.length_squared();
    let near = |value: f64, wanted: f64| (value - wanted).abs() <= SIMILAR * squared;
    squared > 0.0
        && squared.is_finite()
        && linear.determinant() > 0.0
        && near(y.length_squared(), squared)
        && near(z.length_squared(), squared)
        && near(x.dot(y), 0.0)
        && near(y.dot(z), 0.0)
        && near(z.dot(x), 0.0)
}

/// Gives a skin the matrices of an earlier one. Those of other joints follow the mesh.
fn rebind(skins: &mut [RawSkin], earlier: usize, index: usize, from_own: &DMat4) {
    let of_joint = matrices(&skins[earlier]);
    let skin = &mut skins[index];
    for (node, matrix) in skin.joints.iter().zip(&mut skin.inverse_bind) {
        *matrix = new_matrix(of_joint.get(node), matrix, from_own);
    }
}

/// Moves the vertices of a primitive. The transform is a similarity, so normals only turn.
fn transform(primitive: &mut RawPrimitive, matrix: &DMat4) {
    let linear = DMat3::from_mat4(*matrix);
    let turn = linear * (1.0 / linear.x_axis.length());
    let turns = !turn.abs_diff_eq(DMat3::IDENTITY, SIMILAR);
    let turned = |v: Vec3| (turn * v.as_dvec3()).as_vec3();
    for position in &mut primitive.positions {
        *position = matrix.transform_point3(position.as_dvec3()).as_vec3();
    }
    if turns {
        for normal in &mut primitive.normals {
            *normal = turned(*normal);
        }
        for tangent in &mut primitive.tangents {
            *tangent = turned(tangent.truncate()).extend(tangent.w);
        }
    }
    for target in &mut primitive.targets {
        for delta in &mut target.positions {
            *delta = (linear * delta.as_dvec3()).as_vec3();
        }
        for delta in target.normals.iter_mut().chain(&mut target.tangents) {
            *delta = if turns { turned(*delta) } else { *delta };
        }
    }
}
