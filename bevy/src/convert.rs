//! Values of Bevy as throng has them.

use bevy::camera::visibility::RenderLayers;
use bevy::transform::components::{GlobalTransform, Transform};
use throng::glam::{Affine3A, DVec3, Mat3A, Vec3A};

/// Of the bits of a view mask, those for shadows are above those for cameras.
pub(crate) const SHADOW_SHIFT: u32 = 16;

/// The first 16 render layers.
pub(crate) fn layers(layers: Option<&RenderLayers>) -> u32 {
    let all = layers.map_or(1, |layers| layers.bits().first().copied().unwrap_or(0));
    (all & 0xFFFF) as u32
}

/// Matrices of Bevy and of throng may be of two versions of glam.
pub(crate) fn affine(transform: &GlobalTransform) -> Affine3A {
    let affine = transform.affine();
    let [x, y, z] = [
        affine.matrix3.x_axis,
        affine.matrix3.y_axis,
        affine.matrix3.z_axis,
    ]
    .map(|axis| Vec3A::from_array(axis.to_array()));
    Affine3A {
        matrix3: Mat3A::from_cols(x, y, z),
        translation: Vec3A::from_array(affine.translation.to_array()),
    }
}

/// A place that an instance may have: nearly that of an entity, also if a scale is 0.
pub(crate) fn placement(transform: &GlobalTransform) -> Affine3A {
    thick(affine(transform))
}

/// The same for a place in space. A flat one gets a thickness of a ten-thousandth of its longest
/// axis, or of a metre if it has none.
pub(crate) fn thick(mut place: Affine3A) -> Affine3A {
    let mut axes = [0, 1, 2].map(|axis| place.matrix3.col(axis).as_dvec3());
    let directions = axes.map(|axis| axis.normalize_or_zero());
    let volume = directions[0].cross(directions[1]).dot(directions[2]);
    if volume.abs() > 1e-5 || !place.is_finite() {
        return place;
    }
    let mut order = [0, 1, 2];
    order.sort_by(|one, other| axes[*one].length().total_cmp(&axes[*other].length()));
    let [short, middle, long] = order;
    let longest = axes[long].length();
    let least = 1e-4 * if longest > 0.0 { longest } else { 1.0 };
    let normal = directions[long].cross(directions[middle]);
    if normal.length() > 1e-2 {
        axes[short] = normal.normalize() * least;
    } else {
        // One direction is left, or none.
        let along = axes[long].try_normalize().unwrap_or(DVec3::X);
        axes[long] = along * longest.max(least);
        (axes[middle], axes[short]) = along.any_orthonormal_pair();
        axes[middle] *= least;
        axes[short] *= least;
    }
    let [x, y, z] = axes.map(|axis| axis.as_vec3a());
    place.matrix3 = Mat3A::from_cols(x, y, z);
    place
}

/// The same for a place and its rotation, which a scale of 0 keeps.
pub(crate) fn thick_transform(mut place: Transform) -> Transform {
    let longest = place.scale.abs().max_element();
    let least = 1e-4 * if longest > 0.0 { longest } else { 1.0 };
    for axis in 0..3 {
        if place.scale[axis] == 0.0 {
            place.scale[axis] = least;
        }
    }
    place
}

/// The rotation of a flat place is not known, so this is nearly that place.
pub(crate) fn transform(affine: &Affine3A) -> Transform {
    let columns = throng::glam::Mat4::from(thick(*affine)).to_cols_array();
    Transform::from_matrix(bevy::math::Mat4::from_cols_array(&columns))
}
