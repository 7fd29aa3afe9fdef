//! Shifts of the origin of world space.

use glam::{Affine3A, DVec3, Vec3};

/// A shift of the origin, for numbers of 32 and 64 bits.
///
/// `shaders/shift.comp` rounds in the same way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shift {
    /// From the old origin to the new one.
    pub(crate) offset: DVec3,
    /// The offset in 32 bits.
    pub(crate) high: Vec3,
    /// The remainder of the offset after rounding. Usually it is 0.
    pub(crate) low: Vec3,
}

impl Shift {
    #[cfg(feature = "vulkan")]
    pub(crate) fn new(offset: DVec3) -> Self {
        let high = offset.as_vec3();
        let low = (offset - high.as_dvec3()).as_vec3();
        Self { offset, high, low }
    }

    /// A point, from the new origin.
    pub(crate) fn point(&self, at: Vec3) -> Vec3 {
        (at - self.high) - self.low
    }

    /// Moves what a transform places.
    pub(crate) fn place(&self, transform: &mut Affine3A) {
        transform.translation = self.point(transform.translation.into()).into();
    }
}
