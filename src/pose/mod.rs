//! Poses on the CPU: the twins of the GPU's stages. No Vulkan.
//!
//! ```text
//! clip, time ──animate──▶ local pose ──palette──▶ model pose ──▶ palette ──skin──▶ vertices
//!            └─animate_weights──▶ morph weights ──morph──▶ morphed vertices ─┘
//! ```
//!
//! Two ways lead from clips to palettes. [`Poser`] evaluates one instance. For crowds, a [`SampleList`] says which of the
//! character's packed clips ([`Clip`]) each instance plays, and a [`BatchPoser`] evaluates all:
//!
//! | to | there is |
//! |---|---|
//! | play clips over time: loops, speeds, fades, steps kept in phase | [`Layer`], [`LayerStack`], [`Ramp`], [`SyncAnchor`] |
//! | say which joints, and what is added | [`Mask`], [`AdditiveReference`], [`Clip::additive`] |
//! | blend by a speed or a direction | [`BlendSpace1`], [`BlendSpace2`], [`GradientBands`], [`cycle_duration_s`] |
//! | decide what plays | [`state_machine`]: state machines as data and text |
//! | change pose without a fade | [`Inertia`] |
//! | move the instance, hear footsteps | [`RootMotion`], [`ClipEvents`] |
//! | reach, look, stand on uneven ground | [`ik`] |
//! | hold a sword | [`Socket`], [`joint_model`] |
//! | play another skeleton's clips | [`retarget`], and `import::add_clips` for the same names |
//! | blend poses of one's own | [`blend()`] |
//! | sample and blend morph weights | [`Clip::sample_weights`], [`blend_weights()`] |
//! | pack clips of one's own | [`Clip::new`], [`pack_clips()`] |
//!
//! ```
//! use throng::character::{Affine, Transform};
//! use throng::pose::{BatchPoser, Clip, Layer, LayerStack, Mask, SampleList, model_pose};
//!
//! let character = throng::builtin::mannequin()?.character;
//! let clips = character.clips();
//! let durations_s: Vec<f64> = clips.iter().map(Clip::duration_s).collect();
//! let [walk, wave] = [character.clip("Walk")?.index(), character.clip("Wave")?.index()];
//! let arms = Mask::none(character.skeleton()).with_subtree(character.skeleton(), "Spine", 1.0)?;
//! let poser = BatchPoser::new(&character)?.with_masks(&[arms])?;
//!
//! // Each walks from a time of its own; the first waves from second 2 on.
//! let mut crowd: Vec<LayerStack> = vec![LayerStack::new(); 3];
//! for (number, layers) in crowd.iter_mut().enumerate() {
//!     layers.play(Layer::new(walk, -0.3 * number as f64));
//! }
//! crowd[0].play(Layer::new(wave, 2.0).on_level(1).with_mask(0).fade_in(2.0, 0.3));
//!
//! // A frame: what everyone plays, local poses, whatever changes them, model poses (for `Crowd::set_model_pose`) or palettes.
//! let now_s = 2.5;
//! let mut list = SampleList::new();
//! for layers in &crowd {
//!     list.push(layers.samples(now_s, &durations_s));
//! }
//! let joints = character.skeleton().len();
//! let mut local = vec![Transform::IDENTITY; joints * crowd.len()];
//! poser.local_poses(clips, &list, &mut local)?;
//! let mut model = vec![Affine::IDENTITY; joints];
//! model_pose(character.skeleton(), &local[..joints], &mut model)?;
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! Each stage is a plain function over slices. [`Poser`] owns the two intermediate poses and the
//! morph weights and runs the stages in order; one poser serves any number of instances of any character in turn.

mod additive;
mod animate;
mod animate_weights;
mod batch;
mod blend;
mod blend_space;
mod blend_weights;
mod bounds;
mod dual_quat;
mod entry;
mod events;
mod format;
mod held;
pub mod ik;
mod inertia;
mod lanes;
mod layer;
mod layer_stack;
mod linear;
mod mask;
mod method;
mod morph;
mod pack_clips;
mod palette;
mod pick;
mod project;
mod ramp;
mod ray;
pub mod retarget;
mod root_motion;
mod sample_list;
mod simd_level;
mod skin;
mod skinned_layout;
mod skinner;
mod socket;
pub mod state_machine;
mod sync;
mod turned;
mod wrap;
mod write_only;

