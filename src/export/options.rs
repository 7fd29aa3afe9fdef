//! Export options.

/// Options of an export.
///
/// Minor versions may add fields, so name the fields that you set and take the defaults for others.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportOptions {
    /// If false, images are not written, and materials have no textures.
    pub images: bool,
    /// The largest file in bytes. The default is the most that binary glTF can have, 4 GiB less one
    /// byte. Larger values count as the default.
    pub max_bytes: u64,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            images: true,
            max_bytes: u32::MAX.into(),
        }
    }
}
