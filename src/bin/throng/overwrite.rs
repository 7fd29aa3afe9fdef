//! Finds outputs that would replace a file that is read. The examples compile this file too.

use super::replace::follow_links;
use std::path::{Path, PathBuf};

/// The file among those that are read which writing `output` would replace, if there is one.
///
/// Names are compared after all links are followed, also names of files that do not exist. On Unix,
/// hard links are found too.
pub(crate) fn overwritten<'a, P: AsRef<Path>>(output: &Path, read: &'a [P]) -> Option<&'a Path> {
    let paths = read.iter().map(AsRef::as_ref);
    paths.into_iter().find(|path| is_same_file(path, output))
}

/// The output that is given twice, if there is one.
pub(crate) fn given_twice<'a>(outputs: &[&'a Path]) -> Option<&'a Path> {
    let earlier = |index: usize| overwritten(outputs[index], &outputs[..index]).is_some();
    let twice = (0..outputs.len()).find(|index| earlier(*index))?;
    Some(outputs[twice])
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let same_name = matches!((location(a), location(b)), (Some(a), Some(b)) if a == b);
    same_name || is_same_inode(a, b)
}

/// The real path of a file, which may not exist yet.
fn location(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let path = follow_links(path).ok()?;
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(unix)]
fn is_same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |path: &Path| std::fs::metadata(path).map(|file| (file.dev(), file.ino()));
    matches!((id(a), id(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(unix))]
fn is_same_inode(_: &Path, _: &Path) -> bool {
    false
}
