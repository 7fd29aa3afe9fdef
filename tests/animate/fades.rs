//! Cross-fades of the animator: weights that do not jump, layers, and clips in step.

use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::raws::{animation, node};
use crate::reference::rng::Rng;
use throng::Id;
use throng::animator::{ActorId, Animator, Play, Playing};
use throng::character::AnimationDesc;
use throng::glam::Vec3;
use throng::import::{ImportOptions, RawCharacter, RawKeys};
use throng::motion::{Ease, LoopMode};
use throng::skeleton::Transform;
use throng::state_machine::MaskDesc;

const NAMES: [&str; 4] = ["walk", "run", "jog", "wave"];
const DURATIONS_S: [f64; 4] = [1.25, 0.75, 1.0, 2.0];

/// An animator whose clips have these names and durations.
fn animator() -> Animator {
    let clip = |(name, duration_s): (&&str, &f64)| {
        animation(
            *name,
            vec![raws::linear(
                0,
                [0.0, *duration_s as f32],
                RawKeys::Translation(vec![Vec3::ZERO, Vec3::X]),
            )],
        )
    };
    let raw = RawCharacter {
        nodes: vec![node("root", None, Transform::IDENTITY)],
        animations: NAMES.iter().zip(&DURATIONS_S).map(clip).collect(),
        ..RawCharacter::default()
    };
    let character = raw.build(&ImportOptions::default()).unwrap().character;
    let desc = AnimationDesc {
        masks: vec![MaskDesc {
            name: "some".into(),
            branches: Vec::new(),
        }],
        ..AnimationDesc::default()
    };
    let character = character.with_animation(&desc).unwrap();
    Animator::new(&character).unwrap()
}

fn playing(animator: &Animator, id: ActorId) -> Vec<Playing> {
    animator.live(id).playing().collect()
}

/// The samples at a future time.
fn at(animator: &mut Animator, id: ActorId, now_s: f64) -> Vec<Playing> {
    animator.update(now_s).unwrap();
    playing(animator, id)
}

fn clip(playing: &Playing) -> usize {
    playing.clip.unwrap().index()
}

/// The shorter way round between two times of a clip in a loop.
fn apart(a: f64, b: f64, duration_s: f64) -> f64 {
    let off = (a - b).abs();
    off.min(duration_s - off)
}

/// Both play the same clips at the same times with the same weights, and nothing else of any
/// weight.
fn check_no_jump(before: &[Playing], after: &[Playing], what: &str) {
    for one in before.iter().chain(after) {
        let weight = |of: &[Playing]| -> f32 {
            let same = |other: &&Playing| {
                (other.clip, other.layer) == (one.clip, one.layer)
                    && apart(other.time_s, one.time_s, DURATIONS_S[clip(one)]) < 1e-9
            };
            of.iter().filter(same).map(|other| other.weight).sum()
        };
        let (old, new) = (weight(before), weight(after));
        assert!((old - new).abs() < 1e-6, "{what}: {before:?} to {after:?}");
    }
}

#[test]
fn a_cross_fade_goes_from_one_to_the_other() {
    let mut animator = animator();
    let id = animator.add("walk").unwrap();
    animator.update(10.0).unwrap();
    let wave = Play::new("wave").fade_s(2.0).ease(Ease::Linear);
    animator.live_mut(id).play(wave).unwrap();
    for (now_s, from, to) in [(10.5, 0.75, 0.25), (11.0, 0.5, 0.5)] {
        let [a, b] = at(&mut animator, id, now_s)[..] else {
            panic!()
        };
        assert_eq!((clip(&a), a.weight, clip(&b), b.weight), (0, from, 3, to));
        assert_eq!(b.time_s, now_s - 10.0);
    }
    let alone = at(&mut animator, id, 12.0);
    assert_eq!((alone.len(), clip(&alone[0]), alone[0].weight), (1, 3, 1.0));
    animator.live_mut(id).stop(0, 1.0).unwrap();
    assert_eq!(at(&mut animator, id, 12.5)[0].weight, 0.5);
    assert!(at(&mut animator, id, 13.0).is_empty());
    assert!(animator.live(id).records().is_empty());
}

