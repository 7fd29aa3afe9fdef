//! Instances of wgpu with the validation layer, and what tests draw.

pub(crate) mod messages;

use throng_reference::ribbon::{built, ribbon};
use throng_wgpu::throng;
use throng_wgpu::throng::glam::{Affine3A, Mat4, Vec3, camera::rh};
use throng_wgpu::throng::{CharacterDesc, CharacterId, CrowdDesc, Spawn, Stages, View};
use throng_wgpu::{Crowd, Encoder, Error, Frame, Gpu, Opening, PassDesc};
use wgpu::TextureUsages as Usages;

pub(crate) const EDGE: u32 = 192;
pub(crate) const SIZE: wgpu::Extent3d = square(EDGE);
pub(crate) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
pub(crate) const SKY: wgpu::Color = wgpu::Color {
    r: 0.2,
    g: 0.3,
    b: 0.5,
    a: 1.0,
};

pub(crate) const fn square(edge: u32) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width: edge,
        height: edge,
        depth_or_array_layers: 1,
    }
}

pub(crate) fn instance() -> wgpu::Instance {
    messages::catch();
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::VULKAN,
        flags: wgpu::InstanceFlags::DEBUG | wgpu::InstanceFlags::VALIDATION,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
}

/// The output of a future that is ready.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    let waker = std::task::Waker::noop();
    match std::pin::pin!(future).poll(&mut std::task::Context::from_waker(waker)) {
        std::task::Poll::Ready(output) => output,
        std::task::Poll::Pending => panic!("the future is not ready"),
    }
}

pub(crate) fn adapter() -> wgpu::Adapter {
    now(instance().request_adapter(&Default::default())).expect("no adapter")
}

pub(crate) fn gpu() -> Gpu {
    Gpu::open(&adapter(), &wgpu::DeviceDescriptor::default()).unwrap()
}

/// A device that the program opens itself.
pub(crate) fn opened(
    adapter: &wgpu::Adapter,
    desc: &wgpu::DeviceDescriptor<'_>,
    opening: &Opening,
) -> Gpu {
    use wgpu::hal::vulkan::{Api, CreateDeviceCallbackArgs};
    let (features, limits) = (desc.required_features, &desc.required_limits);
    // SAFETY: features and limits are the adapter's. `opening` lives until the device is open, and
    // there is no other callback.
    unsafe {
        let hal = adapter.as_hal::<Api>().unwrap();
        let add = |mut args: CreateDeviceCallbackArgs<'_, '_, '_>| opening.add_to(&mut args, &hal);
        let add = Some(Box::new(add) as _);
        let open = hal.open_with_callback(features, limits, &desc.memory_hints, add);
        let (device, queue) = adapter
            .create_device_from_hal::<Api>(open.unwrap(), desc)
            .unwrap();
        opening.gpu(adapter, &device, &queue).unwrap()
    }
}

/// Stages of which each test tries both.
pub(crate) const SIDES: [Stages; 2] = [Stages::Cpu, Stages::Gpu];

pub(crate) fn desc(frames_in_flight: u32, stages: Stages) -> CrowdDesc {
    CrowdDesc {
        frames_in_flight,
        stages,
        ..CrowdDesc::default()
    }
}

/// Three people who move.
pub(crate) fn populate(crowd: &mut Crowd) -> CharacterId {
    let id = crowd
        .add_character(&built(ribbon(4)).character, &CharacterDesc::default())
        .unwrap();
    for spawn in spawns() {
        crowd.spawn(id, &spawn).unwrap();
    }
    id
}

pub(crate) fn spawns() -> [Spawn<'static>; 3] {
    [(-1.2, "sway"), (0.0, "turn"), (1.2, "sway")].map(|(x, clip)| Spawn {
        world_from_model: Affine3A::from_translation(Vec3::new(x, 0.0, 0.0)),
        play: clip.into(),
        ..Spawn::default()
    })
}

/// In wgpu's clip space.
pub(crate) fn clip_from_world() -> (Mat4, Vec3) {
    let eye = Vec3::new(1.5, 2.5, 7.0);
    let view_from_world = rh::view::look_at_mat4(eye, Vec3::new(0.0, 1.5, 0.0), Vec3::Y);
    let clip_from_view = rh::proj::directx::perspective(0.7, 1.0, 0.1, 100.0);
    (clip_from_view * view_from_world, eye)
}

/// The direction towards the sun. The people stand one behind the other in front of it.
pub(crate) const SUN: Vec3 = Vec3::new(0.9, 0.3, 0.1);

/// From the sun.
pub(crate) fn light_from_world() -> Mat4 {
    let view_from_world = rh::view::look_at_mat4(Vec3::Y + SUN * 8.0, Vec3::Y, Vec3::Y);
    rh::proj::directx::orthographic(-4.0, 4.0, -4.0, 4.0, 0.1, 20.0) * view_from_world
}

pub(crate) fn camera(size: wgpu::Extent3d) -> View {
    let (clip_from_world, eye) = clip_from_world();
    throng_wgpu::view(clip_from_world, eye, size)
}

pub(crate) fn texture(
    gpu: &Gpu,
    format: wgpu::TextureFormat,
    size: wgpu::Extent3d,
    samples: u32,
) -> wgpu::Texture {
    let other = match (format.has_depth_aspect(), samples) {
        (_, 2..) => Usages::empty(),
        (true, _) => Usages::TEXTURE_BINDING,
        (false, _) => Usages::COPY_SRC,
    };
    gpu.device().create_texture(&wgpu::TextureDescriptor {
        label: Some("test"),
        size,
        mip_level_count: 1,
        sample_count: samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: Usages::RENDER_ATTACHMENT | other,
        view_formats: &[],
    })
}

