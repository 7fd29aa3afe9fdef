//! Drawing in a window, with the keys of [`KEYS`].

use std::error::Error;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use throng::ash::vk;
use throng_standalone::{Begin, Context, Frames, StandaloneError, Swapchain, Target, TargetDesc};
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowAttributes, WindowId};

use super::args::{Args, KEYS};
use super::camera::Camera;
use super::headless::write_picture;
use super::scene::Scene;
use super::show::{self, Canvas, DEPTH, FRAMES_IN_FLIGHT, Show, ms};
use super::stats::{self, CpuTimes, Log};
use super::{Result, check_validation, outputs, say, scenery};

/// Minimum time between frames, because not every display limits the frame rate.
const LEAST_FRAME: Duration = Duration::from_millis(4);
/// Interval at which an invisible window is checked.
const ASLEEP: Duration = Duration::from_millis(100);
const TITLE_EVERY: Duration = Duration::from_millis(500);
/// A driver is slow if a frame takes longer than this.
const SLOW_MS: f64 = 200.0;
/// Minimum number of characters on a slow driver.
const FEWEST: usize = 12;
/// Radians per pixel.
const ORBIT: f32 = 0.006;

/// The outcome of a run in a window.
pub(crate) enum Outcome {
    /// The window was opened, and was closed.
    Closed,
    /// No window could be opened, and the reason.
    NoWindow(String),
}

/// Shows the crowd until the window is closed.
pub(crate) fn run(args: &Args) -> Result<Outcome> {
    outputs::check(&args.outputs())?;
    // winit panics if one of the X libraries is missing.
    let event_loop = match catch_unwind(EventLoop::new) {
        Ok(Ok(event_loop)) => event_loop,
        Ok(Err(_)) | Err(_) => {
            return Ok(Outcome::NoWindow(super::display::display_advice().into()));
        }
    };
    say(KEYS)?;
    let scene = show::scene(args)?;
    let mut app = App {
        args,
        scene: Some(scene),
        stage: None,
        ended: None,
    };
    let ran = event_loop.run_app(&mut app);
    let messages = app
        .stage
        .as_ref()
        .map(|stage| stage.context.messages.clone());
    let ended = app.ended.take();
    let closed = app.stage.take().map_or(Ok(()), |stage| stage.close(args));
    match ended {
        Some(Ended::NoWindow(why)) => return Ok(Outcome::NoWindow(why)),
        Some(Ended::Failed(error)) => return Err(error),
        None => ran?,
    }
    closed?;
    messages.map_or(Ok(()), |messages| check_validation(&messages))?;
    Ok(Outcome::Closed)
}

enum Ended {
    NoWindow(String),
    Failed(Box<dyn Error>),
}

struct App<'a> {
    args: &'a Args,
    /// The scene, until there is a window.
    scene: Option<Scene>,
    stage: Option<Stage>,
    /// The reason for the end, if it was not that the window was closed.
    ended: Option<Ended>,
}

impl App<'_> {
    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<(), Ended> {
        let Some(scene) = self.scene.take() else {
            return Ok(());
        };
        let size = self.args.size.0;
        let attributes = WindowAttributes::default()
            .with_title("throng — loading…")
            .with_inner_size(PhysicalSize::new(size.width, size.height));
        let window = event_loop.create_window(attributes);
        let window = window.map_err(|error| Ended::NoWindow(error.to_string()))?;
        self.stage = Some(Stage::new(self.args, scene, Arc::new(window)).map_err(Ended::Failed)?);
        Ok(())
    }

    fn end(&mut self, event_loop: &ActiveEventLoop, why: Option<Ended>) {
        self.ended = why;
        event_loop.exit();
    }
}

