//! A crowd shows the same palettes as the test's own animators with the same calls.
//!
//! The comparison is bit for bit, in every format.

mod random;
mod restore;
pub(crate) mod springs;
mod still;
mod told;

use crate::model::APART;
use crate::reference::handles::Handles;
use crate::reference::raws::{animation, linear};
use crate::reference::ribbon::{rest_palette, ribbon};
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::lists::{List, lists};
use crate::support::probe::{Output, Probe};
use crate::support::{Setup, described, placed, stages, view};
use std::collections::BTreeMap;
use throng::animator::{ActorId, Animator, IkSolver, Play};
use throng::character::{AnimationDesc, Character, ClipDesc, EventDesc, RootMotionDesc};
use throng::glam::{Affine3A, Vec3};
use throng::gpu::{GpuInstance, PosedBy};
use throng::ik::TwoBone;
use throng::import::{ImportOptions, RawChannel, RawCharacter, RawKeys};
use throng::palette::{
    DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset, SkinningMethod, WriteOnly,
};
use throng::state_machine::{
    LayerDesc, MaskBranchDesc, MaskDesc, Origin, ParameterDesc, ParameterKind, StateDesc,
    StateMachineDesc, TransitionDesc,
};
use throng::{Capacity, CharacterId, Crowd, Id, InstanceId, Stages, Stats};

pub(crate) const FRAMES_IN_FLIGHT: u32 = 3;
/// Number of joints and palette entries of a performer.
///
/// The rows of its palette are a multiple of three in any format, because the probe reads three at
/// a time.
const JOINTS: usize = 9;

fn channel(node: usize, values: RawKeys) -> RawChannel {
    linear(node, [0.0, 1.0], values)
}

/// The animation data of a performer beside its clips.
fn knowledge() -> AnimationDesc {
    let beat = |time_s| EventDesc {
        name: "beat".into(),
        time_s,
    };
    let way = |from: &str, to: &str, fade_s| TransitionDesc {
        when: vec!["go".parse().unwrap()],
        fade_s,
        ..TransitionDesc::new(Origin::from(from.to_owned()), to)
    };
    AnimationDesc {
        masks: vec![MaskDesc {
            name: "upper".into(),
            branches: vec![MaskBranchDesc {
                joint: "joint 5".into(),
                weight: 1.0,
                feather: 2,
            }],
        }],
        clips: vec![
            ClipDesc {
                name: "sway".into(),
                events: vec![beat(0.0), beat(0.5)],
                ..ClipDesc::default()
            },
            ClipDesc {
                name: "walk".into(),
                root_motion: Some(RootMotionDesc::default()),
                ..ClipDesc::default()
            },
        ],
        state_machine: Some(StateMachineDesc {
            parameters: vec![ParameterDesc {
                name: "go".into(),
                kind: ParameterKind::Trigger,
            }],
            masks: Vec::new(),
            layers: vec![LayerDesc {
                states: ["sway", "turn"]
                    .map(|name| StateDesc::clip(name, name))
                    .into(),
                transitions: vec![way("sway", "turn", 0.3), way("turn", "sway", 0.0)],
                ..LayerDesc::new("body", "sway")
            }],
        }),
        ..AnimationDesc::default()
    }
}

/// A ribbon that also walks one metre per second along +Z.
///
/// If it `stretches`, a clip scales its last joint unevenly.
fn raw(stretches: bool) -> RawCharacter {
    let mut raw = ribbon(JOINTS);
    raw.animations.push(animation(
        "walk",
        vec![channel(0, RawKeys::Translation(vec![Vec3::ZERO, Vec3::Z]))],
    ));
    if stretches {
        let scales = vec![Vec3::ONE, Vec3::new(0.7, 1.3, 0.9)];
        let scale = channel(JOINTS - 1, RawKeys::Scale(scales));
        raw.animations[0].channels.push(scale);
    }
    raw
}

pub(crate) fn performer(stretches: bool) -> Character {
    let options = ImportOptions {
        animation: Some(knowledge()),
        curves: true,
        ..ImportOptions::default()
    };
    raw(stretches).build(&options).unwrap().character
}

fn bits<E: PaletteEntry>(palette: &[E]) -> Vec<u32> {
    bytemuck::cast_slice(palette).to_vec()
}

fn of_actor<E: PaletteEntry>(animator: &mut Animator, actor: ActorId) -> Vec<u32> {
    let mut out = vec![E::zeroed(); JOINTS];
    let to = WriteOnly::from(&mut out);
    animator.palettes(&[actor], to).unwrap();
    bits(&out)
}

fn at_rest<E: PaletteEntry>(character: &Character) -> Vec<u32> {
    bits(&rest_palette::<E>(character))
}

