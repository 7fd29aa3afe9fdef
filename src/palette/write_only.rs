//! A slice that can be written and never read.

use crate::error::{Result, expect_len};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// A slice that can only be written: mapped device memory, or memory not yet initialised.
///
/// There is no way to read through it, because reading write-combined memory is slow by orders
/// of magnitude. Write in ascending order: such memory collects neighbouring writes into whole
/// bus transactions.
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
/// Nothing can be read: it can't be indexed,
///
/// ```compile_fail,E0608
/// fn read(view: &throng::palette::WriteOnly<'_, u32>) -> u32 {
///     view[0]
/// }
/// ```
///
/// it does not turn into a slice,
///
/// ```compile_fail,E0308
/// fn read<'a>(view: &'a throng::palette::WriteOnly<'_, u32>) -> &'a [u32] {
///     view
/// }
/// ```
///
/// and its address is not to be had.
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

// SAFETY: it is an exclusive borrow of memory, like `&mut [MaybeUninit<T>]`, and T is Copy + Send.
unsafe impl<T: Copy + Send> Send for WriteOnly<'_, T> {}

impl<'a, T: Copy> WriteOnly<'a, T> {
    /// The slice of `len` elements at `start`.
    ///
    /// # Safety
    /// `start` is aligned for `T` and valid for writes of `len` elements for the lifetime `'a`, and
    /// nothing else reads or writes there during it.
    #[must_use]
    pub const unsafe fn from_raw(start: *mut T, len: usize) -> Self {
        Self {
            start,
            len,
            owner: PhantomData,
        }
    }

    /// Over memory that need not be initialised.
    #[must_use]
    pub const fn new(slice: &'a mut [MaybeUninit<T>]) -> Self {
        Self {
            start: slice.as_mut_ptr().cast(),
            len: slice.len(),
            owner: PhantomData,
        }
    }

    /// Over initialised memory.
    #[must_use]
    pub const fn over(slice: &'a mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            len: slice.len(),
            owner: PhantomData,
        }
    }

    /// How many elements there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the first element goes: for writing all of them, and nothing else.
    pub(crate) const fn as_mut_ptr(&mut self) -> *mut T {
        self.start
    }

    /// A shorter borrow of the same memory.
    #[must_use]
    pub const fn reborrow(&mut self) -> WriteOnly<'_, T> {
        WriteOnly {
            start: self.start,
            len: self.len,
            owner: PhantomData,
        }
    }

    /// The parts before and from `at`; `at` is clamped to the length.
    #[must_use]
    pub fn split_at(self, at: usize) -> (Self, Self) {
        let at = at.min(self.len);
        // SAFETY: `at` is at most the length, so both parts lie in the borrowed memory, disjoint.
        let tail = unsafe { self.start.add(at) };
        (
            Self {
                start: self.start,
                len: at,
                owner: PhantomData,
            },
            Self {
                start: tail,
                len: self.len - at,
                owner: PhantomData,
            },
        )
    }

    /// Writes all elements in ascending order, each as soon as `items` yields it: one per item of
    /// `items`, which must be as many as there are.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `items` is not exactly as long; nothing is
    /// written then. The same if it ends before the length that it announced, with what came until
    /// then written.
    pub fn fill_with(&mut self, items: impl ExactSizeIterator<Item = T>) -> Result<()> {
        expect_len("elements to write", items.len(), self.len)?;
        // The length that an iterator announces is a promise that safe code can break.
        self.fill_from(items)
    }

    /// As [`Self::fill_with`], for iterators that don't know their length. What they have beyond
    /// the last element is not taken.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `items` ends too soon, with what came until
    /// then written.
    pub fn fill_from(&mut self, items: impl Iterator<Item = T>) -> Result<()> {
        let mut written = 0;
        for item in items.take(self.len) {
            // SAFETY: `take` keeps `written` below the length.
            unsafe { self.start.add(written).write(item) };
            written += 1;
        }
        expect_len("elements to write", written, self.len)
    }

    /// Overwrites every byte with `byte`, whatever that makes of the elements.
    #[cfg(feature = "vulkan")]
    pub(crate) fn poison(self, byte: u8) {
        // SAFETY: the borrow covers `len` elements; no one reads them as `T` through this borrow.
        unsafe { self.start.write_bytes(byte, self.len) };
    }

    /// Copies `items` over all elements.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `items` is not exactly as long; nothing is
    /// written then.
    pub fn copy_from(&mut self, items: &[T]) -> Result<()> {
        expect_len("elements to write", items.len(), self.len)?;
        // SAFETY: both are `len` elements long; `self` is exclusive, so they do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(items.as_ptr(), self.start, self.len) };
        Ok(())
    }
}
