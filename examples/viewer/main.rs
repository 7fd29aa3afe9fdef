//! Shows a character and its clips. `src/lib.rs` says how it is built.

use std::process::ExitCode;

fn main() -> ExitCode {
    throng_viewer::main()
}
