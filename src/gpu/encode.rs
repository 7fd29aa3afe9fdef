//! Encodes a character's records and streams as words of one mesh buffer.

use super::layout::{GpuInstance, GpuMaterial, GpuPrimitive};
use super::ranges::DrawRange;
use super::{MaterialClasses, limit};
use crate::character::{Character, DrawGroup};
use crate::error::Result;
use crate::mesh::{JointIndices, Material, MorphTarget, Primitive};
use crate::order;
use crate::palette::PaletteFormat;
use crate::skin::{SkinnedLayout, SkinnedStreams};
use glam::{Vec2, Vec3, Vec4};

/// Vertices per workgroup of the skin stage.
pub(crate) const CHUNK: u32 = 64;

/// Influences in a block.
const BLOCK: usize = 4;

/// A character's mesh buffer.
///
/// It starts with the records of primitives. Those of materials follow, from a multiple of their
/// size, so that one index finds them from the start of the buffer. Then come the streams.
#[derive(Debug, Default)]
pub(crate) struct Geometry {
    pub(crate) words: Vec<u32>,
    /// Copies of the records at the start.
    pub(crate) primitives: Vec<GpuPrimitive>,
    /// The index of the first material, in units of a material.
    first_material: u32,
    /// For each level of detail, the ranges of its draws, each with the index of its primitive.
    pub(crate) draws: Vec<Vec<(u32, DrawRange)>>,
    /// The skin stage's work for one instance.
    pub(crate) chunks: Vec<SkinChunks>,
    /// The layout of an instance's deformed vertices.
    pub(crate) skinned: SkinnedLayout,
}

/// Primitives that one variant of the skin stage deforms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SkinChunks {
    /// The constant `THRONG_VARIANT` of its pipeline.
    pub(crate) variant: u32,
    /// First word in the mesh buffer: pairs of primitive and first vertex.
    pub(crate) first: u32,
    /// Number of pairs, each for one workgroup.
    pub(crate) count: u32,
}

/// The index of the first material, in units of a material.
pub(crate) const fn first_material(primitives: usize) -> usize {
    (primitives * size_of::<GpuPrimitive>()).div_ceil(size_of::<GpuMaterial>())
}

impl Geometry {
    /// Encodes a character. `format` is the format of its palettes. `shared` is true if one
    /// descriptor set has the textures of all materials.
    pub(crate) fn new(
        character: &Character,
        (format, shared): (PaletteFormat, bool),
        max_bytes: u64,
    ) -> Result<Self> {
        let first_material = first_material(character.primitives().len());
        let records = (first_material + character.materials().len()) * size_of::<GpuMaterial>();
        let mut geometry = Self {
            words: vec![0; records / 4],
            first_material: first_material as u32,
            draws: vec![Vec::new(); 1 + character.level_count()],
            skinned: SkinnedLayout::new(character)?,
            ..Self::default()
        };
        let check = |words: &[u32]| {
            let what = "bytes of geometry (maxStorageBufferRange)";
            limit(what, words.len() as u64 * 4, max_bytes)
        };
        let parts = geometry.skinned.primitives.clone();
        for (number, (primitive, streams)) in (0..).zip(character.primitives().iter().zip(&parts)) {
            geometry.add(character, primitive, streams, (format, shared))?;
            geometry.add_indices(character, primitive, number)?;
            check(&geometry.words)?;
        }
        geometry.add_chunks()?;
        check(&geometry.words)?;
        let records = bytemuck::cast_slice(&geometry.primitives);
        if let Some(to) = geometry.words.get_mut(..records.len()) {
            to.copy_from_slice(records);
        }
        Ok(geometry)
    }

    /// Writes the records of the materials.
    pub(crate) fn set_materials(&mut self, materials: &[GpuMaterial]) {
        let records: &[u32] = bytemuck::cast_slice(materials);
        let start = self.first_material as usize * size_of::<GpuMaterial>() / 4;
        if let Some(to) = self.words.get_mut(start..start + records.len()) {
            to.copy_from_slice(records);
        }
    }

