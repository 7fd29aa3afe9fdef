//! Names and text in error messages, which are cut if they are long.

/// Names joined by commas, cut after about 300 characters.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> Box<str> {
    let mut text = String::new();
    for name in names {
        if text.len() + name.len() > 300 {
            text.push_str(", …");
            break;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(name);
    }
    if text.is_empty() {
        "none".into()
    } else {
        text.into()
    }
}

/// The text, cut after 200 characters.
pub(crate) fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
