//! Input files, and the files that they refer to.

use percent_encoding::percent_decode;
use serde_json::Value;
use std::path::Path;

/// True if both paths lead to one file, also through links.
#[cfg(unix)]
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |path: &Path| std::fs::metadata(path).map(|file| (file.dev(), file.ino()));
    matches!((id(a), id(b)), (Ok(a), Ok(b)) if a == b)
}

/// True if both paths lead to one file.
#[cfg(not(unix))]
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// True if a file that exists lies in the folder of another one, or in a folder within.
pub(crate) fn is_beside(path: &Path, source: &Path) -> bool {
    let (Ok(path), Ok(real)) = (path.canonicalize(), source.canonicalize()) else {
        return false;
    };
    // A link to the source may lie in another folder.
    let given = folder(source).canonicalize().ok();
    let folders = [real.parent(), given.as_deref()];
    folders
        .into_iter()
        .flatten()
        .any(|folder| path.starts_with(folder))
}

/// The folder of a file.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// True if an input refers to a file that exists, such as a texture or a buffer.
///
/// A glTF file refers to others by URI. Other formats do so if they contain the name of the file.
pub(crate) fn refers(source: &Path, path: &Path) -> bool {
    if !source.is_file() {
        return false;
    }
    // What cannot be read is reported by the import.
    let bytes = std::fs::read(source).unwrap_or_default();
    match gltf(&bytes) {
        Some(root) => uris(&root).iter().any(|uri| {
            let decoded = percent_decode(uri.as_bytes()).decode_utf8_lossy();
            let files = [folder(source).join(&*decoded), folder(source).join(uri)];
            files.iter().any(|file| is_same_file(file, path))
        }),
        None => contains_name(&bytes, path),
    }
}

/// The JSON of a glTF file. `None` if the file has another format or is malformed.
fn gltf(bytes: &[u8]) -> Option<Value> {
    // The header of a container has 12 bytes, and that of its first chunk 8.
    let json = match bytes.starts_with(b"glTF") {
        true => {
            let length = bytes.get(12..16)?.try_into().ok()?;
            let end = 20_usize.checked_add(u32::from_le_bytes(length) as usize)?;
            bytes.get(20..end)?
        }
        false => bytes,
    };
    let root: Value = serde_json::from_slice(json).ok()?;
    root.get("asset").is_some().then_some(root)
}

/// All URIs in a glTF file, also those of extensions, except for data.
fn uris(root: &Value) -> Vec<&str> {
    let (mut open, mut found) = (vec![root], Vec::new());
    while let Some(value) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list),
            Value::Object(members) => {
                found.extend(members.get("uri").and_then(Value::as_str));
                open.extend(members.values());
            }
            _ => {}
        }
    }
    found.retain(|uri| !uri.starts_with("data:"));
    found
}

/// True if the bytes contain the name of a file, as it is or percent-encoded.
fn contains_name(bytes: &[u8], path: &Path) -> bool {
    let real = path.canonicalize().ok();
    let names = [Some(path), real.as_deref()].map(|path| path.and_then(Path::file_name));
    let decoded: Vec<u8> = percent_decode(bytes).collect();
    names.into_iter().flatten().any(|name| {
        let name = name.to_string_lossy();
        let has = |text: &[u8]| {
            let mut parts = text.windows(name.len());
            parts.any(|part| part == name.as_bytes())
        };
        has(bytes) || has(&decoded)
    })
}
