//! `throng bake`: an imported character as a file that loads without importing.

use crate::clips::{Extended, More};
use crate::failure::{Failure, after_help};
use crate::model::{Space, load_source, positive};
use crate::outfit::Outfits;
use crate::report::{self, Report};
use crate::table::section;
use crate::textures::{self, Textures};
use crate::words::{bytes, grouped, millimetres, note, plural, shown, title};
use crate::{output, progress};
use clap::ValueEnum;
use std::io::Write;
use std::path::{Path, PathBuf};
use throng::character::{Character, LevelOptions};
use throng::clip::{ClipOptions, ClipReport};
use throng::import::ImportOptions;

/// Import a character, pack its clips, and save it.
///
/// The saved file (.throng) has everything that the character needs, with packed clips and images,
/// and the description beside the file (knight.toml beside knight.glb). It loads without decoding
/// and packing. It depends on the version of throng: keep the original.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help!("Examples:
  throng bake knight.glb knight.throng
  throng bake knight.glb knight.throng --clips walk.glb --clips dance.fbx
  throng bake knight.glb knight.throng --parts-of mage.glb:hat,cape --parts-of rogue.glb
  throng bake knight.glb knight.throng --textures bc7
  throng bake knight.glb server.throng --no-images --error 1.0")
)]
pub(crate) struct Args {
    /// The file to import.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write, usually with the extension .throng. It cannot be the standard output.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    more: More,
    #[command(flatten)]
    outfits: Outfits,
    #[command(flatten)]
    options: Options,
    /// The images of the saved character. Compressed ones are uploaded as they are.
    #[arg(long, value_enum, default_value = "keep", value_name = "HOW")]
    textures: Textures,
    #[command(flatten)]
    pub(crate) report: Report,
}

/// The options of import and packing.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The largest error of a packed clip in millimetres, at every vertex and 3 cm from each joint.
    /// By default 0.1 mm for a character of 1.8 m, and in proportion for others.
    #[arg(long, value_name = "MM", value_parser = positive)]
    error: Option<f32>,
    /// The storage of keys.
    #[arg(long, value_enum, default_value = "quantised", value_name = "HOW")]
    packing: Packing,
    /// Keep the file's own curves too, for retargeting.
    #[arg(long)]
    keep_curves: bool,
    /// Leave images out. Materials have no textures then.
    #[arg(long)]
    no_images: bool,
    /// Ignore the description beside the file.
    #[arg(long)]
    no_sidecar: bool,
    /// Compute normals where the file has none.
    #[arg(long)]
    smooth_normals: bool,
    /// Keep the file's order of triangles and vertices, for programs that refer to them by index.
    #[arg(long)]
    keep_order: bool,
    /// Levels of detail of the meshes, which take seconds to make for a large model.
    #[arg(long, value_enum, default_value = "auto", value_name = "HOW")]
    levels: Levels,
    /// The most joints that move a vertex. The strongest are kept.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    max_influences: Option<u32>,
    #[command(flatten)]
    pub(crate) space: Space,
}

/// The storage of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Packing {
    /// Integers of as few bits as the error allows.
    Quantised,
    /// 32-bit numbers: larger, and the fastest to read.
    None,
}

/// The levels of detail of a saved character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Levels {
    /// Keep those of the file. Without any, make them, unless --keep-order is given.
    Auto,
    /// Make them, instead of those of the file.
    Make,
    /// None.
    Off,
}

impl Options {
    /// The character with the levels of detail that were asked for.
    pub(crate) fn with_levels(&self, character: Character) -> Result<Character, Failure> {
        let make = match self.levels {
            Levels::Auto => character.levels().len() == 0 && !self.keep_order,
            Levels::Make => true,
            Levels::Off => return Ok(character.without_levels()),
        };
        if !make {
            return Ok(character);
        }
        let (character, kept) = character.with_levels(&LevelOptions::default())?;
        for (primitive, reason) in kept {
            let name = title(&character.primitives()[primitive].name);
            note(&format!(
                "primitive {name} has no level of detail: {reason}"
            ));
        }
        Ok(character)
    }

