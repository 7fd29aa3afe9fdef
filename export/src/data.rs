//! The binary part of a glTF file, with its views and accessors, and the file around it.

use super::objects::put_lists;
use serde_json::{Value, json};
use std::collections::HashMap;
use throng::glam::Vec3;
use throng::{Error, Result};

/// The component types of accessors, as glTF numbers them.
pub(super) const BYTE: u32 = 5121;
pub(super) const SHORT: u32 = 5123;
const INT: u32 = 5125;
const FLOAT: u32 = 5126;
/// The targets of buffer views.
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// The bytes of the header of the file, and of the header of each chunk.
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;

/// The binary part, with the objects that describe it.
pub(super) struct Data {
    pub(super) bytes: Vec<u8>,
    pub(super) views: Vec<Value>,
    pub(super) accessors: Vec<Value>,
    max_bytes: u64,
    /// The accessors of key times in the view that is being written, by their bits.
    times: HashMap<Vec<u32>, usize>,
}

impl Data {
    pub(super) fn new(max_bytes: u64) -> Self {
        Self {
            bytes: Vec::new(),
            views: Vec::new(),
            accessors: Vec::new(),
            max_bytes: max_bytes.min(u32::MAX.into()),
            times: HashMap::new(),
        }
    }

    /// Fails if the file would be too large with `bytes` more.
    pub(super) fn expect_space(&self, bytes: usize) -> Result<()> {
        let asked = (self.bytes.len() as u64).saturating_add(bytes as u64);
        if asked <= self.max_bytes {
            return Ok(());
        }
        Err(Error::Capacity {
            what: "bytes of a binary glTF file",
            asked,
            cap: self.max_bytes,
        })
    }

    /// Adds bytes, and returns the index of their view.
    pub(super) fn view(&mut self, bytes: &[u8], target: Option<u32>) -> Result<usize> {
        let start = self.bytes.len().next_multiple_of(4);
        self.expect_space(start - self.bytes.len() + bytes.len())?;
        self.bytes.resize(start, 0);
        let mut view = json!({
            "buffer": 0,
            "byteOffset": start,
            "byteLength": bytes.len(),
        });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.bytes.extend_from_slice(bytes);
        self.views.push(view);
        Ok(self.views.len() - 1)
    }

