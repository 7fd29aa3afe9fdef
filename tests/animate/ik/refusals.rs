//! Jobs and targets that are refused, and the errors that say so.

use super::bodies::{Body, Solve};
use crate::reference::rig::chain;
use crate::reference::words::{Fails, Says};
use throng::glam::{Quat, Vec3};
use throng::ik::{
    Aim, AimTarget, ChainTarget, FeetTarget, FootPlacement, GroundHit, IkChain, JointLimit, Pole,
    TwoBone, TwoBoneTarget,
};
use throng::{Error, Id};

fn aim(joints: &[u16]) -> Aim {
    let joint = |joint: &u16| (Id::new(*joint), 1.0);
    Aim::new(joints.iter().map(joint).collect(), Vec3::Z)
}

fn feet() -> FootPlacement {
    let leg = (TwoBone::new(Id::new(1), Id::new(2), Id::new(3)), 0.1);
    FootPlacement::new(Id::new(0), vec![leg])
}

/// Asserts that the job is refused, by its check and by its solution, which leaves the pose alone.
///
/// `row` names the case if it is not refused.
#[track_caller]
fn refused<J: Solve>(row: impl std::fmt::Display, job: &J, target: &J::Target) -> Error {
    let mut body = Body::of(chain(4), vec![]);
    let rig = body.rig.clone();
    let before = (body.local.clone(), body.model.clone());
    let Err(fault) = job.solve(&rig, target, body.pose()) else {
        panic!("{row}: not refused");
    };
    assert_eq!(before, (body.local, body.model), "{row}");
    fault
}

/// Numbers outside the range from 0 to 1.
const NOT_A_PART: [f32; 4] = [-0.1, 1.1, f32::NAN, f32::INFINITY];

/// Numbers that are not positive, or not finite.
const NOT_POSITIVE: [f32; 4] = [0.0, -1.0, f32::NAN, f32::INFINITY];

#[test]
fn two_bone_jobs_are_refused_by_name() {
    let at = TwoBoneTarget::at(Vec3::Y);
    let bones =
        |[start, mid, end]: [u16; 3]| TwoBone::new(Id::new(start), Id::new(mid), Id::new(end));
    refused("missing joint", &bones([0, 1, 9]), &at)
        .says("joint TwoBone::end 9 does not exist: there are 4");
    for joints in [[1, 0, 2], [0, 2, 1], [0, 0, 1], [1, 1, 1], [0, 1, 1]] {
        let row = format!("{joints:?}");
        refused(&row, &bones(joints), &at).says_in(row, "joint …: …");
    }
    let good = bones([0, 1, 2]);
    let soften = NOT_A_PART.map(|soften| ("TwoBone::soften", TwoBone { soften, ..good }));
    let hinge = [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY].map(|hinge| {
        let hinge = Some(hinge);
        ("TwoBone::hinge", TwoBone { hinge, ..good })
    });
    for (field, job) in soften.into_iter().chain(hinge) {
        let row = format!("{job:?}");
        refused(&row, &job, &at).says_in(row, format!("…{field}…"));
    }
}

#[test]
fn aims_are_refused_by_name() {
    let look = AimTarget::at(Vec3::Z);
    let good = || aim(&[0]);
    let (forward, up, offset_m) = (Vec3::ZERO, Vec3::NAN, Vec3::INFINITY);
    for (said, job) in [
        ("Aim::joints: has 0 elements, needs 1", aim(&[])),
        (
            "joint of Aim::joints 4 does not exist: there are 4",
            aim(&[4]),
        ),
        (
            "joint 1…: joint of Aim::joints: is not below the joint before it",
            aim(&[1, 1]),
        ),
        (
            "joint 0…: Aim::forward: has no direction",
            Aim { forward, ..good() },
        ),
        ("joint 0…: Aim::up: … is not finite", Aim { up, ..good() }),
        (
            "joint 0…: Aim::offset_m: … is not finite",
            Aim { offset_m, ..good() },
        ),
        (
            "Aim::limit_rad: 4 lies outside …",
            Aim {
                limit_rad: 4.0,
                ..good()
            },
        ),
    ] {
        refused(said, &job, &look).says(said);
    }
    let many = refused("17 joints", &aim(&[0; 17]), &look);
    many.says("…: 17 requested, at most 16 allowed");
    for share in NOT_POSITIVE {
        let mut aim = aim(&[0, 1]);
        aim.joints[1].1 = share;
        let row = format!("share {share}");
        refused(&row, &aim, &look).says_in(row, "joint 1…: …");
    }
}

