//! Rendering without a window: the last frame goes to a file, the timings to the screen.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use throng::ash::vk;
use throng_standalone::{Context, Frames, Messages, Target, TargetDesc};

use super::args::Args;
use super::moving_picture::MovingPicture;
use super::picture::write_rgba;
use super::progress::Progress;
use super::scene::Scene;
use super::show::{self, Canvas, DEPTH, FRAMES_IN_FLIGHT, Show};
use super::stats::{self, Log};
use super::{Result, check_validation, outputs, say, scenery};

/// Default number of frames: half a minute of drawing on a CPU.
const FRAMES: u32 = 30;
/// Time limit if no number of frames is given.
///
/// Frames that have not begun by then are skipped, except the last. Its picture does not depend on
/// the number of frames before.
const BUDGET: Duration = Duration::from_secs(20);
const DT_S: f64 = 1.0 / 60.0;

/// The result of a rendering.
pub(crate) struct Rendered {
    pub(crate) device: String,
    pub(crate) messages: Messages,
    pub(crate) scene: Scene,
    pub(crate) log: Log,
    /// The last frame's picture: rows from the top, RGBA, sRGB encoded.
    pub(crate) rgba: Vec<u8>,
}

/// Renders, writes the picture and the timings, and prints the table.
pub(crate) fn run(args: &Args) -> Result<()> {
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| PathBuf::from("crowd.png"));
    let args = &Args {
        out: Some(out.clone()),
        ..args.clone()
    };
    outputs::check(&args.outputs())?;
    let rendered = render(args)?;
    write_picture(&out, &rendered.rgba, args.size.0)?;
    let (log, scene, device) = (&rendered.log, &rendered.scene, &rendered.device);
    if let Some(path) = &args.stats {
        let extent = (args.size.0.width, args.size.0.height);
        stats::write(path, &log.to_json(device, scene, extent))?;
    }
    log.print(device, scene)?;
    for path in [Some(&out), args.apng.as_ref()].into_iter().flatten() {
        say(&format!("wrote        {}", path.display()))?;
    }
    check_validation(&rendered.messages)
}

/// Renders all frames and reads the last one back.
pub(crate) fn render(args: &Args) -> Result<Rendered> {
    render_scene(args, show::scene(args)?)
}

/// Renders an existing scene and reads the last frame back.
pub(crate) fn render_scene(args: &Args, scene: Scene) -> Result<Rendered> {
    let mut context = Context::new(&show::context_desc(args))?;
    let messages = context.messages.clone();
    let desc = TargetDesc {
        name: "picture",
        extent: args.size.0,
        depth_format: Some(DEPTH),
        samples: show::samples(&context, args)?,
        ..TargetDesc::default()
    };
    check_memory(&context, &desc)?;
    let target = Target::new(&context, &desc)?;
    let rendered = draw(args, &mut context, &target, scene);
    let device = context.info.clone();
    drop((target, context));
    let (scene, log, rgba) = rendered?;
    Ok(Rendered {
        device,
        messages,
        scene,
        log,
        rgba,
    })
}

/// Creates the show, runs it and destroys it.
fn draw(
    args: &Args,
    context: &mut Context,
    target: &Target,
    scene: Scene,
) -> Result<(Scene, Log, Vec<u8>)> {
    let mut show = Show::new(context, scene, target.pass_desc(), args)?;
    let frames = Frames::new(context, FRAMES_IN_FLIGHT as usize);
    let drawn = frames.map_err(Into::into);
    let drawn =
        drawn.and_then(|mut frames| draw_frames(args, context, target, &mut show, &mut frames));
    let rgba = drawn.and_then(|log| Ok((log, target.read_rgba()?)));
    let scene = show.destroy(context)?;
    rgba.map(|(log, rgba)| (scene, log, rgba))
}

