//! `throng check`: reports whether files are sound.

use crate::failure::{Failure, after_help};
use crate::model::{Space, load};
use crate::words::{plural, shown};
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use throng::import::{ImportOptions, Imported};

/// Check files: one line for each, with what was repaired.
///
/// A file is faulty if it cannot be imported. A repair is a harmless fault that the importer
/// corrects, or a part that it leaves out. All files are checked, also after a faulty one.
/// If the reader of the output stops early, the exit status still tells whether a file is faulty.
#[derive(Debug, clap::Args)]
#[command(
    after_help = after_help!("Examples:
  throng check assets/*.glb                 all files of a folder
  throng check --strict knight.glb          the file must need no repair
  throng check --quiet *.glb || exit 1      only lines of faulty files, in a script")
)]
pub(crate) struct Args {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Count a repair as a fault.
    #[arg(long)]
    strict: bool,
    /// Print faulty files only, and no summary.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    space: Space,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let (mut faulty, mut repaired) = (0, 0);
    let mut out = Reader { out, left: false };
    for path in &args.files {
        let name = shown(path);
        match load(path, &args.space.of(ImportOptions::default())) {
            Err(failure) => {
                faulty += 1;
                let words = failure.words().unwrap_or_default();
                let path = format!("{name}: ");
                let words = words.strip_prefix(&path).unwrap_or(&words);
                writeln!(out, "{name}: FAULTY: {words}")?;
            }
            Ok(model) => {
                let repairs = model.repair_summary();
                let is_fault = args.strict && !repairs.is_empty();
                faulty += usize::from(is_fault);
                repaired += usize::from(!repairs.is_empty());
                if args.quiet && !is_fault {
                    continue;
                }
                let word = match (is_fault, repairs.len()) {
                    (true, count) => format!("FAULTY: {}", plural(count, "repair")),
                    (false, 0) => "ok".into(),
                    (false, count) => format!("ok, {}", plural(count, "repair")),
                };
                writeln!(out, "{name}: {word} ({})", contents(&model))?;
                for line in repairs {
                    writeln!(out, "    {line}")?;
                }
            }
        }
        // A file may take long, and the next one may be faulty.
        out.flush()?;
        if out.left && faulty > 0 {
            break;
        }
    }
    if !args.quiet {
        writeln!(
            out,
            "{}: {} sound, {repaired} with repairs, {faulty} faulty",
            plural(args.files.len(), "file"),
            args.files.len() - faulty
        )?;
        out.flush()?;
    }
    match faulty {
        0 => Ok(()),
        _ => Err(Failure::Faulty),
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
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
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
