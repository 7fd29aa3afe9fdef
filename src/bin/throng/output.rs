//! Writing files.

use crate::failure::Failure;
use std::io::Write;
use std::path::Path;

/// True for `-`, the standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Fails if the file cannot be written, or if writing it would replace a file that is read.
pub(crate) fn check(path: &Path, sources: &[&Path]) -> Result<(), Failure> {
    let told = |why: String| Failure::Write(format!("{} cannot be written: {why}", path.display()));
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(told(format!("there is no folder {}", folder.display())));
    }
    if path.is_dir() {
        return Err(told("it is a folder".into()));
    }
    for source in sources {
        if let (Ok(from), Ok(to)) = (source.canonicalize(), path.canonicalize())
            && from == to
        {
            return Err(told("it is the file that is read".into()));
        }
    }
    Ok(())
}

/// Fails if two outputs are one file, or both the standard output.
pub(crate) fn check_distinct(outputs: &[&Path]) -> Result<(), Failure> {
    // The file may not exist yet, but its folder does.
    let real = |path: &Path| {
        let of_folder = || {
            let folder = match path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            Some(folder.canonicalize().ok()?.join(path.file_name()?))
        };
        if is_stdout(path) {
            return path.into();
        }
        let whole = path.canonicalize().ok();
        whole.or_else(of_folder).unwrap_or_else(|| path.into())
    };
    for (index, path) in outputs.iter().enumerate() {
        if outputs[..index].iter().any(|other| real(other) == real(path)) {
            let path = match is_stdout(path) {
                true => "the standard output".into(),
                false => path.display().to_string(),
            };
            return Err(Failure::Usage(format!("{path} is given for two outputs")));
        }
    }
    Ok(())
}

/// Writes a file, or the standard output if the path is `-`.
pub(crate) fn save(path: &Path, bytes: &[u8], out: &mut dyn Write) -> Result<(), Failure> {
    if is_stdout(path) {
        return Ok(out.write_all(bytes)?);
    }
    std::fs::write(path, bytes)
        .map_err(|error| Failure::Write(format!("{} cannot be written: {error}", path.display())))
}
