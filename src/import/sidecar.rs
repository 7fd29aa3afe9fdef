//! The animation description beside a file.

use super::folder::Folder;
use super::options::ImportOptions;
use crate::character::AnimationSource;
use crate::error::Result;
use std::path::Path;

/// Reads the file with the same name and the extension `toml`. `None` if it does not exist or is
/// not wanted.
#[cfg(feature = "toml")]
pub(super) fn read(
    path: &Path,
    folder: &Folder,
    options: &ImportOptions,
) -> Result<Option<AnimationSource>> {
    use crate::character::AnimationText;
    use crate::error::Error;
    use crate::state_machine::StateMachineDesc;
    use std::io::ErrorKind;

    let beside = path.with_extension("toml");
    let name = beside.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| beside != path) else {
        return Ok(None);
    };
    if !options.sidecar || options.animation.is_some() {
        return Ok(None);
    }
    // One byte more than a description may have, so that parsing reports the excess itself.
    let cap = options
        .max_resource_bytes
        .min(StateMachineDesc::MAX_TOML_BYTES as u64 + 1);
    let bytes = match folder.read(name, cap) {
        Ok(bytes) => bytes,
        Err(Error::Io {
            kind: ErrorKind::NotFound,
            ..
        }) => return Ok(None),
        Err(error) => return Err(error.in_file(name)),
    };
    let text = AnimationText::decode(name, &bytes)?;
    AnimationSource::of_text(text, Some(&mut |path| folder.read(path, cap))).map(Some)
}

#[cfg(not(feature = "toml"))]
pub(super) fn read(_: &Path, _: &Folder, _: &ImportOptions) -> Result<Option<AnimationSource>> {
    Ok(None)
}
