//! Saved characters as files.

use crate::character::asset::Character;
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

impl Character {
    /// Saves the character to a file, conventionally with the extension `.throng`.
    ///
    /// The file is complete or does not change: the bytes go to a new file in the same folder,
    /// which then takes the place of an existing one, with its permissions. A symbolic link stays:
    /// the file that it leads to is written. Devices and pipes are written to directly.
    /// [`import::file`](crate::import::file()) recognises such files like any other format.
    ///
    /// ```no_run
    /// use throng::character::Character;
    /// use throng::import;
    ///
    /// let knight = import::file("knight.glb", &Default::default())?;
    /// knight.save_file("knight.throng")?;
    /// let same = Character::load_file("knight.throng")?;
    /// assert_eq!(same, knight.character);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Write`] with the path, also if it is a folder.
    pub fn save_file(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        replace(path, &self.to_bytes()).map_err(|error| Error::Write {
            path: path.to_string_lossy().into(),
            kind: error.kind(),
        })
    }

    /// Loads a file that [`Self::save_file`] wrote.
    ///
    /// # Errors
    /// - [`Error::Io`] if the file cannot be read, also if it is a folder.
    /// - [`Error::Saved`] with the file's name, as [`Self::from_bytes`].
    pub fn load_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = read(path).map_err(|error| Error::Io {
            path: path.to_string_lossy().into(),
            kind: error.kind(),
        })?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self::from_bytes(&bytes).map_err(|error| error.in_file(&name.to_string_lossy()))
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Checked before opening, because opening a pipe waits for its other end.
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    // The size is known, so nothing has to ask for it again, nor for the end.
    let size = metadata.len();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX))?;
    File::open(path)?.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a new file beside `path` and renames it to `path`.
///
/// A link stays a link: the file that it leads to is replaced, or created. A file that exists keeps
/// its permissions. What is neither a file nor a folder, such as a device or a pipe, is written to.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