#[test]
fn chains_are_refused_by_name() {
    let skeleton = chain(4).skeleton().clone();
    let reach = ChainTarget::at(Vec3::Y);
    for (root, tip) in [(2, 1), (0, 9)] {
        let chain = IkChain::between(&skeleton, Id::new(root), Id::new(tip));
        assert!(chain.is_err(), "from {root} to {tip}");
    }
    IkChain::between(chain(70).skeleton(), Id::new(0), Id::new(69))
        .fails("…: 70 requested, at most 64 allowed");
    let good = IkChain::between(&skeleton, Id::new(0), Id::new(3)).unwrap();
    let joints = [vec![], good.joints[..1].to_vec()].map(|joints| IkChain {
        joints,
        ..good.clone()
    });
    let tolerances = NOT_POSITIVE.map(|tolerance_m| IkChain {
        tolerance_m,
        ..good.clone()
    });
    let iterations = [0, 1001, u16::MAX].map(|iterations| IkChain {
        iterations,
        ..good.clone()
    });
    for chain in joints.into_iter().chain(tolerances).chain(iterations) {
        refused(format_args!("{chain:?}"), &chain, &reach);
    }
}

#[test]
fn limits_are_refused_by_the_index_of_their_joint() {
    let skeleton = chain(4).skeleton().clone();
    let reach = ChainTarget::at(Vec3::Y);
    let good = IkChain::between(&skeleton, Id::new(0), Id::new(3)).unwrap();
    let hinge = |axis, angle_rad| JointLimit::Hinge { axis, angle_rad };
    let cone = |axis, swing_rad, twist_rad| JointLimit::Cone {
        axis,
        swing_rad,
        twist_rad,
    };
    for limit in [
        hinge(Vec3::ZERO, (0.0, 1.0)),
        hinge(Vec3::X, (1.0, 0.0)),
        hinge(Vec3::X, (f32::NAN, 0.0)),
        hinge(Vec3::X, (0.0, 4.0)),
        cone(Vec3::X, -1.0, (0.0, 1.0)),
        cone(Vec3::X, 4.0, (0.0, 1.0)),
        cone(Vec3::X, 1.0, (-4.0, 1.0)),
        cone(Vec3::NAN, 1.0, (-1.0, 1.0)),
    ] {
        let mut chain = good.clone();
        chain.joints[1].1 = limit;
        let row = format!("{limit:?}");
        refused(&row, &chain, &reach).says_in(row, "joint 1…: …");
    }
}

#[test]
fn feet_are_refused_by_name() {
    let stand = FeetTarget::on(&[Some(GroundHit::level(Vec3::ZERO))]);
    let with = |change: fn(&mut FootPlacement)| {
        let mut feet = feet();
        change(&mut feet);
        feet
    };
    for (row, job) in [
        ("missing pelvis", with(|feet| feet.pelvis = Id::new(9))),
        ("pelvis in the leg", with(|feet| feet.pelvis = Id::new(2))),
        ("no leg", with(|feet| feet.legs = vec![])),
        ("nine legs", with(|feet| feet.legs = vec![feet.legs[0]; 9])),
        ("up", with(|feet| feet.up = Vec3::ZERO)),
    ] {
        refused(row, &job, &stand);
    }
    type Set = fn(&mut FootPlacement, f32);
    let fields: [(&str, Set); 4] = [
        ("max_drop_m", |feet, bad| feet.max_drop_m = bad),
        ("max_step_m", |feet, bad| feet.max_step_m = bad),
        ("max_tilt_rad", |feet, bad| feet.max_tilt_rad = bad),
        ("ankle", |feet, bad| feet.legs[0].1 = bad),
    ];
    for (field, set) in fields {
        for bad in [-1.0, f32::NAN, f32::INFINITY, f32::MAX] {
            let mut job = feet();
            set(&mut job, bad);
            let row = format!("{field} {bad}");
            let start = if field == "ankle" { "leg 0: " } else { "" };
            refused(&row, &job, &stand).says_in(row, format!("{start}…"));
        }
    }
}

