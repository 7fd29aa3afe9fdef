//! The sets of systems, for programs that order their own.

#[cfg(doc)]
use crate::components::{AttachedTo, Follows, Parameters, Plays, RootMotion, TimeScale};
#[cfg(doc)]
use crate::step::CharacterEvent;
#[cfg(doc)]
use bevy::app::{FixedPostUpdate, PostUpdate};
#[cfg(doc)]
use bevy::core_pipeline::Core3d;
use bevy::ecs::schedule::SystemSet;
#[cfg(doc)]
use bevy::render::ExtractSchedule;

/// The systems of throng.
///
/// In [`FixedPostUpdate`], what entities do is handed to the crowd, which then makes its step. The
/// sets in [`PostUpdate`] place what [`Follows`], before transforms are
/// propagated, and hand over places and looks afterwards.
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
pub enum ThrongSystems {
    /// In [`FixedPostUpdate`]: [`Plays`], [`Parameters`], [`TimeScale`], [`AttachedTo`] and the
    /// transforms of those with [`RootMotion`].
    Act,
    /// In [`FixedPostUpdate`]: the step of the crowd, and its [events](CharacterEvent).
    Step,
    /// In [`PostUpdate`]: despawns, and [`Follows`].
    Follow,
    /// In [`PostUpdate`]: spawns, transforms and looks.
    Show,
}

/// The systems of throng in the render world, for programs that draw there, too.
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
pub enum ThrongRenderSystems {
    /// In [`ExtractSchedule`]: changed characters, pipelines, and the commands that cull and pose.
    Prepare,
    /// In [`Core3d`]: depth and motion vectors, before Bevy's prepass.
    Prepass,
    /// In [`Core3d`]: the shadow maps, after Bevy's.
    Shadows,
    /// In [`Core3d`]: the people, after Bevy's opaque meshes.
    Draw,
}
