//! The result of merging: what was added, and what did not fit.

use crate::error::Escaped;
use crate::mesh::PartId;

/// The parts that [`Character::with_parts_of`] added, and those that did not fit.
///
/// [`Character::with_parts_of`]: crate::character::Character::with_parts_of
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutfitReport {
    /// The added parts, in the order of the other character.
    pub added: Vec<AddedPart>,
    /// The parts that were left out, each as a whole.
    pub left_out: Vec<LeftOutPart>,
    /// Joints of the other character without a match, and the joint of this character that what
    /// follows them follows instead.
    pub held: Vec<(Box<str>, Box<str>)>,
    /// The names of added morph weights that another weight already has. They are apart.
    pub same_morphs: Vec<Box<str>>,
    /// The number of levels of detail that this character had. They lack the new parts.
    pub levels_left_out: usize,
    /// The factor by which the other character was scaled.
    pub scale: f32,
}

/// A part that was added.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedPart {
    /// Its id in the new character, to show and hide it.
    pub part: PartId,
    /// Its name in the new character: the prefix and the old name.
    ///
    /// If another part has that name, the first free number follows, as in `hat (2)`.
    pub name: Box<str>,
    /// Its name in the other character.
    pub original: Box<str>,
    /// The largest distance at rest of one of its joints from the match, in metres.
    pub distance_m: f32,
}

/// A part that was left out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("part \"{}\" left out: {why}", Escaped(name))]
pub struct LeftOutPart {
    /// Its name in the other character.
    pub name: Box<str>,
    /// The reason.
    pub why: OutfitIssue,
}

/// The reason that a part does not fit. Joints have the names of the other character.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OutfitIssue {
    /// It follows a joint that has no match.
    #[error("joint \"{}\" has no match", Escaped(joint))]
    MissingJoint {
        /// The joint.
        joint: Box<str>,
    },
    /// It follows a joint whose match rests elsewhere.
    #[error(
        "joint \"{}\" is {distance_m} m from its match at rest, at most {allowed_m} m are allowed",
        Escaped(joint)
    )]
    TooFar {
        /// The joint.
        joint: Box<str>,
        /// The distance in metres.
        distance_m: f32,
        /// [`OutfitOptions::max_distance`](crate::outfit::OutfitOptions::max_distance) in metres.
        allowed_m: f32,
    },
    /// It follows a joint whose match is flat at rest or mirrors, unlike the joint.
    #[error(
        "the match of joint \"{}\" is flat or mirrored at rest",
        Escaped(joint)
    )]
    Mirrored {
        /// The joint.
        joint: Box<str>,
    },
    /// A limit of characters.
    #[error("{asked} {what}, at most {cap} are allowed")]
    Limit {
        /// The thing that is limited.
        what: &'static str,
        /// The number with this part.
        asked: usize,
        /// The largest number.
        cap: usize,
    },
}
