//! Resources of a file: data URIs, and files in its folder. Nothing outside of it is read.

use super::fault::cut;
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::import::fault::{fault, fault_of};
use crate::import::options::ImportOptions;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use percent_encoding::percent_decode_str;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// Base64 with or without padding, because exporters differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The reason that a file given as bytes cannot refer to others.
const ONLY_BYTES: &str = "is not available: only bytes were given";

/// The bytes that `uri` refers to, at most `cap`. `object` is the object with the reference.
pub(super) fn load(
    uri: &str,
    object: &Object,
    cap: u64,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let at = |why| fault_of(object.clone(), why);
    if uri
        .get(..5)
        .is_some_and(|s| s.eq_ignore_ascii_case("data:"))
    {
        return data_uri(&uri[5..], cap).map_err(at);
    }
    let path = relative_path(uri).map_err(|why| at(refused(uri, why)))?;
    load_path(&path, object, cap, read)
}

/// The bytes of the file at `path`, at most `cap`. `object` is the object with the reference.
pub(in crate::import) fn load_path(
    path: &str,
    object: &Object,
    cap: u64,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let at = |why| fault_of(object.clone(), why);
    check_path(path).map_err(|why| at(refused(path, why)))?;
    // The reader does not know which object has the reference.
    let bytes = read(path).map_err(|error| match error {
        Error::Io { kind, .. } => at(AssetFault::Unreadable {
            uri: cut(path),
            kind,
        }),
        Error::Asset { why, object, file }
            if file.is_empty() && object.kind == ObjectKind::File =>
        {
            at(why)
        }
        other => other,
    })?;
    check_cap(bytes.len() as u64, cap).map_err(at)?;
    Ok(bytes)
}

fn check_cap(asked: u64, cap: u64) -> Result<(), AssetFault> {
    if asked <= cap {
        return Ok(());
    }
    Err(AssetFault::Cap {
        what: "bytes of one resource",
        asked,
        cap,
    })
}

fn refused(uri: &str, why: &'static str) -> AssetFault {
    AssetFault::Resource { uri: cut(uri), why }
}

/// The contents of a data URI. `rest` is the text after `data:`.
fn data_uri(rest: &str, cap: u64) -> Result<Vec<u8>, AssetFault> {
    let broken = |why| refused(&format!("data:{}", cut(rest)), why);
    let Some((kind, data)) = rest.split_once(',') else {
        return Err(broken("is a data URI without data"));
    };
    if !kind.to_ascii_lowercase().ends_with(";base64") {
        check_cap(data.len() as u64 / 3, cap)?;
        let bytes: Vec<u8> = percent_decode_str(data).collect();
        check_cap(bytes.len() as u64, cap)?;
        return Ok(bytes);
    }
    check_cap(data.len() as u64 / 4 * 3, cap)?;
    BASE64
        .decode(data)
        .map_err(|_| broken("is not valid base64"))
}

/// The path that `uri` names, percent-decoded, if it is relative and stays inside its folder.
fn relative_path(uri: &str) -> Result<String, &'static str> {
    let path = percent_decode_str(uri)
        .decode_utf8()
        .map_err(|_| "is not UTF-8")?;
    check_path(&path)?;
    Ok(path.into_owned())
}

/// Checks that a path is relative and stays inside its folder.
fn check_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("is empty");
    }
    if path.contains(|c: char| c.is_control()) {
        return Err("has control characters");
    }
    if path.contains('\\') {
        return Err("has a backslash");
    }
    if path.contains(':') {
        return Err("has a scheme or a drive; only relative paths are read");
    }
    if path.starts_with('/') {
        return Err("is absolute; only relative paths are read");
    }
    if path.split('/').any(|part| part == "..") {
        return Err("leads out of the folder");
    }
    Ok(())
}

/// The bytes of a file that an asset given as bytes refers to.
pub(in crate::import) fn given(options: &ImportOptions, path: &str) -> Result<Vec<u8>> {
    match &options.resources {
        Some(resources) => resources.read(path),
        None => Err(no_object(refused(path, ONLY_BYTES))),
    }
}

/// The bytes of the file at `path`, and its folder.
pub(in crate::import) fn open(path: &Path, options: &ImportOptions) -> Result<(Vec<u8>, Folder)> {
    let bytes = read_file(path, options.max_resource_bytes).map_err(|error| match error {
        // No other file refers to this one.
        Error::Asset {
            why: AssetFault::Resource { why, .. },
            ..
        } => no_object(AssetFault::Invalid(why)),
        other => other,
    });
    let bytes = bytes.map_err(|error| error.in_file(&options.name))?;
    Ok((bytes, Folder::of(path)?))
}

fn no_object(why: AssetFault) -> Error {
    fault(ObjectKind::File, None, "", why)
}

fn io(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.to_string_lossy().into(),
        kind: error.kind(),
    }
}

/// The folder that contains an asset.
#[derive(Debug)]
pub(in crate::import) struct Folder(PathBuf);

impl Folder {
    /// The folder of the file at `path`.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let real = folder.canonicalize().map_err(|error| io(folder, &error))?;
        Ok(Self(real))
    }

    /// The bytes of a file that an asset in this folder refers to.
    pub(in crate::import) fn given(&self, options: &ImportOptions, path: &str) -> Result<Vec<u8>> {
        match &options.resources {
            Some(resources) => resources.read(path),
            None => self.read(path, options.max_resource_bytes),
        }
    }

    /// The bytes of the file at `relative`, which must be a plain file and must still lie in this
    /// folder after all links are followed.
    pub(super) fn read(&self, relative: &str, cap: u64) -> Result<Vec<u8>> {
        let path = self.0.join(relative);
        let real = path.canonicalize().map_err(|error| io(&path, &error))?;
        if !real.starts_with(&self.0) {
            return Err(no_object(refused(relative, "is a link out of the folder")));
        }
        read_file(&real, cap)
    }
}

/// The bytes of a plain file, at most `cap`.
pub(super) fn read_file(path: &Path, cap: u64) -> Result<Vec<u8>> {
    let not_plain = || no_object(refused(&path.to_string_lossy(), "is not a plain file"));
    let failed = |error: std::io::Error| io(path, &error);
    // Checked before opening, because opening a pipe waits for its other end.
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(not_plain());
    }
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(not_plain());
    }
    check_cap(metadata.len(), cap).map_err(no_object)?;
    let mut bytes = Vec::new();
    let mut limited = file.take(cap.saturating_add(1));
    limited.read_to_end(&mut bytes).map_err(failed)?;
    check_cap(bytes.len() as u64, cap).map_err(no_object)?;
    Ok(bytes)
}
