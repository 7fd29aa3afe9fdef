//! Directions of limbs and distances of hips, on a target with another rest pose, stance, build and
//! names.

use super::rigs::{
    At, at, difference, direction, link_of, model, placed, position, random_turn, rest, rotate,
    times,
};
use crate::reference::maths::{M4, Q, V3, angle, length, sub};
use crate::reference::raws;
use crate::reference::rng::Rng;
use throng::Id;
use throng::glam::{Quat, Vec3};
use throng::retarget::{JointMap, Retarget, RetargetOptions, Role};
use throng::skeleton::{Skeleton, Transform};

/// Names of the source and of the target, the parent, and the place in a T pose of legs 0.9 m long.
const JOINTS: [(&str, &str, Option<usize>, V3); 20] = [
    ("Hips", "pelvis", None, [0.0, 1.0, 0.0]),
    ("Spine", "spine_01", Some(0), [0.0, 1.15, 0.0]),
    ("Spine1", "spine_02", Some(1), [0.0, 1.3, 0.01]),
    ("Neck", "neck_01", Some(2), [0.0, 1.5, 0.0]),
    ("Head", "head", Some(3), [0.0, 1.6, 0.02]),
    ("LeftShoulder", "clavicle_l", Some(2), [0.04, 1.42, 0.0]),
    ("LeftArm", "upperarm_l", Some(5), [0.2, 1.42, 0.0]),
    ("LeftForeArm", "lowerarm_l", Some(6), [0.48, 1.42, 0.0]),
    ("LeftHand", "hand_l", Some(7), [0.74, 1.42, 0.0]),
    ("RightShoulder", "clavicle_r", Some(2), [-0.04, 1.42, 0.0]),
    ("RightArm", "upperarm_r", Some(9), [-0.2, 1.42, 0.0]),
    ("RightForeArm", "lowerarm_r", Some(10), [-0.48, 1.42, 0.0]),
    ("RightHand", "hand_r", Some(11), [-0.74, 1.42, 0.0]),
    ("LeftUpLeg", "thigh_l", Some(0), [0.1, 0.95, 0.0]),
    ("LeftLeg", "calf_l", Some(13), [0.1, 0.5, 0.0]),
    ("LeftFoot", "foot_l", Some(14), [0.1, 0.05, 0.0]),
    ("RightUpLeg", "thigh_r", Some(0), [-0.1, 0.95, 0.0]),
    ("RightLeg", "calf_r", Some(16), [-0.1, 0.5, 0.0]),
    ("RightFoot", "foot_r", Some(17), [-0.1, 0.05, 0.0]),
    ("LeftHandMiddle1", "middle_01_l", Some(8), [0.84, 1.42, 0.0]),
];

/// Limbs by their ends.
const LIMBS: [(usize, usize); 9] = [
    (6, 7),
    (7, 8),
    (8, 19),
    (10, 11),
    (11, 12),
    (13, 14),
    (14, 15),
    (16, 17),
    (17, 18),
];

/// The source: in a T pose, joints turned at random.
fn source(rng: &mut Rng) -> Skeleton {
    let joints: Vec<At> = JOINTS
        .iter()
        .map(|(name, _, parent, place)| {
            at(
                &format!("mixamorig:{name}"),
                *parent,
                *place,
                random_turn(rng),
            )
        })
        .collect();
    placed(&joints, None)
}

const SIZE: f64 = 0.7;

