//! The window.

use std::error::Error;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use throng::ash::vk;
use throng_standalone::{Begin, Context, Frames, Messages, StandaloneError, Swapchain};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::error::EventLoopError;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::ModifiersState;
use winit::window::{Window, WindowAttributes, WindowId};

use super::app::App;
use super::args::Args;
use super::headless::context_desc;
use super::keys::{self, KEYS};
use super::scene::FRAMES_IN_FLIGHT;
use super::{Result, check_validation, say};

/// Minimum time between frames, because not every display limits the frame rate.
const LEAST_FRAME: Duration = Duration::from_millis(8);
/// Interval at which an invisible window is checked.
const ASLEEP: Duration = Duration::from_millis(100);
/// The longest time that passes for the clips between two frames.
const LONGEST_S: f64 = 0.25;

/// Shows the viewer until its window is closed.
///
/// # Errors
/// If there is no display or no device, and for any message of the validation layer.
pub(crate) fn run(args: &Args) -> Result<()> {
    let advice = "or use --screenshot or --record to draw without a window";
    // winit panics if one of the X libraries is missing.
    let event_loop = match catch_unwind(event_loop) {
        Ok(Ok(event_loop)) => event_loop,
        Ok(Err(_)) | Err(_) => {
            return Err(
                format!("no window: {}, {advice}", crate::display::display_advice()).into(),
            );
        }
    };
    say(KEYS);
    let mut shell = Shell {
        args,
        stage: None,
        failed: None,
        messages: None,
    };
    let ran = event_loop.run_app(&mut shell);
    let closed = shell.stage.take().map_or(Ok(()), Stage::close);
    if let Some(error) = shell.failed {
        return Err(error);
    }
    ran?;
    closed?;
    shell
        .messages
        .map_or(Ok(()), |messages| check_validation(&messages))
}

fn event_loop() -> Result<EventLoop<()>, EventLoopError> {
    let mut builder = EventLoop::builder();
    #[cfg(all(test, target_os = "linux"))]
    {
        use winit::platform::wayland::EventLoopBuilderExtWayland;
        use winit::platform::x11::EventLoopBuilderExtX11;
        // Tests do not run on the main thread.
        EventLoopBuilderExtX11::with_any_thread(&mut builder, true);
        EventLoopBuilderExtWayland::with_any_thread(&mut builder, true);
    }
    builder.build()
}

struct Shell<'a> {
    args: &'a Args,
    stage: Option<Stage>,
    failed: Option<Box<dyn Error>>,
    messages: Option<Messages>,
}

impl Shell<'_> {
    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        if self.stage.is_some() {
            return Ok(());
        }
        let size = self.args.size.0;
        let attributes = WindowAttributes::default()
            .with_title("throng viewer")
            .with_inner_size(PhysicalSize::new(size.width, size.height));
        let window = Arc::new(event_loop.create_window(attributes)?);
        let stage = Stage::new(self.args, window)?;
        self.messages = Some(stage.context.messages.clone());
        self.stage = Some(stage);
        Ok(())
    }

    fn end(&mut self, event_loop: &ActiveEventLoop, why: Option<Box<dyn Error>>) {
        self.failed = self.failed.take().or(why);
        event_loop.exit();
    }
}

impl ApplicationHandler for Shell<'_> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if let Err(error) = self.open(event_loop) {
            self.end(event_loop, Some(error));
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(stage) = &mut self.stage else { return };
        match &event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => self.end(event_loop, None),
            WindowEvent::RedrawRequested => match stage.frame() {
                Ok(()) if stage.app.closed => self.end(event_loop, None),
                Ok(()) => {}
                Err(error) if is_gone(&*error) => self.end(event_loop, None),
                Err(error) => self.end(event_loop, Some(error)),
            },
            _ => stage.event(&event),
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

