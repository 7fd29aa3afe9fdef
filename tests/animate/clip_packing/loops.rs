//! Loops close exactly with any packing, and steps stay steps.

use crate::models::models;
use crate::reference::raws;
use crate::reference::rig::{chain, keys};
use throng::Id;
use throng::character::Character;
use throng::clip::{Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{Quat, Vec3};
use throng::skeleton::Transform;

fn pose(character: &Character, clip: &Clip, time: f64) -> Vec<Transform> {
    let mut pose = vec![Transform::IDENTITY; character.skeleton().len()];
    clip.sample(time, &mut pose).unwrap();
    pose
}

/// Returns whether two transforms are equal. A rotation equals its negation.
fn same(a: &Transform, b: &Transform) -> bool {
    let turned = a.rotation == b.rotation || a.rotation == -b.rotation;
    turned && a.translation == b.translation && a.scale == b.scale
}

fn both(character: &Character, raw: &CurveClip) -> [Clip; 2] {
    [false, true].map(|quantise| {
        let options = ClipOptions {
            quantise,
            ..ClipOptions::default()
        };
        Clip::new(character, raw, &options).unwrap()
    })
}

fn made(character: &Character, tracks: Vec<Track>) -> CurveClip {
    CurveClip::new("made", tracks, character.skeleton()).unwrap()
}

#[test]
fn what_loops_in_the_file_loops_to_the_bit() {
    let mut loops = 0;
    for model in models() {
        let character = &model.character;
        let clips = model.plain().iter().zip(model.packed());
        for (raw, (plain, packed)) in character.curves().iter().zip(clips) {
            let joints = character.skeleton().joints();
            let mut first: Vec<_> = joints.iter().map(|joint| joint.rest).collect();
            let mut last = first.clone();
            raw.sample(raw.start_s().into(), &mut first).unwrap();
            raw.sample(raw.duration_s().into(), &mut last).unwrap();
            for clip in [plain, packed] {
                let start = pose(character, clip, raw.start_s().into());
                let end = pose(character, clip, raw.duration_s().into());
                for joint in 0..joints.len() {
                    if same(&first[joint], &last[joint]) {
                        loops += 1;
                        assert!(
                            same(&start[joint], &end[joint]),
                            "{} {} {joint}: {:?} {:?}",
                            model.name,
                            raw.name(),
                            start[joint],
                            end[joint]
                        );
                    }
                }
            }
        }
    }
    assert!(loops > 50, "{loops}");
}

#[test]
fn full_turns_loop_to_the_bit() {
    let character = chain(9);
    let times: Vec<f32> = (0..=24).map(|key| key as f32 / 24.0).collect();
    let turn = |joint: u16, turns: f32| {
        let axis = Vec3::new(0.3, 1.0, f32::from(joint) - 2.0).normalize();
        let angle = |time: &f32| std::f32::consts::TAU * turns * time;
        let mut all: Vec<Quat> = times
            .iter()
            .map(|time| Quat::from_axis_angle(axis, angle(time)))
            .collect();
        // The end is exactly the start. After an odd number of turns, the quaternion is negated.
        all[24] = all[0];
        for key in 1..=24 {
            if all[key].dot(all[key - 1]) < 0.0 {
                all[key] = -all[key];
            }
        }
        let values = TrackValues::Rotation(keys(Interpolation::Linear, &times, &all));
        raws::track(joint, values)
    };
    let raw = made(&character, vec![turn(1, 1.0), turn(4, 2.0), turn(8, 3.0)]);
    for clip in both(&character, &raw) {
        let [start, end] = [0.0, 1.0].map(|time| pose(&character, &clip, time));
        for (joint, (start, end)) in start.iter().zip(&end).enumerate() {
            assert!(same(start, end), "{joint}: {start:?} {end:?}");
        }
        let half = pose(&character, &clip, 0.5);
        assert!(
            half[1].rotation.dot(start[1].rotation).abs() < 0.1,
            "joint 1 does not turn"
        );
        println!("{:?}", clip.report());
    }
}

#[test]
fn steps_beside_what_moves_stay_steps() {
    let character = chain(11);
    let times: Vec<f32> = (0..=30).map(|key| key as f32 / 30.0).collect();
    let sway: Vec<Quat> = times
        .iter()
        .map(|time| Quat::from_rotation_z(0.4 * (6.0 * time).sin()))
        .collect();
    let moves = |joint| {
        raws::track(
            joint,
            TrackValues::Rotation(keys(Interpolation::Linear, &times, &sway)),
        )
    };
    let jump_times = [0.0, 0.123, 0.777, 1.0];
    let places = [0.0, 1.0, -0.5, 0.25].map(|x| Vec3::new(x, 1.0, 0.0));
    let turns = [0.0, 1.0, -2.0, 0.5].map(Quat::from_rotation_x);
    let step = Interpolation::Step;
    let raw = made(
        &character,
        vec![
            moves(Id::new(0)),
            moves(Id::new(2)),
            moves(Id::new(9)),
            raws::track(2, TrackValues::Translation(keys(step, jump_times, places))),
            raws::track(3, TrackValues::Rotation(keys(step, jump_times, turns))),
        ],
    );
    for clip in both(&character, &raw) {
        assert_eq!(clip.report().kept_tracks, 2, "{:?}", clip.report());
        let joints = character.skeleton().joints();
        let beside = jump_times
            .iter()
            .flat_map(|t| [f64::from(*t), f64::from(t.next_down())]);
        for time in beside.chain([0.5, 0.9, -3.0, 9.0]) {
            let mut want: Vec<_> = joints.iter().map(|joint| joint.rest).collect();
            raw.sample(time, &mut want).unwrap();
            let got = pose(&character, &clip, time);
            assert_eq!(want[2].translation, got[2].translation, "at {time}");
            assert_eq!(want[3].rotation, got[3].rotation, "at {time}");
            assert_eq!(clip.sample_joint(Id::new(3), time), got[3]);
        }
    }
}