/// A character of the crowd, and its own animator on one thread.
pub(crate) struct Kind {
    pub(crate) id: CharacterId,
    pub(crate) character: Character,
    pub(crate) animator: Animator,
    pub(crate) limb: Id<IkSolver>,
    of_actor: fn(&mut Animator, ActorId) -> Vec<u32>,
    rest: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(crate) struct Member {
    pub(crate) id: InstanceId,
    pub(crate) kind: usize,
    pub(crate) actor: ActorId,
}

/// A crowd with a character of every format, and the probe that reads their palettes.
pub(crate) struct World {
    pub(crate) crowd: Crowd,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) members: Vec<Member>,
    pub(crate) now_s: f64,
    /// True if frames are ahead of updates.
    pub(crate) goes_ahead: bool,
    /// The number of frames that were compared.
    looks: usize,
    frames_in_flight: FramesInFlight,
    probe: Probe,
    output: Output,
}

impl World {
    pub(crate) fn new(setup: &mut Setup, capacity: Capacity) -> Self {
        Self::with(setup, stages(), capacity)
    }

    pub(crate) fn with(setup: &mut Setup, stages: Stages, capacity: Capacity) -> Self {
        let mut world = Self::empty(setup, stages, capacity);
        world.add::<Mat3x4>(setup, SkinningMethod::Linear, false);
        world.add::<DualQuat>(setup, SkinningMethod::DualQuat, false);
        world.add::<DualQuatStretch>(setup, SkinningMethod::DualQuat, true);
        world.add::<QuatOffset>(setup, SkinningMethod::QuatOffset, false);
        world
    }

