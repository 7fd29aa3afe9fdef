//! Errors about objects of the file that is imported.

use throng::error::{AssetFault, Error, Object, ObjectKind, Result};

/// The reason that a pointer of Git LFS is not read, as the end of a sentence.
pub(crate) const LFS_POINTER: &str =
    "is only a Git LFS pointer: run `git lfs pull` to download the file itself";

/// An error about an object of the current file. The file's name is filled in later.
pub(crate) fn fault(
    kind: ObjectKind,
    index: impl Into<Option<usize>>,
    part: impl Into<Box<str>>,
    why: AssetFault,
) -> Error {
    Error::asset(Object::new(kind, index, part), why)
}

pub(crate) fn file_part(part: impl Into<Box<str>>) -> Object {
    Object::new(ObjectKind::File, None, part)
}

/// Fails if a count exceeds its cap.
pub(crate) fn check_cap(
    object: impl FnOnce() -> Object,
    what: &'static str,
    asked: u64,
    cap: u64,
) -> Result<()> {
    if asked <= cap {
        return Ok(());
    }
    Err(Error::asset(object(), AssetFault::Cap { what, asked, cap }))
}

/// Fails unless a list has the length that it needs.
#[cfg(feature = "gltf")]
pub(crate) fn expect_count(
    object: impl FnOnce() -> Object,
    what: &'static str,
    got: u64,
    need: u64,
) -> Result<()> {
    if got == need {
        return Ok(());
    }
    let why = AssetFault::Count { what, got, need };
    Err(Error::asset(object(), why))
}

/// The message of a decoder or parser, on one line and cut to a length that fits an error message.
#[cfg(any(feature = "gltf", feature = "ezm", feature = "wgl"))]
pub(crate) fn message(text: &str) -> Box<str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&words.join(" "))
}

#[cfg(any(feature = "gltf", feature = "ezm", feature = "wgl"))]
pub(crate) fn not_allowed(what: &'static str, got: &str, allowed: &'static str) -> AssetFault {
    let got = cut(got);
    AssetFault::NotAllowed { what, got, allowed }
}

/// The error of a malformed container or text, at this byte of the file.
#[cfg(any(feature = "gltf", feature = "ezm", feature = "wgl"))]
pub(crate) fn malformed(what: &'static str, at: usize) -> Error {
    let at = at as u64;
    let why = AssetFault::Malformed { what, at };
    Error::asset(file_part(""), why)
}

/// The text, cut after 200 characters.
pub(crate) fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// The error for a scene of the options that the file, with `count` of them, does not have.
pub(super) fn no_scene(scene: usize, count: usize) -> Error {
    let (what, index, count) = ("scene", scene as u64, count as u64);
    Error::InFile {
        file: Box::default(),
        why: Error::NotFound { what, index, count }.into(),
    }
}
