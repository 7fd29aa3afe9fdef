//! Printing that ends quietly if the pipe is closed, as in `cargo run … | head`.

use std::error::Error;
use std::fmt;

/// An error that `main` returns, which is printed in words and not as data.
pub(crate) struct Words(Box<dyn Error>);

impl<E: Into<Box<dyn Error>>> From<E> for Words {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Prints a line like `println!`, but ends the program instead of panicking if that fails.
///
/// The exit status is 0 if nobody reads the output any more, and 1 if it cannot be written.
macro_rules! say {
    ($($text:tt)*) => {{
        let line = format!($($text)*);
        let written = std::io::Write::write_all(&mut std::io::stdout(), (line + "\n").as_bytes());
        if let Err(error) = written {
            if error.kind() == std::io::ErrorKind::BrokenPipe {
                std::process::exit(0);
            }
            // If even this cannot be written, only the exit status reports the error.
            let words = format!("standard output: {error}\n");
            let _ = std::io::Write::write_all(&mut std::io::stderr(), words.as_bytes());
            std::process::exit(1);
        }
    }};
}
pub(crate) use say;