pub(crate) use additive::curves as difference_curves;
pub use additive::{AdditiveReference, difference};
pub use animate::animate;
pub use animate_weights::animate_weights;
pub use batch::{BatchPoser, Clip, ClipOptions, ClipPacking, ClipReport};
pub(crate) use batch::{PlanSource, Planner, Product, Starts};
pub use blend::{BLEND_THRESHOLD, PoseLayer, blend};
pub(crate) use blend::{JointPart, blend_joint};
pub use blend_space::{BlendSpace1, BlendSpace2, GradientBands, MAX_BLEND_POINTS};
pub use blend_weights::{WeightSample, blend_weights};
pub use bounds::{morphed_bounds, posed_bounds};
pub use entry::PaletteEntry;
pub use events::{ClipEvents, EventCursor, EventHit, Passed};
pub use format::{DualQuat, DualQuatStretch, Method, PaletteFormat, PaletteRef, QuatOffset};
pub(crate) use inertia::decayed_by;
pub use inertia::{Inertia, Moving};
pub use layer::{Layer, LoopMode};
pub use layer_stack::LayerStack;
pub use mask::Mask;
pub use method::{check_clip, check_method};
pub use morph::{MorphedVertices, morph};
pub(crate) use pack_clips::PackCount;
pub use pack_clips::{PackObserver, PackProgress, pack_clips};
pub(crate) use palette::expect_len;
pub use palette::{Mat3x4, PaletteFit, model_pose, model_pose_from, palette};
pub use pick::{Faces, Hit, Posed, PosedInstance, Ray, pick, pick_many};
pub use ramp::{Ease, Ramp};
pub use root_motion::{
    RootDelta, RootMotion, RootMotionJob, RootMotionOptions, RootMotionReport, RootPass, RootPlace,
    RootReference,
};
pub(crate) use root_motion::{RootMotionBudget, extract};
pub use sample_list::{ClipSample, SampleList};
pub use simd_level::SimdLevel;
pub use skin::{PosedVertices, skin};
pub use skinned_layout::{SkinnedLayout, SkinnedPart};
pub use skinner::{SkinJob, Skinner, skin_many};
pub use socket::{Playing, Samples, Socket, Sockets, joint_model};
pub use sync::{SyncAnchor, cycle_duration_s};
pub use turned::turned_triangles;
pub use wrap::ClipSpan;
pub use write_only::WriteOnly;

use crate::character::{Affine, Character, Transform};
use crate::error::Result;

/// The intermediate poses of the stages, kept so that nothing is allocated per frame.
#[derive(Debug, Clone, Default)]
pub struct Poser {
    local: Vec<Transform>,
    model: Vec<Affine>,
    weights: Vec<f32>,
}

impl Poser {
    /// An empty one; it grows to the largest skeleton that it is used with.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Local and model pose and morph weights of `character`: of a clip at a time (its index, and seconds in the
    /// clip's own time, clamped to it), or the rest pose. The file's curves are taken where the character has them
    /// ([`Character::curves`]), which is exact; else the packed clip.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) for a clip that the character lacks; the poses
    /// stay as they were.
    pub fn pose(&mut self, character: &Character, clip: Option<(usize, f64)>) -> Result<&[Affine]> {
        self.animate(character, clip)?;
        self.compose(character)
    }

    /// The animate stage alone: the local pose and the morph weights. The model pose stays that of the pose before.
    ///
    /// # Errors
    /// As [`Self::pose`].
    pub(crate) fn animate(
        &mut self,
        character: &Character,
        clip: Option<(usize, f64)>,
    ) -> Result<()> {
        let clip = clip
            .map(|(index, time_s)| Ok((character.played_clip(index)?, time_s)))
            .transpose()?;
        let skeleton = character.skeleton();
        self.local.clear();
        self.local
            .extend(skeleton.joints().iter().map(|joint| joint.rest));
        if let Some((clip, time_s)) = clip {
            clip.animate(time_s, &mut self.local)?;
        }
        self.weights.clear();
        let rest = character.morph_weights().iter();
        self.weights.extend(rest.map(|weight| weight.rest));
        if let Some((clip, time_s)) = clip {
            clip.animate_weights(time_s, &mut self.weights)?;
        }
        Ok(())
    }

    /// The palette stage's first half: the model pose, from the local pose.
    ///
    /// # Errors
    /// [`Error::Argument`] if the local pose is another character's.
    pub(crate) fn compose(&mut self, character: &Character) -> Result<&[Affine]> {
        let skeleton = character.skeleton();
        self.model.resize(skeleton.len(), Affine::IDENTITY);
        model_pose(skeleton, &self.local, &mut self.model)?;
        Ok(&self.model)
    }

    /// [`Self::pose`], then the palette, written in order into `out`: one entry per entry of
    /// [`Character::palette`].
    ///
    /// # Errors
    /// As [`Self::pose`]; [`Error::Argument`](crate::Error::Argument) if `out` is not exactly as
    /// long as the palette, and
    /// nothing is written to it then.
    pub fn palette(
        &mut self,
        character: &Character,
        clip: Option<(usize, f64)>,
        out: WriteOnly<'_, Mat3x4>,
    ) -> Result<()> {
        self.pose(character, clip)?;
        palette(character, &self.model, PaletteFit::Projected, out)
    }

    /// The local pose that was computed last: one transform per joint.
    #[must_use]
    pub fn local(&self) -> &[Transform] {
        &self.local
    }

    /// The morph weights that were computed last: one for each of [`Character::morph_weights`], the
    /// clip's where it drives them, those of the rest pose elsewhere.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The model pose that was computed last: character space from each joint's space.
    #[must_use]
    pub fn model(&self) -> &[Affine] {
        &self.model
    }
}
