//! Printing that ends quietly if the pipe is closed, as in `cargo run … | head`.

/// Prints a line like `println!`, but ends the program instead of panicking on a closed pipe.
macro_rules! say {
    ($($text:tt)*) => {{
        let line = format!($($text)*);
        if std::io::Write::write_all(&mut std::io::stdout(), (line + "\n").as_bytes()).is_err() {
            std::process::exit(0);
        }
    }};
}
pub(crate) use say;
