//! Palette entries: conversion between matrices and each format.

use super::format::{DualQuat, DualQuatStretch, Mat3x4, PaletteFormat, PaletteRef, QuatOffset};
use super::project::{Factors, ROUNDING, Scales, beyond, split};
use crate::error::Unrepresentable;
use bytemuck::Pod;
use glam::{Affine3A, Quat, Vec3, Vec4, Vec4Swizzles};

/// A palette entry in one of the formats.
///
/// [`Self::try_from_affine`] converts a skinning matrix and fails if the format cannot represent
/// it. [`Self::project`] drops what the format cannot represent. The trait is sealed and
/// implemented for [`Mat3x4`], [`DualQuat`], [`DualQuatStretch`] and [`QuatOffset`].
pub trait PaletteEntry: Pod + Send + Sync + sealed::Entry {
    /// The format of the entries.
    const FORMAT: PaletteFormat;

    /// Returns the entry nearest to a skinning matrix, for every matrix.
    ///
    /// The result is exact if [`Self::try_from_affine`] succeeds, up to rounding, and finite if the
    /// matrix is. This is the function used per frame.
    ///
    /// [`Mat3x4`] represents every matrix. The other formats keep the translation and these parts
    /// of the matrix:
    ///
    /// - A rotation: the Gram–Schmidt orthonormalisation of the first and the second column, and
    ///   their cross product. It removes shear by turning the second and third axes, and a
    ///   reflection by negating the third axis.
    /// - A scale: [`DualQuatStretch`] keeps the lengths of the columns as its stretch,
    ///   [`QuatOffset`] their mean as its uniform scale, and [`DualQuat`] neither.
    ///
    /// A column of zero length has zero stretch, and a direction that completes the other columns
    /// to a rotation. Parts that are not finite become those of the identity.
    #[must_use]
    fn project(matrix: &Affine3A) -> Self;

    /// Converts a skinning matrix to an entry, exact up to rounding.
    ///
    /// A matrix that exceeds the format's limits by at most 1e-4 is projected. The limits apply to
    /// the cosine between two axes, and to the difference of two scales over the greater one.
    ///
    /// # Errors
    /// The limit that the matrix exceeds, and by how much. [`Mat3x4`] represents every matrix.
    fn try_from_affine(matrix: &Affine3A) -> Result<Self, Unrepresentable> {
        match Self::limit(matrix, ROUNDING) {
            Some(why) => Err(why),
            None => Ok(Self::project(matrix)),
        }
    }

    /// Converts the entry to a matrix.
    #[must_use]
    fn to_affine(&self) -> Affine3A;
}

pub(crate) mod sealed {
    use super::PaletteRef;
    use crate::error::Unrepresentable;
    use glam::Affine3A;

    pub trait Entry: Sized {
        /// Wraps a slice of entries as a palette.
        fn palette(list: &[Self]) -> PaletteRef<'_>;

        /// The limit of the format that `matrix` exceeds most, if by more than `tolerance`.
        fn limit(matrix: &Affine3A, tolerance: f32) -> Option<Unrepresentable>;
    }
}

impl<'a, E: PaletteEntry> From<&'a [E]> for PaletteRef<'a> {
    fn from(list: &'a [E]) -> Self {
        E::palette(list)
    }
}

/// The formats, with the scales that each can represent.
macro_rules! entries {
    ($($entry:ident: $limit:expr,)*) => {$(
        impl sealed::Entry for $entry {
            fn palette(list: &[Self]) -> PaletteRef<'_> {
                PaletteRef::$entry(list)
            }

            fn limit(matrix: &Affine3A, tolerance: f32) -> Option<Unrepresentable> {
                let scales: Option<Scales> = $limit;
                scales.and_then(|scales| beyond(matrix, scales, tolerance))
            }
        }
    )*};
}

entries! {
    // It represents every matrix.
    Mat3x4: None,
    DualQuat: Some(Scales::One),
    DualQuatStretch: Some(Scales::Any),
    QuatOffset: Some(Scales::Uniform),
}

impl PaletteEntry for Mat3x4 {
    const FORMAT: PaletteFormat = PaletteFormat::Mat3x4;

    #[inline]
    fn project(matrix: &Affine3A) -> Self {
        Self::from_affine(matrix)
    }

    fn to_affine(&self) -> Affine3A {
        Self::to_affine(self)
    }
}

impl DualQuat {
    /// The identity.
    pub const IDENTITY: Self = Self {
        real: [0.0, 0.0, 0.0, 1.0],
        dual: [0.0; 4],
    };

