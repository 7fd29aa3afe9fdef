//! The device: Bevy opens it, with what throng needs added, and the crowd is made with it.

use crate::state::{State, Throng, character_desc};
use bevy::app::{App, AppExit};
use bevy::ecs::prelude::*;
use bevy::render::renderer::raw_vulkan_init::RawVulkanInitSettings;
use bevy::render::renderer::{RenderAdapter, RenderDevice, RenderQueue};
use bevy::render::{ExtractSchedule, MainWorld};
use throng::CrowdDesc;
use throng_wgpu::{Crowd, Gpu, Opening};

/// The device's callback, and the description of the crowd.
#[derive(Resource, Clone)]
pub(crate) struct Device {
    opening: Opening,
    desc: CrowdDesc,
}

/// Lets Bevy open a device that throng can use.
pub(crate) fn prepare(app: &mut App, desc: &CrowdDesc) -> Device {
    let opening = Opening::default();
    let mut settings = app
        .world_mut()
        .get_resource_or_init::<RawVulkanInitSettings>();
    let adds = opening.clone();
    // SAFETY: it only adds features that the adapter supports. Bevy opens one device at a time, and
    // `Device` keeps the handle. Callbacks of the program come before, as `ThrongPlugin` says.
    unsafe {
        settings.add_create_device_callback(move |args, adapter, _| adds.add_to(args, adapter));
    }
    Device {
        opening,
        desc: desc.clone(),
    }
}

/// Makes the crowd before the app runs, so that the first systems have it.
pub(crate) fn first(app: &mut App, device: &Device) {
    let world = app.world();
    let of = (
        world.get_resource::<RenderAdapter>(),
        world.get_resource::<RenderDevice>(),
        world.get_resource::<RenderQueue>(),
    );
    let (Some(adapter), Some(render_device), Some(queue)) = of else {
        return;
    };
    let throng = world.resource::<Throng>();
    if !device.open(throng, (adapter, render_device, queue)) {
        app.world_mut().write_message(AppExit::error());
    }
}

/// Makes the crowd again if Bevy opens another device.
fn again(
    device: Res<Device>,
    throng: Res<Throng>,
    (adapter, render_device, queue): (Res<RenderAdapter>, Res<RenderDevice>, Res<RenderQueue>),
    mut failed: ResMut<Failed>,
) {
    failed.0 = !device.open(&throng, (&adapter, &render_device, &queue));
}

impl Device {
    /// Makes the crowd, unless there is one with this device. Returns false if there is none.
    fn open(
        &self,
        throng: &Throng,
        (adapter, device, queue): (&RenderAdapter, &RenderDevice, &RenderQueue),
    ) -> bool {
        let mut state = throng.state();
        let old = state.crowd.as_ref().map(|crowd| crowd.gpu().device());
        if old == Some(device.wgpu_device()) {
            return true;
        }
        let wgpu = (&**adapter.0, device.wgpu_device(), &**queue.0);
        // SAFETY: the device is the last one that Bevy opened with the callback, from this adapter.
        let gpu = unsafe { self.opening.gpu(wgpu.0, wgpu.1, wgpu.2) };
        match gpu.and_then(|gpu: Gpu| Crowd::new(&gpu, &self.desc)) {
            Ok(crowd) => {
                replace(&mut state, crowd);
                true
            }
            Err(why) => {
                log::error!(
                    "throng cannot draw with this device, so the app ends (ThrongPlugin must come \
                     before Bevy's plugins): {why}"
                );
                false
            }
        }
    }
}

/// True if there is no crowd with this device.
#[derive(Resource, Default)]
pub(crate) struct Failed(bool);

/// Ends the app if there is no crowd, as Bevy does without a device.
fn exit(mut main: ResMut<MainWorld>, mut failed: ResMut<Failed>) {
    if core::mem::take(&mut failed.0) {
        main.write_message(AppExit::error());
    }
}

/// Puts a crowd of a new device in the place of the old one, with its characters and instances.
fn replace(state: &mut State, crowd: Crowd) {
    let old = state.crowd.replace(crowd);
    let (Some(old), Some(crowd)) = (old, &mut state.crowd) else {
        return;
    };
    // In their order, so that a snapshot fits.
    let snapshot = old.snapshot();
    let loaded = &mut state.characters;
    let mut restored = || -> Result<(), throng_wgpu::Error> {
        crowd.reserve(&old.capacity())?;
        for id in old.characters() {
            if let Some(loaded) = loaded.values_mut().find(|loaded| loaded.id == id) {
                loaded.id = crowd.add_character(&loaded.character, &character_desc())?;
            }
        }
        crowd.restore(&snapshot)
    };
    let restored = restored();
    if let Err(why) = restored {
        log::error!("the crowd is lost with its device: {why}");
        *state = State {
            crowd: state.crowd.take(),
            ..State::default()
        };
    }
}

/// Adds the systems of this module to the render world.
pub(crate) fn build(render_app: &mut bevy::app::SubApp, device: Device) {
    render_app.insert_resource(device);
    render_app.init_resource::<Failed>();
    render_app.add_systems(bevy::render::RenderStartup, again);
    render_app.add_systems(ExtractSchedule, exit);
}
