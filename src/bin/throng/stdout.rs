//! The standard output.

use std::io::{self, Write};

/// The standard output, buffered.
pub(crate) fn open() -> Box<dyn Write> {
    match is_open() {
        true => Box::new(io::BufWriter::new(io::stdout().lock())),
        false => Box::new(Closed),
    }
}

/// The error of writing to a standard output that is closed.
pub(crate) fn closed() -> io::Error {
    io::Error::other("it is closed")
}

/// A standard output that was closed before the program started.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(closed())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// False if the program was started with a closed standard output.
///
/// Rust opens the null device in its place before `main`, so this is found out earlier.
#[cfg(target_os = "linux")]
pub(crate) fn is_open() -> bool {
    !at_start::CLOSED.load(std::sync::atomic::Ordering::Relaxed)
}

/// True, because only Linux has a way to find out.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn is_open() -> bool {
    true
}

/// Runs before `main`.
#[cfg(target_os = "linux")]
mod at_start {
    use core::ffi::c_int;
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static CLOSED: AtomicBool = AtomicBool::new(false);

    /// The number of the standard output.
    const STDOUT: c_int = 1;
    /// The command of `fcntl` that reads the flags of a file descriptor.
    const F_GETFD: c_int = 1;

    unsafe extern "C" {
        fn fcntl(file: c_int, command: c_int, ...) -> c_int;
    }

    extern "C" fn look() {
        // SAFETY: F_GETFD takes no third argument, and any number: it fails if no file is open.
        let flags = unsafe { fcntl(STDOUT, F_GETFD) };
        CLOSED.store(flags == -1, Ordering::Relaxed);
    }

    // SAFETY: the C library calls every function in this section once, before `main`. `look` has
    // the C calling convention, ignores the arguments, and uses nothing that `main` prepares.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
