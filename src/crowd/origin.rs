//! The origin of world space, and the shifts of it that the GPU lacks.

use crate::character::Character;
use crate::error::{Result, expect_in};
use crate::skeleton::Shift;
use glam::DVec3;

/// The origin of world space, and the shifts of it that the GPU lacks.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// The sum of all shifts.
    pub(crate) at: DVec3,
    /// The sum of those since the last prepared frame.
    waiting: DVec3,
    /// The sum that the last prepared frame recorded, in case it is abandoned.
    recorded: DVec3,
}

impl Origin {
    /// Notes a shift.
    pub(crate) fn shift(&mut self, offset: DVec3) {
        self.at += offset;
        self.waiting += offset;
    }

    /// The shift that the GPU lacks.
    pub(crate) fn waiting(&self) -> Option<Shift> {
        (self.waiting != DVec3::ZERO).then(|| Shift::new(self.waiting))
    }

    /// The shift to the present origin from another one, if they differ.
    pub(crate) fn from(&self, other: DVec3) -> Option<Shift> {
        let offset = self.at - other;
        (offset != DVec3::ZERO).then(|| Shift::new(offset))
    }

    /// Notes that a frame has recorded the shift that the GPU lacked.
    pub(crate) fn mark_uploaded(&mut self) {
        self.recorded = core::mem::take(&mut self.waiting);
    }

    /// Notes that the shift of the last frame never reached the GPU.
    pub(crate) fn mark_lost(&mut self) {
        self.waiting += core::mem::take(&mut self.recorded);
    }
}

/// Checks an offset between origins.
pub(crate) fn check_offset(what: &'static str, offset: DVec3) -> Result<()> {
    let most = f64::from(Character::MAX_EXTENT);
    let mut each = offset.to_array().into_iter();
    each.try_for_each(|metres| expect_in(what, metres, -most, most))
}
