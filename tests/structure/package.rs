//! The files of a crate, and which file names something of which other.

use crate::source::{Import, Path, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as FilePath, PathBuf};

/// A crate of Rust: its root file and all files below it.
#[derive(Debug)]
pub(crate) struct Package {
    modules: BTreeMap<Vec<String>, Module>,
}

#[derive(Debug)]
struct Module {
    /// Relative to the repository.
    file: PathBuf,
    source: Source,
}

/// File `from` names something that file `to` defines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    pub(crate) from: PathBuf,
    pub(crate) to: PathBuf,
    pub(crate) line: usize,
    /// The path in the source of `from`.
    pub(crate) path: String,
}

impl Package {
    /// Reads the crate with this root file.
    pub(crate) fn read(repository: &FilePath, root: &FilePath) -> Self {
        let mut modules = BTreeMap::new();
        let mut open = vec![(Vec::new(), root.to_path_buf())];
        while let Some((name, file)) = open.pop() {
            let text = std::fs::read_to_string(repository.join(&file)).unwrap();
            let source = Source::read(&text);
            for child in &source.children {
                // Files elsewhere, which have `#[path]`, are helpers without imports from here.
                let found = candidates(&file, child).find(|path| repository.join(path).exists());
                let Some(found) = found else { continue };
                open.push(([&name[..], std::slice::from_ref(child)].concat(), found));
            }
            modules.insert(name, Module { file, source });
        }
        Self { modules }
    }

    /// The modules that the root declares.
    pub(crate) fn top(&self) -> BTreeSet<&str> {
        let names = self.modules[&Vec::new()].source.children.iter();
        names.map(String::as_str).collect()
    }

    /// The paths that name what the root file defines or exports again, by file.
    pub(crate) fn names_of_the_root(&self) -> Vec<(&FilePath, &Path)> {
        let top = self.top();
        let mut found = Vec::new();
        for (at, module) in self.modules.iter().filter(|(at, _)| !at.is_empty()) {
            let imports = module.source.imports.iter().map(|import| &import.path);
            for path in imports.chain(&module.source.paths) {
                let root = match path.names[0].as_str() {
                    "crate" => true,
                    "super" => at.len() == 1,
                    _ => false,
                };
                let second = path.names.get(1);
                let second = second.filter(|name| !self.is_crate(name));
                if root && second.is_some_and(|name| !top.contains(&**name)) {
                    found.push((module.file.as_path(), path));
                }
            }
        }
        found
    }

    /// True for a crate that the root exports.
    fn is_crate(&self, name: &str) -> bool {
        let mut imports = self.modules[&Vec::new()].source.imports.iter();
        imports.any(|import| import.path.names == [name])
    }

    /// The names that each file uses of the others.
    pub(crate) fn arrows(&self) -> BTreeSet<Arrow> {
        let mut arrows = BTreeSet::new();
        for (at, Module { file, source }) in &self.modules {
            // Names that a file only exports again are not its own imports.
            let is_used = |import: &Import| {
                let mut paths = source.paths.iter();
                !import.is_public || paths.any(|path| path.names[0] == import.name)
            };
            let imports = source.imports.iter().filter(|import| is_used(import));
            let imports = imports.map(|import| &import.path);
            let paths = source.paths.iter().filter(|path| path.names.len() > 1);
            for path in imports.chain(paths) {
                let target = self.resolve(at, &path.names, 0).unwrap_or(at);
                let to = &self.modules[target].file;
                if to != file {
                    arrows.insert(Arrow {
                        from: file.clone(),
                        to: to.clone(),
                        line: path.line,
                        path: path.names.join("::"),
                    });
                }
            }
        }
        arrows
    }

    /// The module that defines what a path in the module `at` names, if that is of this crate.
    fn resolve(&self, at: &[String], names: &[String], depth: usize) -> Option<&Vec<String>> {
        let (here, _) = self.modules.get_key_value(at)?;
        let (root, _) = self.modules.get_key_value([].as_slice())?;
        let parent = || self.modules.get_key_value(&at[..at.len().checked_sub(1)?]);
        match names.first()?.as_str() {
            "crate" => self.descend(root, &names[1..], depth),
            "self" => self.descend(here, &names[1..], depth),
            "super" if names.get(1).is_some_and(|name| name == "super") => {
                self.resolve(parent()?.0, &names[1..], depth)
            }
            "super" => self.descend(parent()?.0, &names[1..], depth),
            name => {
                let source = &self.modules[here].source;
                let imported = source.imports.iter().any(|import| import.name == name);
                let known = imported || source.children.iter().any(|child| child == name);
                known.then(|| self.descend(here, names, depth)).flatten()
            }
        }
    }

    /// The module that defines `names`, seen from the module `at`. Follows what modules export
    /// again.
    fn descend<'a>(
        &'a self,
        at: &'a Vec<String>,
        names: &[String],
        depth: usize,
    ) -> Option<&'a Vec<String>> {
        let Some((name, rest)) = names.split_first() else {
            return Some(at);
        };
        let child = [&at[..], std::slice::from_ref(name)].concat();
        if let Some((child, _)) = self.modules.get_key_value(&child) {
            return self.descend(child, rest, depth);
        }
        let mut imports = self.modules[at].source.imports.iter();
        match imports.find(|import| import.name == *name) {
            // An import of the same name, such as that of another crate.
            Some(import) if import.path.names[0] == *name || depth > 16 => None,
            Some(import) => {
                let names = [&import.path.names, rest].concat();
                self.resolve(at, &names, depth + 1)
            }
            None => Some(at),
        }
    }
}

/// The paths at which a file may be that another file declares as a module.
fn candidates(file: &FilePath, child: &str) -> impl Iterator<Item = PathBuf> {
    let folder = file.parent().unwrap();
    [folder.join(file.file_stem().unwrap()), folder.to_path_buf()]
        .into_iter()
        .flat_map(move |folder| {
            let name = format!("{child}.rs");
            [folder.join(child).join("mod.rs"), folder.join(name)]
        })
}

/// The arrows of circles: from the file at an arrow's end, others lead back to its start.
pub(crate) fn circles(arrows: &BTreeSet<Arrow>) -> Vec<&Arrow> {
    let mut next = BTreeMap::<&FilePath, BTreeSet<&FilePath>>::new();
    for arrow in arrows {
        next.entry(&arrow.from).or_default().insert(&arrow.to);
    }
    let mut reached = BTreeMap::<&FilePath, BTreeSet<&FilePath>>::new();
    for start in next.keys() {
        let mut open = vec![*start];
        let seen = reached.entry(start).or_default();
        while let Some(file) = open.pop() {
            let files = next.get(file).into_iter().flatten();
            open.extend(files.filter(|file| seen.insert(**file)));
        }
    }
    let returns = |arrow: &&Arrow| {
        let seen = reached.get(arrow.to.as_path());
        seen.is_some_and(|seen| seen.contains(arrow.from.as_path()))
    };
    arrows.iter().filter(returns).collect()
}
