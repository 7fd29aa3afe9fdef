//! Two bones: they reach, bend where they shall, and soften, as plain `f64` forward kinematics sees
//! it.

use super::bodies::{
    Body, RIGID, Scales, Solve, TwoBoneReport, about, across, added, apart, body, narrow, scaled,
    unit, wide, wide4,
};
use crate::reference::maths::{self, angle, distance};
use crate::reference::rng::Rng;
use throng::Id;
use throng::glam::{Mat3, Quat, Vec3};
use throng::ik::{Pole, TwoBone, TwoBoneTarget};

fn job(body: &Body) -> TwoBone {
    TwoBone::new(
        Id::new(body.limb[0]),
        Id::new(body.limb[1]),
        Id::new(body.limb[2]),
    )
}

fn solve(body: &mut Body, job: &TwoBone, target: &TwoBoneTarget) -> TwoBoneReport {
    let rig = body.rig.clone();
    job.solve(&rig, target, body.pose()).unwrap()
}

/// The largest allowed miss of the tip, in limb lengths: measured 8e-7 over these seeds.
const NEAR: f64 = 4e-6;

#[test]
fn reaches_what_can_be_reached() {
    for seed in 0..600 {
        let scales = RIGID[seed as usize % 3];
        let mut body = body(seed, 2, seed % 2 == 0, scales);
        let mut rng = Rng::new(!seed);
        let target = body.reachable(&mut rng);
        let limb = body.limb_m();
        let (before, job) = (body.local.clone(), job(&body));
        let pole = match rng.below(3) {
            0 => Pole::Animated,
            1 => Pole::Direction(rng.direction() * rng.range(0.01, 100.0)),
            _ => Pole::Point(rng.vector(-2.0, 2.0)),
        };
        let target = TwoBoneTarget {
            pole,
            twist_rad: rng.range(-4.0, 4.0),
            ..TwoBoneTarget::at(narrow(target))
        };
        let report = solve(&mut body, &job, &target);
        body.assert_only_turned(&before);
        let left = distance(body.places()[2], wide(target.position));
        assert!(left < NEAR * limb, "{seed} {scales:?}: {left} of {limb}");
        assert!(report.reached, "{seed}");
        assert!((f64::from(report.distance_m) - left).abs() < NEAR * limb);
    }
}

#[test]
fn uneven_scales_in_the_limb_are_solved_by_repetition() {
    let mut reached = 0;
    for seed in 0..300 {
        let mut body = body(seed, 2, true, Scales::Uneven);
        let target = body.reachable(&mut Rng::new(!seed));
        let (before, job) = (body.local.clone(), job(&body));
        let report = solve(&mut body, &job, &TwoBoneTarget::at(narrow(target)));
        body.assert_only_turned(&before);
        let left = distance(body.places()[2], target);
        assert!((f64::from(report.distance_m) - left).abs() < 1e-5);
        // Some cannot: as the bones change their lengths, what can be reached depends on where the
        // knee is.
        assert!(left < 0.25 * body.limb_m(), "{seed}: {left}");
        reached += usize::from(report.reached);
    }
    // Measured: 273.
    assert!(reached >= 260, "{reached} of 300");
}

#[test]
fn bends_towards_the_pole() {
    for seed in 0..300 {
        // Flipped, too. All scales have one size, so that a limb has the same geometry as in
        // character space.
        let mut body = body(seed, 2, true, Scales::Uniform);
        let mut rng = Rng::new(!seed);
        let target = body.reachable(&mut rng);
        let start = body.places()[0];
        let line = unit(maths::sub(target, start));
        let pole = rng.direction();
        let point = rng.chance(2);
        let twist = if rng.chance(2) {
            rng.range(-3.0, 3.0)
        } else {
            0.0
        };
        let way = if point {
            maths::sub(wide(pole), start)
        } else {
            wide(pole)
        };
        if maths::length(across(way, line)) < 0.05 {
            continue;
        }
        let job = job(&body);
        let target = TwoBoneTarget {
            pole: if point {
                Pole::Point(pole)
            } else {
                Pole::Direction(pole)
            },
            twist_rad: twist,
            ..TwoBoneTarget::at(narrow(target))
        };
        solve(&mut body, &job, &target);
        let bend = across(maths::sub(body.places()[1], start), line);
        if maths::length(bend) < 1e-3 {
            continue;
        }
        let wanted = about(across(way, line), line, twist.into());
        let off = angle(bend, wanted);
        // 1e-6 of rounding over the bend, which may be 1e-3 of the limb.
        assert!(off < 2e-6 / maths::length(bend) + 1e-5, "{seed}: {off}");
    }
}

