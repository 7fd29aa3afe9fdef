//! Poses on the CPU: the stages from clips to vertices, without Vulkan.
//!
//! ```text
//! clip, time ──animate──▶ local pose ──palette──▶ model pose ──▶ palette ──skin──▶ vertices
//!            └──────────▶ morph weights ──morph──▶ morphed vertices ─────────┘
//! ```
//!
//! There are three levels. Take the highest that does what you need:
//!
//! 1. [`Animator`](crate::animator::Animator) plays clips over time on many instances of a
//!    character: fades, layers, state machines, events, root motion, inverse kinematics. `Crowd` is
//!    built on it.
//! 2. [`BatchPoser`] evaluates many instances of a skeleton together. You decide which clips each
//!    instance plays, at what times and with which weights: a [`SampleList`] of [`ClipSample`]s.
//! 3. Plain functions evaluate one pose: [`Clip::sample`], [`Clip::sample_weights`], [`blend()`],
//!    [`blend_weights()`], [`model_pose`], [`model_pose_from`], [`palette()`], [`morph()`] and
//!    [`skin()`]. [`CurveClip::sample`](crate::character::CurveClip::sample) evaluates a file's own
//!    curves.
//!
//! | to | there is |
//! |---|---|
//! | select joints, or add differences to a pose | [`Mask`], [`AdditiveReference`], [`Clip::additive`] |
//! | blend by a speed or a direction | [`BlendSpace1`], [`BlendSpace2`], [`GradientBands`], [`cycle_duration_s`] |
//! | describe what plays when | [`state_machine`]: state machines as data and text |
//! | change pose without a fade | [`Inertia`] |
//! | move the instance, hear footsteps | [`RootMotion`], [`ClipEvents`] |
//! | reach, look, stand on uneven ground | [`ik`] |
//! | describe where something is attached | [`Socket`] |
//! | play another skeleton's clips | [`retarget`], and `import::add_clips` for the same names |
//! | pack your own clips | [`Clip::new`], [`pack_clips()`] |
//! | deform, pick and measure on the CPU | [`Skinner`], [`pick()`], [`posed_bounds`] |
//!
//! ```
//! use throng::character::{Affine, MaskId, Transform};
//! use throng::pose::{BatchPoser, ClipSample, Mask, SampleList, model_pose};
//!
//! let character = throng::builtin::mannequin()?.character;
//! let (clips, skeleton) = (character.clips(), character.skeleton());
//! let [walk, run, wave] = ["Walk", "Run", "Wave"].map(|name| character.clip(name));
//! let [walk, run, wave] = [walk?, run?, wave?];
//! let arms = Mask::none(skeleton).with_subtree(skeleton, "Spine", 1.0)?;
//! let poser = BatchPoser::new(&character)?.with_masks(&[arms])?;
//!
//! // The first instance walks and waves; the second is halfway between a walk and a run.
//! let mut list = SampleList::new();
//! list.push([
//!     ClipSample::new(walk, 0.4),
//!     ClipSample::new(wave, 1.1).on_level(1).masked(MaskId(0)),
//! ]);
//! list.push([
//!     ClipSample::new(walk, 0.2).weighted(0.5),
//!     ClipSample::new(run, 0.1).weighted(0.5),
//! ]);
//!
//! // The local poses of both; change them as you like, then compose the model poses.
//! let joints = skeleton.len();
//! let mut local = vec![Transform::IDENTITY; joints * list.len()];
//! poser.local_poses(clips, &list, &mut local)?;
//! let mut model = vec![Affine::IDENTITY; joints];
//! model_pose(skeleton, &local[..joints], &mut model)?;
//! # Ok::<(), throng::Error>(())
//! ```

mod additive;
mod animate;
mod animate_weights;
mod batch;
mod blend;
mod blend_space;
mod blend_weights;
mod bounds;
mod clip_form;
mod dual_quat;
mod entry;
mod events;
mod format;
mod held;
pub mod ik;
mod inertia;
mod lanes;
mod linear;
mod loop_mode;
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
mod write_only;

pub(crate) use additive::curves as difference_curves;
pub use additive::{AdditiveReference, difference};
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
pub use loop_mode::LoopMode;
pub use mask::Mask;
pub use method::{check_clip, check_method};
pub use morph::{MorphedVertices, morph};
pub(crate) use pack_clips::PackCount;
pub use pack_clips::{PackObserver, PackProgress, pack_clips};
pub use palette::{Mat3x4, PaletteFit, model_pose, model_pose_from, palette};
pub(crate) use palette::{expect_len, rest_model_pose, rest_palette};
pub use pick::{Faces, Hit, Posed, PosedInstance, Ray, pick, pick_many};
pub use ramp::Ease;
pub(crate) use ramp::{Ramp, SpeedRamp};
pub use root_motion::{
    RootDelta, RootMotion, RootMotionOptions, RootMotionReport, RootPlace, RootReference,
};
pub(crate) use root_motion::{RootMotionBudget, extract};
pub use sample_list::{ClipSample, SampleList};
pub use simd_level::SimdLevel;
pub use skin::{PosedVertices, skin};
pub use skinned_layout::{SkinnedLayout, SkinnedPart};
pub use skinner::{SkinJob, Skinner, skin_many};
pub use socket::Socket;
pub use sync::cycle_duration_s;
pub use turned::turned_triangles;
pub use write_only::WriteOnly;
