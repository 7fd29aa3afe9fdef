//! Conversion of numbers from ufbx's types, which have 64 bits.

use crate::skeleton::Transform;
use glam::{Mat4, Quat, Vec2, Vec3};

pub(super) fn vec2(v: ufbx::Vec2) -> Vec2 {
    Vec2::new(v.x as f32, v.y as f32)
}

pub(super) fn vec3(v: ufbx::Vec3) -> Vec3 {
    Vec3::new(v.x as f32, v.y as f32, v.z as f32)
}

pub(super) fn quat(q: ufbx::Quat) -> Quat {
    let q = glam::DQuat::from_xyzw(q.x, q.y, q.z, q.w);
    let length = q.length();
    // Values that are not finite are rejected later.
    let unit = if length > 0.0 { q / length } else { q };
    unit.as_quat()
}

pub(super) fn transform(t: ufbx::Transform) -> Transform {
    Transform {
        translation: vec3(t.translation),
        rotation: quat(t.rotation),
        scale: vec3(t.scale),
    }
}

pub(super) fn matrix(m: &ufbx::Matrix) -> Mat4 {
    let column = |x: f64, y: f64, z: f64, w: f32| Vec3::new(x as f32, y as f32, z as f32).extend(w);
    Mat4::from_cols(
        column(m.m00, m.m10, m.m20, 0.0),
        column(m.m01, m.m11, m.m21, 0.0),
        column(m.m02, m.m12, m.m22, 0.0),
        column(m.m03, m.m13, m.m23, 1.0),
    )
}
