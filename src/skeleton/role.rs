//! The parts of a humanoid.

use std::fmt;

/// A side of the body, from the character's own view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The character's left.
    Left,
    /// The character's right.
    Right,
}

/// A finger of a hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finger {
    /// The thumb; its first joint is its metacarpal.
    Thumb,
    /// The index finger.
    Index,
    /// The middle finger.
    Middle,
    /// The ring finger.
    Ring,
    /// The little finger.
    Little,
}

/// The role of a joint in a humanoid.
///
/// The roles are the humanoid bones of [VRM
/// 1.0](https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/humanoid.md),
/// which names them in camel case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The joint that carries both legs and the spine.
    Hips,
    /// The first joint of the spine.
    Spine,
    /// The middle joint of the spine, or the last of two.
    Chest,
    /// The last of three or more joints of the spine.
    UpperChest,
    /// The first joint of the neck.
    Neck,
    /// The head.
    Head,
    /// The lower jaw.
    Jaw,
    /// An eye.
    Eye(Side),
    /// The collar bone.
    Shoulder(Side),
    /// The upper arm, which starts at the shoulder.
    UpperArm(Side),
    /// The forearm, which starts at the elbow.
    LowerArm(Side),
    /// The hand, which starts at the wrist.
    Hand(Side),
    /// The thigh, which starts at the hip.
    UpperLeg(Side),
    /// The shin, which starts at the knee.
    LowerLeg(Side),
    /// The foot, which starts at the ankle.
    Foot(Side),
    /// The toes, which start at the ball of the foot.
    Toes(Side),
    /// A joint of a finger, 0 to 2, counted from the hand.
    Finger(Side, Finger, u8),
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Left, Self::Right];
}

impl Finger {
    pub(crate) const ALL: [Self; 5] = [
        Self::Thumb,
        Self::Index,
        Self::Middle,
        Self::Ring,
        Self::Little,
    ];
}

impl Role {
    /// All roles: 7 on the middle line and 24 on each side.
    pub fn all() -> impl Iterator<Item = Self> {
        let middle = [
            Self::Hips,
            Self::Spine,
            Self::Chest,
            Self::UpperChest,
            Self::Neck,
            Self::Head,
            Self::Jaw,
        ];
        let side = |side| {
            let limbs = [
                Self::Eye(side),
                Self::Shoulder(side),
                Self::UpperArm(side),
                Self::LowerArm(side),
                Self::Hand(side),
                Self::UpperLeg(side),
                Self::LowerLeg(side),
                Self::Foot(side),
                Self::Toes(side),
            ];
            let joints = move |finger| (0..3).map(move |joint| Self::Finger(side, finger, joint));
            limbs
                .into_iter()
                .chain(Finger::ALL.into_iter().flat_map(joints))
        };
        middle
            .into_iter()
            .chain(Side::BOTH.into_iter().flat_map(side))
    }

    /// The role with this name in VRM 1.0, such as `leftUpperArm`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|role| role.to_string() == name)
    }

    /// The role at the end of the limb that starts here.
    ///
    /// `None` if the direction of such a limb does not determine how it is held.
    pub(crate) fn limb_end(self) -> Option<Self> {
        Some(match self {
            Self::UpperArm(side) => Self::LowerArm(side),
            Self::LowerArm(side) => Self::Hand(side),
            Self::Hand(side) => Self::Finger(side, Finger::Middle, 0),
            Self::UpperLeg(side) => Self::LowerLeg(side),
            Self::LowerLeg(side) => Self::Foot(side),
            Self::Finger(side, finger, joint @ 0..2) => Self::Finger(side, finger, joint + 1),
            _ => return None,
        })
    }

    /// True if a joint without a direction of its own is aligned as the joint before it.
    pub(crate) fn is_held_along(self) -> bool {
        matches!(
            self,
            Self::LowerArm(_) | Self::Hand(_) | Self::Finger(..) | Self::LowerLeg(_)
        )
    }
}

impl fmt::Display for Role {
    /// Writes the name in VRM 1.0, such as `leftUpperArm`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (side, part) = match self {
            Self::Hips => return f.write_str("hips"),
            Self::Spine => return f.write_str("spine"),
            Self::Chest => return f.write_str("chest"),
            Self::UpperChest => return f.write_str("upperChest"),
            Self::Neck => return f.write_str("neck"),
            Self::Head => return f.write_str("head"),
            Self::Jaw => return f.write_str("jaw"),
            Self::Eye(side) => (side, "Eye"),
            Self::Shoulder(side) => (side, "Shoulder"),
            Self::UpperArm(side) => (side, "UpperArm"),
            Self::LowerArm(side) => (side, "LowerArm"),
            Self::Hand(side) => (side, "Hand"),
            Self::UpperLeg(side) => (side, "UpperLeg"),
            Self::LowerLeg(side) => (side, "LowerLeg"),
            Self::Foot(side) => (side, "Foot"),
            Self::Toes(side) => (side, "Toes"),
            Self::Finger(side, finger, joint) => {
                let side = side_name(*side);
                let phalanx = match (finger, joint) {
                    (Finger::Thumb, 0) => "Metacarpal",
                    (Finger::Thumb, 1) | (_, 0) => "Proximal",
                    (_, 1) => "Intermediate",
                    _ => "Distal",
                };
                return write!(f, "{side}{finger:?}{phalanx}");
            }
        };
        write!(f, "{}{part}", side_name(*side))
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Left => "left",
        Side::Right => "right",
    }
}
