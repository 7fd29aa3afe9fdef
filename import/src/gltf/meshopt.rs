//! Views that `EXT_meshopt_compression` or `KHR_meshopt_compression` compress.

use super::fault::{check_range, lookup, not_allowed};
use super::json::{BufferView, Document};
use super::json_extensions::Meshopt;
use crate::fault::{expect_count, message};
use meshoptimizer_rs::codec::{
    decode_filter_color, decode_filter_exp, decode_filter_oct, decode_filter_quat,
    decode_index_buffer, decode_index_sequence, decode_vertex_buffer,
};
use meshoptimizer_rs::{Limits, Workspace};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};

/// Decodes `count` elements of a size. Allocates nothing if the encoded bytes are too few for that.
type Decode = fn(usize, usize, &[u8], &mut Workspace) -> Result<Vec<u8>, meshoptimizer_rs::Error>;
/// Changes decoded elements in place.
type Filter = fn(&mut [u8], usize, usize, &mut Workspace) -> Result<(), meshoptimizer_rs::Error>;

/// A mode of the extension: its name, its decoder, and the element sizes that it has.
struct Mode {
    name: &'static str,
    decode: Decode,
    strides: &'static str,
    has_stride: fn(u64) -> bool,
}

const MODES: [Mode; 3] = [
    Mode {
        name: "ATTRIBUTES",
        decode: decode_vertex_buffer,
        strides: "a multiple of 4, 4 to 256",
        has_stride: |stride| (4..=256).contains(&stride) && stride.is_multiple_of(4),
    },
    Mode {
        name: "TRIANGLES",
        decode: decode_index_buffer,
        strides: "2 or 4 for TRIANGLES",
        has_stride: |stride| matches!(stride, 2 | 4),
    },
    Mode {
        name: "INDICES",
        decode: decode_index_sequence,
        strides: "2 or 4 for INDICES",
        has_stride: |stride| matches!(stride, 2 | 4),
    },
];

/// A filter: its name, its function, and the element sizes that it has.
struct FilterKind {
    name: &'static str,
    apply: Filter,
    strides: &'static str,
    has_stride: fn(u64) -> bool,
}

const FILTERS: [FilterKind; 4] = [
    FilterKind {
        name: "OCTAHEDRAL",
        apply: decode_filter_oct,
        strides: "4 or 8 for OCTAHEDRAL",
        has_stride: |stride| matches!(stride, 4 | 8),
    },
    FilterKind {
        name: "QUATERNION",
        apply: decode_filter_quat,
        strides: "8 for QUATERNION",
        has_stride: |stride| stride == 8,
    },
    FilterKind {
        name: "EXPONENTIAL",
        apply: decode_filter_exp,
        strides: "a multiple of 4 for EXPONENTIAL",
        has_stride: |stride| stride.is_multiple_of(4),
    },
    FilterKind {
        name: "COLOR",
        apply: decode_filter_color,
        strides: "4 or 8 for COLOR",
        has_stride: |stride| matches!(stride, 4 | 8),
    },
];

/// Checks everything that the document says about the compressed bytes of a view, if there are any.
pub(super) fn check(doc: &Document, index: usize, view: &BufferView) -> Result<()> {
    let compressed = view.extensions.as_ref().and_then(|all| all.meshopt());
    let Some((name, meshopt)) = compressed else {
        return Ok(());
    };
    let at = |part: &str| part_of(index, name, part);
    let (_, buffer) = lookup(&doc.buffers, meshopt.buffer, "buffer", || at(".buffer"))?;
    let len = buffer.byte_length;
    let range = (meshopt.byte_offset, meshopt.byte_length);
    check_range(at(""), "the buffer", range.0, range.1, len)?;
    if meshopt.count == 0 {
        let why = AssetFault::Invalid("must be at least 1");
        return Err(Error::asset(at(".count"), why));
    }
    let (mode, filter) = kinds(index, name, meshopt)?;
    let stride = meshopt.byte_stride;
    let wrong = |allowed| not_allowed("the stride", &stride.to_string(), allowed);
    if !(mode.has_stride)(stride) {
        return Err(Error::asset(at(".byteStride"), wrong(mode.strides)));
    }
    if let Some(filter) = filter.filter(|filter| !(filter.has_stride)(stride)) {
        return Err(Error::asset(at(".byteStride"), wrong(filter.strides)));
    }
    if mode.name == "TRIANGLES" && !meshopt.count.is_multiple_of(3) {
        let why = AssetFault::Invalid("must be a multiple of 3 for TRIANGLES");
        return Err(Error::asset(at(".count"), why));
    }
    if view.byte_stride.is_some_and(|outer| outer != stride) {
        let why = AssetFault::Invalid("differs from the view's own byteStride");
        return Err(Error::asset(at(".byteStride"), why));
    }
    let what = "the decoded data (count × byteStride) in bytes";
    let got = meshopt.count.saturating_mul(stride);
    expect_count(|| at(""), what, got, view.byte_length)
}

/// The decoded bytes of a view, which [`check`] has accepted: as many as the view has.
pub(super) fn decode(
    index: usize,
    name: &str,
    meshopt: &Meshopt,
    encoded: &[u8],
) -> Result<Vec<u8>> {
    let (mode, filter) = kinds(index, name, meshopt)?;
    let (count, stride) = (meshopt.count as usize, meshopt.byte_stride as usize);
    // The caller has charged the result, whose size the checks have compared with the view's.
    let mut workspace = Workspace::new(Limits {
        max_bytes: usize::MAX,
        max_work: u64::MAX,
    });
    let decoded = (mode.decode)(count, stride, encoded, &mut workspace);
    let filtered = decoded.and_then(|mut bytes| {
        if let Some(filter) = filter {
            (filter.apply)(&mut bytes, count, stride, &mut workspace)?;
        }
        Ok(bytes)
    });
    filtered.map_err(|error| {
        let why = AssetFault::Compressed {
            codec: "meshopt",
            why: message(&error.to_string()),
        };
        Error::asset(part_of(index, name, ""), why)
    })
}

/// The mode and the filter of a view. Only attributes have filters.
fn kinds(
    index: usize,
    name: &str,
    meshopt: &Meshopt,
) -> Result<(&'static Mode, Option<&'static FilterKind>)> {
    let Some(mode) = MODES.iter().find(|mode| mode.name == meshopt.mode) else {
        let why = not_allowed("the mode", &meshopt.mode, "ATTRIBUTES, TRIANGLES, INDICES");
        return Err(Error::asset(part_of(index, name, ".mode"), why));
    };
    let filter = match meshopt.filter.as_deref() {
        None | Some("NONE") => return Ok((mode, None)),
        Some(filter) => filter,
    };
    let allowed = match mode.name {
        "ATTRIBUTES" => "NONE, OCTAHEDRAL, QUATERNION, EXPONENTIAL, COLOR",
        _ => "NONE, unless the mode is ATTRIBUTES",
    };
    let known = FILTERS.iter().find(|known| known.name == filter);
    match known.filter(|_| mode.name == "ATTRIBUTES") {
        Some(known) => Ok((mode, Some(known))),
        None => {
            let why = not_allowed("the filter", filter, allowed);
            Err(Error::asset(part_of(index, name, ".filter"), why))
        }
    }
}

fn part_of(index: usize, name: &str, part: &str) -> Object {
    let part = format!("extensions.{name}{part}");
    Object::new(ObjectKind::BufferView, index, part)
}
