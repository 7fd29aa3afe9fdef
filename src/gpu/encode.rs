//! A character's streams as the GPU reads them: words in one geometry buffer.

use super::layout::{
    self, HAS_COLORS, HAS_NORMALS, HAS_UVS, JOINTS_U16, TINT_BY_ALPHA, WEIGHTS_U8,
};
use super::limit;
use crate::character::{Character, JointIndices, Primitive};
use crate::error::Result;
use ash::vk;
use glam::{Vec2, Vec3};

/// Where a primitive's indices lie in the geometry buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexRange {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) kind: vk::IndexType,
}

/// A character's geometry buffer, and what says where things lie in it.
#[derive(Debug, Default)]
pub(crate) struct Geometry {
    pub(crate) words: Vec<u32>,
    pub(crate) primitives: Vec<layout::Primitive>,
    pub(crate) indices: Vec<IndexRange>,
}

impl Geometry {
    pub(crate) fn new(character: &Character, max_bytes: u64) -> Result<Self> {
        let mut geometry = Self::default();
        for primitive in character.primitives() {
            geometry.add(character, primitive)?;
            limit(
                "bytes of geometry (maxStorageBufferRange)",
                geometry.words.len() as u64 * 4,
                max_bytes,
            )?;
        }
        Ok(geometry)
    }

    fn add(&mut self, character: &Character, primitive: &Primitive) -> Result<()> {
        let material = character.materials().get(primitive.material as usize);
        let narrow_weights = narrow(&primitive.influences.weights);
        let wide = matches!(primitive.influences.joints, JointIndices::U16(_));
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        let flags = flag(wide, JOINTS_U16)
            | flag(narrow_weights.is_some(), WEIGHTS_U8)
            | flag(!primitive.normals.is_empty(), HAS_NORMALS)
            | flag(!primitive.uvs.is_empty(), HAS_UVS)
            | flag(!primitive.colors.is_empty(), HAS_COLORS)
            | flag(material.is_some_and(|m| m.tint_by_alpha), TINT_BY_ALPHA);
        let record = layout::Primitive {
            vertex_count: primitive.vertex_count() as u32,
            palette_offset: primitive.palette.start,
            influences: primitive.influences.per_vertex,
            flags,
            positions: self.floats(primitive.positions.iter().flat_map(|p| p.to_array()))?,
            joints: match &primitive.influences.joints {
                JointIndices::U8(list) => self.bytes(list)?,
                JointIndices::U16(list) => self.bytes(bytemuck::cast_slice(list))?,
            },
            weights: match &narrow_weights {
                Some(list) => self.bytes(list)?,
                None => self.bytes(bytemuck::cast_slice(&primitive.influences.weights))?,
            },
            normals: self.push(primitive.normals.iter().map(|n| octahedral(*n)))?,
            uvs: self.floats(primitive.uvs.iter().flat_map(Vec2::to_array))?,
            colors: self.push(primitive.colors.iter().flat_map(color))?,
            material: primitive.material,
            reserved: 0,
            base_color: material.map_or([1.0; 4], |material| material.base_color),
        };
        self.primitives.push(record);
        self.add_indices(primitive)
    }

    fn add_indices(&mut self, primitive: &Primitive) -> Result<()> {
        let count = primitive.indices.len() as u32;
        let small: Option<Vec<u16>> = primitive
            .indices
            .iter()
            .map(|i| u16::try_from(*i).ok())
            .collect();
        // 0xFFFF restarts strips; lists don't care, but a vertex of that number stays in 32 bits.
        let range = match small {
            Some(list) if primitive.vertex_count() <= 0xFFFF => {
                let first = self.bytes(bytemuck::cast_slice(&list))? * 2;
                IndexRange {
                    first,
                    count,
                    kind: vk::IndexType::UINT16,
                }
            }
            _ => {
                let first = self.push(primitive.indices.iter().copied())?;
                IndexRange {
                    first,
                    count,
                    kind: vk::IndexType::UINT32,
                }
            }
        };
        self.indices.push(range);
        Ok(())
    }

