//! A viewer for characters: clips, layers, weights, skeleton, skinning, figures.
//!
//! ```text
//! args ─▶ subject (import) ─▶ app ─┬─ playback   which clips play, and when
//!                                  ├─ scene      crowd, ground, shadow, picture
//!                                  │  └─ lens    the views that are not shaded
//!                                  ├─ overlay    skeleton, names, bounds over the picture
//!                                  └─ panels     what the user sees and changes
//! app ─┬▶ window     until it is closed
//!      └▶ headless ─▶ picture or animation
//! ```

#![allow(clippy::duplicate_mod, reason = "tests share files with other tests")]

pub(crate) mod accuracy;
mod actions;
pub(crate) mod app;
pub(crate) mod args;
pub(crate) mod camera;
mod canvas;
#[path = "../../common/display.rs"]
mod display;
mod figures;
mod framing;
mod grid;
pub(crate) mod headless;
pub(crate) mod keys;
pub(crate) mod lens;
mod light;
mod measure;
#[path = "../../common/moving_picture.rs"]
mod moving_picture;
#[path = "../../common/outputs.rs"]
mod outputs;
pub(crate) mod overlay;
pub(crate) mod paint;
pub(crate) mod panels;
#[path = "../../common/picture.rs"]
mod picture;
pub(crate) mod playback;
mod posed_by;
mod record;
#[cfg(feature = "shaderc")]
mod reload;
pub(crate) mod scene;
pub(crate) mod settings;
#[path = "../../common/shadow.rs"]
mod shadow;
mod show;
pub(crate) mod subject;
#[cfg(test)]
#[path = "../tests/mod.rs"]
mod tests;
mod window;

#[path = "../../common/usage.rs"]
mod usage;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use args::Args;
use clap::Parser;
use throng::error::Escaped;
use throng_standalone::Messages;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// Runs the viewer with the arguments of the process.
pub fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("error")).init();
    let args = match Args::try_parse().and_then(Args::checked) {
        Ok(args) => args,
        Err(error) => return usage::print(&error),
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("viewer: {}", Escaped(error)));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    if args.is_headless() {
        return headless::run(args);
    }
    window::run(args)
}

/// Fails if there is any message of the validation layer.
fn check_validation(messages: &Messages) -> Result<()> {
    let messages = messages.all();
    let count = messages.len();
    if count == 0 {
        return Ok(());
    }
    complain(&messages.join("\n"));
    Err(format!("{count} messages of the validation layer").into())
}

/// Prints a line to the error stream. It is no error if nobody reads it.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Prints a line. It is no error if nobody reads it.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