    fn add(
        &mut self,
        character: &Character,
        primitive: &Primitive,
        streams: &SkinnedStreams,
        (format, shared): (PaletteFormat, bool),
    ) -> Result<()> {
        let classes = MaterialClasses::new(character, primitive, shared);
        let variants = classes.table(character, primitive).into_iter();
        let variants = variants.map(|[material, class]| [self.first_material + material, class]);
        let variants: Vec<_> = variants.flatten().collect();
        let material = character.materials().get(primitive.material as usize);
        let (influences, more_influences) = self.add_influences(primitive)?;
        let wide = matches!(primitive.joints, JointIndices::U16(_));
        let own_tangents = primitive.tangents.iter().filter(|_| wide);
        let record = GpuPrimitive {
            vertex_count: primitive.vertex_count() as u32,
            palette_offset: primitive.palette.start,
            influence_count: primitive.influences_per_vertex,
            variant: Self::record_variant(character, primitive, format),
            positions: self.positions(primitive)?,
            influences,
            more_influences,
            uvs: self.pairs(&primitive.uvs)?,
            colors: self.colors(&primitive.colors)?,
            material: self.first_material + primitive.material,
            tangents: self.push(own_tangents.map(|t| tangent(*t)))?,
            uvs1: self.pairs(&primitive.uvs1)?,
            targets: self.add_targets(primitive)?,
            target_count: primitive.targets.len() as u32,
            first_weight: primitive.first_weight.0.into(),
            skinned_positions: streams.positions,
            skinned_normals: streams.normals.unwrap_or(GpuInstance::NONE),
            skinned_tangents: streams.tangents.unwrap_or(GpuInstance::NONE),
            variants: match variants.len() {
                0 => GpuInstance::NONE,
                _ => self.push(variants.into_iter())?,
            },
            second_tint_weight: material.map_or(0.0, |material| material.tint_weights[1]),
            base_color: material.map_or([1.0; 4], |material| material.base_color),
            tint: material.map_or([1.0; 4], super::material::tint),
        };
        self.primitives.push(record);
        Ok(())
    }

    /// The variant of a record: tints are those of all materials that instances may give it.
    fn record_variant(character: &Character, primitive: &Primitive, format: PaletteFormat) -> u32 {
        let own = variant(character, primitive, primitive.material, format);
        if primitive.variants.is_empty() {
            return own;
        }
        let tints = GpuPrimitive::TINT_WEIGHTS | GpuPrimitive::TINT_BY_MASK;
        let others = primitive.all_materials().into_iter();
        let others = others.map(|it| variant(character, primitive, it, format) & tints);
        others.fold(own | GpuPrimitive::VARIES, |all, of| all | of)
    }

    /// Appends the first four influences of each vertex, and after them the blocks of its others.
    ///
    /// If a vertex has fewer, its first joint is repeated with a weight of 0, so that shaders read
    /// an entry that they have read anyway.
    fn add_influences(&mut self, primitive: &Primitive) -> Result<(u32, u32)> {
        let per_vertex = primitive.influences_per_vertex as usize;
        let joint = |at: usize| match &primitive.joints {
            JointIndices::U8(list) => list.get(at).map_or(0, |joint| u16::from(*joint)),
            JointIndices::U16(list) => list.get(at).copied().unwrap_or(0),
        };
        let block = |vertex: usize, first: usize| {
            let start = vertex * per_vertex;
            let mut joints = [joint(start); BLOCK];
            let mut weights = [0_u16; BLOCK];
            for number in first..per_vertex.min(first + BLOCK) {
                let weight = primitive.weights.get(start + number).copied().unwrap_or(0);
                if weight > 0 {
                    joints[number - first] = joint(start + number);
                    weights[number - first] = weight;
                }
            }
            (joints, weights)
        };
        let pair = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
        let vertices = primitive.vertex_count();
        let wide = matches!(primitive.joints, JointIndices::U16(_));
        self.align(4);
        let first = self.push((0..vertices).flat_map(|vertex| {
            let ([a, b, c, d], [_, second, third, fourth]) = block(vertex, 0);
            let (weights, fourth) = (pair(second, third), u32::from(fourth));
            if wide {
                return [pair(a, b), pair(c, d), weights, fourth];
            }
            let tangent = primitive.tangents.get(vertex).map_or(0, |t| tangent(*t));
            let joints = u32::from_le_bytes([a, b, c, d].map(|joint| joint as u8));
            [joints, weights, fourth, tangent]
        }))?;
        let more = self.push((0..vertices).flat_map(|vertex| {
            let blocks = (BLOCK..per_vertex).step_by(BLOCK);
            blocks.flat_map(move |start| {
                let ([a, b, c, d], [e, f, g, h]) = block(vertex, start);
                [pair(a, b), pair(c, d), pair(e, f), pair(g, h)]
            })
        }))?;
        Ok((first, more))
    }

    /// Appends the targets' deltas, followed by the table of their offsets.
    fn add_targets(&mut self, primitive: &Primitive) -> Result<u32> {
        let mut table = Vec::with_capacity(primitive.targets.len() * 4);
        for target in &primitive.targets {
            let mask = self.push(mask(target, primitive.vertex_count()).into_iter())?;
            let mut deltas = |list: &[Vec3]| match list {
                [] => Ok(GpuInstance::NONE),
                list => self.vectors(list),
            };
            table.extend([
                mask,
                deltas(&target.positions)?,
                deltas(&target.normals)?,
                deltas(&target.tangents)?,
            ]);
        }
        self.push(table.into_iter())
    }

