//! The command line of throng: what a file contains, whether it is sound, and how fast it is.
//!
//! Each subcommand is a file or folder of its own.

mod bake;
mod bench;
mod check;
mod clips;
mod completions;
mod export;
mod failure;
mod folders;
mod inspect;
mod man;
mod model;
mod moment;
mod outfit;
mod output;
mod pose;
mod progress;
mod report;
mod retarget;
mod table;
mod textures;
mod words;

use clap::{CommandFactory as _, Parser, Subcommand};
use failure::{Failure, after_help};
use output::is_closed_pipe;
use std::io::{self, Write};
use std::process::ExitCode;

/// Inspects, checks, converts, poses and measures animated characters.
///
/// FILE is a glTF (also VRM), EZMesh, WebGL or saved (.throng) file, or FBX if the program was
/// built with the feature fbx. The contents of a file decide on its format. The name `builtin`
/// selects the built-in character.
#[derive(Debug, Parser)]
#[command(
    name = "throng",
    version = VERSION,
    long_version = LONG_VERSION,
    propagate_version = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = after_help!("Examples:
  throng inspect knight.glb                 what is in the file
  throng check assets                       whether all files of a folder are sound
  throng bake knight.glb knight.throng      a file that loads without importing
  throng export knight.throng knight.glb    a file for other tools
  throng help bake                          everything about a subcommand")
)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version, with the formats that the program was built to read.
const LONG_VERSION: &str = if cfg!(feature = "fbx") {
    concat!(
        env!("CARGO_PKG_VERSION"),
        "\nformats: glTF, VRM, EZMesh, WebGL, .throng, FBX"
    )
} else {
    concat!(
        env!("CARGO_PKG_VERSION"),
        "\nformats: glTF, VRM, EZMesh, WebGL, .throng"
    )
};

#[derive(Debug, Subcommand)]
enum Command {
    Inspect(inspect::Args),
    Check(check::Args),
    Bake(bake::Args),
    Pose(pose::Args),
    Retarget(retarget::Args),
    Export(export::Args),
    Bench(bench::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    /// True if only errors are to be told.
    fn is_quiet(&self) -> bool {
        match self {
            Self::Check(args) => args.quiet,
            Self::Bake(args) => args.report.quiet,
            Self::Pose(args) => args.quiet,
            Self::Retarget(args) => args.report.quiet,
            Self::Export(args) => args.report.quiet,
            Self::Man(args) => args.quiet,
            Self::Inspect(_) | Self::Bench(_) | Self::Completions(_) => false,
        }
    }
}

fn run(command: &Command, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        Command::Inspect(args) => inspect::run(args, out),
        Command::Check(args) => check::run(args, out),
        Command::Bake(args) => bake::run(args, out),
        Command::Pose(args) => pose::run(args, out),
        Command::Retarget(args) => retarget::run(args, out),
        Command::Export(args) => export::run(args, out),
        Command::Bench(args) => bench::run(args, out),
        Command::Completions(args) => completions::run(args, Args::command(), out),
        Command::Man(args) => man::run(args, Args::command(), out),
    }?;
    out.flush().map_err(Failure::Output)
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    if args.command.is_quiet() {
        words::leave_notes_out();
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    match run(&args.command, &mut out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Output(error)) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(failure) => {
            // The results before the failure. If they cannot be written, the failure counts.
            let _ = out.flush();
            fail(&failure)
        }
    }
}

/// Prints the help, the version, or what is wrong with the arguments.
fn usage(error: &clap::Error) -> ExitCode {
    match error.print() {
        Err(why) if !error.use_stderr() && !is_closed_pipe(&why) => fail(&Failure::Output(why)),
        _ => ExitCode::from(error.exit_code() as u8),
    }
}

/// Tells why there is no result.
fn fail(failure: &Failure) -> ExitCode {
    if let Some(words) = failure.words() {
        let _ = writeln!(io::stderr(), "error: {words}");
    }
    ExitCode::from(failure.exit_status())
}