#[test]
fn twist_is_right_handed_in_mirrored_spaces_too() {
    for seed in 0..200 {
        let mut body = body(seed, 2, true, Scales::UnevenAbove);
        let mut rng = Rng::new(!seed);
        let target = narrow(body.reachable(&mut rng));
        let job = job(&body);
        let before = body.local.clone();
        let start = body.places()[0];
        let line = unit(maths::sub(wide(target), start));
        let mut bend = |twist_rad: f32| {
            body.local.copy_from_slice(&before);
            body.compose();
            let target = TwoBoneTarget {
                twist_rad,
                ..TwoBoneTarget::at(target)
            };
            solve(&mut body, &job, &target);
            across(maths::sub(body.places()[1], start), line)
        };
        let (still, turned) = (bend(0.0), bend(0.2));
        if maths::length(still) < 1e-2 {
            continue;
        }
        let sense = maths::dot(maths::cross(still, turned), line);
        assert!(sense > 0.0, "{seed}");
    }
}

#[test]
fn the_pose_itself_is_its_own_solution() {
    for seed in 0..200 {
        let mut body = body(seed, 2, true, RIGID[seed as usize % 3]);
        let target = narrow(body.places()[2]);
        let (before, job) = (body.local.clone(), job(&body));
        let places = body.places();
        let height = maths::length(across(
            maths::sub(places[1], places[0]),
            unit(maths::sub(places[2], places[0])),
        ));
        solve(&mut body, &job, &TwoBoneTarget::at(target));
        for (now, before) in body.local.iter().zip(&before) {
            let off = apart(wide4(now.rotation), wide4(before.rotation));
            assert!(off < 3e-6 / height.min(1.0) + 2e-6, "{seed}: {off}");
        }
    }
}

#[test]
fn out_of_reach_it_is_straight_or_folded() {
    for seed in 0..200 {
        let mut body = body(seed, 2, true, Scales::Uniform);
        let mut rng = Rng::new(!seed);
        let places = body.places();
        let [upper, lower] = [0, 1].map(|at| distance(places[at], places[at + 1]));
        let way = wide(rng.direction());
        let far = rng.chance(2) || (upper - lower).abs() < 0.01;
        let (at, stands) = if far {
            let far = [1.001, 2.0, 1e3, 1e15][rng.below(4)];
            (far * (upper + lower), upper + lower)
        } else {
            (0.9 * (upper - lower).abs(), (upper - lower).abs())
        };
        let job = job(&body);
        let target = narrow(added(places[0], scaled(way, at)));
        let report = solve(&mut body, &job, &TwoBoneTarget::at(target));
        assert!(!report.reached, "{seed}");
        let end = added(places[0], scaled(way, stands));
        let off = distance(body.places()[2], end) / (upper + lower);
        assert!(off < 2e-5, "{seed} {far}: {off}");
    }
}

