//! Saved characters whose bytes were altered, with a valid header.

use std::ops::Range;

/// Signature, version, number of sections, length and checksum.
pub(crate) const HEADER: usize = 32;
/// The bytes of a section's entry in the table.
pub(crate) const ENTRY: usize = 40;

/// Writes the length and the checksum of altered bytes into the header.
pub(crate) fn sign(bytes: &mut [u8]) {
    let length = bytes.len() as u64;
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let step = |hash: u64, word: &[u8]| {
        let mut eight = [0; 8];
        eight[..word.len()].copy_from_slice(word);
        (hash ^ u64::from_le_bytes(eight))
            .wrapping_mul(0x0000_0100_0000_01B3)
            .rotate_left(23)
    };
    let empty = 0xCBF2_9CE4_8422_2325_u64;
    let mut body = bytes[HEADER..].to_vec();
    // A last block that is padded, or empty.
    body.resize((body.len() / 32 + 1) * 32, 0);
    let mut lanes = [empty; 4];
    for (index, word) in body.chunks(8).enumerate() {
        lanes[index % 4] = step(lanes[index % 4], word);
    }
    let hash = bytes[..24].chunks(8).fold(empty, step);
    let lanes = lanes.iter();
    let hash = lanes.fold(hash, |hash, lane| step(hash, &lane.to_le_bytes()));
    bytes[24..32].copy_from_slice(&hash.to_le_bytes());
}

/// A section of a saved character: name, flags, version and contents.
#[derive(Clone)]
#[allow(dead_code, reason = "not every program of tests alters sections")]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) flags: u32,
    pub(crate) version: u32,
    pub(crate) contents: Vec<u8>,
}

/// The sections of a saved character.
#[allow(dead_code, reason = "not every program of tests alters sections")]
pub(crate) fn sections(bytes: &[u8]) -> Vec<Section> {
    let word = |range: Range<usize>| u32::from_le_bytes(bytes[range].try_into().unwrap());
    let count = word(12..16) as usize;
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
pub(crate) fn file(sections: &[Section]) -> Vec<u8> {
    let mut bytes = b"throng\r\n".to_vec();
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
        entry[32..].copy_from_slice(&(section.contents.len() as u64).to_le_bytes());
    }
    sign(&mut bytes);
    bytes
}
