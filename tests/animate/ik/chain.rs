//! Chains reach their targets where they can, and keep their limits.

use super::bodies::{
    Body, ChainReport, RIGID, Scales, Solve, added, apart, body, narrow, scaled, wide, wide4,
};
use crate::reference::maths::{self, Q, distance};
use crate::reference::rng::Rng;
use throng::Id;
use throng::glam::{Quat, Vec3};
use throng::ik::{ChainTarget, IkChain, JointLimit};

fn job(body: &Body) -> IkChain {
    let free = |joint: &u16| (Id::new(*joint), JointLimit::Free);
    IkChain {
        joints: body.limb.iter().map(free).collect(),
        tolerance_m: 1e-3 * body.limb_m() as f32,
        iterations: 50,
    }
}

fn solve(body: &mut Body, chain: &IkChain, target: &ChainTarget) -> ChainReport {
    let rig = body.rig.clone();
    chain.solve(&rig, target, body.pose()).unwrap()
}

#[test]
fn reaches_what_can_be_reached() {
    let mut all = Vec::new();
    for seed in 0..600 {
        let bones = 3 + seed as usize % 10;
        let mut body = body(seed, bones, seed % 2 == 0, RIGID[seed as usize % 3]);
        let target = body.reachable(&mut Rng::new(!seed));
        let (before, chain) = (body.local.clone(), job(&body));
        let report = solve(&mut body, &chain, &ChainTarget::at(narrow(target)));
        body.assert_only_turned(&before);
        let left = distance(*body.places().last().unwrap(), target);
        assert!((f64::from(report.distance_m) - left).abs() < 1e-5 * body.limb_m());
        assert!(
            report.reached && left < 1.01 * f64::from(chain.tolerance_m),
            "{seed}: {left}"
        );
        all.push(report.iterations);
    }
    all.sort_unstable();
    let [half, most, worst] = [300, 594, 599].map(|at| all[at]);

    assert!(
        half <= 2 && most <= 10 && worst <= 40,
        "{half} {most} {worst}"
    );
}

#[test]
fn uneven_scales_in_the_chain_are_solved_too() {
    let mut reached = 0;
    for seed in 0..200 {
        let mut body = body(seed, 5, true, Scales::Uneven);
        let target = body.reachable(&mut Rng::new(!seed));
        let chain = job(&body);
        let report = solve(&mut body, &chain, &ChainTarget::at(narrow(target)));
        reached += usize::from(report.reached);
    }
    assert!(reached >= 195, "{reached} of 200");
}

#[test]
fn nearly_straight_and_out_of_reach() {
    for seed in 0..200 {
        let mut body = body(seed, 4, true, Scales::Uniform);
        let mut rng = Rng::new(!seed);
        let (root, limb) = (body.places()[0], body.limb_m());
        let way = wide(rng.direction());
        let chain = job(&body);
        let part = [0.9, 0.95, 1.01, 3.0, 1e6][rng.below(5)];
        let target = ChainTarget::at(narrow(added(root, scaled(way, part * limb))));
        let report = solve(&mut body, &chain, &target);
        let tip = *body.places().last().unwrap();
        let wanted = added(root, scaled(way, part.min(1.0) * limb));
        let off = distance(tip, wanted) / limb;
        assert!(off < 1.1e-3, "{seed} {part}: {off} {report:?}");
        assert_eq!(report.reached, part < 1.0, "{seed}");
        if part > 1.0 {
            assert_eq!(report.iterations, 1);
            assert!(off < 1e-5, "{seed}: {off}");
        }
    }
}

#[test]
fn a_straight_chain_whose_target_lies_on_it_bends() {
    for joints in 3..12 {
        for part in [0.05, 0.3, 0.5, 0.9] {
            let character = crate::reference::rig::chain(joints);
            let mut body = Body::of(character, (0..joints as u16).collect());
            let chain = job(&body);
            let target = Vec3::Y * part * (joints - 1) as f32;
            let report = solve(&mut body, &chain, &ChainTarget::at(target));
            assert!(report.reached, "{joints} {part}: {report:?}");
        }
    }
}

/// The angle of `q`'s part about a unit axis, and the angle that the axis itself is carried by,
/// from the definitions: the axis's image in `f64`.
fn parts(q: Q, axis: [f64; 3]) -> (f64, f64) {
    let q = maths::unit4(q);
    let image = maths::point(&maths::trs([0.0; 3], q, [1.0; 3]), axis);
    let along = maths::dot([q[0], q[1], q[2]], axis);
    let twist = 2.0 * along.atan2(q[3]);
    let turn = std::f64::consts::TAU;
    (
        twist - turn * (twist / turn).round(),
        maths::angle(axis, image),
    )
}

fn conjugated(a: Q, b: Q) -> Q {
    let ([x, y, z, w], [p, q, r, s]) = ([-a[0], -a[1], -a[2], a[3]], b);
    [
        w * p + x * s + y * r - z * q,
        w * q - x * r + y * s + z * p,
        w * r + x * q - y * p + z * s,
        w * s - x * p - y * q - z * r,
    ]
}

fn limit(rng: &mut Rng) -> JointLimit {
    let axis = rng.direction() * rng.range(0.1, 3.0);
    let range = |rng: &mut Rng| {
        let (a, b) = (rng.range(-3.0, 3.0), rng.range(-3.0, 3.0));
        (a.min(b), a.max(b))
    };
    match rng.below(3) {
        0 => JointLimit::Free,
        1 => JointLimit::Hinge {
            axis,
            angle_rad: range(rng),
        },
        _ => JointLimit::Cone {
            axis,
            swing_rad: rng.range(0.0, 2.5),
            twist_rad: range(rng),
        },
    }
}

