//! Invalid maps and options are refused, and nothing panics.

use super::rigs::{rest, skeleton};
use crate::reference::raws;
use crate::reference::rig;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use throng::Id;
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::error::Error;
use throng::glam::{Quat, Vec3};
use throng::retarget::{JointMap, Retarget, RetargetOptions};
use throng::skeleton::{Skeleton, Transform};

fn chain(names: &[&str]) -> Skeleton {
    let node = |(at, name): (usize, &&str)| raws::node(*name, at.checked_sub(1), raws::at(Vec3::Y));
    skeleton(names.iter().enumerate().map(node).collect())
}

#[test]
fn maps_by_names_see_through_prefixes() {
    let from = chain(&[
        "root",
        "mixamorig:Hips",
        "Armature|Upper_Arm",
        "tail",
        "Same",
        "same",
    ]);
    let to = chain(&["Root", "Hips", "upperArm", "Tail.end", "same", "other"]);
    let map = JointMap::by_names(&from, &to).unwrap();
    let links = map.links().iter();
    let links: Vec<_> = links.map(|link| (link.source.0, link.target.0)).collect();
    // "same" is exact, and leaves "Same" alone.
    assert_eq!(links, [(0, 0), (1, 1), (2, 2), (5, 4)]);
    assert_eq!(map.unmatched_joints()[0].to_vec(), [3, 4].map(Id::new));
    assert_eq!(map.unmatched_joints()[1].to_vec(), [3, 5].map(Id::new));
    assert!(map.unmatched_roles()[0].is_empty());
}

#[test]
fn maps_that_cannot_be_are_refused() {
    let (from, to) = (chain(&["a", "b"]), chain(&["c", "d"]));
    let none = |map: Result<JointMap, Error>| matches!(map, Err(Error::NoCommonJoints { .. }));
    assert!(none(JointMap::by_names(&from, &to)));
    assert!(none(JointMap::humanoid(&from, &to)));
    assert!(none(JointMap::from_pairs(&from, &to, &[])));
    assert!(none(JointMap::by_names(
        &Skeleton::default(),
        &Skeleton::default()
    )));
    let unnamed = |pairs: &[(&str, &str)]| match JointMap::from_pairs(&from, &to, pairs) {
        Err(Error::UnknownName { what, name, known }) => (what, name, known),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        unnamed(&[("x", "c")]),
        ("source joint", "x".into(), "a, b".into())
    );
    assert_eq!(
        unnamed(&[("a", "c"), ("b", "b")]),
        ("target joint", "b".into(), "c, d".into())
    );
    JointMap::from_pairs(&from, &to, &[("a", "c"), ("b", "c")]).fails("pairs: …");
    // One joint may move several.
    assert_eq!(
        JointMap::from_pairs(&from, &to, &[("a", "c"), ("a", "d")])
            .unwrap()
            .links()
            .len(),
        2
    );
}

#[test]
fn options_and_lengths_are_checked() {
    let (from, to) = (chain(&["a", "b"]), chain(&["a", "b", "c"]));
    let map = JointMap::by_names(&from, &to).unwrap();
    let new = |options: RetargetOptions| Retarget::new(&from, &to, &map, &options);
    let default = RetargetOptions::default;
    assert!(new(default()).is_ok());
    let nan = raws::at(Vec3::splat(f32::NAN));
    let ratio = |ratio| RetargetOptions {
        ratio: Some(ratio),
        ..default()
    };
    let turn = |turn| RetargetOptions {
        turn: Some(turn),
        ..default()
    };
    let error = |max_error| RetargetOptions {
        max_error,
        ..default()
    };
    for wrong in [
        ratio(f32::NAN),
        ratio(-1.0),
        ratio(f32::INFINITY),
        error(-1.0),
        error(f32::NAN),
        turn(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
        turn(Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0)),
        RetargetOptions {
            source_rest: vec![Transform::IDENTITY],
            ..default()
        },
        RetargetOptions {
            target_rest: vec![nan; 3],
            ..default()
        },
    ] {
        assert!(
            matches!(new(wrong.clone()), Err(Error::Argument { .. })),
            "{wrong:?}"
        );
    }
    assert!(matches!(
        Retarget::new(&to, &from, &map, &default()),
        Err(Error::Argument { .. })
    ));
    let mut retarget = new(default()).unwrap();
    let mut out = [nan; 3];
    for (from, to) in [(1, 3), (3, 3), (2, 2), (0, 0)] {
        let posed = retarget.pose(&vec![Transform::IDENTITY; from], &mut out[..to]);
        posed.fails_in(format!("{from}, {to}"), "… has …, needs …");
    }
    assert!(out[0].translation.x.is_nan(), "something was written");
    // A clip of a larger skeleton, and a clip with too many keys.
    let wide = CurveClip::new("wide", vec![spin(2, 2)], &to).unwrap();
    retarget
        .clip(&wide)
        .fails("joint … does not exist: there are …");
    let mut tight = new(RetargetOptions {
        max_keys: 20,
        ..default()
    })
    .unwrap();
    let long = CurveClip::new("long", vec![spin(1, 11)], &from).unwrap();
    tight
        .clip(&long)
        .fails("…: 33 requested, at most 20 allowed");
}

