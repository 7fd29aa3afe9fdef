//! Writes files that are complete or do not change. The command line compiles this file too.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a new file beside `path` and renames it to `path`.
///
/// A link stays a link: the file that it leads to is replaced, or created. A file that exists keeps
/// its permissions. What is neither a file nor a folder, such as a device or a pipe, is written to.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (path, permissions) = match fs::metadata(path) {
        Ok(old) if old.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(old) if old.is_file() => (path.canonicalize()?, Some(old.permissions())),
        Ok(_) => return File::options().write(true).open(path)?.write_all(bytes),
        Err(_) => (follow_links(path)?, None),
    };
    let path = path.as_path();
    let (temporary, mut file) = create_beside(path)?;
    let kept = permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions));
    let written = kept
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all());
    drop(file);
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

/// The path that a symbolic link to nothing leads to, or the path itself.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    // As many as Linux follows.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(path);
        }
        // A relative target starts at the folder of the link. An absolute one replaces the path.
        let target = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("more than 40 links in a row"))
}

/// Creates a file of a name that no other file in the folder of `path` has.
///
/// The name does not contain that of `path`, which may be as long as names can be.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if path.file_name().is_none() {
        return Err(ErrorKind::InvalidInput.into());
    }
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("throng-{}-{number}.tmp", std::process::id());
        let temporary = path.with_file_name(name);
        match File::create_new(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
