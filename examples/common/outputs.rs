//! Checks of the files that a program is asked to write.

use std::path::{Path, PathBuf};

use throng::files::overwritten;

/// Fails before the work begins if a file cannot be written, or is given twice.
pub(crate) fn check(outputs: &[&Path]) -> Result<(), String> {
    for (index, path) in outputs.iter().enumerate() {
        if overwritten(path, &outputs[..index]).is_some() {
            return Err(format!("{} is given for two outputs", path.display()));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        if path.is_dir() || !Path::new(".").join(folder).is_dir() {
            let why = "it is a folder, or its folder does not exist";
            return Err(format!("{}: cannot be written: {why}", path.display()));
        }
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
    match outputs
        .iter()
        .find(|path| overwritten(path, files).is_some())
    {
        Some(path) => Err(format!(
            "{}: cannot be written: it belongs to {}",
            path.display(),
            source.display()
        )),
        None => Ok(()),
    }
}
