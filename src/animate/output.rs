//! The memory that poses and palettes are written to.

use super::group::Product;
use crate::palette::{PaletteEntry, WriteOnly};
use crate::skeleton::Transform;
use glam::Affine3A;

/// The output of a batch: its kind and its memory, one instance after the other.
pub(crate) struct Output {
    pub(crate) product: Product,
    pub(crate) start: *mut u8,
    /// Length of the output in elements.
    pub(crate) len: usize,
}

/// The output addresses of the instances.
#[derive(Debug, Clone, Copy)]
pub enum Starts<'a> {
    /// Contiguous outputs: the address of the first, and the size of each in bytes.
    Even(*mut u8, usize),
    /// A separate address for each instance.
    Each(&'a [*mut u8]),
}

// SAFETY: these are only addresses. The functions that write to them require that no two threads
// write to the same output.
unsafe impl Sync for Starts<'_> {}

impl Starts<'_> {
    #[inline]
    pub(crate) fn at(&self, index: usize) -> *mut u8 {
        match self {
            Self::Even(start, bytes) => start.wrapping_add(index * bytes),
            Self::Each(starts) => starts[index],
        }
    }
}

impl Output {
    pub(crate) fn palettes<E: PaletteEntry>(mut out: WriteOnly<'_, E>) -> Self {
        Self {
            product: Product::Palette(E::FORMAT),
            start: out.as_mut_ptr().cast(),
            len: out.len(),
        }
    }

    pub(crate) fn local(out: &mut [Transform]) -> Self {
        Self {
            product: Product::Local,
            start: out.as_mut_ptr().cast(),
            len: out.len(),
        }
    }

    pub(crate) fn models(out: &mut [Affine3A]) -> Self {
        Self {
            product: Product::Model,
            start: out.as_mut_ptr().cast(),
            len: out.len(),
        }
    }
}
