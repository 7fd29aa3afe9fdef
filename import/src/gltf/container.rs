//! The container: header and chunks of a `.glb`, or plain JSON.

use super::fault::malformed;
use crate::fault::fault;
use throng::error::{AssetFault, ObjectKind, Result};

const MAGIC: &[u8; 4] = b"glTF";
const JSON: &[u8; 4] = b"JSON";
const BIN: &[u8; 4] = b"BIN\0";

/// The chunks of a file.
#[derive(Debug)]
pub(super) struct Container<'a> {
    pub(super) json: &'a [u8],
    /// The position of the JSON in the file.
    pub(super) json_start: usize,
    pub(super) bin: Option<&'a [u8]>,
    /// True for a `.glb`, which may have a BIN chunk.
    pub(super) is_binary: bool,
    /// The number of bytes after the end that the header states.
    pub(super) trailing: u64,
}

/// Splits a file into its chunks. Data that does not start with the signature of a `.glb` is JSON.
/// A byte order mark before that is skipped, as RFC 8259 allows.
pub(super) fn split(bytes: &[u8]) -> Result<Container<'_>> {
    if !bytes.starts_with(MAGIC) {
        let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        return Ok(Container {
            json,
            json_start: bytes.len() - json.len(),
            bin: None,
            is_binary: false,
            trailing: 0,
        });
    }
    let version =
        word(bytes, 4).ok_or_else(|| malformed("the header is incomplete", bytes.len()))?;
    if version == 1 {
        let why = AssetFault::Requires("glTF 1.0".into());
        return Err(fault(ObjectKind::File, None, "", why));
    }
    if version != 2 {
        return Err(malformed("the container's version is not 2", 4));
    }
    let length =
        word(bytes, 8).ok_or_else(|| malformed("the header is incomplete", bytes.len()))?;
    let all = bytes
        .get(..length as usize)
        .ok_or_else(|| malformed("the file is shorter than its header states", 8))?;
    let first = Chunk::read(all, 12)?.ok_or_else(|| malformed("there is no JSON chunk", 12))?;
    if first.kind != *JSON {
        return Err(malformed("the first chunk is not JSON", 16));
    }
    // Padding is spaces. Some exporters write zeros.
    let spare = first.data.iter().rev().take_while(|byte| **byte == 0);
    let unpadded = &first.data[..first.data.len() - spare.count()];
    let mut next = first.end;
    let mut bin = None;
    let mut number = 1;
    while let Some(chunk) = Chunk::read(all, next)? {
        if number == 1 && chunk.kind == *BIN {
            bin = Some(chunk.data);
        }
        number += 1;
        next = chunk.end;
    }
    Ok(Container {
        json: unpadded,
        json_start: 20,
        bin,
        is_binary: true,
        trailing: (bytes.len() - all.len()) as u64,
    })
}

struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
    /// The position of the next chunk.
    end: usize,
}

impl<'a> Chunk<'a> {
    /// The chunk at `start`, or `None` at the end of the file.
    fn read(all: &'a [u8], start: usize) -> Result<Option<Self>> {
        if start >= all.len() {
            return Ok(None);
        }
        let early = || malformed("a chunk's header is incomplete", start);
        let length = word(all, start).ok_or_else(early)?;
        let kind = all[start..].get(4..).and_then(<[u8]>::first_chunk);
        let kind = *kind.ok_or_else(early)?;
        let start_of_data = start + 8;
        let data = all[start_of_data..]
            .get(..length as usize)
            .ok_or_else(|| malformed("a chunk is longer than the file", start))?;
        let end = start_of_data + data.len();
        if !data.len().is_multiple_of(4) && end < all.len() {
            return Err(malformed("a chunk's length is not a multiple of 4", start));
        }
        Ok(Some(Self { kind, data, end }))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*four))
}
