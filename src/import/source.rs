//! A file to import, with the animation data beside it.

use super::folder::Files;
use super::options::ImportOptions;
use crate::character::AnimationSource;
use crate::error::Result;
use std::path::Path;

/// A file to import, or its bytes alone.
pub(super) struct Source<'a> {
    pub(super) bytes: &'a [u8],
    /// Its name or path, which may be empty.
    pub(super) path: &'a Path,
    /// The files that it may refer to, and the options.
    pub(super) files: Files<'a>,
}

impl<'a> Source<'a> {
    pub(super) fn of_bytes(bytes: &'a [u8], options: &'a ImportOptions) -> Self {
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

    /// The animation data: that of the options, or of the file beside this one.
    pub(super) fn animation(&self) -> Result<AnimationSource> {
        match (&self.files.options.animation, self.files.folder) {
            (Some(desc), _) => {
                AnimationSource::of_desc(desc, Some(&mut |path| self.files.read(path)))
            }
            #[cfg(feature = "toml")]
            (None, Some(folder)) if self.files.options.sidecar => self.sidecar(folder),
            (None, _) => Ok(AnimationSource::default()),
        }
    }

    /// Reads the file with the same name and the extension `toml`, if it exists.
    #[cfg(feature = "toml")]
    fn sidecar(&self, folder: &super::folder::Folder) -> Result<AnimationSource> {
        use crate::character::AnimationText;
        use crate::error::Error;
        use crate::state_machine::StateMachineDesc;
        use std::io::ErrorKind;

        let beside = self.path.with_extension("toml");
        let name = beside.file_name().and_then(|name| name.to_str());
        let Some(name) = name.filter(|_| beside != self.path) else {
            return Ok(AnimationSource::default());
        };
        // One byte more than a description may have, so that parsing reports the excess itself.
        let most = StateMachineDesc::MAX_TOML_BYTES as u64 + 1;
        let cap = self.files.options.max_resource_bytes.min(most);
        let bytes = match folder.read(name, cap) {
            Err(Error::Io {
                kind: ErrorKind::NotFound,
                ..
            }) => {
                return Ok(AnimationSource::default());
            }
            read => read.map_err(|error| error.in_file(name))?,
        };
        let text = AnimationText::decode(name, &bytes)?;
        AnimationSource::of_text(text, Some(&mut |path| folder.read(path, cap)))
    }
}
