//! The world of the tests: clips with events, root motion and masks.

use crate::blend_space::plain;
use crate::reference::rng::Rng;
use crate::state_machine::made;
use std::sync::OnceLock;
use throng::Id;
use throng::animator::Animator;
use throng::character::{
    AdditiveDesc, AnimationDesc, BlendAt, BlendSpaceDesc, Character, ClipDesc, EventDesc,
    RootMotionDesc,
};
use throng::clip::{Clip, CurveClip, Interpolation, Keys, Track, TrackValues};
use throng::glam::{Quat, Vec2, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::skeleton::{Mask, Transform};
use throng::state_machine::{
    BlendPointDesc, MaskBranchDesc, MaskDesc, MotionDesc, StateMachineDesc,
};

/// The mannequin's own clips.
pub(super) const WALK: usize = 1;
pub(super) const RUN: usize = 2;
/// An additive clip.
pub(super) const ADDITIVE: usize = 4;
/// The index of the first generated clip. They follow the mannequin's.
pub(super) const MADE: usize = 5;
/// Names and durations of the generated clips, which the random machines play. One is a pose.
pub(super) const MADE_CLIPS: [(&str, f64); 6] = made::CLIPS;
/// The number of clips that scripts play.
///
/// Additive versions of the generated clips follow, for the additive layers of state machines.
pub(super) const CLIPS: usize = MADE + MADE_CLIPS.len();
/// The masks, by name.
pub(super) const MASKS: [&str; 2] = ["upper", "some"];
/// Metres per clip second along +Z.
pub(super) const WALK_SPEED: f64 = 1.25;
pub(super) const RUN_SPEED: f64 = 3.5;

/// A character, and everything that its actors can play.
pub(super) struct World {
    /// The character without events, masks and blend spaces.
    bare: Character,
    pub(super) character: Character,
    pub(super) clips: Vec<Clip>,
    /// Blend spaces, with their names, clips and positions.
    pub(super) spaces: Vec<Space>,
    /// For each clip, the indices and the times of its events.
    pub(super) events: Vec<Vec<(usize, f64)>>,
    pub(super) masks: Vec<Mask>,
    mask_descs: Vec<MaskDesc>,
}

/// A blend space: its name, and its points with their clips.
pub(super) struct Space {
    pub(super) name: &'static str,
    pub(super) points: Vec<(BlendAt, usize)>,
}

impl Space {
    /// The weight of each point at a position in a plane.
    pub(super) fn weights(&self, at: Vec2) -> Vec<f32> {
        let points = self.points.iter().map(|(at, _)| match *at {
            BlendAt::Line(x) => Vec2::new(x, 0.0),
            BlendAt::Plane(at) => Vec2::from_array(at),
        });
        plain::weights(&plain::plane(&points.collect::<Vec<_>>()), at)
    }
}

/// A line of the gaits, which have events and motions, and a plane.
fn spaces() -> Vec<Space> {
    let line = [(0.0, 0), (1.0, WALK), (3.0, RUN)];
    let plane = [
        ([0.0, 0.0], 0),
        ([1.0, 0.0], WALK),
        ([0.0, 1.0], MADE),
        ([-1.0, -1.0], MADE + 1),
    ];
    vec![
        Space {
            name: "line",
            points: line.map(|(at, clip)| (at.into(), clip)).into(),
        },
        Space {
            name: "plane",
            points: plane.map(|(at, clip)| (at.into(), clip)).into(),
        },
    ]
}

pub(super) fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(World::new)
}

/// A clip with random keys on every third joint, or with a single key if its duration is 0.
fn made_clip(character: &Character, name: &str, duration_s: f32, rng: &mut Rng) -> CurveClip {
    let skeleton = character.skeleton();
    let mut times_s = vec![0.0];
    if duration_s > 0.0 {
        times_s.extend([0.3, 0.7, 1.0].map(|part| part * duration_s));
    }
    let tracks = (0..skeleton.len()).step_by(3).flat_map(|joint| {
        let rest = skeleton.joints()[joint].rest;
        let mut turn = || {
            let axis = rng.direction();
            rest.rotation * Quat::from_axis_angle(axis, rng.range(-0.8, 0.8))
        };
        let rotations = times_s.iter().map(|_| turn()).collect();
        let translations = times_s
            .iter()
            .map(|_| rest.translation + rng.vector(-0.2, 0.2));
        let translations = translations.collect();
        let interpolation = Interpolation::Linear;
        let track = |values| Track {
            joint: Id::new(joint as u16),
            values,
        };
        [
            track(TrackValues::Rotation(Keys {
                times_s: times_s.clone(),
                values: rotations,
                interpolation,
            })),
            track(TrackValues::Translation(Keys {
                times_s: times_s.clone(),
                values: translations,
                interpolation,
            })),
        ]
    });
    CurveClip::new(name, tracks.collect(), skeleton).unwrap()
}

