//! The animator allocates nothing once it is warm, for any commands to its actors.

use crate::counting::{allocated_bytes, allocations, measure};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use throng::animator::{
    ActorId, Animator, AnimatorSnapshot, IkSolver, IkTarget, Play, Pose, RootMotionMode, ShowPose,
};
use throng::character::{AnimationDesc, BlendSpaceDesc, Character, ClipDesc, EventDesc};
use throng::glam::{Affine3A, Vec3};
use throng::ik::{TwoBone, TwoBoneTarget};
use throng::import::{ImportOptions, RawCharacter};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;
use throng::state_machine::{BlendPointDesc, StateMachineDesc};

const ACTORS: usize = 1000;
/// Number of frames in one round. The commands repeat after each round.
const ROUND: u32 = 200;
const CLIPS: [&str; 4] = ["Idle", "Walk", "Run", "Wave"];

fn character() -> Character {
    let machine = include_str!("../../examples/machine/hero.toml");
    let machine = StateMachineDesc::from_toml("hero.toml", machine).unwrap();
    let events = [("left", 0.0), ("right", 0.4)];
    let events = events.map(|(name, time_s)| EventDesc {
        name: name.into(),
        time_s,
    });
    let clips = ["Walk", "Run"].map(|name| ClipDesc {
        name: name.into(),
        events: events.clone().into(),
        ..ClipDesc::default()
    });
    let desc = AnimationDesc {
        state_machine: Some(machine),
        clips: clips.into(),
        blend_spaces: vec![BlendSpaceDesc {
            name: "speed".into(),
            points: [(0.0, "Idle"), (1.4, "Walk"), (3.0, "Run")]
                .map(|(at, clip)| BlendPointDesc {
                    at: f32::into(at),
                    clip: clip.into(),
                })
                .into(),
            ..BlendSpaceDesc::default()
        }],
        ..AnimationDesc::default()
    };
    let character = throng::builtin::mannequin().unwrap().character;
    character.with_animation(&desc).unwrap()
}

/// The crowd, and the commands that it gets.
struct Crowd {
    animator: Animator,
    plain: Vec<ActorId>,
    driven: Vec<ActorId>,
    pose: Vec<Transform>,
    palettes: Vec<Mat3x4>,
    events: usize,
}

impl Crowd {
    fn new(character: &Character) -> Self {
        let mut animator = Animator::new(character).unwrap();
        animator.reserve(ACTORS);
        let skeleton = character.skeleton();
        let [start, mid, end] =
            ["LeftUpperArm", "LeftLowerArm", "LeftHand"].map(|name| skeleton.joint(name).unwrap());
        let arm = TwoBone {
            start,
            mid,
            end,
            hinge: None,
            soften: 1.0,
        };
        let solver = animator.add_solver(IkSolver::TwoBone(arm)).unwrap();
        let plain = (0..ACTORS * 3 / 4).map(|_| animator.add("Walk").unwrap());
        let plain: Vec<_> = plain.collect();
        let driven = (0..ACTORS / 4).map(|_| animator.add_with_state_machine().unwrap());
        let driven = driven.collect();
        for id in plain.iter().step_by(10) {
            let mode = RootMotionMode::Apply;
            animator.live_mut(*id).set_root_motion(mode);
            let target = TwoBoneTarget::at(Vec3::new(0.3, 1.2, 0.4));
            let target = IkTarget::TwoBone(target);
            animator
                .live_mut(*id)
                .set_target(solver, target, 0.3)
                .unwrap();
        }
        Self {
            palettes: vec![Mat3x4::IDENTITY; ACTORS * character.palette().len()],
            pose: skeleton.joints().iter().map(|joint| joint.rest).collect(),
            animator,
            plain,
            driven,
            events: 0,
        }
    }

    /// Runs a round of random commands, which are the same in each round.
    fn round(&mut self, number: u32) {
        for frame in 0..ROUND {
            self.frame(number, frame);
        }
    }

    fn frame(&mut self, number: u32, frame: u32) {
        let mut rng = Rng::new(u64::from(frame) + 1);
        for _ in 0..300 {
            let id = self.plain[rng.below(self.plain.len())];
            self.say(&mut rng, id);
        }
        for _ in 0..50 {
            let id = self.driven[rng.below(self.driven.len())];
            self.drive(&mut rng, id);
        }
        let now_s = f64::from(number * ROUND + frame) / 60.0;
        self.animator.update(now_s).unwrap();
        self.events += self.animator.events().len();
        if frame.is_multiple_of(10) {
            self.evaluate();
        }
    }

