//! The pose that a caller gave an actor, which plays like a clip.

use super::library::Library;
use super::record::PlayRecord;
use crate::clip::Clip;
use crate::skeleton::Transform;
use glam::Affine3A;

/// A pose that the caller gave an actor. It plays like a clip.
#[derive(Debug, Clone)]
pub(crate) struct OwnPose {
    /// The pose as a clip of a single frame.
    pub(crate) clip: Clip,
    /// The model pose as the caller gave it. Empty if a local pose was given.
    ///
    /// It can hold shear and other things that a local pose cannot. It is used unchanged if nothing
    /// else plays.
    pub(crate) model: Vec<Affine3A>,
    /// The local pose.
    pub(crate) local: Vec<Transform>,
}

/// The clip of a record of an actor that has this pose of its own.
#[inline]
pub(super) fn clip_of<'a>(
    library: &'a Library,
    own: Option<&'a OwnPose>,
    record: &PlayRecord,
) -> Option<&'a Clip> {
    if record.has(PlayRecord::FLAG_POSE) {
        return own.map(|own| &own.clip);
    }
    library.clips.get(usize::from(record.clip))
}
