//! Structures that shaders read, byte for byte as the shader includes declare them.
//!
//! The includes are `shaders/include/throng_data.glsl` and `shaders/include/throng_surface.glsl`.
//! Sizes and offsets are asserted here at compile time, and a test compares them with the offsets
//! in the compiled SPIR-V.

use crate::glam::{Affine3A, vec3};
use crate::gpu::half;
use crate::mesh::Material;
use crate::palette::Mat3x4;
use bytemuck::{Pod, Zeroable};
use core::mem::{offset_of, size_of};

/// One instance of a character (`ThrongInstance`).
///
/// ```
/// use throng::glam::{Affine3A, vec3};
/// use throng::gpu::GpuInstance;
///
/// let world_from_model = Affine3A::from_translation(vec3(0.0, 0.0, -2.0));
/// # let rest_palette = 4096;
/// let record = GpuInstance {
///     palette: rest_palette, // SkinnedMesh::rest_palette, or a palette of your own
///     ..GpuInstance::new(&world_from_model)
/// };
/// assert_eq!(record.side, 1.0);
/// ```
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuInstance {
    /// World space from character space.
    pub world_from_model: Mat3x4,
    /// The first row of the matrix for normals.
    ///
    /// That matrix has the cofactors of `world_from_model`, times [`Self::side`] and any positive
    /// factor.
    pub normal_x: [f32; 3],
    /// Sign of the determinant of `world_from_model`: 1 or −1.
    pub side: f32,
    /// The second row of the matrix for normals.
    pub normal_y: [f32; 3],
    /// A word for the engine's shaders.
    pub user: u32,
    /// The third row of the matrix for normals.
    pub normal_z: [f32; 3],
    /// Stamp that changes if motion vectors must ignore the last frame.
    ///
    /// That is so for another instance and after a teleport.
    pub stamp: u32,
    /// The colours and the material variant, as [`Self::pack_colors`] makes them.
    pub colors: [u32; 4],
    /// The palette: a device address, or [`Self::in_ring`] of an offset.
    ///
    /// It is a multiple of 16. At an address, the whole palette of the character lies in a buffer
    /// with the usage `SHADER_DEVICE_ADDRESS`, which stays alive until all GPU work that reads this
    /// record has ended. No robustness feature checks such reads.
    pub palette: u64,
    /// First word of its active morph weights, or [`Self::NONE`].
    ///
    /// It is an offset into the frame's lists.
    pub morphs: u32,
    /// First word of the deformed vertices, or [`Self::NONE`].
    pub skinned: u32,
}

impl GpuInstance {
    /// An offset that refers to nothing.
    pub const NONE: u32 = u32::MAX;

    /// An instance with this transform, white tints, and no palette.
    ///
    /// It has the materials of the file, no morph weights and no deformed vertices.
    #[must_use]
    pub fn new(world_from_model: &Affine3A) -> Self {
        let mut record = Self {
            colors: Self::pack_colors([1.0; 4], [1.0; 3], 0),
            morphs: Self::NONE,
            skinned: Self::NONE,
            ..Zeroable::zeroed()
        };
        record.set_transform(world_from_model);
        record
    }

    /// Sets the transform, with the matrix for normals.
    pub fn set_transform(&mut self, world_from_model: &Affine3A) {
        self.world_from_model = Mat3x4::from_affine(world_from_model);
        let [a, b, c] = self.world_from_model.rows.map(|[x, y, z, _]| vec3(x, y, z));
        // Scaled to a largest element of 1 first, because products of small numbers would vanish.
        let largest = a.abs().max(b.abs()).max(c.abs()).max_element();
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let [a, b, c] = [a / scale, b / scale, c / scale];
        let (bc, ca, ab) = (b.cross(c), c.cross(a), a.cross(b));
        self.side = if a.dot(bc) < 0.0 { -1.0 } else { 1.0 };
        // With a little of the identity: where an instance is scaled to nothing, normals keep their
        // direction.
        self.normal_x = (bc * self.side + vec3(1e-18, 0.0, 0.0)).to_array();
        self.normal_y = (ca * self.side + vec3(0.0, 1e-18, 0.0)).to_array();
        self.normal_z = (ab * self.side + vec3(0.0, 0.0, 1e-18)).to_array();
    }

