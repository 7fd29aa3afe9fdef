//! Clips in place that move by their gaits, and the ground speed of what plays.

use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::rig;
use throng::animator::{ActorId, Animator, Play, RootMotionMode};
use throng::character::{AnimationDesc, Character, ClipDesc, Gait, RootMotionDesc};
use throng::clip::{CurveClip, Interpolation, TrackValues};
use throng::glam::{DVec3, Vec3, vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::motion::{Ease, LoopMode};

/// Headings of the gaits of "Walk" and "Run", and their speeds.
const HEADING_RAD: [f32; 2] = [0.0, 0.7];
const SPEED_M_S: [f32; 2] = [1.2, 3.1];

/// The mannequin, whose clips in place move by their gaits.
fn walker(gait_motion: bool) -> Character {
    let gait = |index: usize| ClipDesc {
        name: ["Walk", "Run"][index].into(),
        gait: Some(Gait {
            speed_m_s: SPEED_M_S[index],
            heading_rad: HEADING_RAD[index],
        }),
        ..ClipDesc::default()
    };
    let animation = AnimationDesc {
        gait_motion,
        clips: vec![gait(0), gait(1)],
        ..AnimationDesc::default()
    };
    let options = ImportOptions {
        animation: Some(animation),
        ..ImportOptions::default()
    };
    let built = RawCharacter::mannequin().build(&options);
    built.unwrap().character
}

fn velocity(index: usize) -> DVec3 {
    let (speed, heading) = (f64::from(SPEED_M_S[index]), f64::from(HEADING_RAD[index]));
    speed * DVec3::new(heading.sin(), 0.0, heading.cos())
}

fn add(animator: &mut Animator, play: Play<'_>) -> ActorId {
    let id = animator.add(play).unwrap();
    let mut actor = animator.live_mut(id);
    actor.set_root_motion(RootMotionMode::Apply);
    id
}

/// A sum of some steps in `f64`, each rounded to a relative 1e-15 at up to a few hundred metres.
const EXACT_M: f64 = 1e-11;

#[test]
fn clips_in_place_move_at_the_velocity_of_their_gaits() {
    let character = walker(true);
    let duration_s = character.clips()[character.clip("Run").unwrap().index()].duration_s();
    let mut animator = Animator::new(&character).unwrap();
    let plays = [
        Play::new("Run").speed(0.75),
        Play::new("Run").speed(-2.0).offset_s(0.3),
        Play::new("Run").once(),
        Play::new("Run").loop_mode(LoopMode::PingPong),
        Play::new("Idle"),
    ];
    let ids = plays.map(|play| add(&mut animator, play));
    for ends_s in [0.01, 0.3, 0.31, 40.0] {
        animator.update(ends_s).unwrap();
        let way_s = |wrapped: f64| {
            (
                wrapped.min(2.0 * duration_s - wrapped),
                wrapped < duration_s,
            )
        };
        let (back_s, goes) = way_s(ends_s % (2.0 * duration_s));
        let once_s = ends_s.min(duration_s);
        // The clip time by which each moved, and its speed now.
        let expected = [
            (ends_s * 0.75, 0.75),
            (ends_s * -2.0, -2.0),
            (once_s, if ends_s < duration_s { 1.0 } else { 0.0 }),
            (back_s, if goes { 1.0 } else { -1.0 }),
            (0.0, 0.0),
        ];
        for (id, (moved_s, speed)) in ids.into_iter().zip(expected) {
            let actor = animator.live(id);
            let moved = actor.root_transform().translation;
            let off = moved.distance(velocity(1) * moved_s);
            assert!(off < EXACT_M, "{ends_s} s, speed {speed}: {off:e}");
            let now = actor.ground_velocity().as_dvec3();
            assert!(now.distance(velocity(1) * speed) < 1e-6, "{now}");
        }
    }
}

/// A fade moves at the mean velocity, weighted like the pose.
#[test]
fn blends_move_at_their_weighted_velocity() {
    let character = walker(true);
    let mut animator = Animator::new(&character).unwrap();
    let id = add(&mut animator, Play::new("Walk"));
    animator.update(1.0).unwrap();
    let fade = Play::new("Run").speed(0.5).fade_s(0.5).ease(Ease::Linear);
    animator.live_mut(id).play(fade).unwrap();
    let wave = Play::new("Wave").layer(1);
    animator.live_mut(id).play(wave).unwrap();
    let (walk, run) = (velocity(0), velocity(1) * 0.5);
    for (step, done) in [(0.125, 0.25), (0.375, 1.0), (2.0, 1.0)] {
        let before = animator.live(id).root_transform().translation;
        let started = animator.live(id).ground_velocity().as_dvec3();
        animator.update(animator.now_s() + step).unwrap();
        let actor = animator.live(id);
        let moved = actor.root_transform().translation - before;
        // Weights are linear and velocities constant, so the mean is that of both ends. Weights
        // are rounded to `f32`.
        let now = walk.lerp(run, done);
        let off = moved.distance((started + now) * (0.5 * step));
        assert!(off < 1e-6, "{done}: {off:e}");
        assert!(actor.ground_velocity().as_dvec3().distance(now) < 1e-6);
    }
    let mut actor = animator.live_mut(id);
    actor.set_time_scale(2.0).unwrap();
    assert!((f64::from(actor.ground_velocity().length()) - 2.0 * run.length()).abs() < 1e-6);
    actor.set_paused(true);
    assert_eq!(actor.ground_velocity().length(), 0.0);
}

/// The velocity of a clip whose motion was extracted is the mean over a cycle.
#[test]
fn extracted_motion_has_a_ground_speed() {
    let options = ImportOptions {
        curves: true,
        ..ImportOptions::default()
    };
    let character = RawCharacter::mannequin().build(&options).unwrap().character;
    let slide = TrackValues::Translation(rig::keys(
        Interpolation::Linear,
        [0.0, 0.5, 1.5],
        [Vec3::ZERO, Vec3::Z * 2.0, vec3(0.0, 0.5, 3.0)],
    ));
    let track = raws::track(0, slide);
    let slide = CurveClip::new("Slide", vec![track], character.skeleton()).unwrap();
    let animation = AnimationDesc {
        clips: vec![ClipDesc {
            name: "Slide".into(),
            root_motion: Some(RootMotionDesc::default()),
            ..ClipDesc::default()
        }],
        ..AnimationDesc::default()
    };
    let character = character.with_clips(vec![slide]).unwrap();
    let character = character.with_animation(&animation).unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let id = add(&mut animator, Play::new("Slide"));
    animator.update(0.2).unwrap();
    let now = animator.live(id).ground_velocity();
    assert!(now.distance(Vec3::Z * 2.0) < 1e-6, "{now}");
}

/// `gait_motion` is data of the character: saved, and replaced with the description.
#[test]
fn gait_motion_is_a_setting_of_the_character() {
    let still = walker(false);
    let walk = still.clip("Walk").unwrap();
    assert!(still.root_motion(walk).is_none());
    let moving = walker(true);
    assert!(moving.root_motion(moving.clip("Idle").unwrap()).is_none());
    assert_eq!(
        Character::from_bytes(&moving.to_bytes(), &Default::default()).unwrap(),
        moving
    );
    let mut desc = moving.animation_desc().clone();
    assert!(desc.gait_motion);
    desc.gait_motion = false;
    let stopped = moving.clone().with_animation(&desc).unwrap();
    assert!(stopped.root_motion(walk).is_none());
    let toml = still.with_animation_toml("walker.toml", "gait_motion = true");
    assert_eq!(toml.unwrap().root_motion(walk), moving.root_motion(walk));
}

/// The foot on the ground stays where it is in the world.
#[test]
fn feet_do_not_slide() {
    let mut animator = Animator::new(&walker(true)).unwrap();
    let id = add(&mut animator, Play::new("Walk"));
    let feet = |animator: &Animator| {
        let actor = animator.live(id);
        let root = actor.root_transform().to_affine();
        ["LeftToes", "RightToes"].map(|name| {
            let toes = actor.joint_model(name, animator.now_s()).unwrap();
            root.transform_point3(toes.translation.as_dvec3())
        })
    };
    let (mut slid, mut before) = (Vec::new(), feet(&animator));
    for frame in 1..=110 {
        animator.update(f64::from(frame) * 0.01).unwrap();
        let after = feet(&animator);
        let low = |side: usize| before[side].y.max(after[side].y);
        let side = usize::from(low(1) < low(0));
        let step = after[side] - before[side];
        slid.push(DVec3::new(step.x, 0.0, step.z).length() / 0.01);
        before = after;
    }
    slid.sort_by(f64::total_cmp);
    println!("slides at {:.4} m/s, at most {:.3}", slid[55], slid[109]);
    assert!(slid[55] < 0.01, "{slid:?}");
}
