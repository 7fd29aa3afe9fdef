//! The duration of a cycle of clips that are blended in step.

use crate::reference::rng::Rng;
use throng::motion::cycle_duration_s;

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
