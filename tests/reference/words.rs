//! Messages against patterns: errors, repairs and other texts.

use std::fmt::Display;

/// Whether a text is as a pattern, in which `…` matches any text.
fn fits(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('…') else {
        return text == pattern;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let (middle, end) = rest.rsplit_once('…').unwrap_or(("", rest));
    for part in middle.split('…') {
        match text.split_once(part) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(end)
}

/// Checks of messages: errors, repairs and other texts.
pub trait Says {
    /// Fails unless the text is as the pattern, in which `…` matches any text.
    fn says(&self, pattern: impl AsRef<str>);
}

impl<T: Display + ?Sized> Says for T {
    #[track_caller]
    fn says(&self, pattern: impl AsRef<str>) {
        let (text, pattern) = (self.to_string(), pattern.as_ref());
        assert!(fits(&text, pattern), "\n   {text}\nis not\n   {pattern}");
    }
}

/// Checks of refusals.
pub trait Fails {
    /// Fails unless the result is an error with this message: see [`Says::says`].
    fn fails(self, pattern: impl AsRef<str>);
}

impl<T, E: Display> Fails for Result<T, E> {
    #[track_caller]
    fn fails(self, pattern: impl AsRef<str>) {
        match self {
            Ok(_) => panic!("not refused: {}", pattern.as_ref()),
            Err(error) => error.says(pattern),
        }
    }
}
