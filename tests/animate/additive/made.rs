//! The additive clips of the models, and a clip with all kinds of tracks.

use crate::models::models;
use crate::reference::raws;
use crate::reference::rig;
use crate::reference::rng::Rng;
use rayon::prelude::*;
use std::sync::LazyLock;
use throng::Result;
use throng::character::{Character, PoseReference};
use throng::clip::{Clip, CurveClip, Interpolation, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::skeleton::Transform;

/// An additive clip of one of [`models`], or why there is none.
pub(super) struct Difference {
    /// The number of the clip in the model.
    pub(super) number: usize,
    /// The pose of the reference.
    pub(super) from: Vec<Transform>,
    pub(super) made: Result<Clip>,
}

/// The name of a clip that becomes additive.
const NAME: &str = "clip";

/// The number of clips of each model that are made additive.
const CLIPS: usize = 6;

/// The differences of each model. They are packed once for all tests.
///
/// The first two clips of a file have one from the rest pose and one from a random frame. The
/// other clips have one of them, by turns.
pub(super) fn differences() -> &'static [Vec<Difference>] {
    static DIFFERENCES: LazyLock<Vec<Vec<Difference>>> = LazyLock::new(|| {
        let all = models().par_iter().enumerate().map(|(index, model)| {
            let curves = model.character.curves().par_iter().enumerate().take(CLIPS);
            let asked = curves.flat_map_iter(|(number, curves)| {
                let mut rng = Rng::new(number as u64);
                let time_s = f64::from(rng.range(0.0, 1.0) * curves.duration_s());
                let both = [None, Some(time_s)];
                let both_wanted = number < 2 && !model.name.starts_with("random");
                let wanted = move |of: usize| both_wanted || (number + index) % 2 == of;
                let both = both.into_iter().enumerate();
                both.filter(move |(of, _)| wanted(*of))
                    .map(move |(_, reference)| (number, reference))
            });
            asked
                .map(|(number, reference)| difference(&model.character, number, reference))
                .collect()
        });
        all.collect()
    });
    &DIFFERENCES
}

/// The difference of a clip from its pose at a time, or from the rest pose.
fn difference(character: &Character, number: usize, time_s: Option<f64>) -> Difference {
    let curves = &character.curves()[number];
    let mut from = rest(character);
    if let Some(time_s) = time_s {
        curves.sample(time_s, &mut from).unwrap();
    }
    let reference = time_s.map_or(PoseReference::Rest, |time_s| PoseReference::Frame {
        clip: NAME.into(),
        time_s,
    });
    Difference {
        number,
        made: additive(character, curves, reference),
        from,
    }
}

/// A clip for the skeleton of a character, packed as its difference from a reference.
///
/// The mesh is left out, so that its vertices need not be compared.
pub(super) fn additive(
    character: &Character,
    curves: &CurveClip,
    reference: PoseReference,
) -> Result<Clip> {
    let curves = CurveClip::new(NAME, curves.tracks().to_vec(), character.skeleton())?;
    let bare = RawCharacter::from_skeleton(character.skeleton());
    let bare = bare
        .build(&ImportOptions {
            curves: true,
            ..ImportOptions::default()
        })?
        .character;
    let whole = rig::additive(bare.with_clips(vec![curves])?, reference)?;
    Ok(whole.clips()[0].clone())
}

pub(super) fn rest(character: &Character) -> Vec<Transform> {
    character
        .skeleton()
        .joints()
        .iter()
        .map(|joint| joint.rest)
        .collect()
}

pub(super) fn sine_clip(character: &Character, interpolation: Interpolation) -> CurveClip {
    let per_key = if interpolation == Interpolation::CubicSpline {
        3
    } else {
        1
    };
    let values = (0..4 * per_key).map(|at| Vec3::new(at as f32, 1.0, -0.5 * at as f32));
    let keys = rig::keys(
        interpolation,
        [0.0, 0.5, 0.75, 2.0],
        values.collect::<Vec<_>>(),
    );
    let turns = (0..4 * per_key).map(|at| Quat::from_rotation_x(0.3 * at as f32));
    let turns = rig::keys(
        interpolation,
        [0.25, 0.5, 1.0, 1.5],
        turns.collect::<Vec<_>>(),
    );
    let sizes = (0..4 * per_key).map(|at| Vec3::new(1.0 + at as f32, 0.25, -1.0));
    let sizes = rig::keys(
        interpolation,
        [0.0, 0.1, 0.2, 0.3],
        sizes.collect::<Vec<_>>(),
    );
    let tracks = [
        TrackValues::Translation(keys),
        TrackValues::Rotation(turns),
        TrackValues::Scale(sizes),
    ];
    let tracks = tracks.map(|values| raws::track(1, values));
    CurveClip::new("made", tracks.into(), character.skeleton()).unwrap()
}
