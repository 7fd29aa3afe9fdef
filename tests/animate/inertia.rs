//! Inertialised transitions: value and velocity at both ends, and the conditions that Bollo gives
//! for the polynomial.

use crate::reference::rng::Rng;
use throng::Error;
use throng::animator::{Animator, Play};
use throng::character::AnimationDesc;
use throng::glam::{DQuat, DVec3, Quat, Vec3};
use throng::motion::{Inertia, Moving};
use throng::skeleton::Transform;
use throng::state_machine::{Origin, StateMachineDesc};

const HERO: &str = include_str!("../../examples/machine/hero.toml");
const DT: f64 = 1.0 / 60.0;

fn at(x: f32) -> [Transform; 1] {
    [Transform {
        translation: Vec3::X * x,
        ..Transform::IDENTITY
    }]
}

fn standing(pose: &[Transform]) -> Moving<'_> {
    Moving {
        earlier: pose,
        now: pose,
    }
}

/// The pose `after` seconds: of one joint whose offset along x has this value and velocity.
fn decay(value: f32, velocity: f32, after: f64, duration: f64) -> f64 {
    let (old, before, new) = (at(value), at(value - velocity * 0.5), at(0.0));
    let old = Moving {
        earlier: &before,
        now: &old,
    };
    let mut inertia = Inertia::new();
    inertia
        .begin(&old, &standing(&new), 0.5, 0.0, duration)
        .unwrap();
    let mut pose = new;
    inertia.apply(after, &mut pose).unwrap();
    pose[0].translation.x.into()
}

#[test]
fn the_decay_is_bollos() {
    let mut rng = Rng::new(1);
    for _ in 0..2000 {
        let (value, velocity) = (rng.range(0.05, 2.0), rng.range(-6.0, 3.0));
        let velocity = (velocity * 256.0).round() / 256.0;
        let duration = f64::from(rng.range(0.1, 1.5));
        let (x, v) = (f64::from(value), f64::from(velocity));
        let end = if v < 0.0 {
            duration.min(-5.0 * x / v)
        } else {
            duration
        };
        // The coefficients as the talk has them, in seconds.
        let a = ((-8.0 * v * end - 20.0 * x) / end.powi(2)).max(0.0);
        let fifth = -(a * end.powi(2) + 6.0 * v * end + 12.0 * x) / (2.0 * end.powi(5));
        let fourth = (3.0 * a * end.powi(2) + 16.0 * v * end + 30.0 * x) / (2.0 * end.powi(4));
        let third = -(3.0 * a * end.powi(2) + 12.0 * v * end + 20.0 * x) / (2.0 * end.powi(3));
        for _ in 0..10 {
            let t = end * f64::from(rng.range(0.0, 1.2));
            let want = if t >= end {
                0.0
            } else {
                fifth * t.powi(5)
                    + fourth * t.powi(4)
                    + third * t.powi(3)
                    + a / 2.0 * t.powi(2)
                    + v * t
                    + x
            };
            let got = decay(value, velocity, t, duration);
            // The velocity is known to two roundings of the poses over their time.
            let bound = 1e-6 * (1.0 + x + duration);
            assert!(
                (got - want).abs() <= bound,
                "{value} {velocity} {duration} at {t}: {got} {want}"
            );
        }
    }
}

#[test]
fn what_runs_towards_zero_gets_there_without_overshoot() {
    let mut rng = Rng::new(2);
    for _ in 0..500 {
        let (value, velocity) = (rng.range(0.05, 2.0), rng.range(-9.0, 0.0));
        let duration = f64::from(rng.range(0.1, 1.5));
        let mut before = f64::from(value);
        for step in 1..=200 {
            let now = decay(
                value,
                velocity,
                duration * f64::from(step) / 200.0,
                duration,
            );
            assert!(
                (-1e-12..=before + 1e-6).contains(&now),
                "{value} {velocity} {duration}: {before} to {now}"
            );
            before = now;
        }
        assert_eq!(before, 0.0);
    }
}

/// A motion that swings and turns, as a function of time. It differs for each seed.
struct Motion {
    seeds: Vec<[DVec3; 4]>,
}

impl Motion {
    fn new(rng: &mut Rng, joints: usize) -> Self {
        let vector = |rng: &mut Rng, most: f32| rng.vector(-most, most).as_dvec3();
        let seed = |_| {
            [
                vector(rng, 1.0),
                vector(rng, 2.0),
                vector(rng, 1.2),
                vector(rng, 0.2),
            ]
        };
        Self {
            seeds: (0..joints).map(seed).collect(),
        }
    }

