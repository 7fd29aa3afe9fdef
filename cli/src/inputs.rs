//! The folders of input files.

use std::path::Path;

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
