//! Values of Bevy as throng has them.

use bevy::camera::visibility::RenderLayers;
use bevy::transform::components::{GlobalTransform, Transform};
use throng::glam::{Affine3A, Mat3A, Vec3A};

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

pub(crate) fn transform(affine: &Affine3A) -> Transform {
    let columns = throng::glam::Mat4::from(*affine).to_cols_array();
    Transform::from_matrix(bevy::math::Mat4::from_cols_array(&columns))
}
