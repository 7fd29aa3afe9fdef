//! Tasks of this repository, called by `cargo xtask`.

mod background;
mod checks;
mod ci;
mod drivers;
mod jobs;
mod log;
mod platforms;
mod release;
mod run;
mod setup;
mod share;
mod stages;
mod tests;

use std::process::ExitCode;

/// The result of a task, with any error as a text for people.
type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "\
usage: cargo xtask ci [--all] [STAGE...]    run the stages of this commit, or only these
       cargo xtask ci --list [--all]        list the stages, and which of them this commit runs

--all, or THRONG_CI=all in the environment, runs every stage whole, as before a release.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        [] | ["-h" | "--help" | "help", ..] | ["ci", "-h" | "--help"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        ["ci", "--background", job] => jobs::run(job),
        ["ci", rest @ ..] => run::run(rest),
        _ => Err(USAGE.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
