//! A crowd of animated characters, in a window or into a picture.
//!
//! ```text
//! args ─▶ model ─────────▶ layout, flow ─▶ scene ────▶ show ─┬▶ window
//!         roles, measure   who is where    director: who     └▶ headless ─▶ crowd.png, table, JSON
//!                                          does what when
//! ```

pub(crate) mod args;
pub(crate) mod camera;
pub(crate) mod director;
#[path = "../common/display.rs"]
mod display;
mod flow;
mod garment;
pub(crate) mod headless;
pub(crate) mod layout;
pub(crate) mod looks;
mod measure;
mod model;
#[path = "../common/moving_picture.rs"]
mod moving_picture;
#[path = "../common/outputs.rs"]
mod outputs;
mod path;
pub(crate) mod people;
#[path = "../common/picture.rs"]
mod picture;
mod progress;
mod rng;
pub(crate) mod roles;
mod scene;
mod scenery;
#[path = "../common/shadow.rs"]
mod shadow;
pub(crate) mod show;
mod stats;
#[path = "../common/usage.rs"]
mod usage;
mod walls;
mod window;

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use args::Args;
use clap::Parser;
use throng::error::Escaped;
use throng_standalone::Messages;
use usage::closed::is_closed_pipe;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("error")).init();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage::print(&error),
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("crowd: {}", describe(&*error)));
            ExitCode::FAILURE
        }
    }
}

/// Opens a window if there is a display, otherwise renders without one.
fn run(args: &Args) -> Result<()> {
    if !args.is_headless() && display::has_display() {
        match window::run(args)? {
            window::Outcome::Closed => return Ok(()),
            window::Outcome::NoWindow(why) => {
                complain(&format!("crowd: no window ({why}), going on without"));
            }
        }
    }
    headless::run(args)
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

/// The error and its causes on one line, with advice if there is any.
fn describe(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let _ = write!(text, ": {source}");
        cause = source.source();
    }
    Escaped(text.replace('\n', " ")).to_string()
}

/// Prints a line. It is no error if nobody reads the output any more.
fn say(text: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if !is_closed_pipe(&error) => Err(format!("standard output: {error}").into()),
        _ => Ok(()),
    }
}

/// Prints a line to the error stream. It is no error if nobody reads it.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
