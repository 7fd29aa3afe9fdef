//! Times of frames.

use std::time::Instant;

/// Milliseconds since then.
pub(super) fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The median. 0 if there are none.
pub(super) fn of(mut times_ms: Vec<f64>) -> f64 {
    times_ms.sort_by(f64::total_cmp);
    times_ms.get(times_ms.len() / 2).copied().unwrap_or(0.0)
}

/// A row of a table: what takes the time, per frame, and per instance if there are any.
pub(super) fn row(what: &str, ms: f64, instances: Option<usize>) -> Vec<String> {
    let mut row = vec![what.into(), format!("{ms:.3}"), "ms".into()];
    if let Some(instances) = instances {
        row.push(format!("{:.3}", ms * 1e3 / instances.max(1) as f64));
        row.push("us per instance".into());
    }
    row
}