fn spin(joint: u16, keys: usize) -> Track {
    raws::track(
        joint,
        TrackValues::Rotation(rig::keys(
            Interpolation::Linear,
            (0..keys).map(|at| at as f32).collect::<Vec<_>>(),
            (0..keys)
                .map(|at| Quat::from_rotation_z(at as f32))
                .collect::<Vec<_>>(),
        )),
    )
}

/// Numbers from the whole range, most of them usable.
fn wild(rng: &mut Rng) -> f32 {
    match rng.below(12) {
        0 => f32::MAX,
        1 => f32::MIN_POSITIVE,
        2 => -1e20,
        3 => 0.0,
        _ => rng.range(-2.0, 2.0),
    }
}

const WORDS: [&str; 24] = [
    "Hips",
    "spine",
    "Spine1",
    "neck",
    "head",
    "Left",
    "Right",
    "_l",
    "_r",
    ".L",
    "arm",
    "Fore",
    "Up",
    "Leg",
    "hand",
    "thumb",
    "1",
    "02",
    "DEF-",
    "mixamorig:",
    "Bip01 ",
    "ä",
    "",
    "finger4",
];

fn random_skeleton(rng: &mut Rng) -> Skeleton {
    let nodes = (0..1 + rng.below(30)).map(|index| {
        raws::node(
            (0..rng.below(4))
                .map(|_| WORDS[rng.below(WORDS.len())])
                .collect::<String>(),
            (index > 0 && !rng.chance(8)).then(|| rng.below(index)),
            raws::transform(
                rng.vector(-1.0, 1.0) * if rng.chance(20) { 0.0 } else { 1.0 },
                rng.rotation(),
                if rng.chance(9) {
                    rng.vector(-1.0, 1.0) * [0.0, 1.0][rng.below(2)]
                } else {
                    Vec3::ONE
                },
            ),
        )
    });
    skeleton(nodes.collect())
}

fn random_clip(rng: &mut Rng, skeleton: &Skeleton) -> CurveClip {
    let mut tracks = Vec::new();
    for joint in 0..skeleton.len() as u16 {
        let count = 1 + rng.below(4);
        let interpolation = [
            Interpolation::Step,
            Interpolation::Linear,
            Interpolation::CubicSpline,
        ][rng.below(3)];
        let wide = if interpolation == Interpolation::CubicSpline {
            3
        } else {
            1
        };
        let mut time_s = 0.0;
        let times_s = (0..count).map(|_| {
            time_s += rng.range(0.001, 1.0);
            time_s
        });
        let times_s: Vec<f32> = times_s.collect();
        let values = match rng.below(3) {
            0 => TrackValues::Rotation(rig::keys(
                interpolation,
                times_s,
                (0..count * wide)
                    .map(|_| Quat::from_array([0; 4].map(|_| wild(rng))))
                    .collect::<Vec<_>>(),
            )),
            kind => {
                let keys = rig::keys(
                    interpolation,
                    times_s,
                    (0..count * wide)
                        .map(|_| Vec3::from_array([0; 3].map(|_| wild(rng))))
                        .collect::<Vec<_>>(),
                );
                if kind == 1 {
                    TrackValues::Translation(keys)
                } else {
                    TrackValues::Scale(keys)
                }
            }
        };
        tracks.push(raws::track(joint, values));
    }
    CurveClip::new("wild", tracks, skeleton).unwrap()
}

/// With random names, hierarchies, scales and numbers nothing panics, and results are finite.
#[test]
fn nothing_panics() {
    let rng = &mut Rng::new(1234);
    let mut mapped = 0;
    for _ in 0..150 {
        let (from, to) = (random_skeleton(rng), random_skeleton(rng));
        for skeleton in [&from, &to] {
            let mut found = skeleton.humanoid().into_values();
            assert!(found.all(|joint| joint.index() < skeleton.len()));
        }
        for map in [
            JointMap::by_names(&from, &to),
            JointMap::humanoid(&from, &to),
        ] {
            let Ok(map) = map else {
                continue;
            };
            mapped += 1;
            assert!(map.links().is_sorted_by(|a, b| a.target < b.target));
            let options = RetargetOptions {
                align: rng.chance(2),
                all_translations: rng.below(2) == 1,
                scales: rng.below(2) == 1,
                max_keys: 600,
                ..RetargetOptions::default()
            };
            let mut retarget = Retarget::new(&from, &to, &map, &options).unwrap();
            let mut out = rest(&to);
            let odd = |rng: &mut Rng| if rng.chance(15) { f32::NAN } else { wild(rng) };
            let local: Vec<Transform> = (0..from.len())
                .map(|_| {
                    raws::transform(
                        Vec3::from_array([0; 3].map(|_| odd(rng))),
                        Quat::from_array([0; 4].map(|_| odd(rng))),
                        Vec3::from_array([0; 3].map(|_| odd(rng))),
                    )
                })
                .collect();
            retarget.pose(&local, &mut out).unwrap();
            for joint in &out {
                assert!(
                    joint.translation.is_finite()
                        && joint.rotation.is_finite()
                        && joint.scale.is_finite()
                );
                assert!((joint.rotation.length() - 1.0).abs() < 1e-5);
            }
            match retarget.clip(&random_clip(rng, &from)) {
                Ok((clip, report)) => {
                    assert!(report.keys <= 601);
                    assert!(
                        clip.tracks()
                            .iter()
                            .all(|t| usize::from(t.joint) < to.len())
                    );
                }
                Err(Error::Capacity { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(mapped > 50, "{mapped}");
}
