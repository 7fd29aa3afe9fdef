//! Accessors: every range is checked, then read byte by byte, so that alignment does not matter.

use super::json::{Accessor, BufferView, Document};
use super::{fault_of, lookup, not_allowed, object, resources};
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::import::ImportOptions;
use std::rc::Rc;

/// A file's document with everything needed to read its data.
pub(super) struct Source<'a> {
    pub(super) doc: &'a Document,
    pub(super) options: &'a ImportOptions,
    bin: Option<&'a [u8]>,
    read: &'a mut dyn FnMut(&str) -> Result<Vec<u8>>,
    buffers: Vec<Option<Bytes<'a>>>,
    decoded_bytes: u64,
}

/// The bytes of a buffer.
#[derive(Debug, Clone)]
pub(super) enum Bytes<'a> {
    /// Part of the file.
    Borrowed(&'a [u8]),
    /// Read or decoded.
    Shared(Rc<[u8]>),
}

impl AsRef<[u8]> for Bytes<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// A component type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    pub(super) fn from_code(code: u64) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }
}

/// How many components, and bytes with the padding between matrix columns, an element has.
fn shape(kind: &str, component: Component) -> Option<(usize, usize)> {
    let size = component.size();
    let matrix = |n: usize| (n * n, (n * size).next_multiple_of(4) * n);
    Some(match kind {
        "SCALAR" => (1, size),
        "VEC2" => (2, 2 * size),
        "VEC3" => (3, 3 * size),
        "VEC4" => (4, 4 * size),
        "MAT2" => matrix(2),
        "MAT3" => matrix(3),
        "MAT4" => matrix(4),
        _ => return None,
    })
}

/// The elements of an accessor. Every element lies within the bytes.
#[derive(Debug)]
pub(super) struct Elements<'a> {
    bytes: Bytes<'a>,
    start: usize,
    stride: usize,
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

    /// A component as a number; normalised integers as the format defines them.
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

    /// An element as numbers.
    pub(super) fn numbers<const N: usize>(&self, element: usize) -> [f32; N] {
        core::array::from_fn(|at| self.number(element, at))
    }
}

impl<'a> Source<'a> {
    pub(super) fn new(
        doc: &'a Document,
        bin: Option<&'a [u8]>,
        read: &'a mut dyn FnMut(&str) -> Result<Vec<u8>>,
        options: &'a ImportOptions,
    ) -> Self {
        Self {
            doc,
            options,
            bin,
            read,
            buffers: vec![None; doc.buffers.len()],
            decoded_bytes: 0,
        }
    }

    /// Counts `bytes` that are about to be allocated for `object` against the cap.
    pub(super) fn charge(&mut self, bytes: u64, object: impl FnOnce() -> Object) -> Result<()> {
        let asked = self.decoded_bytes.saturating_add(bytes);
        // More than this no allocation can have.
        let cap = self.options.max_decoded_bytes.min(isize::MAX as u64);
        if asked > cap {
            let what = "bytes of decoded data";
            return Err(fault_of(object(), AssetFault::Cap { what, asked, cap }));
        }
        self.decoded_bytes = asked;
        Ok(())
    }

    /// Checks all views against the stated sizes of their buffers and all accessors against their
    /// views, whether they are used or not.
    pub(super) fn check_ranges(&self) -> Result<()> {
        for (index, view) in self.doc.buffer_views.iter().enumerate() {
            self.check_view(index, view)?;
        }
        for (index, accessor) in self.doc.accessors.iter().enumerate() {
            self.check_accessor(index, accessor)?;
        }
        Ok(())
    }

    fn check_view(&self, index: usize, view: &BufferView) -> Result<()> {
        let at = |part: &str| object(ObjectKind::BufferView, index, part);
        let referrer = || at("buffer");
        let (_, buffer) = lookup(&self.doc.buffers, view.buffer, "buffer", referrer)?;
        if view.byte_length == 0 {
            return Err(fault_of(
                at("byteLength"),
                AssetFault::Invalid("must be at least 1"),
            ));
        }
        check_range(
            at(""),
            "the buffer",
            view.byte_offset,
            view.byte_length,
            buffer.byte_length,
        )?;
        match view.byte_stride {
            Some(stride) if !(4..=252).contains(&stride) => {
                let why = not_allowed("the stride", &stride.to_string(), "4 to 252");
                Err(fault_of(at("byteStride"), why))
            }
            _ => Ok(()),
        }
    }

