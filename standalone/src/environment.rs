//! Images of an environment, filtered for reflections.

use core::f32::consts::PI;
use throng::Environment;
#[cfg(doc)]
use throng::EnvironmentMap;
use throng::error::{ArgumentFault, Error, Result};
use throng::glam::{Mat3, Vec3};

fn invalid(what: &'static str, why: &'static str) -> Error {
    let why = ArgumentFault::Invalid(why);
    Error::Argument { what, why }
}

/// An equirectangular image of an environment, for programs without tools for such images.
///
/// It makes what an engine has anyway: the coefficients, and the faces of an
/// [`EnvironmentMap`], slowly, on one core of the CPU.
///
/// The first row is above (+Y). From left to right, a row goes from −X over −Z, +X and +Z to −X:
/// the direction at (u, v) in 0..1 is at the angle 2πu − π from +X to +Z, and πv from +Y.
///
/// ```
/// use throng::glam::Vec3;
/// use throng_standalone::EnvironmentImage;
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
        if expected == 0 || expected != texels.len() as u64 {
            return Err(invalid(
                "texels of an environment",
                "must be as many as width times height says, and at least one",
            ));
        }
        let bad = |texel: &Vec3| !texel.is_finite() || texel.min_element() < 0.0;
        if let Some(index) = texels.iter().position(bad) {
            let why = "must be finite and not negative";
            return Err(Error::At {
                what: "texel",
                index: index as u64,
                name: Box::default(),
                why: Box::new(invalid("texels of an environment", why)),
            });
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
        let rows = self.texels.chunks_exact(self.width).enumerate();
        Environment::of(rows.flat_map(|(y, row)| {
            let v = (y as f32 + 0.5) / self.height as f32;
            row.iter().enumerate().map(move |(x, texel)| {
                let u = (x as f32 + 0.5) / self.width as f32;
                (direction(u, v), *texel, (v * PI).sin())
            })
        }))
    }

    /// The levels of an [`EnvironmentMap`], in `R16G16B16A16_SFLOAT`.
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
        if edge == 0 || levels == 0 || samples == 0 {
            return Err(invalid("edge, levels and samples", "must be at least 1"));
        }
        for (what, asked, cap) in [
            ("edge of an environment map", edge, 1024),
            ("levels of an environment map", levels, edge.ilog2() + 1),
            ("samples of an environment map", samples, 1 << 16),
        ] {
            let (asked, cap) = (u64::from(asked), u64::from(cap));
            if asked > cap {
                return Err(Error::Capacity { what, asked, cap });
            }
        }
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
