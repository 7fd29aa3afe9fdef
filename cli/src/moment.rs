//! The choice of a clip and a time.

use crate::failure::Failure;
use crate::model::clips;
use crate::words::{note, seconds, title};
use throng::Id;
use throng::character::Character;

/// A time in a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    pub(crate) clip: usize,
    pub(crate) time_s: f64,
}

/// The pose that the arguments ask for. `None` is the rest pose.
///
/// A time without a clip is in [`Character::default_clip`]. Times outside of the clip are clamped,
/// with a note.
pub(crate) fn choose(
    model: &Character,
    clip: Option<&str>,
    time_s: Option<f64>,
) -> Result<Option<Moment>, Failure> {
    let all = clips(model);
    let index = match (clip, time_s) {
        (None, None) => return Ok(None),
        (Some(name), _) => find(model, &all, name)?,
        (None, Some(_)) => {
            let Some(clip) = model.default_clip().map(Id::index) else {
                let words = format!("{} has no clips, so --time is not possible", model.name());
                return Err(Failure::File(words));
            };
            note(&format!(
                "no --clip given: taking clip {clip}, {}",
                title(all[clip].0)
            ));
            clip
        }
    };
    let asked = time_s.unwrap_or(0.0);
    if !asked.is_finite() {
        let words = format!("--time {asked} is not a finite number of seconds");
        return Err(Failure::Usage(words));
    }
    let (name, duration_s) = all[index];
    let time_s = asked.clamp(0.0, duration_s);
    if time_s != asked {
        let side = match asked < 0.0 {
            true => "before the start",
            false => "after the end",
        };
        note(&format!(
            "{} is {side} of {}: taking {}",
            seconds(asked),
            title(name),
            seconds(time_s)
        ));
    }
    let clip = index;
    Ok(Some(Moment { clip, time_s }))
}

/// Finds a clip by name, then by number, because a clip may be called `3`.
fn find(model: &Character, all: &[(&str, f64)], name: &str) -> Result<usize, Failure> {
    let unnamed = match model.clip(name) {
        Ok(clip) => return Ok(clip.index()),
        Err(error) => error,
    };
    match name.parse::<usize>() {
        Ok(index) if index < all.len() => Ok(index),
        Ok(_) if !all.is_empty() => Err(Failure::File(format!(
            "clip \"{name}\" does not exist: {} has clips 0 to {}",
            model.name(),
            all.len() - 1
        ))),
        _ if all.is_empty() => Err(Failure::File(format!("{} has no clips", model.name()))),
        _ => Err(Failure::File(format!("{}: {unnamed}", model.name()))),
    }
}
