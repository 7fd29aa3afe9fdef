//! Import options, and the report of what an import repaired.

use crate::character::{AnimationDesc, Character, ClipImport};
use crate::clip::{ClipOptions, PackObserver};
use crate::error::{AssetFault, Error, Object, ObjectKind};
use crate::ids::ClipId;

/// Options of an import: the parts to read, and caps on their size.
///
/// The caps keep a hostile file from taking unbounded memory. Each is checked before anything of
/// that size is allocated.
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
    /// The name of the file in errors. If empty, [`gltf_file`](crate::import::gltf_file) fills it
    /// in.
    pub name: Box<str>,
    /// The scene to import. `None`: the file's default, else the first, else every node.
    pub scene: Option<usize>,
    /// Names of nodes whose meshes are left out, including all nodes below them.
    ///
    /// A node stays as a joint if a skin that is still used needs it.
    pub leave_out: Vec<Box<str>>,
    /// If true, smooth normals are computed for primitives that have none.
    ///
    /// Each triangle is weighted by the angle at its corner, across vertices at the same position.
    /// If false, such primitives are shaded flat.
    pub smooth_normals: bool,
    /// The most influences of one vertex, 1 to [`MAX_INFLUENCES`](crate::mesh::MAX_INFLUENCES).
    ///
    /// If a vertex has more, the strongest are kept and scaled to a sum of 1. Of equal weights, the
    /// one whose joint is nearest to the root is kept. [`Imported::influence_loss`] reports the
    /// displacement that this causes. `None`: no weight is dropped.
    pub max_influences: Option<u32>,
    /// The expected number of instances, for choosing 8-bit joint indices.
    ///
    /// A primitive whose palette range has more than 256 entries needs 16-bit joint indices, or
    /// must be cut so that each part uses few enough entries for 8 bits. The cut repeats vertices
    /// and palette entries. `Some`: import chooses the option that takes less memory if this many
    /// instances have a palette each, of 48 bytes per entry; see [`Imported::narrowing`]. `None`:
    /// nothing is cut.
    pub narrow_for_instances: Option<u32>,
    /// The form in which clips are kept. Clips that are added later are kept in the same form.
    pub clips: ClipImport,
    /// Packing options, including the largest error against the file's curves.
    ///
    /// Clips that are added to the character later are packed in the same way.
    pub packing: ClipOptions,
    /// An observer that is called for each packed clip, such as a progress bar.
    ///
    /// It is called from the threads that pack. `None`: no observer.
    pub on_packed: Option<PackObserver>,
    /// Animation data that the file format cannot store.
    ///
    /// This is masks, events, root motion, blend spaces, sockets and a state machine. `None`: the
    /// file beside the model is used, see [`Self::sidecar`].
    pub animation: Option<AnimationDesc>,
    /// If true, [`gltf_file`](crate::import::gltf_file) reads the animation description beside the
    /// file.
    ///
    /// It has the same name (`knight.toml` beside `knight.glb`) and is read if it exists and
    /// [`Self::animation`] is `None`. Requires the feature `toml`.
    pub sidecar: bool,
    /// The most bytes of one file, buffer or encoded image.
    pub max_resource_bytes: u64,
    /// The most bytes of JSON text.
    pub max_json_bytes: u64,
    /// The most bytes of all decoded data together.
    ///
    /// This counts everything that is loaded and decoded, each once. Working memory and the
    /// finished character may each take as much again.
    pub max_decoded_bytes: u64,
    /// The most nodes.
    pub max_nodes: usize,
    /// The most drawable parts: primitives of meshes, counted once for each node that carries them.
    pub max_primitives: usize,
    /// The most vertices of all primitives together, before merging.
    pub max_vertices: usize,
    /// The most triangle indices of all primitives together.
    pub max_indices: usize,
    /// The most morph targets of all drawable parts together.
    ///
    /// A target counts once for each part that has it. The same cap applies to the morph weights of
    /// all nodes together.
    pub max_morph_targets: usize,
    /// The most morph target elements, over all targets of all drawable parts.
    ///
    /// Elements are counted as the file stores them. A target has one per vertex for each
    /// attribute, or only those of its sparse part.
    pub max_morph_elements: u64,
    /// The most keys of all clips together.
    pub max_keys: usize,
    /// The most joints of packed clips, over all clips together.
    ///
    /// A packed clip takes memory and time for each joint of the skeleton, including joints that it
    /// does not drive. Curves have no such cap.
    pub max_clip_joints: u64,
    /// The most texels of one image.
    pub max_image_texels: u64,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            name: Box::default(),
            scene: None,
            leave_out: Vec::new(),
            smooth_normals: false,
            max_influences: None,
            narrow_for_instances: Some(100),
            clips: ClipImport::default(),
            packing: ClipOptions::default(),
            on_packed: None,
            animation: None,
            sidecar: true,
            max_resource_bytes: 1 << 30,
            max_json_bytes: 256 << 20,
            max_decoded_bytes: 2 << 30,
            max_nodes: 262_144,
            max_primitives: 65_536,
            max_vertices: 4 << 20,
            max_indices: 24 << 20,
            max_morph_targets: 1 << 18,
            max_morph_elements: 1 << 28,
            max_keys: 16 << 20,
            max_clip_joints: 4 << 20,
            max_image_texels: 8192 * 8192,
        }
    }
}