    /// Appends words and returns where they start.
    fn push(&mut self, words: impl Iterator<Item = u32>) -> Result<u32> {
        let start = limit(
            "words of geometry",
            self.words.len() as u64,
            u32::MAX.into(),
        )? as u32;
        self.words.extend(words);
        Ok(start)
    }

    fn floats(&mut self, values: impl Iterator<Item = f32>) -> Result<u32> {
        self.push(values.map(f32::to_bits))
    }

    /// Appends bytes, padded to a word.
    fn bytes(&mut self, bytes: &[u8]) -> Result<u32> {
        self.push(bytes.chunks(4).map(|chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(word)
        }))
    }
}

/// The weights in 8 bits, where that loses nothing: in files that have them so, every weight is a
/// multiple of 1/255, which is 257/65,535.
fn narrow(weights: &[u16]) -> Option<Vec<u8>> {
    let exact = !weights.is_empty() && weights.iter().all(|weight| weight % 257 == 0);
    exact.then(|| weights.iter().map(|weight| (weight / 257) as u8).collect())
}

/// A unit vector as two snorm16 on the octahedron, after Cigolle et al., "A Survey of Efficient
/// Representations for Independent Unit Vectors", 2014.
fn octahedral(normal: Vec3) -> u32 {
    let n = normal / (normal.x.abs() + normal.y.abs() + normal.z.abs()).max(f32::MIN_POSITIVE);
    let sign = |value: f32| if value >= 0.0 { 1.0 } else { -1.0 };
    let (x, y) = if n.z >= 0.0 {
        (n.x, n.y)
    } else {
        ((1.0 - n.y.abs()) * sign(n.x), (1.0 - n.x.abs()) * sign(n.y))
    };
    let snorm =
        |value: f32| u32::from(((value.clamp(-1.0, 1.0) * 32767.0).round() as i16).cast_unsigned());
    snorm(x) | snorm(y) << 16
}

/// Linear RGBA as four unorm16 in two words.
fn color(rgba: &[f32; 4]) -> [u32; 2] {
    let unorm = |value: f32| (value.clamp(0.0, 1.0) * 65535.0).round() as u32;
    [
        unorm(rgba[0]) | unorm(rgba[1]) << 16,
        unorm(rgba[2]) | unorm(rgba[3]) << 16,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `throng_normal` decodes.
    fn decode(word: u32) -> Vec3 {
        let snorm = |bits: u32| (f32::from((bits as u16).cast_signed()) / 32767.0).max(-1.0);
        let (x, y) = (snorm(word & 0xFFFF), snorm(word >> 16));
        let z = 1.0 - x.abs() - y.abs();
        let fold = (-z).max(0.0);
        let unfold = |v: f32| if v >= 0.0 { v - fold } else { v + fold };
        Vec3::new(unfold(x), unfold(y), z).normalize()
    }

    #[test]
    fn weights_take_eight_bits_only_where_they_fit_exactly() {
        assert_eq!(
            narrow(&[65_535, 0, 257, 65_278]),
            Some(vec![255, 0, 1, 254])
        );
        assert_eq!(narrow(&[65_534, 1]), None);
        assert_eq!(narrow(&[]), None);
    }

    #[test]
    fn normals_survive_to_within_a_few_thousandths_of_a_degree() {
        let mut worst = 0.0_f32;
        for i in 0..10_000_u32 {
            // Fibonacci sphere.
            let z = 1.0 - 2.0 * (i as f32 + 0.5) / 10_000.0;
            let (sin, cos) = (i as f32 * 2.399_963_1).sin_cos();
            let r = (1.0 - z * z).sqrt();
            let n = Vec3::new(r * cos, r * sin, z);
            worst = worst.max(n.cross(decode(octahedral(n))).length());
        }
        // One step of 1/32767 on the octahedron turns a normal by at most about 1e-4 / sqrt(2).
        assert!(worst < 8e-5, "{worst}");
        for axis in [
            Vec3::X,
            Vec3::NEG_X,
            Vec3::Y,
            Vec3::NEG_Y,
            Vec3::Z,
            Vec3::NEG_Z,
        ] {
            assert_eq!(decode(octahedral(axis)), axis);
        }
    }
}
