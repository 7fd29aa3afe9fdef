//! The formats of a palette's entries, and the skinning methods that go with them.

use super::matrices::Mat3x4;
use bytemuck::{Pod, Zeroable};

/// How vertices follow several joints, and in which format the palette says where those are. Chosen
/// for each character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SkinningMethod {
    /// Matrices are blended: [`Mat3x4`], 48 bytes. Holds every affine transform.
    #[default]
    Linear,
    /// Dual quaternions are blended, which keeps the volume of twisted limbs: [`DualQuat`], 32
    /// bytes, or [`DualQuatStretch`], 48 bytes, for characters whose palette stretches. Holds
    /// rotation, translation and a positive stretch along the axes of mesh space.
    DualQuat,
    /// Blends as [`Self::Linear`] does, from two thirds of the bytes: [`QuatOffset`], 32 bytes.
    /// Holds rotation, translation and a positive uniform scale.
    QuatOffset,
}

impl SkinningMethod {
    /// The name that messages use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "Linear",
            Self::DualQuat => "DualQuat",
            Self::QuatOffset => "QuatOffset",
        }
    }
}

/// The format of a palette's entries.
///
/// Which one a character needs for a [`SkinningMethod`] is found by
/// [`check_method`](crate::palette::check_method()).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PaletteFormat {
    /// [`Mat3x4`], 48 bytes: every affine transform.
    #[default]
    Mat3x4,
    /// [`DualQuat`], 32 bytes: rotation and translation.
    DualQuat,
    /// [`DualQuatStretch`], 48 bytes: rotation, translation, and a positive stretch along the axes
    /// of mesh space.
    DualQuatStretch,
    /// [`QuatOffset`], 32 bytes: rotation, translation and a positive uniform scale.
    QuatOffset,
}

impl PaletteFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [
        Self::Mat3x4,
        Self::DualQuat,
        Self::DualQuatStretch,
        Self::QuatOffset,
    ];

    /// Bytes of an entry: 48 or 32, a multiple of 16.
    #[must_use]
    pub const fn entry_bytes(self) -> usize {
        match self {
            Self::Mat3x4 => size_of::<Mat3x4>(),
            Self::DualQuat => size_of::<DualQuat>(),
            Self::DualQuatStretch => size_of::<DualQuatStretch>(),
            Self::QuatOffset => size_of::<QuatOffset>(),
        }
    }

    /// The shortest format that a skinning method reads.
    pub(crate) const fn least(method: SkinningMethod) -> Self {
        match method {
            SkinningMethod::Linear => Self::Mat3x4,
            SkinningMethod::DualQuat => Self::DualQuat,
            SkinningMethod::QuatOffset => Self::QuatOffset,
        }
    }

    /// The format that holds what this one and `other` hold, both of one skinning method.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::DualQuat, Self::DualQuatStretch) => other,
            _ => self,
        }
    }

    /// The skinning method that reads such palettes.
    #[must_use]
    pub const fn method(self) -> SkinningMethod {
        match self {
            Self::Mat3x4 => SkinningMethod::Linear,
            Self::DualQuat | Self::DualQuatStretch => SkinningMethod::DualQuat,
            Self::QuatOffset => SkinningMethod::QuatOffset,
        }
    }
}

/// A rotation and a translation as a unit dual quaternion: `real` is the rotation `r` (xyzw),
/// `dual` is `t r / 2`, the translation `t` as a pure quaternion times the rotation.
///
/// After Kavan, Collins, Žára, O'Sullivan: "Geometric Skinning with Approximate Dual Quaternion
/// Blending", 2008.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct DualQuat {
    /// The rotation, xyzw, of unit length.
    pub real: [f32; 4],
    /// Half the translation times the rotation.
    pub dual: [f32; 4],
}

/// A [`DualQuat`] after a stretch along the axes of mesh space.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct DualQuatStretch {
    /// Rotation and translation.
    pub rigid: DualQuat,
    /// Factors along x, y and z, positive, applied in mesh (bind) space before `rigid`; the fourth
    /// is 0.
    pub stretch: [f32; 4],
}

/// A rotation, a translation and a positive uniform scale: `p` goes to `offset + scale *
/// rotate(rotation, p)`.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct QuatOffset {
    /// Unit quaternion, xyzw.
    pub rotation: [f32; 4],
    /// Metres; the translation.
    pub offset: [f32; 3],
    /// The uniform scale, positive.
    pub scale: f32,
}

/// A character's palette in one of the formats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PaletteRef<'a> {
    /// For [`SkinningMethod::Linear`].
    Mat3x4(&'a [Mat3x4]),
    /// For [`SkinningMethod::DualQuat`].
    DualQuat(&'a [DualQuat]),
    /// For [`SkinningMethod::DualQuat`] with stretch.
    DualQuatStretch(&'a [DualQuatStretch]),
    /// For [`SkinningMethod::QuatOffset`].
    QuatOffset(&'a [QuatOffset]),
}

impl PaletteRef<'_> {
    /// The method that reads it.
    #[must_use]
    pub const fn method(&self) -> SkinningMethod {
        match self {
            Self::Mat3x4(_) => SkinningMethod::Linear,
            Self::DualQuat(_) | Self::DualQuatStretch(_) => SkinningMethod::DualQuat,
            Self::QuatOffset(_) => SkinningMethod::QuatOffset,
        }
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Mat3x4(list) => list.len(),
            Self::DualQuat(list) => list.len(),
            Self::DualQuatStretch(list) => list.len(),
            Self::QuatOffset(list) => list.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

const _: () = assert!(size_of::<DualQuat>() == 32 && align_of::<DualQuat>() == 16);
const _: () = assert!(size_of::<DualQuatStretch>() == 48 && align_of::<DualQuatStretch>() == 16);
const _: () = assert!(size_of::<QuatOffset>() == 32 && align_of::<QuatOffset>() == 16);
