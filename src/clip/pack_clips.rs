//! Packing many clips at once, on all cores.

use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How far packing has come: told after each clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackProgress<'a> {
    /// How many clips are packed, this one included.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// The name of the clip that was just packed.
    pub clip: &'a str,
}

/// A function that is told of each packed clip, such as one that draws a progress bar.
///
/// It is called from the threads that pack, several at once: with every number of clips done from 1
/// on, but not always in that order.
#[derive(Clone)]
pub struct PackObserver(Arc<dyn Fn(PackProgress<'_>) + Send + Sync>);

impl PackObserver {
    /// Calls `told`.
    pub fn new(told: impl Fn(PackProgress<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    /// Calls the function.
    pub fn tell(&self, progress: PackProgress<'_>) {
        (self.0)(progress);
    }
}

impl fmt::Debug for PackObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PackObserver")
    }
}

/// The same function, not one that does the same.
impl PartialEq for PackObserver {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Counts packed clips, from any number of threads.
pub(crate) struct PackCount {
    done: AtomicUsize,
    total: usize,
}

impl PackCount {
    pub(crate) const fn new(total: usize) -> Self {
        Self {
            done: AtomicUsize::new(0),
            total,
        }
    }

    /// One more, of this name.
    pub(crate) fn add(&self, clip: &str, tell: impl FnOnce(PackProgress<'_>)) {
        tell(PackProgress {
            done: self.done.fetch_add(1, Ordering::Relaxed) + 1,
            total: self.total,
            clip,
        });
    }
}
