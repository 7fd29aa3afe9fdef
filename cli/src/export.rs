//! `throng export`: a character as binary glTF, for other tools.

use crate::clips::{Extended, More};
use crate::failure::{Failure, after_help};
use crate::model::{Space, load_source};
use crate::output::{self, is_beside};
use crate::progress;
use crate::report::{self, Report};
use crate::words::{bytes, note, plural, shown};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use throng::character::{AnimationDesc, Character};
use throng::import::ImportOptions;
use throng_export::{ExportOptions, Omission};

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
    #[command(flatten)]
    more: More,
    /// Also write what glTF cannot store as TOML: OUT with the extension .toml, which an import of
    /// OUT reads.
    #[arg(long)]
    sidecar: bool,
    /// Leave images out. Materials have no textures then.
    #[arg(long)]
    no_images: bool,
    #[command(flatten)]
    space: Space,
    #[command(flatten)]
    pub(crate) report: Report,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let sidecar = check_outputs(args, &args.more.sources(&args.input))?;
    let outputs = [Some(args.output.as_path()), sidecar.as_deref()];
    let outputs: Vec<&Path> = outputs.into_iter().flatten().collect();
    let options = args.space.of(ImportOptions {
        images: !args.no_images,
        on_packed: progress::packing(),
        curves: true,
        ..ImportOptions::default()
    });
    let model = load_source(&args.input, &options, &outputs)?;
    let Extended {
        character,
        repairs,
        remarks,
    } = args.more.add_to(model, args.space, &outputs)?;
    let options = ExportOptions {
        images: !args.no_images,
        ..ExportOptions::default()
    };
    let exported = throng_export::glb(&character, &options);
    let exported = exported.map_err(|error| Failure::of_file(&args.input, &error))?;
    for (omission, count) in &exported.omissions {
        note(&format!("{omission} ({count})"));
    }
    output::save(&args.output, &exported.bytes, out)?;
    match &sidecar {
        Some(sidecar) => {
            let text = exported.description.to_toml();
            let text =
                text.map_err(|error| Failure::File(format!("{}: {error}", shown(sidecar))))?;
            output::save(sidecar, text.as_bytes(), out)?;
        }
        None if !is_measured_only(&exported.description) => note(
            "glTF has no place for masks, sockets, roles and the like: --sidecar writes them \
             beside the file",
        ),
        None => {}
    }
    let size = exported.bytes.len() as u64;
    if args.report.json {
        let omission = |(omission, count): &(Omission, u64)| json!({ "what": omission.to_string(), "count": count });
        let mut document = report::of_file(&args.output, size, &character);
        document["sidecar"] = json!(sidecar.map(|path| path.display().to_string()));
        document["omissions"] = exported.omissions.iter().map(omission).collect();
        document["repairs"] = report::repairs(&repairs);
        document["remarks"] = remarks.into();
        return report::print(&document, out);
    }
    if args.report.quiet || output::is_stdout(&args.output) {
        return Ok(());
    }
    let contents = contents(&character);
    writeln!(
        out,
        "wrote {}: {}; {contents}",
        shown(&args.output),
        bytes(size)
    )?;
    if let Some(sidecar) = sidecar {
        writeln!(out, "wrote {}", shown(&sidecar))?;
    }
    Ok(())
}

/// Checks that the outputs can be written, and returns the path of the description.
fn check_outputs(args: &Args, sources: &[&Path]) -> Result<Option<PathBuf>, Failure> {
    if output::is_stdout(&args.output) {
        let with = match (args.sidecar, args.report.json) {
            (true, _) => "--sidecar",
            (_, true) => "--json",
            _ => return Ok(None),
        };
        let words = format!("{with} needs a file as OUT, not the standard output");
        return Err(Failure::Usage(words));
    }
    output::check(&args.output, sources, &["glb"])?;
    let sidecar = args.sidecar.then(|| args.output.with_extension("toml"));
    if let Some(sidecar) = &sidecar {
        output::check_distinct(&[&args.output, sidecar])?;
        output::check(sidecar, sources, &["toml"])?;
        // It may be the description of an input of the same name.
        let beside = sources.iter().find(|source| is_beside(sidecar, source));
        if let Some(source) = beside.filter(|_| sidecar.is_file()) {
            let (sidecar, source) = (shown(sidecar), shown(source));
            let words = format!("{sidecar} cannot be written: it exists beside {source}");
            return Err(Failure::Write(words));
        }
    }
    Ok(sidecar)
}

/// True if an import measures all that a description has.
fn is_measured_only(description: &AnimationDesc) -> bool {
    let measured = AnimationDesc {
        clips: description.clips.clone(),
        ..AnimationDesc::default()
    };
    *description == measured
}

fn contents(character: &Character) -> String {
    // Meshes for far away are not written.
    let near = || {
        let all = character.primitives().iter();
        all.filter(|one| !one.indices.is_empty())
    };
    [
        plural(character.skeleton().len(), "joint"),
        plural(near().count(), "primitive"),
        plural(near().map(|one| one.vertex_count()).sum(), "vertex"),
        plural(character.morph_weights().len(), "morph weight"),
        plural(character.clips().len(), "clip"),
    ]
    .join(", ")
}
