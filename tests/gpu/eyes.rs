//! The eye of a view, and the threads that may draw.

use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Mat4, Vec2, Vec3, Vec4};
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

/// The ray of the middle of the viewport passes the point that the view looks at. It starts at the
/// eye, or runs away from it if the view is orthographic.
#[test]
fn orthographic_views_have_their_eye_in_a_direction() {
    let extent = vk::Extent2D {
        width: 300,
        height: 200,
    };
    let mirror = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    for eye in [Vec3::new(3.0, 2.0, 5.0), Vec3::new(-300.0, 20.0, 40.0)] {
        for (number, clip) in clips(eye).into_iter().enumerate() {
            for clip in [clip, mirror * clip, clip * 0.5] {
                let ray = View::new(clip, eye, extent).ray(Vec2::new(150.0, 100.0));
                // These allow for a few roundings of numbers up to 300.
                if number < 2 {
                    assert!(ray.origin.distance(eye) < 1e-4, "{number}: {ray:?}");
                }
                let off = ray.direction.normalize().distance(-eye.normalize());
                assert!(off < 1e-4, "{number}: {ray:?}");
                let past = ray.origin.cross(ray.direction.normalize()).length();
                assert!(past < 1e-3 * eye.length(), "{number}: {past} of {ray:?}");
                assert!(ray.origin.dot(eye) > 0.0, "{number}: {ray:?}");
            }
        }
    }
    let flat = Mat4::from_cols(Vec4::X, Vec4::Y, Vec4::ZERO, Vec4::W);
    let ray = View::new(flat, Vec3::Z, extent).ray(Vec2::ZERO);
    assert_eq!(ray.origin, Vec3::Z);
}

#[test]
fn a_crowd_may_be_drawn_from_several_threads() {
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Crowd>();
    send_and_sync::<Frame<'static>>();
}
