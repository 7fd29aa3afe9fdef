//! The animator in use: a character with events, masks, root motion and a state machine.

use crate::reference::batch::{Batch, Sample};
use crate::reference::handles::Handles;
use throng::animator::{ActorId, AnimationEventKind, Animator, Play, PlayRecord, RootMotionMode};
use throng::character::{AnimationDesc, Character};
use throng::glam::{DQuat, DVec3};
use throng::palette::{DualQuat, Mat3x4, PaletteEntry, WriteOnly};
use throng::skeleton::Transform;
use throng::state_machine::StateMachineDesc;
use throng::{Id, SimdLevel};

const TEXT: &str = r#"
[[mask]]
name = "arms"
branches = [{ joint = "Chest" }]

[[clip]]
name = "Walk"
events = [{ name = "left", time_s = 0.0 }, { name = "right", time_s = 0.5 }]

[[clip]]
name = "Run"
events = [{ name = "right", time_s = 0.25 }]
"#;

fn character(machine: bool) -> Character {
    let machine = machine.then(|| {
        let text = include_str!("../../../examples/machine/hero.toml");
        StateMachineDesc::from_toml("hero.toml", text).unwrap()
    });
    let desc = AnimationDesc {
        state_machine: machine,
        ..AnimationDesc::from_toml("mannequin.toml", TEXT).unwrap()
    };
    let character = crate::models::packed_mannequin();
    character.with_animation(&desc).unwrap()
}

fn told(animator: &mut Animator, now_s: f64) -> Vec<(String, f64)> {
    animator.update(now_s).unwrap();
    let events = animator.events().iter();
    let named = events.map(|event| (animator.event_name(event).to_owned(), event.time_s));
    named.collect()
}

fn names(told: &[(String, f64)]) -> Vec<&str> {
    told.iter().map(|(name, _)| &**name).collect()
}

#[test]
fn events_have_the_names_of_the_character() {
    let character = character(false);
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add("Walk").unwrap();
    assert_eq!(names(&told(&mut animator, 0.6)), ["left", "right"]);
    animator.live_mut(id).play(Play::new("Run").once()).unwrap();
    assert_eq!(names(&told(&mut animator, 5.0)), ["right", "Run"]);
    let last = animator.events().last().unwrap();
    assert!(matches!(last.kind, AnimationEventKind::Finished { .. }));
    assert_eq!(last.id, id);
    assert!(animator.add_with_state_machine().is_err());
}

#[test]
fn a_machine_drives_actors_and_layers_lie_above_it() {
    let character = character(true);
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add_with_state_machine().unwrap();
    assert_eq!(names(&told(&mut animator, 0.1)), ["stand", "none"]);
    let machine = animator.state_machine().unwrap();
    let (speed, layers) = (
        machine.parameter("speed").unwrap(),
        machine.desc().layers.len(),
    );
    animator.live_mut(id).set_parameter(speed, 1.4).unwrap();
    let got = told(&mut animator, 0.2);
    // At the instant at which it was said, not at the frame's.
    assert_eq!(names(&got), ["stand", "move", "left"]);
    assert!(got.iter().all(|(_, time_s)| *time_s == 0.1));
    let wave = Play::new("Wave").mask("arms").once();
    assert!(animator.on(id, |mut it| it.play(wave.layer(0))).is_err());
    animator
        .live_mut(id)
        .play(wave.layer(layers as u8))
        .unwrap();
    animator.update(0.3).unwrap();
    let playing: Vec<_> = animator.live(id).playing().collect();
    let last = playing.last().unwrap();
    assert!(!last.by_state_machine && usize::from(last.layer) == layers);
    assert!(playing.len() > 1 && playing[0].by_state_machine);
    // Undriven, it fades out what the machine played, and no more.
    animator.live_mut(id).stop_state_machine(0.25).unwrap();
    animator.update(1.0).unwrap();
    assert_eq!(animator.live(id).playing().count(), 1);
}

/// Palettes are those of the same clips at the same times and weights, bit for bit.
#[test]
fn palettes_are_those_of_what_plays() {
    let character = character(true);
    let mut animator = Animator::new(&character).unwrap();
    let mut ids = Vec::new();
    for number in 0..40 {
        let id = animator
            .add(Play::new("Walk").offset_s(0.1 * f64::from(number)))
            .unwrap();
        match number % 4 {
            1 => animator
                .live_mut(id)
                .play(Play::new("Run").fade_s(1.0).synced())
                .unwrap(),
            2 => animator
                .live_mut(id)
                .play(Play::new("Wave").layer(1).mask("arms").fade_s(0.5))
                .unwrap(),
            3 => animator
                .live_mut(id)
                .play(Play::new("Idle").weight(0.4))
                .unwrap(),
            _ => animator.live_mut(id).stop(0, 0.7).unwrap(),
        }
        ids.push(id);
    }
    ids.push(animator.add_with_state_machine().unwrap());
    for frame in 1..30 {
        let now_s = 0.04 * f64::from(frame);
        animator.update(now_s).unwrap();
        let samples = |id: &ActorId| {
            let actor = animator.live(*id);
            let records = actor.records().iter();
            let sample = |record: &PlayRecord| {
                let clip = usize::from(record.clip);
                let duration_s = character.clips()[clip].duration_s();
                Sample {
                    clip,
                    time_s: record.clip_time_s(now_s, duration_s),
                    weight: record.weight_at(now_s),
                    mask: (record.mask != PlayRecord::NO_MASK).then_some(Id::new(record.mask)),
                    layer: record.layer,
                }
            };
            records.map(sample).collect::<Vec<_>>()
        };
        let samples: Vec<_> = ids.iter().map(samples).collect();
        let mut batch = Batch::new(&character, SimdLevel::default(), &samples);
        same(&mut animator, &ids, &mut batch, Mat3x4::IDENTITY);
        same(&mut animator, &ids, &mut batch, DualQuat::IDENTITY);
    }
}

