//! `throng inspect`: the contents of a file, as tables or as JSON.

mod facts;
mod json;
mod text;

use crate::failure::{Failure, after_help};
use crate::model::{Space, load};
use crate::report;
use std::io::Write;
use std::path::PathBuf;
use throng::import::ImportOptions;

/// Show what is in a file.
///
/// Skins, the tree of joints, clips with their size and error when packed, primitives, materials,
/// images, morph weights, expressions, joints of the humanoid, spring bones, spawn points, levels
/// of detail, masks, sockets, blend spaces, events, the state machine, vertex reuse and draws,
/// memory on the GPU, and what the importer repaired.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help!("Examples:
  throng inspect knight.glb | less
  throng inspect --json knight.glb | jq '.clips[] | [.name, .ratio, .error_m]'
  throng inspect knight.throng              a file that `throng bake` wrote

The keys of the JSON are in docs/command-line.md. New versions may add keys. `format` changes if a
key is removed or changes its meaning.")
)]
pub(crate) struct Args {
    /// The file.
    file: PathBuf,
    /// Print JSON for programs instead of tables.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    space: Space,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let model = load(
        &args.file,
        &args.space.of(ImportOptions {
            curves: true,
            ..ImportOptions::default()
        }),
    )?;
    if args.json {
        return report::print(&json::document(&model), out);
    }
    Ok(out.write_all(text::listing(&model).as_bytes())?)
}