#[test]
fn softening_is_smooth_and_never_quite_straight() {
    let mut body = body(7, 2, false, Scales::One);
    let places = body.places();
    let total = body.limb_m();
    let least = (distance(places[0], places[1]) - distance(places[1], places[2])).abs();
    let before = body.local.clone();
    let way = wide(Rng::new(3).direction());
    for soften in [0.02_f32, 0.1, 0.5, 1.0] {
        let job = TwoBone {
            soften,
            ..job(&body)
        };
        let (soft, mut last) = (total * f64::from(soften), 0.0);
        for step in 1..400 {
            let asked = total * f64::from(step) / 200.0;
            body.local.copy_from_slice(&before);
            body.compose();
            let target = narrow(added(places[0], scaled(way, asked)));
            solve(&mut body, &job, &TwoBoneTarget::at(target));
            let got = distance(body.places()[2], places[0]);
            let hard = total - soft;
            let wanted = if asked <= hard {
                asked
            } else {
                total - soft * ((hard - asked) / soft).exp()
            };
            let wanted = wanted.clamp(least, total);
            assert!(
                (got - wanted).abs() < 2e-6 * total,
                "{soften} {step}: {got} {wanted}"
            );
            // Rising, and nowhere faster than the target moves.
            let rounding = 4e-6 * total;
            assert!(got > last - rounding);
            assert!(step == 1 || got - last < total / 200.0 + rounding || got <= least + rounding);
            last = got;
        }
        assert!(last < total + 1e-6);
    }
}

#[test]
fn weights_blend_the_rotations() {
    for seed in 0..100 {
        let mut body = body(seed, 2, true, RIGID[seed as usize % 3]);
        let mut rng = Rng::new(!seed);
        let target = TwoBoneTarget {
            rotation: Some(rng.rotation()),
            ..TwoBoneTarget::at(narrow(body.reachable(&mut rng)))
        };
        let (before, model, job) = (body.local.clone(), body.model.clone(), job(&body));
        let weighted = |weight| TwoBoneTarget { weight, ..target };
        solve(&mut body, &job, &weighted(0.0));
        assert_eq!(body.local, before);
        assert_eq!(body.model, model);
        // Without a rotation of its own, the end keeps its bits.
        let free = TwoBoneTarget {
            rotation: None,
            ..weighted(0.3)
        };
        solve(&mut body, &job, &free);
        let end = usize::from(body.limb[2]);
        assert_eq!(body.local[end], before[end]);
        body.local.copy_from_slice(&before);
        body.compose();
        solve(&mut body, &job, &target);
        let full = body.local.clone();
        for weight in [0.5_f32, 0.1, 0.97] {
            body.local.copy_from_slice(&before);
            body.compose();
            solve(&mut body, &job, &weighted(weight));
            body.assert_only_turned(&before);
            for ((now, from), to) in body.local.iter().zip(&before).zip(&full) {
                let (from, to) = (wide4(from.rotation), wide4(to.rotation));
                let dot: f64 = (0..4).map(|k| from[k] * to[k]).sum();
                let w = f64::from(weight);
                let mixed = [0, 1, 2, 3].map(|k| from[k] * (1.0 - w) + dot.signum() * to[k] * w);
                let length = mixed.iter().map(|v| v * v).sum::<f64>().sqrt();
                assert!(
                    apart(wide4(now.rotation), mixed) < 1e-6 / length + 1e-6,
                    "{seed}"
                );
            }
        }
    }
}

#[test]
fn the_end_is_turned_as_asked() {
    for seed in 0..200 {
        let mut body = body(seed, 2, true, Scales::Uniform);
        let mut rng = Rng::new(!seed);
        let rotation = rng.rotation();
        let target = TwoBoneTarget {
            rotation: Some(rotation),
            ..TwoBoneTarget::at(narrow(body.reachable(&mut rng)))
        };
        let job = job(&body);
        solve(&mut body, &job, &target);
        let end = &body.exact()[usize::from(body.limb[2])];
        let wanted = Mat3::from_quat(rotation);
        for (column, wanted) in [wanted.x_axis, wanted.y_axis, wanted.z_axis]
            .into_iter()
            .enumerate()
        {
            let axis = [0, 1, 2].map(|row| end[row][column]);
            assert!(angle(axis, wide(wanted)) < 5e-6, "{seed}");
        }
    }
}