/// An environment map of this many levels.
pub(crate) fn environment_desc(levels: u32) -> wgpu::TextureDescriptor<'static> {
    wgpu::TextureDescriptor {
        label: Some("test"),
        size: wgpu::Extent3d {
            depth_or_array_layers: 6,
            ..square(8)
        },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba16Float,
        usage: Usages::TEXTURE_BINDING | Usages::COPY_DST,
        view_formats: &[],
    }
}

/// Attachments of one size.
pub(crate) struct Target {
    pub(crate) color: wgpu::Texture,
    /// With several samples per pixel.
    pub(crate) samples: Option<wgpu::Texture>,
    pub(crate) depth: wgpu::Texture,
}

pub(crate) fn whole(texture: &wgpu::Texture) -> wgpu::TextureView {
    texture.create_view(&Default::default())
}

impl Target {
    pub(crate) fn new(gpu: &Gpu, size: wgpu::Extent3d, samples: u32) -> Self {
        Self {
            color: texture(gpu, COLOR, size, 1),
            samples: (samples > 1).then(|| texture(gpu, COLOR, size, samples)),
            depth: texture(gpu, DEPTH, size, samples),
        }
    }

    /// Draws a view of a frame, with a load operation for the colour.
    pub(crate) fn draw(
        &self,
        (frame, encoder): (&Frame<'_>, &mut Encoder),
        (view, pass): (throng::ViewId, throng::PassId),
        clear: bool,
    ) -> Result<(), Error> {
        let color = whole(&self.color);
        let samples = self.samples.as_ref().map(whole);
        let depth = whole(&self.depth);
        frame.draw(
            encoder,
            view,
            pass,
            &descriptor(&mut Vec::new(), (&color, samples.as_ref(), &depth), clear),
        )
    }
}

type Views<'a> = (
    &'a wgpu::TextureView,
    Option<&'a wgpu::TextureView>,
    &'a wgpu::TextureView,
);

pub(crate) fn descriptor<'a>(
    colors: &'a mut Vec<Option<wgpu::RenderPassColorAttachment<'a>>>,
    (color, samples, depth): Views<'a>,
    clear: bool,
) -> wgpu::RenderPassDescriptor<'a> {
    colors.push(Some(wgpu::RenderPassColorAttachment {
        view: samples.unwrap_or(color),
        depth_slice: None,
        resolve_target: samples.map(|_| color),
        ops: wgpu::Operations {
            load: if clear {
                wgpu::LoadOp::Clear(SKY)
            } else {
                wgpu::LoadOp::Load
            },
            store: wgpu::StoreOp::Store,
        },
    }));
    wgpu::RenderPassDescriptor {
        color_attachments: colors,
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: depth,
            depth_ops: Some(wgpu::Operations {
                load: if clear {
                    wgpu::LoadOp::Clear(1.0)
                } else {
                    wgpu::LoadOp::Load
                },
                store: wgpu::StoreOp::Store,
            }),
            stencil_ops: None,
        }),
        ..Default::default()
    }
}

pub(crate) fn pass_desc(samples: u32) -> PassDesc<'static> {
    PassDesc {
        color_formats: &[Some(COLOR)],
        depth_format: Some(DEPTH),
        sample_count: samples,
        ..PassDesc::default()
    }
}

/// Waits for everything that was submitted.
pub(crate) fn idle(gpu: &Gpu) {
    let wait = wgpu::PollType::wait_indefinitely();
    gpu.device().poll(wait).unwrap();
}

/// One frame of a crowd whose draws are not submitted yet.
pub(crate) fn record(
    crowd: &mut Crowd,
    target: &Target,
    pass: throng::PassId,
    time_s: f64,
) -> Encoder {
    let mut encoder = Encoder::new(&crowd.gpu().clone());
    crowd.update(time_s).unwrap();
    let mut frame = crowd.begin_frame(time_s).unwrap();
    let views = frame.prepare(&[camera(target.color.size())]).unwrap();
    let to = (&frame, &mut encoder);
    target.draw(to, (views[0], pass), true).unwrap();
    encoder
}

/// One frame of a crowd, submitted.
pub(crate) fn frame(
    crowd: &mut Crowd,
    target: &Target,
    pass: throng::PassId,
    time_s: f64,
) -> Result<(), Error> {
    let mut encoder = Encoder::new(&crowd.gpu().clone());
    crowd.update(time_s)?;
    let mut frame = crowd.begin_frame(time_s)?;
    let views = frame.prepare(&[camera(target.color.size())])?;
    target.draw((&frame, &mut encoder), (views[0], pass), true)?;
    encoder.submit()?;
    Ok(())
}

/// The bytes of a texture of `COLOR`.
pub(crate) fn read(gpu: &Gpu, texture: &wgpu::Texture) -> Vec<u8> {
    read_layer(gpu, texture, 0)
}

/// The bytes of one of its layers.
pub(crate) fn read_layer(gpu: &Gpu, texture: &wgpu::Texture, layer: u32) -> Vec<u8> {
    let (width, height) = (texture.width(), texture.height());
    let row = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(row * height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo {
            origin: wgpu::Origin3d {
                z: layer,
                ..Default::default()
            },
            ..texture.as_image_copy()
        },
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: None,
            },
        },
        wgpu::Extent3d {
            depth_or_array_layers: 1,
            ..texture.size()
        },
    );
    encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
    gpu.queue().submit([encoder.finish()]);
    gpu.device()
        .poll(wgpu::PollType::wait_indefinitely())
        .unwrap();
    let bytes = buffer.get_mapped_range(..);
    #[cfg(feature = "wgpu-30")]
    let bytes = bytes.unwrap();
    let rows = bytes.chunks(row as usize);
    rows.flat_map(|bytes| &bytes[..4 * width as usize])
        .copied()
        .collect()
}
