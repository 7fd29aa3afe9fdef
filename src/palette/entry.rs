//! Palette entries: matrices into each format and back.

use super::format::{DualQuat, DualQuatStretch, PaletteFormat, PaletteRef, QuatOffset};
use super::matrices::Mat3x4;
use super::project::{Parts, ROUNDING, Scales, beyond, split};
use crate::error::Unrepresentable;
use crate::skeleton::Affine;
use bytemuck::Pod;
use glam::{Quat, Vec3, Vec4, Vec4Swizzles};

/// A format of a palette's entries.
///
/// A skinning matrix gets into a format by [`Self::try_from_affine`], which says what the format
/// can't hold, or by [`Self::project`], which leaves that away. Implemented for [`Mat3x4`],
/// [`DualQuat`], [`DualQuatStretch`] and [`QuatOffset`], and not to be implemented for more.
pub trait PaletteEntry: Pod + Send + Sync + sealed::Limits {
    /// The format.
    const FORMAT: PaletteFormat;

    /// The entry nearest to a skinning matrix, for every matrix: exact where
    /// [`Self::try_from_affine`] has no complaint, and finite where the matrix is. The frame's
    /// path.
    ///
    /// [`Mat3x4`] takes every matrix as it is. The others keep the translation, and of the rest a
    /// rotation: the orthonormalisation, after Gram and Schmidt, of the matrix's first and second
    /// column, and their cross product. So a shear is undone by turning the second and third axes,
    /// and a mirror by reversing the third. [`DualQuatStretch`] keeps the lengths of the columns as
    /// its stretch, [`QuatOffset`] a third of their sum as its scale, [`DualQuat`] neither. A
    /// column of zero length has zero stretch, and a direction that completes the others' to a
    /// rotation. Parts that are not finite become the identity's.
    #[must_use]
    fn project(matrix: &Affine) -> Self;

    /// The entry that holds a skinning matrix, up to rounding: what passes the format's limits by
    /// at most 1e-4 (the cosine between two axes; the difference of scales by the greater one) is
    /// projected.
    ///
    /// # Errors
    /// What the format can't hold, and how much of it there is. [`Mat3x4`] holds everything.
    fn try_from_affine(matrix: &Affine) -> Result<Self, Unrepresentable> {
        match Self::limit(matrix, ROUNDING) {
            Some(why) => Err(why),
            None => Ok(Self::project(matrix)),
        }
    }

    /// The matrix that the entry stands for.
    #[must_use]
    fn to_affine(&self) -> Affine;

    /// A palette of such entries.
    #[must_use]
    fn palette(list: &[Self]) -> PaletteRef<'_>;
}

pub(crate) mod sealed {
    use crate::error::Unrepresentable;
    use crate::skeleton::Affine;

    pub trait Limits: Sized {
        /// The limit of the format that `matrix` passes by most, if by more than `tolerance`.
        #[doc(hidden)]
        fn limit(matrix: &Affine, tolerance: f32) -> Option<Unrepresentable>;
    }
}

impl<'a, E: PaletteEntry> From<&'a [E]> for PaletteRef<'a> {
    fn from(list: &'a [E]) -> Self {
        E::palette(list)
    }
}

impl sealed::Limits for Mat3x4 {
    fn limit(_: &Affine, _: f32) -> Option<Unrepresentable> {
        None
    }
}

impl PaletteEntry for Mat3x4 {
    const FORMAT: PaletteFormat = PaletteFormat::Mat3x4;

    #[inline]
    fn project(matrix: &Affine) -> Self {
        Self::from_affine(matrix)
    }

    fn to_affine(&self) -> Affine {
        Self::to_affine(self)
    }

    fn palette(list: &[Self]) -> PaletteRef<'_> {
        PaletteRef::Mat3x4(list)
    }
}

impl DualQuat {
    /// Changes nothing.
    pub const IDENTITY: Self = Self {
        real: [0.0, 0.0, 0.0, 1.0],
        dual: [0.0; 4],
    };

