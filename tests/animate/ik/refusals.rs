//! What is refused, and how it is said.

use super::bodies::Body;
use crate::reference::rig::chain;
use throng::Error;
use throng::glam::{Quat, Vec3};
use throng::ids::JointId;
use throng::ik::{
    Aim, AimJoint, AimTarget, ChainTarget, FeetTarget, FootPlacement, GroundHit, IkChain, IkJob,
    IkPose, IkRig, JointLimit, Leg, Pole, TwoBone, TwoBoneTarget,
};

fn aim(joints: &[u16]) -> Aim {
    let joint = |joint: &u16| AimJoint {
        joint: JointId(*joint),
        share: 1.0,
    };
    Aim::new(joints.iter().map(joint).collect(), Vec3::Z)
}

fn feet() -> FootPlacement {
    let leg = Leg {
        bones: TwoBone::new(JointId(1), JointId(2), JointId(3)),
        ankle_m: 0.1,
    };
    FootPlacement::new(JointId(0), vec![leg])
}

/// The job is refused, and so is its solution, which leaves the pose alone.
fn refused<J: IkJob>(job: &J, target: &J::Target) -> Error {
    let mut body = Body::of(chain(4), vec![]);
    let rig = IkRig::new(body.character.skeleton());
    let before = (body.local.clone(), body.model.clone());
    let fault = job
        .solve(&rig, target, body.pose())
        .err()
        .expect("an error");
    let checked = job.validate(&rig).and_then(|()| job.check(target));
    // By what they say: a NaN in them is not equal to itself.
    assert_eq!(
        checked.err().map(|fault| fault.to_string()),
        Some(fault.to_string())
    );
    assert_eq!(before, (body.local, body.model));
    fault
}

#[test]
fn jobs_are_refused_by_name() {
    let at = TwoBoneTarget::at(Vec3::Y);
    let missing = refused(&TwoBone::new(JointId(0), JointId(1), JointId(9)), &at);
    assert!(matches!(
        missing,
        Error::NotFound {
            what: "joint",
            index: 9,
            count: 4
        }
    ));
    for [start, mid, end] in [[1, 0, 2], [0, 2, 1], [0, 0, 1], [1, 1, 1], [0, 1, 1]] {
        let fault = refused(
            &TwoBone::new(JointId(start), JointId(mid), JointId(end)),
            &at,
        );
        assert!(matches!(fault, Error::At { what: "joint", .. }), "{fault}");
    }
    let good = TwoBone::new(JointId(0), JointId(1), JointId(2));
    for soften in [-0.1, 1.1, f32::NAN, f32::INFINITY] {
        let said = refused(&TwoBone { soften, ..good }, &at).to_string();
        assert!(said.contains("TwoBone::soften"), "{said}");
    }
    for hinge in [Vec3::ZERO, Vec3::NAN, Vec3::INFINITY] {
        let hinge = Some(hinge);
        let said = refused(&TwoBone { hinge, ..good }, &at).to_string();
        assert!(said.contains("TwoBone::hinge"), "{said}");
    }
    let look = AimTarget::at(Vec3::Z);
    refused(&aim(&[]), &look);
    refused(&aim(&[4]), &look);
    refused(&aim(&[1, 1]), &look);
    assert!(matches!(
        refused(&aim(&[0; 17]), &look),
        Error::Capacity {
            asked: 17,
            cap: 16,
            ..
        }
    ));
    for share in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut aim = aim(&[0, 1]);
        aim.joints[1].share = share;
        assert!(matches!(refused(&aim, &look), Error::At { index: 1, .. }));
    }
    refused(
        &Aim {
            forward: Vec3::ZERO,
            ..aim(&[0])
        },
        &look,
    );
    refused(
        &Aim {
            up: Vec3::NAN,
            ..aim(&[0])
        },
        &look,
    );
    refused(
        &Aim {
            offset_m: Vec3::INFINITY,
            ..aim(&[0])
        },
        &look,
    );
    refused(
        &Aim {
            limit_rad: 4.0,
            ..aim(&[0])
        },
        &look,
    );
}

