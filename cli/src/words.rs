//! Numbers and names as words.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use throng::error::Escaped;

pub(crate) fn plural(count: usize, one: &str) -> String {
    let ending = match (count, one) {
        (1, _) => "",
        (_, "vertex") => return format!("{} vertices", grouped(count as u64)),
        (_, "entry") => return format!("{} entries", grouped(count as u64)),
        _ => "s",
    };
    format!("{} {one}{ending}", grouped(count as u64))
}

/// A number with commas between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn bytes(count: u64) -> String {
    plural(usize::try_from(count).unwrap_or(usize::MAX), "byte")
}

/// A name in quotation marks.
pub(crate) fn title(name: &str) -> String {
    if name.is_empty() {
        "(unnamed)".into()
    } else {
        format!("\"{}\"", Escaped(name))
    }
}

/// A path, as it was given.
pub(crate) fn shown(path: &Path) -> String {
    Escaped(path.display()).to_string()
}

/// JSON in which characters that control a terminal are escaped.
pub(crate) fn json_text(json: &str) -> String {
    let mut text = String::new();
    for char in json.chars() {
        // Line breaks are between values only. Strings have them escaped.
        let is_plain = || Escaped(char).to_string() == char.to_string();
        if matches!(char, ' '..='~' | '\n') || is_plain() {
            text.push(char);
            continue;
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            text.push_str(&format!("\\u{unit:04x}"));
        }
    }
    text
}

/// A time with as few digits as identify it.
///
/// The times of a clip have single precision.
pub(crate) fn seconds(time_s: f64) -> String {
    let single = time_s as f32;
    if f64::from(single) == time_s {
        format!("{single} s")
    } else {
        format!("{time_s} s")
    }
}

/// An error of a pose, in millimetres.
pub(crate) fn millimetres(error_m: f32) -> String {
    format!("{:.4} mm", error_m * 1000.0)
}

/// Writes a warning to the error stream. Failure to write it is ignored.
pub(crate) fn warn(words: &str) {
    let _ = writeln!(io::stderr(), "warning: {}", Escaped(words));
}

/// False if notes are left out.
static NOTES: AtomicBool = AtomicBool::new(true);

/// Leaves out the notes of the whole run.
pub(crate) fn leave_notes_out() {
    NOTES.store(false, Ordering::Relaxed);
}

/// Writes a remark to the error stream. Failure to write it is ignored.
pub(crate) fn note(words: &str) {
    if !NOTES.load(Ordering::Relaxed) {
        return;
    }
    let _ = writeln!(io::stderr(), "note: {}", Escaped(words));
}