/// The target: smaller, with Unreal's names, arms 45 to 60 degrees down and slightly forward, and
/// legs apart.
///
/// It has a joint between upper arm and forearm, and twist joints. It hangs below a node as
/// exporters from Z-up worlds in centimetres make it. `stand` turns everything.
fn target(rng: &mut Rng, stand: Q) -> Skeleton {
    let mut places: Vec<V3> = JOINTS.iter().map(|joint| joint.3).collect();
    let about = |rng: &mut Rng, axis: V3, angle: f64| {
        let wobble = f64::from(rng.range(-0.1, 0.1));
        let (sin, cos) = ((angle + wobble) * 0.5).sin_cos();
        [axis[0] * sin, axis[1] * sin, axis[2] * sin, cos]
    };
    for (joints, pivot, turn) in [
        (&[7, 8, 19][..], 6, about(rng, [0.0, 0.0, 1.0], -0.9)),
        (&[8, 19][..], 7, about(rng, [0.0, 1.0, 0.0], -0.4)),
        (&[11, 12][..], 10, about(rng, [0.0, 0.0, 1.0], 0.9)),
        (&[12][..], 11, about(rng, [0.0, 1.0, 0.0], 0.4)),
        (&[14, 15][..], 13, about(rng, [0.0, 0.0, 1.0], 0.2)),
        (&[17, 18][..], 16, about(rng, [0.0, 0.0, 1.0], -0.2)),
        (&[18][..], 17, about(rng, [1.0, 0.0, 0.0], 0.15)),
    ] {
        let origin: V3 = places[pivot];
        for joint in joints {
            let turned = rotate(turn, sub(places[*joint], origin));
            places[*joint] = [0, 1, 2].map(|axis| origin[axis] + turned[axis]);
        }
    }
    let scaled = |place: V3| rotate(stand, place.map(|v| v * SIZE));
    let mut joints: Vec<At> = Vec::new();
    for ((_, name, parent, _), place) in JOINTS.iter().zip(&places) {
        joints.push(at(name, *parent, scaled(*place), random_turn(rng)));
    }
    // Between upper arm and forearm, and dead ends.
    let middle = [0, 1, 2].map(|axis| (places[6][axis] + places[7][axis]) * 0.5);
    joints.push(at("between", Some(6), scaled(middle), random_turn(rng)));
    let between = joints.len() - 1;
    joints[7].parent = Some(between);
    for (name, over) in [
        ("upperarm_twist_01_l", 6),
        ("lowerarm_twist_01_r", 11),
        ("calf_twist_01_l", 14),
    ] {
        joints.push(at(name, Some(over), scaled(places[over]), random_turn(rng)));
    }
    placed(
        &joints,
        Some(([-0.5_f64.sqrt(), 0.0, 0.0, 0.5_f64.sqrt()], 0.01)),
    )
}

/// A pose in which every joint is turned and the hips have moved.
fn pose(rng: &mut Rng, skeleton: &Skeleton) -> Vec<Transform> {
    let mut local = rest(skeleton);
    for joint in &mut local {
        joint.rotation = (joint.rotation * Quat::IDENTITY.slerp(rng.rotation(), 0.4)).normalize();
    }
    local[0].translation += rng.vector(-0.3, 0.3);
    local
}

fn name(joint: usize, side: usize) -> String {
    match side {
        0 => format!("mixamorig:{}", JOINTS[joint].0),
        _ => JOINTS[joint].1.into(),
    }
}

#[test]
fn limbs_point_where_the_sources_do() {
    let rng = &mut Rng::new(14);
    let turns = [
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.5_f64.sqrt(), 0.0, 0.5_f64.sqrt()],
        [0.0, 1.0, 0.0, 0.0],
        // Not set upright: +Z is up.
        [0.5_f64.sqrt(), 0.0, 0.0, 0.5_f64.sqrt()],
    ];
    let (mut worst, mut furthest) = (0.0_f64, 0.0_f64);
    for round in 0..40 {
        let stand = turns[round % 4];
        let (from, to) = (source(rng), target(rng, stand));
        let map = JointMap::humanoid(&from, &to).unwrap();
        assert_eq!(map.links().len(), JOINTS.len());
        assert!(map.unmatched_roles()[0].is_empty());
        assert!(map.unmatched_roles()[1].is_empty());
        let mut retarget = Retarget::new(&from, &to, &map, &RetargetOptions::default()).unwrap();
        let ratio = retarget.fit().ratio;
        assert!((ratio - SIZE).abs() < 1e-6, "{ratio}");
        let (from_rest, to_rest) = (model(&from, &rest(&from)), model(&to, &rest(&to)));
        for _ in 0..10 {
            let local = pose(rng, &from);
            let mut moved = rest(&to);
            retarget.pose(&local, &mut moved).unwrap();
            let (a, b) = (model(&from, &local), model(&to, &moved));
            for (start, end) in LIMBS {
                let ours = direction(&b, &to, &name(start, 1), &name(end, 1));
                let theirs = direction(&a, &from, &name(start, 0), &name(end, 0));
                worst = worst.max(angle(ours, rotate(stand, theirs)));
            }
            let way = |model: &[M4], rest: &[M4], skeleton, side| {
                let hips = name(0, side);
                sub(
                    position(model, skeleton, &hips),
                    position(rest, skeleton, &hips),
                )
            };
            let theirs = way(&a, &from_rest, &from, 0).map(|v| v * SIZE);
            furthest = furthest.max(length(sub(
                way(&b, &to_rest, &to, 1),
                rotate(stand, theirs),
            )));
            // Joints that follow no other are at rest. Limbs keep their lengths.
            for joint in map.unmatched_joints()[1].iter().copied() {
                let joint = usize::from(joint);
                assert_eq!(moved[joint], to.joints()[joint].rest);
            }
        }
    }
    println!("limbs are off by {worst:.1e} rad at most, hips by {furthest:.1e} m");
    // Local poses are 32-bit, below a node of scale 0.01: places of up to 100 units, rounded to
    // 4e-6 of them, and eight rotations on the way, each rounded by 1e-7. Measured: 1.2e-6 and
    // 1.6e-7.
    assert!(worst < 5e-6 && furthest < 1e-6, "{worst} {furthest}");
}

