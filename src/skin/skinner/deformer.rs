//! The trait of all transforms of vertices in blocks of eight.

use super::lanes::{Influence, Lanes};
use crate::palette::Mat3x4;

/// The transform of a block of vertices.
pub(super) trait Deformer<L: Lanes>: Sized {
    /// Blends the entries of a block.
    ///
    /// # Safety
    /// As [`Lanes::blend`].
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> Self;
    fn point(&self, point: [L; 3]) -> [L; 3];
    fn normal(&self, normal: [L; 3]) -> [L; 3];
    fn tangent(&self, tangent: [L; 4]) -> [L; 4];
}
