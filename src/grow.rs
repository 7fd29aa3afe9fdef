//! Memory of lists, without more than they need.

/// Reserves memory for this many elements in all, and no more.
pub(crate) fn reserve_all<T>(list: &mut Vec<T>, all: usize) {
    list.reserve_exact(all.saturating_sub(list.len()));
}

/// The length to reserve for a full list of `len` elements, if at most `more` follow.
///
/// It is an eighth longer, so that adding an element takes the same time on average however long
/// the list is.
#[cfg(feature = "vulkan")]
pub(crate) fn grown(len: usize, more: usize) -> usize {
    len + more.min((len / 8).max(64))
}
