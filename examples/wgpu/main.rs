//! A crowd in a program that draws with wgpu: the ground and boxes are wgpu's, the people throng's.
//! They share the depth buffer and the shadow map.

mod plain;
mod show;

use show::Show;
use std::{error::Error, sync::Arc, time::Instant};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::{application::ApplicationHandler, event::WindowEvent, window::Window};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    env_logger::init();
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run(u64::MAX),
        ["--frames", count] => run(count.parse()?),
        ["--headless", "--out", path] => picture(path),
        _ => Err("usage: wgpu [--frames COUNT | --headless --out FILE.png]".into()),
    }
}

fn run(frames: u64) -> Result<()> {
    let mut app = App { start: Instant::now(), frames, open: None, outcome: Ok(()) };
    EventLoop::new()?.run_app(&mut app)?;
    app.outcome
}

fn picture(path: &str) -> Result<()> {
    let desc = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    let adapter = wgpu::Instance::new(desc).request_adapter(&Default::default());
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let mut show = Show::new(&pollster::block_on(adapter)?, format)?;
    let (device, usage) = (show.gpu.device().clone(), wgpu::TextureUsages::COPY_SRC);
    let picture = plain::texture(&device, format, [960, 540], usage);
    show.draw(&picture, 0.4)?;
    let rgba = plain::read(&device, show.gpu.queue(), picture.texture())?;
    let mut encoder = png::Encoder::new(std::fs::File::create(path)?, 960, 540);
    encoder.set_color(png::ColorType::Rgba);
    Ok(encoder.write_header()?.write_image_data(&rgba)?)
}

struct App {
    start: Instant,
    /// How many are left to draw.
    frames: u64,
    open: Option<Open>,
    outcome: Result<()>,
}

struct Open {
    show: Show,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    window: Arc<Window>,
}

impl Open {
    fn new(event_loop: &ActiveEventLoop) -> Result<Self> {
        let window = Arc::new(event_loop.create_window(Window::default_attributes())?);
        let display = Box::new(event_loop.owned_display_handle());
        let desc = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        let instance = wgpu::Instance::new(desc);
        let surface = instance.create_surface(window.clone())?;
        let compatible_surface = Some(&surface);
        let options = wgpu::RequestAdapterOptions { compatible_surface, ..Default::default() };
        let adapter = pollster::block_on(instance.request_adapter(&options))?;
        let config = surface.get_default_config(&adapter, 1, 1).ok_or("no surface")?;
        Ok(Self { show: Show::new(&adapter, config.format)?, surface, config, window })
    }

    fn draw(&mut self, time_s: f64) -> Result<()> {
        use wgpu::CurrentSurfaceTexture as Current;
        let size = self.window.inner_size();
        let size = (size.width.max(1), size.height.max(1));
        if (self.config.width, self.config.height) != size {
            (self.config.width, self.config.height) = size;
            self.surface.configure(self.show.gpu.device(), &self.config);
        }
        match self.surface.get_current_texture() {
            Current::Success(image) | Current::Suboptimal(image) => {
                self.show.draw(&image.texture.create_view(&Default::default()), time_s)?;
                self.show.gpu.queue().present(image);
            }
            _ => self.surface.configure(self.show.gpu.device(), &self.config),
        }
        self.window.request_redraw();
        Ok(())
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let opened = Open::new(event_loop).map(|open| self.open = Some(open));
        self.outcome = opened.inspect_err(|_| event_loop.exit());
    }

    fn window_event(
        &mut self,
        on: &ActiveEventLoop,
        _: winit::window::WindowId,
        event: WindowEvent,
    ) {
        match (event, &mut self.open) {
            (WindowEvent::CloseRequested, _) => on.exit(),
            (WindowEvent::RedrawRequested, Some(open)) => {
                self.outcome = open.draw(self.start.elapsed().as_secs_f64());
                self.frames -= 1;
                if self.frames == 0 || self.outcome.is_err() {
                    on.exit();
                }
            }
            _ => {}
        }
    }
}
