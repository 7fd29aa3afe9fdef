//! Tasks of this repository, called by `cargo xtask`.

mod background;
mod checks;
mod ci;
mod drivers;
mod jobs;
mod log;
mod packages;
mod platforms;
mod release;
mod result;
mod run;
mod setup;
mod share;
mod stages;
mod tests;

use result::USAGE;
use std::process::ExitCode;

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
