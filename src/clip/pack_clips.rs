//! Packs many clips at once, on all cores.

use core::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A callback that is told about each packed clip, such as one that draws a progress bar.
///
/// It is called from the packing threads, possibly several at once. Every number of packed clips
/// from 1 up is reported, but not always in order.
///
/// ```
/// use throng::clip::PackObserver;
/// use throng::import::ImportOptions;
///
/// let print = |clip: &str, done, total| println!("{done}/{total}: {clip}");
/// let options = ImportOptions {
///     on_packed: Some(PackObserver::new(print)),
///     ..ImportOptions::default()
/// };
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct PackObserver(Arc<Callback>);

type Callback = dyn Fn(&str, usize, usize) + Send + Sync;

impl PackObserver {
    /// Creates an observer that calls `told` after each clip.
    ///
    /// The arguments are the name of the clip, the number of clips packed so far, including this
    /// one, and the total number of clips.
    pub fn new(told: impl Fn(&str, usize, usize) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    /// Calls the callback.
    pub(crate) fn tell(&self, clip: &str, done: usize, total: usize) {
        (self.0)(clip, done, total);
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

/// Counts packed clips from any number of threads, and reports each.
pub(crate) fn counting(total: usize, tell: impl Fn(&str, usize, usize)) -> impl Fn(&str) {
    let done = AtomicUsize::new(0);
    move |clip| tell(clip, done.fetch_add(1, Ordering::Relaxed) + 1, total)
}
