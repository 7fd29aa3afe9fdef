//! The skeleton: names, hierarchy, rest positions and axes.
//!
//! The right side is the left one mirrored at x = 0. The y axis of every limb joint points along
//! the limb. Its z axis points forward (fingers: to the thumb's side, feet: up).

use throng::glam::{Mat3, Quat, Vec3};

pub(super) const HIPS: usize = 1;
pub(super) const SPINE: usize = 2;
pub(super) const CHEST: usize = 3;
pub(super) const UPPER_CHEST: usize = 4;
pub(super) const NECK: usize = 5;
pub(super) const HEAD: usize = 6;

/// Number of joints on the middle line.
const MIDDLE: usize = 7;
/// Number of joints per side.
const PER_SIDE: usize = 25;
/// Number of all joints.
pub(super) const JOINTS: usize = MIDDLE + 2 * PER_SIDE;

/// Joints that both sides have. [`Side::of`] gives the index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyPart {
    Shoulder,
    UpperArm,
    /// Twist joint at the shoulder. It reverts most of the upper arm's twist for the vertices
    /// there.
    UpperArmTwist,
    LowerArm,
    /// Twist joint halfway down the forearm. It takes half of the hand's twist.
    LowerArmTwist,
    Hand,
    /// The first of the finger's three joints. Thumb is 0, little finger is 4.
    Finger(usize),
    UpperLeg,
    LowerLeg,
    Foot,
    Toes,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    pub(super) const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// 1 on the left, which is +X, and -1 on the right.
    pub(super) fn sign(self) -> f32 {
        if self == Self::Left { 1.0 } else { -1.0 }
    }

    /// The joint's index.
    pub(super) const fn of(self, part: BodyPart) -> usize {
        let base = match self {
            Self::Left => MIDDLE,
            Self::Right => MIDDLE + PER_SIDE,
        };
        base + match part {
            BodyPart::Shoulder => 0,
            BodyPart::UpperArm => 1,
            BodyPart::UpperArmTwist => 2,
            BodyPart::LowerArm => 3,
            BodyPart::LowerArmTwist => 4,
            BodyPart::Hand => 5,
            BodyPart::Finger(finger) => 6 + 3 * finger,
            BodyPart::UpperLeg => 21,
            BodyPart::LowerLeg => 22,
            BodyPart::Foot => 23,
            BodyPart::Toes => 24,
        }
    }
}

/// The index of the same joint on the other side.
pub(super) fn mirrored(joint: usize) -> usize {
    match joint {
        0..MIDDLE => joint,
        j if j < MIDDLE + PER_SIDE => j + PER_SIDE,
        j => j - PER_SIDE,
    }
}

/// `v`, mirrored at x = 0 if the side is the right one.
pub(super) fn on_side(side: Side, v: Vec3) -> Vec3 {
    Vec3::new(v.x * side.sign(), v.y, v.z)
}

/// Middle joints: name, height and depth in metres.
const MIDDLE_JOINTS: [(&str, f32, f32); MIDDLE] = [
    ("Root", 0.0, 0.0),
    ("Hips", 0.955, 0.0),
    ("Spine", 1.05, -0.005),
    ("Chest", 1.165, -0.012),
    ("UpperChest", 1.285, -0.018),
    ("Neck", 1.462, -0.022),
    ("Head", 1.545, -0.008),
];