    fn check_accessor(&self, index: usize, accessor: &Accessor) -> Result<()> {
        let at = |part: &str| object(ObjectKind::Accessor, index, part);
        let Some(component) = Component::from_code(accessor.component_type) else {
            let code = accessor.component_type.to_string();
            let allowed = "5120 to 5123, 5125, 5126";
            let why = not_allowed("the component type", &code, allowed);
            return Err(fault_of(at("componentType"), why));
        };
        let Some((_, size)) = shape(&accessor.kind, component) else {
            let allowed = "SCALAR, VEC2, VEC3, VEC4, MAT2, MAT3, MAT4";
            let why = not_allowed("the type", &accessor.kind, allowed);
            return Err(fault_of(at("type"), why));
        };
        if accessor.count == 0 {
            return Err(fault_of(
                at("count"),
                AssetFault::Invalid("must be at least 1"),
            ));
        }
        if let Some(view) = accessor.buffer_view {
            let views = &self.doc.buffer_views;
            let (_, view) = lookup(views, view, "bufferView", || at("bufferView"))?;
            let stride = view.byte_stride.unwrap_or(size as u64);
            if stride < size as u64 {
                let why = AssetFault::Invalid("the view's stride is less than an element");
                return Err(fault_of(at(""), why));
            }
            let length = stride
                .checked_mul(accessor.count - 1)
                .and_then(|bytes| bytes.checked_add(size as u64))
                .unwrap_or(u64::MAX);
            let range = (accessor.byte_offset, length);
            check_range(at(""), "the bufferView", range.0, range.1, view.byte_length)?;
        }
        self.check_sparse(index, accessor, size as u64)
    }

    fn check_sparse(&self, index: usize, accessor: &Accessor, size: u64) -> Result<()> {
        let Some(sparse) = &accessor.sparse else {
            return Ok(());
        };
        let at = |part: &str| object(ObjectKind::Accessor, index, part);
        if sparse.count == 0 || sparse.count > accessor.count {
            let why = AssetFault::Count {
                what: "the sparse part",
                got: sparse.count,
                need: accessor.count,
            };
            return Err(fault_of(at("sparse.count"), why));
        }
        let index_size = match Component::from_code(sparse.indices.component_type) {
            Some(c @ (Component::U8 | Component::U16 | Component::U32)) => c.size() as u64,
            _ => {
                let code = sparse.indices.component_type.to_string();
                let why = not_allowed("the component type", &code, "5121, 5123, 5125");
                return Err(fault_of(at("sparse.indices.componentType"), why));
            }
        };
        let (indices, values) = (&sparse.indices, &sparse.values);
        for (part, view, offset, size) in [
            (
                "sparse.indices",
                indices.buffer_view,
                indices.byte_offset,
                index_size,
            ),
            (
                "sparse.values",
                values.buffer_view,
                values.byte_offset,
                size,
            ),
        ] {
            let views = &self.doc.buffer_views;
            let (_, view) = lookup(views, view, "bufferView", || at(part))?;
            if view.byte_stride.is_some_and(|stride| stride != size) {
                let why = AssetFault::Invalid("the view has a stride");
                return Err(fault_of(at(part), why));
            }
            let length = sparse.count.saturating_mul(size);
            check_range(at(part), "the bufferView", offset, length, view.byte_length)?;
        }
        Ok(())
    }

    /// The bytes of a view, which has been checked against its buffer.
    pub(super) fn view(
        &mut self,
        index: u64,
        referrer: &Object,
    ) -> Result<(Bytes<'a>, usize, usize)> {
        let views = &self.doc.buffer_views;
        let (_, view) = lookup(views, index, "bufferView", || referrer.clone())?;
        let bytes = self.buffer(view.buffer, referrer)?;
        let start = usize::try_from(view.byte_offset).unwrap_or(usize::MAX);
        let length = usize::try_from(view.byte_length).unwrap_or(usize::MAX);
        Ok((bytes, start, length))
    }

    /// The bytes that a URI names.
    pub(super) fn resource(&mut self, uri: &str, object: &Object) -> Result<Vec<u8>> {
        let cap = self.options.max_resource_bytes;
        let bytes = resources::load(uri, object, cap, self.read)?;
        self.charge(bytes.len() as u64, || object.clone())?;
        Ok(bytes)
    }

