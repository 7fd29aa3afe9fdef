//! The messages of the validation layer, which wgpu hands to the logger, and errors of others.

use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Bevy calls Vulkan on many threads, so these are the messages of all of them.
static CAUGHT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Texts that a test waits for, each with what was said of it.
static AWAITED: Mutex<Vec<(&str, Vec<String>)>> = Mutex::new(Vec::new());

/// Takes messages with this text from those of all tests. [`awaited`] has them.
pub(crate) fn wait_for(text: &'static str) {
    let mut awaited = AWAITED.lock().unwrap_or_else(PoisonError::into_inner);
    awaited.push((text, Vec::new()));
}

/// The messages with this text.
pub(crate) fn awaited(text: &str) -> Vec<String> {
    let mut awaited = AWAITED.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, found) = awaited
        .iter_mut()
        .find(|(other, _)| *other == text)
        .unwrap();
    std::mem::take(found)
}

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        let is_ours = metadata.target().starts_with("bevy_throng");
        let is_layer = metadata.target().starts_with("wgpu_hal::vulkan::instance");
        match is_ours || is_layer {
            true => metadata.level() <= log::Level::Warn,
            false => metadata.level() <= log::Level::Error,
        }
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let text = format!("{}: {}", record.target(), record.args());
            let mut awaited = AWAITED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, found)) = awaited.iter_mut().find(|(part, _)| text.contains(part)) {
                return found.push(text);
            }
            CAUGHT
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(text);
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

fn take() -> Vec<String> {
    let mut caught = CAUGHT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut caught = caught.drain(..);
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

/// Fails if the layer, throng or Bevy complained.
#[track_caller]
pub(crate) fn expect_none() {
    let caught = take();
    assert!(caught.is_empty(), "{}", caught.join("\n"));
}
