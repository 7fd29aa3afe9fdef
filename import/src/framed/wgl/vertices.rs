//! The binary file: a table of lumps. One has vertices, and one has indices.

use crate::budget::Budget;
use crate::fault::{fault, malformed, not_allowed};
use crate::framed::srgb::linear;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::{Vec2, Vec3};
use throng::import::RawPrimitive;

const MAGIC: &[u8; 4] = b"wglv";
/// Three words for each lump: its name, its first byte and its length.
const LUMP_BYTES: usize = 12;
const HEADER_BYTES: usize = 12;

/// The flags of a vertex format, in the order of the fields, with the bytes of each field.
const FIELDS: [(u32, usize); 7] = [
    (POSITION, 12),
    (UV, 8),
    (UV2, 8),
    (NORMAL, 12),
    (TANGENT, 16),
    (COLOR, 4),
    (WEIGHTS, 24),
];
const POSITION: u32 = 0x01;
const UV: u32 = 0x02;
const UV2: u32 = 0x04;
const NORMAL: u32 = 0x08;
const TANGENT: u32 = 0x10;
const COLOR: u32 = 0x20;
const WEIGHTS: u32 = 0x40;

/// The joints and weights of each vertex.
const INFLUENCES: usize = 3;

/// The vertices and indices, mirrored in x.
#[derive(Debug)]
pub(super) struct Vertices {
    /// Lists of absent fields are empty.
    pub(super) streams: RawPrimitive,
    /// In the order of the file.
    pub(super) indices: Vec<u32>,
    /// The bytes of one vertex.
    pub(super) size: u64,
}

pub(super) fn read(bytes: &[u8], budget: &mut Budget<'_>) -> Result<Vertices> {
    if !bytes.starts_with(MAGIC) {
        return Err(malformed("the signature wglv is missing", 0));
    }
    let incomplete = || malformed("the header is incomplete", bytes.len());
    let version = word(bytes, 4).ok_or_else(incomplete)?;
    if version > 1 {
        let why = AssetFault::Requires(format!("wglv version {version}").into());
        return Err(fault(ObjectKind::File, None, "", why));
    }
    let count = word(bytes, 8).ok_or_else(incomplete)? as usize;
    let (mut vertices, mut indices) = (None, None);
    for lump in 0..count {
        let at = HEADER_BYTES.saturating_add(lump.saturating_mul(LUMP_BYTES));
        let name = bytes.get(at..).and_then(|rest| rest.get(..4));
        let (name, start, length) = match (name, word(bytes, at + 4), word(bytes, at + 8)) {
            (Some(name), Some(start), Some(length)) => (name, start, length),
            _ => return Err(malformed("the table of lumps is incomplete", bytes.len())),
        };
        let found = match name {
            b"vert" => &mut vertices,
            b"indx" => &mut indices,
            _ => continue,
        };
        let object = buffer(lump, "");
        let data = range(bytes, start, length).map_err(|why| Error::asset(object.clone(), why))?;
        if found.replace((lump, data)).is_some() {
            let why = AssetFault::Invalid("has the name of an earlier lump");
            return Err(Error::asset(object, why));
        }
    }
    let missing = |what| fault(ObjectKind::File, None, "", AssetFault::Missing(what));
    let (lump, data) = vertices.ok_or_else(|| missing("the lump vert"))?;
    let (streams, size) = of_lump(lump, data, budget)?;
    let (lump, data) = indices.ok_or_else(|| missing("the lump indx"))?;
    let (pairs, rest) = data.as_chunks::<2>();
    if !rest.is_empty() {
        let why = AssetFault::Invalid("has half an index at its end");
        return Err(Error::asset(buffer(lump, "indx"), why));
    }
    budget.indices(pairs.len() as u64, &buffer(lump, "indx"))?;
    let indices = pairs.iter().map(|pair| u16::from_le_bytes(*pair).into());
    Ok(Vertices {
        streams,
        indices: indices.collect(),
        size,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*word))
}