impl ImportOptions {
    /// The defaults, but the file's own curves are kept too ([`ClipImport::PackedWithCurves`]).
    #[must_use]
    pub fn with_curves() -> Self {
        Self {
            clips: ClipImport::PackedWithCurves,
            ..Self::default()
        }
    }

    /// The defaults, but only the file's own curves are kept ([`ClipImport::Curves`]).
    ///
    /// Nothing is packed.
    #[must_use]
    pub fn curves_only() -> Self {
        Self {
            clips: ClipImport::Curves,
            ..Self::default()
        }
    }
}

/// A character, and the repairs that its import made.
///
/// Dereferences to the character, so `&imported` can be passed as `&Character`.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The character.
    pub character: Character,
    /// The harmless faults that were repaired and the parts that were left out.
    ///
    /// Repairs by the format's reader come first, then those by
    /// [`RawCharacter::build`](crate::import::RawCharacter::build), each in file order.
    pub repairs: Vec<Repair>,
    /// The error caused by [`ImportOptions::max_influences`]. `None` if no vertex lost a weight.
    pub influence_loss: Option<InfluenceLoss>,
    /// The cuts that were made for 8-bit joint indices. `None` if none were made.
    pub narrowing: Option<Narrowing>,
}

/// Primitives that were changed from 16-bit to 8-bit joint indices.
///
/// Their palette range was longer than 256 entries. They were cut, or just given a shorter range of
/// their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Narrowing {
    /// The number of primitives that were changed.
    pub primitives: usize,
    /// The number of primitives that replace them.
    pub parts: usize,
    /// The number of palette entries that repeat an earlier one. Each takes 48 bytes per instance.
    pub repeated_entries: usize,
    /// The number of vertices added because several parts of a primitive use them.
    pub repeated_vertices: usize,
    /// The number of vertex bytes saved, after the cost of repeated vertices.
    pub bytes_saved: u64,
}

/// The error caused by dropping influences: the vertex with the largest displacement.
///
/// The full and the limited influences are both blended linearly, without morph targets. They are
/// compared in the rest pose and in every clip, at each key time of its tracks and at a quarter,
/// half and three quarters of the way between two key times.
///
/// Clips with very many keys are sampled at fewer of these times, evenly spread. The limit is 4,096
/// poses over all clips. It is lower if the affected vertices have so many influences that this
/// would evaluate more than 2²⁸ (268 million) of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InfluenceLoss {
    /// The vertex's displacement in character space, in metres. Infinite if the pose overflows.
    pub displacement_m: f64,
    /// Index into [`Character::primitives`].
    pub primitive: usize,
    /// The index of the vertex in that primitive.
    pub vertex: usize,
    /// The clip with the largest displacement. `None`: the rest pose.
    pub clip: Option<ClipId>,
    /// The time in that clip, in seconds. 0 in the rest pose.
    pub time_s: f64,
    /// The number of vertices that lost weights, over all primitives, before merging.
    ///
    /// Only vertices that triangles use are counted. The repairs list the number for each
    /// primitive.
    pub vertices: u64,
    /// The number of poses that were measured, including the rest pose.
    pub poses: usize,
}

