//! Saved characters whose bytes were altered, with a valid header.

use std::ops::Range;

/// Signature, checksum, version, number of sections and length.
pub const HEADER: usize = 32;
/// The bytes of a section's entry in the table.
pub const ENTRY: usize = 48;

fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| {
        (hash ^ word)
            .wrapping_mul(0x0000_0100_0000_01B3)
            .rotate_left(23)
    };
    let empty = 0xCBF2_9CE4_8422_2325_u64;
    let mut padded = bytes.to_vec();
    // A last block that is padded, or empty.
    padded.resize((bytes.len() / 64 + 1) * 64, 0);
    let mut lanes = [empty; 8];
    for (index, word) in padded.chunks(8).enumerate() {
        let lane = &mut lanes[index % 8];
        *lane = step(*lane, u64::from_le_bytes(word.try_into().unwrap()));
    }
    let words = lanes.into_iter().chain([bytes.len() as u64]);
    words.fold(empty, step)
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Writes the length and all checksums that altered bytes have, as far as there are sections.
pub fn sign(bytes: &mut [u8]) {
    let length = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&length.to_le_bytes());
    let count = u32::from_le_bytes(bytes[20..24].try_into().unwrap()) as usize;
    for index in 0..count {
        let at = HEADER + index * ENTRY;
        if at + ENTRY > bytes.len() {
            return;
        }
        let (start, length) = (number(bytes, at + 24), number(bytes, at + 32));
        let end = start.saturating_add(length) as usize;
        if let Some(contents) = bytes.get(start as usize..end) {
            let sum = checksum(contents);
            bytes[at + 40..at + 48].copy_from_slice(&sum.to_le_bytes());
        }
    }
    let sum = checksum(&bytes[16..HEADER + count * ENTRY]);
    bytes[8..16].copy_from_slice(&sum.to_le_bytes());
}

/// A section of a saved character: name, flags, version and contents.
#[derive(Clone)]
#[allow(dead_code, reason = "not every program of tests alters sections")]
pub struct Section {
    pub name: String,
    pub flags: u32,
    pub version: u32,
    pub contents: Vec<u8>,
}

/// The sections of a saved character.
#[allow(dead_code, reason = "not every program of tests alters sections")]
pub fn sections(bytes: &[u8]) -> Vec<Section> {
    let word = |range: Range<usize>| u32::from_le_bytes(bytes[range].try_into().unwrap());
    let count = word(20..24) as usize;
    let section = |index: usize| {
        let at = HEADER + index * ENTRY;
        let name = String::from_utf8(bytes[at..at + 16].to_vec()).unwrap();
        let [start, length] = [24, 32].map(|field| word(at + field..at + field + 4) as usize);
        Section {
            name: name.trim_end_matches('\0').into(),
            flags: word(at + 16..at + 20),
            version: word(at + 20..at + 24),
            contents: bytes[start..start + length].to_vec(),
        }
    };
    (0..count).map(section).collect()
}

/// A file of these sections, with a valid table and checksum.
#[allow(dead_code, reason = "not every program of tests alters sections")]
pub fn file(sections: &[Section]) -> Vec<u8> {
    let mut bytes = b"throng\r\n\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend((sections.len() as u32).to_le_bytes());
    bytes.resize(HEADER + sections.len() * ENTRY, 0);
    for (index, section) in sections.iter().enumerate() {
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        let start = bytes.len();
        bytes.extend(&section.contents);
        let entry = &mut bytes[HEADER + index * ENTRY..][..ENTRY];
        entry[..section.name.len()].copy_from_slice(section.name.as_bytes());
        entry[16..20].copy_from_slice(&section.flags.to_le_bytes());
        entry[20..24].copy_from_slice(&section.version.to_le_bytes());
        entry[24..32].copy_from_slice(&(start as u64).to_le_bytes());
        entry[32..40].copy_from_slice(&(section.contents.len() as u64).to_le_bytes());
    }
    sign(&mut bytes);
    bytes
}
