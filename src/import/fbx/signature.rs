//! Recognition of FBX files by their first bytes.

/// The start of a binary file.
const BINARY: &[u8] = b"Kaydara FBX Binary  \0";
/// The number of bytes in which a text file must name the format.
const TEXT_BYTES: usize = 4096;

/// True if the bytes start like an FBX file, binary or text.
///
/// Text is recognised by its comment (`; FBX 7.3.0 project file`) or its first object.
pub(crate) fn is_fbx(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(TEXT_BYTES)];
    let has = |words: &[u8]| start.windows(words.len()).any(|window| window == words);
    bytes.starts_with(BINARY) || has(b"; FBX ") || has(b"FBXHeaderExtension:")
}
