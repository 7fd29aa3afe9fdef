//! Accessors: elements, read byte by byte, so alignment does not matter.

use super::component::{Component, shape};
use super::json::Accessor;
use super::source::{Bytes, Source};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};

/// The elements of an accessor. Every element lies within the bytes.
#[derive(Debug)]
pub(super) struct Elements<'a> {
    pub(super) bytes: Bytes<'a>,
    pub(super) start: usize,
    pub(super) stride: usize,
    pub(super) count: usize,
    pub(super) component: Component,
    pub(super) normalized: bool,
}

impl Elements<'_> {
    fn word<const N: usize>(&self, element: usize, component: usize) -> [u8; N] {
        let at = self.start + element * self.stride + component * N;
        let bytes = self.bytes.as_ref().get(at..).and_then(<[u8]>::first_chunk);
        bytes.copied().unwrap_or([0; N])
    }

    /// A component as a number. Normalised integers are converted as the format defines.
    pub(super) fn number(&self, element: usize, at: usize) -> f32 {
        let scale = |value: f32, most: f32| {
            if self.normalized {
                (value / most).max(-1.0)
            } else {
                value
            }
        };
        match self.component {
            Component::I8 => scale(i8::from_le_bytes(self.word(element, at)).into(), 127.0),
            Component::U8 => scale(u8::from_le_bytes(self.word(element, at)).into(), 255.0),
            Component::I16 => scale(i16::from_le_bytes(self.word(element, at)).into(), 32767.0),
            Component::U16 => scale(u16::from_le_bytes(self.word(element, at)).into(), 65535.0),
            Component::U32 => u32::from_le_bytes(self.word(element, at)) as f32,
            Component::F32 => f32::from_le_bytes(self.word(element, at)),
        }
    }

    /// A component as an unsigned integer.
    pub(super) fn integer(&self, element: usize, at: usize) -> u32 {
        match self.component {
            Component::U8 => u8::from_le_bytes(self.word(element, at)).into(),
            Component::U16 => u16::from_le_bytes(self.word(element, at)).into(),
            _ => u32::from_le_bytes(self.word(element, at)),
        }
    }

    pub(super) fn numbers<const N: usize>(&self, element: usize) -> [f32; N] {
        core::array::from_fn(|at| self.number(element, at))
    }

    pub(super) fn all<T, const N: usize>(&self, value: impl Fn([f32; N]) -> T) -> Vec<T> {
        let elements = 0..self.count;
        elements
            .map(|element| value(self.numbers(element)))
            .collect()
    }
}

/// The component type of an accessor, and the bytes of an element.
pub(super) fn form(accessor: &Accessor, object: &Object) -> Result<(Component, usize)> {
    let component = Component::from_code(accessor.component_type);
    let form = component.and_then(|c| Some((c, shape(&accessor.kind, c)?.1)));
    form.ok_or_else(|| Error::asset(object.clone(), AssetFault::Missing("a known type")))
}

impl<'a> Source<'a> {
    /// The first `count` elements of an accessor, or all if there are fewer. Their allocation is
    /// charged together with `decoded_size` bytes per element that the caller is about to allocate.
    pub(super) fn elements(
        &mut self,
        index: usize,
        count: usize,
        decoded_size: usize,
    ) -> Result<Elements<'a>> {
        let object = Object::new(ObjectKind::Accessor, index, "");
        let accessor = &self.doc.accessors[index];
        let (component, size) = form(accessor, &object)?;
        let count = count.min(usize::try_from(self.count(index)).unwrap_or(usize::MAX));
        self.charge((count as u64).saturating_mul(decoded_size as u64), || {
            object.clone()
        })?;
        let mut elements = Elements {
            bytes: Bytes::Borrowed(&[]),
            start: 0,
            stride: size,
            count,
            component,
            normalized: accessor.normalized,
        };
        #[cfg(feature = "draco")]
        if let Some((_, bytes)) = self.decoded.get(&index) {
            elements.bytes = Bytes::Shared(bytes.clone());
            return Ok(elements);
        }
        self.locate(&mut elements, accessor, &object)?;
        if accessor.buffer_view.is_none() || accessor.sparse.is_some() {
            self.charge((count as u64).saturating_mul(size as u64), || {
                object.clone()
            })?;
            self.overlay(&mut elements, accessor, size, &object)?;
        }
        Ok(elements)
    }

    /// Sets the elements to the accessor's view, if it has one.
    pub(super) fn locate(
        &mut self,
        elements: &mut Elements<'a>,
        accessor: &Accessor,
        object: &Object,
    ) -> Result<()> {
        if let Some(view) = accessor.buffer_view {
            let stride = self.doc.buffer_views[view as usize].byte_stride;
            let (bytes, start, _) = self.view(view, object)?;
            elements.bytes = bytes;
            elements.start = start + accessor.byte_offset as usize;
            elements.stride = stride.map_or(elements.stride, |stride| stride as usize);
        }
        Ok(())
    }

    /// Copies the elements (zeros without a view) and writes the sparse values over them.
    fn overlay(
        &mut self,
        elements: &mut Elements<'a>,
        accessor: &Accessor,
        size: usize,
        object: &Object,
    ) -> Result<()> {
        let mut dense = vec![0; elements.count * size];
        if accessor.buffer_view.is_some() {
            let from = elements.bytes.as_ref();
            for (at, to) in dense.chunks_exact_mut(size).enumerate() {
                let start = elements.start + at * elements.stride;
                if let Some(from) = from.get(start..start + size) {
                    to.copy_from_slice(from);
                }
            }
        }
        if let Some(sparse) = &accessor.sparse {
            self.put_sparse(&mut dense, accessor, sparse, size, object)?;
        }
        elements.bytes = Bytes::Shared(dense.into());
        elements.start = 0;
        elements.stride = size;
        Ok(())
    }
}
