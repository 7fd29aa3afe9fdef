//! Saved characters as files.

use crate::character::asset::Character;
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

impl Character {
    /// Saves the character to a file, conventionally with the extension `.throng`.
    ///
    /// The file is complete or does not change, as [`files::write`](crate::files::write()) says.
    /// `throng_import::file` recognises such files like any other format.
    ///
    /// ```no_run
    /// use throng::character::Character;
    ///
    /// let knight = throng_import::file("knight.glb", &Default::default())?;
    /// knight.save_file("knight.throng")?;
    /// let same = Character::load_file("knight.throng")?;
    /// assert_eq!(same, knight.character);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Write`] with the path, also if it is a folder.
    pub fn save_file(&self, path: impl AsRef<Path>) -> Result<()> {
        crate::files::write(path, &self.to_bytes())
    }

    /// Loads a file that [`Self::save_file`] wrote.
    ///
    /// # Errors
    /// - [`Error::Io`] if the file cannot be read, also if it is a folder.
    /// - [`Error::Asset`] for what is neither a file nor a folder, such as a device or a pipe.
    /// - [`Error::Saved`] with the file's name, as [`Self::from_bytes`].
    pub fn load_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or(path.as_os_str());
        let bytes = read(path).map_err(|error| match error {
            Some(error) => Error::Io {
                path: path.to_string_lossy().into(),
                kind: error.kind(),
            },
            // As the import of any other file.
            None => Error::Asset {
                file: name.to_string_lossy().into(),
                object: Object {
                    kind: ObjectKind::File,
                    index: None,
                    part: Box::default(),
                },
                why: AssetFault::Invalid("is not a plain file"),
            },
        })?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(&name.to_string_lossy()))
    }
}

/// The bytes that tell a saved character from other files.
const SIGNATURE: u64 = 8;

/// The bytes of a plain file, or only its first ones if it is not a saved character. The error is
/// `None` for a device, a pipe and the like.
fn read(path: &Path) -> Result<Vec<u8>, Option<io::Error>> {
    // Checked before opening, because opening a pipe waits for its other end.
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(Some(ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(None);
    }
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    // A file of another kind may be large, and is refused by its start.
    file.by_ref().take(SIGNATURE).read_to_end(&mut bytes)?;
    if !Character::is_saved(&bytes) {
        return Ok(bytes);
    }
    // The size is known, so nothing has to ask for it again, nor for the end.
    let size = metadata.len().saturating_sub(SIGNATURE);
    let reserved = bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX));
    reserved.map_err(io::Error::from)?;
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}
