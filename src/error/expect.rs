//! Errors for arguments, and checks that return them.

use super::argument::ArgumentFault;
use super::names::cut;
use super::variants::{DescFault, Error, Result};
use glam::Affine3A;
#[cfg(feature = "vulkan")]
use glam::{DVec3, Vec3A};

/// [`Error::Argument`] with each of its reasons.
impl Error {
    pub(crate) const fn invalid(what: &'static str, why: &'static str) -> Self {
        Self::argument(what, ArgumentFault::Invalid(why))
    }

    pub(crate) fn not_finite(what: &'static str, value: impl Into<f64>) -> Self {
        Self::argument(what, ArgumentFault::NotFinite(value.into()))
    }

    pub(crate) fn out_of_range(
        what: &'static str,
        value: impl Into<f64>,
        min: impl Into<f64>,
        max: impl Into<f64>,
    ) -> Self {
        let (value, min, max) = (value.into(), min.into(), max.into());
        Self::argument(what, ArgumentFault::OutOfRange { value, min, max })
    }

    pub(crate) const fn length(what: &'static str, got: usize, need: usize) -> Self {
        Self::argument(what, ArgumentFault::Length { got, need })
    }

    pub(crate) const fn duplicate(what: &'static str, of: usize) -> Self {
        Self::argument(what, ArgumentFault::Duplicate { of })
    }

    pub(crate) const fn argument(what: &'static str, why: ArgumentFault) -> Self {
        Self::Argument { what, why }
    }

    pub(crate) const fn not_found(what: &'static str, index: usize, count: usize) -> Self {
        let (index, count) = (index as u64, count as u64);
        Self::NotFound { what, index, count }
    }

    /// An error in a description. `place` is the file and the line, if there is a text.
    pub(crate) fn description(
        (file, line): (Box<str>, Option<u32>),
        part: impl Into<Box<str>>,
        field: impl Into<Box<str>>,
        why: DescFault,
    ) -> Self {
        Self::Description {
            file,
            line,
            part: part.into(),
            field: field.into(),
            why: Box::new(why),
        }
    }

    /// This error, about what the import options name. The file's name is filled in later.
    pub(crate) fn not_in_file(self) -> Self {
        Self::InFile {
            file: Box::default(),
            why: Box::new(self),
        }
    }

    /// This error, about one of several things.
    pub(crate) fn at(self, what: &'static str, index: usize) -> Self {
        self.at_named(what, index, "")
    }

    /// This error, about one of several things that has a name.
    pub(crate) fn at_named(self, what: &'static str, index: impl Into<usize>, name: &str) -> Self {
        Self::At {
            what,
            index: index.into() as u64,
            name: cut(name),
            why: Box::new(self),
        }
    }
}

/// Checks the length of a slice.
pub(crate) fn expect_len(what: &'static str, got: usize, need: usize) -> Result<()> {
    if got == need {
        Ok(())
    } else {
        Err(Error::length(what, got, need))
    }
}

/// Checks what an argument must be.
#[cfg(feature = "vulkan")]
pub(crate) fn expect(what: &'static str, holds: bool, why: &'static str) -> Result<()> {
    match holds {
        true => Ok(()),
        false => Err(Error::invalid(what, why)),
    }
}

/// Checks that there is something at an index.
pub(crate) fn expect_index(what: &'static str, index: usize, count: usize) -> Result<()> {
    if index < count {
        Ok(())
    } else {
        Err(Error::not_found(what, index, count))
    }
}

/// Checks that a capacity is not exceeded.
pub(crate) fn expect_cap(what: &'static str, asked: usize, cap: usize) -> Result<()> {
    if asked <= cap {
        return Ok(());
    }
    let (asked, cap) = (asked as u64, cap as u64);
    Err(Error::Capacity { what, asked, cap })
}

/// Checks that `value` is finite.
pub(crate) fn expect_finite(what: &'static str, value: impl Into<f64>) -> Result<()> {
    let value = value.into();
    if value.is_finite() {
        Ok(())
    } else {
        Err(Error::not_finite(what, value))
    }
}

