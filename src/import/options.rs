//! Import options.

use super::limits::ImportLimits;
use super::resource_reader::ResourceReader;
use crate::character::AnimationDesc;
use crate::clip::{ClipOptions, PackObserver};

/// The axis that points up in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpAxis {
    /// +Y, as in glTF.
    Y,
    /// +Z. +Y then points away from a viewer in front, so +X stays to the right.
    Z,
}

/// The formats to which readers transcode images of Basis Universal (ETC1S and UASTC in KTX2) and
/// of ASTC.
///
/// Images in other formats are kept as they are. A device that lacks a format gets RGBA8; see
/// [`ImageFormat`](crate::mesh::ImageFormat). With the feature `vulkan`, `Features::texture_target`
/// chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TextureTarget {
    /// BC7, which all devices of desktops have. It represents UASTC almost without loss.
    #[default]
    Bc,
    /// ASTC 4x4, for phones and tablets. UASTC is a subset of it.
    Astc,
    /// ETC2, for devices without ASTC.
    Etc2,
    /// RGBA8, which all devices have and programs can read. Four times as large.
    Rgba8,
}

/// Options of an import: the parts to read, how they are stored, and limits of size.
///
/// Minor versions may add fields, so name the fields that you set and take the defaults for others:
///
/// ```
/// use throng::import::ImportOptions;
///
/// let options = ImportOptions { smooth_normals: true, ..Default::default() };
/// # let _ = options;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ImportOptions {
    /// The name of the file in errors. If empty, functions that are given a path fill it in.
    ///
    /// Functions that are given bytes also take from it what a path tells: its extension decides
    /// about the format if the bytes fit none or several, and other files may have the same name.
    pub name: Box<str>,
    /// A callback that provides the other files that a file refers to, such as one that reads from
    /// an archive.
    ///
    /// `None`: functions that are given a path read them from the file's folder. Those that are
    /// given bytes reject files that refer to others.
    pub resources: Option<ResourceReader>,
    /// The axis that points up in the file. `None`: as the file states, or +Y if it does not.
    ///
    /// The character is turned so that this axis becomes +Y. EZMesh and WebGL models state none.
    /// If the file, or its format as with glTF, states another axis, this one counts, which is
    /// reported as [`RepairKind::UpReplaced`](crate::import::RepairKind::UpReplaced).
    pub up: Option<UpAxis>,
    /// The factor by which all lengths are multiplied, more than 0. The default is 1.
    ///
    /// For a file that does not state its unit, these are metres per unit: 0.01 for centimetres.
    /// glTF has metres and FBX is converted to them, and both are multiplied too. No node gets a
    /// scale: positions, translations, inverse bind matrices and the sizes of spring bones change.
    /// The animation data beside the file is in metres of the result.
    ///
    /// Readers of files apply it, and so they do [`Self::up`] and [`Self::scene`]. To
    /// [`RawCharacter::build`](crate::import::RawCharacter::build), they mean nothing.
    pub scale: f32,
    /// The scene to import. `None`: the file's default, else the first, else every node.
    ///
    /// Formats other than glTF have one scene, with the index 0.
    pub scene: Option<usize>,
    /// Names of nodes whose meshes are left out, including all nodes below them.
    ///
    /// A node stays as a joint if a skin that is still used needs it.
    pub leave_out: Vec<Box<str>>,
    /// If false, the character has no meshes, materials and images.
    ///
    /// For files that are read for their clips, as in the example of [`Self::curves_only`]. Images
    /// are not read. The skeleton then has every node that a clip moves, that is a joint of a skin
    /// or that has a name, whatever is drawn. Saved characters keep their meshes.
    pub meshes: bool,
    /// If false, images are not read, and materials have no textures.
    ///
    /// For servers and tools, which draw nothing. If true, images that cannot be read are replaced
    /// or left out; see [`RepairKind::ImageReplaced`](crate::import::RepairKind::ImageReplaced) and
    /// [`RepairKind::ImageLeftOut`](crate::import::RepairKind::ImageLeftOut).
    pub images: bool,
    /// The formats to which images are transcoded that are made for it.
    pub textures: TextureTarget,
    /// If true, smooth normals are computed for primitives that have none.
    ///
    /// Each triangle is weighted by the angle at its corner, across vertices at the same position.
    /// If false, such primitives are shaded flat.
    pub smooth_normals: bool,
    /// The most influences of one vertex, 1 to
    /// [`Primitive::MAX_INFLUENCES`](crate::mesh::Primitive::MAX_INFLUENCES).
    ///
    /// If a vertex has more, the strongest are kept and scaled to a sum of 1. Of equal weights, the
    /// one whose joint is nearest to the root is kept.
    /// [`Imported::influence_loss`](crate::import::Imported::influence_loss) reports the
    /// displacement that this causes. `None`: no weight is dropped.
    pub max_influences: Option<u32>,
    /// If true, skins that differ from an earlier one only by a transform share its palette
    /// entries. The default.
    ///
    /// Exporters that quantise positions write such skins. Their meshes are moved to the mesh space
    /// of the earlier skin, which is reported as
    /// [`RepairKind::SkinShared`](crate::import::RepairKind::SkinShared). If false, every mesh
    /// keeps the positions of the file.
    pub share_binds: bool,
    /// If true, triangles and vertices keep the file's order.
    ///
    /// If false, triangles are put into vertex cache order, and vertices into the order in which
    /// triangles use them first, so that a GPU shades few vertices twice. Each triangle keeps its
    /// corners in their order. The triangles of a primitive with a blended material keep the file's
    /// order, because their author chose it. [`Imported::geometry`](super::Imported::geometry) has
    /// the effect in numbers.
    ///
    /// Set this if other data refers to triangles or vertices by index. Equal vertices are still
    /// merged and unused vertices left out, and the others move up. So indices are those of the
    /// file if the report counts no such vertices.
    pub keep_order: bool,
    /// If true, the file's own curves are kept:
    /// [`Character::curves`](crate::character::Character::curves).
    ///
    /// Use this for retargeting, for root motion that is extracted later, and for comparisons.
    pub curves: bool,
    /// The options for packed clips, which are ready to be played:
    /// [`Character::clips`](crate::character::Character::clips).
    ///
    /// `None`: nothing is packed. Use this for tools and listings, with [`Self::curves`]. Packing
    /// takes most of the time of an import with many clips.
    ///
    /// Clips that are added to the character later are kept in the same form. If the file's clips
    /// are kept in neither form, they are left out. A description that names one is then an error:
    /// [`Self::animation`], the file beside the model, or
    /// [`RawCharacter::animation`](crate::import::RawCharacter::animation). Clips that are added
    /// later are packed with the default options.
    pub packing: Option<ClipOptions>,
    /// An observer that is called for each packed clip, such as a progress bar.
    ///
    /// It is called from the threads that pack. `None`: no observer.
    pub on_packed: Option<PackObserver>,
    /// Animation data that the file format cannot store.
    ///
    /// This is masks, events, root motion, blend spaces, sockets and a state machine. `None`: the
    /// file beside the model is used, see [`Self::sidecar`], or
    /// [`RawCharacter::animation`](crate::import::RawCharacter::animation).
    pub animation: Option<AnimationDesc>,
    /// If true, functions that are given a path read the animation description beside the file.
    ///
    /// It has the same name (`knight.toml` beside `knight.glb`) and is read if it exists and
    /// [`Self::animation`] is `None`. Requires the feature `toml`.
    pub sidecar: bool,
    /// Limits of size, which keep a hostile file from taking unbounded memory.
    pub limits: ImportLimits,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            name: Box::default(),
            resources: None,
            up: None,
            scale: 1.0,
            scene: None,
            leave_out: Vec::new(),
            meshes: true,
            images: true,
            textures: TextureTarget::default(),
            smooth_normals: false,
            max_influences: None,
            share_binds: true,
            keep_order: false,
            curves: false,
            packing: Some(ClipOptions::default()),
            on_packed: None,
            animation: None,
            sidecar: true,
            limits: ImportLimits::default(),
        }
    }
}

impl ImportOptions {
    /// The defaults, but clips are kept only as the file's own curves.
    ///
    /// For tools, and for the source of a [retarget](crate::retarget), which needs no meshes:
    ///
    /// ```
    /// use throng::import::ImportOptions;
    ///
    /// let source = ImportOptions { meshes: false, ..ImportOptions::curves_only() };
    /// # let _ = source;
    /// ```
    #[must_use]
    pub fn curves_only() -> Self {
        Self {
            curves: true,
            packing: None,
            ..Self::default()
        }
    }
}
