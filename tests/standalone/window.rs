//! Tests the swapchain in a real window.
//!
//! It is a single test, because a process can have only one event loop. It opens its window on
//! Linux only.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use throng::ash::vk;
use throng_standalone::{Begin, Context, ContextDesc, Frames, StandaloneError, Swapchain};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::platform::pump_events::EventLoopExtPumpEvents;
use winit::raw_window_handle::{
    DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, RawWindowHandle, WindowHandle,
};
use winit::window::{Window, WindowAttributes, WindowId};

const FIRST: vk::Extent2D = vk::Extent2D {
    width: 320,
    height: 240,
};
const DEPTH: Option<vk::Format> = Some(vk::Format::D32_SFLOAT);
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const NONE: vk::Extent2D = vk::Extent2D {
    width: 0,
    height: 0,
};

#[cfg(target_os = "linux")]
fn event_loop() -> EventLoop<()> {
    use winit::platform::wayland::EventLoopBuilderExtWayland;
    use winit::platform::x11::EventLoopBuilderExtX11;
    let mut builder = EventLoop::builder();
    // Tests do not run on the main thread.
    EventLoopBuilderExtX11::with_any_thread(&mut builder, true);
    EventLoopBuilderExtWayland::with_any_thread(&mut builder, true);
    builder.build().expect("an event loop")
}

#[cfg(not(target_os = "linux"))]
fn event_loop() -> EventLoop<()> {
    panic!("the test opens its window on Linux only")
}

#[derive(Default)]
struct App {
    window: Option<Arc<Window>>,
    size: vk::Extent2D,
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let size = PhysicalSize::new(FIRST.width, FIRST.height);
        let attributes = WindowAttributes::default()
            .with_title("throng: window test")
            .with_inner_size(size);
        let window = event_loop.create_window(attributes).expect("a window");
        self.size = extent(window.inner_size());
        self.window = Some(Arc::new(window));
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if let WindowEvent::Resized(size) = event {
            self.size = extent(size);
        }
    }
}

fn extent(size: PhysicalSize<u32>) -> vk::Extent2D {
    let PhysicalSize { width, height } = size;
    vk::Extent2D { width, height }
}

/// The window, the objects that draw to it, and its event loop.
struct Scene {
    event_loop: EventLoop<()>,
    app: App,
    context: Context,
    frames: Frames,
    swapchain: Swapchain,
}

impl Scene {
    fn new() -> Self {
        let mut event_loop = event_loop();
        let mut app = App::default();
        pump(&mut event_loop, &mut app, |app| app.window.is_some());
        let window = app.window.clone().expect("a window");
        let desc = ContextDesc {
            app_name: "window test",
            validation: true,
            ..ContextDesc::default()
        };
        let context = Context::for_window(&desc, &window).expect("a context");
        assert!(context.across_submits, "see .cargo/config.toml");
        let frames = Frames::new(&context, 2).expect("frames in flight");
        let swapchain = Swapchain::new(&context, window, app.size, DEPTH, ONE).expect("images");
        Self {
            event_loop,
            app,
            context,
            frames,
            swapchain,
        }
    }

    /// Draws one frame for a window of this size. Returns true if there was an image.
    fn frame(&mut self, size: vk::Extent2D) -> bool {
        let context = &self.context;
        let frame = self.frames.begin().expect("a frame");
        let Some(mut image) = self.swapchain.acquire(size).expect("no error") else {
            return false;
        };
        let begin = Begin {
            color: [0.1, 0.2, 0.4, 1.0],
            ..Begin::default()
        };
        // SAFETY: the calls are in the order that each requires.
        unsafe {
            image.begin(&context.device, frame.cmd, &begin);
            image.end(&context.device, frame.cmd);
            frame.submit_image(&mut image).expect("submitted");
            image.present().expect("presented");
        }
        true
    }

    fn draw(&mut self, count: usize) {
        let size = self.app.size;
        for number in 0..count {
            assert!(self.frame(size), "frame {number} had no image");
        }
    }

    /// Resizes the window, and waits until it reports the new size.
    fn resize(&mut self, to: vk::Extent2D) {
        let window = self.app.window.as_ref().expect("a window");
        let _ = window.request_inner_size(PhysicalSize::new(to.width, to.height));
        pump(&mut self.event_loop, &mut self.app, |app| app.size == to);
    }

    /// Replaces the swapchain of the window. The new one first gets an extent without area.
    fn replace(
        &mut self,
        window: impl HasDisplayHandle + HasWindowHandle + 'static,
        samples: vk::SampleCountFlags,
    ) {
        // A window has one swapchain at a time, so the old one is destroyed first.
        let next = Swapchain::new(&self.context, window, NONE, DEPTH, samples);
        self.swapchain = next.expect("a swapchain of no area");
        assert_eq!(self.swapchain.extent(), NONE);
    }
}

fn pump(event_loop: &mut EventLoop<()>, app: &mut App, done: impl Fn(&App) -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done(app) {
        assert!(Instant::now() < end, "the window system says nothing");
        pump_once(event_loop, app);
    }
}

