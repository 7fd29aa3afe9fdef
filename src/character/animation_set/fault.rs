//! The parts of a description that errors name.

use super::desc::AnimationDesc;
use crate::error::{DescPart, cut};

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

    /// The path in text.
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
