//! The figures of a bench: printed as they come, or all at once as JSON.

use super::median::Row;
use crate::failure::Failure;
use crate::report;
use crate::table::table;
use serde_json::Value;
use std::io::Write;

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
