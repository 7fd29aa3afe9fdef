//! A crowd that rays meet: a plaza by ray queries alone, with shadows and a mirror, in a window or
//! into a picture.
//!
//! It needs a device with `VK_KHR_ray_query`, such as lavapipe of Mesa 25.

#![allow(
    clippy::duplicate_mod,
    reason = "`say` and `usage` both recognise a closed pipe"
)]

#[path = "../common/display.rs"]
mod display;
#[path = "../common/picture.rs"]
mod picture;
mod plaza;
#[path = "../common/say.rs"]
mod say;
mod tracer;
#[path = "../common/usage.rs"]
mod usage;
mod window;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use plaza::{FRAMES_IN_FLIGHT, Plaza};
use say::{Words, say};
use throng::ash::vk;
use throng_standalone::{Begin, Context, ContextDesc, Frames, Target, TargetDesc};
use tracer::Tracer;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// Size of the picture, and of the window until it is resized, in pixels.
const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 960,
    height: 540,
};
/// Frames until all structures are built.
const WARM_UP: u32 = 24;

/// Traces a crowd with ray queries, in a window if there is a display, else into a picture.
#[derive(Debug, Parser)]
#[command(name = "rays", after_help = window::KEYS)]
struct Args {
    /// Writes a picture without a window, even if there is a display.
    #[arg(long)]
    headless: bool,

    /// Writes the picture to this file, without a window. [default: rays.png]
    #[arg(long, value_name = "FILE.png", value_parser = picture::png_path)]
    out: Option<PathBuf>,

    /// Closes the window after this many frames, at least 1. [default: no limit]
    #[arg(long, value_name = "N", conflicts_with_all = ["headless", "out"])]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    frames: Option<u64>,
}

fn main() -> Result<ExitCode, Words> {
    match Args::try_parse() {
        Ok(args) => run(&args)?,
        Err(error) => return Ok(usage::print(&error)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a window if there is a display, otherwise draws a picture.
fn run(args: &Args) -> Result<()> {
    if !args.headless && args.out.is_none() && display::has_display() {
        match window::event_loop() {
            Some(event_loop) => return window::run(event_loop, args.frames),
            None => say(&format!(
                "no window ({}), going on without",
                display::display_advice()
            )),
        }
    }
    picture(args.out.as_deref().unwrap_or(Path::new("rays.png")))
}

fn context_desc() -> ContextDesc<'static> {
    ContextDesc {
        app_name: "throng rays",
        rays: true,
        ..ContextDesc::default()
    }
}

/// Draws the plaza once everything is built, and writes it to a file.
fn picture(path: &Path) -> Result<()> {
    let mut context = Context::new(&context_desc())?;
    let desc = TargetDesc {
        extent: EXTENT,
        depth_format: None,
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc)?;
    let mut plaza = Plaza::new(&mut context)?;
    // SAFETY: the layout is the crowd's, which lives on.
    let mut tracer = unsafe { Tracer::new(&context, plaza.hit_layout()?, desc.color_format) }?;
    let mut frames = Frames::new(&context, FRAMES_IN_FLIGHT)?;
    let (device, view) = (
        context.device.clone(),
        plaza::view(plaza::FRONT_RAD, EXTENT),
    );
    for number in 0..=WARM_UP {
        let frame = frames.begin()?;
        let time_s = f64::from(number) / 60.0;
        // SAFETY: the frame was just begun, and is submitted.
        unsafe {
            let rays = plaza.record(&mut context, &frame, view, time_s)?;
            if number == WARM_UP {
                tracer.record_trace(&context, &frame, (&view, &rays), 2)?;
                target.begin(&device, frame.cmd, &Begin::default());
                tracer.record_show(&device, &frame);
                target.end(&device, frame.cmd);
            }
            frame.submit()?;
        }
    }
    // Reading waits for the device.
    let rgba = target.read_rgba()?;
    picture::write_rgba(path, &rgba, EXTENT.width, EXTENT.height)?;
    plaza.describe();
    say(&format!("wrote {}", path.display()));
    tracer.destroy(&context);
    plaza.destroy(&mut context);
    let messages = context.messages.clone();
    drop((frames, target, context));
    Ok(messages.check()?)
}
