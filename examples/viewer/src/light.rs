//! The light of all views.

use throng::Lighting;
use throng::glam::{Vec3, vec3};

/// The largest strength.
pub(crate) const LARGEST: f32 = 100.0;

/// The light, from the command line and the panels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Light {
    /// A factor for sun and sky.
    pub(crate) strength: f32,
    /// Direction towards the sun: angles around +Y from +Z and above the horizon, in degrees.
    pub(crate) direction: [f32; 2],
}

impl Default for Light {
    fn default() -> Self {
        Self {
            strength: 1.0,
            direction: [36.9, 48.6],
        }
    }
}

impl Light {
    /// Direction towards the sun.
    fn sun_direction(&self) -> Vec3 {
        let [yaw, pitch] = self.direction.map(f32::to_radians);
        let (sin, cos) = pitch.sin_cos();
        vec3(cos * yaw.sin(), sin, cos * yaw.cos())
    }

    /// Sun and sky. At strength 1, a matt white surface that faces the sun is just below the
    /// brightest white of the picture: sun and sky add up to less than 1 in every direction.
    pub(crate) fn lighting(&self) -> Lighting {
        // The user's text may be no number.
        let sun_direction = Some(self.sun_direction()).filter(|direction| direction.is_finite());
        let strength = if self.strength.is_finite() {
            self.strength.clamp(0.0, LARGEST)
        } else {
            1.0
        };
        Lighting {
            sun_direction: sun_direction.unwrap_or(Vec3::Y),
            sun_color: Vec3::splat(0.66) * strength,
            sky_color: vec3(0.25, 0.27, 0.31) * strength,
            ground_color: vec3(0.15, 0.14, 0.13) * strength,
        }
    }
}
