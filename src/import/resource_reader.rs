//! The callback that provides the files that a file refers to.

use crate::error::Result;
use core::fmt;
use std::sync::Arc;

/// A callback that provides the other files that an imported file refers to.
///
/// It is given a relative path, percent-decoded, with `/` between folders. It is never called with
/// a path that leads out of the folder (`..`, absolute paths, schemes, drives, backslashes). An
/// [`Error::Io`](crate::Error::Io) that it returns becomes an
/// [`AssetFault::Unreadable`](crate::error::AssetFault::Unreadable) of the object that refers to
/// the file. Other errors are passed on.
///
/// ```
/// use throng::import::{ImportOptions, ResourceReader};
///
/// let archive = std::collections::HashMap::from([("knight.bin", vec![0_u8; 4])]);
/// let read = move |path: &str| archive.get(path).cloned().ok_or_else(|| throng::Error::Io {
///     path: path.into(),
///     kind: std::io::ErrorKind::NotFound,
/// });
/// let options = ImportOptions {
///     resources: Some(ResourceReader::new(read)),
///     ..ImportOptions::default()
/// };
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct ResourceReader(Arc<Read>);

type Read = dyn Fn(&str) -> Result<Vec<u8>> + Send + Sync;

impl ResourceReader {
    /// Creates a reader that calls `read`.
    pub fn new(read: impl Fn(&str) -> Result<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// The bytes of the file at a relative path.
    ///
    /// # Errors
    /// The errors of the callback.
    pub fn read(&self, path: &str) -> Result<Vec<u8>> {
        (self.0)(path)
    }
}

impl fmt::Debug for ResourceReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResourceReader")
    }
}

/// Equal if both hold the same callback object.
impl PartialEq for ResourceReader {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
