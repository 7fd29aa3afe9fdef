//! Poses a model file at a time of one of its clips.
//!
//! It lists the contents of the file, writes the posed mesh as Wavefront OBJ, deformed on the CPU
//! or the GPU, and draws it. It needs Vulkan only for `--on gpu` and `--picture`.

mod borrow;
mod deform;
mod gpu;
mod listing;
mod obj;
#[path = "../common/picture.rs"]
mod picture;
#[path = "../common/usage.rs"]
mod usage;

use clap::{Parser, ValueEnum};
use listing::listing;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use throng::SkinningStage;
use throng::builtin;
use throng::character::Character;
use throng::import::{self, ImportOptions, Imported};
use throng::mesh::Aabb;
use throng::palette::SkinningMethod;

/// Poses a model: lists its skins, joints, clips, primitives, morph weights, materials and repairs,
/// writes the posed mesh as Wavefront OBJ, and draws it.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "pose",
    after_help = "Examples:\n  \
        pose knight.glb                                       what is in the file\n  \
        pose knight.glb --clip Walk --time 0.5 --obj out.obj  the mesh, half a second into Walk\n  \
        pose knight.glb --obj rest.obj                        the mesh in its rest pose\n  \
        pose --clip Wave --obj - | head                       the built-in character, to the output\n  \
        pose knight.glb --on gpu --obj out.obj                the mesh, from the GPU's buffer\n  \
        pose --clips-of knight.glb --clip Cheer --picture cheer.png\n                                                              another model's clip, on the built-in character\n  \
        pose --clip Wave --time 1 --picture wave.png --skin compute\n                                                              a picture, by the skin stage\n\n\
        Exits with 0, or 1 where a file, a clip or a time is not to be had, or 2 on wrong usage."
)]
pub struct Args {
    /// A .glb or .gltf file, or `builtin` for the built-in character.
    #[arg(value_name = "FILE", default_value = "builtin")]
    pub file: PathBuf,
    /// Another file whose clips are added to the model, after its own. Joints are matched by name
    /// or, if no names match, by retargeting from one humanoid to another.
    #[arg(long, value_name = "FILE")]
    pub clips_of: Option<PathBuf>,
    /// The clip, by exact name or else by number in the list. Without it, the rest pose is used.
    #[arg(long, value_name = "NAME|INDEX")]
    pub clip: Option<String>,
    /// Time in the clip in seconds, clamped to the clip's start and end. Applies to the first clip
    /// if --clip names none. 0 if absent.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub time: Option<f64>,
    /// Write the posed mesh to this file, `-` for the standard output: positions and normals in the
    /// file's world space, one object per primitive.
    #[arg(long, value_name = "OUT.obj")]
    pub obj: Option<PathBuf>,
    /// The processor that deforms the mesh of --obj.
    #[arg(long, value_enum, default_value = "cpu")]
    pub on: On,
    /// The skinning method, which blends the joints that move a vertex.
    #[arg(long, value_enum, default_value = "linear")]
    pub method: MethodArg,
    /// Draw the posed model and write the picture (PNG) to this file.
    #[arg(long, value_name = "OUT.png", value_parser = picture::png_path)]
    pub picture: Option<PathBuf>,
    /// Where to skin the vertices of --picture: in the vertex shader, in the skin stage on the GPU,
    /// or by the skin stage's CPU implementation. The picture is the same.
    #[arg(long, value_enum, default_value = "vertex")]
    pub skin: Skin,
    /// List the contents of the file. This is the default unless --obj or --picture is given.
    #[arg(long)]
    pub list: bool,
}

/// The processor that deforms a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// On the CPU, without Vulkan.
    Cpu,
    /// In the skin stage on the GPU.
    Gpu,
}

/// The stage that deforms vertices for drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Skin {
    /// In the vertex shader.
    Vertex,
    /// In the skin stage on the GPU.
    Compute,
    /// On the CPU.
    Cpu,
}

/// A skinning method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// Blends matrices.
    Linear,
    /// Blends dual quaternions.
    #[value(name = "dualquat")]
    DualQuat,
    /// Blends matrices that are stored as quaternions and offsets.
    #[value(name = "quatoffset")]
    QuatOffset,
}