    /// [`Self::colors`] of two colours and a material variant.
    ///
    /// `tint` is linear RGBA that multiplies the base colour. `second_tint` is linear RGB for
    /// shaders: `throng_second_tint`. Variant 0 means the materials of the file.
    ///
    /// Colours are stored in half precision, rounded to nearest even. What is not between 0 and
    /// 65,504 is clamped, and NaN becomes 0.
    #[must_use]
    pub fn pack_colors(tint: [f32; 4], second_tint: [f32; 3], variant: u16) -> [u32; 4] {
        let pair = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
        let ([r, g, b, a], [x, y, z]) = (tint.map(half::pack), second_tint.map(half::pack));
        [pair(r, g), pair(b, a), pair(x, y), pair(z, variant)]
    }

    /// The first colour: linear RGBA.
    #[must_use]
    pub fn tint(&self) -> [f32; 4] {
        let [[r, g], [b, a], ..] = self.halves();
        [r, g, b, a].map(half::unpack)
    }

    /// The second colour: linear RGB.
    #[must_use]
    pub fn second_tint(&self) -> [f32; 3] {
        let [.., [r, g], [b, _]] = self.halves();
        [r, g, b].map(half::unpack)
    }

    /// [`Self::colors`] with another material variant.
    pub(crate) fn with_variant([a, b, c, d]: [u32; 4], variant: u16) -> [u32; 4] {
        [a, b, c, d & 0xFFFF | u32::from(variant) << 16]
    }

    /// The material variant. 0 means the materials of the file.
    #[must_use]
    pub fn variant(&self) -> u16 {
        let [.., [_, variant]] = self.halves();
        variant
    }

    fn halves(&self) -> [[u16; 2]; 4] {
        self.colors.map(|word| [word as u16, (word >> 16) as u16])
    }

    /// [`Self::palette`] for a palette in the ring, at an offset in bytes in the frame's part.
    #[must_use]
    pub const fn in_ring(offset: u32) -> u64 {
        (Self::NONE as u64) << 32 | offset as u64
    }
}

/// A changed instance, as the CPU writes it. The scatter pass makes a [`GpuInstance`] of it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuChange {
    pub(crate) world_from_model: Mat3x4,
    pub(crate) colors: [u32; 4],
    pub(crate) palette: u64,
    pub(crate) morphs: u32,
    pub(crate) skinned: u32,
    pub(crate) user: u32,
    pub(crate) stamp: u32,
    /// Zero.
    pub(crate) reserved: [u32; 2],
}

impl GpuChange {
    /// The instance that the scatter pass makes.
    pub(crate) fn instance(&self) -> GpuInstance {
        GpuInstance {
            colors: self.colors,
            palette: self.palette,
            morphs: self.morphs,
            skinned: self.skinned,
            user: self.user,
            stamp: self.stamp,
            ..GpuInstance::new(&self.world_from_model.to_affine())
        }
    }
}

