//! Rust source as identifiers and signs, without comments, texts and imports for documentation.

/// An identifier, or `::`, or one other character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

/// The tokens of a file.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut rest = source;
    let mut tokens = Vec::new();
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let length = skipped(rest);
        let end = if length > 0 {
            length
        } else {
            token(rest, first)
        };
        if length == 0 && !first.is_whitespace() {
            let text = &rest[..end];
            tokens.push(Token { text, line });
        }
        line += rest[..end].matches('\n').count();
        rest = &rest[end..];
    }
    without_documentation(tokens)
}

/// The length of the token that starts with `first`.
fn token(rest: &str, first: char) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match first {
        _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
        ':' if rest.starts_with("::") => 2,
        _ => first.len_utf8(),
    }
}

/// The length of a comment, a text, a character or a lifetime at the start, or 0.
fn skipped(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let until = |end: &str, from: usize| {
        let found = rest[from..].find(end);
        found.map_or(rest.len(), |at| from + at + end.len())
    };
    let raw = rest.trim_start_matches(['b', 'c']).strip_prefix('r');
    let hashes = raw.map_or(0, |raw| raw.len() - raw.trim_start_matches('#').len());
    match bytes {
        [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(bytes),
        _ if raw.is_some_and(|raw| raw[hashes..].starts_with('"')) => {
            let open = rest.find('"').unwrap() + 1;
            until(&format!("\"{}", "#".repeat(hashes)), open)
        }
        [b'"', ..] => 1 + quoted(&bytes[1..], b'"'),
        [b'b' | b'c', b'"', ..] => 2 + quoted(&bytes[2..], b'"'),
        [b'\'', b'\\', ..] => 1 + quoted(&bytes[1..], b'\''),
        [b'\'', ..] => {
            let character = rest[1..].chars().next().map_or(0, char::len_utf8);
            let closes = bytes.get(1 + character) == Some(&b'\'');
            // The name of a lifetime is a token, which is in no path.
            1 + usize::from(closes) * (character + 1)
        }
        _ => 0,
    }
}

/// The length up to and with the quote that ends a text.
fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < bytes.len() && bytes[at] != quote {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    (at + 1).min(bytes.len())
}

/// The length of a comment that may have others in it.
fn block_comment(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Removes imports with `#[cfg(doc)]`.
fn without_documentation(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mark = ["#", "[", "cfg", "(", "doc", ")", "]"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let is_mark = |(token, text): (&Token<'_>, &str)| token.text == text;
        if at + mark.len() < tokens.len() && tokens[at..].iter().zip(mark).all(is_mark) {
            at += tokens[at..].iter().take_while(|it| it.text != ";").count();
        } else {
            kept.push(tokens[at]);
        }
        at += 1;
    }
    kept
}
