//! Names that are nearly another one, for errors about misspelt names.

use crate::order;

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
