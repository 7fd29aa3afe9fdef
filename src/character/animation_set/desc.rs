//! What belongs to a character's animation, as plain data.

use crate::motion::RootReference;
use crate::state_machine::{MaskDesc, StateMachineDesc};
use glam::Vec2;

/// What belongs to a character's animation and no file format has a place for: said once, on the
/// asset.
///
/// It is given to an import by
/// [`ImportOptions::animation`](crate::import::ImportOptions::animation), or lies beside the model
/// as a TOML file of the same name (`knight.toml` beside `knight.glb`), which
/// [`gltf_file`](crate::import::gltf_file) reads. In text, each list is written as tables of the
/// singular:
///
/// ```toml
/// state_machine_file = "knight.machine.toml"  # or a table: [state_machine]
///
/// [[mask]]
/// name = "upper body"
/// parts = [{ joint = "Spine", feather = 2 }]
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
/// Names must differ within their list, and are not empty.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, default)
)]
pub struct AnimationDesc {
    /// A file with the state machine's text, beside the model or in a folder there; instead of
    /// [`Self::state_machine`].
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub state_machine_file: Option<String>,
    /// Sets of joints; `mask` in text. Layers of the state machine may name them, too.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "mask", skip_serializing_if = "Vec::is_empty")
    )]
    pub masks: Vec<MaskDesc>,
    /// What belongs to single clips; `clip` in text.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "clip", skip_serializing_if = "Vec::is_empty")
    )]
    pub clips: Vec<ClipDesc>,
    /// Clips that are added onto others.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    pub additive: Vec<AdditiveDesc>,
    /// Clips that are blended by one or two numbers; `blend_space` in text.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "blend_space", skip_serializing_if = "Vec::is_empty")
    )]
    pub blend_spaces: Vec<BlendSpaceDesc>,
    /// Places where things are attached; `socket` in text.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "socket", skip_serializing_if = "Vec::is_empty")
    )]
    pub sockets: Vec<SocketDesc>,
    /// What decides which clips play.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub state_machine: Option<StateMachineDesc>,
}

/// What belongs to a clip, found by its name.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct ClipDesc {
    /// The clip's name: one of the file's, or of an additive clip that is made here.
    pub name: String,
    /// Events, beside those that the file has.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub events: Vec<EventDesc>,
    /// Whether its motion over the ground is taken out of it, and how; `{}` for the usual way. The
    /// clip then stays in place.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub root_motion: Option<RootMotionDesc>,
    /// How the ground passes under it, instead of what is measured.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub gait: Option<Gait>,
}

/// A named time of a clip.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct EventDesc {
    /// Its name; many events of many clips may share it.
    pub name: String,
    /// When it happens, in seconds: from 0 to the clip's duration.
    pub time_s: f64,
}

/// How a clip's motion over the ground is taken out of it: see
/// [`RootMotionOptions`](crate::motion::RootMotionOptions).
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, default)
)]
pub struct RootMotionDesc {
    /// The joint whose way is taken; none: the topmost that the clip moves or turns.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub joint: Option<String>,
    /// Along which axes of character space: some of the letters `x`, `y` and `z`.
    pub axes: String,
    /// Whether its turn about +Y is taken.
    pub yaw: bool,
    /// From where the motion counts: in text `"first_frame"` or `"rest"`.
    pub reference: RootReference,
    /// The error bound where the joint needs new keys, in metres; none: the usual one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub error_m: Option<f32>,
}

impl Default for RootMotionDesc {
    fn default() -> Self {
        Self {
            joint: None,
            axes: "xz".into(),
            yaw: true,
            reference: RootReference::FirstFrame,
            error_m: None,
        }
    }
}

/// A clip as its difference from a reference pose, which is added to what other clips make of a
/// character.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct AdditiveDesc {
    /// The name of the clip that is made, which comes after the file's; none: the clip itself
    /// becomes additive.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub name: Option<String>,
    /// The name of one of the file's clips.
    pub clip: String,
    /// The pose that it is the difference from.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reference: AdditiveReferenceDesc,
}

/// The pose that an additive clip is the difference from. In text `"rest"`, `"start"` or
/// `{ frame = { clip = "Idle", time_s = 0.5 } }`.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub enum AdditiveReferenceDesc {
    /// The rest pose.
    Rest,
    /// The clip's own pose at time 0.
    #[default]
    Start,
    /// The pose of one of the file's clips at a time.
    Frame {
        /// The clip's name.
        clip: String,
        /// The time, in seconds; clamped to the clip.
        time_s: f64,
    },
}

/// Clips that are blended by one number, such as a speed, or by two, such as a velocity.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct BlendSpaceDesc {
    /// Its name.
    pub name: String,
    /// At least one; all with one coordinate or all with two, and all at different places.
    pub points: Vec<BlendPointDesc>,
}

/// A clip of a blend space.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct BlendPointDesc {
    /// Where this clip plays alone.
    pub at: BlendAt,
    /// The clip's name.
    pub clip: String,
}

/// A place in a blend space: in text a number, or a list of two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(untagged)
)]
pub enum BlendAt {
    /// On a line.
    Line(f32),
    /// In a plane.
    Plane([f32; 2]),
}

impl BlendAt {
    /// How many coordinates it has.
    #[must_use]
    pub const fn dimensions(self) -> usize {
        match self {
            Self::Line(_) => 1,
            Self::Plane(_) => 2,
        }
    }

    /// Its coordinates; `y` is 0 on a line.
    #[must_use]
    pub const fn to_vec2(self) -> Vec2 {
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

/// A place on a joint where something is attached.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct SocketDesc {
    /// Its name.
    pub name: String,
    /// The joint's name in the skeleton.
    pub joint: String,
    /// From the joint's origin, in metres of the joint's space.
    #[cfg_attr(feature = "serde", serde(default))]
    pub translation: [f32; 3],
    /// A quaternion, xyzw; it is normalised.
    #[cfg_attr(feature = "serde", serde(default = "unturned"))]
    pub rotation: [f32; 4],
    /// The size of what is attached; positive.
    #[cfg_attr(feature = "serde", serde(default = "one"))]
    pub scale: f32,
}

impl SocketDesc {
    /// The joint's own place.
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

/// How a clip that stays in place moves over the ground, if its feet are not to slide: what an
/// instance that plays it at speed 1 has to do.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Gait {
    /// How fast, in metres of character space a second.
    pub speed_m_s: f32,
    /// Where to, in radians about +Y from +Z.
    #[cfg_attr(feature = "serde", serde(default))]
    pub heading_rad: f32,
}

#[cfg(feature = "serde")]
fn unturned() -> [f32; 4] {
    [0.0, 0.0, 0.0, 1.0]
}

#[cfg(feature = "serde")]
fn one() -> f32 {
    1.0
}