    fn pose(&self, time_s: f64) -> Vec<Transform> {
        let joint = |[place, swing, axis, size]: &[DVec3; 4]| Transform {
            translation: (place + swing * (3.0 * time_s).sin()).as_vec3(),
            rotation: DQuat::from_scaled_axis(axis * (2.0 * time_s + 1.0).sin()).as_quat(),
            scale: (DVec3::ONE + size * time_s.cos()).as_vec3(),
        };
        self.seeds.iter().map(joint).collect()
    }
}

/// The largest difference between two poses, with rotations as angles.
fn apart(a: &[Transform], b: &[Transform]) -> f64 {
    let pairs = a.iter().zip(b);
    let of = |(a, b): (&Transform, &Transform)| {
        let turn =
            a.rotation.as_dquat().normalize() * b.rotation.as_dquat().normalize().conjugate();
        [
            (a.translation - b.translation).length().into(),
            (a.scale - b.scale).length().into(),
            2.0 * turn.xyz().length().min(1.0).asin(),
        ]
    };
    pairs.flat_map(of).fold(0.0, f64::max)
}

#[test]
fn the_transition_starts_in_the_old_motion_and_ends_in_the_new_one() {
    let mut rng = Rng::new(3);
    let mut inertia = Inertia::new();
    for _ in 0..100 {
        let [old, new] = [0; 2].map(|_| Motion::new(&mut rng, 9));
        let now = f64::from(rng.range(-9.0, 9.0));
        let before = [old.pose(now - DT), new.pose(now - DT)];
        let both = [old.pose(now), new.pose(now)];
        let moving = [0, 1].map(|of| Moving {
            earlier: &before[of],
            now: &both[of],
        });
        inertia.begin(&moving[0], &moving[1], DT, now, 0.4).unwrap();
        let shown = |time_s: f64| {
            let mut pose = new.pose(time_s);
            inertia.apply(time_s, &mut pose).unwrap();
            pose
        };
        // A rounding of the offset and one of the sum.
        assert!(apart(&shown(now), &both[0]) < 2e-6);
        for after in [0.4, 0.4001, 7.0] {
            assert!(inertia.is_over(now + after + 1e-9));
            assert_eq!(shown(now + after + 1e-9), new.pose(now + after + 1e-9));
        }
        assert!(!inertia.is_over(now + 0.399));
        // Just before the end, what is left has gone with the third power of the time that is left.
        assert!(apart(&shown(now + 0.399), &new.pose(now + 0.399)) < 1e-5);
        // Closed-form in time: asked backwards, the same.
        let times = [0.1, 0.35, 0.2].map(|after| now + after);
        let [a, b, c] = times.map(shown);
        assert_eq!([c, b, a], [times[2], times[1], times[0]].map(shown));
    }
}

#[test]
fn velocities_go_on_at_the_start() {
    let mut rng = Rng::new(4);
    let (mut worst, mut without) = (0.0_f64, 0.0_f64);
    for _ in 0..200 {
        let [old, new] = [0; 2].map(|_| Motion::new(&mut rng, 1));
        let now = 1.0;
        // Small enough that differences are derivatives up to rounding: 3e-7 / 2e-3.
        let dt = 2e-3;
        let before = [old.pose(now - dt), new.pose(now - dt)];
        let both = [old.pose(now), new.pose(now)];
        let moving = [0, 1].map(|of| Moving {
            earlier: &before[of],
            now: &both[of],
        });
        let mut inertia = Inertia::new();
        inertia.begin(&moving[0], &moving[1], dt, now, 0.5).unwrap();
        let mut next = new.pose(now + dt);
        inertia.apply(now + dt, &mut next).unwrap();
        let velocity = |from: &Transform, to: &Transform| {
            let turn = to.rotation.as_dquat() * from.rotation.as_dquat().conjugate();
            let turn = if turn.w < 0.0 { -turn } else { turn };
            [
                (to.translation.as_dvec3() - from.translation.as_dvec3()) / dt,
                turn.xyz() * 2.0 / dt,
                (to.scale.as_dvec3() - from.scale.as_dvec3()) / dt,
            ]
        };
        let coming = velocity(&before[0][0], &both[0][0]);
        let going = velocity(&both[0][0], &next[0]);
        let jump = velocity(&before[1][0], &both[1][0]);
        for of in 0..3 {
            worst = worst.max((coming[of] - going[of]).length());
            without = without.max((coming[of] - jump[of]).length());
        }
    }
    println!("velocities differ by at most {worst:.3}");
    // Accelerations of up to 40 and Bollo's own, 20 · 3 / 0.5², over 2e-3 s.
    assert!(worst < 0.6, "{worst}");
    assert!(without > 5.0, "motions too alike to tell: {without}");
}

