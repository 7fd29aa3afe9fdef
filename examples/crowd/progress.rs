//! Progress of a rendering on the error stream, if that is a terminal.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_millis(100);
/// Returns to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

pub(crate) struct Progress {
    frames: u32,
    shown: Option<Instant>,
    terminal: bool,
}

impl Progress {
    pub(crate) fn new(frames: u32) -> Self {
        Self {
            frames,
            shown: None,
            terminal: stderr().is_terminal(),
        }
    }

    pub(crate) fn set(&mut self, done: u32) {
        let due = self.shown.is_none_or(|shown| shown.elapsed() >= INTERVAL);
        if self.terminal && due {
            let _ = write!(stderr(), "{CLEAR}{done}/{} frames", self.frames);
            self.shown = Some(Instant::now());
        }
    }

    pub(crate) fn clear(self) {
        if self.shown.is_some() {
            let _ = write!(stderr(), "{CLEAR}");
        }
    }
}
