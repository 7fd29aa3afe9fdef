//! The caps of the import options, counted over a whole file.

use super::fault::{check_cap, file_part};
#[cfg(feature = "gltf")]
use throng::error::{AssetFault, Error};
use throng::error::{Object, Result};
use throng::import::ImportOptions;

/// The amounts that a file has taken so far.
#[derive(Debug)]
#[cfg_attr(
    not(any(feature = "ezm", feature = "wgl")),
    allow(dead_code, reason = "other readers count the rest themselves")
)]
pub(super) struct Budget<'a> {
    pub(super) options: &'a ImportOptions,
    vertices: u64,
    indices: u64,
    keys: u64,
    bytes: u64,
    primitives: u64,
}

#[cfg_attr(
    not(any(feature = "ezm", feature = "wgl")),
    allow(dead_code, reason = "other readers count the rest themselves")
)]
impl<'a> Budget<'a> {
    pub(super) const fn new(options: &'a ImportOptions) -> Self {
        Self {
            options,
            vertices: 0,
            indices: 0,
            keys: 0,
            bytes: 0,
            primitives: 0,
        }
    }

    /// Checks the length of a text.
    pub(super) fn text(&self, bytes: &[u8]) -> Result<()> {
        let (asked, cap) = (bytes.len() as u64, self.options.limits.text_bytes);
        check_cap(|| file_part(""), "bytes of text", asked, cap)
    }

    /// Counts nodes that are about to be made, `asked` in all.
    pub(super) fn nodes(&self, asked: usize) -> Result<()> {
        let cap = self.options.limits.nodes as u64;
        check_cap(|| file_part(""), "nodes", asked as u64, cap)
    }

    /// Counts a drawable part that is about to be made.
    pub(super) fn primitive(&mut self, object: &Object) -> Result<()> {
        let cap = self.options.limits.primitives as u64;
        take(&mut self.primitives, 1, cap, "drawable parts", object)
    }

    /// Counts vertices of this size that are about to be stored.
    pub(super) fn vertices(&mut self, count: u64, size: u64, object: &Object) -> Result<()> {
        let cap = self.options.limits.vertices as u64;
        take(&mut self.vertices, count, cap, "vertices", object)?;
        self.charge(count.saturating_mul(size), object)
    }

    /// Counts triangle indices that are about to be stored.
    pub(super) fn indices(&mut self, count: u64, object: &Object) -> Result<()> {
        let cap = self.options.limits.indices as u64;
        take(&mut self.indices, count, cap, "indices", object)?;
        self.charge(count.saturating_mul(4), object)
    }

    /// Counts keys of this size that are about to be stored.
    pub(super) fn keys(&mut self, count: u64, size: u64, object: &Object) -> Result<()> {
        let cap = self.options.limits.keys as u64;
        take(&mut self.keys, count, cap, "keys", object)?;
        self.charge(count.saturating_mul(size), object)
    }

    /// Checks the size that an image claims, and counts its decoded bytes: those of a texel as read
    /// and 4 as kept.
    ///
    /// The encoded bytes are counted too: several images may refer to the same bytes, and each
    /// reads all of them.
    #[cfg(feature = "gltf")]
    pub(super) fn image(
        &mut self,
        [width, height]: [u32; 2],
        texel_bytes: usize,
        encoded_bytes: usize,
        object: &Object,
    ) -> Result<()> {
        let asked = u64::from(width) * u64::from(height);
        let cap = self.options.limits.image_texels;
        check_cap(|| object.clone(), "texels of one image", asked, cap)?;
        if asked == 0 {
            let why = AssetFault::Image("it has no pixels".into());
            return Err(Error::asset(object.clone(), why));
        }
        let decoded = asked.saturating_mul(texel_bytes as u64 + 4);
        self.charge(decoded.saturating_add(encoded_bytes as u64), object)
    }

    /// Counts other bytes that are about to be stored.
    pub(super) fn charge(&mut self, bytes: u64, object: &Object) -> Result<()> {
        // No allocation can be larger than this.
        let cap = self.options.limits.decoded_bytes.min(isize::MAX as u64);
        take(&mut self.bytes, bytes, cap, "bytes of decoded data", object)
    }

    /// The bytes that may still be stored.
    #[cfg(feature = "draco")]
    pub(super) fn bytes_left(&self) -> u64 {
        self.options.limits.decoded_bytes.saturating_sub(self.bytes)
    }
}

fn take(used: &mut u64, more: u64, cap: u64, what: &'static str, object: &Object) -> Result<()> {
    let asked = used.saturating_add(more);
    check_cap(|| object.clone(), what, asked, cap)?;
    *used = asked;
    Ok(())
}
