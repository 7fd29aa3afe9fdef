//! Synchronised clips: one phase for all, with the duration of the blended cycle.

/// Duration of a cycle of synchronised clips, in seconds.
///
/// The clips are blended in step. The duration is the mean of the clips' durations, given as pairs
/// (weight, seconds). Each clip's time is then the phase times its own duration. If the feet of a
/// walk and a run touch the ground at the same phase, they do so together in the blend, and do not
/// slide.
///
/// Pairs whose weight or duration is not positive and finite are ignored. The result is 0 if no
/// pair is left.
pub(crate) fn cycle_duration_s(parts: impl IntoIterator<Item = (f32, f64)>) -> f64 {
    let counts = |value: f64| value > 0.0 && value.is_finite();
    let (mut sum, mut total) = (0.0, 0.0);
    for (weight, duration_s) in parts {
        let weight = f64::from(weight);
        if counts(weight) && counts(duration_s) {
            // A running mean, in which no sum overflows.
            total += weight;
            sum += (duration_s - sum) * (weight / total);
        }
    }
    sum
}
