//! Odd input.

use super::bodies::{Body, Scales, Solve, body};
use crate::reference::rig::chain;
use crate::reference::rng::Rng;
use throng::Id;
use throng::glam::{Quat, Vec3};
use throng::ik::{
    Aim, AimTarget, ChainTarget, FeetTarget, FootPlacement, GroundHit, IkChain, JointLimit, Pole,
    TwoBone, TwoBoneTarget,
};
use throng::skeleton::Transform;

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
        let mut chain =
            IkChain::between(body.character.skeleton(), Id::new(first), Id::new(last)).unwrap();
        let hinge = JointLimit::Hinge {
            axis: rng.direction(),
            angle_rad: (-1.0, 1.0),
        };
        let limited = chain.joints.iter_mut().find(|it| it.0 == Id::new(second));
        limited.unwrap().1 = hinge;
        let report = chain
            .solve(&rig, &ChainTarget::at(odd(rng)), body.pose())
            .unwrap();
        assert!(report.iterations <= 32 && !report.distance_m.is_nan());
        assert_finite(&body, case);
        let bones = TwoBone::new(Id::new(second), Id::new(third), Id::new(last));
        let legs = vec![(bones, 0.1)];
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
            let report = report.unwrap();
            assert!(!report.reached && report.distance_m == f32::INFINITY);
        }
        let chain = IkChain::between(body.character.skeleton(), Id::new(0), Id::new(3)).unwrap();
        let report = chain
            .solve(&rig, &ChainTarget::at(Vec3::Y), body.pose())
            .unwrap();
        assert!(!report.reached);
        let report = aim(&[0, 1, 2]).solve(&rig, &AimTarget::at(Vec3::X * 9.0), body.pose());
        assert!(!report.unwrap().reached);
        assert_eq!(bits(&body.local), before);
    }
}
