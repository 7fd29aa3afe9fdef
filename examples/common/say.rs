//! Printing that ends quietly if nobody reads any more, as in `cargo run … | head`.

/// Prints a line like `println!`, which panics if the pipe is closed. This ends the program.
macro_rules! say {
    ($($text:tt)*) => {{
        let line = format!($($text)*);
        if std::io::Write::write_all(&mut std::io::stdout(), (line + "\n").as_bytes()).is_err() {
            std::process::exit(0);
        }
    }};
}
pub(crate) use say;
