//! Conversion of errors and numbers from ufbx's types. Its numbers have 64 bits.

use crate::fault::{fault, message};
use throng::error::{AssetFault, Error, ObjectKind};
use throng::glam::{DAffine3, DMat4, DVec3, Mat4, Quat, Vec2, Vec3};
use throng::skeleton::Transform;
use ufbx::ErrorType;

pub(super) fn vec2(v: ufbx::Vec2) -> Vec2 {
    Vec2::new(v.x as f32, v.y as f32)
}

pub(super) fn wide(v: ufbx::Vec3) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

pub(super) fn vec3(v: ufbx::Vec3) -> Vec3 {
    wide(v).as_vec3()
}

pub(super) fn quat(q: ufbx::Quat) -> Quat {
    let q = throng::glam::DQuat::from_xyzw(q.x, q.y, q.z, q.w);
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

pub(super) fn affine(m: &ufbx::Matrix) -> DAffine3 {
    DAffine3::from_cols_array(&[
        m.m00, m.m10, m.m20, m.m01, m.m11, m.m21, m.m02, m.m12, m.m22, m.m03, m.m13, m.m23,
    ])
}

pub(super) fn matrix(m: &ufbx::Matrix) -> Mat4 {
    DMat4::from(affine(m)).as_mat4()
}

pub(super) fn failed(error: &ufbx::Error, memory_cap: u64) -> Error {
    let why = match error.type_ {
        ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory => {
            // ufbx does not say how much it asked for. It is more than the cap.
            AssetFault::Cap {
                what: "bytes of memory for reading",
                asked: memory_cap.saturating_add(1),
                cap: memory_cap,
            }
        }
        _ => AssetFault::Fbx(message(&error.description)),
    };
    of_file(why)
}

/// An error about the file as a whole.
pub(super) fn of_file(why: AssetFault) -> Error {
    fault(ObjectKind::File, None, "", why)
}
