//! Entities to instances, in the main world: `spawn` makes and drops them, `act` hands over what
//! they do before each step of the game, and `show` how they look before each picture.

mod act;
mod show;
mod spawn;

pub(crate) use act::act;
pub(crate) use show::show;
pub(crate) use spawn::{despawn, follow_assets, spawn};

use crate::components::{
    AttachedTo, Character3d, HiddenParts, Instance, MaterialVariant, Parameters, Plays, RootMotion,
    SecondTint, TimeScale, Tint, UserData,
};
use crate::said::Faults;
use bevy::camera::visibility::{InheritedVisibility, RenderLayers};
use bevy::ecs::name::{NameOrEntity, NameOrEntityItem};
use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryData;
use bevy::light::NotShadowCaster;
use bevy::transform::components::{GlobalTransform, Transform};
use log::Level;
use std::borrow::Cow;
use throng::glam::{Affine3A, Mat3A, Vec3A};
use throng::{Attachment, Error, InstanceId};
use throng_wgpu::Crowd;

/// Of the bits of a view mask, those for shadows are above those for cameras.
pub(crate) const SHADOW_SHIFT: u32 = 16;

/// The first 16 render layers.
pub(crate) fn layers(layers: Option<&RenderLayers>) -> u32 {
    let all = layers.map_or(1, |layers| layers.bits().first().copied().unwrap_or(0));
    (all & 0xFFFF) as u32
}

/// Matrices of Bevy and of throng may be of two versions of glam.
pub(crate) fn affine(transform: &GlobalTransform) -> Affine3A {
    let affine = transform.affine();
    let [x, y, z] = [
        affine.matrix3.x_axis,
        affine.matrix3.y_axis,
        affine.matrix3.z_axis,
    ]
    .map(|axis| Vec3A::from_array(axis.to_array()));
    Affine3A {
        matrix3: Mat3A::from_cols(x, y, z),
        translation: Vec3A::from_array(affine.translation.to_array()),
    }
}

pub(crate) fn transform(affine: &Affine3A) -> Transform {
    let columns = throng::glam::Mat4::from(*affine).to_cols_array();
    Transform::from_matrix(bevy::math::Mat4::from_cols_array(&columns))
}

/// The components of an entity, which say how its instance is.
#[derive(QueryData)]
pub(crate) struct Wishes {
    entity: Entity,
    name: NameOrEntity,
    character: &'static Character3d,
    transform: &'static GlobalTransform,
    visibility: &'static InheritedVisibility,
    layers: Option<&'static RenderLayers>,
    casts_not: Has<NotShadowCaster>,
    plays: Option<&'static Plays>,
    hidden: Option<&'static HiddenParts>,
    variant: Option<&'static MaterialVariant>,
    tint: Option<&'static Tint>,
    second_tint: Option<&'static SecondTint>,
    user: Option<&'static UserData>,
    scale: Option<&'static TimeScale>,
    walks: Has<RootMotion>,
    attached: Option<&'static AttachedTo>,
    machine: Has<Parameters>,
}

impl WishesItem<'_, '_> {
    fn mask(&self) -> u32 {
        let layers = layers(self.layers);
        match self.casts_not {
            true => layers,
            false => layers | layers << SHADOW_SHIFT,
        }
    }
}

/// The instances of which a component changed.
type Changes<'w, 's, C> = Query<'w, 's, (NameOrEntity, &'static Instance, &'static C), Changed<C>>;

fn attachment(parent: InstanceId, to: &AttachedTo) -> Attachment<'_> {
    let at = affine(&GlobalTransform::from(to.at));
    Attachment {
        // Its entity lives on.
        outlives_parent: true,
        ..Attachment::new(parent, &*to.socket).at(at)
    }
}

type One<'a> = throng::Instance<&'a mut throng::Crowd>;

type Name<'a> = Option<NameOrEntityItem<'a, 'a>>;

/// The instances of entities, and what they refused in a run of a system.
struct People<'a> {
    crowd: &'a mut Crowd,
    faults: Faults,
}

impl<'a> People<'a> {
    fn of(crowd: &'a mut Crowd) -> Self {
        let faults = Faults::default();
        Self { crowd, faults }
    }

    fn change(
        &mut self,
        name: &Name<'_>,
        id: InstanceId,
        change: impl FnOnce(&mut One<'_>) -> throng::Result<()>,
    ) {
        let changed = self.crowd.instance_mut(id);
        let result = changed.and_then(|mut it| Ok(change(&mut it)?));
        self.note(name, result);
    }

    /// Hides these parts of an instance and no others.
    fn hide(&mut self, name: &Name<'_>, id: InstanceId, hidden: &[Cow<'static, str>]) {
        let mut hide = || {
            let character = self.crowd.instance(id)?.character();
            let parts = self.crowd.character(character)?.parts();
            let parts: Vec<_> = parts.map(|(part, _)| part).collect();
            let mut it = self.crowd.instance_mut(id)?;
            for part in parts {
                it.set_part_visible(part, true)?;
            }
            for part in hidden {
                it.set_part_visible(&**part, false)?;
            }
            Ok(())
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