    /// A rotation by a unit quaternion, then a translation in metres: `dual = (t, 0) r / 2`.
    #[must_use]
    pub fn new(rotation: Quat, translation: Vec3) -> Self {
        let dual = Quat::from_vec4((translation * 0.5).extend(0.0)) * rotation;
        Self {
            real: rotation.to_array(),
            dual: dual.to_array(),
        }
    }

    /// The rotation.
    #[must_use]
    pub fn rotation(&self) -> Quat {
        Quat::from_array(self.real)
    }

    /// The translation in metres: the vector part of `2 dual conjugate(real)`, which is
    /// `2 (r_w d − d_w r + r × d)` with the vectors `r`, `d` of the real and dual part.
    #[must_use]
    pub fn translation(&self) -> Vec3 {
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

impl sealed::Limits for DualQuat {
    fn limit(matrix: &Affine, tolerance: f32) -> Option<Unrepresentable> {
        beyond(matrix, Scales::One, tolerance)
    }
}

impl PaletteEntry for DualQuat {
    const FORMAT: PaletteFormat = PaletteFormat::DualQuat;

    #[inline]
    fn project(matrix: &Affine) -> Self {
        let parts = split(matrix);
        Self::new(parts.rotation, parts.translation)
    }

    fn to_affine(&self) -> Affine {
        Affine::from_rotation_translation(self.rotation(), self.translation())
    }

    fn palette(list: &[Self]) -> PaletteRef<'_> {
        PaletteRef::DualQuat(list)
    }
}

impl DualQuatStretch {
    /// Changes nothing.
    pub const IDENTITY: Self = Self {
        rigid: DualQuat::IDENTITY,
        stretch: [1.0, 1.0, 1.0, 0.0],
    };
}

impl sealed::Limits for DualQuatStretch {
    fn limit(matrix: &Affine, tolerance: f32) -> Option<Unrepresentable> {
        beyond(matrix, Scales::Any, tolerance)
    }
}

impl PaletteEntry for DualQuatStretch {
    const FORMAT: PaletteFormat = PaletteFormat::DualQuatStretch;

    #[inline]
    fn project(matrix: &Affine) -> Self {
        let Parts {
            rotation,
            translation,
            stretch,
        } = split(matrix);
        Self {
            rigid: DualQuat::new(rotation, translation),
            stretch: stretch.extend(0.0).to_array(),
        }
    }

    fn to_affine(&self) -> Affine {
        let [x, y, z, _] = self.stretch;
        let (rotation, translation) = (self.rigid.rotation(), self.rigid.translation());
        Affine::from_scale_rotation_translation(Vec3::new(x, y, z), rotation, translation)
    }

    fn palette(list: &[Self]) -> PaletteRef<'_> {
        PaletteRef::DualQuatStretch(list)
    }
}

impl QuatOffset {
    /// Changes nothing.
    pub const IDENTITY: Self = Self {
        rotation: [0.0, 0.0, 0.0, 1.0],
        offset: [0.0; 3],
        scale: 1.0,
    };

    /// The matrix that the entry stands for, as every stage expands it before it blends: for the
    /// quaternion `(x, y, z, w)` and the scale `s`, with each product of two components doubled
    /// once formed,
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

impl sealed::Limits for QuatOffset {
    fn limit(matrix: &Affine, tolerance: f32) -> Option<Unrepresentable> {
        beyond(matrix, Scales::Uniform, tolerance)
    }
}

impl PaletteEntry for QuatOffset {
    const FORMAT: PaletteFormat = PaletteFormat::QuatOffset;

    #[inline]
    fn project(matrix: &Affine) -> Self {
        let parts = split(matrix);
        Self {
            rotation: parts.rotation.to_array(),
            offset: parts.translation.to_array(),
            scale: parts.stretch.element_sum() / 3.0,
        }
    }

    fn to_affine(&self) -> Affine {
        self.expand().to_affine()
    }

    fn palette(list: &[Self]) -> PaletteRef<'_> {
        PaletteRef::QuatOffset(list)
    }
}
