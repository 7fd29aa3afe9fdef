//! The phase of clips in step: against its definition, exact arithmetic, and the same clock cut in pieces.

mod reference;

use reference::rng::Rng;
use throng::pose::{Ease, SyncAnchor, cycle_duration_s};

/// The shorter way round between two phases.
fn apart(a: f64, b: f64) -> f64 {
    let off = (a - b).abs();
    off.min(1.0 - off)
}

fn anchor(rng: &mut Rng) -> SyncAnchor {
    SyncAnchor {
        phase: rng.range(0.0, 1.0).into(),
        time_s: rng.range(-50.0, 50.0).into(),
        from_hz: rng.range(-3.0, 3.0).into(),
        to_hz: rng.range(-3.0, 3.0).into(),
        over_s: if rng.chance(4) {
            0.0
        } else {
            rng.range(0.05, 3.0).into()
        },
        ease: [Ease::Linear, Ease::Smooth][rng.below(2)],
    }
}

#[test]
fn the_phase_is_the_integral_of_the_rate() {
    let mut rng = Rng::new(1);
    for _ in 0..300 {
        let anchor = anchor(&mut rng);
        let end = f64::from(rng.range(-4.0, 6.0));
        // By Gauss's rule with two points, which is exact for cubics; pieces do not straddle the change's ends.
        let mut cuts = vec![0.0, end];
        cuts.extend([anchor.over_s].into_iter().filter(|cut| *cut < end));
        cuts.sort_by(f64::total_cmp);
        let rate = |since: f64| {
            let u = if anchor.over_s > 0.0 {
                (since / anchor.over_s).clamp(0.0, 1.0)
            } else {
                f64::from(since >= 0.0)
            };
            let part = match anchor.ease {
                Ease::Linear => u,
                Ease::Smooth => u * u * (3.0 - 2.0 * u),
            };
            anchor.from_hz + (anchor.to_hz - anchor.from_hz) * part
        };
        let mut cycles = 0.0;
        for pair in cuts.windows(2) {
            let (middle, half) = ((pair[0] + pair[1]) / 2.0, (pair[1] - pair[0]) / 2.0);
            let node = half / 3.0_f64.sqrt();
            cycles += half * (rate(middle - node) + rate(middle + node));
        }
        let want = anchor.phase + if end < 0.0 { -cycles } else { cycles };
        let got = anchor.phase(anchor.time_s + end);
        assert!((0.0..1.0).contains(&got));
        assert!(
            apart(got, want.rem_euclid(1.0)) < 1e-12,
            "{anchor:?} after {end}"
        );
        let off = anchor.rate_hz(anchor.time_s + end) - rate(end);
        assert!(off.abs() < 1e-12, "{anchor:?} after {end}");
    }
}

#[test]
fn a_new_anchor_changes_neither_phase_nor_rate() {
    let mut rng = Rng::new(2);
    for _ in 0..3000 {
        let anchor = anchor(&mut rng);
        let now = f64::from(rng.range(-60.0, 60.0));
        let rate = f64::from(rng.range(-3.0, 3.0));
        let over = anchor.re_anchored_over(now, rate, 0.5, Ease::Smooth);
        assert!(apart(over.phase(now), anchor.phase(now)) < 1e-15);
        assert!((over.rate_hz(now) - anchor.rate_hz(now)).abs() < 1e-12);
        assert_eq!(over.rate_hz(now + 0.6), rate);
        let at_once = anchor.re_anchored(now, rate);
        assert!(apart(at_once.phase(now), anchor.phase(now)) < 1e-15);
        // With the rate that there is, a new anchor changes nothing at all later.
        let steady = SyncAnchor::new(0.25, 1.0, anchor.to_hz);
        let same = steady.re_anchored(now, anchor.to_hz);
        assert!(apart(same.phase(now + 77.0), steady.phase(now + 77.0)) < 1e-12);
    }
}