/// Record of a primitive (`ThrongPrimitive`).
///
/// Offsets of its streams are in 32-bit words from the start of the mesh buffer.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuPrimitive {
    /// Number of vertices.
    pub vertex_count: u32,
    /// First entry of its range of the character's palette.
    pub palette_offset: u32,
    /// Influences per vertex.
    pub influence_count: u32,
    /// The variant: flags such as [`Self::JOINTS_U16`].
    pub variant: u32,
    /// Word offset, a multiple of 4; 4 words per vertex.
    ///
    /// They are `f32` x, y, z and the normal as an octahedral snorm16 pair.
    pub positions: u32,
    /// Word offset, a multiple of 4; 4 words per vertex.
    ///
    /// The first four influences. With 8-bit joints, one word has the joints, two the weights of
    /// the second to the fourth as unorm16, and the last the tangent. With 16-bit joints, two words
    /// have the joints and two the weights.
    pub influences: u32,
    /// Word offset, a multiple of 4; blocks of four influences, 4 words each.
    ///
    /// A vertex has ⌈influences / 4⌉ − 1 blocks of joints as u16 and weights as unorm16.
    pub more_influences: u32,
    /// Word offset, a multiple of 2; 2 words per vertex.
    pub uvs: u32,
    /// Word offset, a multiple of 2; 4 unorm16 per vertex.
    pub colors: u32,
    /// Index of its material, in units of a material from the start of the mesh buffer.
    pub material: u32,
    /// Word offset; one packed tangent per vertex, only with 16-bit joints.
    ///
    /// A tangent is an octahedral pair of snorm16. The first is odd if the bitangent's sign is −1,
    /// and even otherwise.
    pub tangents: u32,
    /// Word offset, a multiple of 2; 2 words per vertex.
    pub uvs1: u32,
    /// Word offset; 4 words per morph target.
    ///
    /// They say where its mask, positions, normals and tangents start.
    pub targets: u32,
    /// Number of morph targets.
    pub target_count: u32,
    /// The character's morph weight that drives the first target.
    pub first_weight: u32,
    /// Word offset in an instance's deformed vertices; 3 words per vertex.
    pub skinned_positions: u32,
    /// Word offset in an instance's deformed vertices; 3 words per vertex.
    pub skinned_normals: u32,
    /// Word offset in an instance's deformed vertices; 4 words per vertex.
    pub skinned_tangents: u32,
    /// Word offset of its materials by the variant of an instance, or [`GpuInstance::NONE`].
    ///
    /// There are two words for each variant, and first for none: the material as in
    /// [`Self::material`], and its class ([`PrimitiveDraw::class`](super::PrimitiveDraw::class)).
    pub variants: u32,
    /// Weight of the second tint, for [`Self::TINT_WEIGHTS`].
    pub second_tint_weight: f32,
    /// Linear RGBA.
    pub base_color: [f32; 4],
    /// For [`Self::TINT_WEIGHTS`]: 1 / reference colour, and the weight of the first tint.
    pub tint: [f32; 4],
}

impl GpuPrimitive {
    /// [`Self::variant`]: joint indices have 16 bits; otherwise 8.
    pub(crate) const JOINTS_U16: u32 = 1;
    /// [`Self::variant`]: there are normals; otherwise triangles are shaded flat.
    pub(crate) const HAS_NORMALS: u32 = 2;
    /// [`Self::variant`]: there are texture coordinates.
    pub(crate) const HAS_UVS: u32 = 4;
    /// [`Self::variant`]: there are vertex colours.
    pub(crate) const HAS_COLORS: u32 = 8;
    /// [`Self::variant`]: there are morph targets.
    pub(crate) const HAS_TARGETS: u32 = 16;
    /// [`Self::variant`]: the vertex colour's alpha is the weight of the instance's tint.
    pub(crate) const TINT_BY_ALPHA: u32 = 32;
    /// [`Self::variant`]: there are tangents.
    pub(crate) const HAS_TANGENTS: u32 = 64;
    /// [`Self::variant`]: there is a second set of texture coordinates.
    pub(crate) const HAS_UVS1: u32 = 128;
    /// [`Self::variant`]: first of two bits that hold the character's palette format.
    ///
    /// Its value there is that of the [`PaletteFormat`](crate::palette::PaletteFormat).
    pub(crate) const METHOD_SHIFT: u32 = 8;
    /// [`Self::variant`]: every vertex follows one joint.
    pub(crate) const ONE_INFLUENCE: u32 = 1024;
    /// [`Self::variant`]: some vertices follow more than four joints.
    pub(crate) const MANY_INFLUENCES: u32 = 2048;
    /// [`Self::variant`]: instances may have deformed vertices.
    pub(crate) const READS_SKINNED: u32 = 4096;
    /// [`Self::variant`]: the draw is for the instances that an entry of the palette selects.
    pub(crate) const MAY_FLIP: u32 = 8192;
    /// [`Self::variant`]: products of the scales of joints could overflow or vanish.
    pub(crate) const EXTREME_SCALES: u32 = 16384;
    /// [`Self::variant`]: the material is that of the instance's variant.
    pub(crate) const VARIES: u32 = 32768;
    /// [`Self::variant`]: draws do not have the starts of their lists as first instances.
    pub(crate) const LIST_STARTS: u32 = 65536;
    /// [`Self::variant`]: tints have weights and a reference colour.
    pub(crate) const TINT_WEIGHTS: u32 = 131_072;
    /// [`Self::variant`]: the fragment shader applies the tints, through a mask.
    pub(crate) const TINT_BY_MASK: u32 = 262_144;
    /// [`Self::variant`]: what a position depends on.
    pub(crate) const FOR_POSITIONS: u32 = Self::JOINTS_U16
        | Self::HAS_TARGETS
        | 3 << Self::METHOD_SHIFT
        | Self::ONE_INFLUENCE
        | Self::MANY_INFLUENCES
        | Self::READS_SKINNED
        | Self::MAY_FLIP
        | Self::VARIES
        | Self::LIST_STARTS;
}