fn same<E: PaletteEntry + PartialEq + core::fmt::Debug>(
    animator: &mut Animator,
    ids: &[ActorId],
    batch: &mut Batch,
    zero: E,
) {
    let want = batch.palettes(zero);
    let mut got = vec![zero; want.len()];
    animator.palettes(ids, WriteOnly::from(&mut got)).unwrap();
    assert!(got == want);
}

#[test]
fn actors_come_and_go() {
    let character = character(false);
    let mut animator = Animator::new(&character).unwrap();
    let first = animator.add(Play::REST).unwrap();
    animator.remove(first).unwrap();
    let second = animator.add(Id::new(1)).unwrap();
    assert_ne!(first, second);
    assert!(
        animator.remove(first).is_err() && animator.on(first, |mut it| it.play("Run")).is_err()
    );
    assert_eq!(
        (
            animator.actors().len(),
            animator.actors().collect::<Vec<_>>()
        ),
        (1, vec![second])
    );
    animator
        .live_mut(second)
        .set_root_motion(RootMotionMode::Report);
    animator.update(1.0).unwrap();
    // The mannequin walks on the spot.
    assert_eq!(animator.live(second).root_delta().translation.length(), 0.0);
}

/// Layers of a state machine count for the joints of their masks: masks of the machine and of the
/// description, in another order than the character has them. Against a blend in `f64`.
#[test]
fn layers_of_a_state_machine_count_for_their_masks() {
    /// Clips with their weights and times.
    type Parts<'a> = Vec<(&'a str, f64, f64)>;
    const MACHINE: &str = r#"
[[mask]]
name = "head"
branches = [{ joint = "Head" }]

[[mask]]
name = "legs"
branches = [{ joint = "LeftUpperLeg", weight = 0.5 }]

[[blend_space]]
name = "gaits"
points = [{ at = 0, clip = "Walk" }, { at = 1, clip = "Run" }]

[[state_machine.parameter]]
name = "speed"
kind = "float"
default = 0.25

[[state_machine.mask]]
name = "arms"
branches = [{ joint = "Chest", feather = 3 }]

[[state_machine.layer]]
name = "body"
entry = "go"
[[state_machine.layer.state]]
name = "go"
motion.blend_space = { name = "gaits", parameters = ["speed"] }

[[state_machine.layer]]
name = "wave"
entry = "wave"
mask = "arms"
weight = 0.75
[[state_machine.layer.state]]
name = "wave"
motion.clip = "Wave"

[[state_machine.layer]]
name = "leg"
entry = "stand"
mask = "legs"
[[state_machine.layer.state]]
name = "stand"
motion.clip = "Idle"
"#;
    let character = crate::models::packed_mannequin();
    let character = character
        .with_animation_toml("mannequin.toml", MACHINE)
        .unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add_with_state_machine().unwrap();
    animator.update(0.0).unwrap();
    animator.update(0.37).unwrap();
    let clip = |name: &str| &character.clips()[character.clip(name).unwrap().index()];
    let cycle_s = 0.75 * clip("Walk").duration_s() + 0.25 * clip("Run").duration_s();
    let phase = 0.37 / cycle_s;
    let mask = |name: &str| &character.masks()[character.mask(name).unwrap().index()];
    let layers: [(Option<&str>, f64, Parts<'_>); 3] = [
        (
            None,
            1.0,
            vec![
                ("Walk", 0.75, phase * clip("Walk").duration_s()),
                ("Run", 0.25, phase * clip("Run").duration_s()),
            ],
        ),
        (Some("arms"), 0.75, vec![("Wave", 1.0, 0.37)]),
        (Some("legs"), 1.0, vec![("Idle", 1.0, 0.37)]),
    ];
    let joints = character.skeleton().len();
    let mut pose = vec![Transform::IDENTITY; joints];
    animator.local_poses(&[id], &mut pose).unwrap();
    let mut masked = 0;
    for (joint, got) in pose.iter().enumerate() {
        let (mut at, mut turned) = (DVec3::ZERO, DQuat::IDENTITY);
        for (number, (name, weight, parts)) in layers.iter().enumerate() {
            let of_joint = name.map_or(1.0, |name| f64::from(mask(name).weights[joint]));
            masked += usize::from(number > 0 && of_joint > 0.0);
            let (mut sum, mut mean) = (DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));
            for (name, part, time_s) in parts {
                let time_s = time_s.rem_euclid(clip(name).duration_s());
                let own = clip(name).sample_joint(Id::new(joint as u16), time_s);
                let rotation = own.rotation.as_dquat();
                let sign = if mean.dot(rotation) < 0.0 { -1.0 } else { 1.0 };
                sum += own.translation.as_dvec3() * *part;
                mean += rotation * (sign * part);
            }
            let (mean, weight) = (mean.normalize(), weight * of_joint);
            let mean = if turned.dot(mean) < 0.0 { -mean } else { mean };
            at = at * (1.0 - weight) + sum * weight;
            turned = (turned * (1.0 - weight) + mean * weight).normalize();
        }
        let off = (got.translation.as_dvec3() - at).length();
        let turn = got.rotation.as_dquat();
        let turn = (turn - turned).length().min((turn + turned).length());
        // Some roundings to `f32`, of lengths of a metre and of quaternions.
        assert!(off < 2e-6 && turn < 3e-6, "joint {joint}: {off:e} {turn:e}");
    }
    assert!(masked > joints / 2, "{masked}");
}
