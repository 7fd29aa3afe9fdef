//! The numbers of a transform, in the order in which clips store them.

use crate::skeleton::Transform;
use glam::{Quat, Vec3};
use std::ops::Range;

/// Number of components of a transform: rotation, translation, scale.
pub(crate) const COMPONENTS: usize = 10;

/// The components of the identity.
pub(crate) const IDENTITY: [f32; COMPONENTS] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Property {
    Rotation,
    Translation,
    Scale,
}

impl Property {
    pub(crate) const ALL: [Self; 3] = [Self::Rotation, Self::Translation, Self::Scale];

    /// The index of the first component.
    pub(crate) const fn first(self) -> usize {
        [0, 4, 7][self as usize]
    }

    pub(crate) const fn len(self) -> usize {
        [4, 3, 3][self as usize]
    }

    /// The indices of the components.
    pub(crate) const fn range(self) -> Range<usize> {
        self.first()..self.first() + self.len()
    }
}

/// The components of a transform in the order of the rows.
pub(crate) fn components(transform: &Transform) -> [f32; COMPONENTS] {
    let (q, t, s) = (transform.rotation, transform.translation, transform.scale);
    [q.x, q.y, q.z, q.w, t.x, t.y, t.z, s.x, s.y, s.z]
}

/// The transform with these components.
pub(crate) fn transform([x, y, z, w, tx, ty, tz, sx, sy, sz]: [f32; COMPONENTS]) -> Transform {
    Transform {
        rotation: Quat::from_xyzw(x, y, z, w),
        translation: Vec3::new(tx, ty, tz),
        scale: Vec3::new(sx, sy, sz),
    }
}