/// A draw in the table of the stages args and looks.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuDraw {
    /// The number of its character, or `u32::MAX` for none.
    pub character: u32,
    /// The bucket of its instances.
    pub bucket: u32,
    /// The number of indices.
    pub index_count: u32,
    /// The first index.
    pub first_index: u32,
    /// For instances whose looks vary: the bit that hides the primitive, or [`Self::NO_PART`], and
    /// from [`Self::ORDINAL_SHIFT`] on the number of the draw among such draws of its level.
    pub kind: u32,
    /// The class of the materials that it draws, or [`GpuInstance::NONE`].
    pub class: u32,
    /// Device address of [`GpuPrimitive::variants`], low word first, if there is a class.
    pub variants: [u32; 2],
}

impl GpuDraw {
    /// [`Self::kind`]: nothing hides the primitive.
    pub(crate) const NO_PART: u32 = 255;
    /// [`Self::kind`]: the first bit of the number.
    pub(crate) const ORDINAL_SHIFT: u32 = 8;
    /// The record of a draw that draws nothing.
    pub(crate) const NOTHING: Self = Self {
        character: u32::MAX,
        bucket: 0,
        index_count: 0,
        first_index: 0,
        kind: 0,
        class: 0,
        variants: [0; 2],
    };
}

/// A texture of a material (`ThrongTexture`).
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuTexture {
    /// Columns of the 2×2 matrix that transforms texture coordinates.
    pub uv_matrix: [f32; 4],
    /// Offset that is added after that.
    pub uv_offset: [f32; 2],
    /// The set of texture coordinates: 0 or 1.
    ///
    /// It is combined with [`Self::UV_TRANSFORMED`] if matrix or offset is not the identity.
    pub uv_set: u32,
    /// Its index in the array of the set's textures.
    pub slot: u32,
}

impl GpuTexture {
    /// [`Self::uv_set`]: the texture coordinates are transformed.
    pub(crate) const UV_TRANSFORMED: u32 = 2;
}

/// Appearance of a surface (`ThrongMaterial`).
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuMaterial {
    /// Linear RGBA.
    pub base_color: [f32; 4],
    /// Linear RGB.
    pub emissive: [f32; 3],
    /// Cutoff for [`Self::ALPHA_MASK`].
    pub alpha_cutoff: f32,
    /// Metalness, 0 to 1.
    pub metallic: f32,
    /// Perceptual roughness, 0 to 1.
    pub roughness: f32,
    /// Scale of x and y of the normal texture.
    pub normal_scale: f32,
    /// Occlusion strength, 0 to 1.
    pub occlusion_strength: f32,
    /// The variant: flags such as [`Self::ALPHA_MASK`].
    pub variant: u32,
    /// As in [`GpuPrimitive`].
    pub second_tint_weight: f32,
    /// Zero.
    pub reserved: [u32; 2],
    /// As in [`GpuPrimitive`].
    pub tint: [f32; 4],
    /// The textures, in the order of [`Material::textures`].
    pub textures: [GpuTexture; Material::TEXTURES],
}

