//! Files that tools write beside the files that they read.
//!
//! [`write()`] never leaves a broken file behind, and [`overwritten`] finds outputs that would
//! replace a file of an asset.
//!
//! ```no_run
//! use std::path::Path;
//! use throng::files;
//!
//! let output = Path::new("knight.throng");
//! let knight = throng_import::file("knight.glb", &Default::default())?;
//! match files::overwritten(output, &knight.files) {
//!     Some(read) => println!("{} would replace {}", output.display(), read.display()),
//!     None => files::write(output, &knight.to_bytes())?,
//! }
//! # Ok::<(), throng::Error>(())
//! ```

use crate::error::{Error, Result};
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns true if the bytes are a pointer of Git LFS, in this or an earlier version of its format,
/// in place of a file that was not downloaded.
pub(crate) fn is_lfs_pointer(bytes: &[u8]) -> bool {
    // Longer files are never pointers, says its specification.
    bytes.len() < 1024
        && [
            "version https://git-lfs.github.com/spec/",
            "version https://hawser.github.com/spec/",
            "version http://git-media.io/v/",
        ]
        .iter()
        .any(|start| bytes.starts_with(start.as_bytes()))
}

/// Writes a file that is complete or does not change.
///
/// The bytes go to a new file in the same folder, which then replaces an existing one and gets its
/// permissions. A symbolic link stays: the file that it leads to is written. Devices and pipes are
/// written to directly, also those that Windows reserves names for, such as `NUL`.
///
/// # Errors
/// [`Error::Write`] with the path, also if it is a folder, or on Windows a read-only file.
pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    replace(path, bytes).map_err(|error| Error::Write {
        path: path.to_string_lossy().into(),
        kind: error.kind(),
    })
}

/// The first of the files `read` that writing to `output` would replace.
///
/// Names are compared after all links are followed, also names of files that do not exist: without
/// regard to case on Windows. On Unix, hard links are found too.
/// [`Imported::files`](crate::import::Imported::files) lists the files of an asset.
pub fn overwritten<'a, P: AsRef<Path>>(output: &Path, read: &'a [P]) -> Option<&'a Path> {
    let mut read = read.iter().map(AsRef::as_ref);
    read.find(|path| {
        let same_name = matches!((real(path), real(output)), (Some(a), Some(b)) if is_same(&a, &b));
        same_name || is_same_inode(path, output)
    })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directly = || File::options().write(true).open(path)?.write_all(bytes);
    if is_reserved(path) {
        return directly();
    }
    let (path, permissions) = match fs::metadata(path) {
        Ok(old) if old.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(old) if old.is_file() => (path.canonicalize()?, Some(old.permissions())),
        Ok(_) => return directly(),
        Err(_) => (follow_links(path)?, None),
    };
    // Windows would refuse to replace it, and to remove a new file with these permissions.
    if cfg!(windows) && permissions.as_ref().is_some_and(Permissions::readonly) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let (temporary, mut file) = create_beside(&path)?;
    let written = (|| {
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A new file. Its name does not contain that of `path`, which may be as long as names can be.
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

/// The real path of a file, which may not exist yet.
fn real(path: &Path) -> Option<PathBuf> {
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

/// Compares real paths as the system does.
fn is_same(a: &Path, b: &Path) -> bool {
    let lower = |path: &Path| path.to_string_lossy().to_lowercase();
    a == b || cfg!(windows) && lower(a) == lower(b)
}

/// True for the names that Windows reserves for devices, in any folder and with any extension.
#[cfg(windows)]
fn is_reserved(path: &Path) -> bool {
    use std::path::{Component, Prefix};
    if let Some(Component::Prefix(prefix)) = path.components().next() {
        match prefix.kind() {
            Prefix::DeviceNS(_) => return true,
            kind if kind.is_verbatim() => return false,
            _ => {}
        }
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let stem = stem.to_ascii_uppercase();
    let is_numbered = || {
        let number = stem.strip_prefix("COM").or(stem.strip_prefix("LPT"));
        number.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
    };
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&&*stem) || is_numbered()
}

#[cfg(not(windows))]
fn is_reserved(_: &Path) -> bool {
    false
}

#[cfg(unix)]
fn is_same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino()));
    matches!((id(a), id(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(unix))]
fn is_same_inode(_: &Path, _: &Path) -> bool {
    false
}
