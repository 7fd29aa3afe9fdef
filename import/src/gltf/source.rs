//! The source of an import: the document, its buffers and the caps.

use super::component::Component;
use super::container::Container;
use super::fault::{lookup, not_allowed};
use super::json::{Accessor, Document};
use super::json_extensions::Meshopt;
use super::resources;
use crate::budget::Budget;
use crate::fault::check_cap;
use crate::folder::Files;
#[cfg(feature = "draco")]
use std::collections::HashMap;
use std::rc::Rc;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::import::ImportOptions;

/// A file's document with everything needed to read its data.
pub(super) struct Source<'a> {
    pub(super) doc: &'a Document,
    pub(super) options: &'a ImportOptions,
    bin: Option<&'a [u8]>,
    is_binary: bool,
    files: &'a Files<'a>,
    buffers: Vec<Option<Bytes<'a>>>,
    /// The decoded bytes of compressed views. Empty until one is decoded.
    #[cfg(feature = "meshopt")]
    views: Vec<Option<Rc<[u8]>>>,
    /// Decoded accessors of the primitive that is read, in place of the file's: the number of
    /// their elements, and the elements.
    #[cfg(feature = "draco")]
    pub(super) decoded: HashMap<usize, (u64, Rc<[u8]>)>,
    pub(super) budget: Budget<'a>,
}

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
    pub(super) fn new(doc: &'a Document, parts: &Container<'a>, files: &'a Files<'a>) -> Self {
        let options = files.options;
        resources::list(doc, files);
        Self {
            doc,
            options,
            bin: parts.bin,
            is_binary: parts.is_binary,
            files,
            buffers: vec![None; doc.buffers.len()],
            #[cfg(feature = "meshopt")]
            views: Vec::new(),
            #[cfg(feature = "draco")]
            decoded: HashMap::new(),
            budget: Budget::new(options),
        }
    }

    /// Charges `bytes`, which are about to be allocated for `object`, against the cap.
    pub(super) fn charge(&mut self, bytes: u64, object: impl FnOnce() -> Object) -> Result<()> {
        self.budget.charge(bytes, &object())
    }

    /// The number of elements of an accessor. `index` is in range.
    pub(super) fn count(&self, index: usize) -> u64 {
        #[cfg(feature = "draco")]
        if let Some((count, _)) = self.decoded.get(&index) {
            return *count;
        }
        self.doc.accessors[index].count
    }

    /// The bytes of a view, which has been checked against its buffer.
    pub(super) fn view(
        &mut self,
        index: u64,
        referrer: &Object,
    ) -> Result<(Bytes<'a>, usize, usize)> {
        let views = &self.doc.buffer_views;
        let (index, view) = lookup(views, index, "bufferView", || referrer.clone())?;
        let compressed = view.extensions.as_ref().and_then(|all| all.meshopt());
        if let Some((name, meshopt)) = compressed {
            return self.compressed(index, name, meshopt);
        }
        let bytes = self.buffer(view.buffer, referrer)?;
        let start = usize::try_from(view.byte_offset).unwrap_or(usize::MAX);
        let length = usize::try_from(view.byte_length).unwrap_or(usize::MAX);
        Ok((bytes, start, length))
    }

    /// The bytes of a view that is compressed, decoded once.
    #[cfg(feature = "meshopt")]
    fn compressed(
        &mut self,
        index: usize,
        name: &'static str,
        meshopt: &Meshopt,
    ) -> Result<(Bytes<'a>, usize, usize)> {
        let object = Object::new(ObjectKind::BufferView, index, format!("extensions.{name}"));
        if self.views.is_empty() {
            self.views = vec![None; self.doc.buffer_views.len()];
        }
        if let Some(bytes) = &self.views[index] {
            return Ok((Bytes::Shared(bytes.clone()), 0, bytes.len()));
        }
        let length = self.doc.buffer_views[index].byte_length;
        // Several views may refer to the same bytes, and each reads all of them.
        let asked = length.saturating_add(meshopt.byte_length);
        self.charge(asked, || object.clone())?;
        let buffer = self.buffer(meshopt.buffer, &object)?;
        let start = meshopt.byte_offset as usize;
        let encoded = buffer.as_ref().get(start..);
        let encoded = encoded.and_then(|bytes| bytes.get(..meshopt.byte_length as usize));
        let encoded = encoded.unwrap_or_default();
        let bytes: Rc<[u8]> = super::meshopt::decode(index, name, meshopt, encoded)?.into();
        self.views[index] = Some(bytes.clone());
        Ok((Bytes::Shared(bytes), 0, length as usize))
    }

    /// The uncompressed bytes of a view that is also compressed.
    #[cfg(not(feature = "meshopt"))]
    fn compressed(
        &mut self,
        index: usize,
        extension: &'static str,
        _: &Meshopt,
    ) -> Result<(Bytes<'a>, usize, usize)> {
        let object = Object::new(ObjectKind::BufferView, index, "");
        let view = &self.doc.buffer_views[index];
        let buffer = self.doc.buffers.get(view.buffer as usize);
        if buffer.is_some_and(|buffer| buffer.is_empty_fallback()) {
            let feature = "meshopt";
            let why = AssetFault::NoDecoder { extension, feature };
            return Err(Error::asset(object, why));
        }
        let bytes = self.buffer(view.buffer, &object)?;
        let start = usize::try_from(view.byte_offset).unwrap_or(usize::MAX);
        let length = usize::try_from(view.byte_length).unwrap_or(usize::MAX);
        Ok((bytes, start, length))
    }

    /// The bytes that a URI refers to.
    pub(super) fn resource(&mut self, uri: &str, object: &Object) -> Result<Vec<u8>> {
        let cap = self.options.limits.resource_bytes;
        let bytes = resources::load(uri, object, cap, self.files)?;
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
        let object = Object::new(ObjectKind::Buffer, index, "");
        let cap = self.options.limits.resource_bytes;
        let bytes = match (&buffer.uri, self.bin) {
            (Some(uri), _) => {
                let (what, asked) = ("bytes of one resource", buffer.byte_length);
                check_cap(|| object.clone(), what, asked, cap)?;
                Bytes::Shared(self.resource(uri, &object)?.into())
            }
            (None, _) if buffer.is_empty_fallback() => {
                let what = "uri; the buffer is a fallback for compressed views";
                return Err(Error::asset(object, AssetFault::Missing(what)));
            }
            (None, Some(bin)) if index == 0 => Bytes::Borrowed(bin),
            (None, _) => {
                let what = match self.is_binary && index == 0 {
                    true => "the file's BIN chunk, which a buffer without uri refers to",
                    false => "uri",
                };
                return Err(Error::asset(object, AssetFault::Missing(what)));
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
            return Err(Error::asset(object, why));
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
            return Err(Error::asset(referrer(), why));
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
                Err(Error::asset(referrer(), why))
            }
        }
    }
}