#[test]
fn weights_of_targets_are_refused() {
    let bone = TwoBone::new(Id::new(0), Id::new(1), Id::new(2));
    let skeleton = chain(4).skeleton().clone();
    let chain = IkChain::between(&skeleton, Id::new(0), Id::new(3)).unwrap();
    for weight in NOT_A_PART {
        let target = TwoBoneTarget {
            weight,
            ..TwoBoneTarget::at(Vec3::Y)
        };
        let said = refused(format_args!("two bones: {weight}"), &bone, &target).to_string();
        said.says("…TwoBoneTarget::weight…");
        let target = AimTarget {
            weight,
            ..AimTarget::at(Vec3::Z)
        };
        refused(format_args!("aim: {weight}"), &aim(&[0]), &target);
        let target = ChainTarget {
            weight,
            ..ChainTarget::at(Vec3::Z)
        };
        refused(format_args!("chain: {weight}"), &chain, &target);
        let target = FeetTarget {
            weight,
            ..FeetTarget::on(&[])
        };
        refused(format_args!("feet: {weight}"), &feet(), &target);
    }
}

#[test]
fn targets_are_refused_by_name() {
    let bone = TwoBone::new(Id::new(0), Id::new(1), Id::new(2));
    let at = TwoBoneTarget::at(Vec3::Y);
    let pole = |pole| TwoBoneTarget { pole, ..at };
    let rotation = |xyzw: [f32; 4]| TwoBoneTarget {
        rotation: Some(Quat::from_array(xyzw)),
        ..at
    };
    let twisted = TwoBoneTarget {
        twist_rad: f32::NAN,
        ..at
    };
    for target in [
        twisted,
        rotation([0.0; 4]),
        rotation([f32::NAN, 0.0, 0.0, 1.0]),
    ] {
        refused(format_args!("{target:?}"), &bone, &target);
    }
    let down = Vec3::new(0.0, f32::NEG_INFINITY, 0.0);
    for bad in [Vec3::NAN, Vec3::INFINITY, down] {
        for target in [
            TwoBoneTarget::at(bad),
            pole(Pole::Point(bad)),
            pole(Pole::Direction(bad)),
        ] {
            refused(format_args!("{target:?}"), &bone, &target);
        }
        let up = AimTarget {
            up: Some(bad),
            ..AimTarget::at(Vec3::Z)
        };
        for target in [AimTarget::at(bad), up] {
            refused(format_args!("{target:?}"), &aim(&[0]), &target);
        }
        let normal = GroundHit {
            point: Vec3::ZERO,
            normal: bad,
        };
        for hit in [GroundHit::level(bad), normal] {
            refused(
                format_args!("{hit:?}"),
                &feet(),
                &FeetTarget::on(&[Some(hit)]),
            )
            .says("leg 0: GroundHit::…");
        }
    }
    let level = Some(GroundHit::level(Vec3::ZERO));
    refused(
        "two hits for one leg",
        &feet(),
        &FeetTarget::on(&[level, level]),
    )
    .says("leg of FeetTarget::hits 1 does not exist: there are 1");
    let mut body = Body::of(chain(4), vec![]);
    let rig = body.rig.clone();
    let short = (&mut body.local[..3], &mut body.model[..]);
    assert!(
        bone.solve(&rig, &at, short).is_err(),
        "a pose that is too short"
    );
}
