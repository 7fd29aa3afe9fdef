//! The eye of a view, and the threads that may draw.

use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Mat4, Vec3, Vec4};
use throng::{Crowd, Frame, View};

/// Perspective, then orthographic, each with depth from 0 (near) to 1 and from 1 to 0.
fn clips(eye: Vec3) -> [Mat4; 4] {
    let from_world = rh::view::look_at_mat4(eye, Vec3::ZERO, Vec3::Y);
    let reverse = Mat4::from_translation(Vec3::Z) * Mat4::from_scale(Vec3::new(1.0, 1.0, -1.0));
    let perspective = rh::proj::vulkan::perspective(1.0, 1.5, 0.1, 1000.0) * from_world;
    let orthographic =
        rh::proj::vulkan::orthographic(-1.0, 1.0, -1.0, 1.0, 0.1, 1000.0) * from_world;
    [
        perspective,
        reverse * perspective,
        orthographic,
        reverse * orthographic,
    ]
}

#[test]
fn orthographic_views_have_their_eye_in_a_direction() {
    let extent = vk::Extent2D {
        width: 300,
        height: 200,
    };
    let mirror = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    for eye in [Vec3::new(3.0, 2.0, 5.0), Vec3::new(-300.0, 20.0, 40.0)] {
        let views = clips(eye);
        for (number, clip) in views.into_iter().enumerate() {
            let orthographic = number >= 2;
            for clip in [clip, mirror * clip, clip * 0.5] {
                let view = View::new(clip, eye, extent);
                assert_eq!(view.is_orthographic(), orthographic);
                let got = view.eye_point();
                let want = if orthographic {
                    eye.normalize().extend(0.0)
                } else {
                    eye.extend(1.0)
                };
                // This allows for a few roundings of numbers up to 300, in a row of length 1.
                assert!(got.distance(want) < 1e-4, "{number}: {got} {want}");
                let far = |point: Vec3| view.distance().dot(point.extend(1.0));
                let aside = eye.any_orthonormal_vector();
                assert!(far(-eye * 0.01) > far(eye * 0.01 + aside * 0.001));
            }
        }
    }
    let flat = Mat4::from_cols(Vec4::X, Vec4::Y, Vec4::ZERO, Vec4::W);
    let view = View::new(flat, Vec3::Z, extent);
    assert_eq!(view.eye_point(), Vec4::new(0.0, 0.0, 1.0, 1.0));
}

#[test]
fn a_crowd_may_be_drawn_from_several_threads() {
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Crowd>();
    send_and_sync::<Frame<'static>>();
}
