//! Names and text in error messages: cut, escaped, and the known ones that are nearest.

use crate::order;
use core::fmt::{self, Display, Formatter, Write};

/// [`listed`], but names that are nearly `asked` come first.
pub(crate) fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Box<str> {
    listed(nearest_first(asked, names.collect()).into_iter())
}

/// [`nearest`], which says how to select those without a name, by [`Id`](crate::Id).
pub(crate) fn nearest_or_id<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Box<str> {
    let names: Vec<&str> = names.collect();
    let unnamed = names.iter().position(|name| name.is_empty());
    let known = nearest(asked, names.into_iter());
    match unnamed.filter(|_| known.ends_with("without a name")) {
        Some(first) => format!("{known} (select them by id, such as Id::new({first}))").into(),
        None => known,
    }
}

/// Names joined by commas, cut after about 300 characters. Empty names are counted at the end.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> Box<str> {
    let (mut text, mut unnamed) = (String::new(), 0_usize);
    for name in names {
        if name.is_empty() {
            unnamed += 1;
            continue;
        }
        if text.len() + name.len() > 300 {
            text.push_str(", …");
            return text.into();
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(name);
    }
    match (text.is_empty(), unnamed) {
        (true, 0) => "none".into(),
        (false, 0) => text.into(),
        (true, _) => format!("{unnamed} without a name").into(),
        (false, _) => format!("{text}, {unnamed} without a name").into(),
    }
}

/// The text, cut after 200 characters.
pub(crate) fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

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

/// The longest name that is compared, in characters. Longer ones are not near to any other.
const LONGEST: usize = 64;
/// The most names that are compared.
const MOST: usize = 10_000;

/// Difference of a name from the one that was asked for. `None` if they have little in common.
///
/// Less is nearer. Case, and what is neither a letter nor a number, count least; then names that
/// begin with or contain the other one, and names with few other letters.
fn difference(asked: &[char], name: &str) -> Option<usize> {
    let name = folded(name)?;
    if asked.is_empty() || name.is_empty() {
        return None;
    }
    if name == asked {
        return Some(0);
    }
    let most = asked.len().max(name.len()).div_ceil(3);
    let edits = edits(asked, &name).filter(|edits| *edits <= most);
    let (short, long) = match asked.len() < name.len() {
        true => (asked, &*name),
        false => (&*name, asked),
    };
    // One or two letters are in most names.
    let holds = short.len() > 2 && long.windows(short.len()).any(|part| part == short);
    // Behind all names with a few other letters.
    let by_part = holds.then_some(LONGEST + long.len() - short.len());
    edits.into_iter().chain(by_part).min()
}

/// The letters and numbers of a name in lower case. `None` if there are too many.
fn folded(name: &str) -> Option<Vec<char>> {
    let letters = name.chars().filter(|char| char.is_alphanumeric());
    let folded: Vec<char> = letters
        .flat_map(char::to_lowercase)
        .take(LONGEST + 1)
        .collect();
    (folded.len() <= LONGEST).then_some(folded)
}

/// The least number of letters to add, drop, replace or swap with their neighbour.
fn edits(a: &[char], b: &[char]) -> Option<usize> {
    let mut before = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, from) in a.iter().enumerate() {
        let mut next = Vec::with_capacity(b.len() + 1);
        next.push(row + 1);
        for (column, to) in b.iter().enumerate() {
            let replaced = above[column] + usize::from(from != to);
            let mut least = replaced.min(above[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && *from == b[column - 1] && a[row - 1] == *to {
                let swapped: Option<&usize> = before.get(column - 1);
                least = swapped.map_or(least, |swapped| least.min(swapped + 1));
            }
            next.push(least);
        }
        before = std::mem::replace(&mut above, next);
    }
    above.last().copied()
}

/// The names, those first that are nearest to `asked`. The others keep their order.
pub(super) fn nearest_first<'a>(asked: &str, names: Vec<&'a str>) -> Vec<&'a str> {
    let Some(asked) = folded(asked) else {
        return names;
    };
    let mut near: Vec<(usize, usize)> = Vec::new();
    for (index, name) in names.iter().take(MOST).enumerate() {
        near.extend(difference(&asked, name).map(|difference| (difference, index)));
    }
    order::sort(&mut near);
    let mut is_near = vec![false; names.len()];
    for (_, index) in &near {
        is_near[*index] = true;
    }
    let others = (0..names.len()).filter(|index| !is_near[*index]);
    let order = near.iter().map(|(_, index)| *index).chain(others);
    order.map(|index| names[index]).collect()
}
