//! Checks of the ranges of all views and accessors, before any of them is read.

use super::component::{Component, shape, unpadded};
use super::fault::{check_range, lookup, not_allowed};
use super::json::{Accessor, BufferView, Document};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};

/// Checks all views against the stated sizes of their buffers, and all accessors against their
/// views, even if they are not used.
pub(super) fn check(doc: &Document) -> Result<()> {
    for (index, view) in doc.buffer_views.iter().enumerate() {
        check_view(doc, index, view)?;
    }
    for (index, accessor) in doc.accessors.iter().enumerate() {
        check_accessor(doc, index, accessor)?;
    }
    Ok(())
}

fn check_view(doc: &Document, index: usize, view: &BufferView) -> Result<()> {
    let at = |part: &str| Object::new(ObjectKind::BufferView, index, part);
    let referrer = || at("buffer");
    let (_, buffer) = lookup(&doc.buffers, view.buffer, "buffer", referrer)?;
    check_range(
        at(""),
        "the buffer",
        view.byte_offset,
        view.byte_length,
        buffer.byte_length,
    )?;
    #[cfg(feature = "meshopt")]
    super::meshopt::check(doc, index, view)?;
    match view.byte_stride {
        Some(stride) if !(4..=252).contains(&stride) => {
            let why = not_allowed("the stride", &stride.to_string(), "4 to 252");
            Err(Error::asset(at("byteStride"), why))
        }
        _ => Ok(()),
    }
}

fn check_accessor(doc: &Document, index: usize, accessor: &Accessor) -> Result<()> {
    let at = |part: &str| Object::new(ObjectKind::Accessor, index, part);
    let Some(component) = Component::from_code(accessor.component_type) else {
        let code = accessor.component_type.to_string();
        let allowed = "5120 to 5123, 5125, 5126";
        let why = not_allowed("the component type", &code, allowed);
        return Err(Error::asset(at("componentType"), why));
    };
    let Some((_, size)) = shape(&accessor.kind, component) else {
        let allowed = "SCALAR, VEC2, VEC3, VEC4, MAT2, MAT3, MAT4";
        let why = not_allowed("the type", &accessor.kind, allowed);
        return Err(Error::asset(at("type"), why));
    };
    if accessor.count == 0 {
        return Err(Error::asset(
            at("count"),
            AssetFault::Invalid("must be at least 1"),
        ));
    }
    if let Some(view) = accessor.buffer_view {
        let views = &doc.buffer_views;
        let (_, view) = lookup(views, view, "bufferView", || at("bufferView"))?;
        let stride = view.byte_stride.unwrap_or(size as u64);
        if stride < size as u64 {
            let why = AssetFault::Invalid("the view's stride is less than an element");
            return Err(Error::asset(at(""), why));
        }
        let length = stride
            .checked_mul(accessor.count - 1)
            .and_then(|bytes| bytes.checked_add(unpadded(&accessor.kind, component, size) as u64))
            .unwrap_or(u64::MAX);
        let range = (accessor.byte_offset, length);
        check_range(at(""), "the bufferView", range.0, range.1, view.byte_length)?;
    }
    check_sparse(doc, index, accessor, size as u64)
}

fn check_sparse(doc: &Document, index: usize, accessor: &Accessor, size: u64) -> Result<()> {
    let Some(sparse) = &accessor.sparse else {
        return Ok(());
    };
    let at = |part: &str| Object::new(ObjectKind::Accessor, index, part);
    if sparse.count == 0 || sparse.count > accessor.count {
        let why = AssetFault::Count {
            what: "the sparse part",
            got: sparse.count,
            need: accessor.count,
        };
        return Err(Error::asset(at("sparse.count"), why));
    }
    let index_size = match Component::from_code(sparse.indices.component_type) {
        Some(c @ (Component::U8 | Component::U16 | Component::U32)) => c.size() as u64,
        _ => {
            let code = sparse.indices.component_type.to_string();
            let why = not_allowed("the component type", &code, "5121, 5123, 5125");
            return Err(Error::asset(at("sparse.indices.componentType"), why));
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
        let views = &doc.buffer_views;
        let (_, view) = lookup(views, view, "bufferView", || at(part))?;
        if view.byte_stride.is_some_and(|stride| stride != size) {
            let why = AssetFault::Invalid("the view has a stride");
            return Err(Error::asset(at(part), why));
        }
        let length = sparse.count.saturating_mul(size);
        check_range(at(part), "the bufferView", offset, length, view.byte_length)?;
    }
    Ok(())
}
