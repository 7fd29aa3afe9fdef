//! The plaza in a window, from a camera that swings around it in front of the mirror.

use std::error::Error;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use throng::ash::vk;
use throng_standalone::{Begin, Context, Frames, Messages, StandaloneError, Swapchain};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowAttributes, WindowId};

use super::plaza::{self, FRAMES_IN_FLIGHT, Plaza};
use super::tracer::Tracer;
use super::{EXTENT, Result, context_desc, say};

/// The keys of the window, printed when it opens and at the end of `--help`.
pub(crate) const KEYS: &str = "In the window: Esc to close.";
/// Minimum time between frames, because not every display limits the frame rate.
const LEAST_FRAME: Duration = Duration::from_millis(4);
/// Interval at which an invisible window is checked.
const ASLEEP: Duration = Duration::from_millis(100);
/// The longest time that passes for the crowd between two frames.
const LONGEST: Duration = Duration::from_millis(250);
/// The camera's swing to each side, in radians, and the rate of its phase in radians per second.
const SWING_RAD: f32 = 0.6;
const RATE: f32 = 0.12;

/// The event loop, or `None` if no window can be opened.
pub(crate) fn event_loop() -> Option<EventLoop<()>> {
    // winit panics if one of the X libraries is missing.
    catch_unwind(EventLoop::new).ok()?.ok()
}

/// Shows the plaza until the window is closed, or for a number of frames.
pub(crate) fn run(event_loop: EventLoop<()>, frames: Option<u64>) -> Result<()> {
    say(KEYS);
    let mut app = App {
        frames_left: frames.unwrap_or(u64::MAX),
        stage: None,
        outcome: Ok(()),
    };
    let ran = event_loop.run_app(&mut app);
    let closed = app.stage.map(Stage::close).transpose();
    app.outcome?;
    ran?;
    Ok(closed?.map_or(Ok(()), |messages| messages.check())?)
}

struct App {
    frames_left: u64,
    stage: Option<Stage>,
    outcome: Result<()>,
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.stage.is_none() {
            match Stage::open(event_loop) {
                Ok(stage) => self.stage = Some(stage),
                Err(error) => {
                    self.outcome = Err(error);
                    event_loop.exit();
                }
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(stage) = &mut self.stage else { return };
        match event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => event_loop.exit(),
            WindowEvent::KeyboardInput { event, .. }
                if event.state == ElementState::Pressed
                    && event.logical_key == Key::Named(NamedKey::Escape) =>
            {
                event_loop.exit();
            }
            WindowEvent::Resized(size) => stage.extent = extent(size),
            WindowEvent::Occluded(hidden) => stage.hidden = hidden,
            WindowEvent::RedrawRequested if !event_loop.exiting() => {
                match stage.frame() {
                    Ok(drawn) => self.frames_left -= u64::from(drawn),
                    Err(error) if is_gone(&*error) => event_loop.exit(),
                    Err(error) => self.outcome = Err(error),
                }
                if self.frames_left == 0 || self.outcome.is_err() {
                    event_loop.exit();
                }
            }
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
        let least = Instant::now() + Duration::from_millis(1);
        event_loop.set_control_flow(ControlFlow::WaitUntil(due.max(least)));
    }
}

/// A window with the plaza in it.
struct Stage {
    window: Arc<Window>,
    /// Size of the window according to its events. Asking a closed window for its size panics.
    extent: vk::Extent2D,
    hidden: bool,
    /// The time when the last frame began, and the crowd's time of that frame.
    started: Instant,
    time: Duration,
    frames: Frames,
    swapchain: Swapchain,
    plaza: Plaza,
    tracer: Tracer,
    // Declared last, because everything else is destroyed with it.
    context: Context,
}

impl Stage {
    fn open(event_loop: &ActiveEventLoop) -> Result<Self> {
        let attributes = WindowAttributes::default()
            .with_title("throng rays")
            .with_inner_size(PhysicalSize::new(EXTENT.width, EXTENT.height));
        let window = Arc::new(event_loop.create_window(attributes)?);
        let mut context = Context::for_window(&context_desc(), &window)?;
        if context.properties.device_type == vk::PhysicalDeviceType::CPU {
            // A software driver takes about a second for a frame of the whole size. The answer says
            // if the new size is in effect already, which the swapchain finds out itself.
            let half = PhysicalSize::new(EXTENT.width / 2, EXTENT.height / 2);
            let _ = window.request_inner_size(half);
        }
        let (size, own) = (extent(window.inner_size()), Arc::clone(&window));
        let samples = vk::SampleCountFlags::TYPE_1;
        let swapchain = Swapchain::new(&context, own, size, None, samples)?;
        let format = swapchain.pass_desc().color_formats[0];
        let plaza = Plaza::new(&mut context)?;
        Ok(Self {
            window,
            extent: size,
            hidden: false,
            started: Instant::now(),
            time: Duration::ZERO,
            frames: Frames::new(&context, FRAMES_IN_FLIGHT)?,
            swapchain,
            // SAFETY: the layout is the crowd's, which lives on.
            tracer: unsafe { Tracer::new(&context, plaza.hit_layout()?, format) }?,
            plaza,
            context,
        })
    }

    /// Returns true if there is nothing to draw to, or nobody to see it.
    fn is_asleep(&self) -> bool {
        let nothing = self.extent.width == 0 || self.extent.height == 0;
        nothing || self.hidden || self.window.is_minimized() == Some(true)
    }

    /// Draws one frame. Returns false if there is nothing to draw to.
    fn frame(&mut self) -> Result<bool> {
        let now = Instant::now();
        // After a long delay, people must not jump.
        self.time += (now - self.started).min(LONGEST);
        self.started = now;
        let frame = self.frames.begin()?;
        let Some(mut image) = self.swapchain.acquire(self.extent)? else {
            return Ok(false);
        };
        let (time_s, device) = (self.time.as_secs_f64(), self.context.device.clone());
        let angle = plaza::FRONT_RAD + SWING_RAD * (RATE * self.time.as_secs_f32()).sin();
        let view = plaza::view(angle, image.extent());
        // SAFETY: the frame was just begun, has acquired the image, and is submitted.
        unsafe {
            let context = &mut self.context;
            let rays = self.plaza.record(context, &frame, view, time_s)?;
            self.tracer
                .record_trace(context, &frame, (&view, &rays), 1)?;
            image.begin(&device, frame.cmd, &Begin::default());
            self.tracer.record_show(&device, &frame);
            image.end(&device, frame.cmd);
            frame.submit_image(&mut image)?;
        }
        image.present()?;
        Ok(true)
    }

    /// Destroys everything, and returns the messages of the validation layer.
    fn close(self) -> Result<Messages> {
        let mut context = self.context;
        context.wait_idle()?;
        drop((self.swapchain, self.frames));
        self.tracer.destroy(&context);
        self.plaza.destroy(&mut context);
        Ok(context.messages.clone())
    }
}

/// Returns true if the window was destroyed from outside.
fn is_gone(error: &(dyn Error + 'static)) -> bool {
    matches!(
        error.downcast_ref(),
        Some(StandaloneError::SurfaceLost { .. })
    )
}

fn extent(size: PhysicalSize<u32>) -> vk::Extent2D {
    let PhysicalSize { width, height } = size;
    vk::Extent2D { width, height }
}
