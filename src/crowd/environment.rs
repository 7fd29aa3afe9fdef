//! Light from all around: spherical harmonics of an environment, and images of it.

use crate::error::{Error, Result, expect, expect_cap};
use core::f32::consts::PI;
use glam::{Mat3, Quat, Vec3};

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

/// An equirectangular image of an environment, for programs without tools for such images.
///
/// It makes what an engine has anyway: the coefficients, and the faces of an
/// [`EnvironmentMap`](crate::EnvironmentMap), slowly, on one core of the CPU.
///
/// The first row is above (+Y). From left to right, a row goes from −X over −Z, +X and +Z to −X:
/// the direction at (u, v) in 0..1 is at the angle 2πu − π from +X to +Z, and πv from +Y.
///
/// ```
/// use throng::EnvironmentImage;
/// use throng::glam::Vec3;
///
/// // White above, black below.
/// let texels: Vec<Vec3> = (0..8 * 4).map(|at| Vec3::splat((at < 16) as u8 as f32)).collect();
/// let image = EnvironmentImage::new(8, 4, &texels)?;
/// let up = image.environment().reflected(Vec3::Y);
/// assert!((up.x - 1.0).abs() < 0.1);
/// let map = image.prefiltered(16, 3, 64)?;
/// assert_eq!(map.len(), 6 * (16 * 16 + 8 * 8 + 4 * 4));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct EnvironmentImage<'a> {
    width: usize,
    height: usize,
    texels: &'a [Vec3],
}

impl<'a> EnvironmentImage<'a> {
    /// An image of `width` times `height` texels of linear radiance, row by row.
    ///
    /// # Errors
    /// [`Error::Argument`] for no texels, another number of them, or one that is negative or not
    /// finite.
    pub fn new(width: u32, height: u32, texels: &'a [Vec3]) -> Result<Self> {
        let expected = u64::from(width) * u64::from(height);
        let why = "must be as many as width times height says, and at least one";
        let fits = expected > 0 && expected == texels.len() as u64;
        expect("texels of an environment", fits, why)?;
        let bad = |texel: &Vec3| !texel.is_finite() || texel.min_element() < 0.0;
        if let Some(index) = texels.iter().position(bad) {
            let why = "must be finite and not negative";
            return Err(Error::invalid("texels of an environment", why).at("texel", index));
        }
        let (width, height) = (width as usize, height as usize);
        Ok(Self {
            width,
            height,
            texels,
        })
    }

    /// The projection into spherical harmonics, without a rotation.
    #[must_use]
    pub fn environment(&self) -> Environment {
        let mut sums = [[0.0_f64; 3]; 9];
        let mut whole = 0.0_f64;
        for (y, row) in self.texels.chunks_exact(self.width).enumerate() {
            let v = (y as f32 + 0.5) / self.height as f32;
            let solid = f64::from((v * PI).sin());
            for (x, texel) in row.iter().enumerate() {
                let d = direction((x as f32 + 0.5) / self.width as f32, v);
                whole += solid;
                for (sum, (part, constant)) in sums
                    .iter_mut()
                    .zip(polynomials(d).into_iter().zip(FUNCTIONS))
                {
                    let weight = solid * f64::from(part * constant);
                    for (sum, channel) in sum.iter_mut().zip(texel.to_array()) {
                        *sum += weight * f64::from(channel);
                    }
                }
            }
        }
        let solid_angle = 4.0 * core::f64::consts::PI / whole;
        Environment {
            radiance: sums.map(|sum| Vec3::from_array(sum.map(|it| (it * solid_angle) as f32))),
            ..Environment::uniform(Vec3::ZERO)
        }
    }