/// The rest poses differ by enough that limbs which only turn by what the source's turn point
/// elsewhere.
#[test]
fn without_alignment_limbs_keep_their_own_rest() {
    let rng = &mut Rng::new(14);
    let (from, to) = (source(rng), target(rng, [0.0, 0.0, 0.0, 1.0]));
    let map = JointMap::humanoid(&from, &to).unwrap();
    let options = RetargetOptions {
        align: false,
        ..RetargetOptions::default()
    };
    let mut retarget = Retarget::new(&from, &to, &map, &options).unwrap();
    let mut moved = rest(&to);
    // At rest the source leaves the target at rest.
    retarget.pose(&rest(&from), &mut moved).unwrap();
    let (a, b) = (model(&to, &rest(&to)), model(&to, &moved));
    let off = difference(&a, &b, 0.1);
    assert!(off < 1e-6, "{off}");
    let limb =
        |model: &[M4], skeleton, side| direction(model, skeleton, &name(6, side), &name(7, side));
    let rests = model(&from, &rest(&from));
    let off = angle(limb(&b, &to, 1), limb(&rests, &from, 0));
    // The arm rests 0.9 rad further down, give or take 0.1.
    assert!((0.75..1.05).contains(&off), "{off}");
}

/// The motion of trunk, feet and head: the change from rest in model space, for any axes.
#[test]
fn the_trunk_turns_by_what_the_source_turns() {
    let rng = &mut Rng::new(15);
    let mut worst = 0.0_f64;
    for _ in 0..20 {
        let (from, to) = (source(rng), target(rng, [0.0, 0.0, 0.0, 1.0]));
        let map = JointMap::humanoid(&from, &to).unwrap();
        let mut retarget = Retarget::new(&from, &to, &map, &RetargetOptions::default()).unwrap();
        let local = pose(rng, &from);
        let mut moved = rest(&to);
        retarget.pose(&local, &mut moved).unwrap();
        let change = |skeleton: &Skeleton, local: &[Transform], name: &str| {
            let joint = usize::from(skeleton.joint(name).unwrap().0);
            let turned = |local: &[Transform]| {
                let (mut turn, mut at) = ([0.0, 0.0, 0.0, 1.0], joint);
                loop {
                    turn = times(local[at].rotation.to_array().map(f64::from), turn);
                    match skeleton.joints()[at].parent {
                        None => return turn,
                        Some(parent) => at = usize::from(parent),
                    }
                }
            };
            times(turned(local), super::rigs::inverse(turned(&rest(skeleton))))
        };
        for joint in [0, 1, 2, 3, 4, 5, 9, 15, 18] {
            let ours = change(&to, &moved, &name(joint, 1));
            let theirs = change(&from, &local, &name(joint, 0));
            let cosine: f64 = ours.iter().zip(theirs).map(|(a, b)| a * b).sum();
            worst = worst.max(1.0 - cosine.abs());
        }
    }
    // 32-bit rotations, a chain of at most six.
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn a_skeleton_onto_itself_is_the_identity() {
    let rng = &mut Rng::new(16);
    for round in 0..30 {
        let mut from = source(rng);
        if round % 2 == 1 {
            from = target(rng, [0.0, 1.0, 0.0, 0.0]);
        }
        let map = JointMap::by_names(&from, &from).unwrap();
        assert_eq!(map.links().len(), from.len());
        let options = RetargetOptions {
            all_translations: true,
            ..RetargetOptions::default()
        };
        let mut retarget = Retarget::new(&from, &from, &map, &options).unwrap();
        assert_eq!(retarget.fit().ratio, 1.0);
        assert_eq!(retarget.fit().turn, Quat::IDENTITY);
        let mut local = pose(rng, &from);
        for joint in &mut local {
            joint.translation += joint.translation * rng.vector(-0.1, 0.1);
            joint.scale *= rng.vector(0.9, 1.1);
        }
        let mut moved = rest(&from);
        retarget.pose(&local, &mut moved).unwrap();
        let off = difference(&model(&from, &local), &model(&from, &moved), 0.1);
        // Each joint rounds positions of up to 2 m to 32 bits. Under uneven scales, the same
        // rotations shear the same way.
        assert!(off < 2e-6, "round {round}: {off}");
    }
}

/// Mirrored nodes: a skeleton below a node of scale -1 in x, with mirrored joints in it.
#[test]
fn mirrored_skeletons_follow_themselves() {
    let rng = &mut Rng::new(17);
    for _ in 0..30 {
        let mut nodes = Vec::new();
        for (at, (name, _, parent, place)) in JOINTS.iter().enumerate() {
            let origin = parent.map_or([0.0; 3], |parent| JOINTS[parent].3);
            let mut scale = Vec3::ONE;
            for axis in 0..3 {
                if rng.chance(3) {
                    scale[axis] = -1.0;
                }
            }
            nodes.push(raws::node(
                *name,
                *parent,
                raws::transform(
                    Vec3::from_array(sub(*place, origin).map(|v| v as f32)),
                    if at == 0 {
                        Quat::IDENTITY
                    } else {
                        rng.rotation()
                    },
                    scale,
                ),
            ));
        }
        let mirrored = super::rigs::skeleton(nodes);
        let map = JointMap::by_names(&mirrored, &mirrored).unwrap();
        let options = RetargetOptions::default();
        let mut retarget = Retarget::new(&mirrored, &mirrored, &map, &options).unwrap();
        let local = pose(rng, &mirrored);
        let mut moved = rest(&mirrored);
        retarget.pose(&local, &mut moved).unwrap();
        let off = difference(&model(&mirrored, &local), &model(&mirrored, &moved), 0.1);
        assert!(off < 2e-6, "{off}");
    }
}

/// Three joints of a spine and five share the bend, and end alike.
#[test]
fn spines_of_different_lengths_share_the_bend() {
    let spine = |names: &[&str]| {
        let mut joints = vec![at("Hips", None, [0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0])];
        for (index, name) in names.iter().enumerate() {
            let height = 1.0 + 0.5 * (index + 1) as f64 / names.len() as f64;
            joints.push(at(
                name,
                Some(index),
                [0.0, height, 0.0],
                [0.0, 0.0, 0.0, 1.0],
            ));
        }
        let top = names.len();
        joints.push(at("Head", Some(top), [0.0, 1.7, 0.0], [0.0, 0.0, 0.0, 1.0]));
        placed(&joints, None)
    };
    let three = spine(&["Spine", "Spine1", "Spine2"]);
    let five = spine(&["spine_01", "spine_02", "spine_03", "spine_04", "spine_05"]);
    for (from, to, bends) in [
        (&three, &five, [0.6, 1.2, 1.8, 2.4, 3.0].as_slice()),
        (&five, &three, &[5.0 / 3.0, 10.0 / 3.0, 5.0]),
    ] {
        let map = JointMap::humanoid(from, to).unwrap();
        let mut retarget = Retarget::new(from, to, &map, &RetargetOptions::default()).unwrap();
        // Every joint bends by as much: the sum at a joint is its number's share.
        let bend = 0.2_f32;
        let mut local = rest(from);
        for joint in local.iter_mut().skip(1) {
            joint.rotation = Quat::from_rotation_x(bend);
        }
        local[from.len() - 1].rotation = Quat::IDENTITY;
        let mut moved = rest(to);
        retarget.pose(&local, &mut moved).unwrap();
        let mut sum = 0.0;
        for (index, expected) in bends.iter().enumerate() {
            let (axis, angle) = moved[index + 1].rotation.to_axis_angle();
            sum += angle * axis.x.signum();
            assert!(
                (sum - bend * expected).abs() < 1e-5,
                "{index}: {sum}, not {expected}"
            );
        }
        assert_eq!(link_of(&map, Id::new(1)).role, Some(Role::Spine));
    }
    // The first of five lies between the hips and the first of three.
    let map = JointMap::humanoid(&three, &five).unwrap();
    let link = link_of(&map, Id::new(1));
    assert_eq!(link.source, Id::new(0));
    assert_eq!(
        (link.second_source, link.second_weight),
        (Some(Id::new(1)), 0.6)
    );
}
