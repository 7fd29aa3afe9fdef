//! Adds the clips of one model to another.

use super::{Failure, load, note, plural};
use std::io::Write;
use std::path::Path;
use throng::Error;
use throng::character::Character;
use throng::import::{self, AddedClips, ImportOptions};
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
            tell(&added, notes);
            Ok(added.character)
        }
        None => retargeted(model, path, notes),
    }
}

/// Reports the parts of the file that did not fit.
fn tell(added: &AddedClips, notes: &mut impl Write) {
    let report = &added.report;
    let clips = plural(added.clips.len(), "clip");
    note(
        notes,
        &format!("{clips} taken by {}", plural(report.matched, "joint")),
    );
    for joint in &report.unmatched {
        let tracks = plural(joint.tracks as usize, "track");
        note(
            notes,
            &format!("joint \"{}\" does not exist: {tracks} left out", joint.name),
        );
    }
    for rest in &report.rest {
        note(notes, &format!("\"{}\" rests otherwise there", rest.name));
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
