//! Names and text in error messages, which are cut if they are long.

use super::nearest::nearest_first;

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
