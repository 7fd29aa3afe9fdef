//! The pictures: a frame of the crowd for each frame of Bevy, and its draws in Bevy's passes.

mod draw;
mod light;
mod passes;
mod shader;
mod views;

use crate::said::log_seldom;
use crate::state::{Change, Loaded, State, Throng, character_desc};
use crate::systems::ThrongRenderSystems;
use bevy::app::SubApp;
use bevy::asset::AssetServer;
use bevy::core_pipeline::core_3d::{main_opaque_pass_3d, main_transparent_pass_3d};
use bevy::core_pipeline::prepass::node::early_prepass;
use bevy::core_pipeline::{Core3d, Core3dSystems};
use bevy::ecs::prelude::*;
use bevy::pbr::{EARLY_SHADOW_PASS, per_view_shadow_pass, shared_shadow_pass};
use bevy::render::{Extract, ExtractSchedule, Render, RenderSystems};
use log::Level;
pub use shader::Shading;
use throng::character::Character;
use throng::{Capacity, CharacterId, ReplaceIssue};
use throng_wgpu::{Crowd, Error};

/// Adds the systems of this module to the render world.
pub(crate) fn build(render_app: &mut SubApp) {
    render_app
        .init_resource::<views::Prepared>()
        .init_resource::<passes::Passes>()
        .init_resource::<shader::Sources>()
        .init_resource::<light::Groups>()
        .add_systems(
            ExtractSchedule,
            (shader::extract, change, passes::create, views::prepare)
                .chain()
                .in_set(ThrongRenderSystems::Prepare),
        )
        .add_systems(Render, light::clean.in_set(RenderSystems::Cleanup))
        .add_systems(
            Core3d,
            (
                draw::prepass
                    .in_set(ThrongRenderSystems::Prepass)
                    .in_set(Core3dSystems::Prepass)
                    .before(early_prepass),
                draw::suns
                    .in_set(ThrongRenderSystems::Shadows)
                    .after(per_view_shadow_pass::<EARLY_SHADOW_PASS>)
                    .before(main_opaque_pass_3d),
                draw::lamps
                    .in_set(ThrongRenderSystems::Shadows)
                    .after(shared_shadow_pass::<EARLY_SHADOW_PASS>)
                    .before(main_opaque_pass_3d),
                draw::main
                    .in_set(ThrongRenderSystems::Draw)
                    .in_set(Core3dSystems::MainPass)
                    .after(main_opaque_pass_3d)
                    .before(main_transparent_pass_3d),
            ),
        );
}

/// Makes the changes that must not come between a picture and its draws.
fn change(throng: Res<Throng>, server: Extract<Option<Res<AssetServer>>>) {
    let state = &mut *throng.state();
    if state.crowd.is_none() {
        return;
    }
    state.replaced.clear();
    for change in core::mem::take(&mut state.changes) {
        let asset = change.asset();
        let name = || match server.as_ref().and_then(|server| server.get_path(asset)) {
            Some(path) => path.to_string(),
            None => format!("the character {asset}"),
        };
        match apply(state, change) {
            Ok(issues) => {
                for issue in issues {
                    log::warn!("{} was replaced: {issue}", name());
                }
            }
            Err(why) => log::error!("{} is not drawn as it is now: {why}", name()),
        }
    }
    if let Err(why) = state.grow() {
        log_seldom(Level::Error, &format!("no room for more characters: {why}"));
    }
}

/// Replaces a character. Its instances may need more room than before.
fn replace(
    crowd: &mut Crowd,
    id: CharacterId,
    character: &Character,
) -> Result<Vec<ReplaceIssue>, Error> {
    loop {
        let replaced = crowd.replace_character(id, character);
        let Err(Error::Throng(throng::Error::Capacity { what, asked, .. })) = &replaced else {
            return replaced;
        };
        let have = crowd.capacity();
        // The fault names the field that is too small.
        let grown = |field, have: u32| match what.contains(field) {
            true => u32::try_from(*asked).unwrap_or(u32::MAX).max(have),
            false => have,
        };
        let more = Capacity {
            palette_entries: grown("Capacity::palette_entries", have.palette_entries),
            morph_weights: grown("Capacity::morph_weights", have.morph_weights),
            blended: grown("Capacity::blended", have.blended),
            ..have
        };
        if more == have || crowd.reserve(&more).is_err() {
            return replaced;
        }
    }
}

/// Makes a change. Returns what a replaced character lacks.
fn apply(state: &mut State, change: Change) -> Result<Vec<ReplaceIssue>, Error> {
    let Some(crowd) = &mut state.crowd else {
        return Ok(Vec::new());
    };
    let mut issues = Vec::new();
    match change {
        Change::Put(asset, character) => match state.characters.get_mut(&asset) {
            Some(loaded) => {
                // The asset was removed and is there again.
                let is_removal =
                    |change: &Change| matches!(change, Change::Remove(of) if *of == asset);
                state.changes.retain(|change| !is_removal(change));
                issues = replace(crowd, loaded.id, &character)?;
                loaded.character = *character;
                state.replaced.push(asset);
            }
            None => {
                let id = crowd.add_character(&character, &character_desc())?;
                let character = *character;
                state.characters.insert(asset, Loaded { id, character });
            }
        },
        Change::Remove(asset) => {
            let Some(loaded) = state.characters.get(&asset) else {
                return Ok(issues);
            };
            if crowd.instances_of(loaded.id)?.len() > 0 {
                // Its last people are despawned first.
                state.changes.push(Change::Remove(asset));
                return Ok(issues);
            }
            crowd.remove_character(loaded.id)?;
            state.characters.remove(&asset);
        }
    }
    state.frees = throng::Crowd::MAX_FRAMES_IN_FLIGHT + 1;
    Ok(issues)
}