fn assert_held(body: &Body, chain: &IkChain, seed: u64) {
    let joints = body.character.skeleton().joints();
    for (joint, limit) in &chain.joints[..chain.joints.len() - 1] {
        let index = usize::from(*joint);
        let rest = wide4(joints[index].rest.rotation);
        let q = conjugated(rest, wide4(body.local[index].rotation));
        // Rounding. The twist is badly conditioned if the swing is near half a turn.
        let slack = 1e-5;
        match *limit {
            JointLimit::Free => {}
            JointLimit::Hinge { axis, angle_rad } => {
                let axis = super::bodies::unit(wide(axis));
                let (angle, swing) = parts(q, axis);
                assert!(swing < slack, "{seed}: {swing}");
                let (min, max): (f64, f64) = (angle_rad.0.into(), angle_rad.1.into());
                assert!(
                    angle > min - slack && angle < max + slack,
                    "{seed}: {angle} {min} {max}"
                );
            }
            JointLimit::Cone {
                axis,
                swing_rad,
                twist_rad,
            } => {
                let axis = super::bodies::unit(wide(axis));
                let (twist, swing) = parts(q, axis);
                assert!(swing < f64::from(swing_rad) + slack, "{seed}: {swing}");
                let (min, max): (f64, f64) = (twist_rad.0.into(), twist_rad.1.into());
                let slack = slack / (0.5 * swing).cos();
                assert!(
                    twist > min - slack && twist < max + slack,
                    "{seed}: {twist} {min} {max}"
                );
            }
        }
    }
}

#[test]
fn limits_hold_and_do_not_hinder_more_than_they_must() {
    let (mut reached, mut iterations) = (0, 0);
    for seed in 0..400 {
        let bones = 3 + seed as usize % 6;
        let mut body = body(seed, bones, seed % 2 == 0, RIGID[seed as usize % 3]);
        let rng = &mut Rng::new(!seed);
        let mut chain = job(&body);
        for (_, own) in &mut chain.joints {
            *own = limit(rng);
        }
        // Reachable: where the tip is in a pose that a solution for any target made, so that it
        // keeps the limits.
        let before = body.local.clone();
        let away = narrow(body.reachable(rng));
        solve(&mut body, &chain, &ChainTarget::at(away));
        assert_held(&body, &chain, seed);
        let target = narrow(*body.places().last().unwrap());
        body.local.copy_from_slice(&before);
        body.compose();
        let report = solve(&mut body, &chain, &ChainTarget::at(target));
        body.assert_only_turned(&before);
        assert_held(&body, &chain, seed);
        reached += usize::from(report.reached);
        iterations += u32::from(report.iterations);
    }
    // Measured: 389, in 5.2 iterations on average.
    assert!(reached >= 384, "{reached} of 400");
    assert!(iterations <= 6 * 400, "{iterations}");
}

#[test]
fn the_result_is_no_farther_than_the_pose_was() {
    for seed in 0..200 {
        let mut body = body(seed, 6, true, Scales::UnevenAbove);
        let rng = &mut Rng::new(!seed);
        let mut chain = job(&body);
        for (_, own) in &mut chain.joints {
            *own = limit(rng);
        }
        let target = ChainTarget::at(rng.vector(-3.0, 3.0));
        let first = solve(&mut body, &chain, &target);
        chain.iterations = 3;
        let again = solve(&mut body, &chain, &target);
        assert!(
            again.distance_m <= first.distance_m * (1.0 + 1e-5) + 1e-5,
            "{seed}"
        );
    }
}

#[test]
fn weights_and_repetition() {
    for seed in 0..100 {
        let mut body = body(seed, 5, true, Scales::Uniform);
        let chain = job(&body);
        let target = ChainTarget::at(narrow(body.reachable(&mut Rng::new(!seed))));
        let (before, model) = (body.local.clone(), body.model.clone());
        let none = ChainTarget {
            weight: 0.0,
            ..target
        };
        solve(&mut body, &chain, &none);
        assert_eq!((&body.local, &body.model), (&before, &model));
        solve(&mut body, &chain, &target);
        let full = body.local.clone();
        body.local.copy_from_slice(&before);
        body.compose();
        solve(&mut body, &chain, &target);
        assert_eq!(body.local, full, "not the same bits: {seed}");
        body.local.copy_from_slice(&before);
        body.compose();
        let half = ChainTarget {
            weight: 0.5,
            ..target
        };
        solve(&mut body, &chain, &half);
        for ((now, from), to) in body.local.iter().zip(&before).zip(&full) {
            let (to_from, to_to) = (
                apart(wide4(now.rotation), wide4(from.rotation)),
                apart(wide4(now.rotation), wide4(to.rotation)),
            );
            assert!((to_from - to_to).abs() < 1e-4, "{seed}: {to_from} {to_to}");
        }
    }
}

#[test]
fn a_knee_of_the_chain_bends_forward_only() {
    let character = crate::reference::rig::chain(4);
    let mut body = Body::of(character, vec![0, 1, 2, 3]);
    let knee = JointLimit::Hinge {
        axis: Vec3::X,
        angle_rad: (0.0, 2.6),
    };
    let mut chain = job(&body).clone();
    (chain.joints[1].1, chain.joints[2].1) = (knee, knee);
    let rng = &mut Rng::new(9);
    for case in 0..50 {
        let target = rng.direction() * rng.range(1.0, 2.8);
        let report = solve(&mut body, &chain, &ChainTarget::at(target));
        assert!(report.reached, "{case}: {report:?}");
        assert_held(&body, &chain, case);
    }
    assert!(body.local[1].rotation.dot(Quat::IDENTITY) > 0.0);
}
