//! Curves to packed clips, as the import asked for.

use super::{Character, ClipDraft, CurveClip};
use crate::error::{ArgumentFault, Error, Result};
use crate::import::ClipImport;
use crate::pose::ClipOptions;

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
    /// As [`Self::push_clips`].
    pub(crate) fn replace_clips(&mut self, curves: Vec<CurveClip>) -> Result<()> {
        let mut drafts = ClipDraft::all_of(self);
        for (draft, curve) in drafts.iter_mut().zip(curves) {
            draft.set_curve(curve);
        }
        self.push_clips(drafts, None)
    }
}