/// Returns true if the window is gone, which is no fault.
fn is_gone(error: &(dyn Error + 'static)) -> bool {
    matches!(
        error.downcast_ref(),
        Some(StandaloneError::SurfaceLost { .. })
    )
}

/// The viewer in a window.
struct Stage {
    window: Arc<Window>,
    /// Size of the window according to its events. Asking a closed window for its size panics.
    extent: vk::Extent2D,
    hidden: bool,
    title: String,
    modifiers: ModifiersState,
    input: egui_winit::State,
    app: App,
    frames: Frames,
    swapchain: Swapchain,
    /// The time when the last frame began.
    started: Instant,
    // Declared last, because everything else is destroyed with it.
    context: Context,
}

impl Stage {
    fn new(args: &Args, window: Arc<Window>) -> Result<Self> {
        let desc = context_desc(args);
        let mut context = Context::for_window(&desc, &window)?;
        let samples = vk::SampleCountFlags::TYPE_1;
        let size = extent(window.inner_size());
        let swapchain = Swapchain::new(&context, Arc::clone(&window), size, None, samples)?;
        let frames = Frames::new(&context, FRAMES_IN_FLIGHT as usize)?;
        let format = swapchain.pass_desc().color_formats[0];
        let app = App::new(&mut context, args, (swapchain.extent(), format))?;
        let side = context.properties.limits.max_image_dimension2_d as usize;
        let input = egui_winit::State::new(
            app.egui.clone(),
            egui::ViewportId::ROOT,
            &*window,
            Some(window.scale_factor() as f32),
            None,
            Some(side),
        );
        Ok(Self {
            window,
            extent: size,
            hidden: false,
            title: String::new(),
            modifiers: ModifiersState::empty(),
            input,
            app,
            frames,
            swapchain,
            started: Instant::now(),
            context,
        })
    }

    /// Handles an event other than drawing and closing.
    fn event(&mut self, event: &WindowEvent) {
        match event {
            WindowEvent::Resized(size) => self.extent = extent(*size),
            WindowEvent::Occluded(hidden) => self.hidden = *hidden,
            WindowEvent::DroppedFile(path) => self.app.open(path),
            WindowEvent::ModifiersChanged(modifiers) => self.modifiers = modifiers.state(),
            WindowEvent::KeyboardInput { event, .. } if self.takes_keys() => {
                let command = keys::command(&event.logical_key);
                let repeats = matches!(command, Some(keys::Command::Step(_)));
                if let Some(command) = command {
                    let pressed = event.state == ElementState::Pressed;
                    if pressed
                        && (repeats || !event.repeat)
                        && let Err(error) = self.app.command(command)
                    {
                        self.app.tell(error.to_string());
                    }
                    // The panels do not see it: Tab would move their focus.
                    return;
                }
            }
            _ => {}
        }
        // The answer says whether to draw again, which happens anyway.
        let _ = self.input.on_window_event(&self.window, event);
    }

    /// Returns true if keys are commands: not while text is edited, a list is open, or with Ctrl.
    fn takes_keys(&self) -> bool {
        let others = ModifiersState::CONTROL | ModifiersState::ALT | ModifiersState::SUPER;
        let egui = &self.app.egui;
        !egui.egui_wants_keyboard_input()
            && !egui::Popup::is_any_open(egui)
            && !self.modifiers.intersects(others)
    }

    /// Returns true if there is nothing to draw to, or nobody to see it.
    fn is_asleep(&self) -> bool {
        let nothing = self.extent.width == 0 || self.extent.height == 0;
        nothing || self.hidden || self.window.is_minimized() == Some(true)
    }

    fn frame(&mut self) -> Result<()> {
        let started = Instant::now();
        let passed_s = (started - self.started).as_secs_f64();
        self.started = started;
        let input = self.input.take_egui_input(&self.window);
        let context = &mut self.context;
        let mut output = self.app.update(context, input, passed_s.min(LONGEST_S))?;
        let platform = std::mem::take(&mut output.platform_output);
        self.input.handle_platform_output(&self.window, platform);
        let painted = self.app.paint(context, output)?;
        let mut frame = self.frames.begin()?;
        // SAFETY: the frame was just begun. It is submitted, or abandoned.
        if let Err(error) = unsafe { self.app.record(context, &frame) } {
            self.app.tell(error.to_string());
            // SAFETY: the commands are recorded again, so these are never submitted.
            unsafe { self.app.abandon() };
            frame = self.frames.begin()?;
            // SAFETY: the frame was just begun, and is submitted.
            unsafe { self.app.record_empty(context, &frame) };
        }
        let Some(mut image) = self.swapchain.acquire(self.extent)? else {
            // SAFETY: the next frame begins the commands again.
            unsafe { self.app.abandon() };
            return Ok(());
        };
        // SAFETY: the frame was begun, has acquired the image, and is submitted and presented.
        unsafe {
            let device = context.device.clone();
            let (cmd, extent) = (frame.cmd, image.extent());
            image.begin(&device, cmd, &Begin::default());
            self.app.record_panels(cmd, extent, &painted)?;
            image.end(&device, cmd);
            frame.submit_image(&mut image)?;
            image.present()?;
        }
        self.app.adapt(&mut self.context, passed_s * 1e3);
        let title = self.app.title();
        if title != self.title {
            self.window.set_title(&title);
            self.title = title;
        }
        Ok(())
    }

    /// Destroys everything.
    fn close(mut self) -> Result<()> {
        self.app.destroy(&mut self.context)
    }
}

fn extent(size: PhysicalSize<u32>) -> vk::Extent2D {
    vk::Extent2D {
        width: size.width,
        height: size.height,
    }
}
