//! Printing that ends quietly if the pipe is closed, as in `cargo run … | head`.

#[path = "closed.rs"]
mod closed;

use closed::is_closed_pipe;
use std::error::Error;
use std::fmt;
use std::io::{self, Write as _};
use std::process;

/// An error that `main` returns, which is printed in words and not as data.
pub(crate) struct Words(Box<dyn Error>);

impl<E: Into<Box<dyn Error>>> From<E> for Words {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Prints a line, or ends the program if that fails.
///
/// The exit status is 0 if nobody reads the output any more, and 1 if it cannot be written.
pub(crate) fn say(line: &str) {
    let Err(error) = writeln!(io::stdout(), "{line}") else {
        return;
    };
    if is_closed_pipe(&error) {
        process::exit(0);
    }
    // If even this cannot be written, only the exit status reports the error.
    let _ = writeln!(io::stderr(), "standard output: {error}");
    process::exit(1);
}
