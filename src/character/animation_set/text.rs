//! The parts of a description that errors name, and the form of descriptions in text.

use super::desc::{
    AdditiveDesc, AnimationDesc, BlendAt, BlendSpaceDesc, ClipDesc, EventDesc, Gait, PoseReference,
    RootMotionDesc, SocketDesc,
};
use crate::error::{DescPart, cut};
use crate::state_machine::BlendPointDesc;
use crate::text::{Kind, Read, ReadFault, Tree, Value, Write, text_serde, text_structs};
use std::collections::BTreeMap;

/// The lists of an [`AnimationDesc`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AnimationList {
    Mask,
    Clip,
    Additive,
    BlendSpace,
    Socket,
}

impl AnimationList {
    #[cfg(feature = "toml")]
    pub(super) const ALL: [Self; 5] = [
        Self::Mask,
        Self::Clip,
        Self::Additive,
        Self::BlendSpace,
        Self::Socket,
    ];

    /// The key of the list in text.
    #[cfg(feature = "toml")]
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mask => "mask",
            Self::Clip => "clip",
            Self::Additive => "additive",
            Self::BlendSpace => "blend_space",
            Self::Socket => "socket",
        }
    }

    /// An element of the list, as errors name it.
    pub(crate) const fn part(self, index: usize, name: Box<str>) -> DescPart {
        match self {
            Self::Mask => DescPart::Mask { index, name },
            Self::Clip => DescPart::Clip { index, name },
            Self::Additive => DescPart::AdditiveClip { index, name },
            Self::BlendSpace => DescPart::BlendSpace { index, name },
            Self::Socket => DescPart::Socket { index, name },
        }
    }
}

/// The location of a part, as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum At {
    #[default]
    Whole,
    In(AnimationList, usize),
}

impl At {
    pub(crate) const fn mask(index: usize) -> Self {
        Self::In(AnimationList::Mask, index)
    }

    pub(crate) const fn clip(index: usize) -> Self {
        Self::In(AnimationList::Clip, index)
    }

    pub(crate) const fn additive(index: usize) -> Self {
        Self::In(AnimationList::Additive, index)
    }

    pub(crate) const fn blend_space(index: usize) -> Self {
        Self::In(AnimationList::BlendSpace, index)
    }

    pub(crate) const fn socket(index: usize) -> Self {
        Self::In(AnimationList::Socket, index)
    }

    #[cfg(feature = "toml")]
    pub(super) fn path(self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::In(list, index) => format!("{}[{index}]", list.name()),
        }
    }

    /// The part, with its name in `desc`.
    pub(crate) fn part(self, desc: &AnimationDesc) -> DescPart {
        let Self::In(list, index) = self else {
            return DescPart::Animation;
        };
        let name = match list {
            AnimationList::Mask => desc.masks.get(index).map(|mask| &mask.name),
            AnimationList::Clip => desc.clips.get(index).map(|clip| &clip.name),
            AnimationList::Additive => desc
                .additive
                .get(index)
                .map(|clip| clip.name.as_ref().unwrap_or(&clip.clip)),
            AnimationList::BlendSpace => desc.blend_spaces.get(index).map(|space| &space.name),
            AnimationList::Socket => desc.sockets.get(index).map(|socket| &socket.name),
        };
        list.part(index, cut(name.map_or("", String::as_str)))
    }
}

/// A fault whose part has no name yet.
pub(crate) type Fault = crate::text::Fault<At>;

/// The result of a check that can find a fault.
pub(crate) type Checked<T> = Result<T, Fault>;

text_structs! {
    AnimationDesc {
        state_machine_file,
        humanoid = BTreeMap::new(),
        gait_motion = false,
        masks as "mask" = Vec::new(),
        clips as "clip" = Vec::new(),
        additive = Vec::new(),
        blend_spaces as "blend_space" = Vec::new(),
        sockets as "socket" = Vec::new(),
        state_machine,
    }
    ClipDesc { name, events = Vec::new(), root_motion, gait }
    EventDesc { name, time_s }
    RootMotionDesc {
        joint,
        axes = "xz".to_owned(),
        yaw = true,
        reference = PoseReference::Start,
        error_m,
    }
    AdditiveDesc { name, clip, reference = PoseReference::Start }
    BlendSpaceDesc { name, points }
    BlendPointDesc<BlendAt> { at, clip }
    SocketDesc {
        name,
        joint,
        translation = [0.0; 3],
        rotation = [0.0, 0.0, 0.0, 1.0],
        scale = 1.0,
    }
    Gait { speed_m_s, heading_rad = 0.0 }
}

text_serde!(PoseReference, BlendAt);

impl Read for PoseReference {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        match from.variant(&["rest", "start", "frame"])? {
            ("rest", None) => Ok(Self::Rest),
            ("start", None) => Ok(Self::Start),
            ("frame", Some(frame)) => {
                let frame = frame.only(&["clip", "time_s"])?;
                Ok(Self::Frame {
                    clip: frame.required("clip")?,
                    time_s: frame.required("time_s")?,
                })
            }
            _ => Err(from.expected("\"rest\", \"start\", or a frame with a clip and a time")),
        }
    }
}

impl Write for PoseReference {
    fn write(&self, to: &mut Tree<'static>) {
        match self {
            Self::Rest => to.add(0, Kind::Text, "rest"),
            Self::Start => to.add(0, Kind::Text, "start"),
            Self::Frame { clip, time_s } => to.variant("frame", |to| {
                to.field("clip", clip);
                to.field("time_s", time_s);
            }),
        }
    }
}

impl Read for BlendAt {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        match from.kind() {
            Kind::Number => f32::read(from).map(Self::Line),
            Kind::List => Read::read(from).map(Self::Plane),
            _ => Err(from.expected("a number, or an array of two numbers")),
        }
    }
}

impl Write for BlendAt {
    fn write(&self, to: &mut Tree<'static>) {
        match self {
            Self::Line(x) => x.write(to),
            Self::Plane(at) => at.write(to),
        }
    }
}
