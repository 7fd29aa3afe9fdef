//! The character, the crowd, and the activities of its instances.

use crate::Outcome;
use throng::animator::{ActorId, Animator};
use throng::character::Character;
use throng::glam::Vec3;
use throng::gpu::{Device, MemoryAllocator};
use throng::ik::{TwoBone, TwoBoneTarget};
use throng::state_machine::ParameterDesc;
use throng::{
    Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, Id, IkSolver, IkTarget, InstanceId,
    Play, SkinningStage, Spawn,
};

/// Duration of the cross-fade of [`Kind::Fade`] in seconds, longer than any run.
const FADE_S: f32 = 3600.0;
/// One of this many instances gets a new speed in each frame.
const CHANGE: usize = 100;
/// One of this many instances reaches for something.
const REACH: usize = 100;

/// The activity of the instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Each plays a clip.
    Clip,
    /// Each cross-fades two clips.
    Fade,
    /// Each has a state machine. One instance of [`CHANGE`] gets a new speed in each frame.
    StateMachine,
    /// As [`Kind::StateMachine`], with a two-bone target for one instance of [`REACH`].
    Reach,
    /// Each stays in the rest pose.
    Rest,
    /// Each plays a clip, or is at rest in a hand of the one before.
    Held,
    /// As [`Kind::Held`], and those that play a clip are moved in each frame.
    Carried,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] = [
        Self::Clip,
        Self::Fade,
        Self::StateMachine,
        Self::Reach,
        Self::Rest,
    ];
    /// The activities of the cases with culling.
    pub(crate) const CULLED: [Self; 5] = [
        Self::Rest,
        Self::Clip,
        Self::Fade,
        Self::Held,
        Self::Carried,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clip => "one clip",
            Self::Fade => "cross-fade",
            Self::StateMachine => "state machine",
            Self::Reach => "state machine, IK on 1 %",
            Self::Rest => "at rest",
            Self::Held => "half in hands",
            Self::Carried => "half in hands, moved",
        }
    }

    fn is_driven(self) -> bool {
        matches!(self, Self::StateMachine | Self::Reach)
    }
}

/// True if an instance is attached to the one before it.
pub(crate) fn is_held(kind: Kind, number: usize) -> bool {
    matches!(kind, Kind::Held | Kind::Carried) && number % 2 == 1
}

/// The clips of the built-in character that instances play.
pub(crate) const CLIPS: [&str; 3] = ["Walk", "Run", "Idle"];

/// The first play of instance `number`, and the play of its fade.
pub(crate) fn plays<'a>(
    kind: Kind,
    clips: &'a [impl AsRef<str>],
    number: usize,
) -> (Play<'a>, Option<Play<'a>>) {
    let clip = |after: usize| Play::new(clips[(number + after) % clips.len()].as_ref());
    let offset_s = number as f64 * 0.137;
    let play = match kind {
        Kind::Held | Kind::Carried if is_held(kind, number) => Play::REST,
        Kind::Held | Kind::Carried | Kind::Clip | Kind::Fade => clip(0).offset_s(offset_s),
        Kind::StateMachine | Kind::Reach | Kind::Rest => Play::REST,
    };
    let fade = clip(1).offset_s(0.7 * offset_s).fade_s(FADE_S);
    (play, (kind == Kind::Fade).then_some(fade))
}

/// A crowd with one kind of activity.
pub(crate) struct Load {
    pub(crate) character: Character,
    pub(crate) crowd: Crowd,
    pub(crate) instances: Vec<InstanceId>,
    /// Actors that play the same, without inverse kinematics.
    pub(crate) animator: Animator,
    pub(crate) actors: Vec<ActorId>,
    kind: Kind,
    speed: Id<ParameterDesc>,
}

/// The built-in character with a state machine.
fn character() -> Outcome<Character> {
    let character = throng::builtin::mannequin()?.character;
    Ok(character.with_animation_toml("walker.toml", include_str!("walker.toml"))?)
}

impl Load {
    pub(crate) fn new(
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
        kind: Kind,
        count: u32,
    ) -> Outcome<Self> {
        let character = character()?;
        let machine = character.state_machine();
        let speed = machine.ok_or("no state machine")?.parameter("speed")?;
        let capacity = Capacity::new(1).with_character(
            &character,
            &CharacterDesc::default(),
            count,
            SkinningStage::Vertex,
        )?;
        let desc = CrowdDesc {
            frames_in_flight: 1,
            capacity,
            ..CrowdDesc::default()
        };
        let mut crowd = Crowd::new(device, allocator, &desc)?;
        let id = crowd.add_character(allocator, &character, &CharacterDesc::default())?;
        let mut load = Self {
            instances: Vec::new(),
            animator: Animator::new(&character)?,
            actors: Vec::new(),
            character,
            crowd,
            kind,
            speed,
        };
        load.spawn(id, count)?;
        Ok(load)
    }

    fn spawn(&mut self, id: CharacterId, count: u32) -> Outcome {
        let skeleton = self.character.skeleton();
        let [start, mid, end] =
            ["LeftUpperArm", "LeftLowerArm", "LeftHand"].map(|name| skeleton.joint(name));
        let arm = IkSolver::TwoBone(TwoBone {
            start: start?,
            mid: mid?,
            end: end?,
            hinge: None,
            soften: 1.0,
        });
        let arm = self.crowd.add_solver(id, arm)?;
        for number in 0..count as usize {
            let driven = self.kind.is_driven();
            let (play, fade) = plays(self.kind, &CLIPS, number);
            let spawn = Spawn {
                play,
                state_machine: driven,
                ..Spawn::default()
            };
            let instance = self.crowd.spawn(id, &spawn)?;
            let actor = if driven {
                self.animator.add_with_state_machine()?
            } else {
                self.animator.add(play)?
            };
            if let Some(fade) = fade {
                self.crowd.instance_mut(instance)?.play(fade)?;
                self.animator.actor_mut(actor)?.play(fade)?;
            }
            if self.kind == Kind::Reach && number % REACH == 0 {
                let target = TwoBoneTarget::at(Vec3::new(0.3, 1.2, 0.4));
                let target = IkTarget::TwoBone(target);
                self.crowd
                    .instance_mut(instance)?
                    .set_target(arm, target, 0.0)?;
            }
            if driven {
                let speed = [0.0, 1.4][number % 2];
                self.crowd
                    .instance_mut(instance)?
                    .set_parameter(self.speed, speed)?;
                self.animator
                    .actor_mut(actor)?
                    .set_parameter(self.speed, speed)?;
            }
            self.instances.push(instance);
            self.actors.push(actor);
        }
        Ok(())
    }

    /// Applies the inputs of the engine before frame number `frame`.
    pub(crate) fn change(&mut self, frame: usize) -> Outcome {
        if !self.kind.is_driven() {
            return Ok(());
        }
        let speed = [1.4, 0.0][frame / CHANGE % 2];
        let both = self.instances.iter().zip(&self.actors);
        for (id, actor) in both.skip(frame % CHANGE).step_by(CHANGE) {
            self.crowd
                .instance_mut(*id)?
                .set_parameter(self.speed, speed)?;
            self.animator
                .actor_mut(*actor)?
                .set_parameter(self.speed, speed)?;
        }
        Ok(())
    }
}
