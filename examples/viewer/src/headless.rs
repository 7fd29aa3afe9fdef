//! Pictures without a window.

use std::error::Error;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use egui::{Pos2, RawInput, Rect};
use throng::ash::vk;
use throng::spring::SpringBones;
use throng_standalone::{Begin, Context, ContextDesc, Frames, Messages, Target, TargetDesc};

use super::app::App;
use super::args::Args;
use super::picture::write_rgba;
use super::record::Recording;
use super::scene::FRAMES_IN_FLIGHT;
use super::{Result, check_validation, outputs, say};

/// The longest recording in seconds.
const LONGEST_S: f64 = 120.0;

/// Writes the picture and the animation that the command line asks for.
pub(crate) fn run(args: &Args) -> Result<()> {
    let outputs = [&args.screenshot, &args.record];
    let outputs: Vec<&Path> = outputs
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    outputs::check(&outputs)?;
    let vk::Extent2D { width, height } = args.size.0;
    let messages = with_studio(args, |studio| {
        if let Some(subject) = &studio.app.subject {
            for (source, files) in &subject.files {
                outputs::check_unread(&outputs, source, files)?;
            }
        }
        if let Some(path) = &args.screenshot {
            let rgba = studio.shoot()?;
            write_rgba(path, &rgba, width, height)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            wrote(path);
        }
        if let Some(path) = &args.record {
            studio.record(path, args.fps)?;
            wrote(path);
        }
        Ok(())
    })?;
    check_validation(&messages.1)
}

fn wrote(path: &Path) {
    say(&format!("wrote {}", path.display()));
}

/// Opens the first file of the command line, and lets `use_it` take pictures.
///
/// # Errors
/// Errors of the import, the device and `use_it`.
pub(crate) fn with_studio<T>(
    args: &Args,
    use_it: impl FnOnce(&mut Studio<'_>) -> Result<T>,
) -> Result<(T, Messages)> {
    let mut context = Context::new(&context_desc(args))?;
    let messages = context.messages.clone();
    let desc = TargetDesc {
        name: "panels and picture",
        extent: args.size.0,
        depth_format: None,
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc)?;
    let used = studio(args, &mut context, &target, use_it);
    drop((target, context));
    Ok((used?, messages))
}

fn studio<T>(
    args: &Args,
    context: &mut Context,
    target: &Target,
    use_it: impl FnOnce(&mut Studio<'_>) -> Result<T>,
) -> Result<T> {
    let mut app = App::new(
        context,
        args,
        (target.extent(), target.pass_desc().color_formats[0]),
    )?;
    let frames = Frames::new(context, FRAMES_IN_FLIGHT as usize);
    let used = frames.map_err(Into::into).and_then(|mut frames| {
        app.wait(context)?;
        let mut studio = Studio {
            context: &mut *context,
            app: &mut app,
            frames: &mut frames,
            target,
        };
        studio.swing()?;
        use_it(&mut studio)
    });
    let freed = app.destroy(context);
    let used = used?;
    freed?;
    Ok(used)
}

/// The device description of the command line.
pub(crate) fn context_desc(args: &Args) -> ContextDesc<'static> {
    ContextDesc {
        app_name: "throng viewer",
        validation: args.validate,
        ..ContextDesc::default()
    }
}

/// A line in the terminal that is written again and again. There is none if the error stream goes
/// elsewhere.
struct Progress {
    shown: bool,
}

impl Progress {
    fn new() -> Self {
        Self {
            shown: std::io::stderr().is_terminal(),
        }
    }

    fn report(&self, text: &str) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r{text}");
        }
    }
}

impl Drop for Progress {
    /// Removes the line.
    fn drop(&mut self) {
        self.report("\x1b[2K");
        self.report("");
    }
}

/// A viewer without a window.
pub(crate) struct Studio<'a> {
    context: &'a mut Context,
    pub(crate) app: &'a mut App,
    frames: &'a mut Frames,
    target: &'a Target,
}

