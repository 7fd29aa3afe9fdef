//! Bytes to characters.

use crate::character::{AnimationDesc, Character, ClipImport};
use crate::clip::{ClipOptions, PackObserver};
use crate::error::{AssetFault, Error, Object, ObjectKind};
use crate::ids::ClipId;

/// What to import and how much of it at most.
///
/// The caps keep a hostile file from taking unbounded memory: each is checked before anything of
/// that size is allocated.
///
/// Minor versions may add fields, so name those that you set and take the others as they are:
///
/// ```
/// use throng::import::ImportOptions;
///
/// let options = ImportOptions { smooth_normals: true, ..Default::default() };
/// # let _ = options;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ImportOptions {
    /// What errors call the file. [`gltf_file`](crate::import::gltf_file) fills it in when it is empty.
    pub name: Box<str>,
    /// Which scene; `None`: the file's default, else the first, else every node.
    pub scene: Option<usize>,
    /// Names of nodes whose meshes are left out, together with those of all nodes below them. A
    /// node stays as a joint if a skin that is still used needs it.
    pub leave_out: Vec<Box<str>>,
    /// Compute smooth normals for primitives that have none, weighted by the angle of each
    /// triangle's corner, across vertices at the same position. Otherwise they are shaded flat.
    pub smooth_normals: bool,
    /// Most influences of one vertex, 1 to [`MAX_INFLUENCES`](crate::mesh::MAX_INFLUENCES).
    /// Where a vertex has more, the strongest stay (of equal ones that of the joint nearest to the
    /// root) and are scaled to a sum of 1; [`Imported::influence_loss`] says what that moves.
    /// `None`: no weight is dropped.
    pub max_influences: Option<u32>,
    /// Joint indices beyond 256 palette entries take 16 bits, or 8 where the primitive is cut so
    /// that each part uses few: at the cost of vertices and palette entries that are there more
    /// than once. `Some`: import chooses what takes less memory when this many instances have a
    /// palette each, of 48 bytes an entry; see [`Imported::narrowing`]. `None`: nothing is cut.
    pub narrow_for_instances: Option<u32>,
    /// In which form clips are kept. Clips that join the character later are kept in the same form.
    pub clips: ClipImport,
    /// How clips are packed, if they are, and how far they may be from the file's curves. Clips
    /// that join the character later are packed in the same way.
    pub packing: ClipOptions,
    /// What is told of each clip that was packed, from the threads that pack: for a progress bar.
    /// `None`: nothing.
    pub on_packed: Option<PackObserver>,
    /// What belongs to the character's animation and the file has no place for: masks, events, root
    /// motion, blend spaces, sockets, a state machine. `None`: what lies beside the file says it,
    /// see [`Self::sidecar`].
    pub animation: Option<AnimationDesc>,
    /// Whether [`gltf_file`](crate::import::gltf_file) reads the description of the character's animation that lies beside
    /// the file under the same name, `knight.toml` beside `knight.glb`, if there is one and
    /// [`Self::animation`] says nothing. Under the feature `toml`.
    pub sidecar: bool,
    /// Most bytes of one file, buffer or encoded image.
    pub max_resource_bytes: u64,
    /// Most bytes of JSON text.
    pub max_json_bytes: u64,
    /// Most bytes that all decoded data may take together: what is loaded and decoded, each once.
    /// Working memory and the finished character may take as much again, each.
    pub max_decoded_bytes: u64,
    /// Most nodes.
    pub max_nodes: usize,
    /// Most drawable parts: primitives of meshes, counted once for each node that carries them.
    pub max_primitives: usize,
    /// Most vertices, all primitives together, before merging.
    pub max_vertices: usize,
    /// Most triangle indices, all primitives together.
    pub max_indices: usize,
    /// Most morph targets, all drawable parts together: a target counts once for each part that has
    /// it. As many weights may the nodes have together.
    pub max_morph_targets: usize,
    /// Most elements of morph targets, all targets of all drawable parts together, as the file
    /// stores them: a target has one a vertex for each attribute, or those of its sparse part
    /// alone.
    pub max_morph_elements: u64,
    /// Most keys, all clips together.
    pub max_keys: usize,
    /// Most joints of packed clips, all clips together: a clip takes room and time for each joint
    /// of the skeleton, even for those that it does not drive. Curves have no such cap.
    pub max_clip_joints: u64,
    /// Most texels of one image.
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
    /// The defaults, except for clips: the file's own curves are kept beside the packed clips
    /// ([`ClipImport::PackedWithCurves`]).
    #[must_use]
    pub fn with_curves() -> Self {
        Self {
            clips: ClipImport::PackedWithCurves,
            ..Self::default()
        }
    }

    /// The defaults, except for clips: only the file's own curves are kept, nothing is packed
    /// ([`ClipImport::Curves`]).
    #[must_use]
    pub fn curves_only() -> Self {
        Self {
            clips: ClipImport::Curves,
            ..Self::default()
        }
    }
}

/// A character, and what was mended on the way to it.
///
/// Dereferences to the character, so that `&imported` goes wherever `&Character` does.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The character.
    pub character: Character,
    /// The harmless faults that were repaired and the parts that were left out: first what the
    /// format's reader did, then what [`RawCharacter::build`](crate::import::RawCharacter::build) did, each in file order.
    pub repairs: Vec<Repair>,
    /// What [`ImportOptions::max_influences`] has cost; `None` if no vertex lost a weight.
    pub influence_loss: Option<InfluenceLoss>,
    /// What was done to keep joint indices in 8 bits beyond 256 palette entries; `None` if nothing
    /// was.
    pub narrowing: Option<Narrowing>,
}

