//! Pointers of Git LFS in place of files that were not downloaded.

/// True if the bytes are a pointer of Git LFS, in this or an earlier version of its format.
pub(crate) fn is_lfs_pointer(bytes: &[u8]) -> bool {
    // Longer files are never pointers, says its specification.
    bytes.len() < 1024
        && [
            "version https://git-lfs.github.com/spec/",
            "version https://hawser.github.com/spec/",
            "version http://git-media.io/v/",
        ]
        .iter()
        .any(|start| bytes.starts_with(start.as_bytes()))
}
