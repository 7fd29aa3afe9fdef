//! Packs many clips at once, on all cores.

use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Progress of packing, reported after each clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackProgress<'a> {
    /// Number of packed clips, including this one.
    pub done: usize,
    /// Total number of clips.
    pub total: usize,
    /// Name of the clip that was just packed.
    pub clip: &'a str,
}

/// A callback that is told about each packed clip.
///
/// Use it to draw a progress bar, for example.
///
/// It is called from the packing threads, possibly several at once. Every number of finished clips
/// from 1 up is reported, but not always in order.
#[derive(Clone)]
pub struct PackObserver(Arc<dyn Fn(PackProgress<'_>) + Send + Sync>);

impl PackObserver {
    /// Creates an observer that calls `told`.
    pub fn new(told: impl Fn(PackProgress<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    /// Calls the callback.
    pub fn tell(&self, progress: PackProgress<'_>) {
        (self.0)(progress);
    }
}

impl fmt::Debug for PackObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PackObserver")
    }
}

/// Equal if both hold the same callback object.
impl PartialEq for PackObserver {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Counts packed clips from any number of threads.
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

    /// Counts one more clip and reports it.
    pub(crate) fn add(&self, clip: &str, tell: impl FnOnce(PackProgress<'_>)) {
        tell(PackProgress {
            done: self.done.fetch_add(1, Ordering::Relaxed) + 1,
            total: self.total,
            clip,
        });
    }
}