#[test]
fn chains_and_feet_are_refused_by_name() {
    let rig = IkRig::new(chain(4).skeleton());
    let reach = ChainTarget::at(Vec3::Y);
    assert!(IkChain::of_rig(&rig, JointId(2), JointId(1)).is_err());
    assert!(IkChain::of_rig(&rig, JointId(0), JointId(9)).is_err());
    let long = IkRig::new(chain(70).skeleton());
    let fault = IkChain::of_rig(&long, JointId(0), JointId(69)).err();
    assert!(matches!(
        fault,
        Some(Error::Capacity {
            asked: 70,
            cap: 64,
            ..
        })
    ));
    let good = IkChain::of_rig(&rig, JointId(0), JointId(3)).unwrap();
    assert!(
        good.clone()
            .with_limit(JointId(9), JointLimit::Free)
            .is_err()
    );
    refused(
        &IkChain {
            joints: vec![],
            ..good.clone()
        },
        &reach,
    );
    refused(
        &IkChain {
            joints: good.joints[..1].to_vec(),
            ..good.clone()
        },
        &reach,
    );
    for tolerance_m in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        refused(
            &IkChain {
                tolerance_m,
                ..good.clone()
            },
            &reach,
        );
    }
    for iterations in [0, 1001, u16::MAX] {
        refused(
            &IkChain {
                iterations,
                ..good.clone()
            },
            &reach,
        );
    }
    let axis = Vec3::X;
    for limit in [
        JointLimit::Hinge {
            axis: Vec3::ZERO,
            angle_rad: (0.0, 1.0),
        },
        JointLimit::Hinge {
            axis,
            angle_rad: (1.0, 0.0),
        },
        JointLimit::Hinge {
            axis,
            angle_rad: (f32::NAN, 0.0),
        },
        JointLimit::Hinge {
            axis,
            angle_rad: (0.0, 4.0),
        },
        JointLimit::Cone {
            axis,
            swing_rad: -1.0,
            twist_rad: (0.0, 1.0),
        },
        JointLimit::Cone {
            axis,
            swing_rad: 4.0,
            twist_rad: (0.0, 1.0),
        },
        JointLimit::Cone {
            axis,
            swing_rad: 1.0,
            twist_rad: (-4.0, 1.0),
        },
        JointLimit::Cone {
            axis: Vec3::NAN,
            swing_rad: 1.0,
            twist_rad: (-1.0, 1.0),
        },
    ] {
        let chain = good.clone().with_limit(JointId(1), limit).unwrap();
        assert!(matches!(
            refused(&chain, &reach),
            Error::At { index: 1, .. }
        ));
    }
    let stand = FeetTarget::on(&[Some(GroundHit::level(Vec3::ZERO))]);
    refused(
        &FootPlacement {
            pelvis: JointId(9),
            ..feet()
        },
        &stand,
    );
    refused(
        &FootPlacement {
            pelvis: JointId(2),
            ..feet()
        },
        &stand,
    );
    refused(
        &FootPlacement {
            legs: vec![],
            ..feet()
        },
        &stand,
    );
    refused(
        &FootPlacement {
            legs: vec![feet().legs[0]; 9],
            ..feet()
        },
        &stand,
    );
    refused(
        &FootPlacement {
            up: Vec3::ZERO,
            ..feet()
        },
        &stand,
    );
    for bad in [-1.0, f32::NAN, f32::INFINITY, f32::MAX] {
        refused(
            &FootPlacement {
                max_drop_m: bad,
                ..feet()
            },
            &stand,
        );
        refused(
            &FootPlacement {
                max_step_m: bad,
                ..feet()
            },
            &stand,
        );
        refused(
            &FootPlacement {
                max_tilt_rad: bad,
                ..feet()
            },
            &stand,
        );
        let mut high = feet();
        high.legs[0].ankle_m = bad;
        assert!(matches!(
            refused(&high, &stand),
            Error::At {
                what: "leg",
                index: 0,
                ..
            }
        ));
    }
}

#[test]
fn targets_are_refused_by_name() {
    let bone = TwoBone::new(JointId(0), JointId(1), JointId(2));
    let at = TwoBoneTarget::at(Vec3::Y);
    for weight in [-0.1, 1.1, f32::NAN, f32::INFINITY] {
        let said = refused(&bone, &at.weighted(weight)).to_string();
        assert!(said.contains("TwoBoneTarget::weight"), "{said}");
        refused(
            &aim(&[0]),
            &AimTarget {
                weight,
                ..AimTarget::at(Vec3::Z)
            },
        );
        let rig = IkRig::new(chain(4).skeleton());
        let chain = IkChain::of_rig(&rig, JointId(0), JointId(3)).unwrap();
        refused(
            &chain,
            &ChainTarget {
                weight,
                ..ChainTarget::at(Vec3::Z)
            },
        );
        refused(
            &feet(),
            &FeetTarget {
                weight,
                ..FeetTarget::on(&[])
            },
        );
    }
    for bad in [
        Vec3::NAN,
        Vec3::INFINITY,
        Vec3::new(0.0, f32::NEG_INFINITY, 0.0),
    ] {
        refused(&bone, &TwoBoneTarget::at(bad));
        refused(
            &bone,
            &TwoBoneTarget {
                pole: Pole::Point(bad),
                ..at
            },
        );
        refused(
            &bone,
            &TwoBoneTarget {
                pole: Pole::Direction(bad),
                ..at
            },
        );
        refused(&aim(&[0]), &AimTarget::at(bad));
        refused(
            &aim(&[0]),
            &AimTarget {
                up: Some(bad),
                ..AimTarget::at(Vec3::Z)
            },
        );
        refused(&feet(), &FeetTarget::on(&[Some(GroundHit::level(bad))]));
        let normal = GroundHit {
            point: Vec3::ZERO,
            normal: bad,
        };
        refused(&feet(), &FeetTarget::on(&[Some(normal)]));
    }
    refused(
        &bone,
        &TwoBoneTarget {
            twist_rad: f32::NAN,
            ..at
        },
    );
    for rotation in [
        Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0),
    ] {
        refused(
            &bone,
            &TwoBoneTarget {
                rotation: Some(rotation),
                ..at
            },
        );
    }
    let mut body = Body::of(chain(4), vec![]);
    let rig = body.rig.clone();
    let short = IkPose {
        local: &mut body.local[..3],
        model: &mut body.model,
    };
    assert!(bone.solve(&rig, &at, short).is_err());
}