    pub(super) fn accessor(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds a vertex attribute of 32-bit numbers.
    pub(super) fn vertices<T: bytemuck::NoUninit>(
        &mut self,
        kind: &str,
        values: &[T],
    ) -> Result<usize> {
        self.integers(kind, FLOAT, values)
    }

    /// Adds a vertex attribute of any component type. Each value takes a multiple of 4 bytes.
    pub(super) fn integers<T: bytemuck::NoUninit>(
        &mut self,
        kind: &str,
        component: u32,
        values: &[T],
    ) -> Result<usize> {
        let view = self.view(bytemuck::cast_slice(values), Some(VERTICES))?;
        Ok(self.accessor(json!({
            "bufferView": view,
            "componentType": component,
            "count": values.len(),
            "type": kind,
        })))
    }

    /// Adds positions, whose bounds are required.
    pub(super) fn positions(&mut self, positions: &[Vec3]) -> Result<usize> {
        let index = self.vertices("VEC3", positions)?;
        let first = positions.first().copied().unwrap_or_default();
        self.bound(index, positions, [first, first]);
        Ok(index)
    }

    /// Writes the bounds of vectors, which include `around`.
    fn bound(&mut self, accessor: usize, vectors: &[Vec3], around: [Vec3; 2]) {
        let [min, max] = vectors.iter().fold(around, |[min, max], vector| {
            [min.min(*vector), max.max(*vector)]
        });
        self.accessors[accessor]["min"] = json!(min.to_array());
        self.accessors[accessor]["max"] = json!(max.to_array());
    }

    /// Adds vectors of which only those at `indices` are not zero, in the smaller form.
    ///
    /// `count` is the number of all. `values` has one vector for each index. Bounds are required
    /// for positions only.
    pub(super) fn sparse(
        &mut self,
        count: usize,
        indices: &[u32],
        values: &[Vec3],
        bounds: bool,
    ) -> Result<usize> {
        let index = if indices.len() * (size_of::<u32>() + size_of::<Vec3>())
            >= count * size_of::<Vec3>()
        {
            self.expect_space(count * size_of::<Vec3>())?;
            let mut all = vec![Vec3::ZERO; count];
            for (index, value) in indices.iter().zip(values) {
                all[*index as usize] = *value;
            }
            self.vertices("VEC3", &all)?
        } else {
            let mut accessor = json!({ "componentType": FLOAT, "count": count, "type": "VEC3" });
            if !indices.is_empty() {
                let positions = self.view(bytemuck::cast_slice(indices), None)?;
                let values = self.view(bytemuck::cast_slice(values), None)?;
                accessor["sparse"] = json!({
                    "count": indices.len(),
                    "indices": { "bufferView": positions, "componentType": INT },
                    "values": { "bufferView": values },
                });
            }
            self.accessor(accessor)
        };
        if bounds {
            let first = values.first().copied().unwrap_or_default();
            let all = indices.len() == count;
            let around = if all { first } else { Vec3::ZERO };
            self.bound(index, values, [around; 2]);
        }
        Ok(index)
    }

    /// Adds the indices of triangles, in 16 bits if those are enough.
    pub(super) fn indices(&mut self, indices: &[u32], vertices: usize) -> Result<usize> {
        // The largest number of a type restarts primitives.
        let (view, kind) = if vertices <= usize::from(u16::MAX) {
            let narrow: Vec<u16> = indices.iter().map(|index| *index as u16).collect();
            let view = self.view(bytemuck::cast_slice(&narrow), Some(INDICES))?;
            (view, SHORT)
        } else {
            let view = self.view(bytemuck::cast_slice(indices), Some(INDICES))?;
            (view, INT)
        };
        Ok(self.accessor(json!({
            "bufferView": view,
            "componentType": kind,
            "count": indices.len(),
            "type": "SCALAR",
        })))
    }

    /// Adds matrices, such as those of a skin.
    pub(super) fn matrices(&mut self, matrices: &[[f32; 16]]) -> Result<usize> {
        let view = self.view(bytemuck::cast_slice(matrices), None)?;
        Ok(self.accessor(json!({
            "bufferView": view,
            "componentType": FLOAT,
            "count": matrices.len(),
            "type": "MAT4",
        })))
    }

    /// Adds the keys of an animation to `keys`, which [`Self::end_keys`] makes the next view.
    ///
    /// All keys of an animation share one view, and equal key times share one accessor.
    pub(super) fn times(&mut self, keys: &mut Vec<u8>, times_s: &[f32]) -> Result<usize> {
        let bits: Vec<u32> = times_s.iter().map(|time_s| time_s.to_bits()).collect();
        if let Some(known) = self.times.get(&bits) {
            return Ok(*known);
        }
        let index = self.keys(keys, "SCALAR", times_s)?;
        // Key times ascend.
        self.accessors[index]["min"] = json!([times_s.first()]);
        self.accessors[index]["max"] = json!([times_s.last()]);
        self.times.insert(bits, index);
        Ok(index)
    }

    /// Adds the values of keys. See [`Self::times`].
    pub(super) fn keys<T: bytemuck::NoUninit>(
        &mut self,
        keys: &mut Vec<u8>,
        kind: &str,
        values: &[T],
    ) -> Result<usize> {
        self.expect_space(keys.len() + size_of_val(values))?;
        let offset = keys.len();
        keys.extend_from_slice(bytemuck::cast_slice(values));
        Ok(self.accessor(json!({
            "bufferView": self.views.len(),
            "byteOffset": offset,
            "componentType": FLOAT,
            "count": values.len(),
            "type": kind,
        })))
    }

    pub(super) fn end_keys(&mut self, keys: &[u8]) -> Result<()> {
        self.times.clear();
        self.view(keys, None)?;
        Ok(())
    }

    /// The file: header, JSON padded with spaces, binary part padded with zeros.
    pub(super) fn into_file(mut self, mut root: Value) -> Result<Vec<u8>> {
        let accessors = std::mem::take(&mut self.accessors);
        let views = std::mem::take(&mut self.views);
        put_lists(
            &mut root,
            [("accessors", accessors), ("bufferViews", views)],
        );
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        if !self.bytes.is_empty() {
            root["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
        }
        let mut json = root.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        self.expect_space(HEADER + 2 * CHUNK_HEADER + json.len())?;
        let chunks = [(*b"JSON", json), (*b"BIN\0", self.bytes)];
        let chunks = chunks.into_iter().filter(|(_, chunk)| !chunk.is_empty());
        let mut file = [*b"glTF", 2_u32.to_le_bytes(), [0; 4]].concat();
        for (kind, chunk) in chunks {
            // The whole file has fewer than 4 GiB.
            file.extend((chunk.len() as u32).to_le_bytes());
            file.extend(kind);
            file.extend(chunk);
        }
        let length = (file.len() as u32).to_le_bytes();
        file[8..HEADER].copy_from_slice(&length);
        Ok(file)
    }
}
