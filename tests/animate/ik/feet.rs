//! Feet stand on uneven ground, and the pelvis is as low as the lowest foot needs.

use super::bodies::{Body, FeetReport, Solve, across, added, place, scaled, unit, wide};
use crate::reference::maths::{self, V3, angle, distance};
use crate::reference::poser::Poser;
use crate::reference::rng::Rng;
use throng::Id;
use throng::glam::Vec3;
use throng::ik::{FeetTarget, FootPlacement, GroundHit, TwoBone};

const ANKLE_M: f32 = 0.08;
const LEGS: [[&str; 3]; 2] = [
    ["LeftUpperLeg", "LeftLowerLeg", "LeftFoot"],
    ["RightUpperLeg", "RightLowerLeg", "RightFoot"],
];

/// The mannequin in a clip, and its feet.
fn mannequin(clip: Option<(usize, f64)>) -> (Body, FootPlacement) {
    let character = crate::models::mannequin();
    let joint = |name: &str| character.skeleton().joint(name).unwrap().0;
    let legs = LEGS.map(|names| {
        let [hip, knee, ankle] = names.map(|name| Id::new(joint(name)));
        (TwoBone::new(hip, knee, ankle), ANKLE_M)
    });
    let feet = FootPlacement::new(Id::new(joint("Hips")), legs.to_vec());
    let limb = vec![joint("Hips")];
    let mut poser = Poser::new();
    poser.pose(character, clip).unwrap();
    let local = poser.local().to_vec();
    let mut body = Body::of(character.clone(), limb);
    body.local = local;
    body.compose();
    (body, feet)
}

fn solve(body: &mut Body, feet: &FootPlacement, target: &FeetTarget) -> FeetReport {
    let rig = body.rig.clone();
    feet.solve(&rig, target, body.pose()).unwrap()
}

fn ankles(body: &Body, feet: &FootPlacement) -> Vec<V3> {
    let exact = body.exact();
    let ankles = feet.legs.iter().map(|leg| place(&exact, leg.0.end.0));
    ankles.collect()
}

/// A normal that slopes by `slope`.
fn normal(rng: &mut Rng, slope: f32) -> Vec3 {
    let way = rng.direction();
    let way = Vec3::new(way.x, 0.0, way.z).normalize();
    Vec3::Y * slope.cos() + way * slope.sin()
}

#[test]
fn feet_stand_on_the_ground() {
    for case in 0..200_u64 {
        let rng = &mut Rng::new(case);
        let clip = (!rng.chance(4)).then(|| (rng.below(3), f64::from(rng.range(0.0, 2.0))));
        let (mut body, mut feet) = mannequin(clip);
        feet.max_step_m = 0.25;
        feet.max_drop_m = 0.3;
        feet.max_tilt_rad = 0.5;
        let before = ankles(&body, &feet);
        let soles: Vec<_> = feet
            .legs
            .iter()
            .map(|leg| body.exact()[usize::from(leg.0.end)])
            .collect();
        let pelvis = place(&body.exact(), feet.pelvis.0);
        let hits = [0; 2].map(|_| {
            let slope = rng.range(0.0, 1.0);
            Some(GroundHit {
                point: rng.vector(-0.5, 0.5),
                normal: normal(rng, slope) * rng.range(0.1, 9.0),
            })
        });
        let report = solve(&mut body, &feet, &FeetTarget::on(&hits));
        body.assert_composed();
        let now = ankles(&body, &feet);
        let mut lowest = f64::INFINITY;
        for (leg, hit) in hits.iter().flatten().enumerate() {
            let slope = angle(wide(hit.normal), [0.0, 1.0, 0.0]).min(0.5);
            let ground = f64::from(hit.point.y).clamp(-0.3, 0.25);
            // Level ground at 0 changes nothing. On a slope, the ankle keeps its height across it.
            let rise = ground + f64::from(ANKLE_M) * (1.0 / slope.cos() - 1.0);
            lowest = lowest.min(rise);
            let wanted = added(before[leg], [0.0, rise, 0.0]);
            let off = distance(now[leg], wanted);
            let own_m = report.legs_m[leg].unwrap();
            assert!((f64::from(own_m) - off).abs() < 2e-6, "{case}");
            assert!(off < 2e-5 || !report.reached, "{case} {leg}: {off}");
            if off > 2e-5 {
                // The leg is folded, never too short: the pelvis is as low as the lowest needs.
                assert!(rise > lowest || own_m < 0.02, "{case} {leg}: {off}");
            }
            // The foot turned with the ground: up became the held normal.
            let foot = &body.exact()[usize::from(feet.legs[leg].0.end)];
            let side = across(wide(hit.normal), [0.0, 1.0, 0.0]);
            let held = if maths::length(side) < 1e-6 {
                [0.0, 1.0, 0.0]
            } else {
                added([0.0, slope.cos(), 0.0], scaled(unit(side), slope.sin()))
            };
            // Up, in the foot's own space before.
            let own_up = [0, 1, 2].map(|k| soles[leg][1][k]);
            let image = [0, 1, 2].map(|row| (0..3).map(|k| foot[row][k] * own_up[k]).sum::<f64>());
            assert!(
                angle(image, held) < 1e-4,
                "{case} {leg}: {}",
                angle(image, held)
            );
        }
        let moved = maths::sub(place(&body.exact(), feet.pelvis.0), pelvis);
        assert!(
            distance(moved, [0.0, lowest, 0.0]) < 2e-6,
            "{case}: {moved:?} {lowest}"
        );
        assert!((f64::from(report.pelvis_m) - lowest).abs() < 1e-6);
    }
}

