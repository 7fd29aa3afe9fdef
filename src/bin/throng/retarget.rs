//! `throng retarget`: the clips of one file on the character of another.

use crate::clips::{self, Matching};
use crate::failure::{Failure, after_help};
use crate::model::{load, note_repairs};
use crate::table::section;
use crate::words::{plural, shown, title, warn};
use crate::{bake, output, progress};
use std::io::Write;
use std::path::PathBuf;
use throng::error::Escaped;

/// Put the clips of one file onto another character, and save the result.
///
/// The clips come after those that the character has. If the two skeletons are alike, the keys stay
/// as they are. Otherwise the motion is retargeted: joints are matched by name or, for humanoids,
/// by the parts of the body, and proportions and rest poses may differ.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help!("Examples:
  throng retarget dance.glb knight.glb knight.throng
  throng retarget --match humanoid mixamo.glb unreal.glb out.throng
  throng retarget knight.glb builtin out.throng --keep-curves")
)]
pub(crate) struct Args {
    /// The file with the clips.
    clips: PathBuf,
    /// The file with the character.
    onto: PathBuf,
    /// The file to write, usually with the extension .throng. It cannot be the standard output.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Matching of the joints.
    #[arg(long = "match", value_enum, default_value = "auto", value_name = "HOW")]
    matching: Matching,
    #[command(flatten)]
    options: bake::Options,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    output::check_not_stdout(&args.output)?;
    output::check(&args.output, &[&args.clips, &args.onto], &["throng"])?;
    let onto = load(&args.onto, &args.options.to_import());
    progress::clear();
    let onto = onto?;
    note_repairs(&onto);
    let added = clips::add(&onto, &args.clips, args.matching, args.options.space)?;
    writeln!(
        out,
        "{} of {} onto {}, matched by {}",
        plural(added.clips.len(), "clip"),
        shown(&args.clips),
        shown(&args.onto),
        added.matching.name()
    )?;
    if let Some(warning) = &added.warning {
        warn(warning);
    }
    for line in &added.remarks {
        writeln!(out, "  {}", Escaped(line))?;
    }
    let rows = added.clips.iter().map(|clip| {
        let mut row = vec![
            title(&clip.name),
            format!("{:.4}", clip.duration_s),
            "s".into(),
        ];
        if clip.tracks > 0 {
            row.push(plural(clip.tracks, "track"));
        }
        row.extend(
            clip.error_m
                .map(|error_m| format!("{:.4} mm between keys", error_m * 1000.0)),
        );
        row
    });
    let rows: Vec<_> = rows.collect();
    write!(out, "{}", section("Clips", &rows))?;
    writeln!(out)?;
    bake::save(&added.character, &args.output, out)
}
