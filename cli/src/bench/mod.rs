//! `throng bench`: what a character costs to load, animate, upload and draw.

mod cpu;
mod figures;
mod gpu;

use crate::failure::{Failure, after_help};
use crate::model::{Space, load, note_repairs};
use crate::report::FORMAT;
use crate::words::{note, plural, shown};
use figures::{Figures, Row, median, ms, row};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;
use throng::character::Character;
use throng::import::ImportOptions;

/// Measure what a character costs: loading, animation, upload and drawing.
///
/// Every instance plays a clip of its own at a time of its own. Frames are measured with cull and
/// animate on the CPU, then with both on the GPU. Times are medians of milliseconds
/// per frame. Absolute times depend on the machine and on what else runs on it: compare figures of
/// one run.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help!("Examples:
  throng bench knight.glb                       1,000 instances
  throng bench knight.glb --instances 10000 --frames 100
  throng bench knight.glb --cpu-only            without Vulkan

THRONG_DEVICE selects the device, by its index or a part of its name.")
)]
pub(crate) struct Args {
    /// The file.
    file: PathBuf,
    /// The number of instances.
    #[arg(long, value_name = "N", default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    instances: u32,
    /// The number of frames that are measured.
    #[arg(long, value_name = "N", default_value_t = 30,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: u32,
    /// The size of the picture in pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    size: (u32, u32),
    /// Measure loading and animation only, without Vulkan.
    #[arg(long)]
    cpu_only: bool,
    /// Print JSON for programs instead of tables.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    space: Space,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.parse().ok().filter(|edge| (1..=16_384).contains(edge));
    let sizes = text.split_once('x');
    let sizes = sizes.and_then(|(width, height)| Some((number(width)?, number(height)?)));
    sizes.ok_or_else(|| "expected a size such as 1280x720, at most 16384 each".into())
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        note("this program was built for debugging: install it, or build it with --release");
    }
    let started = Instant::now();
    let model = load(&args.file, &args.space.of(ImportOptions::default()))?;
    let import_ms = ms(started);
    note_repairs(&model);
    let model = &model.character;
    let document = json!({
        "format": FORMAT,
        "file": args.file.display().to_string(),
        "instances": args.instances,
        "frames": args.frames,
        "device": null,
        "per_frame": null,
        "per_frame_on_gpu": null,
        "tables": [],
    });
    let mut figures = Figures::new(out, args.json.then_some(document));
    let contents = format!(
        "{}: {}, {}, {}; {}",
        shown(&args.file),
        plural(model.skeleton().len(), "joint"),
        plural(model.vertex_count(), "vertex"),
        plural(model.clips().len(), "clip"),
        plural(args.instances as usize, "instance")
    );
    let (cpu, threads) = (cpu::name(), cpu::threads());
    let words = format!("{contents}\nCPU: {cpu}, {}", plural(threads, "thread"));
    figures.fact("cpu", cpu.into(), &words)?;
    if args.json {
        figures.fact("threads", threads.into(), "")?;
    }
    figures.table("Loading, once", &loading(args, model, import_ms)?)?;
    let frames = args.frames as usize;
    let animate = cpu::animate(model, args.instances as usize, frames)?;
    figures.table("Animation on the CPU, ms per frame", &animate)?;
    if !args.cpu_only {
        gpu::run(
            args.size,
            (args.instances, args.frames),
            model,
            &mut figures,
        )?;
    }
    figures.end()
}

/// The time of the import, and of loading the same character when saved.
fn loading(args: &Args, model: &Character, import_ms: f64) -> Result<Vec<Row>, Failure> {
    let bytes = model.to_bytes();
    let mut times = Vec::new();
    for _ in 0..5 {
        let started = Instant::now();
        let _ = std::hint::black_box(Character::from_bytes(&bytes, &Default::default())?);
        times.push(ms(started));
    }
    let import = match crate::model::is_builtin(&args.file) {
        true => "making it",
        false => "import",
    };
    Ok(vec![
        row(import, import_ms, None),
        row("the saved character", median(times), None),
    ])
}
