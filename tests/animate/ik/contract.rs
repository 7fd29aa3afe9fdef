//! Odd input, and many instances at once.

use super::bodies::{Body, Scales, body, narrow};
use crate::reference::rig::chain;
use crate::reference::rng::Rng;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::ik::{
    Aim, AimTarget, ChainTarget, FeetTarget, FootPlacement, GroundHit, IkChain, IkJob, IkPose,
    IkRig, JointLimit, Leg, Pole, TwoBone, TwoBoneReport, TwoBoneTarget, solve_many,
};
use throng::skeleton::Transform;
use throng::{Error, Id};

fn aim(joints: &[u16]) -> Aim {
    let joint = |joint: &u16| (Id::new(*joint), 1.0);
    Aim::new(joints.iter().map(joint).collect(), Vec3::Z)
}

/// Numbers that break formulas.
fn odd(rng: &mut Rng) -> Vec3 {
    let numbers = [
        0.0,
        -0.0,
        1.0,
        1e-45,
        -1e-38,
        1e-20,
        1e-7,
        1e10,
        1e19,
        -1e30,
        f32::MAX,
        f32::MIN,
    ];
    Vec3::from_array([0; 3].map(|_| numbers[rng.below(numbers.len())]))
}

fn assert_finite(body: &Body, case: u64) {
    for (index, (local, model)) in body.local.iter().zip(&body.model).enumerate() {
        let length = local.rotation.length();
        assert!(
            (length - 1.0).abs() < 1e-5,
            "{case}: joint {index}: {length}"
        );
        assert!(
            local.translation.is_finite() && model.is_finite(),
            "{case}: joint {index}"
        );
    }
}

#[test]
fn no_input_makes_a_pose_that_is_not_finite() {
    for case in 0..3000 {
        let rng = &mut Rng::new(case);
        let scales = [
            Scales::One,
            Scales::Uniform,
            Scales::UnevenAbove,
            Scales::Uneven,
        ];
        let mut body = body(case % 50, 3, true, scales[case as usize % 4]);
        // Bones of no length and scales of 0, tiny or large, of what the limb is made.
        for joint in 0..body.local.len() {
            if rng.chance(6) {
                body.local[joint].translation = Vec3::ZERO;
            }
            if rng.chance(12) {
                let size = [0.0, 1e-20, 1e-6, 1e6, -1.0][rng.below(5)];
                body.local[joint].scale = Vec3::splat(size);
            }
            if rng.chance(6) {
                body.local[joint].rotation = Quat::IDENTITY;
            }
        }
        body.compose();
        assert_finite(&body, case);
        let rig = body.rig.clone();
        let [first, second, third, last] = body.limb[..] else {
            panic!()
        };
        let position = if rng.chance(4) {
            Vec3::from(body.model[usize::from(first)].translation)
        } else {
            odd(rng)
        };
        let pole = [
            Pole::Animated,
            Pole::Direction(odd(rng)),
            Pole::Point(odd(rng)),
        ][rng.below(3)];
        let bone = TwoBone {
            hinge: rng.chance(2).then(|| rng.direction()),
            soften: rng.range(0.0, 1.0),
            ..TwoBone::new(Id::new(first), Id::new(second), Id::new(last))
        };
        let target = TwoBoneTarget {
            pole,
            rotation: rng.chance(2).then(|| rng.rotation()),
            twist_rad: odd(rng).x,
            ..TwoBoneTarget::at(position)
        };
        let report = bone.solve(&rig, &target, body.pose()).unwrap();
        assert_finite(&body, case);
        assert!(!report.distance_m.is_nan());
        let mut aim = aim(&[first, second, last]);
        aim.offset_m = odd(rng);
        let look = AimTarget {
            up: Some(odd(rng)),
            ..AimTarget::at(odd(rng))
        };
        assert!(
            !aim.solve(&rig, &look, body.pose())
                .unwrap()
                .angle_rad
                .is_nan()
        );
        assert_finite(&body, case);
        let chain = IkChain::of_rig(&rig, Id::new(first), Id::new(last)).unwrap();
        let hinge = JointLimit::Hinge {
            axis: rng.direction(),
            angle_rad: (-1.0, 1.0),
        };
        let chain = chain.with_limit(Id::new(second), hinge).unwrap();
        let report = chain
            .solve(&rig, &ChainTarget::at(odd(rng)), body.pose())
            .unwrap();
        assert!(report.iterations <= 32 && !report.distance_m.is_nan());
        assert_finite(&body, case);
        let legs = vec![Leg {
            bones: TwoBone::new(Id::new(second), Id::new(third), Id::new(last)),
            ankle_m: 0.1,
        }];
        let feet = FootPlacement::new(Id::new(first), legs);
        let normal = if rng.chance(2) {
            Vec3::Y
        } else {
            rng.direction()
        };
        let hit = GroundHit {
            point: odd(rng),
            normal,
        };
        feet.solve(&rig, &FeetTarget::on(&[Some(hit)]), body.pose())
            .unwrap();
        assert_finite(&body, case);
    }
}

