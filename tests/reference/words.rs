//! Messages against patterns: errors, repairs and other texts.

use std::fmt::Display;

/// True if a text is as a pattern, in which `…` matches any text.
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

/// A table of cases: `inputs => wanted;` for each row.
///
/// A row becomes a tuple of its inputs as text, which name the case, the inputs, and what is
/// wanted: see [`Says::says_in`] and [`Fails::fails_in`].
#[macro_export]
macro_rules! cases {
    ($($($input:expr),+ => $($wanted:expr),+;)*) => {
        [$((stringify!($($input),+), $($input,)+ $($wanted),+)),*]
    };
}

/// Calls that are refused: `call => "message";` for each row, in which `…` matches any text.
///
/// A failure prints the call.
#[macro_export]
macro_rules! refused {
    ($($call:expr => $pattern:expr;)*) => {
        $($crate::words::Fails::fails_in($call, stringify!($call), $pattern);)*
    };
}

/// Checks of messages: errors, repairs and other texts.
pub trait Says {
    /// Fails unless the text is as the pattern, in which `…` matches any text.
    fn says(&self, pattern: impl AsRef<str>);

    /// As [`Self::says`], and a failure names the case.
    fn says_in(&self, case: impl Display, pattern: impl AsRef<str>);
}

impl<T: Display + ?Sized> Says for T {
    #[track_caller]
    fn says(&self, pattern: impl AsRef<str>) {
        self.says_in("the text", pattern);
    }

    #[track_caller]
    fn says_in(&self, case: impl Display, pattern: impl AsRef<str>) {
        let (text, pattern) = (self.to_string(), pattern.as_ref());
        assert!(
            fits(&text, pattern),
            "{case}:\n   {text}\nis not\n   {pattern}"
        );
    }
}

/// Checks of refusals.
pub trait Fails {
    /// Fails unless the result is an error with this message: see [`Says::says`].
    fn fails(self, pattern: impl AsRef<str>);

    /// As [`Self::fails`], and a failure names the case.
    fn fails_in(self, case: impl Display, pattern: impl AsRef<str>);
}

impl<T, E: Display> Fails for Result<T, E> {
    #[track_caller]
    fn fails(self, pattern: impl AsRef<str>) {
        self.fails_in("the result", pattern);
    }

    #[track_caller]
    fn fails_in(self, case: impl Display, pattern: impl AsRef<str>) {
        match self {
            Ok(_) => panic!("{case}: not refused with\n   {}", pattern.as_ref()),
            Err(error) => error.says_in(case, pattern),
        }
    }
}
