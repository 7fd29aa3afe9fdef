//! Times of frames.

use serde_json::{Value, json};
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

/// The time of one thing, per frame, and the instances that share it, if there are any.
pub(super) struct Row {
    what: String,
    ms: f64,
    instances: Option<usize>,
}

pub(super) fn row(what: &str, ms: f64, instances: Option<usize>) -> Row {
    Row {
        what: what.into(),
        ms,
        instances,
    }
}

impl Row {
    fn us_per_instance(&self) -> Option<f64> {
        let instances = self.instances?;
        Some(self.ms * 1e3 / instances.max(1) as f64)
    }

    /// The cells of a table.
    pub(super) fn cells(&self) -> Vec<String> {
        let mut row = vec![self.what.clone(), format!("{:.3}", self.ms), "ms".into()];
        if let Some(us) = self.us_per_instance() {
            row.push(format!("{us:.3}"));
            row.push("us per instance".into());
        }
        row
    }

    pub(super) fn json(&self) -> Value {
        json!({ "what": self.what, "ms": self.ms, "us_per_instance": self.us_per_instance() })
    }
}