    /// Creates it from a unit quaternion and a translation in metres.
    ///
    /// The rotation is applied first, then the translation: `dual = (t, 0) r / 2`.
    pub(crate) fn new(rotation: Quat, translation: Vec3) -> Self {
        let dual = Quat::from_vec4((translation * 0.5).extend(0.0)) * rotation;
        Self {
            real: rotation.to_array(),
            dual: dual.to_array(),
        }
    }

    /// The rotation.
    pub(crate) fn rotation(&self) -> Quat {
        Quat::from_array(self.real)
    }

    /// The translation in metres.
    ///
    /// It is the vector part of `2 dual conjugate(real)`, which is `2 (r_w d − d_w r + r × d)` with
    /// the vectors `r`, `d` of the real and dual part.
    pub(crate) fn translation(&self) -> Vec3 {
        translation(Vec4::from_array(self.real), Vec4::from_array(self.dual))
    }
}

/// The translation of a dual quaternion whose real part has unit length.
pub(crate) fn translation(real: Vec4, dual: Vec4) -> Vec3 {
    let (r, d) = (real.xyz(), dual.xyz());
    2.0 * (real.w * d - dual.w * r + r.cross(d))
}

/// The rotation of `p` by the unit quaternion `real`: `p + 2 r × (r × p + r_w p)`.
pub(crate) fn rotate(real: Vec4, p: Vec3) -> Vec3 {
    let r = real.xyz();
    p + 2.0 * r.cross(r.cross(p) + real.w * p)
}

impl PaletteEntry for DualQuat {
    const FORMAT: PaletteFormat = PaletteFormat::DualQuat;

    #[inline]
    fn project(matrix: &Affine3A) -> Self {
        let factors = split(matrix);
        Self::new(factors.rotation, factors.translation)
    }

    fn to_affine(&self) -> Affine3A {
        Affine3A::from_rotation_translation(self.rotation(), self.translation())
    }
}

impl DualQuatStretch {
    /// The identity.
    pub const IDENTITY: Self = Self {
        rigid: DualQuat::IDENTITY,
        stretch: [1.0, 1.0, 1.0, 0.0],
    };
}

impl PaletteEntry for DualQuatStretch {
    const FORMAT: PaletteFormat = PaletteFormat::DualQuatStretch;

    #[inline]
    fn project(matrix: &Affine3A) -> Self {
        let Factors {
            rotation,
            translation,
            stretch,
        } = split(matrix);
        Self {
            rigid: DualQuat::new(rotation, translation),
            stretch: stretch.extend(0.0).to_array(),
        }
    }

    fn to_affine(&self) -> Affine3A {
        let [x, y, z, _] = self.stretch;
        let (rotation, translation) = (self.rigid.rotation(), self.rigid.translation());
        Affine3A::from_scale_rotation_translation(Vec3::new(x, y, z), rotation, translation)
    }
}

impl QuatOffset {
    /// The identity.
    pub const IDENTITY: Self = Self {
        rotation: [0.0, 0.0, 0.0, 1.0],
        offset: [0.0; 3],
        scale: 1.0,
    };

    /// Expands the entry to a matrix.
    ///
    /// Every skinning stage does this before it blends. For the quaternion `(x, y, z, w)` and the
    /// scale `s`, with each product of two components doubled after it is formed, the matrix is
    ///
    /// ```text
    /// s (1 − (yy + zz))   s (xy − wz)         s (xz + wy)         offset.x
    /// s (xy + wz)         s (1 − (xx + zz))   s (yz − wx)         offset.y
    /// s (xz − wy)         s (yz + wx)         s (1 − (xx + yy))   offset.z
    /// ```
    #[inline]
    #[must_use]
    pub fn expand(&self) -> Mat3x4 {
        let [x, y, z, w] = self.rotation;
        let [a, b, c] = self.offset;
        let s = self.scale;
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        Mat3x4 {
            rows: [
                [s * (1.0 - (yy + zz)), s * (xy - wz), s * (xz + wy), a],
                [s * (xy + wz), s * (1.0 - (xx + zz)), s * (yz - wx), b],
                [s * (xz - wy), s * (yz + wx), s * (1.0 - (xx + yy)), c],
            ],
        }
    }
}

impl PaletteEntry for QuatOffset {
    const FORMAT: PaletteFormat = PaletteFormat::QuatOffset;

    #[inline]
    fn project(matrix: &Affine3A) -> Self {
        let factors = split(matrix);
        Self {
            rotation: factors.rotation.to_array(),
            offset: factors.translation.to_array(),
            scale: factors.stretch.element_sum() / 3.0,
        }
    }

    fn to_affine(&self) -> Affine3A {
        self.expand().to_affine()
    }
}
