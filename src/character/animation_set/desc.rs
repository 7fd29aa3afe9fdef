//! The animation data of a character, as plain data.

use crate::state_machine::{BlendPointDesc, MaskDesc, StateMachineDesc};
use glam::{DVec3, Vec2};
use std::collections::BTreeMap;

/// Animation data of a character that no file format can store.
///
/// Pass it to an import with [`ImportOptions::animation`](crate::import::ImportOptions::animation),
/// or put it beside the model as a TOML file of the same name (`knight.toml` beside `knight.glb`).
/// `throng_import::file` reads it for every format but saved characters. In text, each list is
/// written as tables with the singular name:
///
/// ```toml
/// state_machine_file = "knight.machine.toml"  # or a table: [state_machine]
/// gait_motion = true                          # clips in place move by their gaits
///
/// [humanoid]                                  # roles of joints, for retargeting
/// hips = "Bip01 Pelvis"
/// leftUpperArm = "Bip01 L UpperArm"
///
/// [[mask]]
/// name = "upper body"
/// branches = [{ joint = "Spine", feather = 2 }]
///
/// [[clip]]
/// name = "Walk"
/// events = [{ name = "left foot", time_s = 0.1 }, { name = "right foot", time_s = 0.6 }]
/// root_motion = { joint = "Hips" }
///
/// [[additive]]
/// name = "Recoil"
/// clip = "Shoot"
/// reference = "start"
///
/// [[blend_space]]
/// name = "locomotion"
/// points = [{ at = 0, clip = "Idle" }, { at = 1.4, clip = "Walk" }]
///
/// [[socket]]
/// name = "sword"
/// joint = "RightHand"
/// translation = [0.0, 0.08, 0.02]
/// ```
///
/// A state machine in the same file is the table `state_machine` with the lists of a
/// [`StateMachineDesc`]: `[[state_machine.layer]]`, `[[state_machine.layer.state]]` and so on.
/// The README of `throng-import` has a complete example.
///
/// Names must differ within their list and must not be empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnimationDesc {
    /// A file with the state machine's text, used instead of [`Self::state_machine`].
    ///
    /// It is beside the model or in a folder there.
    pub state_machine_file: Option<String>,
    /// If true, clips with a gait have root motion: they move their instance at that velocity.
    ///
    /// It makes a clip that walks in place walk over the ground, so that its feet do not slide,
    /// for actors that [use root motion](crate::animator::Actor::set_root_motion). Clips whose
    /// root motion was extracted keep that. To leave out a clip, give it a [`ClipDesc::gait`]
    /// of 0 m/s. Clips that are added later move, too.
    pub gait_motion: bool,
    /// The joints that are parts of a humanoid: names of VRM 1.0, and names of joints.
    ///
    /// If empty, the character keeps those that it has. See
    /// [`Skeleton::roles`](crate::skeleton::Skeleton::roles).
    pub humanoid: BTreeMap<String, String>,
    /// Sets of joints, `mask` in text. Layers of the state machine may name them too.
    pub masks: Vec<MaskDesc>,
    /// Data for individual clips, `clip` in text.
    pub clips: Vec<ClipDesc>,
    /// Clips that are added onto others.
    pub additive: Vec<AdditiveDesc>,
    /// Clips that are blended by one or two numbers, `blend_space` in text.
    pub blend_spaces: Vec<BlendSpaceDesc>,
    /// Positions on joints at which things are attached, `socket` in text.
    pub sockets: Vec<SocketDesc>,
    /// The state machine that selects the clips to play.
    pub state_machine: Option<StateMachineDesc>,
}

/// Data for one clip, found by its name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClipDesc {
    /// The clip's name: one of the file's, or of an additive clip that this description makes.
    pub name: String,
    /// Events, in addition to those of the file.
    pub events: Vec<EventDesc>,
    /// Options for extracting root motion from the clip, `{}` for the defaults.
    ///
    /// The clip then stays in place. `None` extracts nothing.
    pub root_motion: Option<RootMotionDesc>,
    /// The gait, instead of the measured one.
    pub gait: Option<Gait>,
}