#[test]
fn a_straight_limb_bends_about_its_hinge() {
    let mut rng = Rng::new(5);
    for case in 0..50 {
        let character = crate::reference::rig::chain(4);
        let mut body = Body::of(character, vec![0, 1, 2]);
        let hinge = rng.rotation() * Vec3::X;
        let hinge = (hinge - Vec3::Y * hinge.y).normalize();
        let job = TwoBone {
            hinge: Some(hinge),
            ..job(&body)
        };
        // Nearer, straight up: the line is the limb's own.
        let near = rng.range(0.2, 1.9);
        let report = solve(&mut body, &job, &TwoBoneTarget::at(Vec3::Y * near));
        assert!(report.reached, "{case}");
        // The knee's turn is about the hinge, the positive way.
        let knee = body.local[1].rotation;
        let (axis, angle) = knee.to_axis_angle();
        let (axis, angle) = if angle > std::f32::consts::PI {
            (-axis, std::f32::consts::TAU - angle)
        } else {
            (axis, angle)
        };
        let inside = 2.0 * (f64::from(near) / 2.0).acos();
        assert!(
            (f64::from(angle) - inside).abs() < 1e-5,
            "{case}: {angle} {inside}"
        );
        assert!(axis.distance(hinge) < 1e-5, "{case}: {axis} {hinge}");
        // The other way round it is set right again.
        body.local[0].rotation = Quat::IDENTITY;
        body.local[1].rotation = Quat::from_axis_angle(hinge, -0.5);
        body.compose();
        solve(&mut body, &job, &TwoBoneTarget::at(Vec3::Y * near));
        let bent = hinge.dot(body.local[1].rotation.xyz()) * body.local[1].rotation.w;
        assert!(bent > 0.0, "{case}");
    }
}

#[test]
fn a_target_on_the_start_keeps_the_direction_of_the_end() {
    let mut seen = 0;
    for seed in 0..300 {
        let body = body(seed, 2, true, RIGID[seed as usize % 2]);
        let job = job(&body);
        let [start, mid, end] = body.places()[..] else {
            panic!("three joints");
        };
        let limb = body.limb_m();
        let (upper, lower) = (distance(start, mid), distance(mid, end));
        let folded = (upper - lower).abs();
        let animated = maths::sub(end, start);
        if folded < 0.05 * limb || maths::length(animated) < 0.05 * limb {
            continue;
        }
        seen += 1;
        let mut first = None;
        let rng = &mut Rng::new(!seed);
        // Rounding of where the start is changes nothing.
        for nudge in [0.0, 1e-8, 1e-8, 1e-8, 1e-8] {
            let mut body = Body {
                character: body.character.clone(),
                rig: body.rig.clone(),
                local: body.local.clone(),
                model: body.model.clone(),
                limb: body.limb.clone(),
            };
            let joint = body.model[usize::from(job.start)].translation;
            let position = Vec3::from(joint) + rng.direction() * nudge;
            let report = solve(&mut body, &job, &TwoBoneTarget::at(position));
            let places = body.places();
            let to_end = maths::sub(places[2], places[0]);
            let off = (maths::length(to_end) - folded).abs();
            assert!(off < NEAR * limb, "{seed}: {off}");
            // The direction of a short line is rounded by more: by limb / folded, at most 20.
            let turned = angle(to_end, animated);
            assert!(turned < 20.0 * NEAR, "{seed}: {turned}");
            assert!(!report.reached);
            let rotations = [job.start, job.mid].map(|j| body.local[usize::from(j)].rotation);
            let [one, two] = *first.get_or_insert(rotations);
            let [start, mid] = rotations;
            let apart = apart(wide4(one), wide4(start)).max(apart(wide4(two), wide4(mid)));
            assert!(apart < 1e-5, "{seed}: {apart}");
        }
    }
    assert!(seen > 100, "{seen}");
}