    pub(crate) fn to_import(&self) -> ImportOptions {
        self.space.of(ImportOptions {
            images: !self.no_images,
            sidecar: !self.no_sidecar,
            smooth_normals: self.smooth_normals,
            max_influences: self.max_influences,
            keep_order: self.keep_order,
            curves: self.keep_curves,
            packing: Some(ClipOptions {
                quantise: self.packing == Packing::Quantised,
                error_m: self.error.map(|error_mm| error_mm / 1000.0),
            }),
            on_packed: progress::packing(),
            ..ImportOptions::default()
        })
    }
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    args.textures.expect_encoder()?;
    output::check_not_stdout(&args.output)?;
    let mut sources = args.more.sources(&args.input);
    sources.extend(args.outfits.sources());
    output::check(&args.output, &sources, &["throng"])?;
    let outputs = [args.output.as_path()];
    let model = load_source(&args.input, &args.options.to_import(), &outputs)?;
    if !model.spawn_points.is_empty() {
        let points = plural(model.spawn_points.len(), "spawn point");
        note(&format!(
            "{points} of the scene are not part of a character: left out"
        ));
    }
    let geometry = model.geometry;
    let Extended {
        character,
        repairs,
        mut remarks,
    } = args.more.add_to(model, args.options.space, &outputs)?;
    let of_files = (args.options.space, !args.options.no_images);
    let character = args
        .outfits
        .add_to(character, of_files, &outputs, &mut remarks)?;
    let character = args.options.with_levels(character)?;
    let (character, compressed) = textures::compress(character, args.textures)?;
    let size = save(&character, &args.output)?;
    if args.report.json {
        let mut document = report::of_file(&args.output, size, &character);
        document["repairs"] = report::repairs(&repairs);
        document["remarks"] = remarks.into();
        document["geometry"] = report::geometry(&geometry);
        document["textures"] = textures::list(&character, &compressed).into();
        return report::print(&document, out);
    }
    if args.report.quiet {
        return Ok(());
    }
    tell(&character, &args.output, size, out)?;
    textures::tell(&character, &compressed, out)?;
    let [before, shaded] = [geometry.file_shaded_vertices, geometry.shaded_vertices];
    writeln!(
        out,
        "  {:.3} shaded vertices per vertex ({:.3} in the file's order), {} merged, {} of a group of \
         instances",
        report::per_vertex(shaded, &geometry),
        report::per_vertex(before, &geometry),
        plural(geometry.merged_vertices as usize, "vertex"),
        plural(geometry.draws, "draw")
    )?;
    list(&character, out)
}

/// Lists the sizes of all clips.
pub(crate) fn list(character: &Character, out: &mut dyn Write) -> Result<(), Failure> {
    let rows = character.clips().iter().map(|clip| {
        let mut row = vec![title(clip.name())];
        row.extend(report::size_cells(clip));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    Ok(write!(out, "{}", section("Clips", &rows))?)
}

/// The joint, the vertex if it is one, and the time of a clip's largest error.
fn place(character: &Character, report: &ClipReport) -> String {
    let joint = report.error_joint;
    let joint = character.skeleton().joints().get(joint.index());
    let joint = title(joint.map_or("", |joint| &joint.name));
    let worst = report.vertex_error;
    let worst = worst.filter(|at| at.error_m >= report.error_m);
    let primitive = worst.and_then(|at| character.primitives().get(at.primitive as usize));
    let vertex = worst
        .zip(primitive)
        .map(|(at, primitive)| format!("vertex {} of {}, ", at.vertex, title(&primitive.name)));
    let vertex = vertex.unwrap_or_default();
    format!("at {vertex}joint {joint}, {:.3} s", report.error_time_s)
}

/// Writes the character, and returns the size of the file in bytes.
pub(crate) fn save(character: &Character, path: &Path) -> Result<u64, Failure> {
    character.save_file(path)?;
    Ok(std::fs::metadata(path).map_or(0, |metadata| metadata.len()))
}

/// Tells the size and the error of a character that was written.
pub(crate) fn tell(
    character: &Character,
    path: &Path,
    size: u64,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out, "wrote {}: {}", shown(path), bytes(size))?;
    writeln!(
        out,
        "  {}, {}, {}",
        plural(character.skeleton().len(), "joint"),
        plural(character.vertex_count(), "vertex"),
        plural(character.triangle_count(), "triangle")
    )?;
    let levels = character.levels().map(|level| {
        let triangles = grouped(level.triangles as u64);
        let (error_mm, cover) = (level.error_m * 1000.0, level.cover * 100.0);
        format!("{triangles} (error {error_mm:.1} mm, covers {cover:.0} %)")
    });
    let levels: Vec<String> = levels.collect();
    if !levels.is_empty() {
        let count = plural(levels.len(), "coarser level");
        writeln!(out, "  {count} of triangles: {}", levels.join(", "))?;
    }
    let clips = character.clips();
    let worst = clips
        .iter()
        .max_by(|a, b| a.report().error_m.total_cmp(&b.report().error_m));
    if let Some(worst) = worst {
        // The reports of a saved character may be altered.
        let packed = clips.iter().map(|clip| clip.report().bytes);
        let packed = packed.fold(0, usize::saturating_add);
        let raw: f64 = clips.iter().map(|clip| clip.report().raw_bytes).sum();
        writeln!(
            out,
            "  {}: {}, {:.1} times smaller than 32-bit transforms at 30 Hz",
            plural(clips.len(), "clip"),
            bytes(packed as u64),
            raw / packed.max(1) as f64
        )?;
        writeln!(
            out,
            "  largest error {}, {} of clip {}",
            millimetres(worst.report().error_m),
            place(character, worst.report()),
            title(worst.name())
        )?;
    }
    let images = character.images();
    if !images.is_empty() {
        let all = images.iter().map(textures::device_bytes);
        writeln!(
            out,
            "  {}: {} bytes with mip levels",
            plural(images.len(), "image"),
            grouped(all.sum())
        )?;
    }
    Ok(())
}
