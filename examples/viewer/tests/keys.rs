//! The window, driven by real key presses.
//!
//! It needs X11 and the program `xdotool`.

use crate::args::Args;
use clap::Parser as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CHILD: &str = "THRONG_VIEWER_CHILD";
/// The longest wait for the window to show something.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends the process if the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "opens a window: needs a display, xdotool and --include-ignored"]
fn keys_drive_the_window() {
    if std::env::var_os(CHILD).is_some() {
        let args = ["viewer", "builtin", "--validate", "--size", "640x360"];
        return crate::run(&Args::parse_from(args)).expect("a window");
    }
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "tests::keys::keys_drive_the_window",
            "--nocapture",
            "--include-ignored",
        ])
        .env(CHILD, "1")
        .stdout(Stdio::null())
        .spawn();
    let mut running = Running(child.expect("a process"));
    let window = await_some("a window", || {
        let found = xdotool(&["search", "--pid", &running.0.id().to_string()]);
        found.lines().last().map(str::to_owned)
    });
    let title = || xdotool(&["getwindowname", &window]);
    let shows = |text: &str| {
        await_some(text, || Some(title()).filter(|title| title.contains(text)));
    };
    shows("builtin | Idle | playing | loop | Shaded");
    xdotool(&["windowfocus", "--sync", &window]);
    let press = |key: &str| _ = xdotool(&["key", key]);
    press("2");
    shows("Walk | playing");
    press("space");
    shows("Walk | paused");
    press("Home");
    shows("paused at 0.000 s");
    press("period");
    press("period");
    let mannequin = throng::builtin::mannequin().expect("a character");
    let rate_hz = mannequin.clips()[1].report().rate_hz;
    shows(&format!("paused at {:.3} s", 2.0 / rate_hz));
    press("comma");
    press("comma");
    shows("paused at 0.000 s");
    press("l");
    shows("| once |");
    press("v");
    shows("| Normals");
    press("Escape");
    let ended = await_some("the end", || running.0.try_wait().expect("a process"));
    assert!(ended.success(), "{ended}");
}

fn xdotool(args: &[&str]) -> String {
    let ran = Command::new("xdotool").args(args).output();
    let text = ran.expect("xdotool").stdout;
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// Waits until there is a value.
fn await_some<T>(what: &str, mut value: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if let Some(value) = value() {
            return value;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("waited {PATIENCE:?} for: {what}");
}
