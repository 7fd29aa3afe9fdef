//! Checks of the files that a program is asked to write.

use std::path::{Path, PathBuf};

use super::overwrite::{given_twice, overwritten};
use super::replace::Replacement;

/// Fails before the work begins if a file cannot be written, or is given twice.
pub(crate) fn check(outputs: &[&Path]) -> Result<(), String> {
    if let Some(path) = given_twice(outputs) {
        return Err(format!("{} is given for two outputs", path.display()));
    }
    for path in outputs {
        // It is removed at once.
        let made = Replacement::create(path);
        made.map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
    }
    Ok(())
}

/// Fails if an output would replace a file of an asset: `Imported::files` of what was imported from
/// `source`.
pub(crate) fn check_unread(
    outputs: &[&Path],
    source: &Path,
    files: &[PathBuf],
) -> Result<(), String> {
    let mut replacing = outputs
        .iter()
        .filter(|path| overwritten(path, files).is_some());
    match replacing.next() {
        Some(path) => Err(format!(
            "{}: cannot be written: it belongs to {}",
            path.display(),
            source.display()
        )),
        None => Ok(()),
    }
}