/// Checks that all `values` are finite.
pub(crate) fn expect_all_finite<T: Into<f64>>(
    what: &'static str,
    values: impl IntoIterator<Item = T>,
) -> Result<()> {
    let mut values = values.into_iter();
    values.try_for_each(|value| expect_finite(what, value))
}

/// Checks that `value` is finite and in `min..=max`.
pub(crate) fn expect_in(
    what: &'static str,
    value: impl Into<f64>,
    min: impl Into<f64>,
    max: impl Into<f64>,
) -> Result<()> {
    let (value, min, max) = (value.into(), min.into(), max.into());
    expect_finite(what, value)?;
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(Error::out_of_range(what, value, min, max))
    }
}

/// Checks that a frame in flight exists, of the number that the field `limit` says.
#[cfg(feature = "vulkan")]
pub(crate) fn expect_frame(index: u32, frames: u32, limit: &'static str) -> Result<()> {
    if index < frames {
        return Ok(());
    }
    let last = frames.saturating_sub(1);
    Err(Error::Argument {
        what: "frame_index",
        why: ArgumentFault::FrameIndex { index, last, limit },
    })
}

/// The largest size of a coordinate in metres, of a scale or of a morph weight.
///
/// It is `Character::MAX_EXTENT`, which says why.
pub(crate) const MAX_EXTENT: f32 = 1e18;

/// Checks that all values are finite and at most [`MAX_EXTENT`] in size.
pub(crate) fn expect_extent(
    what: &'static str,
    values: impl IntoIterator<Item = f32>,
) -> Result<()> {
    let each = |value| expect_in(what, value, -MAX_EXTENT, MAX_EXTENT);
    values.into_iter().try_for_each(each)
}

/// Checks that all numbers of a transform are finite and at most [`MAX_EXTENT`] in size.
pub(crate) fn expect_transform(what: &'static str, transform: &Affine3A) -> Result<()> {
    expect_extent(what, transform.to_cols_array())
}

/// Checks the transform of an instance: as [`expect_transform`], and its axes must span space.
#[cfg(feature = "vulkan")]
#[inline]
pub(crate) fn expect_placement(what: &'static str, transform: &Affine3A) -> Result<()> {
    if is_plainly_a_placement(transform) {
        return Ok(());
    }
    expect_transform(what, transform)?;
    let axes = [0, 1, 2].map(|axis| transform.matrix3.col(axis).as_dvec3());
    let why = "is flat: a scale is 0, or its axes lie in a plane (set_visible hides an instance)";
    expect(what, spans_space(axes), why)
}

/// True for transforms that [`expect_placement`] certainly allows: nearly all that occur.
///
/// With squared lengths in this range, no product overflows or vanishes. The limit of the squared
/// volume is 30 times that of [`spans_space`], squared, which leaves room for the rounding of
/// `f32`.
#[cfg(feature = "vulkan")]
#[inline]
fn is_plainly_a_placement(transform: &Affine3A) -> bool {
    let [x, y, z] = [
        transform.matrix3.x_axis,
        transform.matrix3.y_axis,
        transform.matrix3.z_axis,
    ];
    let lengths = Vec3A::new(x.dot(x), y.dot(y), z.dot(z));
    let in_range = lengths.cmpge(Vec3A::splat(1e-10)) & lengths.cmple(Vec3A::splat(1e10));
    let is_near = transform.translation.abs().cmple(Vec3A::splat(MAX_EXTENT));
    let volume = x.cross(y).dot(z);
    (in_range & is_near).all() && volume * volume > 1e-9 * (lengths.x * lengths.y * lengths.z)
}

/// True if three vectors, of any lengths, do not lie in a plane.
#[cfg(feature = "vulkan")]
pub(crate) fn spans_space(vectors: [DVec3; 3]) -> bool {
    let [x, y, z] = vectors.map(|vector| {
        // Squares of the least and the largest f32 are in the range of f64.
        vector / vector.length().max(f64::MIN_POSITIVE)
    });
    x.cross(y).dot(z).abs() > 1e-6
}
