//! The caps of the import options, counted over a whole file.

use crate::error::{AssetFault, Object, ObjectKind, Result};
use crate::import::fault::{fault, fault_of};
use crate::import::options::ImportOptions;

/// The amounts that a file may still take.
#[derive(Debug)]
pub(in crate::import) struct Budget<'a> {
    options: &'a ImportOptions,
    vertices: u64,
    indices: u64,
    keys: u64,
    bytes: u64,
    primitives: u64,
}

impl<'a> Budget<'a> {
    pub(in crate::import) fn new(options: &'a ImportOptions) -> Self {
        Self {
            options,
            vertices: 0,
            indices: 0,
            keys: 0,
            bytes: 0,
            primitives: 0,
        }
    }

    /// The options with the caps.
    #[cfg(feature = "gltf")]
    pub(in crate::import) fn options(&self) -> &ImportOptions {
        self.options
    }

    /// Checks the length of a text.
    pub(in crate::import) fn text(&self, bytes: &[u8]) -> Result<()> {
        let (mut used, asked) = (0, bytes.len() as u64);
        let file = Object {
            kind: ObjectKind::File,
            index: None,
            part: Box::default(),
        };
        take(
            &mut used,
            asked,
            self.options.max_json_bytes,
            "bytes of text",
            &file,
        )
    }

    /// Counts nodes that are about to be made, `asked` in all.
    pub(in crate::import) fn nodes(&self, asked: usize) -> Result<()> {
        let (what, cap) = ("nodes", self.options.max_nodes as u64);
        if asked as u64 <= cap {
            return Ok(());
        }
        let asked = asked as u64;
        let why = AssetFault::Cap { what, asked, cap };
        Err(fault(ObjectKind::File, None, "", why))
    }

    /// Counts a drawable part that is about to be made.
    pub(in crate::import) fn primitive(&mut self, object: &Object) -> Result<()> {
        let cap = self.options.max_primitives as u64;
        take(&mut self.primitives, 1, cap, "drawable parts", object)
    }

    /// Counts vertices of this size that are about to be stored.
    pub(in crate::import) fn vertices(
        &mut self,
        count: u64,
        size: u64,
        object: &Object,
    ) -> Result<()> {
        let cap = self.options.max_vertices as u64;
        take(&mut self.vertices, count, cap, "vertices", object)?;
        self.decoded(count.saturating_mul(size), object)
    }

    /// Counts triangle indices that are about to be stored.
    pub(in crate::import) fn indices(&mut self, count: u64, object: &Object) -> Result<()> {
        let cap = self.options.max_indices as u64;
        take(&mut self.indices, count, cap, "indices", object)?;
        self.decoded(count.saturating_mul(4), object)
    }

    /// Counts keys that are about to be stored.
    pub(in crate::import) fn keys(&mut self, count: u64, object: &Object) -> Result<()> {
        let cap = self.options.max_keys as u64;
        take(&mut self.keys, count, cap, "keys", object)?;
        // A time and a rotation.
        self.decoded(count.saturating_mul(20), object)
    }

    /// Counts other bytes that are about to be stored.
    pub(in crate::import) fn decoded(&mut self, bytes: u64, object: &Object) -> Result<()> {
        // No allocation can be larger than this.
        let cap = self.options.max_decoded_bytes.min(isize::MAX as u64);
        take(&mut self.bytes, bytes, cap, "bytes of decoded data", object)
    }
}

fn take(used: &mut u64, more: u64, cap: u64, what: &'static str, object: &Object) -> Result<()> {
    let asked = used.saturating_add(more);
    if asked > cap {
        let why = AssetFault::Cap { what, asked, cap };
        return Err(fault_of(object.clone(), why));
    }
    *used = asked;
    Ok(())
}
