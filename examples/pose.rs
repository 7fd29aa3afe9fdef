//! Poses a model file at a time of one of its clips, without Vulkan: lists what is in the file and
//! writes the posed mesh as Wavefront OBJ.

use clap::Parser;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use throng::builtin;
use throng::character::{Character, NO_PARENT, Primitive};
use throng::glam::{DVec3, Vec3};
use throng::import::{self, ImportOptions, Imported};
use throng::pose::{Mat3x4, PosedVertices, Poser, WriteOnly, skin};

/// Poses a model without Vulkan: lists its skins, joints, clips, primitives and repairs, and writes
/// the posed mesh as Wavefront OBJ.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "pose",
    after_help = "Examples:\n  \
        pose knight.glb                                       what is in the file\n  \
        pose knight.glb --clip Walk --time 0.5 --obj out.obj  the mesh, half a second into Walk\n  \
        pose knight.glb --obj rest.obj                        the mesh in its rest pose\n  \
        pose --clip Wave --obj - | head                       the built-in character, to the output\n\n\
        Exits with 0, or 1 where a file, a clip or a time is not to be had, or 2 on wrong usage."
)]
pub struct Args {
    /// A .glb or .gltf file, or `builtin` for the built-in character.
    #[arg(value_name = "FILE", default_value = "builtin")]
    pub file: PathBuf,
    /// The clip, by its exact name or else by its number in the list; without it, the rest pose.
    #[arg(long, value_name = "NAME|INDEX")]
    pub clip: Option<String>,
    /// Seconds from the clip's time 0, held to the clip's start and end; of the first clip if
    /// --clip names none. 0 if absent.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub time: Option<f64>,
    /// Write the posed mesh here, `-` for the standard output: positions and normals in the
    /// file's world space, one object per primitive.
    #[arg(long, value_name = "OUT.obj")]
    pub obj: Option<PathBuf>,
    /// List what is in the file; the default unless --obj is given.
    #[arg(long)]
    pub list: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args, &mut io::stdout().lock(), &mut io::stderr().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            // Where even this can't be written, the exit status is left to tell.
            let _ = writeln!(io::stderr(), "error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// The crate refused something.
    Throng(throng::Error),
    /// The standard output can't be written.
    Output(io::Error),
    /// Anything else, in words.
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

/// What `main` does, with its outputs given: `out` for results, `notes` for remarks on them.
///
/// # Errors
/// [`Failure`], in the words that the user is told.
pub fn run(args: &Args, out: &mut impl Write, notes: &mut impl Write) -> Result<(), Failure> {
    let model = load(&args.file)?;
    let moment = choose(args, &model, notes)?;
    // Checked before anything is listed, so that an error stands alone.
    let obj = match &args.obj {
        Some(path) => Some((path, obj(&model, moment)?)),
        None => None,
    };
    if args.list || obj.is_none() {
        // Not among the lines of an OBJ that goes to the same place.
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
        None if moment.is_some() => {
            writeln!(out, "\nPose: {}; --obj writes it", summary(&model, moment))?;
        }
        None => {}
    }
    out.flush()?;
    Ok(())
}

fn load(path: &Path) -> Result<Imported, Failure> {
    if path == Path::new("builtin") {
        return Ok(builtin::mannequin()?);
    }
    Ok(import::gltf_file(path, &ImportOptions::default())?)
}

/// A clip's index and a time in it, in seconds.
type Moment = Option<(usize, f64)>;

fn choose(args: &Args, model: &Character, notes: &mut impl Write) -> Result<Moment, Failure> {
    let clips = model.clips();
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

/// By name first: a clip may be called `3`.
fn find(model: &Character, name: &str) -> Result<usize, Failure> {
    let unnamed = match model.find_clip(name) {
        Ok(index) => return Ok(index),
        Err(error) => error,
    };
    let clips = model.clips();
    match name.parse::<usize>() {
        Ok(index) if index < clips.len() => Ok(index),
        Ok(index) if !clips.is_empty() => Err(Failure::Told(format!(
            "no clip is called \"{name}\", and the clips are numbered 0 to {}: there is no {index}",
            clips.len() - 1
        ))),
        _ if clips.is_empty() => Err(Failure::Told(format!("{} has no clips", model.name()))),
        _ => Err(unnamed.into()),
    }
}

/// A note is a courtesy: where it can't be written, the rest goes on.
fn note(notes: &mut impl Write, words: &str) {
    let _ = writeln!(notes, "note: {words}");
}

/// In as few digits as tell it apart; a clip's own times are single precision.
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
            title(model.clips()[clip].name()),
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

/// Rows of cells, each column as wide as its widest cell; columns of numbers are set to the right,
/// with their unit close by in the next.
fn table(heading: &str, rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let layout = |column: usize| {
        let cells = || rows.iter().filter_map(|row| row.get(column));
        let width = cells().map(|cell| cell.chars().count()).max().unwrap_or(0);
        (width, cells().all(|cell| cell.parse::<f64>().is_ok()))
    };
    let layouts: Vec<_> = (0..columns).map(layout).collect();
    let mut text = format!("\n{heading}\n");
    for row in rows {
        let mut line = String::from(" ");
        for (column, (cell, (width, number))) in row.iter().zip(&layouts).enumerate() {
            let unit = column > 1 && layouts[column - 1].1;
            let gap = if unit { "" } else { " " };
            // Writing to a string does not fail.
            let _ = if *number {
                write!(line, "{gap}{cell:>width$} ")
            } else {
                write!(line, "{gap}{cell:<width$} ")
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A count and its unit, as two cells.
fn counted(count: usize, one: &str) -> [String; 2] {
    let unit = plural(count, one).split(' ').skip(1).collect();
    [count.to_string(), unit]
}

fn listing(model: &Imported) -> String {
    let size = model.rest_bounds().size();
    let mut text = format!(
        "{}: {}, {}, {} of palette, {:.4} x {:.4} x {:.4} m at rest\n",
        model.name(),
        plural(model.vertex_count(), "vertex"),
        plural(model.triangle_count(), "triangle"),
        match model.palette().len() {
            1 => "1 entry".into(),
            entries => format!("{entries} entries"),
        },
        size.x,
        size.y,
        size.z
    );
    let section = |name: &str, rows: Vec<Vec<String>>| match rows.len() {
        0 => format!("\n{name}: none\n"),
        count => table(&format!("{name} ({count})"), &rows),
    };
    text += &section("Skins", skins(model));
    text += &section("Joints", joints(model));
    text += &section("Clips", clips(model));
    text += &section("Primitives", primitives(model));
    let repairs = model.repairs.iter().enumerate();
    let repairs = repairs.map(|(index, repair)| vec![index.to_string(), repair.to_string()]);
    text += &section("Repairs", repairs.collect());
    text
}

fn skins(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, skin): (usize, &throng::character::SkinInfo)| {
        let mut row = vec![index.to_string(), title(&skin.name)];
        row.extend(counted(skin.joints.len(), "joint"));
        row
    };
    model.skins().iter().enumerate().map(row).collect()
}

/// The hierarchy by number and by indentation; in the skeleton's order, breadth first.
fn joints(model: &Character) -> Vec<Vec<String>> {
    let all = model.skeleton().joints();
    let mut depths = vec![0; all.len()];
    let mut rows = Vec::with_capacity(all.len());
    for (index, joint) in all.iter().enumerate() {
        let parent = if joint.parent == NO_PARENT {
            "root".into()
        } else {
            depths[index] = depths[usize::from(joint.parent)] + 1;
            format!("in {}", joint.parent)
        };
        // Hundreds deep, the indentation would say no more.
        let indent = "  ".repeat(depths[index].min(20));
        rows.push(vec![
            index.to_string(),
            parent,
            format!("{indent}{}", title(&joint.name)),
        ]);
    }
    rows
}

fn clips(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, clip): (usize, &throng::character::RawClip)| {
        let mut row = vec![index.to_string(), title(clip.name())];
        row.extend([format!("{:.4}", clip.duration_s()), "s".into()]);
        row.extend(counted(clip.tracks().len(), "track"));
        if clip.start_s() > 0.0 {
            row.push(format!("first key at {:.4} s", clip.start_s()));
        }
        row
    };
    model.clips().iter().enumerate().map(row).collect()
}

fn primitives(model: &Character) -> Vec<Vec<String>> {
    let row = |(index, part): (usize, &Primitive)| {
        let material = &model.materials()[part.material as usize].name;
        let normals = if part.normals.is_empty() {
            "no normals"
        } else {
            "normals"
        };
        let mut row = vec![index.to_string(), title(&part.name)];
        row.extend(counted(part.vertex_count(), "vertex"));
        row.extend(counted(part.indices.len() / 3, "triangle"));
        row.extend(counted(part.influences.per_vertex as usize, "influence"));
        row.extend([
            format!("palette {}..{}", part.palette.start, part.palette.end),
            normals.into(),
            format!("material {}", title(material)),
        ]);
        row
    };
    model.primitives().iter().enumerate().map(row).collect()
}

/// The posed mesh as OBJ text. Numbers have as many digits as it takes to read them back exactly.
fn obj(model: &Character, moment: Moment) -> Result<String, Failure> {
    let mut palette = vec![Mat3x4::IDENTITY; model.palette().len()];
    Poser::new().palette(model, moment, WriteOnly::over(&mut palette))?;
    let mut text = format!(
        "# {}, {}\n",
        model.name().escape_debug(),
        summary(model, moment)
    );
    let mut posed = PosedVertices::default();
    let (mut positions, mut normals) = (1, 1);
    for (index, part) in model.primitives().iter().enumerate() {
        skin(model, part, &palette, &mut posed)?;
        let flat = posed.normals.is_empty();
        if flat {
            let corners = part.indices.as_chunks::<3>().0.iter();
            posed.normals = corners
                .map(|corners| face_normal(&posed.positions, corners))
                .collect();
        }
        let mut all = posed.positions.iter().chain(&posed.normals);
        if !all.all(|v| v.is_finite()) {
            let words = format!(
                "{}: the pose is too large for 32-bit numbers",
                title(&part.name)
            );
            return Err(Failure::Told(words));
        }
        object(&mut text, &object_name(index, part), &posed);
        for (face, corners) in part.indices.as_chunks::<3>().0.iter().enumerate() {
            text.push('f');
            for corner in corners {
                let corner = *corner as usize;
                let normal = if flat { face } else { corner };
                let _ = write!(text, " {}//{}", positions + corner, normals + normal);
            }
            text.push('\n');
        }
        positions += posed.positions.len();
        normals += posed.normals.len();
    }
    Ok(text)
}

fn object(text: &mut String, name: &str, posed: &PosedVertices) {
    let _ = writeln!(text, "o {name}");
    for (keyword, list) in [("v", &posed.positions), ("vn", &posed.normals)] {
        for value in list {
            // Adding 0 turns −0 into 0.
            let [x, y, z] = (*value + Vec3::ZERO).to_array();
            let _ = writeln!(text, "{keyword} {x} {y} {z}");
        }
    }
}

/// One word, and its own for every primitive.
fn object_name(index: usize, part: &Primitive) -> String {
    let plain = |c: char| {
        if c.is_whitespace() || c.is_control() {
            '_'
        } else {
            c
        }
    };
    format!(
        "{index}_{}",
        part.name.chars().map(plain).collect::<String>()
    )
}

/// Perpendicular to a triangle, on the side from which it runs counter-clockwise; +Y where it has
/// no area.
fn face_normal(positions: &[Vec3], corners: &[u32; 3]) -> Vec3 {
    let [a, b, c] = corners.map(|corner| positions[corner as usize].as_dvec3());
    (b - a).cross(c - a).normalize_or(DVec3::Y).as_vec3()
}

fn save(path: &Path, source: &Path, text: &str) -> Result<(), Failure> {
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
    std::fs::write(path, text).map_err(|error| told(error.to_string()))
}
