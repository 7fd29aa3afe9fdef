//! Writing files.

use crate::failure::Failure;
use crate::inputs::{folder, is_beside, is_same_file, refers};
use crate::words::shown;
use std::io::Write;
use std::path::Path;

#[path = "../../character/save/replace.rs"]
mod replace;

/// True for `-`, the standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Fails if the path stands for the standard output, where the report goes.
pub(crate) fn check_not_stdout(path: &Path) -> Result<(), Failure> {
    if is_stdout(path) {
        let words = "OUT must be a file, because the standard output has the report. \
                     For a file that is named -, write ./-";
        return Err(Failure::Usage(words.into()));
    }
    Ok(())
}

/// Fails if the file cannot be written, or if writing it could replace a file that is read.
///
/// An import also reads files beside the source, such as textures. It never reads outside of the
/// source's folder. In that folder, only a file with one of these extensions is replaced, and only
/// if no source refers to it.
pub(crate) fn check(path: &Path, sources: &[&Path], extensions: &[&str]) -> Result<(), Failure> {
    let told = |why: String| Failure::Write(format!("{} cannot be written: {why}", shown(path)));
    let folder = folder(path);
    if !folder.is_dir() {
        return Err(told(format!("there is no folder {}", shown(folder))));
    }
    if path.is_dir() {
        return Err(told("it is a folder".into()));
    }
    for source in sources {
        if is_same_file(source, path) {
            return Err(told("it is the file that is read".into()));
        }
    }
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_usual = extensions.iter().any(|known| extension == *known);
    let beside = sources.iter().filter(|source| is_beside(path, source));
    for source in beside.filter(|_| path.is_file()) {
        if !is_usual {
            return Err(told(format!(
                "it exists beside {} and may belong to it, because it is not called .{}",
                shown(source),
                extensions.join(" or .")
            )));
        }
        if refers(source, path) {
            return Err(told(format!("{} refers to it", shown(source))));
        }
    }
    Ok(())
}

/// Fails if two outputs are one file, or both the standard output.
pub(crate) fn check_distinct(outputs: &[&Path]) -> Result<(), Failure> {
    // The file may not exist yet, but its folder does.
    let real = |path: &Path| {
        let of_folder = || Some(folder(path).canonicalize().ok()?.join(path.file_name()?));
        if is_stdout(path) {
            return path.into();
        }
        let whole = path.canonicalize().ok();
        whole.or_else(of_folder).unwrap_or_else(|| path.into())
    };
    for (index, path) in outputs.iter().enumerate() {
        if outputs[..index]
            .iter()
            .any(|other| real(other) == real(path))
        {
            let path = match is_stdout(path) {
                true => "the standard output".into(),
                false => shown(path),
            };
            return Err(Failure::Usage(format!("{path} is given for two outputs")));
        }
    }
    Ok(())
}

/// Writes a file, or the standard output if the path is `-`.
///
/// The file is complete or does not change. Devices and pipes are written to directly.
pub(crate) fn save(path: &Path, bytes: &[u8], out: &mut dyn Write) -> Result<(), Failure> {
    if is_stdout(path) {
        return Ok(out.write_all(bytes)?);
    }
    replace::replace(path, bytes)
        .map_err(|error| Failure::Write(format!("{} cannot be written: {error}", shown(path))))
}
