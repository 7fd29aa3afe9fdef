//! Adds the clips of one model to another.

use super::{Failure, load, note, plural};
use std::io::Write;
use std::path::Path;
use throng::Error;
use throng::character::Character;
use throng::import::{self, ImportOptions, Imported};
use throng::retarget::{JointMap, Retarget, RetargetOptions};

/// Returns the model with the clips of a file added.
pub(super) fn with_clips(
    model: &Character,
    path: &Path,
    notes: &mut impl Write,
) -> Result<Character, Failure> {
    let by_names = match path == Path::new("builtin") {
        true => None,
        false => match import::add_clips_file(model, path, &ImportOptions::curves_only()) {
            Ok(added) => Some(added),
            Err(Error::NoCommonJoints { .. }) => None,
            Err(error) => return Err(error.into()),
        },
    };
    match by_names {
        Some(added) => {
            tell(&added, added.curves().len() - model.curves().len(), notes);
            Ok(added.character)
        }
        None => retargeted(model, path, notes),
    }
}

/// Reports the parts of the file that did not fit.
fn tell(added: &Imported, clips: usize, notes: &mut impl Write) {
    note(notes, &format!("{} added", plural(clips, "clip")));
    for line in added.repair_summary() {
        note(notes, &line);
    }
}

fn retargeted(
    model: &Character,
    path: &Path,
    notes: &mut impl Write,
) -> Result<Character, Failure> {
    let other = load(path, &ImportOptions::curves_only())?;
    let map = JointMap::humanoid(other.skeleton(), model.skeleton())?;
    let options = RetargetOptions::default();
    let mut retarget = Retarget::new(other.skeleton(), model.skeleton(), &map, &options)?;
    let clips = other.curves().iter().map(|clip| Ok(retarget.clip(clip)?.0));
    let clips = clips.collect::<Result<Vec<_>, Failure>>()?;
    let joints = plural(map.links().len(), "joint");
    note(
        notes,
        &format!("{} retargeted by {joints}", plural(clips.len(), "clip")),
    );
    for (role, in_source) in map.unmatched_roles() {
        let whose = if *in_source {
            "the other model"
        } else {
            "this model"
        };
        note(notes, &format!("only {whose} has a joint for {role}"));
    }
    Ok(model.clone().with_clips(clips)?)
}