    /// Appends the indices of all levels of detail. A level that repeats the one before it shares
    /// its indices.
    fn add_indices(
        &mut self,
        character: &Character,
        primitive: &Primitive,
        number: u32,
    ) -> Result<()> {
        let mut ranges = self.ranges(character, primitive, 0)?;
        for level in 0..self.draws.len() {
            let before = level.checked_sub(2).map(|at| primitive.levels.get(at));
            let repeats = level > 1 && before.flatten() == primitive.levels.get(level - 1);
            if level > 0 && !repeats {
                ranges = self.ranges(character, primitive, level)?;
            }
            if let Some(draws) = self.draws.get_mut(level) {
                draws.extend(ranges.iter().map(|range| (number, *range)));
            }
        }
        Ok(())
    }

    /// Appends a primitive's indices at a level of detail.
    fn ranges(
        &mut self,
        character: &Character,
        primitive: &Primitive,
        level: usize,
    ) -> Result<Vec<DrawRange>> {
        let (indices, groups) = character.draw_groups(primitive, level);
        // 0xFFFF is the restart index of strips. Lists ignore it, but a primitive that has a vertex
        // 0xFFFF keeps 32-bit indices.
        let small: Option<Vec<u16>> = (primitive.vertex_count() <= 0xFFFF)
            .then(|| indices.iter().map(|i| u16::try_from(*i).ok()).collect())
            .flatten();
        let (mut first, narrow) = match small {
            Some(list) => (self.bytes(bytemuck::cast_slice(&list))? * 2, true),
            None => (self.push(indices.into_iter())?, false),
        };
        let mut range = |(group, count): (DrawGroup, u32)| {
            let range = DrawRange {
                first,
                count,
                narrow,
                group,
            };
            first += count;
            range
        };
        Ok(groups.into_iter().map(&mut range).collect())
    }

    fn add_chunks(&mut self) -> Result<()> {
        let variants = self.primitives.iter().map(|it| skin_variant(it.variant));
        let variants = order::sorted_set(variants.collect());
        for variant in variants {
            let of_variant = (0..).zip(&self.primitives);
            let of_variant = of_variant.filter(|(_, it)| skin_variant(it.variant) == variant);
            let chunks: Vec<u32> = of_variant
                .flat_map(|(number, primitive)| {
                    let starts = (0..primitive.vertex_count).step_by(CHUNK as usize);
                    starts.flat_map(move |first| [number, first])
                })
                .collect();
            let count = chunks.len() as u32 / 2;
            let first = self.push(chunks.into_iter())?;
            self.chunks.push(SkinChunks {
                variant,
                first,
                count,
            });
        }
        Ok(())
    }

    /// Appends words and returns the offset of the first.
    fn push(&mut self, words: impl Iterator<Item = u32>) -> Result<u32> {
        let start = self.words.len() as u64;
        let start = limit("words of geometry", start, u32::MAX.into())?;
        self.words.extend(words);
        Ok(start as u32)
    }

    /// Continues at a multiple of `words`, so that shaders can read as many at once.
    fn align(&mut self, words: usize) {
        let end = self.words.len().next_multiple_of(words);
        self.words.resize(end, 0);
    }

    /// Appends three `f32` per vertex, and its normal or zero.
    fn positions(&mut self, primitive: &Primitive) -> Result<u32> {
        self.align(4);
        let normals = primitive.normals.iter().map(|n| octahedral(*n));
        let normals = normals.chain(core::iter::repeat(0));
        let positions = primitive.positions.iter().zip(normals);
        self.push(positions.flat_map(|(position, normal)| {
            let [x, y, z] = position.to_array().map(f32::to_bits);
            [x, y, z, normal]
        }))
    }

    fn pairs(&mut self, values: &[Vec2]) -> Result<u32> {
        self.align(2);
        let pairs = values.iter().flat_map(Vec2::to_array);
        self.push(pairs.map(f32::to_bits))
    }

    fn colors(&mut self, colors: &[[f32; 4]]) -> Result<u32> {
        self.align(2);
        self.push(colors.iter().flat_map(color))
    }

    fn vectors(&mut self, values: &[Vec3]) -> Result<u32> {
        let values = values.iter().flat_map(Vec3::to_array);
        self.push(values.map(f32::to_bits))
    }

    /// Appends bytes, padded to a word, and returns the offset of the first word.
    fn bytes(&mut self, bytes: &[u8]) -> Result<u32> {
        self.push(bytes.chunks(4).map(|chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(word)
        }))
    }
}

