//! Components that entities lose: they are as if they never had them.

use super::people::{FADE_S, People, Wishes, WishesItem, play};
use super::spawn::Refused;
use crate::components::{
    AttachedTo, HiddenParts, MaterialVariant, Parameters, Plays, RootMotion, SecondTint, TimeScale,
    Tint, UserData,
};
use crate::state::{State, Throng};
use bevy::camera::visibility::RenderLayers;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use bevy::light::NotShadowCaster;
use throng::InstanceId;
use throng::animator::{Playing, RootMotionMode};

/// The components that entities lost.
#[derive(SystemParam)]
pub(crate) struct Lost<'w, 's> {
    plays: RemovedComponents<'w, 's, Plays>,
    machines: RemovedComponents<'w, 's, Parameters>,
    scales: RemovedComponents<'w, 's, TimeScale>,
    walks: RemovedComponents<'w, 's, RootMotion>,
    parents: RemovedComponents<'w, 's, ChildOf>,
    attached: RemovedComponents<'w, 's, AttachedTo>,
    layers: RemovedComponents<'w, 's, RenderLayers>,
    casts_not: RemovedComponents<'w, 's, NotShadowCaster>,
    tints: RemovedComponents<'w, 's, Tint>,
    second_tints: RemovedComponents<'w, 's, SecondTint>,
    words: RemovedComponents<'w, 's, UserData>,
    hidden: RemovedComponents<'w, 's, HiddenParts>,
    variants: RemovedComponents<'w, 's, MaterialVariant>,
}

/// Undoes what entities lost. A component that was removed and inserted again is not lost.
///
/// Removals are known for two frames, in which there may be no step of the game. So this runs
/// before each step, and in each frame.
pub(crate) fn end(
    mut lost: Lost,
    all: Query<Wishes>,
    refused: Query<(), With<Refused>>,
    throng: Res<Throng>,
    mut commands: Commands,
) {
    let mut state = throng.state();
    let State {
        crowd, instances, ..
    } = &mut *state;
    let Some(crowd) = crowd else { return };
    let mut people = People::of(crowd);
    let mut find = Find {
        instances,
        all: &all,
        refused: &refused,
        commands: &mut commands,
    };
    for (it, id) in find.lost(&mut lost.plays, |it| it.plays.is_some()) {
        people.change(&Some(it.name), id, |it| play(it, &[]));
    }
    for (it, id) in find.lost(&mut lost.machines, |it| it.machine) {
        let plays = it.plays.map_or(&[][..], |plays| &plays.0);
        people.change(&Some(it.name), id, |it| {
            let is_on = |now: Playing| now.by_state_machine && now.to_weight > 0.0;
            let ran = it.playing().any(is_on);
            it.stop_state_machine(FADE_S)?;
            // The machine kept these away.
            match ran {
                true => play(it, plays),
                false => Ok(()),
            }
        });
    }
    for (it, id) in find.lost(&mut lost.scales, |it| it.scale.is_some()) {
        people.change(&Some(it.name), id, |it| it.set_time_scale(1.0));
    }
    let walks = find.lost(&mut lost.walks, |_| false).into_iter();
    for (has, id) in walks.chain(find.lost(&mut lost.parents, |_| false)) {
        let (mode, own) = (has.root_motion(), has.place());
        let is_free = mode == RootMotionMode::Apply && has.attached.is_none();
        people.change(&Some(has.name), id, |it| {
            it.set_root_motion(mode);
            // The world is its space from now on.
            match is_free {
                true => it.set_transform(&own),
                false => Ok(()),
            }
        });
    }
    for (has, id) in find.lost(&mut lost.attached, |it| it.attached.is_some()) {
        let place = has.place();
        people.change(&Some(has.name), id, |it| {
            it.detach();
            it.set_transform(&place)
        });
    }
    let layers = find.lost(&mut lost.layers, |_| false).into_iter();
    for (has, id) in layers.chain(find.lost(&mut lost.casts_not, |_| false)) {
        let mask = has.mask();
        people.change(&Some(has.name), id, |it| {
            it.set_view_mask(mask);
            Ok(())
        });
    }
    for (it, id) in find.lost(&mut lost.tints, |it| it.tint.is_some()) {
        people.change(&Some(it.name), id, |it| it.set_tint([1.0; 4]));
    }
    for (it, id) in find.lost(&mut lost.second_tints, |it| it.second_tint.is_some()) {
        people.change(&Some(it.name), id, |it| it.set_second_tint([1.0; 3]));
    }
    for (it, id) in find.lost(&mut lost.words, |it| it.user.is_some()) {
        people.change(&Some(it.name), id, |it| {
            it.set_user_data(0);
            Ok(())
        });
    }
    for (it, id) in find.lost(&mut lost.hidden, |it| it.hidden.is_some()) {
        people.hide(&Some(it.name), id, &[]);
    }
    for (it, id) in find.lost(&mut lost.variants, |it| it.variant.is_some()) {
        people.change(&Some(it.name), id, |it| it.set_variant(None));
    }
}

struct Find<'a, 'w, 's, 'cw, 'cs> {
    instances: &'a EntityHashMap<InstanceId>,
    all: &'a Query<'w, 's, Wishes>,
    refused: &'a Query<'w, 's, (), With<Refused>>,
    commands: &'a mut Commands<'cw, 'cs>,
}

impl<'a> Find<'a, '_, '_, '_, '_> {
    /// Entities with an instance that lost a component, unless they have it again. Refused ones are
    /// tried again.
    fn lost<C: Component>(
        &mut self,
        lost: &mut RemovedComponents<C>,
        has: impl Fn(&WishesItem<'_, '_>) -> bool,
    ) -> Vec<(WishesItem<'a, 'a>, InstanceId)> {
        let lost = lost.read().filter_map(|entity| {
            if self.refused.contains(entity) {
                self.commands.entity(entity).try_remove::<Refused>();
            }
            let id = *self.instances.get(&entity)?;
            let it = self.all.get(entity).ok().filter(|it| !has(it))?;
            Some((it, id))
        });
        lost.collect()
    }
}