    /// The levels of an [`EnvironmentMap`](crate::EnvironmentMap), in `R16G16B16A16_SFLOAT`.
    ///
    /// For each level, from `edge` on and half as large each time, there are six faces, for
    /// `vkCmdCopyBufferToImage` without gaps. Each texel is the mean of `samples` directions of the
    /// lobe of its level's roughness (Karis, "Real Shading in Unreal Engine 4", 2013). Radiance
    /// beyond 65,504 is clamped.
    ///
    /// # Errors
    /// [`Error::Capacity`] for an edge above 1024, more levels than it has, or more than 65,536
    /// samples, and [`Error::Argument`] for 0 of one of them.
    pub fn prefiltered(&self, edge: u32, levels: u32, samples: u32) -> Result<Vec<[u16; 4]>> {
        let fits = edge > 0 && levels > 0 && samples > 0;
        expect("edge, levels and samples", fits, "must be at least 1")?;
        expect_cap("edge of an environment map", edge as usize, 1024)?;
        expect_cap(
            "levels of an environment map",
            levels as usize,
            edge.ilog2() as usize + 1,
        )?;
        expect_cap("samples of an environment map", samples as usize, 1 << 16)?;
        let mut out = Vec::new();
        for level in 0..levels {
            let (edge, roughness) = (edge >> level, level as f32 / (levels - 1).max(1) as f32);
            let lobe = lobe(roughness, if level == 0 { 1 } else { samples });
            for (face, y, x) in (0..6)
                .flat_map(|face| (0..edge).flat_map(move |y| (0..edge).map(move |x| (face, y, x))))
            {
                let [s, t] = [x, y].map(|at| (at as f32 + 0.5) / edge as f32 * 2.0 - 1.0);
                let [r, g, b] = self.filtered(facing(face, s, t), &lobe).to_array();
                out.push([r, g, b, 1.0].map(half));
            }
        }
        Ok(out)
    }

    /// The mean of the directions of a lobe around a unit vector.
    fn filtered(&self, around: Vec3, lobe: &[(Vec3, f32)]) -> Vec3 {
        let (right, up) = around.any_orthonormal_pair();
        let frame = Mat3::from_cols(right, up, around);
        let sum: Vec3 = lobe
            .iter()
            .map(|(way, weight)| self.sample(frame * *way) * *weight)
            .sum();
        sum / lobe.iter().map(|(_, weight)| weight).sum::<f32>()
    }

    /// The radiance from a direction, between four texels.
    fn sample(&self, d: Vec3) -> Vec3 {
        let u = (d.z.atan2(d.x) / (2.0 * PI) + 0.5) * self.width as f32 - 0.5;
        let v = d.y.clamp(-1.0, 1.0).acos() / PI * self.height as f32 - 0.5;
        let row = |y: f32| (y.max(0.0) as usize).min(self.height - 1) * self.width;
        let column = |x: f32| (x + self.width as f32) as usize % self.width;
        let [left, top] = [u, v].map(f32::floor);
        let at = |x, y| self.texels[row(y) + column(x)];
        let [above, below] =
            [top, top + 1.0].map(|y| at(left, y).lerp(at(left + 1.0, y), u - left));
        above.lerp(below, v - top)
    }
}

/// The direction at (u, v) of an equirectangular image.
fn direction(u: f32, v: f32) -> Vec3 {
    let ((sin, cos), (ring, up)) = ((u * 2.0 * PI - PI).sin_cos(), (v * PI).sin_cos());
    Vec3::new(cos * ring, up, sin * ring)
}

/// The direction of a point (−1..1) of a face of a cube map, as Vulkan has it.
fn facing(face: u32, s: f32, t: f32) -> Vec3 {
    let way = match face {
        0 => Vec3::new(1.0, -t, -s),
        1 => Vec3::new(-1.0, -t, s),
        2 => Vec3::new(s, 1.0, t),
        3 => Vec3::new(s, -1.0, -t),
        4 => Vec3::new(s, -t, 1.0),
        _ => Vec3::new(-s, -t, -1.0),
    };
    way.normalize()
}

/// Directions of a lobe around +Z that is seen along +Z, with their weights: the half vectors are
/// distributed as those of GGX, over points of Hammersley's set.
fn lobe(roughness: f32, samples: u32) -> Vec<(Vec3, f32)> {
    let a2 = roughness.powi(4);
    let way = |number: u32| {
        let (u, v) = (
            (number as f32 + 0.5) / samples as f32,
            number.reverse_bits() as f32 / 4_294_967_296.0,
        );
        let cos2 = (1.0 - u) / (1.0 + (a2 - 1.0) * u);
        let (sin, cos) = ((1.0 - cos2).max(0.0).sqrt(), cos2.sqrt());
        let (y, x) = (v * 2.0 * PI).sin_cos();
        let to_light = Vec3::new(2.0 * cos * sin * x, 2.0 * cos * sin * y, 2.0 * cos2 - 1.0);
        (to_light, to_light.z)
    };
    (0..samples)
        .map(way)
        .filter(|(_, weight)| *weight > 0.0)
        .collect()
}

/// A number that is not negative as 16 bits, rounded to the nearest.
fn half(value: f32) -> u16 {
    let value = value.min(65_504.0);
    if value < 6.103_515_6e-5 {
        return (value * 16_777_216.0).round() as u16;
    }
    ((value.to_bits() - (112 << 23) + 0x1000) >> 13) as u16
}