    /// The same with a snapshot of each frame, and a rollback of eight frames in every 25th.
    fn round_with_rollback(&mut self, number: u32, ring: &mut [AnimatorSnapshot; 8]) {
        for frame in 0..ROUND {
            let back = if frame % 25 == 24 { 7 } else { 0 };
            if back > 0 {
                self.animator
                    .restore(&ring[(frame - back) as usize % 8])
                    .unwrap();
            }
            for frame in frame - back..=frame {
                self.animator.snapshot_into(&mut ring[frame as usize % 8]);
                self.frame(number, frame);
            }
        }
    }

    fn say(&mut self, rng: &mut Rng, id: ActorId) {
        let animator = &mut self.animator;
        match rng.below(16) {
            12 => animator.on(id, |mut it| {
                it.play(Play::blend_space("speed").at(1.0).fade_s(0.2).layer(2))
            }),
            13 if animator.live(id).blend_position(2).is_some() => animator.on(id, |mut it| {
                it.set_blend_position(2, rng.range(0.0, 3.0), 0.3)
            }),
            14 => animator.on(id, |mut it| it.play(Play::new("Run").inertial_s(0.2))),
            0 => animator.on(id, |mut it| it.stop(1, 0.2)),
            1 => animator.on(id, |mut it| {
                it.set_speed(0, f64::from(rng.range(-1.0, 2.0)))
            }),
            2 => animator.on(id, |mut it| it.seek(0, f64::from(rng.range(0.0, 2.0)))),
            3 => animator.actor_mut(id).map(|mut it| it.set_paused(true)),
            4 | 5 => animator.actor_mut(id).map(|mut it| it.set_paused(false)),
            6 => animator.on(id, |mut it| it.set_time_scale(rng.range(0.5, 1.5))),
            7 => {
                let show = ShowPose {
                    fade_s: 0.2,
                    layer: 1,
                    ..ShowPose::default()
                };
                animator.on(id, |mut it| it.set_pose(Pose::Local(&self.pose), &show))
            }
            _ => {
                let play = Play::new(CLIPS[rng.below(CLIPS.len())]);
                let play = play.fade_s(rng.range(0.0, 0.5));
                let play = play.layer(rng.below(3) as u8);
                animator.on(id, |mut it| {
                    it.play(if rng.chance(2) {
                        play.synced()
                    } else {
                        play.once()
                    })
                })
            }
        }
        .unwrap();
    }

    fn drive(&mut self, rng: &mut Rng, id: ActorId) {
        let animator = &mut self.animator;
        let parameter = |name| animator.state_machine().unwrap().parameter(name).unwrap();
        match rng.below(4) {
            0 => {
                let jump = parameter("jump");
                animator.on(id, |mut it| it.set_parameter(jump, true))
            }
            1 => {
                let speed = parameter("speed");
                animator.on(id, |mut it| {
                    it.set_parameter_over(speed, rng.range(0.0, 5.0), 0.5)
                })
            }
            2 => animator.on(id, |mut it| {
                it.play(Play::new("Wave").layer(5).once().fade_s(0.1))
            }),
            _ => {
                let speed = parameter("speed");
                animator.on(id, |mut it| it.set_parameter(speed, rng.range(0.0, 5.0)))
            }
        }
        .unwrap();
    }

    fn evaluate(&mut self) {
        let entries = self.palettes.len() / ACTORS;
        let (plain, driven) = self.palettes.split_at_mut(self.plain.len() * entries);
        let plain = WriteOnly::from(plain);
        self.animator.palettes(&self.plain, plain).unwrap();
        let driven = WriteOnly::from(driven);
        self.animator.palettes(&self.driven, driven).unwrap();
    }
}

/// The first frame that uses a feature allocates nothing either.
///
/// Inverse kinematics, the caller's poses and inertialised transitions need memory for actors that
/// had none yet. It is allocated by the call, and not by the frame after it.
fn the_first_frame_allocates_nothing(character: &Character) {
    let mut animator = Animator::new(character).unwrap();
    animator.reserve(64);
    let ids: Vec<_> = (0..64).map(|_| animator.add("Walk").unwrap()).collect();
    let joints = character.skeleton();
    let [start, mid, end] =
        ["LeftUpperArm", "LeftLowerArm", "LeftHand"].map(|name| joints.joint(name).unwrap());
    let arm = IkSolver::TwoBone(TwoBone {
        start,
        mid,
        end,
        hinge: None,
        soften: 1.0,
    });
    let solver = animator.add_solver(arm).unwrap();
    let mut palettes = vec![Mat3x4::IDENTITY; ids.len() * character.palette().len()];
    let model = vec![Affine3A::IDENTITY; joints.len()];
    // No actor at first, then more and more.
    for (frame, id) in ids.iter().take(40).enumerate() {
        let id = *id;
        if frame > 3 {
            match frame % 3 {
                0 => {
                    let target = TwoBoneTarget::at(Vec3::new(0.3, 1.2, 0.4));
                    animator.on(id, |mut it| {
                        it.set_target(solver, IkTarget::TwoBone(target), 0.2)
                    })
                }
                1 => animator.on(id, |mut it| {
                    it.set_pose(Pose::Model(&model), &ShowPose::default())
                }),
                _ => animator.on(id, |mut it| it.play(Play::new("Run").inertial_s(5.0))),
            }
            .unwrap();
        }
        let before = allocations();
        animator.update(0.1 * frame as f64).unwrap();
        let out = WriteOnly::from(&mut palettes);
        animator.palettes(&ids, out).unwrap();
        assert_eq!(allocations() - before, 0, "frame {frame}");
    }
}

