//! The eye of a view: a position, or a direction if the view is orthographic.

use super::view::View;
use glam::{Vec3, Vec4};

impl View {
    /// Returns true if the clip space's w is constant, so size does not depend on distance.
    pub(super) fn is_orthographic(&self) -> bool {
        let [right, down, w] = [0, 1, 3].map(|row| self.clip_from_world.row(row).truncate());
        // Composed or inverted matrices leave a small w where it should be 0.
        w.length() <= 1e-5 * right.length().max(down.length())
    }

    /// The direction towards the eye of an orthographic view.
    ///
    /// It is perpendicular to the view's right and down, and points to the eye's side of the middle
    /// of the depth range. `None` for other views, and if there is no such direction.
    pub(super) fn eye_direction(&self) -> Option<Vec3> {
        if !self.is_orthographic() {
            return None;
        }
        let clip = &self.clip_from_world;
        let [right, down] = [0, 1].map(|row| clip.row(row).truncate().try_normalize());
        let axis = right?.cross(down?).try_normalize()?;
        let eye = *clip * self.eye.extend(1.0);
        let side = (eye.z / eye.w - 0.5) * eye.w.signum() * clip.row(2).truncate().dot(axis);
        (side != 0.0 && side.is_finite()).then(|| axis * side.signum())
    }

    /// A linear function of points that grows with their distance.
    ///
    /// The distance is that from the eye, or along the direction of an orthographic view.
    pub(super) fn distance(&self) -> Vec4 {
        let along = self.eye_direction().map(|to_eye| -to_eye.extend(0.0));
        along.unwrap_or(self.clip_from_world.row(3))
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::{Past, Prepared};
    use super::*;
    use ash::vk;
    use glam::Mat4;
    use glam::camera::rh;

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
                    assert_eq!(Prepared::new(&view).orthographic, orthographic);
                    let got = Vec4::from_array(view.record(&Past::default(), 0).eye);
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
        assert_eq!(view.record(&Past::default(), 0).eye, [0.0, 0.0, 1.0, 1.0]);
    }
}
