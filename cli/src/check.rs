//! `throng check`: reports whether files are sound.

use crate::failure::{Failure, after_help};
use crate::folders::{Found, files};
use crate::model::{Space, load};
use crate::output::is_closed_pipe;
use crate::report::{self, FORMAT};
use crate::words::{json_text, note, plural, shown};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use throng::error::Escaped;
use throng::gpu::CpuReason;
use throng::import::{ImportOptions, Imported, RepairKind};

/// Check files: one line for each, with what was repaired.
///
/// A file is faulty if it cannot be imported. A repair is a harmless fault that the importer
/// corrects, or a part that it leaves out. All files are checked, also after a faulty one.
/// Of a folder, all files of formats that throng reads are checked, also those in folders within,
/// sorted by name. What cannot be read there is faulty.
/// If the reader of the output stops early, the exit status still tells whether a file is faulty.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help!("Examples:
  throng check assets                       all files of a folder and the folders in it
  throng check --strict knight.glb          the file must need no repair
  throng check --quiet assets || exit 1     only lines of faulty files, in a script
  throng check --posed-by knight.glb        what is posed on the CPU, and why
  throng check --json assets | jq -r '.files[] | select(.verdict == \"faulty\").file'

The keys of the JSON are in docs/command-line.md.")
)]
pub(crate) struct Args {
    /// The files and folders.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Count a repair as a fault.
    #[arg(long)]
    strict: bool,
    /// Print faulty files only, and no summary.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Tell what keeps instances of a sound file from being posed on the GPU, and what to change.
    #[arg(long)]
    posed_by: bool,
    /// Print JSON for programs instead of lines.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    space: Space,
}

/// The result of checking a file.
struct Checked {
    name: String,
    /// True to tell what is posed on the CPU.
    posed_by: bool,
    /// The reason why it cannot be imported, or the import.
    model: Result<Imported, String>,
    is_faulty: bool,
}

/// The number of files of each kind.
#[derive(Default)]
struct Count {
    all: usize,
    repaired: usize,
    faulty: usize,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let mut count = Count::default();
    let mut out = Reader { out, left: false };
    if args.json {
        write!(out, "{{\"format\":{FORMAT},\"files\":[")?;
    }
    let mut separator = "\n";
    'all: for path in &args.files {
        let files = files(path);
        if files.is_empty() {
            note(&format!("{}: no files to check", shown(path)));
        }
        for file in files {
            let checked = check(file, args);
            let repaired = checked.model.as_ref();
            let repaired = repaired.is_ok_and(|model| !model.repairs.is_empty());
            count.all += 1;
            count.faulty += usize::from(checked.is_faulty);
            count.repaired += usize::from(repaired);
            if checked.is_faulty || !args.quiet {
                if args.json {
                    write!(out, "{separator}{}", json_text(&checked.json().to_string()))?;
                    separator = ",\n";
                } else {
                    checked.print(&mut out)?;
                }
            }
            // A file may take long, and the next one may be faulty.
            out.flush()?;
            if out.left && count.faulty > 0 {
                break 'all;
            }
        }
    }
    let Count {
        all,
        repaired,
        faulty,
    } = count;
    let sound = all - faulty;
    if args.json {
        writeln!(
            out,
            "\n],\"checked\":{all},\"sound\":{sound},\"repaired\":{repaired},\"faulty\":{faulty}}}"
        )?;
    } else if !args.quiet {
        writeln!(
            out,
            "{}: {sound} sound, {repaired} with repairs, {faulty} faulty",
            plural(all, "file")
        )?;
    }
    out.flush()?;
    match faulty {
        0 => Ok(()),
        _ => Err(Failure::Faulty),
    }
}