#[test]
fn layers_keep_apart_and_ascend() {
    let mut animator = animator();
    let id = animator.add(Play::REST).unwrap();
    animator
        .live_mut(id)
        .play(Play::new("wave").layer(2).mask("some"))
        .unwrap();
    animator.live_mut(id).play("walk").unwrap();
    animator.update(1.0).unwrap();
    let linear = |clip| Play::new(clip).fade_s(1.0).ease(Ease::Linear);
    animator.live_mut(id).play(linear("run").layer(2)).unwrap();
    animator
        .live_mut(id)
        .play(linear("jog").weight(0.5))
        .unwrap();
    let got = at(&mut animator, id, 1.5);
    let got: Vec<_> = got.iter().map(|p| (clip(p), p.layer, p.weight)).collect();
    assert_eq!(got, [(0, 0, 0.5), (2, 0, 0.25), (3, 2, 0.5), (1, 2, 0.5)]);
    let actor = animator.live(id);
    let masks: Vec<_> = actor.playing().map(|playing| playing.mask).collect();
    assert_eq!(masks, [None, None, Some(Id::new(0)), None]);
    animator.live_mut(id).stop(2, 0.0).unwrap();
    assert!(playing(&animator, id).iter().all(|one| one.layer == 0));
}

#[test]
fn interrupted_fades_do_not_jump_and_weights_sum_to_one() {
    let mut rng = Rng::new(1);
    for round in 0..200 {
        let mut animator = animator();
        let id = animator.add("walk").unwrap();
        let mut now_s = f64::from(rng.range(0.0, 9.0));
        animator.update(now_s).unwrap();
        for _ in 0..20 {
            let before = playing(&animator, id);
            let play = Play::new(NAMES[rng.below(3)])
                .fade_s(rng.range(0.01, 1.0))
                .ease([Ease::Linear, Ease::Smooth][rng.below(2)]);
            let (play, what) = match rng.below(3) {
                0 => (play.offset_s(rng.range(0.0, 1.0).into()), "fade"),
                1 => (play.synced(), "in step"),
                _ => (play.synced().speed(rng.range(0.5, 2.0).into()), "faster"),
            };
            animator.live_mut(id).play(play).unwrap();
            check_no_jump(&before, &playing(&animator, id), what);
            for _ in 0..4 {
                now_s += f64::from(rng.range(0.001, 0.3));
                let got = at(&mut animator, id, now_s);
                let sum: f32 = got.iter().map(|one| one.weight).sum();
                assert!((sum - 1.0).abs() < 1e-5, "round {round}: {got:?}");
                for one in &got {
                    assert!((0.0..=DURATIONS_S[clip(one)]).contains(&one.time_s));
                }
            }
        }
        assert_eq!(at(&mut animator, id, now_s + 2.0).len(), 1, "round {round}");
    }
}

/// The phase is the integral of the rates, each with its clip's weight: by the midpoint rule.
#[test]
fn the_phase_of_clips_in_step_goes_with_the_weights() {
    let mut rng = Rng::new(3);
    for _ in 0..50 {
        let mut animator = animator();
        let offset_s = f64::from(rng.range(0.0, 1.0));
        let id = animator.add(Play::new("walk").offset_s(offset_s)).unwrap();
        let start_s = f64::from(rng.range(6.0, 9.0));
        animator.update(start_s).unwrap();
        let mut phase = playing(&animator, id)[0].time_s / DURATIONS_S[0];
        let fade_s = rng.range(0.1, 2.0);
        let ease = [Ease::Linear, Ease::Smooth][rng.below(2)];
        let run = Play::new("run").fade_s(fade_s).ease(ease).synced();
        animator.live_mut(id).play(run).unwrap();
        let steps = 4000;
        let step_s = 1.5 * f64::from(fade_s) / f64::from(steps);
        for number in 0..steps {
            let now_s = start_s + f64::from(number) * step_s;
            let middle = at(&mut animator, id, now_s + 0.5 * step_s);
            let rates = middle.iter();
            let rates = rates.map(|one| f64::from(one.weight) / DURATIONS_S[clip(one)]);
            phase += rates.sum::<f64>() * step_s;
            for one in at(&mut animator, id, now_s + step_s) {
                let own = one.time_s / DURATIONS_S[clip(&one)];
                let off = apart(own, phase.rem_euclid(1.0), 1.0);
                assert!(off < 1e-6, "{own} {phase} at {now_s}");
            }
        }
        assert_eq!(playing(&animator, id)[0].speed, 1.0);
    }
}

