//! The container of a saved character: a header, a table of sections, and the sections.

use crate::bytes::{Reader, Save, invalid};
use crate::checksum::Checksum;
use crate::error::{Error, Result, SavedFault};
use crate::files::is_lfs_pointer;
use std::ops::Range;

/// The signature at the start of a saved character.
const MAGIC: [u8; 8] = *b"throng\r\n";

/// The version of the header and the table. Sections have versions of their own.
const VERSION: u32 = 2;

/// The bytes of the header: signature, checksum of the rest of the header and of the table,
/// version, number of sections, length of the file.
const HEADER: usize = 32;
/// The bytes of signature and checksum, which the checksum does not cover.
const UNSUMMED: usize = 16;
/// The bytes of an entry of the table: name, flags, version, offset, length, checksum.
const ENTRY: usize = 48;
/// The bytes of a section's name. Shorter names end in zeros.
const NAME: usize = 16;
/// Every section starts at a multiple of this many bytes.
const ALIGNMENT: usize = 16;
/// The most sections of a file.
const MAX_SECTIONS: usize = 64;

/// The flag of a section without which the character would be another one.
const REQUIRED: u32 = 1;

/// A section that this version of the crate reads and writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    /// At most 16 letters.
    pub(super) name: &'static str,
    /// Incremented with every change of the section's contents.
    pub(super) version: u32,
}

impl Section {
    pub(super) const fn new(name: &'static str, version: u32) -> Self {
        Self { name, version }
    }
}

/// Returns true for bytes that start with the signature.
pub(super) fn is_container(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

fn fault(why: SavedFault) -> Error {
    Error::saved(why)
}

fn of_section(name: &str, why: &'static str) -> Error {
    let name = name.into();
    fault(SavedFault::Section { name, why })
}

/// Writes sections one after the other.
pub(super) struct Writer {
    bytes: Vec<u8>,
    written: usize,
    sections: usize,
}

impl Writer {
    /// Starts a file with `sections` sections.
    pub(super) fn new(sections: usize) -> Self {
        Self {
            bytes: vec![0; HEADER + sections * ENTRY],
            written: 0,
            sections,
        }
    }

    /// Appends a section, whose contents `save` writes.
    pub(super) fn add(&mut self, section: Section, save: impl FnOnce(&mut Vec<u8>)) {
        let bytes = &mut self.bytes;
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        let start = bytes.len();
        save(bytes);
        let mut entry = Vec::with_capacity(ENTRY);
        entry.extend_from_slice(section.name.as_bytes());
        entry.resize(NAME, 0);
        [REQUIRED, section.version].save(&mut entry);
        let length = (bytes.len() - start) as u64;
        [start as u64, length, Checksum::of(&bytes[start..])].save(&mut entry);
        let at = HEADER + self.written * ENTRY;
        bytes[at..at + ENTRY].copy_from_slice(&entry);
        self.written += 1;
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        debug_assert_eq!(self.written, self.sections, "sections that were announced");
        let length = self.bytes.len() as u64;
        let bytes = &mut self.bytes;
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[16..20].copy_from_slice(&VERSION.to_le_bytes());
        bytes[20..24].copy_from_slice(&(self.sections as u32).to_le_bytes());
        bytes[24..32].copy_from_slice(&length.to_le_bytes());
        let sum = Checksum::of(&bytes[UNSUMMED..HEADER + self.sections * ENTRY]);
        bytes[8..UNSUMMED].copy_from_slice(&sum.to_le_bytes());
        self.bytes
    }
}

/// The checked table of a file.
pub(super) struct Container<'a> {
    bytes: &'a [u8],
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    name: &'a str,
    is_required: bool,
    version: u32,
    range: Range<usize>,
    sum: u64,
}