fn range(bytes: &[u8], start: u32, length: u32) -> Result<&[u8], AssetFault> {
    let (start, end) = (u64::from(start), u64::from(start) + u64::from(length));
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let found = range.and_then(|(start, end)| bytes.get(start..end));
    found.ok_or(AssetFault::OutOfBounds {
        what: "the file",
        start,
        end,
        len: bytes.len() as u64,
    })
}

/// A lump, by its index in the table.
fn buffer(lump: usize, part: &str) -> Object {
    Object::new(ObjectKind::Buffer, lump, part)
}

/// The streams of the vertices, and the bytes of one vertex.
fn of_lump(lump: usize, data: &[u8], budget: &mut Budget<'_>) -> Result<(RawPrimitive, u64)> {
    let object = buffer(lump, "vert");
    let at = |why| -> Error { Error::asset(object.clone(), why) };
    let (Some(format), Some(stride)) = (word(data, 0), word(data, 4)) else {
        return Err(at(AssetFault::Missing("the vertex format and stride")));
    };
    let known = FIELDS.iter().fold(0, |all, (flag, _)| all | flag);
    if format & !known != 0 || format & POSITION == 0 {
        let got = format!("{format:#x}");
        let allowed = "0x1 for positions, with flags up to 0x40";
        return Err(at(not_allowed("the vertex format", &got, allowed)));
    }
    let used = FIELDS.iter().filter(|(flag, _)| format & flag != 0);
    let size: usize = used.map(|(_, bytes)| bytes).sum();
    let (rows, stride) = (&data[8..], stride as usize);
    if stride < size {
        let (got, need) = (stride as u64, size as u64);
        let what = "the stride in bytes";
        return Err(at(AssetFault::Count { what, got, need }));
    }
    if !rows.len().is_multiple_of(stride) {
        return Err(at(AssetFault::Invalid("has part of a vertex at its end")));
    }
    let count = rows.len() / stride;
    budget.vertices(count as u64, size as u64, &object)?;
    let mut all = RawPrimitive::default();
    for row in rows.chunks_exact(stride) {
        push(&mut all, row, format);
    }
    // Indices of joints are stored as floats.
    if format & WEIGHTS != 0 {
        all.influences_per_vertex = INFLUENCES;
        all.joints.reserve_exact(all.weights.len());
        for (vertex, row) in rows.chunks_exact(stride).enumerate() {
            for value in floats::<INFLUENCES>(row, size - 12) {
                if value.fract() != 0.0 || !(0.0..=65_535.0).contains(&value) {
                    let (what, allowed) = ("the joint of vertex", "a whole number from 0 to 65535");
                    return Err(at(AssetFault::value(what, vertex, value, allowed)));
                }
                all.joints.push(value as u32);
            }
        }
    }
    Ok((all, size as u64))
}

fn floats<const N: usize>(row: &[u8], at: usize) -> [f32; N] {
    core::array::from_fn(|index| f32::from_bits(word(row, at + index * 4).unwrap_or_default()))
}

/// Adds a vertex, mirrored in x, but without its joints.
fn push(to: &mut RawPrimitive, row: &[u8], format: u32) {
    let mut at = 0;
    for (flag, bytes) in FIELDS.iter().filter(|(flag, _)| format & flag != 0) {
        let mirrored = || {
            let [x, y, z] = floats(row, at);
            Vec3::new(-x, y, z)
        };
        match *flag {
            POSITION => to.positions.push(mirrored()),
            UV => to.uvs.push(Vec2::from_array(floats(row, at))),
            UV2 => to.uvs1.push(Vec2::from_array(floats(row, at))),
            NORMAL => to.normals.push(mirrored()),
            TANGENT => {
                let [_, _, _, sign] = floats(row, at);
                to.tangents.push(mirrored().extend(-sign));
            }
            COLOR => {
                let color = word(row, at).unwrap_or_default().to_le_bytes();
                let [r, g, b, a] = color.map(|value| f32::from(value) / 255.0);
                to.colors.push([linear(r), linear(g), linear(b), a]);
            }
            _ => to.weights.extend(floats::<INFLUENCES>(row, at)),
        }
        at += bytes;
    }
}
