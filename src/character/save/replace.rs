//! Writes files that are complete or do not change. The command line and the examples compile this
//! file too.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a new file beside `path` and renames it to `path`. See [`Replacement::create`].
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut replacement = Replacement::create(path)?;
    replacement.file.write_all(bytes)?;
    replacement.finish()
}

/// A file that takes the place of another one when it is finished. Dropped before, it is removed.
#[derive(Debug)]
pub(crate) struct Replacement {
    /// The file to write to.
    pub(crate) file: File,
    path: PathBuf,
    /// The name until it is finished. `None` for a device or a pipe.
    temporary: Option<PathBuf>,
}

impl Replacement {
    /// Creates a file beside `path`.
    ///
    /// A link stays a link: the file that it leads to is replaced, or created. A file that exists
    /// keeps its permissions. What is neither a file nor a folder, such as a device or a pipe, is
    /// written to.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(old) if old.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(old) if old.is_file() => Self::beside(path.canonicalize()?, Some(old.permissions())),
            Ok(_) => Ok(Self {
                file: File::options().write(true).open(path)?,
                path: path.into(),
                temporary: None,
            }),
            Err(_) => Self::beside(follow_links(path)?, None),
        }
    }

    /// The name does not contain that of `path`, which may be as long as names can be.
    fn beside(path: PathBuf, permissions: Option<Permissions>) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if path.file_name().is_none() {
            return Err(ErrorKind::InvalidInput.into());
        }
        let (temporary, file) = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("throng-{}-{number}.tmp", std::process::id());
            let temporary = path.with_file_name(name);
            match File::create_new(&temporary) {
                Ok(file) => break (temporary, file),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let made = Self {
            file,
            path,
            temporary: Some(temporary),
        };
        match permissions {
            Some(permissions) => made.file.set_permissions(permissions).map(|()| made),
            None => Ok(made),
        }
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            self.file.sync_all()?;
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// The path that a symbolic link to nothing leads to, or the path itself.
pub(crate) fn follow_links(path: &Path) -> io::Result<PathBuf> {
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