    fn empty(setup: &mut Setup, stages: Stages, capacity: Capacity) -> Self {
        let crowd = setup.crowd_with(stages, FRAMES_IN_FLIGHT, capacity);
        let set_0 = crowd.set_layout().handle();
        let probe = Probe::new(&setup.context, "test/crowd_probe.comp", set_0);
        Self {
            crowd,
            kinds: Vec::new(),
            members: Vec::new(),
            now_s: 0.0,
            goes_ahead: false,
            looks: 0,
            frames_in_flight: FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT),
            output: probe.output(&mut setup.context, 1 << 16),
            probe,
        }
    }

    /// A crowd with characters that have spring bones.
    pub(crate) fn swinging(setup: &mut Setup, capacity: Capacity) -> Self {
        let mut world = Self::empty(setup, stages(), capacity);
        let character = || springs::with_springs(&performer(false));
        world.add_made::<Mat3x4>(setup, SkinningMethod::Linear, character());
        world.add_made::<DualQuat>(setup, SkinningMethod::DualQuat, character());
        world
    }

    fn add<E: PaletteEntry>(&mut self, setup: &mut Setup, method: SkinningMethod, stretches: bool) {
        self.add_made::<E>(setup, method, performer(stretches));
    }

    fn add_made<E: PaletteEntry>(
        &mut self,
        setup: &mut Setup,
        method: SkinningMethod,
        character: Character,
    ) {
        assert_eq!(character.palette().len(), JOINTS);
        let desc = described(method, false);
        let id = setup.add_with(&mut self.crowd, &character, &desc);
        let mut animator = Animator::new(&character).unwrap();
        let limb = IkSolver::TwoBone(TwoBone {
            start: Id::new(2),
            mid: Id::new(4),
            end: Id::new(6),
            hinge: Some(Vec3::Z),
            soften: 0.05,
        });
        let solver = self.crowd.add_solver(id, limb.clone()).unwrap();
        assert_eq!(animator.add_solver(limb).unwrap(), solver);
        self.kinds.push(Kind {
            id,
            rest: at_rest::<E>(&character),
            character,
            animator,
            limb: solver,
            of_actor: of_actor::<E>,
        });
    }

    pub(crate) fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        self.probe.destroy(&setup.context);
        setup.destroy(self.crowd);
    }

    /// Spawns an instance, and adds an actor that plays the same clip.
    pub(crate) fn spawn(&mut self, kind: usize, play: Play<'_>) -> Member {
        let of = &mut self.kinds[kind];
        let spawn = placed(Affine3A::IDENTITY, play);
        let member = Member {
            id: self.crowd.spawn(of.id, &spawn).unwrap(),
            kind,
            actor: of.animator.add(play).unwrap(),
        };
        self.members.push(member);
        member
    }

    pub(crate) fn despawn(&mut self, id: InstanceId) {
        let at = self.members.iter().position(|member| member.id == id);
        let member = self.members.remove(at.unwrap());
        self.crowd.despawn(member.id).unwrap();
        let animator = &mut self.kinds[member.kind].animator;
        animator.remove(member.actor).unwrap();
    }

    /// Applies the same call to an instance and to its actor.
    pub(crate) fn both<R: PartialEq + std::fmt::Debug>(
        &mut self,
        member: Member,
        with_crowd: impl FnOnce(&mut Crowd, InstanceId) -> throng::Result<R>,
        with_animator: impl FnOnce(&mut Animator, ActorId) -> throng::Result<R>,
    ) {
        let told = with_crowd(&mut self.crowd, member.id);
        let animator = &mut self.kinds[member.kind].animator;
        assert_eq!(told, with_animator(animator, member.actor));
    }

    /// Updates the animators to the present time.
    fn update(&mut self) {
        for kind in &mut self.kinds {
            kind.animator.update(self.now_s).unwrap();
        }
    }

    /// Records a frame with `frame_index`, and compares every palette that a view shows.
    ///
    /// If it [goes ahead](Self::goes_ahead), some frames are ahead of the update before them, and
    /// the next ones go back.
    pub(crate) fn look(&mut self, setup: &mut Setup, frame_index: u32) -> Stats {
        self.update();
        let ahead_s = match self.goes_ahead {
            true => [0.0, 0.02, 0.0, 0.3, 0.05][self.looks % 5],
            false => 0.0,
        };
        self.looks += 1;
        for kind in &mut self.kinds {
            kind.animator.show_at(self.now_s + ahead_s).unwrap();
        }
        let cmd = self.frames_in_flight.begin(&setup.context, frame_index);
        let context = &mut setup.context;
        self.crowd.update(self.now_s).unwrap();
        let begun = unsafe {
            let allocator = &mut context.allocator();
            let shown_s = self.now_s + ahead_s;
            self.crowd.begin_frame(allocator, frame_index, shown_s)
        };
        let mut frame = begun.unwrap();
        let camera = view(Vec3::new(0.0, 4.0, 20.0), Vec3::Y * 4.0, EXTENT);
        let views = unsafe { frame.record_prepare(cmd, &[camera]) }.unwrap();
        let mut parts = Vec::new();
        let mut word = 0;
        for kind in &self.kinds {
            // The probe reads three rows at a time.
            let threes = kind.rest.len() / 12;
            let all = frame.instances_of(kind.id).unwrap().len();
            let lists = lists(&frame, views[0], kind.id, all);
            let lists = lists.into_iter().map(|list| {
                let at = word;
                let on = (&self.probe, &self.output);
                list.record((&context.device, cmd), on, threes, at);
                word += list.words(threes);
                (at, list)
            });
            parts.push(lists.collect());
        }
        let stats = frame.stats();
        Probe::finish(&context.device, cmd);
        self.frames_in_flight.submit(context, frame_index);
        self.frames_in_flight.wait(context, frame_index);
        let words = self.output.words();
        self.compare(&words, &parts);
        stats
    }

    fn compare(&mut self, words: &[u32], parts: &[Vec<(usize, List)>]) {
        for (number, lists) in parts.iter().enumerate() {
            let kind = &mut self.kinds[number];
            let threes = kind.rest.len() / 12;
            let seen = lists
                .iter()
                .flat_map(|(at, list)| list.read(words, threes, *at));
            let seen: Vec<&[u32]> = seen.collect();
            let count = seen.len();
            let seen: BTreeMap<u32, &[u32]> =
                seen.into_iter().map(|words| (words[0], words)).collect();
            let members = self.members.iter().filter(|member| member.kind == number);
            let shown = members.filter(|member| self.crowd.live(member.id).is_visible());
            let shown: Vec<_> = shown.collect();
            assert_eq!((seen.len(), count), (shown.len(), shown.len()));
            for member in shown {
                let words = seen[&self.crowd.live(member.id).table_index()];
                let in_ring = words[30] == GpuInstance::NONE;
                let rests = kind.animator.live(member.actor).records().is_empty();
                assert!(in_ring || rests, "what plays is in the ring");
                let want = if in_ring {
                    (kind.of_actor)(&mut kind.animator, member.actor)
                } else {
                    kind.rest.clone()
                };
                let on_gpu = self.crowd.posed_by(member.id) == Ok(PosedBy::Gpu);
                assert!(
                    words[33..] == want || on_gpu && near(&words[33..], &want),
                    "kind {number}, {:?} at {}",
                    member.id,
                    self.now_s
                );
            }
        }
    }
}

/// True if a palette that the GPU computed is that of the CPU, except for rounding: see
/// [`crate::model::APART`].
fn near(seen: &[u32], wanted: &[u32]) -> bool {
    let [seen, wanted] = [seen, wanted].map(|words| words.iter().map(|bits| f32::from_bits(*bits)));
    let most = wanted
        .clone()
        .fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let apart = seen.zip(wanted).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, f32::max) <= APART * most
}
