//! The ids of characters, instances, passes, views and lists.

/// A character of a crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CharacterId(pub(crate) u32);

/// An instance.
///
/// The id of a despawned instance is never reused for a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InstanceId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// A pass of a crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PassId(pub(crate) u32);

/// A view, valid in the frame that it was prepared in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ViewId {
    pub(crate) frame: u64,
    pub(crate) index: u32,
    /// True for the instances alone that a reveal added.
    pub(crate) late: bool,
}

impl ViewId {
    /// The same view, with only the instances that
    /// [`Frame::record_reveal`](super::Frame::record_reveal) added.
    #[must_use]
    pub fn late(self) -> Self {
        Self { late: true, ..self }
    }
}

/// A list of the instances that views of one frame show. See
/// [`Frame::make_list`](super::Frame::make_list).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ListId {
    pub(crate) frame: u64,
    pub(crate) index: u32,
}
