//! Lists by indices that are always valid.

use crate::gpu::Destroy;
use core::ops::{Deref, DerefMut, Index, IndexMut};

/// A list whose owner gives out indices, and keeps an element for each of them.
#[derive(Debug)]
pub(crate) struct Table<T>(Vec<T>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for Table<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Table<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T> Index<u32> for Table<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.0[index as usize]
    }
}

impl<T> IndexMut<u32> for Table<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.0[index as usize]
    }
}

/// A list from which elements can be removed. Their indices are not given out again.
///
/// An index that belongs to an instance is that of an element which is still there.
#[derive(Debug)]
pub(crate) struct Slots<T>(Vec<Option<T>>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Slots<T> {
    /// The number of elements that were ever added.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn push(&mut self, element: T) -> u32 {
        self.0.push(Some(element));
        self.0.len() as u32 - 1
    }

    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        self.0.get(index as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.0.get_mut(index as usize)?.as_mut()
    }

    /// Removes an element.
    pub(crate) fn take(&mut self, index: u32) -> Option<T> {
        self.0.get_mut(index as usize)?.take()
    }

    /// All elements, with their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> + Clone {
        let all = (0..).zip(&self.0);
        all.filter_map(|(index, element)| Some((index, element.as_ref()?)))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        let all = (0..).zip(&mut self.0);
        all.filter_map(|(index, element)| Some((index, element.as_mut()?)))
    }
}

impl<T: Destroy> Destroy for Slots<T> {
    type With<'a> = T::With<'a>;

    unsafe fn destroy(&mut self, with: Self::With<'_>) {
        // SAFETY: this function has the same contract.
        unsafe { self.0.destroy(with) };
    }
}

impl<T> Index<u32> for Slots<T> {
    type Output = T;

    fn index(&self, index: u32) -> &T {
        &self.0[index as usize].as_slice()[0]
    }
}

impl<T> IndexMut<u32> for Slots<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.0[index as usize].as_mut_slice()[0]
    }
}
