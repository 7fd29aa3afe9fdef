//! Displays: whether there is one, and advice if a window cannot be opened.

use std::env::var_os;

/// True if a window can be expected to open.
///
/// On a Unix desktop, `DISPLAY` or `WAYLAND_DISPLAY` names the display. Other systems always have
/// one.
#[must_use]
pub(crate) fn has_display() -> bool {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return true;
    }
    let is_set = |name| var_os(name).is_some_and(|value| !value.is_empty());
    is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// Advice if a window cannot be opened, as the end of an error message.
#[must_use]
pub(crate) fn display_advice() -> &'static str {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return "start the program in a session with a display";
    }
    if has_display() {
        "check that DISPLAY or WAYLAND_DISPLAY names a running display, and that the libraries of \
         the window system are installed (libx11-6, libxcursor1, libxi6, libxrandr2 and \
         libxkbcommon-x11-0 on Debian and Ubuntu)"
    } else {
        "DISPLAY and WAYLAND_DISPLAY are not set: start the program in a desktop session, set \
         DISPLAY, or run it under xvfb-run"
    }
}