impl ApplicationHandler for App<'_> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if let Err(why) = self.open(event_loop) {
            self.end(event_loop, Some(why));
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(stage) = &mut self.stage else { return };
        match event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => self.end(event_loop, None),
            WindowEvent::KeyboardInput { event, .. } if event.state == ElementState::Pressed => {
                match event.logical_key {
                    Key::Named(NamedKey::Escape) => self.end(event_loop, None),
                    Key::Named(NamedKey::Space) if !event.repeat => {
                        stage.clock.paused = !stage.clock.paused
                    }
                    Key::Character(key) if key.eq_ignore_ascii_case("h") && !event.repeat => {
                        if let Some(walls) = &mut stage.show.walls {
                            walls.shows_hidden = !walls.shows_hidden;
                        }
                    }
                    _ => {}
                }
            }
            WindowEvent::Resized(size) => stage.extent = extent(size),
            WindowEvent::Occluded(hidden) => stage.hidden = hidden,
            WindowEvent::MouseInput {
                state,
                button: MouseButton::Left,
                ..
            } => {
                stage.dragging = state == ElementState::Pressed;
            }
            WindowEvent::CursorMoved { position, .. } => stage.cursor(position),
            WindowEvent::MouseWheel { delta, .. } => stage.camera.approach(match delta {
                MouseScrollDelta::LineDelta(_, lines) => lines,
                MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 50.0,
            }),
            WindowEvent::RedrawRequested => match stage.frame(self.args) {
                Ok(false) => {}
                Ok(true) => self.end(event_loop, None),
                Err(error) if is_gone(&*error) => self.end(event_loop, None),
                Err(error) => self.end(event_loop, Some(Ended::Failed(error))),
            },
            _ => {}
        }
    }

    /// Requests the next frame as soon as it is due.
    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(stage) = &mut self.stage else { return };
        let asleep = stage.is_asleep();
        let due = stage.started + if asleep { ASLEEP } else { LEAST_FRAME };
        if asleep {
            // Nobody watches, so no time passes.
            stage.started = stage.started.max(Instant::now() - ASLEEP);
        } else if due <= Instant::now() {
            stage.window.request_redraw();
        }
        event_loop.set_control_flow(ControlFlow::WaitUntil(
            due.max(Instant::now() + Duration::from_millis(1)),
        ));
    }
}

/// The clock of the crowd.
struct Clock {
    time_s: f64,
    fixed_dt_s: Option<f64>,
    paused: bool,
    last: Instant,
}

impl Clock {
    /// Advances the clock and returns the time of the next frame.
    fn tick(&mut self) -> f64 {
        let now = Instant::now();
        let passed_s = (now - self.last).as_secs_f64();
        self.last = now;
        let time_s = self.time_s;
        if !self.paused {
            // After a long delay, people must not jump.
            self.time_s += self.fixed_dt_s.unwrap_or(passed_s.min(0.25));
        }
        if self.fixed_dt_s.is_some() {
            time_s
        } else {
            self.time_s
        }
    }
}

/// A window with a crowd in it.
struct Stage {
    window: Arc<Window>,
    /// Size of the window according to its events. Asking a closed window for its size panics.
    extent: vk::Extent2D,
    show: Show,
    frames: Frames,
    swapchain: Swapchain,
    camera: Camera,
    clock: Clock,
    log: Log,
    title: Title,
    /// The time when the last frame began.
    started: Instant,
    /// Number of frames drawn when the number of characters last changed.
    adapted_at: u64,
    hidden: bool,
    dragging: bool,
    at: Option<PhysicalPosition<f64>>,
    // Declared last, because everything else is destroyed with it.
    context: Context,
}

impl Stage {
    fn new(args: &Args, scene: Scene, window: Arc<Window>) -> Result<Self> {
        let mut context = Context::for_window(&show::context_desc(args), &window)?;
        let samples = show::samples(&context, args)?;
        let size = extent(window.inner_size());
        let own = Arc::clone(&window);
        let mut swapchain = Swapchain::new(&context, own, size, Some(DEPTH), samples)?;
        let mut frames = Frames::new(&context, FRAMES_IN_FLIGHT as usize)?;
        sky(&context, &mut frames, &mut swapchain, size)?;
        let show = Show::new(&mut context, scene, swapchain.pass_desc(), args)?;
        let camera = show.scene.camera(args.distance);
        let (now, stages) = (Instant::now(), show.crowd.stages());
        Ok(Self {
            window,
            extent: size,
            show,
            frames,
            swapchain,
            camera,
            clock: Clock {
                time_s: 0.0,
                fixed_dt_s: args.fixed_dt,
                paused: false,
                last: now,
            },
            // Until a frame waits for another one, the time between frames is meaningless.
            log: Log::new(FRAMES_IN_FLIGHT as usize + 1, stages),
            title: Title::new(now),
            started: now - LEAST_FRAME,
            adapted_at: 0,
            hidden: false,
            dragging: false,
            at: None,
            context,
        })
    }

