//! `throng pose`: a character at a time of one of its clips, as a mesh or a picture.
//!
//! It needs Vulkan only for `--on gpu` and `--picture`.

mod deform;
mod gpu;
mod obj;
mod picture;

use crate::clips::More;
use crate::failure::{Failure, after_help};
use crate::model::{self, Space, load_source};
use crate::moment::{self, Moment};
use crate::output;
use crate::words::{note, plural, seconds, shown, title};
use clap::ValueEnum;
use std::io::Write;
use std::path::{Path, PathBuf};
use throng::SkinningStage;
use throng::character::Character;
use throng::import::ImportOptions;
use throng::mesh::Aabb;
use throng::palette::SkinningMethod;

/// Write the mesh of a character in a pose, or draw it.
///
/// Without --clip and --time it is the rest pose. Only --on gpu and --picture need Vulkan.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help!("Examples:
  throng pose knight.glb --clip Walk --time 0.5 --glb walk.glb
  throng pose knight.glb --obj - | head                   the rest pose, to the output
  throng pose builtin --clip Wave --time 1 --picture wave.png
  throng pose builtin --clips knight.glb --clip Cheer --obj cheer.obj")
)]
#[command(group = clap::ArgGroup::new("outputs").required(true).multiple(true)
    .args(["obj", "glb", "picture"]))]
pub(crate) struct Args {
    /// The file, or `builtin` for the built-in character.
    file: PathBuf,
    /// The clip, by exact name or else by number, from 0.
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// The time in the clip in seconds, clamped to the clip's start and end. Applies to the first
    /// clip that moves if --clip names none. 0 if absent.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    time: Option<f64>,
    #[command(flatten)]
    more: More,
    /// Write the posed mesh as Wavefront OBJ, `-` for the standard output: positions and normals,
    /// one object per primitive.
    #[arg(long, value_name = "OUT.obj")]
    obj: Option<PathBuf>,
    /// Write the posed mesh as binary glTF, `-` for the standard output: all vertex data with
    /// materials and textures, without skeleton and clips.
    #[arg(long, value_name = "OUT.glb")]
    glb: Option<PathBuf>,
    /// The processor that deforms the mesh of --obj and --glb.
    #[arg(long, value_enum, default_value = "cpu", value_name = "WHERE")]
    on: On,
    /// The skinning method, which blends the joints that move a vertex.
    #[arg(long, value_enum, default_value = "linear", value_name = "HOW")]
    method: Method,
    /// Draw the posed character.
    #[arg(long, value_name = "OUT.png", value_parser = picture::png_path)]
    picture: Option<PathBuf>,
    /// The stage that skins the vertices of --picture. The picture is the same.
    #[arg(long, value_enum, default_value = "vertex", value_name = "WHERE")]
    skin: Skin,
    /// Print errors only: no notes and no names of the files that are written.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    space: Space,
}

/// The processor that deforms a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum On {
    /// On the CPU, without Vulkan.
    Cpu,
    /// In the skin stage on the GPU.
    Gpu,
}

/// The stage that deforms vertices for drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Skin {
    /// In the vertex shader.
    Vertex,
    /// In the skin stage on the GPU.
    Compute,
    /// On the CPU.
    Cpu,
}

/// A skinning method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Blends matrices.
    Linear,
    /// Blends dual quaternions.
    #[value(name = "dualquat")]
    DualQuat,
    /// Blends matrices that are stored as quaternions and offsets.
    #[value(name = "quatoffset")]
    QuatOffset,
}

impl From<Method> for SkinningMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::Linear => Self::Linear,
            Method::DualQuat => Self::DualQuat,
            Method::QuatOffset => Self::QuatOffset,
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let outputs = [&args.obj, &args.glb, &args.picture];
    let outputs: Vec<&Path> = outputs
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    output::check_distinct(&outputs)?;
    let sources = args.more.sources(&args.file);
    let of = [
        (&args.obj, "obj"),
        (&args.glb, "glb"),
        (&args.picture, "png"),
    ];
    for (path, extension) in of {
        if let Some(path) = path.as_deref().filter(|path| !output::is_stdout(path)) {
            output::check(path, &sources, &[extension])?;
        }
    }
    let options = args.space.of(ImportOptions::default());
    let model = load_source(&args.file, &options, &outputs)?;
    let model = args.more.add_to(model, args.space, &outputs)?.character;
    let moment = moment::choose(&model, args.clip.as_deref(), args.time)?;
    let subject = gpu::Subject {
        model: &model,
        moment,
        method: args.method.into(),
    };
    let words = summary(&model, moment);
    if args.obj.is_some() || args.glb.is_some() {
        let posed = match args.on {
            On::Cpu => deform::on_cpu(&model, moment, subject.method)?,
            On::Gpu => gpu::deformed(subject)?,
        };
        let flipped = deform::flipped(&model, moment, subject.method)?;
        let mesh = deform::Mesh {
            model: &model,
            posed: &posed,
            flipped: &flipped,
        };
        mesh.expect_finite()?;
        if let Some(path) = &args.obj {
            let text = obj::obj(&mesh, &words);
            output::save(path, text.as_bytes(), out)?;
            told(path, &words, out, args)?;
        }
        if let Some(path) = &args.glb {
            output::save(path, &mesh.glb()?, out)?;
            told(path, &words, out, args)?;
        }
    }
    if let Some(path) = &args.picture {
        output::save(path, &draw(args, subject)?, out)?;
        told(path, &words, out, args)?;
    }
    Ok(())
}

/// Says that a file was written, on the error stream if the standard output is a file.
fn told(path: &Path, words: &str, out: &mut dyn Write, args: &Args) -> Result<(), Failure> {
    let outputs = [&args.obj, &args.glb, &args.picture];
    let mut outputs = outputs.into_iter().flatten();
    let line = format!("wrote {}: {words}", shown(path));
    match outputs.any(|path| output::is_stdout(path)) {
        _ if args.quiet || output::is_stdout(path) => {}
        true => note(&line),
        false => writeln!(out, "{line}")?,
    }
    Ok(())
}

/// Draws the posed character, as the bytes of a PNG file.
fn draw(args: &Args, subject: gpu::Subject<'_>) -> Result<Vec<u8>, Failure> {
    let skin = match args.skin {
        Skin::Vertex => SkinningStage::Vertex,
        Skin::Compute => SkinningStage::Compute,
        Skin::Cpu => SkinningStage::Cpu,
    };
    let deformed = deform::on_cpu(subject.model, subject.moment, subject.method)?;
    let points = deformed.iter().flat_map(|part| &part.positions);
    let bounds = points.fold(Aabb::EMPTY, |all, point| all.with_point(*point));
    if bounds.is_empty() || !(bounds.min.is_finite() && bounds.max.is_finite()) {
        let words = format!("{}: there is nothing to draw", subject.model.name());
        return Err(Failure::File(words));
    }
    gpu::picture(subject, skin, bounds)
}

/// The pose and the size of the mesh in a few words.
fn summary(model: &Character, moment: Option<Moment>) -> String {
    let pose = match moment {
        Some(Moment { clip, time_s }) => format!(
            "clip {clip}, {}, at {}",
            title(model::clips(model)[clip].0),
            seconds(time_s)
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