#[test]
fn poses_that_are_not_finite_stay_as_they_are() {
    for joint in [0, 1, 2] {
        let mut body = Body::of(chain(4), vec![]);
        body.local[joint].rotation.x = f32::NAN;
        body.compose();
        let rig = body.rig.clone();
        let bits = |local: &[Transform]| format!("{local:?}");
        let before = bits(&body.local);
        let report = TwoBone::new(Id::new(0), Id::new(1), Id::new(2)).solve(
            &rig,
            &TwoBoneTarget::at(Vec3::Y),
            body.pose(),
        );
        if joint < 2 {
            assert_eq!(report.unwrap(), TwoBoneReport::NONE);
        }
        let chain = IkChain::of_rig(&rig, Id::new(0), Id::new(3)).unwrap();
        let report = chain
            .solve(&rig, &ChainTarget::at(Vec3::Y), body.pose())
            .unwrap();
        assert!(!report.reached);
        let report = aim(&[0, 1, 2]).solve(&rig, &AimTarget::at(Vec3::X * 9.0), body.pose());
        assert!(!report.unwrap().reached);
        assert_eq!(bits(&body.local), before);
    }
}

#[test]
fn many_are_as_one() {
    let one = body(3, 2, true, Scales::Uniform);
    let joints = one.local.len();
    let rig = &one.rig;
    let job = TwoBone::new(
        Id::new(one.limb[0]),
        Id::new(one.limb[1]),
        Id::new(one.limb[2]),
    );
    let rng = &mut Rng::new(4);
    let (mut local, mut model) = (Vec::<Transform>::new(), Vec::<Affine3A>::new());
    let (mut targets, mut single) = (Vec::new(), Vec::new());
    for instance in 0..300 {
        let mut other = body(3, 2, true, Scales::Uniform);
        for joint in &mut other.local {
            joint.rotation = rng.rotation();
        }
        other.compose();
        local.extend(&other.local);
        model.extend(&other.model);
        let target = TwoBoneTarget::at(narrow(other.reachable(rng)));
        let target = target.weighted([0.0, 0.3, 1.0][instance % 3]);
        let report = job.solve(rig, &target, other.pose()).unwrap();
        targets.push(target);
        single.push((report, other.local, other.model));
    }
    let mut reports = vec![TwoBoneReport::NONE; 300];
    let (mut local, mut model) = (local.clone(), model.clone());
    let poses = IkPose {
        local: &mut local,
        model: &mut model,
    };
    solve_many(&job, rig, &targets, poses, &mut reports).unwrap();
    for (instance, (report, own, own_model)) in single.iter().enumerate() {
        assert_eq!(reports[instance], *report);
        assert_eq!(local[instance * joints..][..joints], **own);
        assert_eq!(model[instance * joints..][..joints], **own_model);
    }
    // One wrong target of many: nothing is touched.
    let mut bad = targets.clone();
    bad[77].position.x = f32::NAN;
    let (before, poses) = (
        local.clone(),
        IkPose {
            local: &mut local,
            model: &mut model,
        },
    );
    let fault = solve_many(&job, rig, &bad, poses, &mut reports);
    assert!(matches!(
        fault,
        Err(Error::At {
            what: "target",
            index: 77,
            ..
        })
    ));
    assert_eq!(local, before);
    let poses = IkPose {
        local: &mut local[1..],
        model: &mut model,
    };
    assert!(solve_many(&job, rig, &targets, poses, &mut reports).is_err());
    let poses = IkPose {
        local: &mut local,
        model: &mut model,
    };
    assert!(solve_many(&job, rig, &targets, poses, &mut reports[1..]).is_err());
    let none = IkPose {
        local: &mut [],
        model: &mut [],
    };
    solve_many(&job, rig, &[], none, &mut []).unwrap();
}

#[test]
fn rigs_know_what_hangs_below() {
    for seed in 0..40 {
        let mut body = body(seed, 4, true, Scales::One);
        let joints = body.character.skeleton().joints().to_vec();
        let mut other = Body::of(body.character.clone(), vec![]);
        for top in 0..joints.len() as u16 {
            let below = |mut joint: u16| loop {
                match joints[usize::from(joint)].parent {
                    Some(parent) if parent.0 != top => joint = parent.0,
                    parent => return parent.is_some(),
                }
            };
            let wanted = (0..joints.len() as u16).filter(|joint| below(*joint));
            let mut wanted: Vec<_> = wanted.map(Id::new).collect();
            let mut got = body.rig.descendants(Id::new(top)).to_vec();
            for pair in &got {
                assert!(
                    body.rig.is_below(*pair, Id::new(top))
                        && !body.rig.is_below(Id::new(top), *pair)
                );
            }
            got.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(got, wanted);
            // Recomputing from there on is the same as recomputing all.
            other.local.clone_from(&body.local);
            other.local[usize::from(top)].rotation = Quat::from_rotation_x(0.5);
            body.local.clone_from(&other.local);
            let rig = body.rig.clone();
            rig.update(Id::new(top), &body.local, &mut body.model)
                .unwrap();
            other.compose();
            assert_eq!(body.model, other.model);
        }
        assert!(
            body.rig
                .update(Id::new(u16::MAX), &body.local, &mut body.model)
                .is_err()
        );
        assert!(body.rig.descendants(Id::new(u16::MAX)).is_empty());
    }
    let empty = IkRig::new(&throng::skeleton::Skeleton::default());
    assert!(
        empty.is_empty()
            && TwoBone::new(Id::new(0), Id::new(1), Id::new(2))
                .validate(&empty)
                .is_err()
    );
}
