//! A character before its clips are added.

use super::animation_set::{AnimationSource, ClipDraft};
use super::asset::{Character, Packing};
use super::flips::ScaleRanges;
use crate::clip::PackObserver;
use crate::error::Result;
use crate::mesh::Model;
use crate::spring::SpringRig;
use std::sync::Arc;

/// A character before its clips are added. It has all invariants of a [`Character`] but those of
/// clips and of [`Character::MAX_EXTENT`].
#[derive(Debug)]
pub(crate) struct CharacterDraft {
    pub(crate) model: Model,
    pub(crate) springs: SpringRig,
    pub(crate) packing: Packing,
}

impl CharacterDraft {
    /// Adds the clips and the animation data, packs the clips, and checks the extent.
    ///
    /// Levels of detail whose errors are unknown are measured.
    pub(crate) fn build(
        self,
        clips: Vec<ClipDraft>,
        animation: &AnimationSource,
        observer: Option<&PackObserver>,
    ) -> Result<Character> {
        let mut scales = ScaleRanges::at_rest(&self.model.skeleton);
        // The curves that the file has, before parts of their motion are taken out.
        for curve in clips.iter().filter_map(ClipDraft::curve) {
            scales.add(core::slice::from_ref(curve));
        }
        let mut character = Character {
            model: self.model,
            clips: Arc::default(),
            reaches: Arc::default(),
            curves: Arc::default(),
            packing: self.packing,
            scales,
            animations: Arc::default(),
            springs: Arc::new(self.springs),
        };
        character.set_clips(clips, animation, observer)?;
        if !character.has_measured_levels() {
            character.measure_levels(0..character.clip_count())?;
        }
        Ok(character)
    }
}
