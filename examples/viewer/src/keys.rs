//! The keys of the window, and their commands.

use winit::keyboard::{Key, NamedKey};

/// The keys, printed when the window opens and at the end of `--help`.
pub(crate) const KEYS: &str = "Keys in the window:\n  \
    Space       play or pause\n  \
    , and .     one frame back, one frame forward\n  \
    Home        to the start of the clip or state machine\n  \
    l           loop on or off\n  \
    1 … 9       play that clip of the list\n  \
    - and =     half or double speed\n  \
    v           next view\n  \
    s           skeleton on or off\n  \
    t           next pair of tints\n  \
    f           all poses of the clip in view\n  \
    c           camera follows or stays\n  \
    Tab         panels on or off\n  \
    h or F1     help\n  \
    Esc         close the help, else the window\n\
    Drag with the left button to orbit, with the right one to move, and scroll to zoom.";

/// A command from the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    PlayOrPause,
    /// Frames forward. Negative steps go back.
    Step(i32),
    Restart,
    ToggleLoop,
    /// The index of a clip in the list.
    Clip(usize),
    Slower,
    Faster,
    NextView,
    ToggleSkeleton,
    NextTints,
    Frame,
    ToggleFollow,
    TogglePanels,
    ToggleHelp,
    Close,
}

/// The command of a key, if it has one.
pub(crate) fn command(key: &Key) -> Option<Command> {
    let text = match key {
        Key::Named(NamedKey::Space) => return Some(Command::PlayOrPause),
        Key::Named(NamedKey::Home) => return Some(Command::Restart),
        Key::Named(NamedKey::Tab) => return Some(Command::TogglePanels),
        Key::Named(NamedKey::F1) => return Some(Command::ToggleHelp),
        Key::Named(NamedKey::Escape) => return Some(Command::Close),
        Key::Character(text) => text.to_lowercase(),
        _ => return None,
    };
    Some(match text.as_str() {
        "," => Command::Step(-1),
        "." => Command::Step(1),
        "l" => Command::ToggleLoop,
        "-" => Command::Slower,
        "=" | "+" => Command::Faster,
        "v" => Command::NextView,
        "s" => Command::ToggleSkeleton,
        "t" => Command::NextTints,
        "f" => Command::Frame,
        "c" => Command::ToggleFollow,
        "h" | "?" => Command::ToggleHelp,
        _ => {
            let digit = text.parse::<usize>().ok()?;
            return (1..=9).contains(&digit).then(|| Command::Clip(digit - 1));
        }
    })
}
