//! The figures of a bench, times among them: printed as they come, or all at once as JSON.

use crate::failure::Failure;
use crate::report;
use crate::table::table;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Instant;

/// The output of a bench.
pub(super) struct Figures<'a> {
    out: &'a mut dyn Write,
    /// The document, unless text is printed.
    document: Option<Value>,
}

impl<'a> Figures<'a> {
    /// Prints text, or a document that starts with these facts.
    pub(super) fn new(out: &'a mut dyn Write, document: Option<Value>) -> Self {
        Self { out, document }
    }

    /// A fact, as text for people and as a value for programs.
    pub(super) fn fact(&mut self, key: &str, value: Value, words: &str) -> Result<(), Failure> {
        match &mut self.document {
            Some(document) => document[key] = value,
            None => writeln!(self.out, "{words}")?,
        }
        Ok(())
    }

    pub(super) fn table(&mut self, name: &str, rows: &[Row]) -> Result<(), Failure> {
        if let Some(tables) = self.document.as_mut().map(|it| &mut it["tables"]) {
            let rows: Value = rows.iter().map(Row::json).collect();
            if let Some(tables) = tables.as_array_mut() {
                tables.push(serde_json::json!({ "name": name, "rows": rows }));
            }
            return Ok(());
        }
        let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
        write!(self.out, "{}", table(name, &cells))?;
        // The next part takes long.
        Ok(self.out.flush()?)
    }

    /// Prints the document.
    pub(super) fn end(self) -> Result<(), Failure> {
        match &self.document {
            Some(document) => report::print(document, self.out),
            None => Ok(()),
        }
    }
}

/// Milliseconds since then.
pub(super) fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The median. 0 if there are none.
pub(super) fn median(mut times_ms: Vec<f64>) -> f64 {
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