impl<'a> Container<'a> {
    /// Checks signature, version and length, and reads the table.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        if is_lfs_pointer(bytes) {
            return Err(fault(SavedFault::LfsPointer));
        }
        if !is_container(bytes) {
            return Err(fault(SavedFault::Magic));
        }
        let got = bytes.len() as u64;
        let short = |need| fault(SavedFault::Length { got, need });
        let Some(header) = bytes.get(MAGIC.len()..HEADER) else {
            return Err(short(HEADER as u64));
        };
        let mut fields = Reader::within(header, 0..header.len());
        let sum = u64::load(&mut fields)?;
        let [found, sections] = <[u32; 2]>::load(&mut fields)?;
        // The first version has its number where the checksum is now.
        let found = if sum == 1 { 1 } else { found };
        if found != VERSION {
            let known = VERSION;
            return Err(fault(SavedFault::Version { found, known }));
        }
        let need = u64::load(&mut fields)?;
        if got != need {
            return Err(short(need));
        }
        let sections = sections as usize;
        let end = (sections.saturating_mul(ENTRY)).saturating_add(HEADER);
        let Some(summed) = bytes.get(UNSUMMED..end) else {
            return Err(short(end as u64));
        };
        if Checksum::of(summed) != sum {
            return Err(altered("table"));
        }
        let entries = table(bytes, sections)?;
        Ok(Self { bytes, entries })
    }

    /// Checks the checksums of the sections that are not `known`, which nothing reads.
    pub(super) fn check_others(&self, known: &[Section]) -> Result<()> {
        let others = self.entries.iter().filter(|entry| !entry.is_one_of(known));
        for entry in others {
            if Checksum::of(&self.bytes[entry.range.clone()]) != entry.sum {
                return Err(altered(entry.name));
            }
        }
        Ok(())
    }

    /// Checks that every required section is one of `known`.
    pub(super) fn expect_known(&self, known: &[Section]) -> Result<()> {
        let mut required = self.entries.iter().filter(|entry| entry.is_required);
        match required.find(|entry| !entry.is_one_of(known)) {
            None => Ok(()),
            Some(entry) => Err(of_section(
                entry.name,
                "is required, but this version of the crate does not know it",
            )),
        }
    }

    /// True if the file has a section of this name.
    pub(super) fn has(&self, section: Section) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| *entry.name == *section.name)
    }

    /// Reads a section with `load`, which must use all of its bytes.
    pub(super) fn read<T>(
        &self,
        section: Section,
        load: impl FnOnce(&mut Reader<'a>) -> Result<T>,
    ) -> Result<T> {
        let mut entries = self.entries.iter();
        let Some(entry) = entries.find(|entry| *entry.name == *section.name) else {
            return Err(of_section(section.name, "is missing"));
        };
        if entry.version != section.version {
            return Err(fault(SavedFault::SectionVersion {
                name: section.name.into(),
                found: entry.version,
                known: section.version,
            }));
        }
        let mut from = Reader::within(self.bytes, entry.range.clone());
        let loaded = load(&mut from);
        let is_read = from.is_empty();
        // A section that was altered may have any fault.
        if from.checksum() != entry.sum {
            return Err(altered(section.name));
        }
        if loaded.is_ok() && !is_read {
            return Err(of_section(section.name, "has bytes after its end"));
        }
        loaded
    }
}

impl Entry<'_> {
    fn is_one_of(&self, known: &[Section]) -> bool {
        known.iter().any(|one| *one.name == *self.name)
    }
}

fn altered(section: &str) -> Error {
    let section = section.into();
    fault(SavedFault::Checksum { section })
}

/// Reads a table of `count` entries, which `bytes` must contain.
///
/// Sections follow it and each other without gaps, except for the alignment.
fn table(bytes: &[u8], count: usize) -> Result<Vec<Entry<'_>>> {
    if count > MAX_SECTIONS {
        return Err(invalid("table", "has more than 64 sections"));
    }
    let mut from = Reader::within(bytes, HEADER..HEADER + count * ENTRY);
    let mut entries: Vec<Entry<'_>> = Vec::with_capacity(count);
    let mut end = HEADER + count * ENTRY;
    for _ in 0..count {
        let name = section_name(from.take(NAME)?)?;
        let [flags, version] = <[u32; 2]>::load(&mut from)?;
        let [start, length, sum] = <[u64; 3]>::load(&mut from)?;
        if entries.iter().any(|entry| entry.name == name) {
            return Err(of_section(name, "exists twice"));
        }
        let expected = end.next_multiple_of(ALIGNMENT);
        if start != expected as u64 {
            return Err(of_section(name, "does not start where the one before ends"));
        }
        // Zeros, so that every byte of a file has one right value.
        let gap = bytes.get(end..expected).unwrap_or_default();
        if gap.iter().any(|byte| *byte != 0) {
            return Err(of_section(name, "is preceded by bytes that are not 0"));
        }
        let last = start
            .checked_add(length)
            .and_then(|last| usize::try_from(last).ok());
        let Some(last) = last.filter(|last| *last <= bytes.len()) else {
            return Err(of_section(name, "ends after the file"));
        };
        end = last;
        entries.push(Entry {
            name,
            is_required: flags & REQUIRED != 0,
            version,
            range: expected..last,
            sum,
        });
    }
    if end != bytes.len() {
        return Err(invalid("file", "has bytes after its last section"));
    }
    Ok(entries)
}

fn section_name(bytes: &[u8]) -> Result<&str> {
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(NAME);
    let (name, zeros) = bytes.split_at(length);
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    match core::str::from_utf8(name) {
        Ok(name) if is_name && zeros.iter().all(|byte| *byte == 0) => Ok(name),
        _ => Err(invalid("table", "has a section whose name is not ASCII")),
    }
}
