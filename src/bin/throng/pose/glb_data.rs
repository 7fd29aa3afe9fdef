//! The binary part of a glTF file, with its views and accessors.

use serde_json::{Value, json};
use throng::glam::Vec3;

/// The component types of accessors, as glTF numbers them.
const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
/// The targets of buffer views.
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// The binary part, with the objects that describe it.
#[derive(Default)]
pub(super) struct Data {
    pub(super) bytes: Vec<u8>,
    pub(super) views: Vec<Value>,
    pub(super) accessors: Vec<Value>,
}

impl Data {
    /// Adds bytes, and returns the index of their view.
    pub(super) fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({
            "buffer": 0,
            "byteOffset": self.bytes.len(),
            "byteLength": bytes.len(),
        });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.bytes.extend_from_slice(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds a vertex attribute of 32-bit numbers.
    pub(super) fn vertices(&mut self, kind: &str, bytes: &[u8], size: usize) -> usize {
        let view = self.view(bytes, Some(VERTICES));
        self.accessor(json!({
            "bufferView": view,
            "componentType": FLOAT,
            "count": bytes.len() / size,
            "type": kind,
        }))
    }

    /// Adds positions, whose bounds are required.
    pub(super) fn positions(&mut self, positions: &[Vec3]) -> usize {
        let index = self.vertices("VEC3", bytemuck::cast_slice(positions), 12);
        let first = positions.first().copied().unwrap_or_default();
        let min = positions
            .iter()
            .fold(first, |min, position| min.min(*position));
        let max = positions
            .iter()
            .fold(first, |max, position| max.max(*position));
        self.accessors[index]["min"] = json!(min.to_array());
        self.accessors[index]["max"] = json!(max.to_array());
        index
    }

    /// Adds the indices of triangles, in 16 bits if those are enough.
    pub(super) fn indices(&mut self, indices: &[u32], vertices: usize) -> usize {
        // The largest number of a type restarts primitives.
        let (view, kind) = if vertices <= usize::from(u16::MAX) {
            let narrow: Vec<u16> = indices.iter().map(|index| *index as u16).collect();
            (
                self.view(bytemuck::cast_slice(&narrow), Some(INDICES)),
                UNSIGNED_SHORT,
            )
        } else {
            (
                self.view(bytemuck::cast_slice(indices), Some(INDICES)),
                UNSIGNED_INT,
            )
        };
        self.accessor(json!({
            "bufferView": view,
            "componentType": kind,
            "count": indices.len(),
            "type": "SCALAR",
        }))
    }
}
