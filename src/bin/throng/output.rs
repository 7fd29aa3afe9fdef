//! Writing files.

use crate::failure::Failure;
use std::io::Write;
use std::path::Path;

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
/// source's folder. In that folder, only a file with one of these extensions is replaced.
pub(crate) fn check(path: &Path, sources: &[&Path], extensions: &[&str]) -> Result<(), Failure> {
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
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if path.is_file() && !extensions.iter().any(|known| extension == *known) {
        for source in sources {
            if is_beside(path, source) {
                return Err(told(format!(
                    "it exists beside {} and may belong to it, because it is not called .{}",
                    source.display(),
                    extensions.join(" or .")
                )));
            }
        }
    }
    Ok(())
}

/// Fails if the file exists beside a source that names it, such as the picture of a texture.
pub(crate) fn check_not_named(path: &Path, sources: &[&Path]) -> Result<(), Failure> {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else {
        return Ok(());
    };
    // Addresses in glTF files have no spaces.
    let forms = [name.replace(' ', "%20"), name.into_owned()];
    for source in sources.iter().filter(|source| is_beside(path, source)) {
        // What cannot be read is reported by the import.
        let bytes = std::fs::read(source).unwrap_or_default();
        let finds = |name: &String| {
            bytes
                .windows(name.len())
                .any(|part| part == name.as_bytes())
        };
        if forms.iter().any(finds) {
            let (path, source) = (path.display(), source.display());
            let words = format!("{path} cannot be written: {source} refers to it");
            return Err(Failure::Write(words));
        }
    }
    Ok(())
}

/// True if a file that exists lies in the folder of another one, or in a folder within.
fn is_beside(path: &Path, source: &Path) -> bool {
    match (path.canonicalize(), source.canonicalize()) {
        (Ok(path), Ok(source)) => {
            let folder = source.parent();
            folder.is_some_and(|folder| path.starts_with(folder))
        }
        _ => false,
    }
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
        if outputs[..index]
            .iter()
            .any(|other| real(other) == real(path))
        {
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