/// Memory of the records of removed actors goes to new ones.
#[test]
fn records_of_removed_actors_are_reused() {
    let _measurement = measure();
    let mut animator = Animator::new(&character()).unwrap();
    animator.reserve(9);
    // Twenty records for each. All but the last fade out.
    let add = |animator: &mut Animator| {
        let id = animator.add("Walk").unwrap();
        for _ in 1..20 {
            animator.update(animator.now_s() + 0.01).unwrap();
            animator
                .live_mut(id)
                .play(Play::new("Run").fade_s(100.0))
                .unwrap();
        }
        assert_eq!(animator.live(id).records().len(), 20);
        id
    };
    let ids = [(); 9].map(|()| add(&mut animator));
    let before = allocations();
    for id in ids {
        animator.remove(id).unwrap();
        add(&mut animator);
    }
    assert_eq!(allocations() - before, 0);
}

/// Events of actors that memory was reserved for allocate nothing, from the first on.
#[test]
fn events_of_reserved_actors_allocate_nothing() {
    let _measurement = measure();
    let mut animator = Animator::new(&character()).unwrap();
    animator.reserve(200);
    for _ in 0..200 {
        animator.add(Play::new("Wave").once()).unwrap();
    }
    animator.update(0.0).unwrap();
    let before = allocations();
    animator.update(600.0).unwrap();
    assert_eq!(allocations() - before, 0);
    assert_eq!(animator.events().len(), 200);
}

/// Animators share the clips and the animation data of their character.
#[test]
fn animators_share_what_the_character_has() {
    let _measurement = measure();
    let bytes = |character: &Character| {
        let before = allocated_bytes();
        let animators = [0; 10].map(|_| Animator::new(character).unwrap());
        let bytes = allocated_bytes() - before;
        drop(animators);
        bytes
    };
    let options = ImportOptions {
        curves: true,
        ..ImportOptions::default()
    };
    let plain = RawCharacter::mannequin().build(&options).unwrap().character;
    let plain = plain.with_animation(&AnimationDesc::default()).unwrap();
    let clips = |count| vec![plain.curves()[1].clone(); count];
    let more = plain.clone().with_clips(clips(50)).unwrap();
    let events = (0..1000).map(|number| EventDesc {
        name: format!("event {number}"),
        time_s: 0.1,
    });
    let desc = AnimationDesc {
        clips: vec![ClipDesc {
            name: "Walk".into(),
            events: events.collect(),
            ..ClipDesc::default()
        }],
        ..AnimationDesc::default()
    };
    let more = more.with_animation(&desc).unwrap();
    assert_eq!(bytes(&more), bytes(&plain));
    // Adding clips to a copy of a character does not change the original.
    assert_eq!(more.clips().len(), plain.clips().len() + 50);
    let same = plain.clone().with_clips(Vec::new()).unwrap();
    assert_eq!(same.clips().len(), plain.clips().len());
}

#[test]
fn nothing_is_allocated_once_it_is_warm() {
    let _measurement = measure();
    let mut crowd = Crowd::new(&character());
    // The memory of each actor, and the longest list of events, are allocated in the first rounds.
    crowd.round(0);
    crowd.round(1);
    crowd.events = 0;
    let before = allocations();
    crowd.round(2);
    assert_eq!(allocations() - before, 0);
    assert!(crowd.events > 10_000, "{}", crowd.events);
    the_first_frame_allocates_nothing(&character());
}

#[test]
fn snapshots_and_rollbacks_allocate_nothing_once_they_are_warm() {
    let _measurement = measure();
    let mut crowd = Crowd::new(&character());
    let mut ring: [AnimatorSnapshot; 8] = Default::default();
    // The memory of each actor, and the longest lists, are allocated in the first rounds.
    crowd.round_with_rollback(0, &mut ring);
    crowd.round_with_rollback(1, &mut ring);
    let before = allocations();
    crowd.round_with_rollback(2, &mut ring);
    assert_eq!(allocations() - before, 0);
}
