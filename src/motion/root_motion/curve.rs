//! The motion as a track: keys of position and yaw.

use super::root_transform::RootTransform;
use crate::clip::Interpolation;
use glam::{DVec3, DVec4};

/// Keys of the motion: x, y, z in metres and unwrapped yaw in radians.
///
/// They are `f64`, because the error of a key recurs with every cycle.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Curve {
    /// Times in seconds, strictly increasing. Empty if there is no motion.
    pub(super) times_s: Vec<f32>,
    /// One value per key, or three under [`Interpolation::CubicSpline`].
    pub(super) values: Vec<DVec4>,
    pub(super) interpolation: Interpolation,
}

impl Curve {
    pub(super) const STILL: Self = Self {
        times_s: Vec::new(),
        values: Vec::new(),
        interpolation: Interpolation::Step,
    };

    /// The motion at the clip's time.
    pub(super) fn at(&self, time_s: f64) -> RootTransform {
        motion(self.value(time_s))
    }

    fn value(&self, time_s: f64) -> DVec4 {
        let (times, values) = (&self.times_s, &self.values);
        let cubic = self.interpolation == Interpolation::CubicSpline;
        let key = |key: usize| {
            let at = if cubic { key * 3 + 1 } else { key };
            values.get(at).copied().unwrap_or(DVec4::ZERO)
        };
        let after = times.partition_point(|key| f64::from(*key) <= time_s);
        let Some(from) = after.checked_sub(1) else {
            return key(0);
        };
        if after == times.len() || self.interpolation == Interpolation::Step {
            return key(from);
        }
        let start_s = f64::from(times[from]);
        let length_s = f64::from(times[after]) - start_s;
        let u = (time_s - start_s) / length_s;
        if !cubic {
            return key(from) + (key(after) - key(from)) * u;
        }
        let (u2, u3) = (u * u, u * u * u);
        let (leave, arrive) = (values[from * 3 + 2], values[after * 3]);
        key(from) * (2.0 * u3 - 3.0 * u2 + 1.0)
            + leave * (length_s * (u3 - 2.0 * u2 + u))
            + key(after) * (3.0 * u2 - 2.0 * u3)
            + arrive * (length_s * (u3 - u2))
    }
}

pub(super) fn motion(value: DVec4) -> RootTransform {
    RootTransform {
        translation: DVec3::new(value.x, value.y, value.z),
        yaw_rad: value.w,
    }
}
