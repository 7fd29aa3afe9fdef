//! Files in the folder of an asset. Nothing outside of it is read.

#[cfg(any(feature = "gltf", feature = "wgl"))]
use super::fault::LFS_POINTER;
use super::fault::{cut, fault};
#[cfg(any(feature = "gltf", feature = "wgl"))]
use crate::format::is_lfs_pointer;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};
#[cfg(any(feature = "gltf", feature = "wgl"))]
use throng::error::Object;
use throng::error::{AssetFault, Error, ObjectKind, Result};
use throng::import::ImportOptions;

/// The most entries of a folder that are compared without regard to case.
const MOST_ENTRIES: usize = 1 << 16;

/// The reason that a file given as bytes cannot refer to others.
const ONLY_BYTES: &str = "is not available: only bytes were given";

pub(super) fn check_cap(asked: u64, cap: u64) -> Result<(), AssetFault> {
    if asked <= cap {
        return Ok(());
    }
    Err(AssetFault::Cap {
        what: "bytes of one resource",
        asked,
        cap,
    })
}

pub(super) fn refused(uri: &str, why: &'static str) -> AssetFault {
    AssetFault::Resource { uri: cut(uri), why }
}

/// The files that an asset refers to.
#[derive(Clone, Copy)]
pub(super) struct Files<'a> {
    /// The asset's folder. `None` if only its bytes were given.
    pub(super) folder: Option<&'a Folder>,
    pub(super) options: &'a ImportOptions,
}

impl Files<'_> {
    /// The bytes of the file at a relative path.
    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>> {
        match (&self.options.resources, self.folder) {
            (Some(resources), _) => resources.read(path),
            (None, Some(folder)) => folder.read_any_case(path, self.options.limits.resource_bytes),
            (None, None) => Err(no_object(refused(path, ONLY_BYTES))),
        }
    }

    /// Lists a file of the asset, which may never be read.
    #[cfg(feature = "gltf")]
    pub(super) fn list(&self, path: &str) {
        if let (None, Some(folder)) = (&self.options.resources, self.folder) {
            folder.list(path);
            if let Some(found) = folder.alike(path) {
                folder.list(found);
            }
        }
    }
}

/// The bytes of the file at `path`, at most `cap`. `object` has the reference.
#[cfg(any(feature = "gltf", feature = "wgl"))]
pub(super) fn load(path: &str, object: &Object, cap: u64, files: &Files<'_>) -> Result<Vec<u8>> {
    let at = |why| Error::asset(object.clone(), why);
    // The reader does not know which object has the reference.
    let bytes = files.read(path).map_err(|error| match error {
        Error::Io { kind, .. } => at(AssetFault::Unreadable {
            uri: cut(path),
            kind,
        }),
        Error::Asset { why, object, file }
            if file.is_empty() && object.kind == ObjectKind::File =>
        {
            at(why)
        }
        other => other,
    })?;
    check_cap(bytes.len() as u64, cap).map_err(at)?;
    if is_lfs_pointer(&bytes) {
        return Err(at(refused(path, LFS_POINTER)));
    }
    Ok(bytes)
}

/// The bytes of the file at `path`, and its folder.
pub(super) fn open(path: &Path, options: &ImportOptions) -> Result<(Vec<u8>, Folder)> {
    let bytes = read_file(path, options.limits.resource_bytes).map_err(|error| match error {
        // No other file refers to this one.
        Error::Asset {
            why: AssetFault::Resource { why, .. },
            ..
        } => no_object(AssetFault::Invalid(why)),
        other => other,
    });
    let bytes = bytes.map_err(|error| error.in_file(&options.name))?;
    let folder = Folder::of(path)?;
    if let Some(name) = path.file_name() {
        folder.list(name);
    }
    Ok((bytes, folder))
}

fn no_object(why: AssetFault) -> Error {
    fault(ObjectKind::File, None, "", why)
}

fn io(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.to_string_lossy().into(),
        kind: error.kind(),
    }
}

/// The folder that contains an asset.
#[derive(Debug)]
pub(super) struct Folder {
    real: PathBuf,
    /// The files of the asset, whether they exist or not.
    listed: RefCell<BTreeSet<PathBuf>>,
}

impl Folder {
    /// The folder of the file at `path`.
    fn of(path: &Path) -> Result<Self> {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let real = folder.canonicalize().map_err(|error| io(folder, &error))?;
        Ok(Self {
            real,
            listed: RefCell::default(),
        })
    }

    fn list(&self, relative: impl AsRef<Path>) {
        let path = self.real.join(relative);
        self.listed.borrow_mut().insert(path);
    }

    /// The files that were read, looked for or listed, in the order of their paths.
    pub(super) fn into_listed(self) -> Vec<PathBuf> {
        self.listed.into_inner().into_iter().collect()
    }

    /// The bytes of the file at `relative`, which must be a plain file and must still lie in this
    /// folder after all links are followed.
    pub(super) fn read(&self, relative: &str, cap: u64) -> Result<Vec<u8>> {
        self.list(relative);
        let path = self.real.join(relative);
        let real = path.canonicalize().map_err(|error| io(&path, &error))?;
        if !real.starts_with(&self.real) {
            return Err(no_object(refused(relative, "is a link out of the folder")));
        }
        read_file(&real, cap)
    }
}

impl Folder {
    /// [`Self::read`], but if there is no such file, one whose path differs in case.
    fn read_any_case(&self, relative: &str, cap: u64) -> Result<Vec<u8>> {
        let exact = self.read(relative, cap);
        let is_missing =
            matches!(&exact, Err(Error::Io { kind, .. }) if *kind == ErrorKind::NotFound);
        match is_missing.then(|| self.alike(relative)).flatten() {
            Some(found) => self.read(&found, cap),
            None => exact,
        }
    }

    /// The path that equals this one except for case.
    fn alike(&self, relative: &str) -> Option<String> {
        let mut found = PathBuf::new();
        for part in Path::new(relative).components() {
            let Component::Normal(part) = part else {
                return None;
            };
            let folder = self.real.join(&found);
            let real = folder.canonicalize().ok()?;
            if !real.starts_with(&self.real) {
                return None;
            }
            if !folder.join(part).exists() {
                let wanted = part.to_str()?.to_lowercase();
                let entries = std::fs::read_dir(&folder).ok()?.take(MOST_ENTRIES);
                let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                found.push(names.filter(|name| name.to_lowercase() == wanted).min()?);
            } else {
                found.push(part);
            }
        }
        found.into_os_string().into_string().ok()
    }
}

/// The bytes of a plain file, at most `cap`.
fn read_file(path: &Path, cap: u64) -> Result<Vec<u8>> {
    let not_plain = || no_object(refused(&path.to_string_lossy(), "is not a plain file"));
    let failed = |error: std::io::Error| io(path, &error);
    // Checked before opening, because opening a pipe waits for its other end.
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(not_plain());
    }
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(not_plain());
    }
    check_cap(metadata.len(), cap).map_err(no_object)?;
    let mut bytes = Vec::new();
    let mut limited = file.take(cap.saturating_add(1));
    limited.read_to_end(&mut bytes).map_err(failed)?;
    check_cap(bytes.len() as u64, cap).map_err(no_object)?;
    Ok(bytes)
}