/// Position of the left shoulder, where the arm starts.
pub(super) const SHOULDER: Vec3 = Vec3::new(0.170, 1.408, -0.016);
/// Direction of the left arm at rest: 45° down.
pub(super) const ARM: Vec3 = Vec3::new(
    core::f32::consts::FRAC_1_SQRT_2,
    -core::f32::consts::FRAC_1_SQRT_2,
    0.0,
);
/// Direction of the left palm at rest: down and to the body.
pub(super) const PALM: Vec3 = Vec3::new(
    -core::f32::consts::FRAC_1_SQRT_2,
    -core::f32::consts::FRAC_1_SQRT_2,
    0.0,
);
/// Length from shoulder to elbow, in metres.
pub(super) const UPPER_ARM_M: f32 = 0.282;
/// Length from elbow to wrist, in metres.
pub(super) const LOWER_ARM_M: f32 = 0.248;
/// Hip, knee, ankle and ball of the left foot.
pub(super) const HIP: Vec3 = Vec3::new(0.092, 0.918, -0.004);
pub(super) const KNEE: Vec3 = Vec3::new(0.096, 0.502, 0.004);
pub(super) const ANKLE: Vec3 = Vec3::new(0.100, 0.088, -0.018);
pub(super) const BALL: Vec3 = Vec3::new(0.108, 0.022, 0.112);

/// A finger: position of its first joint in the hand, direction, and lengths of its three bones.
///
/// Coordinates are along the arm, towards the thumb's side, and towards the palm. They are in
/// metres, except for the direction, which has no unit.
pub(super) struct Finger {
    name: &'static str,
    base: [f32; 3],
    direction: [f32; 3],
    pub(super) lengths_m: [f32; 3],
    /// Half thickness at the first joint, in metres.
    pub(super) radius_m: f32,
}

#[rustfmt::skip]
pub(super) const FINGERS: [Finger; 5] = [
    Finger { name: "Thumb", base: [0.026, 0.021, 0.010], direction: [0.72, 0.58, 0.36],
        lengths_m: [0.042, 0.031, 0.027], radius_m: 0.0115 },
    Finger { name: "Index", base: [0.088, 0.0300, 0.0], direction: [1.0, 0.07, 0.06],
        lengths_m: [0.041, 0.025, 0.021], radius_m: 0.0092 },
    Finger { name: "Middle", base: [0.092, 0.0098, 0.0], direction: [1.0, 0.015, 0.06],
        lengths_m: [0.045, 0.028, 0.022], radius_m: 0.0094 },
    Finger { name: "Ring", base: [0.088, -0.0102, 0.0], direction: [1.0, -0.045, 0.06],
        lengths_m: [0.042, 0.026, 0.021], radius_m: 0.0090 },
    Finger { name: "Little", base: [0.081, -0.0296, 0.0], direction: [1.0, -0.115, 0.06],
        lengths_m: [0.033, 0.020, 0.018], radius_m: 0.0080 },
];

/// Converts a direction from hand coordinates to character space, on the left.
pub(super) fn in_hand(v: [f32; 3]) -> Vec3 {
    ARM * v[0] + Vec3::Z * v[1] + PALM * v[2]
}

pub(super) fn wrist() -> Vec3 {
    SHOULDER + ARM * (UPPER_ARM_M + LOWER_ARM_M)
}

impl Finger {
    pub(super) fn direction(&self) -> Vec3 {
        in_hand(self.direction).normalize()
    }

    /// The three joints and the tip, in character space, on the left.
    pub(super) fn points(&self) -> [Vec3; 4] {
        let [a, b, c] = self.lengths_m;
        let base = wrist() + in_hand(self.base);
        [0.0, a, a + b, a + b + c].map(|along| base + self.direction() * along)
    }

    /// The direction in which the finger curls, perpendicular to the finger, on the left.
    pub(super) fn curl(&self) -> Vec3 {
        let towards = if self.name == "Thumb" {
            in_hand([0.1, -0.55, 0.85])
        } else {
            PALM
        };
        towards.reject_from(self.direction()).normalize()
    }
}

/// A joint at rest, in character space.
pub(super) struct RestJoint {
    pub(super) name: Box<str>,
    pub(super) parent: Option<usize>,
    pub(super) position: Vec3,
    /// Rotation from joint space to character space.
    pub(super) axes: Quat,
}

