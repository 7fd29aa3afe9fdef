//! Printing the help or an error of the command line.

#[path = "closed.rs"]
pub(crate) mod closed;

use closed::is_closed_pipe;
use std::process::ExitCode;

/// Prints what `clap` has to say instead of arguments, and returns the exit status.
///
/// `Parser::parse` would exit with 0 if the help cannot be written.
pub(crate) fn print(error: &clap::Error) -> ExitCode {
    match error.print() {
        Err(why) if !is_closed_pipe(&why) => ExitCode::FAILURE,
        _ => ExitCode::from(error.exit_code() as u8),
    }
}
