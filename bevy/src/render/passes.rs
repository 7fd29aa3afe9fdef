//! The passes of the crowd: one for each combination of formats and shading that Bevy draws with.

use super::light::Lights;
use super::shader::{Shading, Sources, wgsl};
use crate::state::Throng;
use bevy::ecs::prelude::*;
use bevy::render::render_resource::TextureFormat;
use throng::{PassId, PassKind};
use throng_wgpu::wgpu;
use throng_wgpu::{BindGroupLayout, Crowd, Error, MaterialDesc, PassDesc};

/// The properties in which the pipelines of passes differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Depth, and motion vectors if they are asked for.
    Prepass { moves: bool, samples: u32 },
    /// A layer of a shadow map.
    Shadow,
    /// The picture. `prepared` is true if there was a prepass.
    Main {
        format: TextureFormat,
        samples: u32,
        prepared: bool,
        lights: Lights,
    },
}

/// A pass that is ready.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    pub(super) pass: PassId,
    /// The layouts of the groups of its shading.
    pub(super) layouts: Vec<BindGroupLayout>,
}

/// The passes, and those that the next frame creates.
#[derive(Resource, Default)]
pub(super) struct Passes {
    /// A pass that failed is `None`.
    ready: Vec<(Key, Option<Ready>)>,
    asked: Vec<Key>,
}

impl Passes {
    /// A pass, if it is ready. Otherwise, the next frame has it.
    pub(super) fn get(&mut self, key: Key) -> Option<Ready> {
        let ready = self.ready.iter().find(|(other, _)| *other == key);
        if ready.is_none() && !self.asked.contains(&key) {
            self.asked.push(key);
        }
        ready.and_then(|(_, ready)| ready.clone())
    }

    /// Forgets all passes, for another device or other shading.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = PassId> {
        self.asked.clear();
        let all = self.ready.drain(..).filter_map(|(_, ready)| ready);
        all.map(|ready| ready.pass).collect::<Vec<_>>().into_iter()
    }
}

/// Creates the passes that the last frame lacked.
pub(super) fn create(
    throng: Res<Throng>,
    mut passes: ResMut<Passes>,
    mut sources: ResMut<Sources>,
    shading: Option<Res<Shading>>,
) {
    let mut state = throng.state();
    let Some(crowd) = &mut state.crowd else {
        return;
    };
    let device = crowd.gpu().device().clone();
    let is_new = sources
        .device
        .replace(device.clone())
        .is_some_and(|old| old != device);
    if is_new || shading.as_ref().is_some_and(|shading| shading.is_changed()) {
        for pass in passes.clear() {
            // Those of an earlier device are gone.
            let _ = crowd.remove_pass(pass);
        }
    }
    let mut waiting = Vec::new();
    for key in core::mem::take(&mut passes.asked) {
        let mut made = of(crowd, key, &sources, shading.as_deref());
        if let (Key::Main { .. }, Err(why), Some(_)) = (key, &made, &shading) {
            log::error!("the program's Shading is not used: {why}");
            made = of(crowd, key, &sources, None);
        }
        match made {
            Ok(Some(ready)) => passes.ready.push((key, Some(ready))),
            // Bevy has not loaded its shaders yet.
            Ok(None) => waiting.push(key),
            Err(why) => {
                log::error!("people are not drawn in this pass of a camera, {key:?}: {why}");
                passes.ready.push((key, None));
            }
        }
    }
    passes.asked.extend(waiting);
}

fn of(
    crowd: &mut Crowd,
    key: Key,
    sources: &Sources,
    shading: Option<&Shading>,
) -> Result<Option<Ready>, Error> {
    let common = PassDesc {
        depth_format: Some(TextureFormat::Depth32Float),
        reversed_z: true,
        ..PassDesc::default()
    };
    let device = crowd.gpu().device().clone();
    let simple = |pass| {
        Ok(Some(Ready {
            pass,
            layouts: Vec::new(),
        }))
    };
    match key {
        Key::Shadow => simple(
            crowd.create_pass(&PassDesc {
                kind: PassKind::Shadow,
                // Bevy biases where it samples.
                depth_bias_constant: Some(0.0),
                depth_bias_slope: Some(0.0),
                depth_clamp: device
                    .features()
                    .contains(wgpu::Features::DEPTH_CLIP_CONTROL),
                ..common
            })?,
        ),
        Key::Prepass {
            moves: false,
            samples,
        } => simple(crowd.create_pass(&PassDesc {
            kind: PassKind::Depth,
            sample_count: samples,
            ..common
        })?),
        Key::Prepass {
            moves: true,
            samples,
        } => simple(crowd.create_pass(&PassDesc {
            kind: PassKind::Motion,
            // Bevy has them in texture coordinates.
            motion_scale: [0.5; 2],
            color_formats: &[Some(TextureFormat::Rg16Float)],
            sample_count: samples,
            ..common
        })?),
        Key::Main {
            format,
            samples,
            prepared,
            lights,
        } => {
            let Some(text) = wgsl(sources, &lights, shading)? else {
                return Ok(None);
            };
            let layouts = lights.layouts(crowd.gpu())?;
            let each: Vec<_> = layouts.iter().collect();
            let pass = crowd.create_pass(&PassDesc {
                color_formats: &[Some(format)],
                sample_count: samples,
                after_prepass: prepared.then_some(wgpu::CompareFunction::GreaterEqual),
                material: Some(MaterialDesc {
                    entry_point: Some("throng_shade"),
                    bind_group_layouts: &each,
                    ..MaterialDesc::new(&text)
                }),
                ..common
            })?;
            Ok(Some(Ready { pass, layouts }))
        }
    }
}
