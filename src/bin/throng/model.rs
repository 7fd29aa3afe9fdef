//! Reading the file that a subcommand works on.

use crate::failure::Failure;
use crate::words::note;
use std::path::Path;
use throng::character::Character;
use throng::import::{self, ImportOptions, Imported, RawCharacter};

/// Imports a file, or makes the built-in character.
pub(crate) fn load(path: &Path, options: &ImportOptions) -> Result<Imported, Failure> {
    if is_builtin(path) {
        return Ok(RawCharacter::mannequin().build(options)?);
    }
    import::file(path, options).map_err(|error| Failure::of_file(path, &error))
}

/// True for the word that stands for the built-in character.
pub(crate) fn is_builtin(path: &Path) -> bool {
    path == Path::new("builtin") && !path.exists()
}

/// Tells the repairs of an import on the error stream.
pub(crate) fn note_repairs(model: &Imported) {
    for line in model.repair_summary() {
        note(&line);
    }
}

/// The name and the duration of each clip, packed or not.
pub(crate) fn clips(model: &Character) -> Vec<(&str, f64)> {
    let packed = model.clips().iter();
    let packed: Vec<_> = packed
        .map(|clip| (clip.name(), clip.duration_s()))
        .collect();
    if !packed.is_empty() {
        return packed;
    }
    let curves = model.curves().iter();
    curves
        .map(|clip| (clip.name(), f64::from(clip.duration_s())))
        .collect()
}