impl GpuMaterial {
    /// [`Self::variant`]: fragments with alpha below the cutoff are discarded.
    pub(crate) const ALPHA_MASK: u32 = 1;
    /// [`Self::variant`]: alpha is the opacity of the surface over what lies behind.
    pub(crate) const ALPHA_BLEND: u32 = 2;
    /// [`Self::variant`]: the material is not lit.
    pub(crate) const UNLIT: u32 = 4;
    /// [`Self::variant`]: texture coordinates of a texture are transformed.
    pub(crate) const TURNS_UVS: u32 = 8;
    /// [`Self::variant`]: a texture uses the second set of texture coordinates.
    pub(crate) const SECOND_UVS: u32 = 16;
    /// [`Self::variant`]: first of six bits that say which textures exist.
    pub(crate) const TEXTURE_SHIFT: u32 = 8;
    /// In a pipeline: the primitive has normals.
    pub(crate) const SURFACE_NORMALS: u32 = 16384;
    /// In a pipeline: the primitive has tangents.
    pub(crate) const SURFACE_TANGENTS: u32 = 32768;
    /// In a pipeline: back faces are drawn.
    pub(crate) const TWO_SIDED: u32 = 65536;
    /// In a pipeline: the material is that of the instance, with these properties at most.
    pub(crate) const MANY: u32 = 131_072;
    /// [`Self::variant`]: the bits of all textures.
    pub(crate) const TEXTURES: u32 = 63 << Self::TEXTURE_SHIFT;
    /// [`Self::variant`]: there is a texture of the base colour.
    pub(crate) const BASE_COLOR: u32 = 1 << Self::TEXTURE_SHIFT;
    /// [`Self::variant`]: there is a texture of normals.
    pub(crate) const NORMAL_MAP: u32 = 4 << Self::TEXTURE_SHIFT;
}

/// The data of a view for shaders (`ThrongView`), std140.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuView {
    /// Columns of the clip matrix, with jitter.
    pub clip_from_world: [[f32; 4]; 4],
    /// World position and 1.
    ///
    /// For an orthographic view, the direction towards the eye and 0.
    pub eye: [f32; 4],
    /// Unit vector towards the sun.
    pub sun_direction: [f32; 3],
    /// 1 / edge length of the shadow map in texels.
    pub shadow_texel: f32,
    /// Linear RGB.
    pub sun_color: [f32; 3],
    /// Texels by which a point is moved off its surface.
    pub shadow_bias: f32,
    /// Linear RGB.
    pub sky_color: [f32; 3],
    /// The jitter in normalised device coordinates.
    pub jitter_x: f32,
    /// Linear RGB.
    pub ground_color: [f32; 3],
    /// The jitter in normalised device coordinates.
    pub jitter_y: f32,
    /// Device addresses of the last frame's state.
    ///
    /// It has instances, palettes, morph weights and deformed vertices. They are read if
    /// [`Self::history_instances`] is not 0.
    pub history: [u64; 4],
    /// Device address of this frame's palettes in the ring.
    pub ring_palettes: u64,
    /// Number of instances in the last frame.
    ///
    /// It is 0 if there was no last frame.
    pub history_instances: u32,
    /// Layers of the shadow map.
    pub shadow_layers: u32,
    /// Columns of the clip matrix, without jitter. For motion vectors.
    pub steady_clip_from_world: [[f32; 4]; 4],
    /// Columns of the clip matrix in the view's last frame, without jitter. For motion vectors.
    pub previous_clip_from_world: [[f32; 4]; 4],
    /// The present origin in the world space of the view's last frame, and 0.
    pub history_origin: [f32; 4],
    /// Columns; x and y go from 0 to 1, z is depth.
    ///
    /// The CPU writes only those of the shadow map's layers.
    pub shadow_from_world: [[[f32; 4]; 4]; GpuView::SHADOW_LAYERS],
    /// Rows of the rotation from the world to the environment.
    ///
    /// The last numbers are the intensity of the environment map, or 0, and its last level.
    pub environment_from_world: [[f32; 4]; 3],
    /// Factors of the polynomials of spherical harmonics, linear RGB and 0, for the light that a
    /// rough white surface reflects.
    pub environment: [[f32; 4]; 9],
}

/// The data of one eye of a view with several, for shaders (`ThrongEye`), std140.
///
/// As many as a view has follow its [`GpuView`].
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuEye {
    /// See [`GpuView::clip_from_world`].
    pub clip_from_world: [[f32; 4]; 4],
    /// See [`GpuView::eye`].
    pub eye: [f32; 4],
    /// The jitter in normalised device coordinates.
    pub jitter_x: f32,
    /// The jitter in normalised device coordinates.
    pub jitter_y: f32,
    /// Zero.
    pub reserved: [u32; 2],
    /// See [`GpuView::steady_clip_from_world`].
    pub steady_clip_from_world: [[f32; 4]; 4],
    /// See [`GpuView::previous_clip_from_world`].
    pub previous_clip_from_world: [[f32; 4]; 4],
}