fn pump_once(event_loop: &mut EventLoop<()>, app: &mut App) {
    let _ = event_loop.pump_app_events(Some(Duration::from_millis(10)), app);
}

fn minimise(scene: &mut Scene) {
    assert!(!scene.frame(NONE));
    assert!(!scene.frame(vk::Extent2D {
        width: 300,
        height: 0
    }));
    scene.draw(3);
}

fn resize(scene: &mut Scene) {
    let told = vk::Extent2D {
        width: 480,
        height: 200,
    };
    scene.resize(told);
    scene.draw(5);
    assert_eq!(scene.swapchain.extent(), told);
    // No new extent is passed, so the window system reports that the images are out of date.
    let untold = vk::Extent2D {
        width: 200,
        height: 333,
    };
    scene.resize(untold);
    for _ in 0..5 {
        scene.frame(told);
    }
    assert_eq!(scene.swapchain.extent(), untold);
}

fn change_kind(scene: &mut Scene) {
    let window = scene.app.window.clone().expect("a window");
    scene.replace(window, vk::SampleCountFlags::TYPE_4);
    scene.draw(4);
}

/// An image that is not submitted is given up: the frame is begun again, and the images are
/// recreated.
fn give_up(scene: &mut Scene) {
    let size = scene.app.size;
    for _ in 0..2 {
        scene.frames.begin().expect("a frame");
        let image = scene.swapchain.acquire(size);
        assert!(matches!(image, Ok(Some(_))), "{image:?}");
    }
    scene.draw(4);
}

/// A window that can be destroyed while its surface lives.
struct Mortal(Mutex<Option<Arc<Window>>>);

impl Mortal {
    fn with<T>(
        &self,
        get: impl FnOnce(&Window) -> Result<T, HandleError>,
    ) -> Result<T, HandleError> {
        let window = self.0.lock().map_err(|_| HandleError::Unavailable)?;
        get(window.as_ref().ok_or(HandleError::Unavailable)?)
    }
}

impl HasWindowHandle for Mortal {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        let raw = self.with(|window| Ok(window.window_handle()?.as_raw()))?;
        // SAFETY: the handle is used only while a surface is created, when the window is alive.
        Ok(unsafe { WindowHandle::borrow_raw(raw) })
    }
}

impl HasDisplayHandle for Mortal {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        let raw = self.with(|window| Ok(window.display_handle()?.as_raw()))?;
        // SAFETY: the event loop keeps the display open.
        Ok(unsafe { DisplayHandle::borrow_raw(raw) })
    }
}

/// The window is destroyed from outside: an error says so, and everything can be destroyed.
fn lose_the_surface(scene: &mut Scene) {
    let window = scene.app.window.take().expect("a window");
    if !matches!(
        window.window_handle().map(|handle| handle.as_raw()),
        Ok(RawWindowHandle::Xlib(_) | RawWindowHandle::Xcb(_))
    ) {
        return;
    }
    let mortal = Arc::new(Mortal(Mutex::new(Some(window))));
    scene.replace(Arc::clone(&mortal), ONE);
    scene.draw(3);
    *mortal.0.lock().expect("no panic") = None;
    let lost = (0..20).find_map(|_| {
        pump_once(&mut scene.event_loop, &mut scene.app);
        let device = &scene.context.device;
        let frame = scene.frames.begin().expect("a frame");
        let mut image = match scene.swapchain.acquire(scene.app.size) {
            Ok(image) => image?,
            Err(error) => return Some(error),
        };
        // SAFETY: the calls are in the order that each requires.
        unsafe {
            image.begin(device, frame.cmd, &Begin::default());
            image.end(device, frame.cmd);
            frame.submit_image(&mut image).expect("submitted");
            image.present().err()
        }
    });
    assert!(
        matches!(lost, Some(StandaloneError::SurfaceLost { .. })),
        "{lost:?}"
    );
}

/// A context made without a window cannot present, and reports that.
fn refuse_without_window(scene: &mut Scene) {
    let context = Context::new(&ContextDesc::default()).expect("a context");
    let window = scene.app.window.clone().expect("a window");
    let refused = Swapchain::new(&context, window, FIRST, DEPTH, ONE);
    assert!(matches!(
        refused.err(),
        Some(StandaloneError::Missing { .. })
    ));
}

#[test]
#[ignore = "opens a window: needs a display and --include-ignored"]
fn presents_resizes_and_minimises() {
    let _turn = crate::setup::alone();
    let mut scene = Scene::new();
    assert_eq!(scene.swapchain.extent(), FIRST);
    scene.draw(6);
    resize(&mut scene);
    minimise(&mut scene);
    change_kind(&mut scene);
    give_up(&mut scene);
    refuse_without_window(&mut scene);
    lose_the_surface(&mut scene);
    let messages = scene.context.messages.clone();
    drop(scene);
    messages.check().unwrap();
}