fn check(file: Found, args: &Args) -> Checked {
    let (path, model) = match file {
        Found::Unreadable(path, why) => (path, Err(format!("cannot be read: {why}"))),
        Found::File(path) => {
            let mut model =
                load(&path, &args.space.of(ImportOptions::default())).map_err(|failure| {
                    let words = failure.words().unwrap_or_default();
                    let name = format!("{}: ", shown(&path));
                    words.strip_prefix(&name).unwrap_or(&words).to_owned()
                });
            // A sword without a skin is no fault.
            if let Ok(model) = &mut model {
                model.repairs.retain(|it| it.kind != RepairKind::NoSkin);
            }
            (path, model)
        }
    };
    let is_sound = |model: &Imported| !args.strict || model.repairs.is_empty();
    Checked {
        name: path.display().to_string(),
        posed_by: args.posed_by,
        is_faulty: !model.as_ref().is_ok_and(is_sound),
        model,
    }
}

impl Checked {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = Escaped(&self.name);
        let model = match &self.model {
            Ok(model) => model,
            Err(words) => return writeln!(out, "{name}: FAULTY: {words}"),
        };
        let repairs = model.repair_summary();
        let word = match (self.is_faulty, repairs.len()) {
            (true, count) => format!("FAULTY: {}", plural(count, "repair")),
            (false, 0) => "ok".into(),
            (false, count) => format!("ok, {}", plural(count, "repair")),
        };
        writeln!(out, "{name}: {word} ({})", contents(model))?;
        for line in repairs {
            writeln!(out, "    {line}")?;
        }
        if self.posed_by {
            print_posed_by(model, out)?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let verdict = if self.is_faulty { "faulty" } else { "sound" };
        let mut one = json!({
            "file": self.name,
            "verdict": verdict,
            "error": self.model.as_ref().err(),
            "repairs": [],
            "joints": null,
            "vertices": null,
            "clips": null,
        });
        if let Ok(model) = &self.model {
            one["repairs"] = report::repairs(&model.repairs);
            one["joints"] = model.skeleton().len().into();
            one["vertices"] = model.vertex_count().into();
            one["clips"] = model.clips().len().into();
            if self.posed_by {
                let why = CpuReason::of_character(&model.character);
                one["on_cpu"] = why.map_or(
                    Value::Null,
                    |reason| json!({ "reason": reason.to_string(), "advice": advice(reason) }),
                );
            }
        }
        one
    }
}

fn print_posed_by(model: &Imported, out: &mut dyn Write) -> io::Result<()> {
    match CpuReason::of_character(&model.character) {
        None => writeln!(out, "    all clips can be posed on the GPU"),
        Some(reason) => {
            let advice = advice(reason);
            writeln!(out, "    it is posed on the CPU: {reason}; {advice}")
        }
    }
}

/// Says which change lets the GPU pose the instances.
fn advice(reason: CpuReason) -> &'static str {
    match reason {
        CpuReason::Blended => "masked materials (alpha cutoff) do not have to be sorted",
        CpuReason::Joints => "leave out joints that move no vertex, or split the character",
        CpuReason::Springs => "switch them off where nobody sees them (Actor::set_springs)",
        _ => "see Crowd::posed_by",
    }
}

/// The output, whose reader may leave. The files are still checked then, for the exit status.
struct Reader<'a> {
    out: &'a mut dyn Write,
    /// True after the reader left.
    left: bool,
}

impl Reader<'_> {
    fn without_reader<T>(&mut self, result: io::Result<T>, instead: T) -> io::Result<T> {
        match result {
            Err(error) if is_closed_pipe(&error) => {
                self.left = true;
                Ok(instead)
            }
            result => result,
        }
    }
}

impl Write for Reader<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left {
            return Ok(bytes.len());
        }
        let result = self.out.write(bytes);
        self.without_reader(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.left {
            return Ok(());
        }
        let result = self.out.flush();
        self.without_reader(result, ())
    }
}

/// The contents of a file in a few words.
fn contents(model: &Imported) -> String {
    [
        plural(model.skeleton().len(), "joint"),
        plural(model.vertex_count(), "vertex"),
        plural(model.clips().len(), "clip"),
    ]
    .join(", ")
}