#[test]
fn level_ground_changes_nothing() {
    for case in 0..20 {
        let (mut body, feet) = mannequin(Some((case % 3, 0.1 * case as f64)));
        let before = body.local.clone();
        let ground = [Some(GroundHit::level(Vec3::ZERO)); 2];
        let report = solve(&mut body, &feet, &FeetTarget::on(&ground));
        assert_eq!(report.pelvis_m, 0.0);
        for (now, before) in body.local.iter().zip(&before) {
            assert_eq!(now.translation, before.translation);
            let off = super::bodies::apart(
                super::bodies::wide4(now.rotation),
                super::bodies::wide4(before.rotation),
            );
            // A nearly straight leg: rounding of 1e-7 m is a turn of its root.
            assert!(off < 2e-3, "{off}");
        }
    }
}

#[test]
fn knees_stay_in_front() {
    let (mut body, feet) = mannequin(Some((1, 0.3)));
    let ground = [
        Some(GroundHit::level(Vec3::Y * 0.3)),
        Some(GroundHit::level(Vec3::Y * -0.1)),
    ];
    solve(&mut body, &feet, &FeetTarget::on(&ground));
    let exact = body.exact();
    for leg in &feet.legs {
        let [hip, knee, ankle] =
            [leg.0.start, leg.0.mid, leg.0.end].map(|joint| place(&exact, joint.0));
        let line = unit(maths::sub(ankle, hip));
        let bend = across(maths::sub(knee, hip), line);
        assert!(bend[2] > -1e-3, "{bend:?}");
    }
}

#[test]
fn weights_and_single_feet() {
    let (body, feet) = mannequin(Some((1, 0.4)));
    let slope = normal(&mut Rng::new(1), 0.3);
    let hit = |y: f32| {
        Some(GroundHit {
            point: Vec3::Y * y,
            normal: slope,
        })
    };
    let full = FeetTarget::on(&[hit(-0.2), hit(0.1)]);
    let mut ankle_heights = Vec::new();
    for weight in [0.0, 0.5, 1.0] {
        let (mut other, _) = mannequin(Some((1, 0.4)));
        let report = solve(&mut other, &feet, &FeetTarget { weight, ..full });
        if weight == 0.0 {
            assert_eq!((&other.local, &other.model), (&body.local, &body.model));
            assert!(!report.reached && report.pelvis_m == 0.0);
            assert_eq!(report.legs_m, [None; FootPlacement::MAX_LEGS]);
        }
        ankle_heights.push(
            ankles(&other, &feet)
                .iter()
                .map(|at| at[1])
                .collect::<Vec<_>>(),
        );
    }
    let [none, half, all] = &ankle_heights[..] else {
        panic!("three weights");
    };
    for ((none, half), all) in none.iter().zip(half).zip(all) {
        assert!(
            (half - 0.5 * (none + all)).abs() < 2e-5,
            "{none} {half} {all}"
        );
    }
    // One foot on a step up: the other leg is left alone, and moves with the pelvis.
    let (mut other, _) = mannequin(Some((1, 0.4)));
    let report = solve(&mut other, &feet, &FeetTarget::on(&[None, hit(-0.1)]));
    let left = usize::from(feet.legs[0].0.start);
    assert_eq!(other.local[left], body.local[left]);
    assert!(report.reached && report.legs_m[0].is_none() && report.legs_m[1].is_some());
    assert!(report.pelvis_m < -0.09);
}
