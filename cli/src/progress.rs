//! Progress of packing on the error stream, if that is a terminal.

use std::io::{IsTerminal as _, Write as _, stderr};
use throng::clip::PackObserver;

/// Returns to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// An observer that shows the number of packed clips. `None` if nobody sees it.
pub(crate) fn packing() -> Option<PackObserver> {
    let show = |clip: &str, done: usize, total: usize| {
        // Cut, so that the line is not broken.
        let name: String = clip.chars().filter(|c| !c.is_control()).take(40).collect();
        let _ = write!(stderr(), "{CLEAR}packing clips: {done}/{total} {name}");
    };
    stderr().is_terminal().then(|| PackObserver::new(show))
}

pub(crate) fn clear() {
    if stderr().is_terminal() {
        let _ = write!(stderr(), "{CLEAR}");
    }
}