impl core::ops::Deref for Imported {
    type Target = Character;

    fn deref(&self) -> &Character {
        &self.character
    }
}

/// A harmless fault that was repaired, or a part that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The object that was repaired or left out.
    pub object: Object,
    /// The kind of repair.
    pub kind: RepairKind,
    /// The number of elements that it affects (vertices, keys, …).
    pub count: u64,
}

impl core::fmt::Display for Repair {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {} ({})", self.object, self.kind, self.count)
    }
}

/// The kinds of [`Repair`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum RepairKind {
    /// Weights did not sum to 1 and were scaled to do so.
    #[error("weights renormalised")]
    WeightsRenormalised,
    /// All weights of a vertex were zero. The vertex follows its first joint rigidly.
    #[error("vertices without weight made rigid to their first joint")]
    WeightlessVertex,
    /// A joint index with weight zero was out of range and became joint 0.
    #[error("joint indices out of range with weight zero set to 0")]
    UnusedJointIndex,
    /// A node with a skin carried a primitive without joints and weights.
    ///
    /// The primitive follows the node rigidly, as if there were no skin.
    #[error("skin on a primitive without joints and weights ignored")]
    SkinWithoutInfluences,
    /// A joint that occurred twice in a vertex was merged.
    #[error("repeated joints of a vertex merged")]
    RepeatedJoint,
    /// Vertices had more influences than [`ImportOptions::max_influences`] and lost the weakest.
    #[error("weakest influences dropped")]
    InfluencesDropped,
    /// Several keys had the same time, which stands for a jump.
    ///
    /// The last of them keeps the time. The first moved to the next smaller number, or was dropped
    /// if that time was taken or negative. Keys between them were dropped because they never have
    /// an effect.
    #[error("keys at equal times told apart")]
    EqualKeyTimes,
    /// A quaternion of length zero became the identity.
    #[error("zero quaternions set to the identity")]
    ZeroQuaternion,
    /// Neighbouring quaternion keys had opposite signs. Signs were changed so that interpolation
    /// takes the shortest arc.
    #[error("rotation keys flipped onto the shortest arc")]
    AntipodalKey,
    /// Quaternions were not of unit length and were normalised.
    #[error("quaternions normalised")]
    QuaternionNormalised,
    /// Normals were not of unit length. They were normalised or, if zero, replaced.
    #[error("normals normalised")]
    NormalNormalised,
    /// Tangents did not have unit length, or their sign was not 1 or -1.
    ///
    /// The direction was normalised or, if zero, replaced by one perpendicular to the normal. The
    /// sign became 1 or -1, whichever is nearer.
    #[error("tangents normalised")]
    TangentNormalised,
    /// Tangents without normals were ignored, as the format requires.
    #[error("tangents without normals ignored")]
    TangentsIgnored,
    /// A material uses texture coordinates that the primitive does not have. They are 0, 0 at all
    /// vertices.
    #[error("texture coordinates that the material names are absent")]
    NoTextureCoordinates,
    /// A material's factor was outside its range and was clamped.
    #[error("factors out of range brought to its nearer end")]
    FactorClamped,
    /// A scene listed a node that has a parent as one of its roots. The node keeps its parent.
    #[error("scene roots that have a parent keep it")]
    SceneRootWithParent,
    /// A node's matrix was sheared slightly, by more than rounding explains.
    ///
    /// The nearest translation, rotation and scale replace it.
    #[error("slight shear of a matrix removed")]
    ShearRemoved,
    /// Events whose times are outside their clip were left out.
    #[error("events outside of their clip left out")]
    EventOutside,
    /// Bytes past the end that the container's header states were ignored.
    #[error("bytes after the container's end ignored")]
    TrailingBytes,
    /// An unsupported part was left out. The object names it.
    #[error("left out: not supported")]
    LeftOut,
}

/// An error about an object of the current file. The file's name is filled in later.
pub(crate) fn fault(
    kind: ObjectKind,
    index: impl Into<Option<usize>>,
    part: impl Into<Box<str>>,
    why: AssetFault,
) -> Error {
    Error::Asset {
        file: Box::default(),
        object: Object {
            kind,
            index: index.into(),
            part: part.into(),
        },
        why,
    }
}
