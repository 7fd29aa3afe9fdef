//! Serialisation of root motion.

use super::curve::Curve;
use super::motion::RootMotion;
use super::root_transform::RootTransform;
use crate::bytes::{Reader, Save, invalid, save_structs};
use crate::clip::Interpolation;
use crate::error::Result;
use glam::DVec4;

save_structs! {
    RootTransform { translation, yaw_rad }
    Curve { times_s, values, interpolation }
}

impl Save for DVec4 {
    fn save(&self, to: &mut Vec<u8>) {
        self.to_array().save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self::from_array(Save::load(from)?))
    }
}

impl Save for RootMotion {
    fn save(&self, to: &mut Vec<u8>) {
        self.joint.save(to);
        self.duration_s.save(to);
        self.curve.save(to);
        self.pass.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let motion = Self {
            joint: Save::load(from)?,
            duration_s: Save::load(from)?,
            curve: Save::load(from)?,
            pass: Save::load(from)?,
        };
        if motion.is_sound() {
            Ok(motion)
        } else {
            Err(invalid("root motion", "has invalid keys"))
        }
    }
}

impl RootMotion {
    /// Returns true if its keys are valid, as an extraction leaves them.
    fn is_sound(&self) -> bool {
        let Curve {
            times_s, values, ..
        } = &self.curve;
        let a_key = match self.curve.interpolation {
            Interpolation::CubicSpline => 3,
            Interpolation::Step | Interpolation::Linear => 1,
        };
        let pass = self.pass.translation.is_finite() && self.pass.yaw_rad.is_finite();
        (0.0..=f64::from(f32::MAX)).contains(&self.duration_s)
            && pass
            && values.len() == times_s.len().saturating_mul(a_key)
            && values.iter().all(|value| value.is_finite())
            && times_s.iter().all(|time_s| time_s.is_finite())
            && times_s.windows(2).all(|pair| pair[0] < pair[1])
    }
}
