//! Adds the parts of other files to the character of one.

use crate::failure::Failure;
use crate::model::{Space, load};
use crate::output;
use crate::words::{note, plural, shown};
use std::path::{Path, PathBuf};
use throng::character::Character;
use throng::error::Escaped;
use throng::import::ImportOptions;
use throng::outfit::{OutfitOptions, OutfitReport};

/// The arguments for adding parts.
#[derive(Debug, clap::Args)]
pub(crate) struct Outfits {
    /// Another file whose parts are added, such as clothes on the same skeleton: all of them, or
    /// those that are named after a colon. May be repeated.
    #[arg(long = "parts-of", value_name = "FILE[:PART,...]", value_parser = outfit)]
    outfits: Vec<Outfit>,
}

/// A file, and the names of its parts, or none for all.
#[derive(Debug, Clone)]
struct Outfit {
    path: PathBuf,
    parts: Vec<Box<str>>,
}

/// Splits at the first colon that follows the name of a file.
#[expect(clippy::unnecessary_wraps, reason = "a parser of arguments")]
fn outfit(text: &str) -> Result<Outfit, String> {
    let colons = text.match_indices(':').map(|(at, _)| text.split_at(at));
    let mut of_files = colons.filter(|(path, _)| Path::new(path).is_file());
    let (path, parts) = of_files.next().unwrap_or((text, ""));
    let parts = parts.strip_prefix(':').unwrap_or_default().split(',');
    Ok(Outfit {
        path: path.into(),
        parts: parts
            .filter(|part| !part.is_empty())
            .map(Into::into)
            .collect(),
    })
}

impl Outfits {
    /// The files that are read.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Path> {
        self.outfits.iter().map(|outfit| outfit.path.as_path())
    }

    /// Adds the parts of all files, and tells what happened on the error stream and in `remarks`.
    ///
    /// Fails if no part of a file fits, or if an output would replace a file that was read.
    pub(crate) fn add_to(
        &self,
        mut character: Character,
        (space, images): (Space, bool),
        outputs: &[&Path],
        remarks: &mut Vec<String>,
    ) -> Result<Character, Failure> {
        for Outfit { path, parts } in &self.outfits {
            let options = ImportOptions {
                images,
                ..ImportOptions::curves_only()
            };
            let other = load(path, &space.of(options))?;
            output::check_unread(outputs, path, &other.files)?;
            let options = OutfitOptions {
                parts: parts.clone(),
                ..OutfitOptions::default()
            };
            let merged = character.with_parts_of(&other, &options);
            let (merged, report) = merged.map_err(|error| Failure::of_file(path, &error))?;
            let lines = lines(&report);
            lines
                .iter()
                .for_each(|line| note(&format!("{}: {line}", shown(path))));
            if report.added.is_empty() {
                let words = format!("{}: no part fits", shown(path));
                return Err(Failure::File(words));
            }
            remarks.extend(lines);
            character = merged;
        }
        Ok(character)
    }
}

/// The report in words.
fn lines(report: &OutfitReport) -> Vec<String> {
    let mut lines = Vec::new();
    if !report.added.is_empty() {
        let names: Vec<&str> = report.added.iter().map(|part| &*part.name).collect();
        let count = plural(names.len(), "part");
        lines.push(format!("{count} added: {}", Escaped(names.join(", "))));
    }
    lines.extend(report.left_out.iter().map(ToString::to_string));
    lines.extend(report.held.iter().map(|held| {
        let [joint, follows] = [&held.0, &held.1].map(|name| Escaped(&**name));
        format!("what follows \"{joint}\" follows \"{follows}\"")
    }));
    if !report.same_morphs.is_empty() {
        let names = Escaped(report.same_morphs.join(", "));
        lines.push(format!(
            "morph weights of the same names stay apart: {names}"
        ));
    }
    if report.levels_left_out > 0 {
        let levels = plural(report.levels_left_out, "level");
        lines.push(format!(
            "{levels} of detail left out, which lack the new parts"
        ));
    }
    lines
}