/// The clip with a straight path along +Z of the root joint, at this speed.
fn straight(character: &Character, clip: &CurveClip, speed: f64) -> CurveClip {
    let duration_s = clip.duration_s();
    let values = [0.0, duration_s * speed as f32].map(|z| Vec3::new(0.0, 0.0, z));
    let keys = Keys {
        times_s: vec![0.0, duration_s],
        values: values.into(),
        interpolation: Interpolation::Linear,
    };
    let mut tracks = clip.tracks().to_vec();
    assert!(tracks.iter().all(|track| track.joint != Id::new(0)));
    tracks.push(Track {
        joint: Id::new(0),
        values: TrackValues::Translation(keys),
    });
    CurveClip::new(clip.name(), tracks, character.skeleton()).unwrap()
}

/// Up to five events, some at the clip's start and end.
fn events(duration_s: f64, rng: &mut Rng) -> Vec<EventDesc> {
    let list = (0..rng.below(6)).map(|number| EventDesc {
        name: format!("event {number}"),
        time_s: match rng.below(4) {
            0 => 0.0,
            1 => duration_s,
            _ => duration_s * f64::from(rng.range(0.0, 1.0)),
        },
    });
    list.collect()
}

fn masks(character: &Character, rng: &mut Rng) -> Vec<MaskDesc> {
    let branch = |joint: &str, weight| MaskBranchDesc {
        joint: joint.into(),
        weight,
        feather: 0,
    };
    let joints = character.skeleton().joints().iter();
    // Children come after their parents, and overwrite them.
    let some = joints.map(|joint| match rng.below(4) {
        0 => branch(&joint.name, 0.0),
        1 => branch(&joint.name, 1.0),
        _ => branch(&joint.name, rng.range(0.0, 1.0)),
    });
    let branches = [vec![branch("Chest", 1.0)], some.collect()];
    let named = MASKS.iter().zip(branches);
    named
        .map(|(name, branches)| MaskDesc {
            name: (*name).into(),
            branches,
        })
        .collect()
}

/// The name of the additive version of a generated clip.
fn added(name: &str) -> String {
    format!("{name} added")
}

/// Random machines, whose additive layers play additive clips.
pub(super) fn made_machine(rng: &mut Rng) -> StateMachineDesc {
    let mut desc = made::desc(rng);
    let additive = desc.layers.iter_mut().filter(|layer| layer.additive);
    for state in additive.flat_map(|layer| &mut layer.states) {
        match &mut state.motion {
            MotionDesc::Clip(clip) => *clip = added(clip),
            MotionDesc::Blend1 { points, .. } => {
                points
                    .iter_mut()
                    .for_each(|point| point.clip = added(&point.clip));
            }
            MotionDesc::Blend2 { points, .. } => {
                points
                    .iter_mut()
                    .for_each(|point| point.clip = added(&point.clip));
            }
            _ => {}
        }
    }
    desc
}

impl World {
    fn new() -> Self {
        let mut rng = Rng::new(77);
        let bare = bare(&mut rng);
        let clips = bare.clips().to_vec();
        let lists = clips.iter().map(|clip| ClipDesc {
            name: clip.name().into(),
            events: events(clip.duration_s(), &mut rng),
            ..ClipDesc::default()
        });
        let lists: Vec<_> = lists.collect();
        let mut world = Self {
            character: bare.clone(),
            clips,
            spaces: spaces(),
            events: Vec::new(),
            masks: Vec::new(),
            mask_descs: masks(&bare, &mut rng),
            bare,
        };
        let desc = AnimationDesc {
            clips: lists,
            masks: world.mask_descs.clone(),
            blend_spaces: world.space_descs(),
            ..AnimationDesc::default()
        };
        world.character = world.bare.clone().with_animation(&desc).unwrap();
        let ids = (0..).map(Id::new).take(world.clips.len());
        world.events = ids
            .map(|clip| {
                let events = world.character.events(clip);
                let id = |name| world.character.event(name).unwrap().index();
                events.map(|(name, time_s)| (id(name), time_s)).collect()
            })
            .collect();
        world.masks = world.character.masks().to_vec();
        assert!(
            MASKS.iter().enumerate().all(|(index, name)| {
                world.character.mask(name).unwrap() == Id::new(index as u16)
            })
        );
        world
    }