/// Primitives whose palette range was longer than 256 entries, and which have 8-bit joint indices
/// now: cut, or just given a range of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Narrowing {
    /// How many primitives there were.
    pub primitives: usize,
    /// How many there are in their place.
    pub parts: usize,
    /// How many palette entries stand there for the second time or more: 48 bytes each for every
    /// instance.
    pub repeated_entries: usize,
    /// How many vertices there are more: those that several parts of a primitive use.
    pub repeated_vertices: usize,
    /// How many bytes of vertices fewer there are for that, repeated ones counted in.
    pub bytes_saved: u64,
}

/// What dropping influences has moved: the vertex that it moves furthest.
///
/// Both the full and the limited influences are blended linearly, without morph targets, in the
/// rest pose and in every clip: at each time that any of its tracks has a key at, and at a quarter,
/// half and three quarters of the way between two such times. Clips of very many keys are sampled
/// at fewer of these times, evenly: all clips together at 4,096, or less where the vertices
/// concerned have so many influences that this would take more than a quarter of a thousand million
/// of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InfluenceLoss {
    /// How far the vertex moves in character space, in metres: infinite where the pose overflows.
    pub displacement_m: f64,
    /// Index into [`Character::primitives`].
    pub primitive: usize,
    /// The vertex of that primitive.
    pub vertex: usize,
    /// The clip in which it moves furthest; `None`: the rest pose.
    pub clip: Option<ClipId>,
    /// When in that clip, in seconds; 0 in the rest pose.
    pub time_s: f64,
    /// How many of the vertices that triangles use lost weights, all primitives together, before
    /// merging. The repairs say how many of each primitive.
    pub vertices: u64,
    /// At how many poses it was measured, the rest pose included.
    pub poses: usize,
}

impl core::ops::Deref for Imported {
    type Target = Character;

    fn deref(&self) -> &Character {
        &self.character
    }
}

/// A harmless fault that was repaired, or a part of the file that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// Where.
    pub object: Object,
    /// What was done.
    pub kind: RepairKind,
    /// How many elements it concerns (vertices, keys, …).
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
    /// Weights did not sum to 1 and were scaled so that they do.
    #[error("weights renormalised")]
    WeightsRenormalised,
    /// All weights of a vertex were zero; it follows its first joint rigidly.
    #[error("vertices without weight made rigid to their first joint")]
    WeightlessVertex,
    /// A joint index out of range, of weight zero, became joint 0.
    #[error("joint indices out of range with weight zero set to 0")]
    UnusedJointIndex,
    /// A node with a skin carried a primitive without joints and weights; it follows the node
    /// rigidly, as if there were no skin.
    #[error("skin on a primitive without joints and weights ignored")]
    SkinWithoutInfluences,
    /// A joint that stood twice in a vertex was merged.
    #[error("repeated joints of a vertex merged")]
    RepeatedJoint,
    /// Vertices had more influences than [`ImportOptions::max_influences`] and lost the weakest.
    #[error("weakest influences dropped")]
    InfluencesDropped,
    /// Keys had the time of the one before them, which stands for a jump. The last of them keeps
    /// the time; the first moved to the number just before it, or was dropped where that was taken
    /// or negative; those between, which never counted, were dropped.
    #[error("keys at equal times told apart")]
    EqualKeyTimes,
    /// A quaternion of length zero became the identity.
    #[error("zero quaternions set to the identity")]
    ZeroQuaternion,
    /// Neighbouring keys lay on opposite sides of the sphere; signs were flipped so that they take
    /// the shortest arc.
    #[error("rotation keys flipped onto the shortest arc")]
    AntipodalKey,
    /// Quaternions were not of unit length and were normalised.
    #[error("quaternions normalised")]
    QuaternionNormalised,
    /// Normals that were not of unit length were normalised or, where zero, replaced.
    #[error("normals normalised")]
    NormalNormalised,
    /// Tangents whose direction was not of unit length or whose sign was not 1 or -1; the direction
    /// was normalised or, where zero, replaced by one across the normal, and the sign taken for 1
    /// or -1, whichever is nearer.
    #[error("tangents normalised")]
    TangentNormalised,
    /// Tangents without normals, ignored as the format demands.
    #[error("tangents without normals ignored")]
    TangentsIgnored,
    /// A material's textures name texture coordinates that the primitive lacks; its vertices all
    /// take 0, 0.
    #[error("texture coordinates that the material names are absent")]
    NoTextureCoordinates,
    /// A material's factors lay outside the range that they have; the nearer end stands for them.
    #[error("factors out of range brought to its nearer end")]
    FactorClamped,
    /// A scene named a node that is another's child as one of its roots; the node keeps its parent.
    #[error("scene roots that have a parent keep it")]
    SceneRootWithParent,
    /// A node's matrix was sheared by more than rounding explains, and by little enough to be a
    /// slip; the nearest translation, rotation and scale stand for it.
    #[error("slight shear of a matrix removed")]
    ShearRemoved,
    /// Events whose times are no times of their clip were left out.
    #[error("events outside of their clip left out")]
    EventOutside,
    /// Bytes after the end that the container's header states were ignored.
    #[error("bytes after the container's end ignored")]
    TrailingBytes,
    /// A part that is not supported was left out; the object says which.
    #[error("left out: not supported")]
    LeftOut,
}

/// An error about an object of the file at hand; the file's name is filled in at the end.
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
