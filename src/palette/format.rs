//! Palette entry formats, and the skinning methods that use them.

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec3, Vec4};

/// A skinning matrix in the GPU's layout, 48 bytes.
///
/// It holds the upper three rows of a 4×4 matrix, row by row, and maps mesh (bind) space to
/// character space.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Mat3x4 {
    /// The rows: `rows[r] = [m_r0, m_r1, m_r2, m_r3]`.
    ///
    /// The fourth column is the translation.
    pub rows: [[f32; 4]; 3],
}

const _: () = assert!(size_of::<Mat3x4>() == 48 && align_of::<Mat3x4>() == 16);

impl Mat3x4 {
    /// The identity.
    pub const IDENTITY: Self = Self {
        rows: [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
        ],
    };

    /// Converts an affine matrix to the GPU's layout.
    #[inline]
    #[must_use]
    pub fn from_affine(affine: &Affine3A) -> Self {
        let (m, t) = (&affine.matrix3, affine.translation);
        Self {
            rows: [
                [m.x_axis.x, m.y_axis.x, m.z_axis.x, t.x],
                [m.x_axis.y, m.y_axis.y, m.z_axis.y, t.y],
                [m.x_axis.z, m.y_axis.z, m.z_axis.z, t.z],
            ],
        }
    }

    /// Converts it to an affine matrix.
    #[inline]
    #[must_use]
    pub fn to_affine(&self) -> Affine3A {
        let [x, y, z] = &self.rows;
        Affine3A::from_cols_array(&[
            x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2], x[3], y[3], z[3],
        ])
    }

    /// Transforms a point.
    #[inline]
    #[must_use]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let p = point.extend(1.0);
        Vec3::from_array(self.rows.map(|row| Vec4::from_array(row).dot(p)))
    }
}

/// Evaluates an expression for the entry type of a [`PaletteFormat`] that is known at run time.
macro_rules! with_entry {
    ($format:expr, $entry:ident => $run:expr) => {{
        use crate::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteFormat, QuatOffset};
        match $format {
            PaletteFormat::Mat3x4 => {
                type $entry = Mat3x4;
                $run
            }
            PaletteFormat::DualQuat => {
                type $entry = DualQuat;
                $run
            }
            PaletteFormat::DualQuatStretch => {
                type $entry = DualQuatStretch;
                $run
            }
            PaletteFormat::QuatOffset => {
                type $entry = QuatOffset;
                $run
            }
        }
    }};
}

/// Evaluates an expression for the entries of a [`PaletteRef`].
macro_rules! with_entries {
    ($palette:expr, $list:ident => $run:expr) => {
        match $palette {
            crate::palette::PaletteRef::Mat3x4($list) => $run,
            crate::palette::PaletteRef::DualQuat($list) => $run,
            crate::palette::PaletteRef::DualQuatStretch($list) => $run,
            crate::palette::PaletteRef::QuatOffset($list) => $run,
        }
    };
}

/// The way vertices blend several joints, chosen for each character.
///
/// The method determines which palette formats can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SkinningMethod {
    /// Linear blend skinning with [`Mat3x4`], 48 bytes.
    ///
    /// Represents every affine transform.
    #[default]
    Linear,
    /// Dual quaternion skinning, which preserves the volume of twisted limbs.
    ///
    /// Uses [`DualQuat`], 32 bytes, or [`DualQuatStretch`], 48 bytes, for characters whose palette
    /// contains stretch. Represents rotation, translation and a positive stretch along the axes of
    /// mesh space.
    DualQuat,
    /// Linear blend skinning with [`QuatOffset`], 32 bytes.
    ///
    /// Blends as [`Self::Linear`] does, from two thirds of the bytes. Represents rotation,
    /// translation and a positive uniform scale.
    QuatOffset,
}

impl SkinningMethod {
    /// The name of the method in messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Linear => "Linear",
            Self::DualQuat => "DualQuat",
            Self::QuatOffset => "QuatOffset",
        }
    }
}

