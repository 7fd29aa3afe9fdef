//! The messages of the validation layer, which wgpu hands to the logger.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

thread_local! {
    /// The messages of this thread: the layer calls back on the thread whose call is at fault.
    static CAUGHT: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target().starts_with("wgpu_hal::vulkan::instance")
            && metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let text = record.args().to_string();
            CAUGHT.with_borrow_mut(|caught| caught.push(text));
        }
    }

    fn flush(&self) {}
}

/// Installs the logger, and waits until no other test has a device. Call it before an instance is
/// made.
///
/// Layers of 2023 look devices up in a table without a lock, and a new device may grow that table.
pub(crate) fn catch() {
    static ONE_TEST: Mutex<()> = Mutex::new(());
    thread_local! {
        /// Held until the thread of the test ends.
        static TURN: MutexGuard<'static, ()> =
            ONE_TEST.lock().unwrap_or_else(PoisonError::into_inner);
    }
    TURN.with(|_| ());
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Logger).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
    });
}

pub(crate) fn take() -> Vec<String> {
    let mut caught = CAUGHT.take().into_iter();
    let mut kept = Vec::new();
    while let Some(text) = caught.next() {
        // Layers before 1.3.275 do not know the language of wgpu's own pipelines. wgpu says the
        // object in a second record.
        match text.contains("Invalid source language operand: 10") {
            true => drop(caught.next()),
            false => kept.push(text),
        }
    }
    kept
}

/// Fails if the layer said anything on this thread.
#[track_caller]
pub(crate) fn expect_none() {
    let caught = take();
    assert!(caught.is_empty(), "{}", caught.join("\n"));
}
