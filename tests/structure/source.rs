//! The modules, imports and paths of one file.

use crate::tokens::{Token, tokens};

/// A path that a file names, such as `crate::clip::Clip`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    pub(crate) names: Vec<String>,
    pub(crate) line: usize,
}

/// A name that a file imports.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    /// The name in this file, `*` for all of a module.
    pub(crate) name: String,
    pub(crate) path: Path,
    pub(crate) is_public: bool,
}

/// The contents of a file.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// The files that it declares with `mod`.
    pub(crate) children: Vec<String>,
    pub(crate) imports: Vec<Import>,
    /// The paths outside of imports. Most have one name.
    pub(crate) paths: Vec<Path>,
}

impl Source {
    pub(crate) fn read(text: &str) -> Self {
        let tokens = tokens(text);
        let mut source = Self::default();
        let mut at = 0;
        // The depths of braces at which modules inside this file begin.
        let (mut depth, mut inner) = (0, Vec::new());
        while at < tokens.len() {
            let word = |number: usize| tokens.get(at + number).map_or("", |token| token.text);
            match (word(0), word(1), word(2)) {
                ("use", next, _) if next != "<" => {
                    let is_public = at > 0 && follows_pub(&tokens[..at]);
                    at += 1;
                    let start = source.imports.len();
                    source.import(&tokens, &mut at, Vec::new(), is_public);
                    inner.iter().for_each(|_| source.leave(start));
                    continue;
                }
                // Not the path in `pub(in path)`.
                ("pub", "(", _) => {
                    at += tokens[at..].iter().take_while(|it| it.text != ")").count();
                }
                ("mod", name, ";") => source.children.push(name.to_owned()),
                ("mod", _, "{") => inner.push(depth),
                ("{", ..) => depth += 1,
                ("}", ..) => {
                    depth -= 1;
                    inner.pop_if(|begins| *begins == depth);
                }
                (name, ..) if is_name(name) => {
                    source.path(&tokens, &mut at, inner.len());
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        source
    }

    /// Reads an import, or a part of one in braces, up to the sign behind it.
    fn import(
        &mut self,
        tokens: &[Token<'_>],
        at: &mut usize,
        mut names: Vec<String>,
        public: bool,
    ) {
        let line = tokens[*at].line;
        loop {
            let text = tokens[*at].text;
            *at += 1;
            match text {
                "{" => {
                    while tokens[*at].text != "}" {
                        self.import(tokens, at, names.clone(), public);
                        *at += usize::from(tokens[*at].text == ",");
                    }
                    *at += 1;
                    return;
                }
                "::" => {}
                "," | ";" | "}" => {
                    *at -= 1;
                    break;
                }
                "as" => {
                    let name = tokens[*at].text.to_owned();
                    *at += 1;
                    return self.add(name, Path { names, line }, public);
                }
                name => names.push(name.to_owned()),
            }
        }
        if names.len() > 1 && names.last().is_some_and(|last| last == "self") {
            names.pop();
        }
        let name = names.last().cloned().unwrap_or_default();
        self.add(name, Path { names, line }, public);
    }

    fn add(&mut self, name: String, path: Path, is_public: bool) {
        self.imports.push(Import {
            name,
            path,
            is_public,
        });
    }

    /// Makes the imports from this one on, of a module inside this file, those of the file.
    fn leave(&mut self, start: usize) {
        for import in &mut self.imports[start..] {
            outside(&mut import.path);
        }
    }

    /// Reads a path in code.
    fn path(&mut self, tokens: &[Token<'_>], at: &mut usize, inner: usize) {
        let line = tokens[*at].line;
        let mut names = vec![tokens[*at].text.to_owned()];
        *at += 1;
        while let [colons, name, ..] = &tokens[*at..]
            && colons.text == "::"
            && is_name(name.text)
        {
            names.push(name.text.to_owned());
            *at += 2;
        }
        let mut path = Path { names, line };
        (0..inner).for_each(|_| outside(&mut path));
        self.paths.push(path);
    }
}

/// A path in a module inside a file, as the file would write it.
fn outside(path: &mut Path) {
    match path.names.get(..2) {
        Some([first, second]) if first == "super" && second == "super" => {
            path.names.remove(0);
        }
        Some([first, _]) if first == "super" => path.names[0] = "self".to_owned(),
        _ => {}
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// True if these tokens end with `pub` or `pub(...)`.
fn follows_pub(tokens: &[Token<'_>]) -> bool {
    let before = match tokens.iter().rposition(|token| token.text == "(") {
        Some(open) if tokens.last().is_some_and(|last| last.text == ")") => &tokens[..open],
        _ => tokens,
    };
    before.last().is_some_and(|last| last.text == "pub")
}