    /// Returns true if there is nothing to draw to, or nobody to see it.
    fn is_asleep(&mut self) -> bool {
        let nothing = self.extent.width == 0 || self.extent.height == 0;
        nothing || self.hidden || self.window.is_minimized() == Some(true)
    }

    fn cursor(&mut self, position: PhysicalPosition<f64>) {
        if let Some(last) = self.at.replace(position)
            && self.dragging
        {
            let [right, down] =
                [position.x - last.x, position.y - last.y].map(|d| d as f32 * ORBIT);
            self.camera.orbit(right, down);
        }
    }

    /// Draws one frame. Returns true if it was the last.
    fn frame(&mut self, args: &Args) -> Result<bool> {
        let started = Instant::now();
        let frame_ms = ms(self.started, started);
        self.started = started;
        let frame = self.frames.begin()?;
        let Some(mut image) = self.swapchain.acquire(self.extent)? else {
            return Ok(false);
        };
        let waited = Instant::now();
        let view = self.camera.view(image.extent(), scenery::lighting());
        let time_s = self.clock.tick();
        let canvas = Canvas::Window(&image);
        // SAFETY: the frame was begun and has acquired the image, and the submit follows.
        let mut entry = unsafe {
            self.show
                .record(&mut self.context, &frame, &canvas, view, time_s)?
        };
        let recorded = Instant::now();
        // SAFETY: the recording is complete, and ends the rendering to the image.
        unsafe { frame.submit_image(&mut image)? };
        let submitted = Instant::now();
        image.present()?;
        entry.cpu.wait = ms(started, waited);
        entry.cpu.submit = ms(recorded, submitted);
        entry.cpu.present = ms(submitted, Instant::now());
        entry.frame_ms = frame_ms;
        let gpu_ms = entry.gpu.iter().map(|(_, ms)| ms).sum();
        if self.title.add(&entry.cpu, gpu_ms) {
            let stages = self.show.crowd.stages();
            let stages = stats::describe_stages(stages, &self.show.crowd.stats());
            let views = stats::describe_views(&entry.views, &self.show.scene);
            let (shown, figures) = (self.show.scene.shown(), self.title.renew());
            self.window.set_title(&format!(
                "throng — {shown} characters, {figures}, {stages}: {views}"
            ));
        }
        self.log.add(entry);
        if args.instances.is_none() {
            self.adapt(gpu_ms)?;
        }
        Ok(args
            .frames
            .is_some_and(|frames| self.log.frames() >= u64::from(frames)))
    }

    /// Shows fewer characters if an earlier frame was too slow on the device.
    ///
    /// This keeps the window usable.
    fn adapt(&mut self, gpu_ms: f64) -> Result<()> {
        let shown = self.show.scene.shown();
        // The time is that of the previous frame with the same frame index.
        let is_known = self.log.frames() > self.adapted_at + u64::from(FRAMES_IN_FLIGHT);
        if !is_known || gpu_ms < SLOW_MS || shown <= FEWEST {
            return Ok(());
        }
        let fewer = ((shown as f64 * SLOW_MS / gpu_ms) as usize).max(FEWEST);
        let all = self.show.scene.layout().persons.len();
        say(&format!(
            "a frame takes this driver {gpu_ms:.0} ms: showing {fewer} of {all} characters \
             (--instances {all} shows all)"
        ))?;
        self.show.show_only(fewer)?;
        self.camera = self.show.scene.camera(Some(self.camera.zoom));
        self.adapted_at = self.log.frames();
        Ok(())
    }

