//! Recognises that the reader of the output is gone.

use std::io::{Error, ErrorKind};

/// `ERROR_PIPE_NOT_CONNECTED` of Windows, which the standard library gives no kind.
const NOT_CONNECTED: i32 = 233;

/// True if a write failed because nobody reads the pipe any more, as in `cargo run … | head`.
///
/// Windows reports a named pipe whose other end has disconnected as an error of its own. Wine does
/// so for every closed pipe.
pub(crate) fn is_closed_pipe(error: &Error) -> bool {
    let not_connected = cfg!(windows) && error.raw_os_error() == Some(NOT_CONNECTED);
    error.kind() == ErrorKind::BrokenPipe || not_connected
}