/// The variant of a primitive's record with a material: its data and how it is skinned.
///
/// All draws of the primitive share the record, and some of them may flip.
pub(crate) fn variant(
    character: &Character,
    primitive: &Primitive,
    material: u32,
    format: PaletteFormat,
) -> u32 {
    type Of = GpuPrimitive;
    let material = character.materials().get(material as usize);
    let normals = !primitive.normals.is_empty();
    let colors = !primitive.colors.is_empty();
    let flags = [
        (
            matches!(primitive.joints, JointIndices::U16(_)),
            Of::JOINTS_U16,
        ),
        (normals, Of::HAS_NORMALS),
        (normals && !primitive.tangents.is_empty(), Of::HAS_TANGENTS),
        (!primitive.uvs.is_empty(), Of::HAS_UVS),
        (!primitive.uvs1.is_empty(), Of::HAS_UVS1),
        (colors, Of::HAS_COLORS),
        (
            colors && material.is_some_and(|m| m.tint_by_alpha),
            Of::TINT_BY_ALPHA,
        ),
        (
            material.is_some_and(Material::has_tint_weights),
            Of::TINT_WEIGHTS,
        ),
        (
            material.is_some_and(|m| m.tint_mask.is_some()),
            Of::TINT_BY_MASK,
        ),
        (!primitive.targets.is_empty(), Of::HAS_TARGETS),
        (primitive.influences_per_vertex <= 1, Of::ONE_INFLUENCE),
        (primitive.influences_per_vertex > 4, Of::MANY_INFLUENCES),
        (character.has_extreme_scales(primitive), Of::EXTREME_SCALES),
        (true, Of::READS_SKINNED | Of::MAY_FLIP),
    ];
    let flags = flags.into_iter().filter(|(has, _)| *has);
    let flags = flags.fold(0, |all, (_, flag)| all | flag);
    flags | (format as u32) << Of::METHOD_SHIFT
}

/// The part of a variant that the skin stage depends on.
pub(crate) const fn skin_variant(variant: u32) -> u32 {
    type Of = GpuPrimitive;
    let of_normals = Of::HAS_NORMALS | Of::HAS_TANGENTS | Of::EXTREME_SCALES;
    let of_draws = Of::READS_SKINNED | Of::MAY_FLIP;
    variant & (Of::FOR_POSITIONS & !of_draws | of_normals)
}

/// Two words for every 32 vertices: a bit for each vertex that the target moves, and the number of
/// moved vertices before them.
fn mask(target: &MorphTarget, vertices: usize) -> Vec<u32> {
    let mut words = vec![0_u32; vertices.div_ceil(32) * 2];
    for vertex in &target.vertices {
        if let Some(bits) = words.get_mut((vertex >> 5) as usize * 2) {
            *bits |= 1 << (vertex & 31);
        }
    }
    let mut before = 0;
    for pair in words.as_chunks_mut::<2>().0 {
        pair[1] = before;
        before += pair[0].count_ones();
    }
    words
}

/// Projects a unit vector onto the octahedron, −1 to 1 in both coordinates.
///
/// After Cigolle et al., "A Survey of Efficient Representations for Independent Unit Vectors",
/// 2014.
fn on_octahedron(normal: Vec3) -> (f32, f32) {
    let n = normal / (normal.x.abs() + normal.y.abs() + normal.z.abs()).max(f32::MIN_POSITIVE);
    let sign = |value: f32| if value >= 0.0 { 1.0 } else { -1.0 };
    if n.z >= 0.0 {
        (n.x, n.y)
    } else {
        ((1.0 - n.y.abs()) * sign(n.x), (1.0 - n.x.abs()) * sign(n.y))
    }
}

fn snorm16(value: f32) -> u32 {
    u32::from(((value.clamp(-1.0, 1.0) * 32767.0).round() as i16).cast_unsigned())
}

/// A unit vector as two snorm16.
fn octahedral(normal: Vec3) -> u32 {
    let (x, y) = on_octahedron(normal);
    snorm16(x) | snorm16(y) << 16
}

/// A tangent as two snorm16. The first is the nearest odd number if the bitangent's sign is
/// negative, and the nearest even number otherwise.
fn tangent(tangent: Vec4) -> u32 {
    let (x, y) = on_octahedron(tangent.truncate());
    let odd = f32::from(u8::from(tangent.w < 0.0));
    let pairs = (x.clamp(-1.0, 1.0) * 32767.0 - odd) / 2.0;
    let x = (2.0 * pairs.round() + odd).clamp(-32767.0 + (1.0 - odd), 32766.0 + odd) as i16;
    u32::from(x.cast_unsigned()) | snorm16(y) << 16
}

/// Linear RGBA as four unorm16 in two words.
fn color(rgba: &[f32; 4]) -> [u32; 2] {
    let unorm = |value: f32| (value.clamp(0.0, 1.0) * 65535.0).round() as u32;
    [
        unorm(rgba[0]) | unorm(rgba[1]) << 16,
        unorm(rgba[2]) | unorm(rgba[3]) << 16,
    ]
}