    /// Writes the requested files and destroys everything.
    fn close(mut self, args: &Args) -> Result<()> {
        let written = self.write(args);
        let freed = self.show.destroy(&mut self.context);
        written?;
        freed.map(drop)
    }

    fn write(&mut self, args: &Args) -> Result<()> {
        let size = self.swapchain.extent();
        if let Some(path) = &args.stats {
            let figures = self.log.to_json(
                &self.context.info,
                &self.show.scene,
                (size.width, size.height),
            );
            stats::write(path, &figures)?;
        }
        match &args.out {
            Some(path) if size.width > 0 && size.height > 0 => self.picture(path, size),
            _ => Ok(()),
        }
    }

    /// Draws the content of the window once more, into an image.
    fn picture(&mut self, path: &Path, extent: vk::Extent2D) -> Result<()> {
        let pass = self.swapchain.pass_desc();
        let desc = TargetDesc {
            name: "picture",
            extent,
            color_format: pass.color_formats[0],
            depth_format: Some(pass.depth_format),
            samples: pass.samples,
            ..TargetDesc::default()
        };
        let target = Target::new(&self.context, &desc)?;
        self.draw_into(&target)?;
        write_picture(path, &target.read_rgba()?, extent)
    }

    fn draw_into(&mut self, target: &Target) -> Result<()> {
        let view = self.camera.view(target.extent(), scenery::lighting());
        let frame = self.frames.begin()?;
        let canvas = Canvas::Picture(target);
        let time_s = self.clock.time_s;
        // SAFETY: the frame was just begun, and is submitted.
        unsafe {
            self.show
                .record(&mut self.context, &frame, &canvas, view, time_s)?;
            frame.submit()?;
        }
        Ok(())
    }
}

/// Shows the sky at once, before anything is loaded.
fn sky(
    context: &Context,
    frames: &mut Frames,
    swapchain: &mut Swapchain,
    extent: vk::Extent2D,
) -> Result<()> {
    let frame = frames.begin()?;
    // SAFETY: the frame was just begun, and the image is submitted and presented below.
    let Some(mut image) = swapchain.acquire(extent)? else {
        return Ok(());
    };
    let begin = Begin {
        color: scenery::background(),
        depth: 0.0,
        ..Begin::default()
    };
    // SAFETY: the command buffer is recording, and the image was acquired with this frame.
    unsafe {
        image.begin(&context.device, frame.cmd, &begin);
        image.end(&context.device, frame.cmd);
        frame.submit_image(&mut image)?;
        image.present()?;
    }
    Ok(())
}

/// Returns true if the window was destroyed from outside.
fn is_gone(error: &(dyn Error + 'static)) -> bool {
    matches!(
        error.downcast_ref(),
        Some(StandaloneError::SurfaceLost { .. })
    )
}

/// Averages over a period, for the window's title.
struct Title {
    since: Instant,
    frames: u32,
    cpu_ms: f64,
    gpu_ms: f64,
}

impl Title {
    fn new(since: Instant) -> Self {
        Self {
            since,
            frames: 0,
            cpu_ms: 0.0,
            gpu_ms: 0.0,
        }
    }

    /// Adds a frame. Returns true if the title is due.
    fn add(&mut self, cpu: &CpuTimes, gpu_ms: f64) -> bool {
        self.frames += 1;
        self.cpu_ms += cpu.busy();
        self.gpu_ms += gpu_ms;
        self.since.elapsed() >= TITLE_EVERY
    }

    /// The figures of the period, after which another begins.
    fn renew(&mut self) -> String {
        let count = f64::from(self.frames);
        let (cpu, gpu) = (self.cpu_ms / count, self.gpu_ms / count);
        let fps = count / self.since.elapsed().as_secs_f64();
        *self = Self::new(Instant::now());
        format!("{fps:.1} fps, CPU {cpu:.1} ms, GPU {gpu:.1} ms")
    }
}

fn extent(size: PhysicalSize<u32>) -> vk::Extent2D {
    let PhysicalSize { width, height } = size;
    vk::Extent2D { width, height }
}