impl Studio<'_> {
    /// Draws a picture: rows from the top, RGBA, sRGB encoded.
    ///
    /// # Errors
    /// Errors of the device, and faults that a window would show as messages.
    pub(crate) fn shoot(&mut self) -> Result<Vec<u8>> {
        self.picture(self.settling())
    }

    /// The number of frames until nothing in the picture moves by itself.
    ///
    /// Panels know their sizes once they have been laid out, and show figures of earlier frames.
    fn settling(&self) -> u32 {
        if self.app.settings.panels { 6 } else { 2 }
    }

    /// Lets spring bones swing before the first picture, as they would if the clip had played up to
    /// its time. Otherwise hair would stand as it was modelled.
    ///
    /// # Errors
    /// As [`Self::shoot`].
    fn swing(&mut self) -> Result<()> {
        /// Time in which springs forget how they started, in seconds.
        const FORGET_S: f64 = 2.0;
        let (Some(playback), Some(subject)) = (&self.app.playback, &self.app.subject) else {
            return Ok(());
        };
        if !playback.springs || subject.character.springs().chains.is_empty() {
            return Ok(());
        }
        let mut end_s = playback.time_s;
        let duration_s = playback.duration_s(&subject.character);
        if playback.looping && duration_s > 0.0 {
            end_s += (FORGET_S / duration_s).ceil() * duration_s;
        }
        let step_s = SpringBones::STEP_S * f64::from(SpringBones::MAX_STEPS);
        let steps = (end_s.min(FORGET_S) / step_s).ceil() as u32;
        for left in (0..=steps).rev() {
            if let Some(playback) = &mut self.app.playback {
                playback.time_s =
                    end_s - f64::from(left) * (end_s.min(FORGET_S) / f64::from(steps.max(1)));
            }
            self.draw()?;
        }
        Ok(())
    }

    /// Draws this number of frames, and reads the last.
    pub(crate) fn picture(&mut self, draws: u32) -> Result<Vec<u8>> {
        for _ in 0..draws {
            self.draw()?;
        }
        if let Some(message) = self.app.messages.first() {
            return Err(message.clone().into());
        }
        Ok(self.target.read_rgba()?)
    }

    /// Does what a panel asks for.
    ///
    /// # Errors
    /// The fault that a window would show as a message.
    #[cfg(test)]
    pub(crate) fn act(&mut self, action: super::app::Action) -> Result<()> {
        self.app.apply(self.context, action)
    }

    /// Says how long a frame took.
    #[cfg(test)]
    pub(crate) fn took(&mut self, frame_ms: f64) {
        self.app.adapt(self.context, frame_ms);
    }

    /// Waits for the file that is being imported.
    ///
    /// # Errors
    /// The fault that a window would show as a message.
    #[cfg(test)]
    pub(crate) fn load(&mut self) -> Result<()> {
        self.app.wait(self.context)
    }

    fn draw(&mut self) -> Result<()> {
        let extent = self.target.extent();
        let size = egui::vec2(extent.width as f32, extent.height as f32);
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            time: Some(0.0),
            ..RawInput::default()
        };
        let context = &mut *self.context;
        let output = self.app.update(context, input, 0.0)?;
        let painted = self.app.paint(context, output)?;
        let frame = self.frames.begin()?;
        // SAFETY: the frame was just begun and is submitted below, and the target has the format
        // that the app was created with.
        unsafe {
            self.app.record(context, &frame)?;
            let device = context.device.clone();
            self.target.begin(&device, frame.cmd, &Begin::default());
            self.app.record_panels(frame.cmd, extent, &painted)?;
            self.target.end(&device, frame.cmd);
            frame.submit()?;
        }
        Ok(())
    }

    /// Writes one cycle of the clip as an animation (GIF or APNG).
    fn record(&mut self, path: &Path, fps: f64) -> Result<()> {
        let (Some(playback), Some(subject)) = (&self.app.playback, &self.app.subject) else {
            return Err("nothing is loaded".into());
        };
        let duration_s = playback.duration_s(&subject.character);
        // From here on: time that went back would stop spring bones.
        let start_s = playback.time_s;
        if duration_s > LONGEST_S {
            let text =
                format!("the clip takes {duration_s:.1} s, and a recording {LONGEST_S} s at most");
            return Err(text.into());
        }
        let frames = (duration_s * fps).round().max(1.0) as u32;
        let named = |error| in_file(path, error);
        let extent = self.target.extent();
        let mut recording = Recording::new(path, extent, frames, fps).map_err(named)?;
        let progress = Progress::new();
        for frame in 0..frames {
            if let Some(playback) = &mut self.app.playback {
                playback.playing = false;
                playback.time_s = start_s + f64::from(frame) / fps;
            }
            // The panels have their places after the first picture.
            let draws = if frame == 0 { self.settling() } else { 1 };
            recording.add(self.picture(draws)?).map_err(named)?;
            progress.report(&format!("{} of {frames} frames", frame + 1));
        }
        recording.finish().map_err(named)
    }
}

/// Adds the path to an error, unless it says it already.
fn in_file(path: &Path, error: Box<dyn Error>) -> Box<dyn Error> {
    let (path, text) = (path.display().to_string(), error.to_string());
    if text.starts_with(&path) {
        return error;
    }
    format!("{path}: {text}").into()
}
