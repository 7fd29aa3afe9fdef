//! The source of an import: the document, its buffers and the caps.

use super::component::Component;
use super::container::Parts;
use super::fault::{lookup, not_allowed};
use super::image::Budget;
use super::json::{Accessor, Document};
use super::resources;
use crate::error::{AssetFault, Object, ObjectKind, Result};
use crate::import::fault::{fault_of, object};
use crate::import::options::ImportOptions;
use std::rc::Rc;

/// A file's document with everything needed to read its data.
pub(super) struct Source<'a> {
    pub(super) doc: &'a Document,
    pub(super) options: &'a ImportOptions,
    bin: Option<&'a [u8]>,
    is_binary: bool,
    read: &'a mut dyn FnMut(&str) -> Result<Vec<u8>>,
    buffers: Vec<Option<Bytes<'a>>>,
    decoded_bytes: u64,
}

impl Budget for Source<'_> {
    fn options(&self) -> &ImportOptions {
        self.options
    }

    fn charge(&mut self, bytes: u64, object: &Object) -> Result<()> {
        Source::charge(self, bytes, || object.clone())
    }
}

/// The bytes of a buffer.
#[derive(Debug, Clone)]
pub(super) enum Bytes<'a> {
    /// Part of the file.
    Borrowed(&'a [u8]),
    /// Read from a file or decoded.
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

impl<'a> Source<'a> {
    pub(super) fn new(
        doc: &'a Document,
        parts: &Parts<'a>,
        read: &'a mut dyn FnMut(&str) -> Result<Vec<u8>>,
        options: &'a ImportOptions,
    ) -> Self {
        Self {
            doc,
            options,
            bin: parts.bin,
            is_binary: parts.is_binary,
            read,
            buffers: vec![None; doc.buffers.len()],
            decoded_bytes: 0,
        }
    }

    /// Charges `bytes`, which are about to be allocated for `object`, against the cap.
    pub(super) fn charge(&mut self, bytes: u64, object: impl FnOnce() -> Object) -> Result<()> {
        let asked = self.decoded_bytes.saturating_add(bytes);
        // No allocation can be larger than this.
        let cap = self.options.max_decoded_bytes.min(isize::MAX as u64);
        if asked > cap {
            let what = "bytes of decoded data";
            return Err(fault_of(object(), AssetFault::Cap { what, asked, cap }));
        }
        self.decoded_bytes = asked;
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

    /// The bytes that a URI refers to.
    pub(super) fn resource(&mut self, uri: &str, object: &Object) -> Result<Vec<u8>> {
        let cap = self.options.max_resource_bytes;
        let bytes = resources::load(uri, object, cap, self.read)?;
        self.charge(bytes.len() as u64, || object.clone())?;
        Ok(bytes)
    }

    /// The bytes of a buffer, at least as many as it states. Loaded once.
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
            (None, _) => {
                let what = match self.is_binary && index == 0 {
                    true => "the file's BIN chunk, which a buffer without uri refers to",
                    false => "uri",
                };
                return Err(fault_of(object, AssetFault::Missing(what)));
            }
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

    /// The accessor with this index, if it has the given type and `allow` accepts its component
    /// type.
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
}