impl From<MethodArg> for SkinningMethod {
    fn from(method: MethodArg) -> Self {
        match method {
            MethodArg::Linear => Self::Linear,
            MethodArg::DualQuat => Self::DualQuat,
            MethodArg::QuatOffset => Self::QuatOffset,
        }
    }
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage::print(&error),
    };
    match run(&args, &mut io::stdout().lock(), &mut io::stderr().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            // If even this cannot be written, only the exit status reports the error.
            let _ = writeln!(io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The reason why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// An error of the crate.
    Throng(throng::Error),
    /// The standard output cannot be written.
    Output(io::Error),
    /// Any other error, as text.
    Told(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Throng(error) => error.fmt(f),
            Self::Output(error) => write!(f, "standard output: {error}"),
            Self::Told(words) => f.write_str(words),
        }
    }
}

impl From<throng::Error> for Failure {
    fn from(error: throng::Error) -> Self {
        Self::Throng(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The body of `main`, with explicit outputs.
///
/// Results go to `out`, remarks about them to `notes`.
///
/// # Errors
/// [`Failure`], with the text that the user sees.
pub fn run(args: &Args, out: &mut impl Write, notes: &mut impl Write) -> Result<(), Failure> {
    // Keeps the file's own curves for the list. Clips are packed only if a pose is needed.
    let poses = args.obj.is_some() || args.picture.is_some();
    let options = match poses {
        true => ImportOptions::with_curves(),
        false => ImportOptions::curves_only(),
    };
    let mut model = load(&args.file, &options)?;
    let lists = args.list || !poses;
    if !lists {
        for line in model.repair_summary() {
            note(notes, &line);
        }
    }
    if let Some(path) = &args.clips_of {
        model.character = borrow::with_clips(&model, path, notes)?;
    }
    let moment = choose(args, &model, notes)?;
    // Checked before anything is listed, so that an error stands alone.
    let subject = gpu::Subject {
        model: &model,
        moment,
        method: args.method.into(),
    };
    let obj = match &args.obj {
        Some(path) => {
            let deformed = match args.on {
                On::Cpu => deform::on_cpu(&model, moment, subject.method)?,
                On::Gpu => gpu::deformed(subject)?,
            };
            let turned = deform::turned(&model, moment, subject.method)?;
            Some((path, obj::obj(&model, moment, deformed, &turned)?))
        }
        None => None,
    };
    if let Some(path) = &args.picture {
        check_output(path, &args.file)?;
        draw(args, subject, path)?;
    }
    if lists {
        // The list must not mix with an OBJ that goes to the same output.
        if args.obj.as_deref() == Some(Path::new("-")) {
            let _ = notes.write_all(listing(&model).as_bytes());
        } else {
            out.write_all(listing(&model).as_bytes())?;
        }
    }
    match obj {
        Some((path, text)) if path == Path::new("-") => out.write_all(text.as_bytes())?,
        Some((path, text)) => {
            save(path, &args.file, &text)?;
            writeln!(out, "wrote {}: {}", path.display(), summary(&model, moment))?;
        }
        None if moment.is_some() && args.picture.is_none() => {
            writeln!(out, "\nPose: {}; --obj writes it", summary(&model, moment))?;
        }
        None => {}
    }
    if let Some(path) = &args.picture {
        // This line must not mix with an OBJ that goes to the same output.
        let words = format!("wrote {}: {}\n", path.display(), summary(&model, moment));
        if args.obj.as_deref() == Some(Path::new("-")) {
            let _ = notes.write_all(words.as_bytes());
        } else {
            out.write_all(words.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Draws the picture of the posed model.
fn draw(args: &Args, subject: gpu::Subject<'_>, path: &Path) -> Result<(), Failure> {
    let skin = match args.skin {
        Skin::Vertex => SkinningStage::Vertex,
        Skin::Compute => SkinningStage::Compute,
        Skin::Cpu => SkinningStage::Cpu,
    };
    let deformed = deform::on_cpu(subject.model, subject.moment, subject.method)?;
    let points = deformed.iter().flat_map(|part| &part.positions);
    let bounds = points.fold(Aabb::EMPTY, |all, point| all.with_point(*point));
    if bounds.is_empty() || !(bounds.min.is_finite() && bounds.max.is_finite()) {
        return Err(Failure::Told("there is nothing to draw".into()));
    }
    gpu::picture(subject, skin, bounds, path)
}

fn load(path: &Path, options: &ImportOptions) -> Result<Imported, Failure> {
    if path == Path::new("builtin") {
        return Ok(builtin::mannequin_with(options)?);
    }
    Ok(import::gltf_file(path, options)?)
}

/// Index of a clip, and a time in it in seconds.
type Moment = Option<(usize, f64)>;

fn choose(args: &Args, model: &Character, notes: &mut impl Write) -> Result<Moment, Failure> {
    let clips = model.curves();
    let index = match (&args.clip, args.time) {
        (None, None) => return Ok(None),
        (Some(name), _) => find(model, name)?,
        (None, Some(_)) if clips.is_empty() => {
            let words = format!("{} has no clips, so there is no --time in it", model.name());
            return Err(Failure::Told(words));
        }
        (None, Some(_)) => {
            let name = title(clips[0].name());
            note(notes, &format!("no --clip given: taking clip 0, {name}"));
            0
        }
    };
    let asked = args.time.unwrap_or(0.0);
    if !asked.is_finite() {
        return Err(Failure::Told(format!(
            "--time {asked} is not a finite number of seconds"
        )));
    }
    let end = f64::from(clips[index].duration_s());
    let time = asked.clamp(0.0, end);
    if time != asked {
        let side = if asked < 0.0 {
            "before the start"
        } else {
            "after the end"
        };
        let words = format!(
            "{} lies {side} of {}: taking {}",
            seconds(asked),
            title(clips[index].name()),
            seconds(time)
        );
        note(notes, &words);
    }
    Ok(Some((index, time)))
}

/// Finds a clip by name, then by number, because a clip may be called `3`.
fn find(model: &Character, name: &str) -> Result<usize, Failure> {
    let unnamed = match model.clip(name) {
        Ok(clip) => return Ok(clip.index()),
        Err(error) => error,
    };
    let clips = model.curves();
    match name.parse::<usize>() {
        Ok(index) if index < clips.len() => Ok(index),
        Ok(_) if !clips.is_empty() => Err(Failure::Told(format!(
            "clip \"{name}\" does not exist: the clips are numbered 0 to {}",
            clips.len() - 1
        ))),
        _ if clips.is_empty() => Err(Failure::Told(format!("{} has no clips", model.name()))),
        _ => Err(unnamed.into()),
    }
}

/// Writes a note. Failure to write it is ignored, and the rest goes on.
fn note(notes: &mut impl Write, words: &str) {
    let _ = writeln!(notes, "note: {words}");
}

/// Formats a time with as few digits as identify it. The times of a clip have single precision.
fn seconds(time_s: f64) -> String {
    let single = time_s as f32;
    if f64::from(single) == time_s {
        format!("{single} s")
    } else {
        format!("{time_s} s")
    }
}

fn title(name: &str) -> String {
    if name.is_empty() {
        "(unnamed)".into()
    } else {
        format!("\"{}\"", name.escape_debug())
    }
}

fn plural(count: usize, one: &str) -> String {
    let ending = match (count, one) {
        (1, _) => "",
        (_, "vertex") => return format!("{count} vertices"),
        _ => "s",
    };
    format!("{count} {one}{ending}")
}

fn summary(model: &Character, moment: Moment) -> String {
    let pose = match moment {
        Some((clip, time)) => format!(
            "clip {clip}, {}, at {}",
            title(model.curves()[clip].name()),
            seconds(time)
        ),
        None => "rest pose".into(),
    };
    format!(
        "{pose}; {}, {}, {}",
        plural(model.primitives().len(), "primitive"),
        plural(model.vertex_count(), "vertex"),
        plural(model.triangle_count(), "triangle")
    )
}

fn save(path: &Path, source: &Path, text: &str) -> Result<(), Failure> {
    check_output(path, source)?;
    std::fs::write(path, text)
        .map_err(|error| Failure::Told(format!("cannot write {}: {error}", path.display())))
}

/// Fails if the file cannot be written, or if writing it would overwrite the model.
fn check_output(path: &Path, source: &Path) -> Result<(), Failure> {
    let told = |why: String| Failure::Told(format!("cannot write {}: {why}", path.display()));
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(told(format!("there is no folder {}", folder.display())));
    }
    if path.is_dir() {
        return Err(told("it is a folder".into()));
    }
    if let (Ok(from), Ok(to)) = (source.canonicalize(), path.canonicalize())
        && from == to
    {
        return Err(told("it is the file that is read".into()));
    }
    Ok(())
}