impl GpuView {
    /// The largest number of layers of a shadow map.
    pub(crate) const SHADOW_LAYERS: usize = 4;
    /// The largest number of eyes of a view.
    pub(crate) const EYES: usize = 4;

    /// The parts of the view that the CPU writes, each with its first byte. `moves` is false if
    /// nothing reads its motion, and `lights` if nothing reads its environment.
    pub(crate) fn written(&self, moves: bool, lights: bool) -> [(u64, &[u8]); 4] {
        let bytes = bytemuck::bytes_of(self);
        let part = |start: usize, len: usize| {
            let part = bytes.get(start..start + len);
            (start as u64, part.unwrap_or_default())
        };
        let motion = offset_of!(Self, steady_clip_from_world);
        let shadow = offset_of!(Self, shadow_from_world);
        let lit = offset_of!(Self, environment_from_world);
        let layers = (self.shadow_layers as usize).min(Self::SHADOW_LAYERS);
        let each = size_of::<[[f32; 4]; 4]>();
        [
            part(0, motion),
            part(motion, if moves { shadow - motion } else { 0 }),
            part(shadow, layers * each),
            part(lit, if lights { size_of::<Self>() - lit } else { 0 }),
        ]
    }
}

/// The state of an instance that the cull stage reads.
///
/// Actors follow the instances in their buffer. The CPU writes the sphere in character space, which
/// is in the rows behind them there. In theirs, the stages scatter, attach and shift place it in
/// world space.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuActor {
    /// Centre of its bounding sphere.
    pub center: [f32; 3],
    /// Radius of that sphere.
    pub radius: f32,
    /// The largest scale from character to world space, which the stages find.
    pub scale: f32,
    /// The mask of views that may show it, or 0.
    pub mask: u32,
    /// Flags such as [`Self::FLIPPED`], and [`Self::pose_error`].
    pub flags: u32,
    /// The first of its play records, above [`Self::PLAY_COUNT_BITS`] bits of their number.
    pub plays: u32,
    /// A bit for each primitive that it hides.
    pub hidden: [u32; 4],
}

impl GpuActor {
    /// [`Self::flags`]: its transform is flipped.
    pub(crate) const FLIPPED: u32 = 1;
    /// [`Self::flags`]: it hides primitives, or has a material variant.
    pub(crate) const VARIES: u32 = 2;
    /// [`Self::flags`]: the levels of detail that views had of it do not count any more.
    pub(crate) const NEW: u32 = 4;
    /// [`Self::flags`]: the GPU poses it.
    pub(crate) const POSED: u32 = 8;
    /// [`Self::flags`]: the GPU deforms its vertices before they are drawn.
    pub(crate) const SKINS: u32 = 16;
    /// [`Self::flags`]: first of eleven bits for the volume that contains its vertices if it shares
    /// poses or rests: 0 is the sphere, and others are boxes of its character.
    pub(crate) const VOLUME_SHIFT: u32 = 5;
    /// The box of the rest pose.
    pub(crate) const REST_BOX: u32 = 1;
    /// The box of the shared poses of the first clip, before those of the others.
    pub(crate) const FIRST_CLIP_BOX: u32 = 2;
    /// The last box.
    pub(crate) const LAST_BOX: u32 = (1 << (Self::FLAG_BITS - Self::VOLUME_SHIFT)) - 1;
    /// Bits for the number of play records.
    pub(crate) const PLAY_COUNT_BITS: u32 = 4;
    /// Bits for flags, below [`Self::pose_error`].
    pub(crate) const FLAG_BITS: u32 = 16;

    /// The bits of [`Self::flags`] for the error in metres with which shared poses stand in for
    /// what it plays: the upper half of a number that is not smaller. With 0, there are none.
    pub(crate) fn pose_error(error_m: Option<f32>) -> u32 {
        let bits = error_m.map_or(0, |error_m| error_m.max(f32::MIN_POSITIVE).to_bits());
        bits.saturating_add(0xFFFF) & 0xFFFF_0000
    }
}

