//! The wishes of entities, and changes of their instances.

use crate::components::{
    AttachedTo, Character3d, HiddenParts, Instance, MaterialVariant, Parameters, Plays, RootMotion,
    SecondTint, TimeScale, Tint, UserData,
};
use crate::convert::{SHADOW_SHIFT, affine, layers, placement, thick_transform};
use crate::said::Faults;
use bevy::camera::visibility::{InheritedVisibility, RenderLayers};
use bevy::ecs::name::{NameOrEntity, NameOrEntityItem};
use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryData;
use bevy::light::NotShadowCaster;
use bevy::transform::components::{GlobalTransform, Transform};
use log::Level;
use std::borrow::Cow;
use throng::animator::RootMotionMode;
use throng::glam::Affine3A;
use throng::{Attachment, Error, InstanceId, Play};
use throng_wgpu::Crowd;

/// The components of an entity, which say how its instance is.
#[derive(QueryData)]
pub(crate) struct Wishes {
    pub(super) entity: Entity,
    pub(super) name: NameOrEntity,
    pub(super) character: &'static Character3d,
    pub(super) transform: &'static GlobalTransform,
    pub(super) own: &'static Transform,
    pub(super) visibility: &'static InheritedVisibility,
    pub(super) layers: Option<&'static RenderLayers>,
    pub(super) casts_not: Has<NotShadowCaster>,
    pub(super) plays: Option<&'static Plays>,
    pub(super) hidden: Option<&'static HiddenParts>,
    pub(super) variant: Option<&'static MaterialVariant>,
    pub(super) tint: Option<&'static Tint>,
    pub(super) second_tint: Option<&'static SecondTint>,
    pub(super) user: Option<&'static UserData>,
    pub(super) scale: Option<&'static TimeScale>,
    has_root_motion: Has<RootMotion>,
    has_parent: Has<ChildOf>,
    pub(super) attached: Option<&'static AttachedTo>,
    pub(super) machine: Has<Parameters>,
}

/// An entity with a parent does not walk.
pub(super) fn root_motion(has_it: bool, has_parent: bool) -> RootMotionMode {
    match has_it && !has_parent {
        true => RootMotionMode::Apply,
        false => RootMotionMode::Ignore,
    }
}

impl WishesItem<'_, '_> {
    pub(super) fn root_motion(&self) -> RootMotionMode {
        root_motion(self.has_root_motion, self.has_parent)
    }

    /// Its place, until the crowd itself moves it.
    pub(super) fn place(&self) -> Affine3A {
        let walks = self.root_motion() == RootMotionMode::Apply && self.attached.is_none();
        match walks {
            true => affine(&GlobalTransform::from(thick_transform(*self.own))),
            false => placement(self.transform),
        }
    }

    pub(super) fn mask(&self) -> u32 {
        let layers = layers(self.layers);
        match self.casts_not {
            true => layers,
            false => layers | layers << SHADOW_SHIFT,
        }
    }
}

/// The instances of which a component changed.
pub(crate) type Changes<'w, 's, C> =
    Query<'w, 's, (NameOrEntity, &'static Instance, &'static C), Changed<C>>;

pub(super) fn attachment(parent: InstanceId, to: &AttachedTo) -> Attachment<'_> {
    let at = placement(&GlobalTransform::from(to.at));
    Attachment {
        // Its entity lives on.
        outlives_parent: true,
        ..Attachment::new(parent, &*to.socket).at(at)
    }
}

pub(super) type One<'a> = throng::Instance<&'a mut throng::Crowd>;

type Name<'a> = Option<NameOrEntityItem<'a, 'a>>;

/// A layer fades out in this time if nothing plays on it any more.
pub(super) const FADE_S: f32 = 0.2;

/// Plays these. Other layers fade out, except those of a state machine.
pub(super) fn play(it: &mut One<'_>, plays: &[Play<'static>]) -> throng::Result<()> {
    let now: Vec<_> = it.playing().collect();
    plays.iter().try_for_each(|play| it.play(*play))?;
    let fades = |layer| plays.iter().all(|play| play.layer != layer);
    let mut ended = now
        .iter()
        .filter(|now| !now.by_state_machine && now.to_weight > 0.0 && fades(now.layer));
    ended.try_for_each(|now| it.stop(now.layer, FADE_S))
}

/// Plays those on layers on which nothing plays.
pub(super) fn play_missing(it: &mut One<'_>, plays: &[Play<'static>]) -> throng::Result<()> {
    let layers: Vec<_> = it.playing().map(|now| now.layer).collect();
    let mut missing = plays.iter().filter(|play| !layers.contains(&play.layer));
    missing.try_for_each(|play| it.play(*play))
}

/// The instances of entities, and what they refused in a run of a system.
pub(super) struct People<'a> {
    pub(super) crowd: &'a mut Crowd,
    pub(super) faults: Faults,
}

impl<'a> People<'a> {
    pub(super) fn of(crowd: &'a mut Crowd) -> Self {
        let faults = Faults::default();
        Self { crowd, faults }
    }

    /// Changes an instance. Returns false if that is refused, which is logged.
    pub(super) fn change(
        &mut self,
        name: &Name<'_>,
        id: InstanceId,
        change: impl FnOnce(&mut One<'_>) -> throng::Result<()>,
    ) -> bool {
        let changed = self.crowd.instance_mut(id);
        let result = changed.and_then(|mut it| Ok(change(&mut it)?));
        let is_done = result.is_ok();
        self.note(name, result);
        is_done
    }

    /// Hides these parts of an instance and no others.
    pub(super) fn hide(&mut self, name: &Name<'_>, id: InstanceId, hidden: &[Cow<'static, str>]) {
        let mut hide = || {
            let character = self.crowd.instance(id)?.character();
            let parts = self.crowd.character(character)?.parts();
            let parts: Vec<_> = parts.map(|(part, _)| part).collect();
            let mut it = self.crowd.instance_mut(id)?;
            for part in parts {
                it.set_part_visible(part, true)?;
            }
            // Those that it lacks are refused, and all others hidden.
            let hidden = hidden
                .iter()
                .map(|part| it.set_part_visible(&**part, false));
            Ok(hidden.fold(Ok(()), throng::Result::and)?)
        };
        let result = hide();
        self.note(name, result);
    }

    fn note(&mut self, name: &Name<'_>, result: Result<(), throng_wgpu::Error>) {
        match (result, name) {
            // It was despawned in the meantime.
            (Ok(()) | Err(throng_wgpu::Error::Throng(Error::Stale { .. })), _) => {}
            (Err(why), Some(name)) => self.faults.add(Level::Warn, "", name, &why),
            (Err(why), None) => {
                let who = "an instance without an entity";
                self.faults.add(Level::Warn, "", &who, &why);
            }
        }
    }
}