/// A named time of a clip.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventDesc {
    /// Its name. Several events of several clips may have the same name.
    pub name: String,
    /// The time in seconds, from 0 to the clip's duration.
    pub time_s: f64,
}

/// Options for extracting a clip's root motion.
///
/// The result is a [`RootMotion`](crate::motion::RootMotion), and a clip that stays in place.
///
/// # Extracted motion
/// The path of the joint's origin along the chosen axes of character space and, with
/// [`Self::yaw`], the joint's heading. The heading is the twist about +Y of the joint's rotation
/// since the reference (the part of a quaternion about an axis: `2 atan2(q_y, q_w)`), followed over
/// any number of turns. Ancestors of the joint may be rotated, scaled and animated.
///
/// # Accuracy
/// Without yaw, and if no ancestor moves, the keys are rewritten. The curves are then the same in
/// each interpolation mode, except for the rounding of `f32`. Otherwise the joint gets new linear
/// keys: at the keys of all curves that contribute, and at more times between them until the
/// measured error is within [`Self::error_m`]. A step in such a curve becomes a line between two
/// neighbouring `f32` times, unless all of them step.
///
/// # Limits
/// - A joint that is upside down has no heading. Close to that orientation, it turns as fast as the
///   keys can follow.
/// - Turns are followed between samples that are less than 0.4 rad, or 1/4096 of the time between
///   two keys, apart. A spline that spins faster may lose whole turns.
/// - The time between two of the file's keys is halved at most ten times. If that is not enough,
///   the error is larger.
/// - An ancestor cannot have a scale of zero, and cannot scale unevenly if yaw is extracted.
/// - The joint and its ancestors can have 131,072 keys, and the result 1,048,576. The work for a
///   clip is limited to 2²⁶ products of transforms.
#[derive(Debug, Clone, PartialEq)]
pub struct RootMotionDesc {
    /// The joint whose motion is extracted. `None`: the topmost joint that the clip moves or turns.
    pub joint: Option<String>,
    /// The axes of character space along which motion is extracted: some of `x`, `y` and `z`.
    pub axes: String,
    /// If true, rotation about +Y is extracted.
    pub yaw: bool,
    /// The pose that motion is measured from.
    ///
    /// The clip without its root motion holds the joint at its position in this pose. With
    /// [`PoseReference::Start`], the motion starts at the identity. Clips that are blended together
    /// should share one pose: the rest pose, or a frame of one clip.
    pub reference: PoseReference,
    /// The maximum error in metres, if the joint needs new keys.
    ///
    /// It is measured at a point whose distance from the joint is the size of the character. `None`
    /// is 0.1 mm for a character of 1.8 m, scaled by the largest edge of
    /// [`Character::rest_bounds`](crate::character::Character::rest_bounds). It is never less than
    /// 2e-6 of the largest distance from the origin that takes part, which is the precision of
    /// `f32`.
    pub error_m: Option<f32>,
}

impl Default for RootMotionDesc {
    fn default() -> Self {
        Self {
            joint: None,
            axes: "xz".into(),
            yaw: true,
            reference: PoseReference::Start,
            error_m: None,
        }
    }
}

/// An additive clip: the difference of a clip from a reference pose.
///
/// It is added to the pose that other clips produce: a recoil, a breath, a lean. Joints and morph
/// weights that the clip does not drive have no difference.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AdditiveDesc {
    /// The name of the new clip, which is placed after the file's clips. `None`: the clip itself
    /// becomes additive.
    pub name: Option<String>,
    /// The name of one of the file's clips.
    pub clip: String,
    /// The reference pose.
    pub reference: PoseReference,
}

/// The reference pose of an additive clip, or of a clip's root motion.
///
/// In text: `"rest"`, `"start"` or `{ frame = { clip = "Idle", time_s = 0.5 } }`.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum PoseReference {
    /// The rest pose.
    Rest,
    /// The clip's own pose at time 0.
    #[default]
    Start,
    /// The pose of one of the file's clips at a time.
    ///
    /// Root motion takes the clip as it is in the file. Additive clips take it after root motion
    /// was extracted from it.
    Frame {
        /// The clip's name.
        clip: String,
        /// The time in seconds, clamped to the clip.
        time_s: f64,
    },
}