/// The format of a palette's entries.
///
/// [`Self::of`] finds the format that a character needs for a [`SkinningMethod`]. The
/// values are those of `THRONG_LINEAR` and so on in shaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u32)]
pub enum PaletteFormat {
    /// [`Mat3x4`], 48 bytes: every affine transform.
    #[default]
    Mat3x4 = 0,
    /// [`DualQuat`], 32 bytes: rotation and translation.
    DualQuat = 1,
    /// [`DualQuatStretch`], 48 bytes: rotation, translation, and a positive stretch along the axes
    /// of mesh space.
    DualQuatStretch = 2,
    /// [`QuatOffset`], 32 bytes: rotation, translation and a positive uniform scale.
    QuatOffset = 3,
}

impl PaletteFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [
        Self::Mat3x4,
        Self::DualQuat,
        Self::DualQuatStretch,
        Self::QuatOffset,
    ];

    /// Size of an entry in bytes: 32 or 48.
    ///
    /// Both are multiples of 16.
    #[must_use]
    pub const fn entry_bytes(self) -> usize {
        with_entry!(self, E => size_of::<E>())
    }

    /// The smallest format that a skinning method reads.
    pub(crate) const fn least(method: SkinningMethod) -> Self {
        match method {
            SkinningMethod::Linear => Self::Mat3x4,
            SkinningMethod::DualQuat => Self::DualQuat,
            SkinningMethod::QuatOffset => Self::QuatOffset,
        }
    }

    /// The skinning method that reads this format.
    pub(crate) const fn method(self) -> SkinningMethod {
        match self {
            Self::Mat3x4 => SkinningMethod::Linear,
            Self::DualQuat | Self::DualQuatStretch => SkinningMethod::DualQuat,
            Self::QuatOffset => SkinningMethod::QuatOffset,
        }
    }
}

/// A rotation and a translation as a unit dual quaternion.
///
/// `real` is the rotation `r` (xyzw). `dual` is `t r / 2`: half the product of the translation `t`,
/// as a pure quaternion, and the rotation.
///
/// See Kavan, Collins, Žára, O'Sullivan: "Geometric Skinning with Approximate Dual Quaternion
/// Blending", 2008.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct DualQuat {
    /// The rotation, a unit quaternion, xyzw.
    pub real: [f32; 4],
    /// Half the product of the translation and the rotation, xyzw.
    pub dual: [f32; 4],
}

/// A stretch along the axes of mesh space, followed by a [`DualQuat`].
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct DualQuatStretch {
    /// Rotation and translation.
    pub rigid: DualQuat,
    /// Positive factors along x, y and z. The fourth element is 0.
    ///
    /// The stretch is applied in mesh (bind) space before `rigid`.
    pub stretch: [f32; 4],
}

/// A rotation, a translation and a positive uniform scale.
///
/// It maps `p` to `offset + scale * rotate(rotation, p)`.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct QuatOffset {
    /// The rotation, a unit quaternion, xyzw.
    pub rotation: [f32; 4],
    /// The translation in metres.
    pub offset: [f32; 3],
    /// The uniform scale, positive.
    pub scale: f32,
}

/// A borrowed palette in any of the formats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PaletteRef<'a> {
    /// Matrices for [`SkinningMethod::Linear`].
    Mat3x4(&'a [Mat3x4]),
    /// Entries for [`SkinningMethod::DualQuat`].
    DualQuat(&'a [DualQuat]),
    /// Entries for [`SkinningMethod::DualQuat`] with stretch.
    DualQuatStretch(&'a [DualQuatStretch]),
    /// Entries for [`SkinningMethod::QuatOffset`].
    QuatOffset(&'a [QuatOffset]),
}

impl<'a> PaletteRef<'a> {
    pub(crate) fn len(self) -> usize {
        with_entries!(self, list => list.len())
    }

    pub(crate) fn numbers(self) -> &'a [f32] {
        with_entries!(self, list => bytemuck::cast_slice(list))
    }
}

pub(crate) use {with_entries, with_entry};

const _: () = assert!(size_of::<DualQuat>() == 32 && align_of::<DualQuat>() == 16);
const _: () = assert!(size_of::<DualQuatStretch>() == 48 && align_of::<DualQuatStretch>() == 16);
const _: () = assert!(size_of::<QuatOffset>() == 32 && align_of::<QuatOffset>() == 16);
