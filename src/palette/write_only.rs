//! A slice that can be written but not read.

use crate::error::{Error, Result, expect_len};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// A slice that can only be written.
///
/// Functions that write palettes take anything that converts to it, such as `&mut Vec`. It is meant
/// for mapped device memory and for uninitialised memory. It offers no way to read, because
/// reading write-combined memory is orders of magnitude slower. Write in ascending order: such
/// memory combines neighbouring writes into whole bus transactions.
///
/// # Alignment
/// The memory must be aligned for `T`. Palette entries are aligned to 16 bytes, and nothing needs
/// more: wider stores are unaligned ones. Whole cache lines are stored at once where all palettes
/// of a group start at the same offset into a line of 64 bytes. Functions that write palettes
/// return an error if the memory is not aligned for the entries.
///
/// ```
/// use throng::palette::{Mat3x4, WriteOnly};
///
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 5];
/// let (mut head, mut tail) = WriteOnly::new(&mut memory).split_at(2);
/// head.copy_from(&[Mat3x4::IDENTITY; 2])?;
/// tail.fill_with(std::iter::repeat_n(Mat3x4::IDENTITY, 3))?;
/// # Ok::<(), throng::Error>(())
/// ```
///
/// It cannot be indexed,
///
/// ```compile_fail,E0608
/// fn read(view: &throng::palette::WriteOnly<'_, u32>) -> u32 {
///     view[0]
/// }
/// ```
///
/// it does not convert to a slice,
///
/// ```compile_fail,E0308
/// fn read<'a>(view: &'a throng::palette::WriteOnly<'_, u32>) -> &'a [u32] {
///     view
/// }
/// ```
///
/// and its address is not accessible.
///
/// ```compile_fail,E0616
/// fn read(view: &throng::palette::WriteOnly<'_, u32>) -> *const u32 {
///     view.start
/// }
/// ```
#[derive(Debug)]
pub struct WriteOnly<'a, T: Copy> {
    start: *mut T,
    len: usize,
    owner: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: it is an exclusive borrow of memory, like `&mut [MaybeUninit<T>]`, and `T` is `Send`.
unsafe impl<T: Copy + Send> Send for WriteOnly<'_, T> {}

/// Over initialised memory.
impl<'a, T: Copy> From<&'a mut [T]> for WriteOnly<'a, T> {
    fn from(slice: &'a mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            len: slice.len(),
            owner: PhantomData,
        }
    }
}

impl<'a, T: Copy> From<&'a mut Vec<T>> for WriteOnly<'a, T> {
    fn from(list: &'a mut Vec<T>) -> Self {
        list.as_mut_slice().into()
    }
}

impl<'a, T: Copy, const N: usize> From<&'a mut [T; N]> for WriteOnly<'a, T> {
    fn from(array: &'a mut [T; N]) -> Self {
        array.as_mut_slice().into()
    }
}

impl<'a, T: Copy> WriteOnly<'a, T> {
    /// Creates a slice of `len` elements at `start`.
    ///
    /// # Safety
    /// `start` is aligned for `T` and valid for writes of `len` elements for the lifetime `'a`.
    /// Nothing else reads or writes this memory during `'a`.
    #[must_use]
    pub const unsafe fn from_raw(start: *mut T, len: usize) -> Self {
        Self {
            start,
            len,
            owner: PhantomData,
        }
    }

    /// Creates a slice over memory that need not be initialised.
    #[must_use]
    pub const fn new(slice: &'a mut [MaybeUninit<T>]) -> Self {
        Self {
            start: slice.as_mut_ptr().cast(),
            len: slice.len(),
            owner: PhantomData,
        }
    }

    /// The number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no elements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the first element. Use it only to write all elements.
    pub(crate) const fn as_mut_ptr(&mut self) -> *mut T {
        self.start
    }

    /// Checks that the memory is aligned for its elements.
    ///
    /// Every constructor requires it. A check costs nothing beside a batch of palettes, and mapped
    /// addresses come from drivers and allocators.
    pub(crate) fn expect_aligned(&self, what: &'static str) -> Result<()> {
        if self.start.is_aligned() {
            return Ok(());
        }
        let why = "is not aligned for its elements (16 bytes for palette entries)";
        Err(Error::invalid(what, why))
    }

    /// Splits the slice before element `at`, which is clamped to the length.
    #[must_use]
    pub fn split_at(self, at: usize) -> (Self, Self) {
        let at = at.min(self.len);
        // SAFETY: `at` is at most the length, so both parts lie in the borrowed memory and are
        // disjoint.
        unsafe {
            let tail = self.start.add(at);
            (
                Self::from_raw(self.start, at),
                Self::from_raw(tail, self.len - at),
            )
        }
    }

    /// Writes all elements in ascending order, from an iterator.
    ///
    /// Each is written as soon as `items` yields it.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `items` does not have one item per
    /// element. Nothing is written then. The same error is returned if `items` ends before the
    /// length that it reported; the items yielded until then have been written.
    pub fn fill_with(&mut self, items: impl ExactSizeIterator<Item = T>) -> Result<()> {
        expect_len("elements to write", items.len(), self.len)?;
        // The length that an iterator reports may be wrong, even in safe code.
        self.fill_from(items)
    }

    /// Does the same as [`Self::fill_with`] for iterators of unknown length.
    ///
    /// Items beyond the last element are not taken.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `items` ends too soon. The items
    /// yielded until then have been written.
    pub(crate) fn fill_from(&mut self, items: impl Iterator<Item = T>) -> Result<()> {
        let mut written = 0;
        for item in items.take(self.len) {
            // SAFETY: `take` keeps `written` below the length, so the element lies in the borrowed
            // memory.
            unsafe { self.start.add(written).write(item) };
            written += 1;
        }
        expect_len("elements to write", written, self.len)
    }

    /// Copies `items` over all elements.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `items` does not have the same length.
    /// Nothing is written then.
    pub fn copy_from(&mut self, items: &[T]) -> Result<()> {
        expect_len("elements to write", items.len(), self.len)?;
        // SAFETY: both are `len` elements long. `self` is an exclusive borrow, so they do not
        // overlap.
        unsafe { core::ptr::copy_nonoverlapping(items.as_ptr(), self.start, self.len) };
        Ok(())
    }
}