/// All joints in index order, parents first.
pub(super) fn rest_joints() -> Vec<RestJoint> {
    let middle = MIDDLE_JOINTS.iter().enumerate();
    let middle = middle.map(|(index, &(name, y, z))| RestJoint {
        name: name.into(),
        parent: index.checked_sub(1),
        position: Vec3::new(0.0, y, z),
        axes: Quat::IDENTITY,
    });
    let mut joints: Vec<_> = middle.collect();
    for side in Side::BOTH {
        let mut limbs = Limbs {
            joints: &mut joints,
            side,
        };
        limbs.arm();
        (0..FINGERS.len()).for_each(|finger| limbs.finger(finger));
        limbs.leg();
    }
    joints
}

/// The rotation with its y axis along `along` and its z axis as near to `towards` as possible.
pub(super) fn axes(along: Vec3, towards: Vec3) -> Quat {
    let y = along.normalize_or(Vec3::Y);
    let z = towards
        .reject_from_normalized(y)
        .normalize_or(y.any_orthonormal_vector());
    Quat::from_mat3(&Mat3::from_cols(y.cross(z), y, z)).normalize()
}

/// The joints of one side, which are added to the others.
struct Limbs<'a> {
    joints: &'a mut Vec<RestJoint>,
    side: Side,
}

impl Limbs<'_> {
    /// Adds a joint. Its position and the two directions of its axes are those on the left.
    fn add(&mut self, name: &str, parent: usize, at: Vec3, frame: [Vec3; 2]) {
        let side = self.side;
        let prefix = if side == Side::Left { "Left" } else { "Right" };
        self.joints.push(RestJoint {
            name: format!("{prefix}{name}").into(),
            parent: Some(parent),
            position: on_side(side, at),
            axes: axes(on_side(side, frame[0]), on_side(side, frame[1])),
        });
    }

    fn arm(&mut self) {
        let clavicle = Vec3::new(0.028, 1.425, -0.006);
        let frame = [ARM, Vec3::Z];
        let elbow = SHOULDER + ARM * UPPER_ARM_M;
        let middle = elbow + ARM * (0.5 * LOWER_ARM_M);
        let parts = [BodyPart::Shoulder, BodyPart::UpperArm, BodyPart::LowerArm];
        let [shoulder, upper, lower] = parts.map(|part| self.side.of(part));
        let across = [SHOULDER - clavicle, Vec3::Z];
        self.add("Shoulder", UPPER_CHEST, clavicle, across);
        self.add("UpperArm", shoulder, SHOULDER, frame);
        self.add("UpperArmTwist", upper, SHOULDER, frame);
        self.add("LowerArm", upper, elbow, frame);
        self.add("LowerArmTwist", lower, middle, frame);
        self.add("Hand", lower, wrist(), frame);
    }

    fn finger(&mut self, index: usize) {
        let finger = &FINGERS[index];
        let along = finger.direction();
        let frame = [along, finger.curl().cross(along)];
        let points = finger.points();
        let first = self.side.of(BodyPart::Finger(index));
        let parents = [self.side.of(BodyPart::Hand), first, first + 1];
        for (bone, part) in ["Proximal", "Intermediate", "Distal"].iter().enumerate() {
            let name = format!("{}{part}", finger.name);
            self.add(&name, parents[bone], points[bone], frame);
        }
    }

    fn leg(&mut self) {
        let parts = [BodyPart::UpperLeg, BodyPart::LowerLeg, BodyPart::Foot];
        let [upper, lower, foot] = parts.map(|part| self.side.of(part));
        self.add("UpperLeg", HIPS, HIP, [KNEE - HIP, Vec3::Z]);
        self.add("LowerLeg", upper, KNEE, [ANKLE - KNEE, Vec3::Z]);
        self.add("Foot", lower, ANKLE, [BALL - ANKLE, Vec3::Y]);
        self.add("Toes", foot, BALL, [Vec3::Z, Vec3::Y]);
    }
}
