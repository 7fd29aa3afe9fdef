//! `throng export`: a character as binary glTF, for other tools.

use crate::clips::{self, Matching};
use crate::failure::{Failure, after_help};
use crate::model::{load, note_repairs};
use crate::words::{bytes, note, plural};
use crate::{output, progress};
use std::io::Write;
use std::path::{Path, PathBuf};
use throng::character::{AnimationDesc, Character};
use throng::export::{self, ExportOptions};
use throng::import::ImportOptions;

/// Write a character as binary glTF (.glb): skeleton, skins, morph targets, materials and clips.
///
/// Other tools, such as Blender, open the file. Clips are written from the curves of IN, or from
/// packed keys if IN is a saved character without curves. Masks, blend spaces, sockets, the state
/// machine and the roles of joints have no place in glTF: --sidecar writes them beside OUT.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help!("Examples:
  throng export knight.throng knight.glb
  throng export knight.fbx knight.glb --clips walk.fbx
  throng export knight.glb out/knight.glb --sidecar    and out/knight.toml")
)]
pub(crate) struct Args {
    /// The file to read.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write, usually with the extension .glb. `-` is the standard output.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Another file whose clips are added, after those of IN. May be repeated.
    #[arg(long, value_name = "FILE")]
    clips: Vec<PathBuf>,
    /// Matching of the joints of --clips.
    #[arg(long = "match", value_enum, default_value = "auto", value_name = "HOW")]
    matching: Matching,
    /// Also write what glTF cannot store as TOML: OUT with the extension .toml, which an import of
    /// OUT reads.
    #[arg(long)]
    sidecar: bool,
    /// Leave images out. Materials have no textures then.
    #[arg(long)]
    no_images: bool,
    /// Print nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let mut sources: Vec<&Path> = args.clips.iter().map(PathBuf::as_path).collect();
    sources.push(&args.input);
    let sidecar = args.sidecar.then(|| args.output.with_extension("toml"));
    if output::is_stdout(&args.output) {
        if args.sidecar {
            let words = "--sidecar needs a file as OUT, because it is written beside it";
            return Err(Failure::Usage(words.into()));
        }
    } else {
        output::check(&args.output, &sources, &["glb"])?;
    }
    if let Some(sidecar) = &sidecar {
        output::check(sidecar, &sources, &["toml"])?;
        output::check_distinct(&[&args.output, sidecar])?;
    }
    let mut options = ImportOptions::with_curves();
    options.images = !args.no_images;
    let model = load(&args.input, &options);
    progress::clear();
    let model = model?;
    note_repairs(&model);
    let mut character = model.character;
    for path in &args.clips {
        let added = clips::add(&character, path, args.matching)?;
        added.remarks.iter().for_each(|line| note(line));
        character = added.character;
    }
    let options = ExportOptions {
        images: !args.no_images,
        ..ExportOptions::default()
    };
    let exported =
        export::glb(&character, &options).map_err(|error| Failure::of_file(&args.input, &error))?;
    for omission in &exported.omissions {
        note(&omission.to_string());
    }
    output::save(&args.output, &exported.bytes, out)?;
    if !output::is_stdout(&args.output) && !args.quiet {
        writeln!(
            out,
            "wrote {}: {}; {}",
            args.output.display(),
            bytes(exported.bytes.len() as u64),
            contents(&character)
        )?;
    }
    match &sidecar {
        Some(sidecar) => {
            let text = toml::to_string(&exported.description)
                .map_err(|error| Failure::File(format!("{}: {error}", sidecar.display())))?;
            output::save(sidecar, text.as_bytes(), out)?;
            if !args.quiet {
                writeln!(out, "wrote {}", sidecar.display())?;
            }
        }
        None if exported.description != AnimationDesc::default() => {
            note(
                "masks, roles and the like are extras of the scene only: --sidecar writes a TOML \
                  file that an import reads",
            );
        }
        None => {}
    }
    Ok(())
}

fn contents(character: &Character) -> String {
    [
        plural(character.skeleton().len(), "joint"),
        plural(character.primitives().len(), "primitive"),
        plural(character.vertex_count(), "vertex"),
        plural(character.morph_weights().len(), "morph weight"),
        plural(character.clips().len(), "clip"),
    ]
    .join(", ")
}
