//! A file to import, or its bytes alone.

use super::folder::{Files, Folder};
use super::format::Format;
use super::imported::Imported;
use super::options::ImportOptions;
use super::repair::{Repair, of_file};
use crate::error::{Error, Result};
use std::path::Path;

/// A file to import, or its bytes alone.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) bytes: &'a [u8],
    /// Its name or path, which may be empty.
    pub(super) path: &'a Path,
    /// The folder that contains it. `None` if only its bytes were given.
    pub(super) folder: Option<&'a Folder>,
    pub(super) options: &'a ImportOptions,
}

impl<'a> Source<'a> {
    pub(super) fn of_bytes(bytes: &'a [u8], options: &'a ImportOptions) -> Self {
        Self {
            bytes,
            path: Path::new(&*options.name),
            folder: None,
            options,
        }
    }

    /// Recognises the format, and lets `make` import it. `make` gets a function that reads other
    /// files, and a list for the repairs of the reader. Errors and repairs get the file's name.
    pub(super) fn import(
        self,
        make: impl FnOnce(Format, &Files<'_>, &mut Vec<Repair>) -> Result<Imported>,
    ) -> Result<Imported> {
        let run = || {
            let format = Format::of(self.bytes, &self.path.to_string_lossy())?;
            let files = &Files {
                folder: self.folder,
                options: self.options,
            };
            let mut repairs = Vec::new();
            let mut imported = make(format, files, &mut repairs)?;
            repairs.append(&mut imported.repairs);
            imported.repairs = of_file(repairs, &self.options.name);
            Ok(imported)
        };
        run().map_err(|error: Error| error.in_file(&self.options.name))
    }
}