    /// The bytes of a buffer, at least as many as it states; loaded once.
    fn buffer(&mut self, index: u64, referrer: &Object) -> Result<Bytes<'a>> {
        let doc = self.doc;
        let (index, buffer) = lookup(&doc.buffers, index, "buffer", || referrer.clone())?;
        if let Some(bytes) = &self.buffers[index] {
            return Ok(bytes.clone());
        }
        let object = object(ObjectKind::Buffer, index, "");
        let cap = self.options.max_resource_bytes;
        let bytes = match (&buffer.uri, self.bin) {
            (Some(_), _) if buffer.byte_length > cap => {
                let what = "bytes of one resource";
                let asked = buffer.byte_length;
                return Err(fault_of(object, AssetFault::Cap { what, asked, cap }));
            }
            (Some(uri), _) => Bytes::Shared(self.resource(uri, &object)?.into()),
            (None, Some(bin)) if index == 0 => Bytes::Borrowed(bin),
            (None, _) => return Err(fault_of(object, AssetFault::Missing("uri"))),
        };
        let got = bytes.as_ref().len() as u64;
        if got < buffer.byte_length {
            let why = AssetFault::OutOfBounds {
                what: "the data",
                start: 0,
                end: buffer.byte_length,
                len: got,
            };
            return Err(fault_of(object, why));
        }
        self.buffers[index] = Some(bytes.clone());
        Ok(bytes)
    }

    /// The accessor of this index, if it has the given type and `allow` takes its component type.
    pub(super) fn typed(
        &self,
        index: u64,
        kind: &'static str,
        allowed: &'static str,
        allow: impl Fn(Component, bool) -> bool,
        referrer: impl Fn() -> Object,
    ) -> Result<(usize, &'a Accessor)> {
        let (index, accessor) = lookup(&self.doc.accessors, index, "accessor", &referrer)?;
        if accessor.kind != kind {
            let why = not_allowed("the type of the accessor", &accessor.kind, kind);
            return Err(fault_of(referrer(), why));
        }
        match Component::from_code(accessor.component_type) {
            Some(component) if allow(component, accessor.normalized) => Ok((index, accessor)),
            _ => {
                let form = if accessor.normalized {
                    "normalised"
                } else {
                    "not normalised"
                };
                let got = format!("{} ({form})", accessor.component_type);
                let why = not_allowed("the component type of the accessor", &got, allowed);
                Err(fault_of(referrer(), why))
            }
        }
    }

    /// The first `count` elements of an accessor, at most all of them. What is allocated for them is
    /// charged together with `decoded_size` bytes an element that the caller is about to allocate.
    pub(super) fn elements(
        &mut self,
        index: usize,
        count: usize,
        decoded_size: usize,
    ) -> Result<Elements<'a>> {
        let object = object(ObjectKind::Accessor, index, "");
        let accessor = &self.doc.accessors[index];
        let component = Component::from_code(accessor.component_type);
        let shape = component.and_then(|c| Some((c, shape(&accessor.kind, c)?)));
        let Some((component, (_, size))) = shape else {
            return Err(fault_of(object, AssetFault::Missing("a known type")));
        };
        let count = count.min(usize::try_from(accessor.count).unwrap_or(usize::MAX));
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
        if let Some(view) = accessor.buffer_view {
            let stride = self.doc.buffer_views[view as usize].byte_stride;
            let (bytes, start, _) = self.view(view, &object)?;
            elements.bytes = bytes;
            elements.start = start + accessor.byte_offset as usize;
            elements.stride = stride.map_or(size, |stride| stride as usize);
        }
        if accessor.buffer_view.is_none() || accessor.sparse.is_some() {
            self.charge((count as u64).saturating_mul(size as u64), || {
                object.clone()
            })?;
            self.overlay(&mut elements, accessor, size, &object)?;
        }
        Ok(elements)
    }

    /// Copies the elements (zeros where there is no view) and puts the sparse values over them.
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
            let (bytes, start, _) = self.view(sparse.indices.buffer_view, object)?;
            let component = Component::from_code(sparse.indices.component_type);
            let component = component.unwrap_or(Component::U32);
            let places = Elements {
                bytes,
                start: start + sparse.indices.byte_offset as usize,
                stride: component.size(),
                count: sparse.count as usize,
                component,
                normalized: false,
            };
            let (values, start, _) = self.view(sparse.values.buffer_view, object)?;
            let start = start + sparse.values.byte_offset as usize;
            let mut before = None;
            for at in 0..places.count {
                let place = places.integer(at, 0);
                if u64::from(place) >= accessor.count || before.is_some_and(|b| place <= b) {
                    return Err(wrong_place(object, at, place));
                }
                before = Some(place);
                let from = values
                    .as_ref()
                    .get(start + at * size..)
                    .and_then(|v| v.get(..size));
                let to = dense.chunks_exact_mut(size).nth(place as usize);
                if let (Some(from), Some(to)) = (from, to) {
                    to.copy_from_slice(from);
                }
            }
        }
        elements.bytes = Bytes::Shared(dense.into());
        elements.start = 0;
        elements.stride = size;
        Ok(())
    }
}

fn wrong_place(object: &Object, at: usize, place: u32) -> Error {
    let mut object = object.clone();
    object.part = "sparse.indices (which must ascend and stay below count)".into();
    let why = AssetFault::Value {
        what: "index",
        index: at as u64,
        value: place.into(),
    };
    fault_of(object, why)
}

/// Checks that `length` bytes from `start` lie within `len`.
fn check_range(
    object: Object,
    what: &'static str,
    start: u64,
    length: u64,
    len: u64,
) -> Result<()> {
    match start.checked_add(length) {
        Some(end) if end <= len => Ok(()),
        end => {
            let why = AssetFault::OutOfBounds {
                what,
                start,
                end: end.unwrap_or(u64::MAX),
                len,
            };
            Err(fault_of(object, why))
        }
    }
}
