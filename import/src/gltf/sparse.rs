//! Sparse accessors: values that replace elements of a view, or of zeros.

use super::accessor::{Elements, form};
use super::component::Component;
use super::json::{Accessor, Sparse};
use super::source::{Bytes, Source};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};

/// The elements of a three-component accessor as the file stores them, without a copy.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    base: Option<Elements<'a>>,
    over: Option<Over<'a>>,
}

/// The values of a sparse part, and the indices of the elements that they replace: ascending, each
/// less than the accessor's count.
#[derive(Debug)]
struct Over<'a> {
    indices: Elements<'a>,
    values: Elements<'a>,
}

impl Stored<'_> {
    /// The number of elements that [`Self::each`] visits.
    pub(super) fn len(&self) -> usize {
        let over = self.over.as_ref().map_or(0, |over| over.indices.count);
        self.base.as_ref().map_or(over, |base| base.count)
    }

    /// Visits every stored element with its index, in ascending order. All others are zero.
    pub(super) fn each(&self, mut visit: impl FnMut(usize, [f32; 3])) {
        let index = |at: usize| -> Option<usize> {
            let over = self.over.as_ref().filter(|over| at < over.indices.count)?;
            Some(over.indices.integer(at, 0) as usize)
        };
        let value = |at: usize| match &self.over {
            Some(over) => over.values.numbers(at),
            None => [0.0; 3],
        };
        let mut next = 0;
        let Some(base) = &self.base else {
            while let Some(element) = index(next) {
                visit(element, value(next));
                next += 1;
            }
            return;
        };
        let mut next_index = index(next);
        for element in 0..base.count {
            if next_index == Some(element) {
                visit(element, value(next));
                next += 1;
                next_index = index(next);
            } else {
                visit(element, base.numbers(element));
            }
        }
    }
}

impl<'a> Source<'a> {
    /// The elements of an accessor in the memory of the file. Allocates nothing except a buffer
    /// that has not been loaded yet.
    pub(super) fn stored(&mut self, index: usize) -> Result<Stored<'a>> {
        let object = Object::new(ObjectKind::Accessor, index, "");
        let accessor = &self.doc.accessors[index];
        let (component, size) = form(accessor, &object)?;
        let mut base = None;
        if accessor.buffer_view.is_some() {
            let mut elements = Elements {
                bytes: Bytes::Borrowed(&[]),
                start: 0,
                stride: size,
                count: usize::try_from(accessor.count).unwrap_or(usize::MAX),
                component,
                normalized: accessor.normalized,
            };
            self.locate(&mut elements, accessor, &object)?;
            base = Some(elements);
        }
        let over = match &accessor.sparse {
            Some(sparse) => Some(self.over(accessor, sparse, (component, size), &object)?),
            None => None,
        };
        Ok(Stored { base, over })
    }

    fn over(
        &mut self,
        accessor: &Accessor,
        sparse: &Sparse,
        (component, size): (Component, usize),
        object: &Object,
    ) -> Result<Over<'a>> {
        let (bytes, start, _) = self.view(sparse.indices.buffer_view, object)?;
        let index_type = Component::from_code(sparse.indices.component_type);
        let index_type = index_type.unwrap_or(Component::U32);
        let replaced = Elements {
            bytes,
            start: start + sparse.indices.byte_offset as usize,
            stride: index_type.size(),
            count: sparse.count as usize,
            component: index_type,
            normalized: false,
        };
        let mut before = None;
        for at in 0..replaced.count {
            let index = replaced.integer(at, 0);
            if u64::from(index) >= accessor.count || before.is_some_and(|before| index <= before) {
                return Err(wrong_index(object, at, index));
            }
            before = Some(index);
        }
        let (bytes, start, _) = self.view(sparse.values.buffer_view, object)?;
        let values = Elements {
            bytes,
            start: start + sparse.values.byte_offset as usize,
            stride: size,
            count: sparse.count as usize,
            component,
            normalized: accessor.normalized,
        };
        let indices = replaced;
        Ok(Over { indices, values })
    }

    /// Writes the values of the sparse part over the elements that they replace.
    pub(super) fn put_sparse(
        &mut self,
        dense: &mut [u8],
        accessor: &Accessor,
        sparse: &Sparse,
        size: usize,
        object: &Object,
    ) -> Result<()> {
        // All of them are read, even if only the first elements are needed.
        let read = sparse.count.saturating_mul(size as u64);
        self.charge(read, || object.clone())?;
        // The values are copied as bytes, whatever their type.
        let Over { indices, values } =
            self.over(accessor, sparse, (Component::U8, size), object)?;
        for at in 0..indices.count {
            let index = indices.integer(at, 0) as usize;
            let from = values.bytes.as_ref().get(values.start + at * size..);
            let from = from.and_then(|values| values.get(..size));
            let to = dense.chunks_exact_mut(size).nth(index);
            if let (Some(from), Some(to)) = (from, to) {
                to.copy_from_slice(from);
            }
        }
        Ok(())
    }
}

fn wrong_index(object: &Object, at: usize, replaced: u32) -> Error {
    let mut object = object.clone();
    object.part = "sparse.indices".into();
    let allowed = "greater than the one before it and less than the accessor's count";
    Error::asset(object, AssetFault::value("index", at, replaced, allowed))
}
