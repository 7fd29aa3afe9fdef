//! Names of files as text that is safe to print.

use core::fmt::{self, Display, Formatter, Write};

/// Text from a file, with characters escaped that control the output.
///
/// These are control characters (line breaks, ANSI escape sequences), characters that change the
/// direction of text, and characters that are invisible. They are written as `\n` or `\u{202e}`.
/// All others stay as they are, also quotation marks and backslashes.
///
/// The errors and repairs of this crate already print names like this. Use it for names that a
/// program prints itself:
///
/// ```
/// use throng::error::Escaped;
///
/// let name = "Walk\u{1b}[2J\nRun";
/// assert_eq!(format!("clip \"{}\"", Escaped(name)), r#"clip "Walk\u{1b}[2J\nRun""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Escaped<T>(pub T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(Escaper(f), "{}", self.0)
    }
}

struct Escaper<'a, 'b>(&'a mut Formatter<'b>);

impl Write for Escaper<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((at, found)) = rest.char_indices().find(|(_, char)| is_escaped(*char)) {
            self.0.write_str(&rest[..at])?;
            write!(self.0, "{}", found.escape_default())?;
            rest = &rest[at + found.len_utf8()..];
        }
        self.0.write_str(rest)
    }
}

/// True for a character that must not be printed as it is.
///
/// The joiners U+200C and U+200D are printed: several scripts and many emoji need them.
fn is_escaped(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// True if [`Escaped`] changes the text.
pub(crate) fn has_escaped(text: &str) -> bool {
    text.chars().any(is_escaped)
}
