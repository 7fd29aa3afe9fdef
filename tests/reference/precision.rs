//! Bounds of the difference between a device's pictures and exact arithmetic.
//!
//! The bounds follow from what Vulkan guarantees, not from what one driver does. Three things are
//! left to a device:
//!
//! - The framebuffer coordinates of a vertex are rounded to fixed point: see [`Grid`].
//! - `f32` arithmetic is rounded. Sums and products are rounded correctly, which adds a relative
//!   error of 2^-24 ([`ROUNDING`]). A division may be off by 2.5 ULP, which is 5 of them
//!   ("Precision and Operation of SPIR-V Instructions"). The constants below count the roundings
//!   between a vertex and a pixel, as if all had the same sign.
//! - A colour becomes one of the two nearest integers ("Conversion From Floating-Point to
//!   Normalized Fixed-Point"), so it is off by less than 1 of 255 each time it is stored.

use throng::ash::vk;
use throng::glam::DVec2;

/// The relative error of a sum or a product.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// A vertex: two morph targets (4), four influences (14), a normalised dual quaternion (20), the
/// instance's transform (6), the clip position (7).
const VERTEX: f64 = 51.0;
/// Barycentric coordinates (8) and a sum of three products (5).
const INTERPOLATION: f64 = 13.0;
const DIVISION: f64 = 5.0;

/// Bound of a motion's error by roundings, in normalised device coordinates.
///
/// A motion is the difference of two positions. Each is the quotient of two interpolated values,
/// and its error is relative to its magnitude, or to 1 if that is less: the sums that it comes from
/// have terms of that size. The position then may be out of the picture.
pub fn motion([now, then]: [DVec2; 2]) -> DVec2 {
    let magnitudes = now.abs().max(DVec2::ONE) + then.abs().max(DVec2::ONE);
    magnitudes * (VERTEX + 2.0 * INTERPOLATION + DIVISION) * ROUNDING
}

/// Bound of a depth's error by roundings.
///
/// Depth hardly depends on the position: its derivative is less than 1/50 in the tests' pictures.
/// The errors that count are those of the clip position, in z and w (7 each), their quotient, the
/// viewport (2) and the interpolation.
pub const DEPTH: f64 = (2.0 * 7.0 + DIVISION + 2.0 + INTERPOLATION) * ROUNDING;

/// Bound of a colour's error per layer that is drawn on a pixel, for 8-bit targets.
pub const COLOR_LAYER: f64 = 1.0 / 255.0;

/// Bound of the other errors of a colour: shading in `f32`, and textures in sRGB, whose conversion
/// has no guaranteed precision. Half a step of the target is twice the error that was measured.
pub const COLOR_ROUNDING: f64 = 0.5 / 255.0;

/// The fixed-point grid of framebuffer coordinates.
///
/// Before rasterization, a device rounds each coordinate of a vertex to `subPixelPrecisionBits`
/// fractional bits, which moves it by less than one step. Vulkan guarantees 4 bits, so a step may
/// be as large as 1/16 pixel. Lavapipe has 8 bits and SwiftShader has 4.
///
/// A point of a triangle is a weighted mean of its corners, so it moves by less than one step in
/// each coordinate, too. A pixel thus shows the exact value of some point in the square of one step
/// around its centre.
#[derive(Debug, Clone, Copy)]
pub struct Grid {
    /// A step and the roundings of a coordinate before, in pixels.
    reach_px: f64,
}

/// The bits below which the outlines of double-sided surfaces are not compared.
///
/// A triangle that is thinner than a step may turn over when its corners are rounded. It then shows
/// its other side. Along the outline of a curved surface, such triangles cover a line as wide as a
/// step. With 8 bits, one sample in 256 is hit, which no picture shows. With 4 bits it is one in
/// 16: of the pixels on an outline with 4 samples each, every fourth has a wrong sample.
pub const OUTLINE_BITS: u32 = 8;

impl Grid {
    /// The grid of `VkPhysicalDeviceLimits::subPixelPrecisionBits`, in a framebuffer of this size.
    pub fn new(sub_pixel_precision_bits: u32, extent: vk::Extent2D) -> Self {
        assert!(sub_pixel_precision_bits >= 4, "Vulkan guarantees 4 bits");
        let size_px = f64::from(extent.width.max(extent.height));
        // Coordinates before the viewport are quotients in -1 to 1.
        let rounding_px = (VERTEX + DIVISION) * ROUNDING * size_px;
        Self {
            reach_px: (-f64::from(sub_pixel_precision_bits)).exp2() + rounding_px,
        }
    }

    /// The same for a triangle that is cut off at the edge of the picture.
    ///
    /// It has new corners there. Vulkan does not say how precise they are. In a sliver between two
    /// of them, lavapipe was seen to be three steps off: four are allowed.
    pub fn clipped(self) -> Self {
        Self {
            reach_px: 4.0 * self.reach_px,
        }
    }

    /// The distance from an edge below which it is unknown on which side a point is.
    ///
    /// An edge moves by less than √2 steps. At twice a step, the square around a point is on one
    /// side of it.
    pub fn edge_px(self) -> f64 {
        2.0 * self.reach_px
    }

    /// The largest change of a value within the square around a point.
    ///
    /// The values are monotonic there, or so nearly that their curvature does not count, so that
    /// the corners decide.
    pub fn spread<const N: usize>(self, at: DVec2, value: impl Fn(DVec2) -> [f64; N]) -> [f64; N] {
        let here = value(at);
        let mut spread = [0.0; N];
        for corner in self.around(at) {
            for ((spread, there), here) in spread.iter_mut().zip(value(corner)).zip(here) {
                *spread = f64::max(*spread, (there - here).abs());
            }
        }
        spread
    }

    /// The corners of the square around a point.
    pub fn around(self, at: DVec2) -> [DVec2; 4] {
        [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)]
            .map(|(x, y)| at + DVec2::new(x, y) * self.reach_px)
    }
}
