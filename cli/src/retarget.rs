//! `throng retarget`: the clips of one file on the character of another.

use crate::clips::{self, Added, AddedClip, Matching};
use crate::failure::{Failure, after_help};
use crate::model::load_source;
use crate::report::{self, Report};
use crate::table::section;
use crate::words::{plural, shown, title, warn};
use crate::{bake, output};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use throng::error::Escaped;
use throng::import::Imported;

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
    #[command(flatten)]
    pub(crate) report: Report,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    output::check_not_stdout(&args.output)?;
    output::check(&args.output, &[&args.clips, &args.onto], &["throng"])?;
    let onto = load_source(&args.onto, &args.options.to_import(), &[&args.output])?;
    let mut added = clips::add(&onto, &args.clips, args.matching, args.options.space)?;
    output::check_unread(&[&args.output], &args.clips, &added.files)?;
    if let Some(warning) = &added.warning {
        warn(warning);
    }
    if !args.report.quiet && !args.report.json {
        tell(args, &added, out)?;
    }
    added.character = args.options.with_levels(added.character)?;
    let size = bake::save(&added.character, &args.output)?;
    if args.report.json {
        return report::print(&document(args, &onto, &added, size), out);
    }
    if args.report.quiet {
        return Ok(());
    }
    bake::tell(&added.character, &args.output, size, out)?;
    bake::list(&added.character, out)
}

fn document(args: &Args, onto: &Imported, added: &Added, size: u64) -> Value {
    let mut document = report::of_file(&args.output, size, &added.character);
    let repairs = [&onto.repairs[..], &added.repairs].concat();
    let clip = |clip: &AddedClip| {
        json!({
            "name": clip.name,
            "duration_s": clip.duration_s,
            "tracks": clip.tracks,
            "error_between_keys_m": clip.error_m,
        })
    };
    document["matching"] = added.matching.name().into();
    document["added"] = added.clips.iter().map(clip).collect();
    document["remarks"] = added.remarks.clone().into();
    document["repairs"] = report::repairs(&repairs);
    document
}

/// Tells how the joints were matched, and which clips were added.
fn tell(args: &Args, added: &Added, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(
        out,
        "{} of {} onto {}, matched by {}",
        plural(added.clips.len(), "clip"),
        shown(&args.clips),
        shown(&args.onto),
        added.matching.name()
    )?;
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
    Ok(writeln!(out)?)
}
