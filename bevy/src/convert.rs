//! Values of Bevy as throng has them.

use bevy::camera::visibility::RenderLayers;
use bevy::transform::components::{GlobalTransform, Transform};
use throng::glam::{Affine3A, Mat3A, Vec3, Vec3A};

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
///
/// Instances are not flat. So one that is would get a thickness of a ten-thousandth of its longest
/// axis, which nobody sees.
pub(crate) fn placement(transform: &GlobalTransform) -> Affine3A {
    thick(affine(transform))
}

/// The same for a place in space.
pub(crate) fn thick(place: Affine3A) -> Affine3A {
    let axes = [0, 1, 2].map(|axis| place.matrix3.col(axis).as_dvec3());
    let [x, y, z] = axes.map(|axis| axis.normalize_or_zero());
    if x.cross(y).dot(z).abs() > 1e-5 {
        return place;
    }
    let longest = axes
        .map(|axis| axis.length())
        .into_iter()
        .fold(0.0, f64::max);
    let least = 1e-4 * if longest > 0.0 { longest } else { 1.0 };
    Affine3A {
        matrix3: place.matrix3 + Mat3A::from_diagonal(Vec3::splat(least as f32)),
        ..place
    }
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
