//! Tables of text.

use crate::words::plural;
use std::fmt::Write as _;

/// The widest column, in characters. Wider cells stand out of their column.
///
/// Without a limit, one long name would pad every row of its table.
const WIDEST: usize = 120;

/// Formats rows of cells, each column as wide as its widest cell up to [`WIDEST`].
///
/// Columns of numbers are right-aligned, with their unit close by in the next column.
pub(crate) fn table(heading: &str, rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let is_number = |cell: &String| cell.replace(',', "").parse::<f64>().is_ok();
    let layout = |column: usize| {
        let cells = || rows.iter().filter_map(|row| row.get(column));
        let width = cells().map(|cell| cell.chars().count()).max().unwrap_or(0);
        (width.min(WIDEST), cells().all(is_number))
    };
    let layouts: Vec<_> = (0..columns).map(layout).collect();
    let mut text = format!("\n{heading}\n");
    for row in rows {
        let mut line = String::from(" ");
        for (column, (cell, (width, number))) in row.iter().zip(&layouts).enumerate() {
            let unit = column > 1 && layouts[column - 1].1;
            let gap = if unit { "" } else { " " };
            // Not `{cell:<width$}`: Rust formats no wider than 65,535, and panics beyond.
            let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (before, after) = match number {
                true => (&*padding, ""),
                false => ("", &*padding),
            };
            // Writing to a string cannot fail.
            let _ = write!(line, "{gap}{before}{cell}{after} ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A table with the number of its rows, or a line that says that there are none.
pub(crate) fn section(name: &str, rows: &[Vec<String>]) -> String {
    match rows.len() {
        0 => format!("\n{name}: none\n"),
        count => table(&format!("{name} ({count})"), rows),
    }
}

/// A count and its unit, as two cells.
pub(crate) fn counted(count: usize, one: &str) -> [String; 2] {
    let text = plural(count, one);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    [number.into(), unit.into()]
}