fn draw_frames(
    args: &Args,
    context: &mut Context,
    target: &Target,
    show: &mut Show,
    frames: &mut Frames,
) -> Result<Log> {
    let mut camera = show.scene.camera(args.distance);
    let view = camera.view(target.extent(), scenery::lighting());
    let count = args.frames.unwrap_or(FRAMES);
    let dt_s = args.fixed_dt.unwrap_or(DT_S);
    let mut progress = Progress::new(count);
    let mut picked = None;
    let moving = args.apng.as_deref();
    let moving = moving.map(|path| MovingPicture::new(path, target.extent(), count, dt_s));
    let mut moving = moving.transpose()?;
    // The first frame is left out, because it uploads the models.
    let mut log = Log::new(1, show.crowd.stages());
    let mut frames_in_flight = Vec::new();
    let mut ends = Ends::new();
    let (begun, mut number) = (Instant::now(), 0);
    while number < count {
        let started = Instant::now();
        let frame = frames.begin()?;
        let waited = Instant::now();
        if ends.pending == FRAMES_IN_FLIGHT {
            ends.ended(waited);
        }
        let last = number + 1 == count;
        if let Some(pixel) = args.pick.filter(|_| last) {
            picked = Some(show.pick(&view, pixel)?);
        }
        let canvas = Canvas::Picture(target);
        let time_s = f64::from(number) * dt_s;
        // SAFETY: the frame was just begun, the target belongs to the context, and the submit
        // follows.
        let mut entry = unsafe { show.record(context, &frame, &canvas, view, time_s)? };
        let recorded = Instant::now();
        let frame_index = frame.frame_index as u32;
        // SAFETY: `frame` is the one begun last, and its recording is complete.
        unsafe { frame.submit()? };
        entry.cpu.wait = show::ms(started, waited);
        entry.cpu.submit = show::ms(recorded, Instant::now());
        ends.pending += 1;
        log.add(entry);
        frames_in_flight.push(frame_index);
        progress.set(number + 1);
        number += 1;
        if let Some(moving) = &mut moving {
            ends.drain(context, frames)?;
            moving.add(target.read_rgba()?)?;
            ends.from = Instant::now();
        } else if args.frames.is_none() && begun.elapsed() > BUDGET && number + 1 < count {
            ends.drain(context, frames)?;
            while number + 1 < count {
                show.advance(f64::from(number) * dt_s)?;
                number += 1;
            }
            ends.from = Instant::now();
        }
    }
    progress.clear();
    picked.map_or(Ok(()), |text| say(&text))?;
    ends.drain(context, frames)?;
    log.set_frame_ms(ends.times_ms);
    moving.map_or(Ok(()), MovingPicture::finish)?;
    // The oldest first.
    let pending = &frames_in_flight[frames_in_flight
        .len()
        .saturating_sub(FRAMES_IN_FLIGHT as usize)..];
    for readings in show.last_readings(context, pending)? {
        log.add_readings(readings);
    }
    Ok(log)
}

/// Measures frames from end to end, because a frame that was only submitted has taken no time yet.
struct Ends {
    /// The end of the previous frame.
    from: Instant,
    /// Number of frames that were submitted and have not finished.
    pending: u32,
    times_ms: Vec<f64>,
}

impl Ends {
    fn new() -> Self {
        Self {
            from: Instant::now(),
            pending: 0,
            times_ms: Vec::new(),
        }
    }

    /// Records that the oldest frame has finished.
    fn ended(&mut self, now: Instant) {
        self.times_ms.push(show::ms(self.from, now));
        self.from = now;
        self.pending -= 1;
    }

    /// Waits for each pending frame, by beginning and submitting an empty frame with the same frame
    /// index.
    fn drain(&mut self, context: &mut Context, frames: &mut Frames) -> Result<()> {
        for number in 0..FRAMES_IN_FLIGHT {
            let frame = frames.begin()?;
            // With fewer frames than frames in flight, the first frame indices were never used.
            if self.pending >= FRAMES_IN_FLIGHT - number {
                self.ended(Instant::now());
            }
            // SAFETY: the frame was just begun, and nothing is recorded in it.
            unsafe { frame.submit()? };
        }
        context.wait_idle()?;
        Ok(())
    }
}

/// Fails if the images cannot fit, because a software driver would take more memory than there is.
fn check_memory(context: &Context, desc: &TargetDesc<'_>) -> Result<()> {
    // SAFETY: the physical device belongs to this instance.
    let memory = unsafe {
        context
            .instance
            .get_physical_device_memory_properties(context.physical_device)
    };
    let heaps = memory.memory_heaps_as_slice();
    let largest = heaps.iter().map(|heap| heap.size).max().unwrap_or(0);
    let texels = u64::from(desc.extent.width) * u64::from(desc.extent.height);
    // Colour and depth of each sample, the resolved colour, its copy and the file's pixels.
    let needed = texels * (8 * u64::from(desc.samples.as_raw()) + 12);
    if needed > largest / 4 * 3 {
        let vk::Extent2D { width, height } = desc.extent;
        let (needed, largest) = (needed >> 20, largest >> 20);
        let text = format!(
            "a picture of {width}x{height} takes {needed} MiB, and the device has {largest} MiB"
        );
        return Err(text.into());
    }
    Ok(())
}

/// Writes the picture as a PNG file.
pub(crate) fn write_picture(path: &Path, rgba: &[u8], extent: vk::Extent2D) -> Result<()> {
    write_rgba(path, rgba, extent.width, extent.height)
        .map_err(|error| format!("{}: {error}", path.display()).into())
}
