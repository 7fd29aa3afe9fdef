//! Light from all around: spherical harmonics of an environment.

use crate::error::{Result, expect};
use glam::{DVec3, Mat3, Quat, Vec3};

/// The light of a view's surroundings, for passes with
/// [`PassDesc::environment`](crate::PassDesc::environment).
///
/// It replaces [`Lighting::sky_color`](crate::Lighting::sky_color) and
/// [`ground_color`](crate::Lighting::ground_color) there. The sun stays.
///
/// ```
/// use throng::Environment;
/// use throng::glam::{Quat, Vec3};
///
/// let grey = Environment {
///     world_from_environment: Quat::from_rotation_y(0.5),
///     ..Environment::uniform(Vec3::splat(0.3))
/// };
/// assert!(grey.reflected(Vec3::X).abs_diff_eq(Vec3::splat(0.3), 1e-6));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(alias = "image-based lighting")]
#[doc(alias = "light probe")]
pub struct Environment {
    /// The coefficients of its radiance in real spherical harmonics, linear RGB.
    ///
    /// They are L₀₀, L₁₋₁, L₁₀, L₁₁, L₂₋₂, L₂₋₁, L₂₀, L₂₁ and L₂₂, of a direction (x, y, z) in the
    /// space of the environment, with the functions and signs of Ramamoorthi and Hanrahan, "An
    /// Efficient Representation for Irradiance Environment Maps", 2001: Y₁₋₁ = 0.488603 y,
    /// Y₁₀ = 0.488603 z, Y₁₁ = 0.488603 x. The crowd multiplies by that paper's factors for
    /// irradiance. Coefficients of irradiance must be divided by π, 2π/3 and π/4 first.
    pub radiance: [Vec3; 9],
    /// The rotation from the space of the environment to the world.
    pub world_from_environment: Quat,
    /// The factor of all of its light, and of the [`EnvironmentMap`](crate::EnvironmentMap)'s.
    pub intensity: f32,
}

/// Constants of the functions: of the polynomials 1, y, z, x, xy, yz, 3z² − 1, xz and x² − y².
const FUNCTIONS: [f32; 9] = [
    0.282_094_8,
    0.488_602_5,
    0.488_602_5,
    0.488_602_5,
    1.092_548_4,
    1.092_548_4,
    0.315_391_57,
    1.092_548_4,
    0.546_274_2,
];

/// The polynomials of the functions.
fn polynomials(d: Vec3) -> [f32; 9] {
    let square = d * d;
    let rest = 3.0 * square.z - 1.0;
    [
        1.0,
        d.y,
        d.z,
        d.x,
        d.x * d.y,
        d.y * d.z,
        rest,
        d.x * d.z,
        square.x - square.y,
    ]
}

impl Environment {
    /// The same radiance from everywhere.
    #[must_use]
    pub fn uniform(radiance: Vec3) -> Self {
        Self::gradient(radiance, radiance)
    }

    /// The projection of samples from all directions, such as the texels of a map.
    ///
    /// Each is a direction of length 1 in the space of the environment, linear radiance, and a
    /// solid angle. The sum of all angles counts as the whole sphere. Without samples, all is dark.
    ///
    /// ```
    /// use throng::Environment;
    /// use throng::glam::Vec3;
    ///
    /// let ways = [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z];
    /// let sky = Environment::of(ways.map(|way| (way, Vec3::splat(way.y.max(0.0)), 1.0)));
    /// assert!(sky.reflected(Vec3::Y).x > sky.reflected(Vec3::NEG_Y).x);
    /// ```
    #[must_use]
    pub fn of(samples: impl IntoIterator<Item = (Vec3, Vec3, f32)>) -> Self {
        let (mut sums, mut whole) = ([DVec3::ZERO; 9], 0.0);
        for (way, radiance, angle) in samples {
            let (radiance, angle) = (radiance.as_dvec3(), f64::from(angle));
            whole += angle;
            let parts = polynomials(way).into_iter().zip(FUNCTIONS);
            for (sum, (part, constant)) in sums.iter_mut().zip(parts) {
                *sum += radiance * (angle * f64::from(part * constant));
            }
        }
        let sphere = match whole > 0.0 {
            true => 4.0 * core::f64::consts::PI / whole,
            false => 0.0,
        };
        Self {
            radiance: sums.map(|sum| (sum * sphere).as_vec3()),
            ..Self::uniform(Vec3::ZERO)
        }
    }

    /// The light of a sky that a rough white surface reflects as one of these if it faces straight
    /// up or down, and as a mix in between.
    pub(crate) fn gradient(above: Vec3, below: Vec3) -> Self {
        let mut radiance = [Vec3::ZERO; 9];
        radiance[0] = (above + below) * (0.5 / FUNCTIONS[0]);
        radiance[1] = (above - below) * (0.75 / FUNCTIONS[1]);
        Self {
            radiance,
            world_from_environment: Quat::IDENTITY,
            intensity: 1.0,
        }
    }

    /// The light that a rough white surface with this unit normal reflects: its irradiance divided
    /// by π.
    ///
    /// Few coefficients overshoot where light changes suddenly, so this is never below 0.
    #[must_use]
    pub fn reflected(&self, normal: Vec3) -> Vec3 {
        let towards = self.environment_from_world() * normal;
        let parts = polynomials(towards).into_iter().zip(self.factors());
        parts
            .map(|(part, factor)| factor * part)
            .sum::<Vec3>()
            .max(Vec3::ZERO)
    }

    /// The factors of the polynomials, for the light that a rough white surface reflects.
    pub(crate) fn factors(&self) -> [Vec3; 9] {
        core::array::from_fn(|number| {
            let lambert = [1.0, 2.0 / 3.0, 0.25][usize::from(number > 0) + usize::from(number > 3)];
            self.radiance[number] * (lambert * FUNCTIONS[number] * self.intensity)
        })
    }

    pub(crate) fn environment_from_world(&self) -> Mat3 {
        Mat3::from_quat(self.world_from_environment.normalize().inverse())
    }

    /// Checks that all numbers are finite.
    pub(crate) fn check(&self) -> Result<()> {
        let rotation = self.world_from_environment;
        let fits = self.radiance.iter().all(|it| it.is_finite())
            && rotation.is_finite()
            && rotation.length_squared().is_normal()
            && self.intensity.is_finite()
            && self.intensity >= 0.0;
        let why = "must be finite, with a rotation that is not 0 and an intensity of at least 0";
        expect("View::environment", fits, why)
    }
}
