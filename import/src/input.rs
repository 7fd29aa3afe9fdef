//! A file to import, with the animation data beside it.

use super::folder::Files;
#[cfg(feature = "toml")]
use std::io::ErrorKind;
use std::path::Path;
#[cfg(feature = "toml")]
use throng::Error;
use throng::error::Result;
use throng::import::{ImportOptions, Imported, RawCharacter};

/// A file to import, or its bytes alone.
pub(crate) struct Input<'a> {
    pub(crate) bytes: &'a [u8],
    /// Its name or path, which may be empty.
    pub(crate) path: &'a Path,
    /// The files that it may refer to, and the options.
    pub(crate) files: Files<'a>,
}

impl<'a> Input<'a> {
    pub(crate) fn of_bytes(bytes: &'a [u8], options: &'a ImportOptions) -> Self {
        let files = Files {
            folder: None,
            options,
        };
        Self {
            bytes,
            path: Path::new(&*options.name),
            files,
        }
    }

    /// Builds a character with the animation data of the options, or of the file beside this one.
    pub(crate) fn build(&self, raw: RawCharacter) -> Result<Imported> {
        let options = self.files.options;
        #[cfg(feature = "toml")]
        if let (None, true, Some(folder)) = (&options.animation, options.sidecar, self.files.folder)
            && let Some((name, bytes)) = self.sidecar(folder)?
        {
            let read = &mut |path: &str| folder.read(path, self.text_cap());
            return raw.build_with_files(options, Some((&name, &bytes)), read);
        }
        raw.build_with_files(options, None, &mut |path| self.files.read(path))
    }
}

#[cfg(feature = "toml")]
impl Input<'_> {
    /// The most bytes of a description: one more than it may have, so that parsing reports the
    /// excess itself.
    fn text_cap(&self) -> u64 {
        let most = throng::state_machine::StateMachineDesc::MAX_TOML_BYTES as u64 + 1;
        self.files.options.limits.resource_bytes.min(most)
    }

    /// The name and the bytes of the file with the same name and the extension `toml`, if it
    /// exists.
    fn sidecar(&self, folder: &super::folder::Folder) -> Result<Option<(String, Vec<u8>)>> {
        let beside = self.path.with_extension("toml");
        let name = beside.file_name().and_then(|name| name.to_str());
        let Some(name) = name.filter(|_| beside != self.path) else {
            return Ok(None);
        };
        match folder.read(name, self.text_cap()) {
            Err(Error::Io {
                kind: ErrorKind::NotFound,
                ..
            }) => Ok(None),
            Err(error) => Err(error.in_file(name)),
            Ok(bytes) => Ok(Some((name.into(), bytes))),
        }
    }
}