#[test]
fn going_back_and_forth_in_step_adds_no_records() {
    let mut rng = Rng::new(4);
    let mut animator = animator();
    let id = animator.add("walk").unwrap();
    let mut now_s = 1.0;
    for turn in 0..500 {
        let before = at(&mut animator, id, now_s);
        let to = Play::new(NAMES[(turn + 1) % 2]).fade_s(0.4).synced();
        animator.live_mut(id).play(to).unwrap();
        check_no_jump(&before, &playing(&animator, id), "back and forth");
        assert!(animator.live(id).records().len() <= 2);
        now_s += f64::from(rng.range(0.01, 0.3));
    }
    // For other joints, it is another record.
    animator.update(now_s).unwrap();
    let masked = Play::new("walk").mask("some").fade_s(0.4).synced();
    animator.live_mut(id).play(masked).unwrap();
    assert_eq!(animator.live(id).records().len(), 3);
}

#[test]
fn only_loops_keep_step() {
    let mut animator = animator();
    let linear = |clip| Play::new(clip).fade_s(1.0).ease(Ease::Linear).synced();
    let to_and_fro = Play::new("walk").loop_mode(LoopMode::PingPong);
    let id = animator.add(to_and_fro).unwrap();
    animator.update(3.0).unwrap();
    animator.live_mut(id).play(linear("run")).unwrap();
    assert_eq!(playing(&animator, id)[0].time_s, 0.5);
    assert_eq!(at(&mut animator, id, 3.25)[1].time_s, 0.25);
    animator.update(5.0).unwrap();
    animator.live_mut(id).play(linear("jog").once()).unwrap();
    assert_eq!(at(&mut animator, id, 5.25)[1].time_s, 0.25);
    // Nothing to keep step with: from the start, in from the rest pose.
    let alone = animator.add(Play::REST).unwrap();
    animator.update(7.0).unwrap();
    animator.live_mut(alone).play(linear("jog")).unwrap();
    let got = at(&mut animator, alone, 7.25);
    assert_eq!((got.len(), got[0].time_s, got[0].weight), (1, 0.25, 0.25));
}

#[test]
fn steps_are_as_exact_after_thirty_days_as_at_the_start() {
    let mut worst = [0.0_f64; 3];
    for (age, since_s) in [0.0, 86_400.0, 30.0 * 86_400.0].into_iter().enumerate() {
        let mut animator = animator();
        let id = animator.add("walk").unwrap();
        animator
            .live_mut(id)
            .play(Play::new("jog").fade_s(0.5).synced())
            .unwrap();
        // The jog's second is exact in binary. Over the fade, half of it ran at the walk's rate of
        // 0.8 Hz.
        let ahead = 0.5 * 0.5 * (0.8 - 1.0);
        let mut rng = Rng::new(5);
        let mut times: Vec<f64> = (0..5000)
            .map(|_| 1.0 + since_s + rng.below(1 << 24) as f64 / f64::from(1 << 20))
            .collect();
        times.sort_by(f64::total_cmp);
        for now_s in times {
            let want = (now_s % 1.0 + ahead).rem_euclid(1.0);
            let got = at(&mut animator, id, now_s)[0].time_s;
            worst[age] = worst[age].max(apart(got, want, 1.0));
        }
    }
    println!("off by at most {worst:?} s at 0 s, 1 day and 30 days");
    assert!(worst.iter().all(|off| *off < 2e-9), "{worst:?}");
}