/// Clips blended by one number, such as a speed, or two, such as a velocity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlendSpaceDesc {
    /// Its name.
    pub name: String,
    /// At least one point. All have one coordinate or all have two, and their positions differ.
    pub points: Vec<BlendPointDesc<BlendAt>>,
    /// True if the length of a position is a speed over the ground, in metres of character space
    /// per second.
    ///
    /// The blend space then plays at the speed at which its feet do not slide. Without this, that
    /// is so only at points whose clip is as fast as the position says.
    ///
    /// The clips of a blend share a phase. Clip `i`, with weight `w`, duration `d` and a velocity
    /// `v` over the ground, covers `v_i · d_i` in one cycle. So
    ///
    /// ```text
    /// cycles per second = speed · wanted / |Σ w_i · v_i · d_i|
    /// playback speed    = cycles per second · Σ w_i · d_i, kept within `speed_limits`
    /// ```
    ///
    /// where `speed` is that of the play, normally 1. It follows the position at once, and while it
    /// moves. A mean of clips that does not move over the ground plays at speed 1.
    ///
    /// Every clip needs a ground speed, from root motion or a gait, except at position 0.
    pub ground_speed: bool,
    /// The smallest and the largest playback speed that `ground_speed` leads to.
    ///
    /// Both are positive. `None` is `[0.5, 2.0]`.
    pub speed_limits: Option<[f32; 2]>,
}

/// A position in a blend space: in text a number, or a list of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BlendAt {
    /// A position on a line.
    Line(f32),
    /// A position in a plane.
    Plane([f32; 2]),
}

impl BlendAt {
    /// The number of coordinates.
    pub(crate) const fn dimensions(self) -> usize {
        match self {
            Self::Line(_) => 1,
            Self::Plane(_) => 2,
        }
    }

    /// The coordinates, with `y` = 0 on a line.
    pub(crate) const fn to_vec2(self) -> Vec2 {
        match self {
            Self::Line(x) => Vec2::new(x, 0.0),
            Self::Plane([x, y]) => Vec2::new(x, y),
        }
    }
}

impl From<f32> for BlendAt {
    fn from(x: f32) -> Self {
        Self::Line(x)
    }
}

impl From<[f32; 2]> for BlendAt {
    fn from(at: [f32; 2]) -> Self {
        Self::Plane(at)
    }
}

impl From<Vec2> for BlendAt {
    fn from(at: Vec2) -> Self {
        Self::Plane(at.to_array())
    }
}

/// A position on a joint at which something is attached.
#[derive(Debug, Clone, PartialEq)]
pub struct SocketDesc {
    /// Its name.
    pub name: String,
    /// The joint's name in the skeleton.
    pub joint: String,
    /// Offset from the joint's origin, in metres of the joint's space.
    pub translation: [f32; 3],
    /// A quaternion, xyzw. It is normalised.
    pub rotation: [f32; 4],
    /// The scale of the attached object. Positive.
    pub scale: f32,
}

impl SocketDesc {
    /// A socket at the joint itself.
    #[must_use]
    pub fn new(name: &str, joint: &str) -> Self {
        Self {
            name: name.into(),
            joint: joint.into(),
            translation: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: 1.0,
        }
    }
}

/// The velocity over the ground at which a clip's feet do not slide.
///
/// An instance that plays the in-place clip at speed 1 must move at this velocity. It does so by
/// itself with [`AnimationDesc::gait_motion`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gait {
    /// Speed, in metres of character space per second.
    pub speed_m_s: f32,
    /// Direction, in radians about +Y from +Z.
    pub heading_rad: f32,
}

impl Gait {
    /// The velocity, in metres of character space per second.
    pub(crate) fn velocity(&self) -> DVec3 {
        let (x, z) = f64::from(self.heading_rad).sin_cos();
        DVec3::new(x, 0.0, z) * f64::from(self.speed_m_s)
    }
}
