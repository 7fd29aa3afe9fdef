//! A crowd in a program that draws with wgpu: the ground and boxes are wgpu's, the people throng's.
//! They share the depth buffer and the shadow map.

mod show;

use show::Show;
use std::{error::Error, fs::File, sync::Arc, time::Instant};
use wgpu::*;
use winit::{application::ApplicationHandler, event::WindowEvent, event_loop::*, window::*};

const DEPTH: TextureFormat = TextureFormat::Depth32Float;
const SKY: Color = Color { r: 0.3, g: 0.42, b: 0.6, a: 1.0 };

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    env_logger::init();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let frames_left = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => u64::MAX,
        ["--frames", count] => count.parse()?,
        ["--headless", "--out", path] => return picture(path),
        _ => return Err("usage: wgpu [--frames COUNT | --headless --out FILE.png]".into()),
    };
    let mut app = App { frames_left, start: Instant::now(), open: None, outcome: Ok(()) };
    EventLoop::new()?.run_app(&mut app)?;
    app.outcome
}

fn picture(path: &str) -> Result<()> {
    let instance = Instance::new(InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let format = TextureFormat::Rgba8UnormSrgb;
    let mut show = Show::new(&adapter, format)?;
    let (device, queue) = (show.gpu.device().clone(), show.gpu.queue().clone());
    let picture = texture(&device, format, 960, 540);
    show.draw(&picture, 0.4)?;

    let (size, usage) = (4 * 960 * 540, BufferUsages::COPY_DST | BufferUsages::MAP_READ);
    let desc = BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    let buffer = &device.create_buffer(&desc);
    let layout = TexelCopyBufferLayout { bytes_per_row: Some(4 * 960), ..Default::default() };
    let (from, to) = (picture.texture(), TexelCopyBufferInfo { buffer, layout });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(from.as_image_copy(), to, from.size());
    encoder.map_buffer_on_submit(buffer, MapMode::Read, .., |_| ());
    queue.submit([encoder.finish()]);
    device.poll(PollType::wait_indefinitely())?;
    let mut png = png::Encoder::new(File::create(path)?, 960, 540);
    png.set_color(png::ColorType::Rgba);
    Ok(png.write_header()?.write_image_data(&buffer.get_mapped_range(..)?)?)
}

struct App {
    frames_left: u64,
    start: Instant,
    open: Option<(Arc<Window>, Surface<'static>, SurfaceConfiguration, Show)>,
    outcome: Result<()>,
}

impl App {
    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let window = Arc::new(event_loop.create_window(Window::default_attributes())?);
        let display = Box::new(event_loop.owned_display_handle());
        let instance = Instance::new(InstanceDescriptor::new_with_display_handle_from_env(display));
        let surface = instance.create_surface(window.clone())?;
        let on = RequestAdapterOptions { compatible_surface: Some(&surface), ..Default::default() };
        let adapter = pollster::block_on(instance.request_adapter(&on))?;
        let config = surface.get_default_config(&adapter, 1, 1).ok_or("no surface")?;
        let show = Show::new(&adapter, config.format)?;
        self.open = Some((window, surface, config, show));
        Ok(())
    }

    fn draw(&mut self) -> Result<()> {
        let Some((window, surface, config, show)) = &mut self.open else { return Ok(()) };
        let size = window.inner_size();
        let size = (size.width.max(1), size.height.max(1));
        if (config.width, config.height) != size {
            (config.width, config.height) = size;
            surface.configure(show.gpu.device(), config);
        }
        match surface.get_current_texture() {
            CurrentSurfaceTexture::Success(it) | CurrentSurfaceTexture::Suboptimal(it) => {
                let picture = it.texture.create_view(&Default::default());
                show.draw(&picture, self.start.elapsed().as_secs_f64())?;
                show.gpu.queue().present(it);
            }
            _ => surface.configure(show.gpu.device(), config),
        }
        self.frames_left = self.frames_left.saturating_sub(1);
        window.request_redraw();
        Ok(())
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        self.outcome = self.open(event_loop).inspect_err(|_| event_loop.exit());
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if event == WindowEvent::RedrawRequested {
            self.outcome = self.draw();
        }
        if event == WindowEvent::CloseRequested || self.frames_left == 0 || self.outcome.is_err() {
            event_loop.exit();
        }
    }
}

/// A texture to draw into, and to sample or copy afterwards.
fn texture(device: &Device, format: TextureFormat, w: u32, h: u32) -> TextureView {
    let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
    let texture = device.create_texture(&TextureDescriptor {
        label: None,
        size: Extent3d { width: w, height: h, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: TextureDimension::D2,
        format,
        usage: usage | TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}

/// Ground and boxes, in the shadow of the crowd: the pipelines of their colours and of their depth
/// alone.
struct Scene(RenderPipeline, RenderPipeline, BindGroup);

impl Scene {
    fn new(device: &Device, map: &TextureView, color: TextureFormat) -> Self {
        let module = &device.create_shader_module(include_wgsl!("scene.wgsl"));
        let (entry_point, compilation_options) = (None, PipelineCompilationOptions::default());
        let (options, targets) = (compilation_options.clone(), &[Some(color.into())]);
        let (compare, mag_filter) = (Some(CompareFunction::LessEqual), FilterMode::Linear);
        let (format, depth_write_enabled, depth_compare) = (DEPTH, Some(true), compare);
        let (stencil, bias) = Default::default();
        let depth = DepthStencilState { format, depth_write_enabled, depth_compare, stencil, bias };
        let colored = RenderPipelineDescriptor {
            label: Some("scene"),
            layout: None,
            vertex: VertexState { module, entry_point, compilation_options: options, buffers: &[] },
            primitive: Default::default(),
            depth_stencil: Some(depth),
            multisample: Default::default(),
            fragment: Some(FragmentState { module, entry_point, compilation_options, targets }),
            multiview_mask: None,
            cache: None,
        };
        let pipeline = device.create_render_pipeline(&colored);
        let label = Some("depth of the scene");
        let alone = RenderPipelineDescriptor { label, fragment: None, ..colored };
        let depth = device.create_render_pipeline(&alone);
        let desc = SamplerDescriptor { compare, mag_filter, ..Default::default() };
        let sampler = BindingResource::Sampler(&device.create_sampler(&desc));
        let map = BindingResource::TextureView(map);
        let entry = |binding, resource| BindGroupEntry { binding, resource };
        let entries = &[entry(0, map), entry(1, sampler)];
        let layout = &pipeline.get_bind_group_layout(0);
        let group = device.create_bind_group(&BindGroupDescriptor { label: None, layout, entries });
        Self(pipeline, depth, group)
    }

    fn draw(&self, mut pass: RenderPass<'_>, matrices: [[f32; 16]; 2]) {
        let bytes = matrices.map(|it| it.map(f32::to_ne_bytes));
        pass.set_pipeline(&self.0);
        pass.set_bind_group(0, &self.2, &[]);
        pass.set_immediates(0, bytes.as_flattened().as_flattened());
        pass.draw(0..36, 0..4);
    }

    /// Draws the depth alone, without what the colours are for.
    fn draw_depth(&self, mut pass: RenderPass<'_>, matrices: [[f32; 16]; 2]) {
        let bytes = matrices.map(|it| it.map(f32::to_ne_bytes));
        pass.set_pipeline(&self.1);
        pass.set_immediates(0, bytes.as_flattened().as_flattened());
        pass.draw(0..36, 0..4);
    }
}
