//! Poses by the crate's per-pose functions, one after the other.
//!
//! They are exact if the file's curves were kept.

use throng::Id;
use throng::Result;
use throng::character::Character;
use throng::glam::Affine3A;
use throng::mesh::MorphWeight;
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;

/// The poses of one instance.
#[derive(Debug, Clone, Default)]
pub struct Poser {
    local: Vec<Transform>,
    model: Vec<Affine3A>,
    weights: Vec<f32>,
}

impl Poser {
    pub fn new() -> Self {
        Self::default()
    }

    /// The model pose of a clip (its index) at a time, or of the rest pose.
    ///
    /// It samples the curves if the character has them, otherwise the packed clip.
    pub fn pose(
        &mut self,
        character: &Character,
        clip: Option<(usize, f64)>,
    ) -> Result<&[Affine3A]> {
        let skeleton = character.skeleton();
        self.local.clear();
        let joints = skeleton.joints().iter();
        self.local.extend(joints.map(|joint| joint.rest));
        self.weights.clear();
        let rest = character.morph_weights().iter();
        self.weights.extend(rest.map(|weight| weight.rest));
        if let Some((clip, time_s)) = clip {
            let weights = &mut self.weights;
            let write = |id: Id<MorphWeight>, value| weights[id.index()] = value;
            if let Some(curves) = character.curves().get(clip) {
                curves.sample(time_s, &mut self.local)?;
                curves.sample_weights(time_s, write);
            } else {
                let clip = &character.clips()[clip];
                clip.sample(time_s, &mut self.local)?;
                clip.sample_weights(time_s, write);
            }
        }
        self.model.resize(skeleton.len(), Affine3A::IDENTITY);
        skeleton.model_pose(&self.local, &mut self.model)?;
        Ok(&self.model)
    }

    /// Computes [`Self::pose`], then the palette.
    pub fn palette(
        &mut self,
        character: &Character,
        clip: Option<(usize, f64)>,
        out: WriteOnly<'_, Mat3x4>,
    ) -> Result<()> {
        self.pose(character, clip)?;
        character.write_palette(&self.model, out)
    }

    /// The local pose that was computed last.
    pub fn local(&self) -> &[Transform] {
        &self.local
    }

    /// The morph weights that were computed last.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The model pose that was computed last.
    pub fn model(&self) -> &[Affine3A] {
        &self.model
    }
}
