//! The files of folders, for subcommands that take both.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The most folders inside one another.
const MAX_DEPTH: usize = 64;
/// The most entries of all folders together.
const MAX_ENTRIES: usize = 100_000;

/// A file to work on, or an entry that cannot be read.
pub(crate) enum Found {
    File(PathBuf),
    Unreadable(PathBuf, String),
}

/// The files of a path: itself, or those of a folder and its subfolders.
///
/// In a folder, these are the files with an extension of a format that throng reads, sorted by name
/// folder by folder. Entries whose names start with a dot are left out. A folder that several links
/// lead to is visited once.
pub(crate) fn files(path: &Path) -> Vec<Found> {
    let mut walk = Walk::default();
    match path.is_dir() {
        true => walk.folder(path, 0),
        false => walk.found.push(Found::File(path.into())),
    }
    walk.found
}

#[derive(Default)]
struct Walk {
    found: Vec<Found>,
    entries: usize,
    /// The folders that were visited, without links.
    visited: HashSet<PathBuf>,
}

impl Walk {
    fn unreadable(&mut self, path: &Path, why: impl ToString) {
        let unreadable = Found::Unreadable(path.into(), why.to_string());
        self.found.push(unreadable);
    }

    fn folder(&mut self, folder: &Path, depth: usize) {
        let real = match folder.canonicalize() {
            Ok(real) => real,
            Err(error) => return self.unreadable(folder, error),
        };
        if !self.visited.insert(real) {
            return;
        }
        if depth > MAX_DEPTH {
            let why = format!("lies more than {MAX_DEPTH} folders deep: not checked");
            return self.unreadable(folder, why);
        }
        let listed = match fs::read_dir(folder) {
            Ok(listed) => listed,
            Err(error) => return self.unreadable(folder, error),
        };
        let (mut paths, mut failed) = (Vec::new(), None);
        for entry in listed {
            if self.entries == MAX_ENTRIES {
                let why = format!("more than {MAX_ENTRIES} entries: the rest is not checked");
                failed = Some(why);
                break;
            }
            self.entries += 1;
            match entry {
                Ok(entry) if is_hidden(&entry) => {}
                Ok(entry) => paths.push(entry.path()),
                Err(error) => {
                    failed = Some(error.to_string());
                    break;
                }
            }
        }
        paths.sort_unstable();
        for path in paths {
            match fs::metadata(&path) {
                Ok(entry) if entry.is_dir() => self.folder(&path, depth + 1),
                Ok(_) if throng_import::has_known_extension(&path) => {
                    self.found.push(Found::File(path))
                }
                Ok(_) => {}
                Err(error) => self.unreadable(&path, error),
            }
        }
        if let Some(why) = failed {
            self.unreadable(folder, why);
        }
    }
}

fn is_hidden(entry: &fs::DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}
