//! Curves to packed clips, as the import asked for.

use super::{Character, CurveClip};
use crate::error::{ArgumentFault, Error, Result};
use crate::import::ClipImport;
use crate::pose::{ClipOptions, PackObserver, PackProgress, pack_clips};

/// How clips become part of a character: as its import asked, also for those that join it later.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Packing {
    pub(crate) clips: ClipImport,
    pub(crate) options: ClipOptions,
}

impl Character {
    /// The curves of all clips.
    ///
    /// # Errors
    /// [`Error::Argument`] if there are clips whose curves were not kept.
    pub(crate) fn kept_curves(&self) -> Result<&[CurveClip]> {
        if self.curves.len() == self.clip_count() {
            return Ok(&self.curves);
        }
        Err(Error::Argument {
            what: "the character's curves",
            why: ArgumentFault::Invalid("were not kept: ask for them by ImportOptions::clips"),
        })
    }

    /// Puts these curves, which are proven for this character, in the place of its own.
    ///
    /// # Errors
    /// As [`Self::take_clips`].
    pub(crate) fn replace_clips(&mut self, curves: Vec<CurveClip>) -> Result<()> {
        self.clips.clear();
        self.curves.clear();
        self.take_clips(curves, None)
    }

    /// Puts these curves, which are proven for this character, after its own clips: packed, on rayon's
    /// current pool, or as they are, as its import asked. The observer is told of each that is packed.
    ///
    /// # Errors
    /// [`Error::Argument`] if the import's error bound is not positive and finite; the
    /// clips stay as they were.
    pub(crate) fn take_clips(
        &mut self,
        curves: Vec<CurveClip>,
        observer: Option<&PackObserver>,
    ) -> Result<()> {
        let Packing { clips, options } = self.packing;
        if clips != ClipImport::Curves {
            let tell = |progress: PackProgress<'_>| {
                if let Some(observer) = observer {
                    observer.tell(progress);
                }
            };
            let packed = pack_clips(self, &curves, &options, tell)?;
            self.clips.extend(packed);
        }
        if clips != ClipImport::Packed {
            self.curves.extend(curves);
        }
        Ok(())
    }
}
