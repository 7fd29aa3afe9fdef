//! The container of binary glTF.

use super::data::Data;
use super::put_lists;
use crate::error::Result;
use serde_json::{Value, json};

/// The bytes of the header of the file, and of the header of each chunk.
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;

/// The file: header, JSON padded with spaces, binary part padded with zeros.
///
/// # Errors
/// [`Error::Capacity`](crate::Error::Capacity) if it would be too large.
pub(super) fn file(mut root: Value, mut data: Data) -> Result<Vec<u8>> {
    let accessors = std::mem::take(&mut data.accessors);
    let views = std::mem::take(&mut data.views);
    put_lists(
        &mut root,
        [("accessors", accessors), ("bufferViews", views)],
    );
    data.bytes.resize(data.bytes.len().next_multiple_of(4), 0);
    if !data.bytes.is_empty() {
        root["buffers"] = json!([{ "byteLength": data.bytes.len() }]);
    }
    let mut json = root.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    data.expect_space(HEADER + 2 * CHUNK_HEADER + json.len())?;
    let chunks = [(*b"JSON", json), (*b"BIN\0", data.bytes)];
    let chunks = chunks.into_iter().filter(|(_, chunk)| !chunk.is_empty());
    let mut file = [*b"glTF", 2_u32.to_le_bytes(), [0; 4]].concat();
    for (kind, chunk) in chunks {
        // The whole file has fewer than 4 GiB.
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    let length = (file.len() as u32).to_le_bytes();
    file[8..HEADER].copy_from_slice(&length);
    Ok(file)
}
