//! The trait of all transforms of vertices in blocks of eight.

use super::lanes::{Influence, Lanes};
use super::vector::in_each;
use crate::palette::Mat3x4;
use crate::skin::vertices::Deform;
use glam::{Vec3, Vec4};

/// The transform of a block of vertices.
pub(super) trait Deformer<L: Lanes>: Sized {
    type One: Deform;

    /// Blends the entries of a block.
    ///
    /// # Safety
    /// As [`Lanes::blend`].
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> Self;
    /// The transform of one vertex, for the plain code.
    fn of(&self, lane: usize) -> Self::One;
    fn point(&self, point: [L; 3]) -> [L; 3];
    fn normal(&self, normal: [L; 3]) -> [L; 3];
    fn tangent(&self, tangent: [L; 4]) -> [L; 4];

    /// Transforms a normal with the plain code, which handles every transform.
    #[cold]
    #[inline(never)]
    fn careful_normal(&self, normal: [L; 3]) -> [L; 3] {
        in_each(normal, |lane, normal| {
            let mut image = Vec3::from_array(normal);
            self.of(lane).directions(Some(&mut image), None);
            image.to_array()
        })
    }

    #[cold]
    #[inline(never)]
    fn careful_tangent(&self, tangent: [L; 4]) -> [L; 4] {
        in_each(tangent, |lane, tangent| {
            let mut image = Vec4::from_array(tangent);
            self.of(lane).directions(None, Some(&mut image));
            image.to_array()
        })
    }
}