#[test]
fn the_phase_is_as_exact_after_thirty_days_as_at_the_start() {
    let mut rng = Rng::new(3);
    let mut worst = [0.0_f64; 3];
    for (age, since) in [0_i64, 86_400, 30 * 86_400].into_iter().enumerate() {
        for _ in 0..50_000 {
            // Times in 2⁻²⁰ s and rates in 2⁻²⁰ Hz: the cycles are a whole number of 2⁻⁴⁰.
            let now = (i128::from(since) << 20) + rng.below(1 << 24) as i128;
            let rate = rng.below(8 << 20) as i128 - (4 << 20);
            let phase = rng.below(1 << 20) as i128;
            let want = ((phase << 20) + now * rate).rem_euclid(1 << 40);
            let seconds = |value: i128| value as f64 / f64::from(1 << 20);
            let anchor = SyncAnchor::new(seconds(phase), 0.0, seconds(rate));
            let off = apart(
                anchor.phase(seconds(now)),
                want as f64 / (1_u64 << 40) as f64,
            );
            worst[age] = worst[age].max(off);
        }
    }
    println!("off by at most {worst:?} of a cycle at 0 s, 1 day and 30 days");
    assert!(worst.iter().all(|off| *off <= 2e-9), "{worst:?}");
}

#[test]
fn a_cycle_lasts_the_mean_of_the_durations() {
    let mut rng = Rng::new(4);
    for _ in 0..1000 {
        let parts: Vec<(f32, f64)> = (0..1 + rng.below(6))
            .map(|_| (rng.range(0.01, 2.0), rng.range(0.1, 5.0).into()))
            .collect();
        let sum: f64 = parts.iter().map(|(w, d)| f64::from(*w) * d).sum();
        let total: f64 = parts.iter().map(|(w, _)| f64::from(*w)).sum();
        assert!((cycle_duration_s(parts.iter().copied()) - sum / total).abs() < 1e-13);
        let mut odd = parts.clone();
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            odd.insert(rng.below(odd.len()), (1.0, bad));
            odd.insert(rng.below(odd.len()), (bad as f32, 1.0));
        }
        assert!((cycle_duration_s(odd) - sum / total).abs() < 1e-13);
    }
    assert_eq!(cycle_duration_s([]), 0.0);
    assert_eq!(cycle_duration_s([(f32::NAN, 1.0)]), 0.0);
    let large = [(f32::MAX, f64::MAX), (f32::MAX, f64::MAX)];
    assert_eq!(cycle_duration_s(large), f64::MAX);
}

#[test]
fn a_change_that_takes_for_ever_changes_nothing() {
    let steady = SyncAnchor::new(0.25, 1.0, 0.5);
    let for_ever = steady.re_anchored_over(1.0, 9.0, f64::INFINITY, Ease::Smooth);
    for now in [0.0, 1.0, 7.25, 1e6] {
        assert_eq!(for_ever.phase(now), steady.phase(now));
        assert_eq!(for_ever.rate_hz(now), 0.5);
    }
}

#[test]
fn any_values_give_a_phase() {
    let odd = [
        0.0,
        -0.0,
        1.0,
        -1e-300,
        1e300,
        f64::MAX,
        f64::MIN,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let mut rng = Rng::new(5);
    for _ in 0..20_000 {
        let mut any = || odd[rng.below(odd.len())];
        let anchor = SyncAnchor {
            phase: any(),
            time_s: any(),
            from_hz: any(),
            to_hz: any(),
            over_s: any(),
            ease: Ease::Smooth,
        };
        let now = any();
        let phase = anchor.phase(now);
        assert!((0.0..1.0).contains(&phase), "{anchor:?} at {now}: {phase}");
        let next = anchor.re_anchored_over(now, 1.0, 1.0, Ease::Linear);
        assert!((0.0..1.0).contains(&next.phase), "{next:?}");
    }
}
