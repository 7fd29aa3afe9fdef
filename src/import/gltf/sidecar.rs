//! The description of a character's animation that lies beside its file.

use super::resources::Folder;
use crate::character::AnimationSource;
use crate::error::Result;
use crate::import::options::ImportOptions;
use std::path::Path;

/// What lies beside the file under its name, with the ending `toml`; none if nothing does, or
/// nothing is wanted.
#[cfg(feature = "toml")]
pub(super) fn read(
    path: &Path,
    folder: &Folder,
    options: &ImportOptions,
) -> Result<Option<AnimationSource>> {
    use crate::character::AnimationText;
    use crate::error::Error;
    use crate::state_machine::MAX_TEXT_BYTES;
    use std::io::ErrorKind;

    let beside = path.with_extension("toml");
    let name = beside.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| beside != path) else {
        return Ok(None);
    };
    if !options.sidecar || options.animation.is_some() {
        return Ok(None);
    }
    // As much as a description may have, and then it says so by itself.
    let cap = options.max_resource_bytes.min(MAX_TEXT_BYTES as u64 + 1);
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
