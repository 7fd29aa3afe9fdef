//! Compares a table with an earlier one.

use crate::{Figures, Outcome, Row, Table, report};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Growth above this is too much.
const MOST: f64 = 1.03;

/// Compares with the JSON of an earlier run, and says what has grown.
///
/// Another version of the driver has other figures, so nothing is compared then.
pub(crate) fn with_file(table: &Table, file: &str) -> Outcome<ExitCode> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let before = report::read(&text)?;
    if before.driver != table.driver {
        println!(
            "isa: NOT COMPARED: {file} is from {}, and this is {}",
            before.driver, table.driver
        );
        return Ok(ExitCode::SUCCESS);
    }
    let found = differences(&before.rows, &table.rows);
    for line in &found {
        println!("isa: {line}");
    }
    if found.is_empty() {
        println!("isa: {} rows, none has grown", table.rows.len());
        return Ok(ExitCode::SUCCESS);
    }
    println!("isa: if that is right, run scripts/isa --json >{file}");
    Ok(ExitCode::FAILURE)
}

fn differences(before: &[Row], after: &[Row]) -> Vec<String> {
    let named = |rows: &[Row]| -> BTreeMap<String, Figures> {
        rows.iter().map(|row| (row.name(), row.figures)).collect()
    };
    let (old, new) = (named(before), named(after));
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    let mut lines: Vec<String> = gone.map(|name| format!("{name}: is gone")).collect();
    for (name, now) in &new {
        match old.get(name) {
            None => lines.push(format!("{name}: is new")),
            Some(then) => lines.extend(grown(then, now).map(|what| format!("{name}: {what}"))),
        }
    }
    lines
}

/// Describes the figures that have grown too much.
fn grown(then: &Figures, now: &Figures) -> impl Iterator<Item = String> {
    let figures = [
        ("instructions", then.instructions, now.instructions),
        (
            "inverse throughput",
            then.inverse_throughput,
            now.inverse_throughput,
        ),
        ("registers", then.vgprs, now.vgprs),
        ("spilled registers", then.spills, now.spills),
    ];
    let grown = figures
        .into_iter()
        .filter(|(_, then, now)| *now as f64 > *then as f64 * MOST);
    grown.map(|(what, then, now)| format!("{what} grew from {then} to {now}"))
}
