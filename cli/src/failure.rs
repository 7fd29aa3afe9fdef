//! The reasons why a subcommand ends early, with their exit statuses.

use crate::words::shown;
use std::io;
use std::path::Path;
use throng::Error;
use throng::error::Escaped;
use throng_standalone::StandaloneError;

/// The text after the help of a subcommand: its examples, and the exit statuses of all.
macro_rules! after_help {
    ($examples:literal) => {
        concat!(
            $examples,
            "\n\nExit status:\n",
            "  0  done\n",
            "  1  a file cannot be read or is faulty, or has no such clip\n",
            "  2  the command line is wrong\n",
            "  3  the output cannot be written\n",
            "  4  there is no suitable Vulkan device, or a Vulkan call failed"
        )
    };
}
pub(crate) use after_help;

/// The reason why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A file cannot be read, is faulty, or lacks what was asked for.
    File(String),
    /// Files were found to be faulty. The output says which.
    Faulty,
    /// Arguments contradict each other.
    Usage(String),
    /// A file cannot be written.
    Write(String),
    /// The standard output cannot be written.
    Output(io::Error),
    /// There is no suitable Vulkan device, or a Vulkan call failed.
    Vulkan(String),
}

impl Failure {
    pub(crate) const fn exit_status(&self) -> u8 {
        match self {
            Self::File(_) | Self::Faulty => 1,
            Self::Usage(_) => 2,
            Self::Write(_) | Self::Output(_) => 3,
            Self::Vulkan(_) => 4,
        }
    }

    /// The words for the user. `None` if the output has them.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self::File(words) | Self::Usage(words) | Self::Write(words) | Self::Vulkan(words) => {
                Some(Escaped(words).to_string())
            }
            Self::Output(error) => Some(format!("standard output: {error}")),
            Self::Faulty => None,
        }
    }

    /// An error about a file. The path comes first, as it was given.
    pub(crate) fn of_file(path: &Path, error: &Error) -> Self {
        let words = error.to_string();
        // As errors have it.
        let given = shown(path);
        if words.starts_with(&given) {
            return Self::File(words);
        }
        // Many errors start with the file's name.
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = format!("{}: ", shown(Path::new(name)));
        let words = words.strip_prefix(&name).unwrap_or(&words);
        Self::File(format!("{given}: {words}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let words = error.to_string();
        match error {
            Error::Write { .. } => Self::Write(words),
            Error::Vulkan { .. } | Error::Memory { .. } | Error::Unsupported { .. } => {
                Self::Vulkan(words)
            }
            _ => Self::File(words),
        }
    }
}

impl From<StandaloneError> for Failure {
    fn from(error: StandaloneError) -> Self {
        Self::Vulkan(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