#[test]
fn an_interrupted_transition_does_not_jump() {
    let mut rng = Rng::new(5);
    let motions = [0; 3].map(|_| Motion::new(&mut rng, 5));
    let mut inertia = Inertia::new();
    let mut playing = 0;
    let mut last: Vec<Transform> = motions[0].pose(-DT);
    let mut shown = motions[0].pose(0.0);
    let mut fastest = 0.0_f64;
    for frame in 0..600 {
        let now = f64::from(frame) * DT;
        let mut would_be = motions[playing].pose(now);
        inertia.apply(now, &mut would_be).unwrap();
        if frame % 17 == 5 {
            let next = rng.below(3);
            let [earlier, to] = [now - DT, now].map(|time| motions[next].pose(time));
            let old = Moving {
                earlier: &shown,
                now: &would_be,
            };
            let new = Moving {
                earlier: &earlier,
                now: &to,
            };
            inertia.begin(&old, &new, DT, now, 0.3).unwrap();
            playing = next;
        }
        let mut pose = motions[playing].pose(now);
        inertia.apply(now, &mut pose).unwrap();
        if frame % 17 == 5 {
            assert!(apart(&pose, &would_be) < 1e-5, "jumps at {frame}");
        }
        // The steepest slope of a decay: 15/8 of an offset of up to 8 m, in 0.3 s. The motions add
        // 10 m/s.
        fastest = fastest.max(apart(&pose, &shown) / DT);
        (last, shown) = (shown, pose);
    }
    assert!(apart(&last, &shown) > 0.0);
    println!("at most {fastest:.1} a second");
    assert!(fastest < 60.0, "{fastest}");
}

#[test]
fn turns_of_about_half_a_circle_have_no_jump() {
    for half in [-1e-3_f32, 0.0, 1e-3] {
        let turned = |angle: f32| {
            [Transform {
                rotation: Quat::from_rotation_y(angle),
                ..Transform::IDENTITY
            }]
        };
        let (before, old) = (
            turned(core::f32::consts::PI - 0.01 + half),
            turned(core::f32::consts::PI + half),
        );
        let new = turned(0.0);
        let old = Moving {
            earlier: &before,
            now: &old,
        };
        let mut inertia = Inertia::new();
        inertia.begin(&old, &standing(&new), 0.1, 0.0, 1.0).unwrap();
        let mut shown = old.now.to_vec();
        for step in 0..=100 {
            let mut pose = new;
            inertia.apply(f64::from(step) * 0.01, &mut pose).unwrap();
            // 1.9 radians a second at most: the polynomial's steepest is 15 / 8 of the offset over
            // the duration.
            assert!(apart(&pose, &shown) < 0.07, "{half} at {step}");
            shown = pose.to_vec();
        }
    }
}