/// An attached instance that the GPU places (`shaders/attach.comp`).
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuAttachment {
    /// The space of the parent's joint from the child's character space.
    pub joint_from_child: Mat3x4,
    /// Centre of the child's bounding sphere in its character space.
    pub center: [f32; 3],
    /// Radius of that sphere.
    pub radius: f32,
    /// The table indices of both.
    pub child: u32,
    pub parent: u32,
    /// The joint of the parent.
    pub joint: u32,
    /// 1 more than that of the parent, which is 0 if the CPU places it. 0 if there is no child.
    pub level: u32,
    /// Device address of the tables of the parent's character.
    pub tables: [u32; 2],
    /// Zero.
    pub reserved: [u32; 2],
}

impl GpuAttachment {
    /// The most levels: each is a dispatch.
    pub(crate) const LEVELS: u32 = 4;
}

/// The test of the cull stage for one view.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuCullView {
    /// Planes: their products with points inside are not negative. Normals are not longer than 1.
    pub planes: [[f32; 4]; 6],
    /// For each plane, how far rounding can move the product: per metre of the point's coordinates,
    /// and in any case.
    pub rounding: [[f32; 2]; 6],
    /// World position of the eye.
    pub eye: [f32; 3],
    /// The size that is left out as a multiple of the sphere's radius, at a distance of 1 m.
    pub least_size: f32,
    /// Pixels per metre at 1 m over the allowed error, for the last level and for coarser ones.
    pub per_error: [f32; 2],
    /// The limit of triangles.
    pub max_triangles: u32,
    /// The only level that is drawn, plus 1, or 0.
    pub fixed_level: u32,
    /// The instances whose masks have a bit of this are shown.
    pub mask: u32,
    /// Flags such as [`Self::COARSE`], and above [`Self::LIST_SHIFT`] bits the number of its list
    /// plus 1, or 0.
    pub flags: u32,
    /// Pixels per metre at 1 m over the error that it allows of shared poses, or 0 if it allows
    /// none.
    pub per_pose: f32,
    /// The number of its further eyes, and above these eight bits the record of the first.
    pub more_eyes: u32,
}

impl GpuCullView {
    /// [`Self::flags`]: size depends on distance.
    pub(crate) const PERSPECTIVE: u32 = 1;
    /// [`Self::flags`]: what is too small is left out.
    pub(crate) const COARSE: u32 = 2;
    /// [`Self::flags`]: there is a limit of triangles.
    pub(crate) const BUDGET: u32 = 4;
    /// [`Self::flags`]: the eye has depth that may hide instances ([`GpuOcclusion`]).
    pub(crate) const BEHIND: u32 = 8;
    /// [`Self::flags`]: the eye is a light's, whose casters are tested by what receives their
    /// shadows.
    pub(crate) const RECEIVERS: u32 = 16;
    /// [`Self::flags`]: instances that were not seen wait for the reveal.
    pub(crate) const LATE: u32 = 32;
    /// [`Self::flags`]: the record of its tests has the view's last frame.
    pub(crate) const HISTORY: u32 = 64;
    /// Bits of [`Self::flags`] below the number of its list.
    pub(crate) const LIST_SHIFT: u32 = 16;
}

/// The test of the cull stage against the depth that an engine drew for an eye
/// (`shaders/include/occlusion.glsl`).
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct GpuOcclusion {
    /// Rows of the matrix from world space to pixels of the pyramid in x and y, depth with its sign
    /// in the pyramid, and w. All but w are divided by it.
    pub rows: [[f32; 4]; 4],
    /// A bound of the rounding of products with these rows: per metre of the point's
    /// coordinates, and in any case.
    pub per_metre: [f32; 4],
    pub always: [f32; 4],
    /// The products of the rows without translation with three directions in world space, which are
    /// perpendicular to each other: right, down and forward.
    pub edges: [[f32; 4]; 3],
    /// The last pixel.
    pub last_pixel: [f32; 2],
    /// The farthest depth with its sign in the pyramid.
    pub farthest: f32,
    /// Metres that volumes are widened by.
    pub margin_m: f32,
    /// The largest error of depth in the attachment's format.
    pub depth_step: f32,
    /// The finest and the coarsest level.
    pub first_level: u32,
    pub last_level: u32,
    /// The view that shows what receives the shadows of a light.
    pub receivers: u32,
    /// For each level, its first word in the pyramids, and the length of a row.
    pub levels: [[u32; 2]; GpuOcclusion::LEVELS],
    /// World position of the light and 1, or the direction towards it and 0.
    pub light: [f32; 4],
    /// The plane at which its shadows end. The product with points above it is positive.
    pub plane: [f32; 4],
    /// The product with a point is the distance by which lookups in the shadow map miss it.
    pub missed: [f32; 4],
    /// Device addresses of the instances in the view's last frame, and of the frame's palettes.
    pub history: [u64; 2],
}

