//! The world of the tests: clips with events, root motion and masks.

use crate::animator::AnimatorDesc;
use crate::animator::instances::Animator;
use crate::animator::library::Library;
use crate::character::{AnimationSet, Character};
use crate::clip::{
    AdditiveReference, Clip, ClipOptions, CurveClip, Interpolation, Keys, Track, TrackValues,
};
use crate::ids::{JointId, MaskId};
use crate::motion::{
    BlendShape, BlendSpace1, BlendSpace2, ClipEvents, RootMotion, RootMotionOptions,
};
use crate::reference::rng::Rng;
use crate::skeleton::{Mask, Transform};
use crate::state_machine::StateMachine;
use glam::{Vec2, Vec3};
use std::sync::{Arc, OnceLock};

/// The mannequin's own clips.
pub(super) const WALK: usize = 1;
pub(super) const RUN: usize = 2;
/// An additive clip.
pub(super) const ADDITIVE: usize = 4;
/// The index of the first generated clip. They follow the mannequin's.
pub(super) const MADE: usize = 5;
/// Names and durations of the generated clips, which the random machines play. One is a pose.
pub(super) const MADE_CLIPS: [(&str, f64); 6] = super::made::CLIPS;
/// The total number of clips.
pub(super) const CLIPS: usize = MADE + MADE_CLIPS.len();
/// The masks, by name.
pub(super) const MASKS: [&str; 2] = ["upper", "some"];
/// Metres per clip second along +Z.
pub(super) const WALK_SPEED: f64 = 1.25;
pub(super) const RUN_SPEED: f64 = 3.5;

