//! Resources of a file: data URIs, and relative paths that stay in its folder.

use super::fault::cut;
use super::json::Document;
use crate::folder::{self, Files, check_cap, refused};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use percent_encoding::percent_decode_str;
use throng::error::{AssetFault, Error, Object, Result};

/// Base64 with or without padding, because exporters differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes that `uri` refers to, at most `cap`. `object` is the object with the reference.
pub(super) fn load(uri: &str, object: &Object, cap: u64, files: &Files<'_>) -> Result<Vec<u8>> {
    let at = |why| Error::asset(object.clone(), why);
    if let Some(rest) = data(uri) {
        return data_uri(rest, cap).map_err(at);
    }
    let path = relative_path(uri).map_err(|why| at(refused(uri, why)))?;
    load_path(&path, object, cap, files)
}

/// Lists all files that a document refers to. Those that are needed are read later, with checks.
pub(super) fn list(doc: &Document, files: &Files<'_>) {
    let buffers = doc.buffers.iter().map(|buffer| &buffer.uri);
    let images = doc.images.iter().map(|image| &image.uri);
    let uris = buffers.chain(images).flatten();
    for uri in uris.filter(|uri| data(uri).is_none()) {
        if let Ok(path) = relative_path(uri) {
            files.list(&path);
        }
    }
}

/// The bytes of the file at `path`, at most `cap`. `object` is the object with the reference.
pub(crate) fn load_path(
    path: &str,
    object: &Object,
    cap: u64,
    files: &Files<'_>,
) -> Result<Vec<u8>> {
    let refused = |why| Error::asset(object.clone(), refused(path, why));
    check_path(path).map_err(refused)?;
    folder::load(path, object, cap, files)
}

/// The text after `data:`, if this is a data URI.
fn data(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_at_checked(5)?;
    scheme.eq_ignore_ascii_case("data:").then_some(rest)
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
pub(crate) fn check_path(path: &str) -> Result<(), &'static str> {
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