impl GpuOcclusion {
    /// The most levels of a pyramid.
    pub(crate) const LEVELS: usize = 12;
}

const _: () = {
    assert!(size_of::<GpuOcclusion>() == 336);
    assert!(offset_of!(GpuOcclusion, levels) == 176);
    assert!(offset_of!(GpuOcclusion, light) == 272);
    assert!(offset_of!(GpuOcclusion, history) == 320);
    assert!(size_of::<Mat3x4>() == 48);
    assert!(size_of::<GpuCullView>() == 192);
    assert!(size_of::<GpuEye>() == 224);
    assert!(size_of::<GpuInstance>() == 128);
    assert!(offset_of!(GpuInstance, normal_x) == 48);
    assert!(offset_of!(GpuInstance, side) == 60);
    assert!(offset_of!(GpuInstance, user) == 76);
    assert!(offset_of!(GpuInstance, stamp) == 92);
    assert!(offset_of!(GpuInstance, colors) == 96);
    assert!(offset_of!(GpuInstance, palette) == 112);
    assert!(offset_of!(GpuInstance, morphs) == 120);
    assert!(offset_of!(GpuInstance, skinned) == 124);
    assert!(size_of::<GpuChange>() == 96);
    assert!(offset_of!(GpuChange, colors) == 48);
    assert!(offset_of!(GpuChange, palette) == 64);
    assert!(offset_of!(GpuChange, skinned) == 76);
    assert!(offset_of!(GpuChange, user) == 80);
    assert!(offset_of!(GpuChange, stamp) == 84);
    assert!(size_of::<GpuPrimitive>() == 112);
    assert!(offset_of!(GpuPrimitive, variant) == 12);
    assert!(offset_of!(GpuPrimitive, influences) == 20);
    assert!(offset_of!(GpuPrimitive, uvs) == 28);
    assert!(offset_of!(GpuPrimitive, material) == 36);
    assert!(offset_of!(GpuPrimitive, targets) == 48);
    assert!(offset_of!(GpuPrimitive, skinned_positions) == 60);
    assert!(offset_of!(GpuPrimitive, base_color) == 80);
    assert!(offset_of!(GpuPrimitive, tint) == 96);
    assert!(size_of::<GpuTexture>() == 32);
    assert!(size_of::<GpuMaterial>() == 272);
    assert!(offset_of!(GpuMaterial, metallic) == 32);
    assert!(offset_of!(GpuMaterial, variant) == 48);
    assert!(offset_of!(GpuMaterial, tint) == 64);
    assert!(offset_of!(GpuMaterial, textures) == 80);
    assert!(size_of::<GpuView>() == 784);
    assert!(offset_of!(GpuView, eye) == 64);
    assert!(offset_of!(GpuView, shadow_texel) == 92);
    assert!(offset_of!(GpuView, history) == 144);
    assert!(offset_of!(GpuView, ring_palettes) == 176);
    assert!(offset_of!(GpuView, history_instances) == 184);
    assert!(offset_of!(GpuView, steady_clip_from_world) == 192);
    assert!(offset_of!(GpuView, shadow_from_world) == 336);
    assert!(offset_of!(GpuView, environment_from_world) == 592);
    assert!(size_of::<GpuActor>() == 48);
    assert!(size_of::<GpuAttachment>() == 96);
    assert!(offset_of!(GpuAttachment, child) == 64);
};