    fn space_descs(&self) -> Vec<BlendSpaceDesc> {
        let point = |(at, clip): &(BlendAt, usize)| BlendPointDesc {
            at: *at,
            clip: self.name(*clip).into(),
        };
        let spaces = self.spaces.iter().map(|space| BlendSpaceDesc {
            name: space.name.into(),
            points: space.points.iter().map(point).collect(),
            ..BlendSpaceDesc::default()
        });
        spaces.collect()
    }

    pub(super) fn joints(&self) -> usize {
        self.character.skeleton().len()
    }

    pub(super) fn name(&self, clip: usize) -> &str {
        self.clips[clip].name()
    }

    pub(super) fn duration_s(&self, clip: u16) -> f64 {
        self.clips[usize::from(clip)].duration_s()
    }

    /// The rest pose.
    pub(super) fn rest(&self) -> Vec<Transform> {
        self.character.skeleton().rest_pose()
    }

    pub(super) fn animator(&self) -> Animator {
        Animator::new(&self.character).unwrap()
    }

    /// An animator whose actors a state machine can drive.
    pub(super) fn driven(&self, machine: StateMachineDesc) -> Animator {
        Animator::new(&self.with_machine(machine)).unwrap()
    }

    /// The character with a state machine.
    pub(super) fn with_machine(&self, machine: StateMachineDesc) -> Character {
        let desc = AnimationDesc {
            state_machine: Some(machine),
            masks: self.mask_descs.clone(),
            blend_spaces: self.space_descs(),
            ..AnimationDesc::default()
        };
        self.character.clone().with_animation(&desc).unwrap()
    }

    /// A character whose clips have only these events, with their times in seconds.
    pub(super) fn with_events(&self, events: &[(usize, Vec<(&str, f64)>)]) -> Character {
        let clips = events.iter().map(|(clip, events)| ClipDesc {
            name: self.name(*clip).into(),
            events: events
                .iter()
                .map(|(name, time_s)| EventDesc {
                    name: (*name).into(),
                    time_s: *time_s,
                })
                .collect(),
            ..ClipDesc::default()
        });
        let desc = AnimationDesc {
            clips: clips.collect(),
            ..AnimationDesc::default()
        };
        self.bare.clone().with_animation(&desc).unwrap()
    }
}

/// The mannequin with its own clips, an additive one, and those that are generated.
fn bare(rng: &mut Rng) -> Character {
    let options = ImportOptions::curves_only();
    let mannequin = RawCharacter::mannequin().build(&options).unwrap().character;
    let mut clips = mannequin.curves().to_vec();
    assert_eq!(clips.len(), ADDITIVE);
    for (clip, name, speed) in [(WALK, "Walk", WALK_SPEED), (RUN, "Run", RUN_SPEED)] {
        assert_eq!(clips[clip].name(), name);
        clips[clip] = straight(&mannequin, &clips[clip], speed);
    }
    let wave = clips[ADDITIVE - 1].clone();
    clips.push(wave.with_name("Wave added"));
    for (name, duration_s) in MADE_CLIPS {
        clips.push(made_clip(&mannequin, name, duration_s as f32, rng));
    }
    let mut raw = RawCharacter::mannequin();
    raw.animations.clear();
    raw.animation = None;
    let character = raw
        .build(&ImportOptions {
            curves: true,
            ..ImportOptions::default()
        })
        .unwrap()
        .character;
    let motion = |name: &str| ClipDesc {
        name: name.into(),
        root_motion: Some(RootMotionDesc::default()),
        ..ClipDesc::default()
    };
    let made = MADE_CLIPS.iter().map(|(clip, _)| AdditiveDesc {
        name: Some(added(clip)),
        clip: (*clip).into(),
        ..AdditiveDesc::default()
    });
    let wave = AdditiveDesc {
        clip: "Wave added".into(),
        ..AdditiveDesc::default()
    };
    let desc = AnimationDesc {
        clips: ["Walk", "Run"].map(motion).into(),
        additive: std::iter::once(wave).chain(made).collect(),
        ..AnimationDesc::default()
    };
    let character = character.with_clips(clips).unwrap();
    let character = character.with_animation(&desc).unwrap();
    for clip in [WALK, RUN] {
        let motion = character.root_motion(Id::new(clip as u16));
        assert!(motion.is_some_and(|motion| !motion.is_still()));
    }
    character
}
