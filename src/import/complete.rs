//! The steps after a format's reader, which are the same for all formats.

use super::RawCharacter;
use super::imported::Imported;
use super::options::ImportOptions;
use super::repair::{Repair, of_file};
use crate::character::AnimationSource;
use crate::error::{Error, Result};

/// The callback that reads other files of the asset.
type Read<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<u8>>;

/// Reads the raw data and builds the character. Errors and repairs get the file's name.
///
/// `beside` is the description that was found beside the file.
pub(super) fn complete(
    options: &ImportOptions,
    beside: Option<AnimationSource>,
    read: Read<'_>,
    read_raw: impl FnOnce(Read<'_>, &mut Vec<Repair>) -> Result<RawCharacter>,
) -> Result<Imported> {
    let run = || {
        let mut repairs = Vec::new();
        let raw = read_raw(read, &mut repairs)?;
        let animation = match (&options.animation, beside) {
            (Some(desc), _) => AnimationSource::of_desc(desc, Some(read))?,
            (None, beside) => beside.unwrap_or_default(),
        };
        let mut imported = raw.build_with(options, &animation)?;
        repairs.append(&mut imported.repairs);
        imported.repairs = of_file(repairs, &options.name);
        Ok(imported)
    };
    run().map_err(|error: Error| error.in_file(&options.name))
}
