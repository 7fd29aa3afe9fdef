//! The animator, as a program uses it: a character with events, masks, root motion and a state machine.
#![cfg(feature = "toml")]

use throng::animator::{
    AnimationEventKind, Animator, AnimatorDesc, Play, PlayRecord, RootMotionMode,
};
use throng::character::{AnimationDesc, AnimationText, Character, ClipId};
use throng::pose::state_machine::StateMachineText;
use throng::pose::{BatchPoser, ClipSample, DualQuat, Mat3x4, PaletteEntry, SampleList, WriteOnly};

const TEXT: &str = r#"
[[mask]]
name = "arms"
parts = [{ joint = "Chest" }]

[[clip]]
name = "Walk"
events = [{ name = "left", time_s = 0.0 }, { name = "right", time_s = 0.5 }]

[[clip]]
name = "Run"
events = [{ name = "right", time_s = 0.25 }]
"#;

fn character(machine: bool) -> Character {
    let text = AnimationText::parse("mannequin.toml", TEXT).unwrap();
    let machine = machine.then(|| {
        let text = include_str!("../examples/machine/hero.toml");
        let text = StateMachineText::parse("hero.toml", text).unwrap();
        text.desc().clone()
    });
    let desc = AnimationDesc {
        state_machine: machine,
        ..text.desc().clone()
    };
    let character = throng::builtin::mannequin().unwrap().character;
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
    let mut animator = Animator::new(&character, &AnimatorDesc::default()).unwrap();
    let id = animator.add("Walk").unwrap();
    assert_eq!(names(&told(&mut animator, 0.6)), ["left", "right"]);
    animator.play(id, Play::new("Run").once()).unwrap();
    assert_eq!(names(&told(&mut animator, 5.0)), ["right", "Run"]);
    let last = animator.events().last().unwrap();
    assert!(matches!(last.kind, AnimationEventKind::Finished { .. }));
    assert_eq!(last.actor, id);
    assert!(animator.add_driven().is_err());
}

#[test]
fn a_machine_drives_actors_and_layers_lie_above_it() {
    let character = character(true);
    let mut animator = Animator::new(&character, &AnimatorDesc::default()).unwrap();
    let id = animator.add_driven().unwrap();
    assert_eq!(names(&told(&mut animator, 0.1)), ["stand", "none"]);
    let machine = animator.state_machine().unwrap();
    let (speed, layers) = (machine.parameter("speed").unwrap(), machine.layer_count());
    animator.set_float(id, speed, 1.4).unwrap();
    let got = told(&mut animator, 0.2);
    // At the instant at which it was said, not at the frame's.
    assert_eq!(names(&got), ["stand", "move", "left"]);
    assert!(got.iter().all(|(_, time_s)| *time_s == 0.1));
    let wave = Play::new("Wave").mask("arms").once();
    assert!(animator.play(id, wave.layer(0)).is_err());
    animator.play(id, wave.layer(layers as u8)).unwrap();
    animator.update(0.3).unwrap();
    let playing: Vec<_> = animator.playing(id).unwrap().collect();
    let last = playing.last().unwrap();
    assert!(!last.by_state_machine && usize::from(last.layer) == layers);
    assert!(playing.len() > 1 && playing[0].by_state_machine);
    // Undriven, it fades out what the machine played, and no more.
    animator.undrive(id, 0.25).unwrap();
    animator.update(1.0).unwrap();
    assert_eq!(animator.playing(id).unwrap().count(), 1);
}

/// Palettes are those of the batch for what `playing` says, bit for bit.
#[test]
fn palettes_are_those_of_what_plays() {
    let character = character(true);
    let mut animator = Animator::new(&character, &AnimatorDesc::default()).unwrap();
    let mut ids = Vec::new();
    for number in 0..40 {
        let id = animator
            .add(Play::new("Walk").offset_s(0.1 * f64::from(number)))
            .unwrap();
        match number % 4 {
            1 => animator
                .play(id, Play::new("Run").fade_s(1.0).in_step())
                .unwrap(),
            2 => animator
                .play(id, Play::new("Wave").layer(1).mask("arms").fade_s(0.5))
                .unwrap(),
            3 => animator.play(id, Play::new("Idle").weight(0.4)).unwrap(),
            _ => animator.stop(id, 0, 0.7).unwrap(),
        }
        ids.push(id);
    }
    ids.push(animator.add_driven().unwrap());
    let poser = BatchPoser::new(&character).unwrap();
    let poser = poser.with_masks(character.animations().masks()).unwrap();
    let poser = poser.with_threshold(0.999).unwrap();
    for frame in 1..30 {
        let now_s = 0.04 * f64::from(frame);
        animator.update(now_s).unwrap();
        let mut list = SampleList::new();
        for id in &ids {
            let records = animator.records(*id).unwrap().iter();
            let sample = |record: &PlayRecord| {
                let clip = &character.clips()[usize::from(record.clip)];
                ClipSample {
                    clip: record.clip.into(),
                    time_s: record.clip_time_s(now_s, clip.duration_s()),
                    weight: record.weight_at(now_s),
                    mask: record.mask(),
                    level: record.layer,
                }
            };
            list.push(records.map(sample));
        }
        same(
            &character,
            &mut animator,
            &ids,
            (&poser, &list),
            Mat3x4::IDENTITY,
        );
        same(
            &character,
            &mut animator,
            &ids,
            (&poser, &list),
            DualQuat::IDENTITY,
        );
    }
}

fn same<E: PaletteEntry + PartialEq + core::fmt::Debug>(
    character: &Character,
    animator: &mut Animator,
    ids: &[throng::animator::ActorId],
    (poser, list): (&BatchPoser, &SampleList),
    zero: E,
) {
    let len = ids.len() * character.palette().len();
    let (mut got, mut want) = (vec![zero; len], vec![zero; len]);
    animator.palettes(ids, WriteOnly::over(&mut got)).unwrap();
    let out = WriteOnly::over(&mut want);
    poser.palettes(character.clips(), list, out).unwrap();
    assert!(got == want);
}

#[test]
fn actors_come_and_go() {
    let character = character(false);
    let mut animator = Animator::new(&character, &AnimatorDesc::default()).unwrap();
    let first = animator.add(Play::REST).unwrap();
    animator.remove(first).unwrap();
    let second = animator.add(ClipId(1)).unwrap();
    assert_ne!(first, second);
    assert!(animator.remove(first).is_err() && animator.play(first, "Run").is_err());
    assert_eq!(
        (animator.len(), animator.actors().collect::<Vec<_>>()),
        (1, vec![second])
    );
    animator
        .set_root_motion(second, RootMotionMode::Report)
        .unwrap();
    animator.update(1.0).unwrap();
    // The mannequin walks on the spot.
    assert_eq!(
        animator.root_delta(second).unwrap().translation.length(),
        0.0
    );
}
