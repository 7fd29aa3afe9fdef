//! The stage animate on the GPU, against the CPU's palettes.

mod runner;

use crate::reference::assets;
use crate::reference::rng::Rng;
use crate::support::{self, Setup};
use runner::{Runner, Taken};
use throng::Id;
use throng::animator::{ActorId, Animator, Play};
use throng::character::{AdditiveDesc, AnimationDesc, Character, PoseReference};
use throng::gpu::{CpuReason, GpuTime};
use throng::import::{self, ImportOptions, RawCharacter};
use throng::motion::{Ease, LoopMode};
use throng::palette::SkinningMethod;
use throng::state_machine::{MaskBranchDesc, MaskDesc};

/// The most by which palettes may differ from the CPU's, as a part of the model's size.
const BOUND: f32 = 5e-6;

const MASK: &str = "half";
const ACTORS: usize = 48;
const DAY_S: f64 = 86_400.0;

/// A character with additive clips and a mask.
fn equipped(load: impl Fn(&ImportOptions) -> Character) -> Character {
    let plain = load(&ImportOptions::default());
    let names = plain.clips().iter().map(|clip| clip.name().to_owned());
    let names: Vec<String> = names.collect();
    let mut animation = AnimationDesc::default();
    let unique = |name: &&String| names.iter().filter(|other| other == name).count() == 1;
    for clip in names.iter().filter(unique).take(2) {
        animation.additive.push(AdditiveDesc {
            name: Some(format!("{clip} added")),
            clip: clip.clone(),
            reference: PoseReference::Start,
        });
    }
    let skeleton = plain.skeleton();
    let joints = skeleton.joints().iter();
    let found = |name: &str| !name.is_empty() && skeleton.joint(name).is_ok();
    let named: Vec<&str> = joints
        .map(|joint| &*joint.name)
        .filter(|name| found(name))
        .collect();
    if let Some(joint) = named.get(named.len() / 3) {
        animation.masks.push(MaskDesc {
            name: MASK.into(),
            branches: vec![MaskBranchDesc {
                joint: (*joint).into(),
                weight: 0.8,
                feather: 1,
            }],
        });
    }
    load(&ImportOptions {
        animation: Some(animation),
        ..ImportOptions::default()
    })
}

fn mannequin() -> Character {
    equipped(|options| RawCharacter::mannequin().build(options).unwrap().character)
}

/// Something for an actor to play.
fn random_play(character: &Character, rng: &mut Rng) -> Play<'static> {
    let clips = character.clips();
    let clip = rng.below(clips.len());
    let mut play = Play::new(Id::new(clip as u16));
    play.speed = f64::from(rng.range(-2.0, 2.0));
    if rng.chance(6) {
        play.speed = 0.0;
    }
    play.offset_s = f64::from(rng.range(-1.0, 5.0));
    play.loop_mode = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong][rng.below(3)];
    play.weight = rng.range(0.1, 1.0);
    play.fade_s = [0.0, rng.range(0.0, 2.0)][rng.below(2)];
    play.ease = [Ease::Linear, Ease::Smooth][rng.below(2)];
    play.synced = rng.chance(3);
    play.layer = if clips[clip].is_additive() {
        1
    } else {
        rng.below(3) as u8
    };
    if play.layer > 0 && rng.chance(2) && character.mask(MASK).is_ok() {
        play.mask = Some(MASK.into());
    }
    play
}

/// An animator whose actors play all kinds of things, some of them for a while.
fn busy(character: &Character, start_s: f64, rng: &mut Rng) -> (Animator, Vec<ActorId>) {
    let mut animator = Animator::new(character).unwrap();
    animator.update(start_s).unwrap();
    let actors: Vec<ActorId> = (0..ACTORS)
        .map(|_| animator.add(Play::REST).unwrap())
        .collect();
    for step in 1..4 {
        animator.update(start_s + f64::from(step) * 0.3).unwrap();
        for actor in &actors {
            let mut actor = animator.actor_mut(*actor).unwrap();
            if rng.chance(2) {
                actor.play(random_play(character, rng)).unwrap();
            }
            match rng.below(12) {
                0 => actor.pause(),
                1 => actor.set_time_scale(rng.range(0.0, 2.0)).unwrap(),
                2 => actor.stop(1, rng.range(0.0, 1.0)).unwrap(),
                _ => {}
            }
        }
    }
    (animator, actors)
}

/// Compares at later times with plays that are converted once.
fn compare(setup: &mut Setup, name: &str, character: &Character, method: SkinningMethod) {
    let Some(runner) = Runner::new(setup, character, method) else {
        return;
    };
    let rng = &mut Rng::new(7);
    let start_s = [0.0, 100.7, DAY_S][rng.below(3)];
    let (mut animator, actors) = busy(character, start_s, rng);
    let now_s = animator.now_s();
    let epoch_s = now_s - f64::from(rng.range(0.0, 1000.0));
    let taken = Taken::new(&animator, &actors, epoch_s);
    let (mut worst, mut over) = (0.0_f32, Vec::new());
    for later_s in [0.0, 0.017, 0.3, 1.7, 20.3, DAY_S, 30.0 * DAY_S] {
        animator.update(now_s + later_s).unwrap();
        let now = GpuTime::new(now_s + later_s, epoch_s);
        let palettes = runner.run(setup, &taken, now, later_s == 0.3);
        let all = runner.differences(&mut animator, &taken, &palettes);
        for (number, difference) in all.into_iter().enumerate() {
            worst = worst.max(difference);
            if !(difference <= BOUND) {
                let actor = taken.actors[number];
                let records = animator.actor(actor).unwrap().records().to_vec();
                over.push((later_s, difference, taken.of(number).to_vec(), records));
            }
        }
    }
    println!(
        "{name:24} {method:?}: {} actors, {} on the CPU, worst {worst:.1e}",
        taken.actors.len(),
        taken.refused.len()
    );
    for (_, reason) in &taken.refused {
        assert!(
            matches!(
                reason,
                CpuReason::SpeedChange | CpuReason::KeptCurves | CpuReason::Plays
            ),
            "{reason:?}"
        );
    }
    assert!(
        over.is_empty(),
        "{name}: {} over: {:#?}",
        over.len(),
        over[0]
    );
    runner.destroy(setup);
}

#[test]
fn the_mannequin() {
    support::each(|setup| {
        let character = mannequin();
        for method in [SkinningMethod::Linear, SkinningMethod::DualQuat] {
            compare(setup, "mannequin", &character, method);
        }
    });
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn every_asset() {
    support::each(|setup| {
        for file in assets::files() {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let load = |options: &ImportOptions| import::file(&file, options).unwrap().character;
            let character = equipped(load);
            if character.clips().is_empty() {
                continue;
            }
            for method in [
                SkinningMethod::Linear,
                SkinningMethod::DualQuat,
                SkinningMethod::QuatOffset,
            ] {
                compare(setup, &name, &character, method);
            }
        }
    });
}
