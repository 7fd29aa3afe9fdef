//! The parts of a humanoid.

use std::fmt;

/// A side of the body, from the character's own view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Side {
    Left,
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Finger {
    Thumb,
    Index,
    Middle,
    Ring,
    Little,
}

/// Declares the roles: those of the middle line, then those of the left side, then those of the
/// right side in the same order.
macro_rules! roles {
    (
        $(#[$attribute:meta])* pub enum Role;
        $($middle:ident: $doc:literal,)*;
        $($left:ident, $right:ident: $before:literal, $after:literal,)*
    ) => {
        $(#[$attribute])*
        pub enum Role {
            $(#[doc = $doc] $middle,)*
            $(#[doc = concat!($before, " left ", $after)] $left,)*
            $(#[doc = concat!($before, " right ", $after)] $right,)*
        }

        impl Role {
            const ALL: [Self; MIDDLE + 2 * OF_A_SIDE] =
                [$(Self::$middle,)* $(Self::$left,)* $(Self::$right,)*];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$middle => stringify!($middle),)*
                    $(Self::$left => stringify!($left),)*
                    $(Self::$right => stringify!($right),)*
                }
            }
        }
    };
}

/// The kind of VRM file that a skeleton is from.
///
/// The rest pose of its humanoid is VRM's [T-pose]. The clips of an animation
/// ([`VRMC_vrm_animation`], `.vrma`) are therefore for all models, and
/// [retargeted](crate::retarget#vrm-animations) as that extension says.
///
/// [T-pose]: https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/tpose.md
/// [`VRMC_vrm_animation`]: https://github.com/vrm-c/vrm-specification/tree/master/specification/VRMC_vrm_animation-1.0
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VrmKind {
    /// A character, of VRM 0.x or 1.0.
    Model,
    /// Clips for any model.
    Animation,
}

roles! {
    /// The role of a joint in a humanoid.
    ///
    /// The roles are the humanoid bones of [VRM
    /// 1.0](https://github.com/vrm-c/vrm-specification/blob/master/specification/VRMC_vrm-1.0/humanoid.md),
    /// which names them in camel case. Left and right are from the character's own view.
    ///
    /// ```
    /// use throng::retarget::Role;
    ///
    /// assert_eq!(Role::LeftHand.to_string(), "leftHand");
    /// assert_eq!(Role::from_name("leftHand"), Some(Role::LeftHand));
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Role;
    Hips: "The joint that carries both legs and the spine.",
    Spine: "The first joint of the spine.",
    Chest: "The middle joint of the spine, or the last of two.",
    UpperChest: "The last of three or more joints of the spine.",
    Neck: "The first joint of the neck.",
    Head: "The head.",
    Jaw: "The lower jaw.",;
    LeftEye, RightEye: "The", "eye.",
    LeftShoulder, RightShoulder: "The", "collar bone.",
    LeftUpperArm, RightUpperArm: "The", "upper arm, which starts at the shoulder.",
    LeftLowerArm, RightLowerArm: "The", "forearm, which starts at the elbow.",
    LeftHand, RightHand: "The", "hand, which starts at the wrist.",
    LeftUpperLeg, RightUpperLeg: "The", "thigh, which starts at the hip.",
    LeftLowerLeg, RightLowerLeg: "The", "shin, which starts at the knee.",
    LeftFoot, RightFoot: "The", "foot, which starts at the ankle.",
    LeftToes, RightToes: "The", "toes, which start at the ball of the foot.",
    LeftThumbMetacarpal, RightThumbMetacarpal: "The first joint of the", "thumb.",
    LeftThumbProximal, RightThumbProximal: "The second joint of the", "thumb.",
    LeftThumbDistal, RightThumbDistal: "The last joint of the", "thumb.",
    LeftIndexProximal, RightIndexProximal: "The first joint of the", "index finger.",
    LeftIndexIntermediate, RightIndexIntermediate: "The second joint of the", "index finger.",
    LeftIndexDistal, RightIndexDistal: "The last joint of the", "index finger.",
    LeftMiddleProximal, RightMiddleProximal: "The first joint of the", "middle finger.",
    LeftMiddleIntermediate, RightMiddleIntermediate: "The second joint of the", "middle finger.",
    LeftMiddleDistal, RightMiddleDistal: "The last joint of the", "middle finger.",
    LeftRingProximal, RightRingProximal: "The first joint of the", "ring finger.",
    LeftRingIntermediate, RightRingIntermediate: "The second joint of the", "ring finger.",
    LeftRingDistal, RightRingDistal: "The last joint of the", "ring finger.",
    LeftLittleProximal, RightLittleProximal: "The first joint of the", "little finger.",
    LeftLittleIntermediate, RightLittleIntermediate: "The second joint of the", "little finger.",
    LeftLittleDistal, RightLittleDistal: "The last joint of the", "little finger.",
}

/// The number of roles on the middle line.
const MIDDLE: usize = 7;
const OF_A_SIDE: usize = 24;
/// The number of joints of a finger with roles.
const OF_A_FINGER: usize = 3;

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

    /// The roles of its joints, counted from the hand.
    pub(crate) fn roles(self, side: Side) -> impl Iterator<Item = Role> {
        let first = Role::LeftThumbMetacarpal as usize + self as usize * OF_A_FINGER;
        let joints = Role::ALL[first..].iter().take(OF_A_FINGER);
        joints.map(move |role| role.on(side))
    }
}

impl Role {
    /// All roles: 7 on the middle line, then 24 of the left side, then 24 of the right side.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        Self::ALL.into_iter()
    }

    /// The role with this name in VRM 1.0, such as `leftUpperArm`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|role| role.to_string() == name)
    }

    /// The same role on the other side. A role of the middle line is its own mirror image.
    pub(crate) fn mirrored(self) -> Self {
        let at = self as usize;
        match self.side() {
            None => self,
            Some(Side::Left) => Self::ALL[at + OF_A_SIDE],
            Some(Side::Right) => Self::ALL[at - OF_A_SIDE],
        }
    }

    fn side(self) -> Option<Side> {
        match self as usize {
            ..MIDDLE => None,
            at if at < MIDDLE + OF_A_SIDE => Some(Side::Left),
            _ => Some(Side::Right),
        }
    }

    /// The same role on this side.
    pub(crate) fn on(self, side: Side) -> Self {
        match self.side() {
            Some(own) if own != side => self.mirrored(),
            _ => self,
        }
    }

    /// The role at the end of the limb that starts here.
    ///
    /// `None` if the direction of such a limb does not determine how it is held.
    pub(crate) fn limb_end(self) -> Option<Self> {
        let end = match self.on(Side::Left) {
            Self::LeftUpperArm => Self::LeftLowerArm,
            Self::LeftLowerArm => Self::LeftHand,
            Self::LeftHand => Self::LeftMiddleProximal,
            Self::LeftUpperLeg => Self::LeftLowerLeg,
            Self::LeftLowerLeg => Self::LeftFoot,
            left => {
                let joint = left.finger_joint().filter(|at| at + 1 < OF_A_FINGER);
                joint.map(|_| Self::ALL[left as usize + 1])?
            }
        };
        Some(end.on(self.side()?))
    }

    /// True if a joint without a direction of its own is aligned as the joint before it.
    pub(crate) fn is_held_along(self) -> bool {
        let left = self.on(Side::Left);
        matches!(
            left,
            Self::LeftLowerArm | Self::LeftHand | Self::LeftLowerLeg
        ) || left.finger_joint().is_some()
    }

    /// The number of a joint in its finger, counted from the hand, for a role of the left side.
    fn finger_joint(self) -> Option<usize> {
        let at = (self as usize).checked_sub(Self::LeftThumbMetacarpal as usize)?;
        Some(at % OF_A_FINGER)
    }
}

impl fmt::Display for Role {
    /// Writes the name in VRM 1.0, such as `leftUpperArm`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, rest) = self.name().split_at(1);
        write!(f, "{}{rest}", first.to_ascii_lowercase())
    }
}
