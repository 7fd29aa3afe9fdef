//! Recognition of file formats: by content first, by name second.

use super::fault::{LFS_POINTER, fault};
use core::fmt;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use std::path::Path;
use throng::character::{Character, LoadOptions};
use throng::error::{AssetFault, Error, ObjectKind, Result, SavedFault};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Gltf,
    Fbx,
    Saved,
    Ezm,
    WglModel,
    WglVertices,
    WglClip,
}

/// The byte order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

impl Format {
    /// The format of a file with these contents. Its name decides only if the contents fit several
    /// formats or none.
    ///
    /// # Errors
    /// If they fit none, or if the file is only a pointer of Git LFS.
    pub(super) fn of(bytes: &[u8], name: &str) -> Result<Self> {
        if is_lfs_pointer(bytes) {
            let why = AssetFault::Invalid(LFS_POINTER);
            return Err(fault(ObjectKind::File, None, "", why));
        }
        if bytes.starts_with(b"glTF") {
            return Ok(Self::Gltf);
        }
        if Character::is_saved(bytes) {
            return Ok(Self::Saved);
        }
        if bytes.starts_with(b"wglv") {
            return Ok(Self::WglVertices);
        }
        if is_fbx(bytes) {
            return Ok(Self::Fbx);
        }
        let text = bytes.strip_prefix(BOM).unwrap_or(bytes).trim_ascii_start();
        let by_content = match text.first() {
            Some(b'<') => Some(Self::Ezm),
            Some(b'{') => of_json(text),
            _ => None,
        };
        let unknown = || {
            let why = AssetFault::Invalid(
                "has no known format; glTF 2.0, FBX, EZMesh, WebGL models and saved characters \
                 are read",
            );
            fault(ObjectKind::File, None, "", why)
        };
        by_content.or_else(|| of_name(name)).ok_or_else(unknown)
    }

    /// The error for a format whose reader is not compiled in.
    #[cfg(not(all(feature = "gltf", feature = "fbx", feature = "ezm", feature = "wgl")))]
    pub(super) fn without_reader(self) -> Error {
        let (format, feature) = match self {
            Self::Gltf => ("a glTF file", "gltf"),
            Self::Fbx => ("an FBX file", "fbx"),
            Self::Ezm => ("an EZMesh file", "ezm"),
            Self::WglModel | Self::WglVertices | Self::WglClip => ("a WebGL model", "wgl"),
            // Its reader is always compiled in, so nobody asks.
            Self::Saved => ("a saved character", "default"),
        };
        let why = AssetFault::NoReader { format, feature };
        fault(ObjectKind::File, None, "", why)
    }
}

/// True if a file has the extension of a format that can be imported, for the lists of tools.
///
/// Its reader need not be compiled in. Files that only belong to another one, such as `.wglvert`,
/// do not count.
///
/// ```
/// use throng_import::has_known_extension;
///
/// let names = ["knight.glb", "knight.png", "knight.throng"];
/// assert_eq!(names.map(has_known_extension), [true, false, true]);
/// ```
#[must_use]
pub fn has_known_extension(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let name = path.file_name().and_then(|name| name.to_str());
    let format = name.and_then(of_name);
    format.is_some_and(|format| format != Format::WglVertices)
}

fn of_name(name: &str) -> Option<Format> {
    let extension = Path::new(name).extension()?.to_str()?;
    match extension.to_ascii_lowercase().as_str() {
        "glb" | "gltf" | "vrm" | "vrma" => Some(Format::Gltf),
        "fbx" => Some(Format::Fbx),
        "ezm" => Some(Format::Ezm),
        "throng" => Some(Format::Saved),
        "wglmodel" => Some(Format::WglModel),
        "wglvert" => Some(Format::WglVertices),
        "wglanim" => Some(Format::WglClip),
        _ => None,
    }
}

/// The format of a JSON object, by the names of its members. Text that is malformed is read as far
/// as possible.
fn of_json(text: &[u8]) -> Option<Format> {
    let mut members = Members::default();
    // The contents are checked later.
    let _ = serde_json::Deserializer::from_slice(text).deserialize_map(&mut members);
    match members {
        Members { asset: true, .. } => Some(Format::Gltf),
        Members { model: true, .. } => Some(Format::WglModel),
        Members { clip: true, .. } => Some(Format::WglClip),
        _ => None,
    }
}

/// The members of a JSON object that tell its format.
#[derive(Default)]
struct Members {
    asset: bool,
    model: bool,
    clip: bool,
}

impl<'de> Visitor<'de> for &mut Members {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match &*name {
                "asset" => {
                    self.asset = true;
                    break;
                }
                "modelVersion" | "models" => self.model = true,
                "animVersion" | "keyframes" => self.clip = true,
                _ => {}
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The start of a binary FBX file.
const FBX_BINARY: &[u8] = b"Kaydara FBX Binary  \0";
/// The number of bytes in which an FBX text must name the format.
const FBX_TEXT_BYTES: usize = 4096;

/// True if the bytes start like an FBX file, binary or text.
///
/// Text is recognised by a line that starts with its comment (`; FBX 7.3.0 project file`) or its
/// first object. JSON and XML are not FBX, whatever their text mentions.
pub(super) fn is_fbx(bytes: &[u8]) -> bool {
    if bytes.starts_with(FBX_BINARY) {
        return true;
    }
    let text = bytes.strip_prefix(BOM).unwrap_or(bytes).trim_ascii_start();
    if matches!(text.first(), Some(b'{' | b'[' | b'<')) {
        return false;
    }
    let start = &text[..text.len().min(FBX_TEXT_BYTES)];
    let mut lines = start.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.any(|line| {
        let line = line.trim_ascii_start();
        line.starts_with(b"; FBX ") || line.starts_with(b"FBXHeaderExtension:")
    })
}

/// True if the bytes are a pointer of Git LFS in place of a file that was not downloaded.
pub(crate) fn is_lfs_pointer(bytes: &[u8]) -> bool {
    if Character::is_saved(bytes) {
        return false;
    }
    // The reader of saved characters names them in its error.
    match Character::from_bytes(bytes, &LoadOptions::default()) {
        Err(Error::Saved { why, .. }) => why == SavedFault::LfsPointer,
        _ => false,
    }
}
