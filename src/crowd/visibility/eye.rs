//! The eye of a view: a position, or a direction if the view is orthographic.

use crate::crowd::view::View;
use glam::{Vec3, Vec4};

impl View {
    // For the crowd, and for the tests of this crate: not part of the API.

    /// Returns true if the clip space's w is constant, so size does not depend on distance.
    #[doc(hidden)]
    #[must_use]
    pub fn is_orthographic(&self) -> bool {
        let [right, down, w] = [0, 1, 3].map(|row| self.clip_from_world.row(row).truncate());
        // Composed or inverted matrices leave a small w where it should be 0.
        w.length() <= 1e-5 * right.length().max(down.length())
    }

    /// The direction towards the eye of an orthographic view.
    ///
    /// It is perpendicular to the view's right and down, and points to the eye's side of the middle
    /// of the depth range. `None` for other views, and if there is no such direction.
    fn eye_direction(&self) -> Option<Vec3> {
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

    /// The eye with w = 1, or the direction towards it with w = 0.
    #[doc(hidden)]
    #[must_use]
    pub fn eye_point(&self) -> Vec4 {
        let towards = self.eye_direction().map(|towards| towards.extend(0.0));
        towards.unwrap_or(self.eye.extend(1.0))
    }

    /// A linear function of points that grows with their distance.
    ///
    /// The distance is that from the eye, or along the direction of an orthographic view.
    #[doc(hidden)]
    #[must_use]
    pub fn distance(&self) -> Vec4 {
        let along = self.eye_direction().map(|to_eye| -to_eye.extend(0.0));
        along.unwrap_or(self.clip_from_world.row(3))
    }
}
