//! Writing files and the standard output, without harm to the files that are read.

use crate::failure::Failure;
use crate::words::shown;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use throng::files::{self, overwritten};

/// True for `-`, the standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// `ERROR_PIPE_NOT_CONNECTED` of Windows, which the standard library gives no kind.
const NOT_CONNECTED: i32 = 233;

/// True if a write failed because nobody reads the pipe any more, as in `throng … | head`.
///
/// Windows reports a named pipe whose other end has disconnected as an error of its own. Wine does
/// so for every closed pipe.
pub(crate) fn is_closed_pipe(error: &io::Error) -> bool {
    let not_connected = cfg!(windows) && error.raw_os_error() == Some(NOT_CONNECTED);
    error.kind() == ErrorKind::BrokenPipe || not_connected
}

/// Fails if the path is that of the standard output, where the report goes.
pub(crate) fn check_not_stdout(path: &Path) -> Result<(), Failure> {
    if is_stdout(path) {
        let words = "OUT must be a file, because the standard output has the report. \
                     For a file that is named -, write ./-";
        return Err(Failure::Usage(words.into()));
    }
    Ok(())
}

/// Fails if the file cannot be written, or if it is one of the sources.
///
/// A file that exists in the folder of a source is replaced only if it has one of these extensions.
/// After the import, [`check_unread`] knows more.
pub(crate) fn check(path: &Path, sources: &[&Path], extensions: &[&str]) -> Result<(), Failure> {
    let told = |why: String| refusal(path, &why);
    let folder = folder(path);
    if !folder.is_dir() {
        return Err(told(format!("there is no folder {}", shown(folder))));
    }
    if path.is_dir() {
        return Err(told("it is a folder".into()));
    }
    if overwritten(path, sources).is_some() {
        return Err(told("it is the file that is read".into()));
    }
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let is_usual = extensions.iter().any(|known| extension == *known);
    let beside = sources.iter().find(|source| is_beside(path, source));
    match beside.filter(|_| path.is_file() && !is_usual) {
        Some(source) => Err(told(format!(
            "it exists beside {} and may belong to it, because it is not called .{}",
            shown(source),
            extensions.join(" or .")
        ))),
        None => Ok(()),
    }
}

/// Fails if an output would replace a file of an asset:
/// [`Imported::files`](throng::import::Imported::files) of what was imported from `source`.
pub(crate) fn check_unread(
    outputs: &[&Path],
    source: &Path,
    files: &[PathBuf],
) -> Result<(), Failure> {
    let outputs = outputs.iter().filter(|path| !is_stdout(path));
    let mut replacing = outputs.filter(|path| overwritten(path, files).is_some());
    match replacing.next() {
        Some(path) => Err(refusal(path, &format!("it belongs to {}", shown(source)))),
        None => Ok(()),
    }
}

fn refusal(path: &Path, why: &str) -> Failure {
    Failure::Write(format!("{} cannot be written: {why}", shown(path)))
}

/// Fails if two outputs are one file, or both the standard output.
pub(crate) fn check_distinct(outputs: &[&Path]) -> Result<(), Failure> {
    let is_given = |index: &usize| overwritten(outputs[*index], &outputs[..*index]).is_some();
    let Some(twice) = (0..outputs.len()).find(is_given) else {
        return Ok(());
    };
    let path = match is_stdout(outputs[twice]) {
        true => "the standard output".into(),
        false => shown(outputs[twice]),
    };
    Err(Failure::Usage(format!("{path} is given for two outputs")))
}

/// Writes a file, or the standard output if the path is `-`.
///
/// The file is complete or does not change. Devices and pipes are written to directly.
pub(crate) fn save(path: &Path, bytes: &[u8], out: &mut dyn Write) -> Result<(), Failure> {
    if is_stdout(path) {
        return Ok(out.write_all(bytes)?);
    }
    Ok(files::write(path, bytes)?)
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

pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
