//! The draws, in Bevy's passes.

use super::light::{Groups, Lit, Sources};
use super::passes::{Key, Passes};
use super::views::Prepared;
use crate::said::log_seldom;
use crate::state::Throng;
use bevy::core_pipeline::prepass::{DepthPrepass, MotionVectorPrepass, ViewPrepassTextures};
use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryData;
use bevy::ecs::system::SystemParam;
use bevy::pbr::{ShadowView, ViewLightEntities};
use bevy::render::render_resource::StoreOp;
use bevy::render::renderer::{RenderContext, ViewQuery};
use bevy::render::view::{ExtractedView, Msaa, ViewDepthTexture, ViewTarget};
use log::Level;
use throng::ViewId;
use throng_wgpu::wgpu;
use throng_wgpu::{BindGroup, Crowd, Encoder, Error};

/// The state that all draws need.
#[derive(SystemParam)]
pub(super) struct Drawing<'w> {
    throng: Res<'w, Throng>,
    prepared: Res<'w, Prepared>,
    passes: ResMut<'w, Passes>,
}

impl Drawing<'_> {
    /// The id of a view of Bevy, if it is prepared.
    fn id(&self, view: &ExtractedView) -> Option<ViewId> {
        self.prepared.views.get(&view.retained_view_entity).copied()
    }
}

/// The components of a camera that all of its passes read.
#[derive(QueryData)]
pub(super) struct Attached {
    view: &'static ExtractedView,
    depth: &'static ViewDepthTexture,
    msaa: &'static Msaa,
    has_depth: Has<DepthPrepass>,
    moves: Has<MotionVectorPrepass>,
}

/// Draws depth, and motion vectors, before Bevy does.
pub(super) fn prepass(
    view: ViewQuery<(Attached, &ViewPrepassTextures)>,
    mut drawing: Drawing,
    mut context: RenderContext,
) {
    let (it, textures) = view.into_inner();
    let Some(id) = drawing.id(it.view) else {
        return;
    };
    if !it.has_depth && !it.moves {
        return;
    }
    let moves = it.moves && textures.motion_vectors.is_some();
    let key = Key::Prepass {
        moves,
        samples: it.msaa.samples(),
    };
    let Some(ready) = drawing.passes.get(key) else {
        return;
    };
    let color = textures.motion_vectors.as_ref().filter(|_| moves);
    record(&drawing.throng, &mut context, |crowd, encoder| {
        let frame = crowd.resume_frame()?;
        let colors = color.map(|it| Some(it.get_attachment()));
        let colors: Vec<_> = colors.into_iter().collect();
        // From here on, Bevy does not clear them.
        let desc = wgpu::RenderPassDescriptor {
            label: Some("throng prepass"),
            color_attachments: &colors,
            depth_stencil_attachment: Some(it.depth.get_attachment(StoreOp::Store)),
            ..Default::default()
        };
        let drawn = frame.draw(encoder, id, ready.pass, &desc);
        drawn.inspect_err(|_| drop(encoder.begin_render_pass(&desc)))
    });
}

/// Draws the people who cast shadows into the maps of the suns of a camera.
pub(super) fn suns(
    view: ViewQuery<&ViewLightEntities>,
    maps: Query<(&ShadowView, &ExtractedView)>,
    mut drawing: Drawing,
    mut context: RenderContext,
) {
    let maps = view
        .into_inner()
        .lights
        .iter()
        .filter_map(|map| maps.get(*map).ok());
    cast(&mut drawing, &mut context, maps);
}

fn cast<'a>(
    drawing: &mut Drawing,
    context: &mut RenderContext,
    maps: impl IntoIterator<Item = (&'a ShadowView, &'a ExtractedView)>,
) {
    let maps = maps
        .into_iter()
        .filter_map(|(map, view)| Some((drawing.id(view)?, map)));
    let maps: Vec<(ViewId, &ShadowView)> = maps.collect();
    if maps.is_empty() {
        return;
    }
    let Some(ready) = drawing.passes.get(Key::Shadow) else {
        return;
    };
    record(&drawing.throng, context, |crowd, encoder| {
        let frame = crowd.resume_frame()?;
        maps.iter().try_for_each(|(id, map)| {
            let desc = wgpu::RenderPassDescriptor {
                label: Some("throng shadow"),
                depth_stencil_attachment: Some(map.depth_attachment.get_attachment(StoreOp::Store)),
                ..Default::default()
            };
            frame.draw(encoder, *id, ready.pass, &desc)
        })
    });
}

/// Draws the people who cast shadows into the map of a lamp, which all cameras share.
pub(super) fn lamps(
    view: ViewQuery<(&ShadowView, &ExtractedView)>,
    mut drawing: Drawing,
    mut context: RenderContext,
) {
    let (map, view) = view.into_inner();
    cast(&mut drawing, &mut context, [(map, view)]);
}

/// Draws the people into the picture, after Bevy's opaque meshes.
pub(super) fn main(
    view: ViewQuery<(Attached, &ViewTarget, Lit)>,
    mut drawing: Drawing,
    sources: Sources,
    mut groups: ResMut<Groups>,
    mut context: RenderContext,
) {
    let (it, target, lit) = view.into_inner();
    let Some(id) = drawing.id(it.view) else {
        return;
    };
    let key = Key::Main {
        format: target.main_texture_format(),
        samples: it.msaa.samples(),
        prepared: it.has_depth || it.moves,
        lights: lit.lights(),
    };
    let Some(ready) = drawing.passes.get(key) else {
        return;
    };
    let offsets = lit.offsets();
    record(&drawing.throng, &mut context, |crowd, encoder| {
        let gpu = crowd.gpu().clone();
        let Some(groups) = groups.of(&gpu, &ready.layouts, &lit, &sources)? else {
            return Ok(());
        };
        let mut offsets = core::iter::once(&*offsets).chain(core::iter::repeat(&[][..]));
        let bound = groups
            .iter()
            .map(|group| (group, offsets.next().unwrap_or(&[])));
        let bound: Vec<(&BindGroup, &[u32])> = bound.collect();
        let colors = [Some(target.get_color_attachment())];
        let desc = wgpu::RenderPassDescriptor {
            label: Some("throng"),
            color_attachments: &colors,
            depth_stencil_attachment: Some(it.depth.get_attachment(StoreOp::Store)),
            ..Default::default()
        };
        crowd
            .resume_frame()?
            .draw_with(encoder, id, ready.pass, &desc, &bound)
    });
}

/// Records draws, in their place among Bevy's own commands.
fn record(
    throng: &Throng,
    context: &mut RenderContext,
    draw: impl FnOnce(&mut Crowd, &mut Encoder) -> Result<(), Error>,
) {
    let mut state = throng.state();
    let Some(crowd) = &mut state.crowd else {
        return;
    };
    let mut encoder = Encoder::new(crowd.gpu());
    match draw(crowd, &mut encoder) {
        // A call of the program between the picture and its draws ended it.
        Ok(()) | Err(Error::NotPrepared) => {}
        Err(why) => log_seldom(Level::Error, &format!("a crowd is not drawn: {why}")),
    }
    // SAFETY: Bevy submits all command buffers of a system's context in their order, in one call,
    // to the queue of the device, or none if the device is lost.
    for commands in unsafe { encoder.into_command_buffers() } {
        context.add_command_buffer(commands);
    }
}