#[test]
fn odd_numbers_do_no_harm() {
    let odd = [
        0.0,
        1.0,
        f32::MAX,
        f32::MIN,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        1e-45,
    ];
    let mut rng = Rng::new(6);
    let mut inertia = Inertia::new();
    for _ in 0..3000 {
        let mut any = || odd[rng.below(odd.len())];
        let mut pose = || {
            [Transform {
                translation: Vec3::new(any(), any(), any()),
                rotation: Quat::from_xyzw(any(), any(), any(), any()),
                scale: Vec3::new(any(), any(), any()),
            }]
        };
        let poses = [pose(), pose(), pose(), pose()];
        let old = Moving {
            earlier: &poses[0],
            now: &poses[1],
        };
        let new = Moving {
            earlier: &poses[2],
            now: &poses[3],
        };
        let [dt, now, duration, time] = [any(), any(), any(), any()].map(f64::from);
        let too_long = duration > Inertia::MAX_DURATION_S;
        let begun = inertia.begin(&old, &new, dt, now, duration);
        assert_eq!(begun.is_err(), too_long, "{duration}");
        if too_long {
            let duration = Inertia::MAX_DURATION_S;
            inertia.begin(&old, &new, dt, now, duration).unwrap();
        }
        let mut sound = at(1.0);
        inertia.apply(time, &mut sound).unwrap();
        let [joint] = sound;
        assert!(
            joint.rotation.is_finite() && joint.translation.is_finite() && joint.scale.is_finite(),
            "{inertia:?} at {time}: {joint:?}"
        );
    }
    // No velocity without a time, no transition without a duration.
    let (old, before, new) = (at(1.0), at(0.0), at(0.0));
    let moving = Moving {
        earlier: &before,
        now: &old,
    };
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut other = Inertia::new();
        inertia
            .begin(&moving, &standing(&new), dt, 0.0, 1.0)
            .unwrap();
        other
            .begin(&standing(&old), &standing(&new), 1.0, 0.0, 1.0)
            .unwrap();
        assert_eq!(inertia, other, "{dt}");
    }
    for duration in [0.0, -1.0, f64::NAN] {
        inertia
            .begin(&moving, &standing(&new), 1.0, 0.0, duration)
            .unwrap();
        let mut pose = new;
        inertia.apply(0.0, &mut pose).unwrap();
        assert_eq!(pose, new);
    }
    let short = |error: Result<(), Error>| matches!(error, Err(Error::Argument { .. }));
    assert!(short(inertia.begin(&moving, &standing(&[]), 1.0, 0.0, 1.0)));
    assert!(short(inertia.begin(
        &standing(&[]),
        &standing(&new),
        1.0,
        0.0,
        1.0
    )));
    inertia
        .begin(&moving, &standing(&new), 1.0, 0.0, 1.0)
        .unwrap();
    assert!(short(inertia.apply(0.5, &mut [])));
    // Over, it is for any skeleton.
    assert!(inertia.apply(1.5, &mut []).is_ok());
    inertia.clear();
    assert!(inertia.is_over(0.5) && inertia.apply(0.5, &mut []).is_ok());
    inertia
        .begin(&standing(&[]), &standing(&[]), 1.0, 0.0, 1.0)
        .unwrap();
    assert!(inertia.apply(0.5, &mut []).is_ok());
}

/// The polynomial takes powers of the duration, and no transition lasts an hour.
#[test]
fn durations_are_bounded() {
    let (old, before, new) = (at(1.0), at(0.0), at(0.0));
    let moving = Moving {
        earlier: &before,
        now: &old,
    };
    let mut inertia = Inertia::new();
    inertia
        .begin(&moving, &standing(&new), 1.0, 0.0, Inertia::MAX_DURATION_S)
        .unwrap();
    let begun = inertia.clone();
    for duration in [
        Inertia::MAX_DURATION_S * 1.001,
        1e51,
        f64::MAX,
        f64::INFINITY,
    ] {
        let error = inertia
            .begin(&standing(&old), &standing(&new), 1.0, 5.0, duration)
            .unwrap_err();
        assert!(matches!(error, Error::Argument { .. }), "{error:?}");
        let words = error.to_string();
        assert!(words.contains("Inertia::begin"), "{words}");
        // The previous transition continues.
        assert_eq!(inertia, begun);
    }
}

/// `Play::inertial_s` and `TransitionDesc::inertial_s` have the same bound as `Inertia`.
#[test]
fn plays_and_transitions_have_the_same_bound() {
    let character = throng::builtin::mannequin().unwrap().character;
    let mut animator = Animator::new(&character).unwrap();
    let actor = animator.add("Idle").unwrap();
    let longest = Inertia::MAX_DURATION_S as f32;
    let mut machine = StateMachineDesc::from_toml("hero.toml", HERO).unwrap();
    for (inertial_s, fits) in [(longest, true), (longest * 1.001, false), (f32::MAX, false)] {
        let play = Play::new("Walk").inertial_s(inertial_s);
        assert_eq!(
            animator
                .actor_mut(actor)
                .and_then(|mut it| it.play(play))
                .is_ok(),
            fits,
            "{inertial_s}"
        );
        let mut transitions = machine.layers[0].transitions.iter_mut();
        let transition = transitions.find(|one| one.from != Origin::Entry).unwrap();
        (transition.fade_s, transition.inertial_s) = (0.0, inertial_s);
        let animation = AnimationDesc {
            state_machine: Some(machine.clone()),
            ..AnimationDesc::default()
        };
        let built = character.clone().with_animation(&animation);
        assert_eq!(built.is_ok(), fits, "{inertial_s}: {:?}", built.err());
    }
    animator.update(1e3).unwrap();
    let mut pose = vec![Transform::IDENTITY; character.skeleton().len()];
    animator.local_poses(&[actor], &mut pose).unwrap();
    assert!(pose.iter().all(|joint| joint.translation.is_finite()));
}
