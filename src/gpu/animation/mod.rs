//! Animation on the GPU: the tables of a character, and what its actors play.
//!
//! - `time`: time in integers, as shaders compute it.
//! - `play`: play records as shaders read them; `plays` makes them from those of actors.
//! - `tables`: skeleton, palette, masks and clips as words.
//! - `curves`, `weights`: curves and morph weights of clips among them, over `words`.
//! - `buffer`: these in a buffer.

use super::constants;
use crate::character::Character;
use crate::mesh::AlphaMode;

mod buffer;
mod curves;
mod play;
mod plays;
mod tables;
mod time;
mod weights;
mod words;

pub(crate) use buffer::AnimateVariant;
pub use buffer::AnimationTables;
pub use play::GpuPlay;
pub(crate) use time::{GpuTime, words};
pub(crate) use words::span;

/// The most clips that shaders blend.
pub(crate) const MAX_PLAYS: usize = constants::PLAYS as usize;

/// The sizes of skeletons that pipelines are made for, in joints. A joint takes 52 bytes of shared
/// memory, of which every device has 16 KiB.
pub(crate) const JOINT_CLASSES: [u32; 3] = [64, 128, 300];

/// The most joints of a skeleton whose poses shaders compute.
pub(crate) const MAX_JOINTS: u32 = JOINT_CLASSES[JOINT_CLASSES.len() - 1];

/// The processor that can compute the poses of an actor.
///
/// [`Crowd::posed_by`](crate::Crowd::posed_by) says it of an instance, and
/// [`Animator::gpu_plays`](crate::animator::Animator::gpu_plays) of an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PosedBy {
    /// Shaders can, see [`GpuPlay`].
    Gpu,
    /// Only the CPU can, for this reason.
    Cpu(CpuReason),
}

/// Why shaders cannot compute the poses of an actor: the reason in [`PosedBy::Cpu`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CpuReason {
    /// The caller's choice, or a software device. See
    /// [`Stages::Gpu`](crate::crowd::Stages::Gpu).
    Chosen,
    /// It is in its rest pose, which takes no work.
    Rest,
    /// Its character has blended materials. The CPU decides which of its instances are drawn.
    Blended,
    /// Its vertices are deformed on the CPU: see [`SkinningStage`](crate::crowd::SkinningStage).
    ///
    /// Or the GPU deforms them, and the character has more than 65,535 instances, or primitives of
    /// more than eight kinds.
    SkinningStage,
    /// The crowd has no more memory for records of what instances play, or this frame has none
    /// for their upload. Then it ends with the frame. An instance that the GPU posed until now goes
    /// on with what it played before.
    Memory,
    /// The skeleton has more than 300 joints.
    Joints,
    /// It has targets of inverse kinematics.
    InverseKinematics,
    /// Its spring bones are on.
    Springs,
    /// It shows a pose that the caller gave.
    OwnPose,
    /// Decaying offsets after an inertialised transition. It ends with them.
    Inertialisation,
    /// It plays more than eight clips with a weight.
    Plays,
    /// The speed of a clip that plays once is changing, or that of another one changes over more
    /// than eight seconds of the clip. It ends with the change.
    SpeedChange,
    /// A time is more than 2²⁹ seconds from the epoch, or a clip runs more than 2³⁰ times a second.
    Range,
}

impl CpuReason {
    /// Why all instances of a character are posed on the CPU, if that is so in every crowd.
    ///
    /// Spring bones can be switched off: see [`Actor::set_springs`](crate::Actor::set_springs).
    ///
    /// ```
    /// use throng::gpu::CpuReason;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// assert_eq!(CpuReason::of_character(&character), None);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn of_character(character: &Character) -> Option<Self> {
        let used = character.primitives().iter().map(|it| it.material as usize);
        let mut used = used.filter_map(|number| character.materials().get(number));
        if used.any(|material| material.alpha == AlphaMode::Blend) {
            Some(Self::Blended)
        } else if character.skeleton().len() > MAX_JOINTS as usize {
            Some(Self::Joints)
        } else if !character.springs().chains.is_empty() {
            Some(Self::Springs)
        } else {
            None
        }
    }
}

impl core::fmt::Display for CpuReason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Chosen => "the stage animate of the crowd runs on the CPU",
            Self::Rest => "the rest pose",
            Self::Blended => "blended materials",
            Self::SkinningStage => "vertices that are deformed on the CPU",
            Self::Memory => "no memory for play records",
            Self::Joints => "the skeleton has more than 300 joints",
            Self::InverseKinematics => "inverse kinematics",
            Self::Springs => "spring bones",
            Self::OwnPose => "a pose of the caller's own",
            Self::Inertialisation => "an inertialised transition",
            Self::Plays => "more than eight clips at once",
            Self::SpeedChange => "a change of speed",
            Self::Range => "a time or speed out of range",
        })
    }
}
