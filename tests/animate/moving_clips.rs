//! Clips that change something over time, and the clip that is played if nobody chooses one.

use crate::reference::raws;
use crate::reference::rig;
use throng::Id;
use throng::character::Character;
use throng::clip::{Clip, ClipOptions, CurveClip, Interpolation, Keys, TrackValues, WeightTrack};
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::MorphTarget;

fn mannequin(options: &ImportOptions) -> Character {
    RawCharacter::mannequin().build(options).unwrap().character
}

fn keys<T: Clone>(values: &[T], interpolation: Interpolation) -> Keys<T> {
    let per_key = if interpolation == Interpolation::CubicSpline {
        3
    } else {
        1
    };
    rig::keys(
        interpolation,
        (0..values.len() / per_key)
            .map(|key| key as f32)
            .collect::<Vec<_>>(),
        values,
    )
}

/// Tracks of joint 0, and whether they move.
fn cases() -> Vec<(Vec<TrackValues>, bool)> {
    use Interpolation::{CubicSpline, Linear, Step};
    use TrackValues::{Rotation, Scale, Translation};
    let (zero, one, far) = (Vec3::ZERO, Vec3::ONE, Vec3::X * 0.3);
    let turn = Quat::from_rotation_y(1.0);
    vec![
        (vec![], false),
        (vec![Translation(keys(&[far], Linear))], false),
        (vec![Translation(keys(&[far, far, far], Linear))], false),
        (vec![Translation(keys(&[far, far, zero], Linear))], true),
        (vec![Translation(keys(&[far, zero], Step))], true),
        (vec![Rotation(keys(&[turn, -turn], Linear))], false),
        (vec![Rotation(keys(&[turn, Quat::IDENTITY], Linear))], true),
        (vec![Scale(keys(&[one, one * 1.000_001], Linear))], false),
        (vec![Scale(keys(&[one, one * 1.1], Linear))], true),
        // A spline that leaves its keys, which are equal, and one that does not.
        (
            vec![Translation(keys(
                &[zero, far, one, zero, far, zero],
                CubicSpline,
            ))],
            true,
        ),
        (
            vec![Translation(keys(
                &[zero, far, zero, zero, far, zero],
                CubicSpline,
            ))],
            false,
        ),
        (
            vec![
                Translation(keys(&[far, far], Linear)),
                Rotation(keys(&[Quat::IDENTITY, turn], Linear)),
            ],
            true,
        ),
    ]
}

#[test]
fn tracks_that_change_make_a_clip_move() {
    let character = mannequin(&with_curves());
    for quantise in [true, false] {
        let options = ClipOptions {
            quantise,
            ..ClipOptions::default()
        };
        for (number, (tracks, moves)) in cases().into_iter().enumerate() {
            let track = |values| raws::track(0, values);
            let tracks = tracks.into_iter().map(track).collect();
            let clip = CurveClip::new("clip", tracks, character.skeleton()).unwrap();
            let packed = Clip::new(&character, &clip, &options).unwrap();
            assert_eq!(packed.moves(), moves, "case {number}, packed");
        }
    }
}

#[test]
fn morph_weights_that_change_make_a_clip_move() {
    let mut raw = RawCharacter::mannequin();
    raw.morphs = vec![raws::morph(0, "face", vec![0.0])];
    raw.primitives[0].morph = Some(0);
    raw.primitives[0].targets = vec![MorphTarget {
        vertices: vec![0],
        positions: vec![Vec3::X],
        ..MorphTarget::default()
    }];
    let character = raw.build(&with_curves()).unwrap().character;
    for (values, moves) in [([0.5, 0.5], false), ([0.5, 0.75], true)] {
        let track = WeightTrack {
            first_weight: Id::new(0),
            count: 1,
            keys: keys(&values, Interpolation::Linear),
        };
        let clip = CurveClip::new("clip", Vec::new(), character.skeleton()).unwrap();
        let clip = clip.with_weight_tracks(vec![track], 1).unwrap();
        let packed = Clip::new(&character, &clip, &ClipOptions::default()).unwrap();
        assert_eq!(packed.moves(), moves);
    }
}

#[test]
fn the_default_clip_is_the_first_that_moves() {
    let still = |name: &str, character: &Character| {
        CurveClip::new(name, Vec::new(), character.skeleton()).unwrap()
    };
    for options in [ImportOptions::curves_only(), with_curves()] {
        let full = mannequin(&options);
        assert_eq!(full.default_clip(), Some(full.clip("Idle").unwrap()));
        let mut raw = RawCharacter::mannequin();
        raw.animations.clear();
        raw.animation = None;
        let none = raw.build(&options).unwrap().character;
        assert_eq!(none.default_clip(), None);
        let stills = vec![still("a", &none), still("b", &none)];
        let two = none.with_clips(stills).unwrap();
        assert_eq!(two.default_clip(), Some(Id::new(0)));
        let walk = full.clip("Walk").unwrap();
        let more = vec![full.curves()[walk.index()].clone(), still("c", &two)];
        let four = two.with_clips(more).unwrap();
        assert_eq!(four.default_clip(), Some(Id::new(2)));
    }
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
