//! Stable sorting with one copy of the code, and the greatest of three numbers.
//!
//! The standard library's sorts are compiled again for each type of element and each comparison.
//! The functions here sort indices instead, and compare through a reference. They are for lists
//! that are not sorted every frame.

use core::cmp::Ordering;

/// Lists up to this length are sorted in place, without indices.
const SHORT: usize = 8;

/// The index of the greatest of three numbers: the first of equal ones.
pub(crate) fn greatest<T: PartialOrd>(numbers: [T; 3]) -> usize {
    let greater = |a, b| if numbers[b] > numbers[a] { b } else { a };
    greater(greater(0, 1), 2)
}

/// Sorts in ascending order. Equal elements keep their order.
pub(crate) fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, T::cmp);
}

/// Sorts by a key. Elements with equal keys keep their order.
pub(crate) fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// Sorts in ascending order, and keeps one of equal elements.
#[cfg(feature = "vulkan")]
pub(crate) fn sorted_set<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    sort(&mut list);
    list.dedup();
    list
}

/// Sorts with a comparison. Elements that compare as equal keep their order.
pub(crate) fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if list.len() <= SHORT {
        for end in 1..list.len() {
            let mut at = end;
            while at > 0 && compare(&list[at], &list[at - 1]).is_lt() {
                list.swap(at - 1, at);
                at -= 1;
            }
        }
        return;
    }
    let mut order: Vec<usize> = (0..list.len()).collect();
    sort_indices(&mut order, &|a, b| compare(&list[a], &list[b]));
    let mut positions = vec![0; list.len()];
    for (position, index) in order.into_iter().enumerate() {
        positions[index] = position;
    }
    for index in 0..list.len() {
        // Each swap moves an element to its position.
        while positions[index] != index {
            let position = positions[index];
            list.swap(index, position);
            positions.swap(index, position);
        }
    }
}

/// Sorts indices with a comparison. Indices that compare as equal keep their order.
pub(crate) fn sort_indices(indices: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    indices.sort_by(|a, b| compare(*a, *b));
}
