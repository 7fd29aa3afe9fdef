//! Reading the file that a subcommand works on.

use crate::failure::Failure;
use crate::words::note;
use crate::{output, progress};
use clap::ValueEnum;
use std::path::Path;
use throng::character::Character;
use throng::import::{ImportOptions, Imported, RawCharacter, UpAxis};

/// The axes and units of files that do not state them.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Space {
    /// The axis that points up in the files. By default as a file states, or y if it does not.
    #[arg(long, value_enum, value_name = "AXIS")]
    up: Option<Up>,
    /// The factor for all lengths, such as 0.01 for files in centimetres that do not say so.
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    scale: Option<f32>,
}

/// An axis that points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Up {
    Y,
    Z,
}

impl Space {
    /// These options, with the axes and units of the arguments.
    pub(crate) fn of(self, options: ImportOptions) -> ImportOptions {
        ImportOptions {
            up: self.up.map(|up| match up {
                Up::Y => UpAxis::Y,
                Up::Z => UpAxis::Z,
            }),
            scale: self.scale.unwrap_or(1.0),
            ..options
        }
    }
}

/// A positive number.
pub(crate) fn positive(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value.is_normal() && value > 0.0 => Ok(value),
        _ => Err("is not a positive number".into()),
    }
}

/// Imports a file, or makes the built-in character.
pub(crate) fn load(path: &Path, options: &ImportOptions) -> Result<Imported, Failure> {
    if is_builtin(path) {
        if options.scale != 1.0 || options.up.is_some_and(|up| up != UpAxis::Y) {
            let words = "--up and --scale are for files, and builtin is none";
            return Err(Failure::Usage(words.into()));
        }
        return Ok(RawCharacter::mannequin().build(options)?);
    }
    throng_import::file(path, options).map_err(|error| Failure::of_file(path, &error))
}

/// Imports a file that a subcommand converts, and tells its repairs.
///
/// Fails if an output would replace one of the files that were read.
pub(crate) fn load_source(
    path: &Path,
    options: &ImportOptions,
    outputs: &[&Path],
) -> Result<Imported, Failure> {
    let model = load(path, options);
    progress::clear();
    let model = model?;
    note_repairs(&model);
    output::check_unread(outputs, path, &model.files)?;
    Ok(model)
}

/// Returns true for the name of the built-in character.
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
