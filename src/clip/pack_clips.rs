//! Packing many clips at once, on all cores.

use super::curve::CurveClip;
use super::packed::{Clip, ClipOptions};
use crate::character::Character;
use crate::error::Result;
use core::fmt;
use rayon::prelude::*;
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

/// Packs `curves`, of `character` or for its skeleton, on the threads of rayon's current pool, and
/// tells `progress` after each. The clips are in the order of the curves, and the same whatever the
/// number of threads.
///
/// ```
/// use throng::clip::{ClipOptions, pack_clips};
///
/// let options = throng::import::ImportOptions::curves_only();
/// let character = throng::builtin::mannequin_with(&options)?.character;
/// let clips = pack_clips(&character, character.curves(), &ClipOptions::default(), |progress| {
///     println!("{}/{}: {}", progress.done, progress.total, progress.clip);
/// })?;
/// assert_eq!(clips.len(), character.curves().len());
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// As [`Clip::new`], of the first clip that cannot be packed.
pub fn pack_clips(
    character: &Character,
    curves: &[CurveClip],
    options: &ClipOptions,
    progress: impl Fn(PackProgress<'_>) + Sync,
) -> Result<Vec<Clip>> {
    let told = PackCount::new(curves.len());
    let pack = |curve: &CurveClip| {
        let clip = Clip::new(character, curve, options)?;
        told.add(curve.name(), &progress);
        Ok(clip)
    };
    // One by one, since clips are of very different lengths.
    let packed: Vec<Result<Clip>> = curves.par_iter().with_max_len(1).map(pack).collect();
    packed.into_iter().collect()
}