/// A character, and everything that its actors can play.
pub(super) struct World {
    pub(super) character: Character,
    pub(super) clips: Vec<Clip>,
    shared: Arc<Vec<Clip>>,
    /// Blend spaces, with their names, clips and shapes.
    pub(super) spaces: Vec<(&'static str, Vec<u16>, BlendShape)>,
    pub(super) events: Vec<ClipEvents>,
    pub(super) motions: Vec<Option<RootMotion>>,
    pub(super) masks: Vec<Mask>,
}

/// A line of the gaits, which have events and motions, and a plane.
fn spaces() -> Vec<(&'static str, Vec<u16>, BlendShape)> {
    let line = BlendSpace1::new(&[0.0, 1.0, 3.0]).unwrap();
    let plane = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]].map(Vec2::from_array);
    let plane = BlendSpace2::new(&plane).unwrap();
    let made = MADE as u16;
    vec![
        (
            "line",
            vec![0, WALK as u16, RUN as u16],
            BlendShape::Line(line),
        ),
        (
            "plane",
            vec![0, WALK as u16, made, made + 1],
            BlendShape::Plane(plane),
        ),
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
            rest.rotation * glam::Quat::from_axis_angle(axis, rng.range(-0.8, 0.8))
        };
        let rotations = times_s.iter().map(|_| turn()).collect();
        let translations = times_s
            .iter()
            .map(|_| rest.translation + rng.vector(-0.2, 0.2));
        let translations = translations.collect();
        let interpolation = Interpolation::Linear;
        let track = |values| Track {
            joint: JointId(joint as u16),
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

/// A straight path along +Z, at this speed.
fn straight(character: &Character, clip: &Clip, speed: f64) -> RootMotion {
    let duration_s = clip.duration_s() as f32;
    let values = [0.0, duration_s * speed as f32].map(|z| Vec3::new(0.0, 0.0, z));
    let keys = Keys {
        times_s: vec![0.0, duration_s],
        values: values.into(),
        interpolation: Interpolation::Linear,
    };
    let track = Track {
        joint: JointId(0),
        values: TrackValues::Translation(keys),
    };
    let clip = CurveClip::new("way", vec![track], character.skeleton()).unwrap();
    RootMotion::extract(character, &clip, &RootMotionOptions::default())
        .unwrap()
        .1
}

/// Up to five events, some at the clip's start and end.
fn events(duration_s: f64, rng: &mut Rng) -> ClipEvents {
    let list = (0..rng.below(6)).map(|number| {
        let time_s = match rng.below(4) {
            0 => 0.0,
            1 => duration_s,
            _ => duration_s * f64::from(rng.range(0.0, 1.0)),
        };
        (format!("event {number}"), time_s)
    });
    ClipEvents::new(duration_s, list.collect::<Vec<_>>()).unwrap()
}

impl World {
    fn new() -> Self {
        let options = crate::import::ImportOptions::curves_only();
        let character = crate::builtin::mannequin_with(&options).unwrap().character;
        let mut rng = Rng::new(77);
        let options = ClipOptions::default();
        let pack = |curves: &CurveClip| Clip::new(&character, curves, &options).unwrap();
        let mut clips: Vec<Clip> = character.curves().iter().map(pack).collect();
        assert_eq!([WALK, RUN].map(|clip| clips[clip].name()), ["Walk", "Run"]);
        assert_eq!(clips.len(), ADDITIVE);
        let first = AdditiveReference::Frame { time_s: 0.0 };
        let wave = character.curves().last().unwrap();
        let additive = Clip::additive(&character, wave, &first, &options).unwrap();
        clips.push(additive.with_name("Wave added"));
        for (name, duration_s) in MADE_CLIPS {
            let curves = made_clip(&character, name, duration_s as f32, &mut rng);
            clips.push(pack(&curves));
        }
        let events = clips
            .iter()
            .map(|clip| events(clip.duration_s(), &mut rng))
            .collect();
        let mut motions = vec![None; clips.len()];
        motions[WALK] = Some(straight(&character, &clips[WALK], WALK_SPEED));
        motions[RUN] = Some(straight(&character, &clips[RUN], RUN_SPEED));
        let skeleton = character.skeleton();
        let upper = Mask::none(skeleton)
            .with_subtree(skeleton, "Chest", 1.0)
            .unwrap();
        let some = (0..skeleton.len()).map(|_| match rng.below(4) {
            0 => 0.0,
            1 => 1.0,
            _ => rng.range(0.0, 1.0),
        });
        let some = Mask::from_weights(some.collect()).unwrap();
        Self {
            shared: Arc::new(clips.clone()),
            spaces: spaces(),
            clips,
            events,
            motions,
            masks: vec![upper, some],
            character,
        }
    }

    pub(super) fn joints(&self) -> usize {
        self.character.skeleton().len()
    }

    pub(super) fn name(&self, clip: usize) -> &str {
        self.clips[clip].name()
    }

    /// The rest pose.
    pub(super) fn rest(&self) -> Vec<Transform> {
        let joints = self.character.skeleton().joints();
        joints.iter().map(|joint| joint.rest).collect()
    }

    pub(super) fn library(&self, machine: Option<StateMachine>) -> Library {
        let clips = self
            .events
            .iter()
            .cloned()
            .zip(self.motions.iter().cloned());
        let mut set = AnimationSet::made(self.masks.clone(), &MASKS, clips);
        let masks: Vec<MaskId> = machine
            .iter()
            .flat_map(|machine| machine.masks())
            .map(|mask| {
                let at = self.masks.iter().position(|own| own == mask);
                MaskId(at.unwrap() as u16)
            })
            .collect();
        set.set_machine(machine, &masks);
        for (name, clips, shape) in &self.spaces {
            set.push_blend_space(name, clips, shape.clone());
        }
        Library {
            clips: Arc::clone(&self.shared),
            set: Arc::new(set),
            ..Library::new(&self.character)
        }
    }

    pub(super) fn animator(&self) -> Animator {
        self.animator_with(None, &AnimatorDesc::default())
    }

    pub(super) fn animator_with(
        &self,
        machine: Option<StateMachine>,
        desc: &AnimatorDesc,
    ) -> Animator {
        Animator::with_library(&self.character, self.library(machine), desc).unwrap()
    }
}
