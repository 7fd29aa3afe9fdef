//! Aiming: the axis points at the target, stays in its cone, and joints take their shares.

use super::bodies::{
    AimReport, Body, RIGID, Scales, Solve, about, across, added, apart, body, narrow, scaled, unit,
    wide, wide4,
};
use crate::reference::maths::{self, V3, angle, distance};
use crate::reference::rng::Rng;
use throng::Id;
use throng::glam::Vec3;
use throng::ik::{Aim, AimTarget};

fn job(body: &Body, rng: &mut Rng) -> Aim {
    let share = |joint: &u16| (Id::new(*joint), rng.range(0.1, 2.0));
    let joints = body.limb.iter().map(share).collect();
    Aim {
        up: rng.direction(),
        ..Aim::new(joints, rng.direction() * rng.range(0.1, 5.0))
    }
}

fn solve(body: &mut Body, aim: &Aim, target: &AimTarget) -> AimReport {
    let rig = body.rig.clone();
    aim.solve(&rig, target, body.pose()).unwrap()
}

/// The start and the direction of the axis, and the up direction, in `f64`.
fn ray(body: &Body, aim: &Aim) -> (V3, V3, V3) {
    let last = body.exact()[usize::from(aim.joints.last().unwrap().0)];
    let eye = wide(aim.offset_m);
    let from = maths::point(&last, eye);
    let along = |axis: Vec3| maths::sub(maths::point(&last, added(eye, wide(axis))), from);
    (from, unit(along(aim.forward)), along(aim.up))
}

#[test]
fn points_at_the_target() {
    for seed in 0..600 {
        let scales = [
            Scales::One,
            Scales::Uniform,
            Scales::UnevenAbove,
            Scales::Uneven,
        ];
        let mut body = body(seed, 1 + seed as usize % 3, true, scales[seed as usize % 4]);
        let rng = &mut Rng::new(!seed);
        let mut aim = job(&body, rng);
        aim.offset_m = rng.vector(-0.1, 0.1);
        let target = rng.direction() * [4.0, 100.0, 1e6][rng.below(3)];
        let up = rng.chance(2).then(|| rng.direction());
        let target = AimTarget {
            up,
            ..AimTarget::at(target)
        };
        let before = body.local.clone();
        let report = solve(&mut body, &aim, &target);
        body.assert_only_turned(&before);
        let (eye, forward, _) = ray(&body, &aim);
        let off = angle(forward, maths::sub(wide(target.position), eye));
        // Measured 2e-6: rounding of the model pose, made larger by the scales.
        assert!(off < 2e-5, "{seed}: {off}");
        assert!(report.reached, "{seed}");
        assert!((f64::from(report.angle_rad) - off).abs() < 2e-5);
    }
}

#[test]
fn up_is_as_upright_as_it_can_be() {
    for seed in 0..200 {
        let mut body = body(seed, 2, true, Scales::Uniform);
        let rng = &mut Rng::new(!seed);
        let aim = job(&body, rng);
        let pole = rng.direction();
        let target = AimTarget {
            up: Some(pole),
            ..AimTarget::at(rng.direction() * 5.0)
        };
        solve(&mut body, &aim, &target);
        let (_, forward, up) = ray(&body, &aim);
        let (up, pole) = (across(unit(up), forward), across(wide(pole), forward));
        if maths::length(up).min(maths::length(pole)) > 0.05 {
            assert!(angle(up, pole) < 1e-4, "{seed}: {}", angle(up, pole));
        }
    }
}

#[test]
fn the_cone_holds() {
    for seed in 0..300 {
        let mut body = body(seed, 2, true, RIGID[seed as usize % 3]);
        let rng = &mut Rng::new(!seed);
        let mut aim = job(&body, rng);
        // One joint: it does not move itself, so that the cone is exact.
        aim.joints.drain(..2);
        aim.limit_rad = rng.range(0.0, 2.5);
        let limit = f64::from(aim.limit_rad);
        let (eye, forward, _) = ray(&body, &aim);
        let position = rng.vector(-3.0, 3.0);
        let asked = angle(forward, maths::sub(wide(position), eye));
        let report = solve(&mut body, &aim, &AimTarget::at(position));
        let (_, now, _) = ray(&body, &aim);
        let turned = angle(forward, now);
        assert!(
            (turned - asked.min(limit)).abs() < 1e-5,
            "{seed}: {turned} {asked} {limit}"
        );
        // In the plane of the two, on the way to the target.
        let missed = f64::from(report.angle_rad);
        assert!(
            (missed - (asked - limit).max(0.0)).abs() < 2e-5,
            "{seed}: {missed}"
        );
    }
}

#[test]
fn joints_take_their_shares() {
    let character = crate::reference::rig::chain(4);
    for case in 0..50_u64 {
        let mut body = Body::of(character.clone(), vec![1, 2, 3]);
        let rng = &mut Rng::new(case);
        let mut aim = job(&body, rng);
        aim.forward = Vec3::Z;
        let shares: Vec<f64> = aim.joints.iter().map(|own| own.1.into()).collect();
        let sum: f64 = shares.iter().sum();
        // So far away that it does not matter that the joints move: all turn about one axis, by
        // shares of one angle.
        let way = rng.direction();
        let whole = angle([0.0, 0.0, 1.0], wide(way));
        solve(&mut body, &aim, &AimTarget::at(way * 1e6));
        for ((joint, _), share) in aim.joints.iter().zip(shares) {
            let rotation = wide4(body.local[usize::from(*joint)].rotation);
            let turned = apart(rotation, [0.0, 0.0, 0.0, 1.0]);
            assert!(
                (turned - whole * share / sum).abs() < 1e-5,
                "{case}: {turned}"
            );
        }
    }
}

#[test]
fn half_the_weight_is_half_the_way() {
    for seed in 0..100 {
        let mut body = body(seed, 1, false, Scales::One);
        let rng = &mut Rng::new(!seed);
        let mut aim = job(&body, rng);
        aim.joints.drain(..1);
        let (_, forward, _) = ray(&body, &aim);
        let side = unit(maths::cross(forward, wide(rng.direction())));
        let wanted = f64::from(rng.range(0.1, 3.0));
        let joint = super::bodies::place(&body.exact(), aim.joints[0].0.0);
        let target = added(joint, scaled(about(forward, side, wanted), 4.0));
        let (before, model) = (body.local.clone(), body.model.clone());
        let target = AimTarget::at(narrow(target));
        let none = AimTarget {
            weight: 0.0,
            ..target
        };
        solve(&mut body, &aim, &none);
        assert_eq!((&body.local, &body.model), (&before, &model));
        let half = AimTarget {
            weight: 0.5,
            ..target
        };
        solve(&mut body, &aim, &half);
        let (_, now, _) = ray(&body, &aim);
        assert!(
            distance(now, about(forward, side, 0.5 * wanted)) < 1e-5,
            "{seed}"
        );
    }
}

#[test]
fn what_is_too_near_for_the_offset_is_not_reached() {
    let mut body = Body::of(crate::reference::rig::chain(2), vec![0]);
    let mut aim = job(&body, &mut Rng::new(1));
    aim.forward = Vec3::Z;
    aim.offset_m = Vec3::Y;
    let report = solve(&mut body, &aim, &AimTarget::at(Vec3::new(0.2, 0.1, 0.3)));
    assert!(!report.reached);
    body.assert_composed();
    assert!(body.local[0].rotation.is_finite());
}
