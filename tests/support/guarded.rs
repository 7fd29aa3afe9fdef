//! Slices that end directly before a page that cannot be accessed.
//!
//! A read or a write past their end faults, which ends the test program. Before the first element
//! there is a guard page, too, unless the slice does not fill its pages.

use std::ptr::NonNull;

/// A slice between two pages without access. Its end is the end of its last page.
pub(crate) struct Guarded<T: Copy> {
    mapping: NonNull<u8>,
    bytes: usize,
    start: *mut T,
    len: usize,
}

impl<T: Copy> Guarded<T> {
    /// Copies the values in front of the guard page.
    pub(crate) fn new(values: &[T]) -> Self {
        // SAFETY: this only asks for a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        assert_eq!(page % align_of::<T>(), 0, "the end is aligned");
        let used = size_of_val(values).next_multiple_of(page).max(page);
        let bytes = used + 2 * page;
        let (access, kind) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the system's choice affects no other memory.
        let mapping = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        assert_ne!(mapping, libc::MAP_FAILED);
        let mapping = NonNull::new(mapping.cast::<u8>()).unwrap();
        // SAFETY: these pages are the middle of the mapping.
        let start = unsafe {
            let first = mapping.as_ptr().add(page);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(first.cast(), used, access), 0);
            first.add(used - size_of_val(values)).cast::<T>()
        };
        let len = values.len();
        // SAFETY: the last `len` elements of the accessible pages, which nothing else uses.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), start, len) };
        Self {
            mapping,
            bytes,
            start,
            len,
        }
    }

    pub(crate) fn slice(&self) -> &[T] {
        // SAFETY: the elements were copied there, and live as long as the mapping.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    pub(crate) fn slice_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the mapping belongs to this value alone.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl<T: Copy> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping was created with this size, and no slice of it is left.
        let freed = unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.bytes) };
        assert_eq!(freed, 0);
    }
}
