//! The one error type of the crate.

mod animation;
mod argument;
mod desc;
mod names;
mod range;
mod saved;
mod state_machine;
mod unrepresentable;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Everything that a caller can get wrong or can't foresee: files, arguments,
/// devices, capacities. Each variant carries the numbers and names that one
/// needs to act on it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file is not what its format demands.
    #[error("{file}: {object}: {why}")]
    Asset {
        /// Name of the file, or what the caller called it.
        file: Box<str>,
        /// The object at fault, with its index.
        object: Object,
        /// The reason.
        why: AssetFault,
    },
    /// A file or resource could not be read.
    #[error("{path}: cannot be read: {kind}")]
    Io {
        /// The path as it was given or resolved.
        path: Box<str>,
        /// What the operating system said.
        kind: std::io::ErrorKind,
    },
    /// An index or name that the object it addresses does not have.
    #[error("{what} {index} does not exist: there are {count}")]
    NotFound {
        /// What was asked for, such as `clip`.
        what: &'static str,
        /// The index asked for.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// A name that nothing bears.
    #[error("no {what} is called \"{name}\": there are {known}")]
    UnknownName {
        /// What was asked for, such as `clip`.
        what: &'static str,
        /// The name asked for.
        name: Box<str>,
        /// The names there are, separated by commas (cut after a few hundred characters).
        known: Box<str>,
    },
    /// Two skeletons that have to share joints, of which none is found in both.
    #[error("no joint of one is found in the other: there are {from}; and there are {to}")]
    NoCommonJoints {
        /// The names of the joints that were looked for, separated by commas (cut after a few
        /// hundred characters).
        from: Box<str>,
        /// The names of the joints among which they were looked for, likewise.
        to: Box<str>,
    },
    /// A handle whose object is gone.
    #[error(
        "{what} {index} is no longer alive (its slot is at generation {alive}, the handle at {generation})"
    )]
    Stale {
        /// What the handle addresses, such as `instance`.
        what: &'static str,
        /// The slot that the handle names.
        index: u32,
        /// The handle's generation.
        generation: u32,
        /// The generation that is alive or will be next.
        alive: u32,
    },
    /// One of several things that a call was given is wrong.
    #[error("{what} {index}: {why}")]
    At {
        /// What it is one of, such as `skin job`.
        what: &'static str,
        /// Which, in the order in which they were given.
        index: u64,
        /// What is wrong with it.
        why: Box<Self>,
    },
    /// More was asked for than there is room.
    #[error("{what}: {asked} asked, room for {cap}")]
    Capacity {
        /// What ran out, in its unit, such as `instances` or `palette entries`.
        what: &'static str,
        /// How many were asked for in all.
        asked: u64,
        /// How many fit.
        cap: u64,
    },
    /// A triangle follows more joints than the parts of its primitive may use, so that no split
    /// keeps it.
    #[error("{primitive}: triangle {triangle} follows {joints} joints, {cap} are allowed")]
    TriangleJoints {
        /// The primitive's name.
        primitive: Box<str>,
        /// Which triangle.
        triangle: usize,
        /// How many palette entries its vertices follow.
        joints: usize,
        /// How many a part may use.
        cap: usize,
    },
    /// Bytes that are no saved character, or no longer.
    #[error("saved character: {why}")]
    Saved {
        /// What is wrong with them.
        why: SavedFault,
    },
    /// An argument outside what its function takes.
    #[error("{what}: {why}")]
    Argument {
        /// The argument or field.
        what: &'static str,
        /// What is wrong with it.
        why: ArgumentFault,
    },
    /// A skinning matrix that the palette's format for a method can't hold.
    #[error(
        "joint {joint} \"{name}\" in {at}: its skinning matrix {why}, which {method} can't hold"
    )]
    Unrepresentable {
        /// The name of the [`SkinningMethod`](crate::palette::SkinningMethod).
        method: &'static str,
        /// The joint's index in the skeleton.
        joint: u16,
        /// The joint's name, or empty.
        name: Box<str>,
        /// In which pose.
        at: PoseAt,
        /// What the format can't hold.
        why: Unrepresentable,
    },
    /// A state machine's data or text is not what it must be: which part, which line, and why.
    #[error("{0}")]
    StateMachine(Box<StateMachineError>),
    /// The description of a character's animation, or its text, is not what it must be: which part,
    /// which line, and why.
    #[error("{0}")]
    Animation(Box<AnimationError>),
    /// The device or driver lacks something that is needed.
    #[error("unsupported: {what} ({device})")]
    Unsupported {
        /// What is missing, by its Vulkan name.
        what: &'static str,
        /// The device's name.
        device: Box<str>,
    },
    /// A Vulkan call failed.
    #[cfg(feature = "vulkan")]
    #[error("{call}: {result}")]
    Vulkan {
        /// The name of the call, such as `vkCreateBuffer`.
        call: &'static str,
        /// What it returned.
        result: ash::vk::Result,
    },
    /// The allocator could not give memory.
    #[cfg(feature = "vulkan")]
    #[error("no memory for {name} ({bytes} bytes): {why}")]
    Memory {
        /// The name of the buffer or image.
        name: Box<str>,
        /// Its size in bytes.
        bytes: u64,
        /// The allocator's reason.
        why: Box<str>,
    },
}

impl Error {
    /// The same error about the file of this name, unless it names one already.
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        if let Self::Asset { file, .. } = &mut self
            && file.is_empty()
        {
            *file = if name.is_empty() { "unnamed" } else { name }.into();
        }
        self
    }
}

/// What an [`Error::Argument`] complains about.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentFault {
    /// Not a number, or infinite.
    #[error("{0} is not finite")]
    NotFinite(f64),
    /// Outside a closed range. A limit that is infinite, or the largest number of a type, is no
    /// limit: the message leaves it out.
    #[error("{} {}", range::Number(*value), range::Limits { min: *min, max: *max })]
    OutOfRange {
        /// The value given.
        value: f64,
        /// The least that is taken.
        min: f64,
        /// The most that is taken.
        max: f64,
    },
    /// A slice of the wrong length.
    #[error("{got} elements, {need} needed")]
    Length {
        /// How many the caller gave.
        got: usize,
        /// How many are needed.
        need: usize,
    },
    /// The same as another, where all must differ.
    #[error("is the same as that of number {of}")]
    Duplicate {
        /// Which other one.
        of: usize,
    },
    /// A combination or a value that makes no sense; the text says which.
    #[error("{0}")]
    Invalid(&'static str),
}

/// What an object of a file is; named as the format names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectKind {
    /// The file itself: container, header, top-level properties.
    File,
    /// A scene.
    Scene,
    /// A node of the scene graph.
    Node,
    /// A skin.
    Skin,
    /// A mesh.
    Mesh,
    /// An animation.
    Animation,
    /// A material.
    Material,
    /// A texture.
    Texture,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
    /// An accessor.
    Accessor,
    /// A buffer view.
    BufferView,
    /// A buffer.
    Buffer,
}

impl ObjectKind {
    /// The word that error messages use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Scene => "scene",
            Self::Node => "node",
            Self::Skin => "skin",
            Self::Mesh => "mesh",
            Self::Animation => "animation",
            Self::Material => "material",
            Self::Texture => "texture",
            Self::Image => "image",
            Self::Sampler => "sampler",
            Self::Accessor => "accessor",
            Self::BufferView => "bufferView",
            Self::Buffer => "buffer",
        }
    }
}

/// An object of a file: what it is and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its index in the file's list of such objects, if it is one of a list.
    pub index: Option<usize>,
    /// A part of it, such as `primitives[2].attributes.JOINTS_0` or `vertex 17`; empty if it is
    /// meant whole.
    pub part: Box<str>,
}

impl core::fmt::Display for Object {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.kind.name())?;
        if let Some(index) = self.index {
            write!(f, " {index}")?;
        }
        if !self.part.is_empty() {
            write!(f, ", {}", self.part)?;
        }
        Ok(())
    }
}

/// Why a file was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssetFault {
    /// The container or its text is broken; the position is in bytes.
    #[error("{what} at byte {at}")]
    Malformed {
        /// What is broken.
        what: &'static str,
        /// Where, in bytes from the start of the file.
        at: u64,
    },
    /// The JSON text can't be read as what the format demands.
    #[error("{what} (line {line}, column {column})")]
    Json {
        /// The parser's words.
        what: Box<str>,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// An index that points past its list.
    #[error("refers to {what} {index}, but there are {count}")]
    Dangling {
        /// What is referred to.
        what: &'static str,
        /// The index in the file.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// A range of bytes outside what it lies in.
    #[error("needs bytes {start}..{end} of {what}, which has {len}")]
    OutOfBounds {
        /// What is addressed.
        what: &'static str,
        /// First byte.
        start: u64,
        /// One past the last byte.
        end: u64,
        /// How many there are.
        len: u64,
    },
    /// A count that differs from the one that it must match.
    #[error("{what} has {got}, {need} needed")]
    Count {
        /// What was counted.
        what: &'static str,
        /// What is there.
        got: u64,
        /// What must be there.
        need: u64,
    },
    /// Past a cap: one of the import options, or one of the crate.
    #[error("{what}: {asked} is more than the cap of {cap}")]
    Cap {
        /// What is capped.
        what: &'static str,
        /// What the file asks for.
        asked: u64,
        /// The cap.
        cap: u64,
    },
    /// A type, component type, mode, path or other enumerated value that is not allowed there.
    #[error("{what} is {got}, which is not allowed here ({allowed})")]
    NotAllowed {
        /// Which property.
        what: &'static str,
        /// Its value in the file.
        got: Box<str>,
        /// What would be allowed.
        allowed: &'static str,
    },
    /// A number that is not finite, or out of the range that it must lie in.
    #[error("{what} {index} is {value}, which is not allowed")]
    Value {
        /// What it is.
        what: &'static str,
        /// Which element of the object.
        index: u64,
        /// The value.
        value: f64,
    },
    /// The node hierarchy is no forest.
    #[error("is its own ancestor, or the child of two nodes")]
    NotATree,
    /// Something that the format demands is absent.
    #[error("lacks {0}")]
    Missing(&'static str),
    /// A resource outside the asset's folder, or one that can't be reached from where the bytes
    /// came from.
    #[error("refers to \"{uri}\", which {why}")]
    Resource {
        /// The reference, cut after 200 characters.
        uri: Box<str>,
        /// Why it is not read.
        why: &'static str,
    },
    /// A resource of the asset that could not be read.
    #[error("refers to \"{uri}\", which cannot be read: {kind}")]
    Unreadable {
        /// The reference, cut after 200 characters.
        uri: Box<str>,
        /// What the operating system said.
        kind: std::io::ErrorKind,
    },
    /// An image that the decoder refused.
    #[error("cannot be decoded: {0}")]
    Image(Box<str>),
    /// A required extension or version that is not supported.
    #[error("requires {0}, which is not supported")]
    Requires(Box<str>),
    /// Any other violation, said in words.
    #[error("{0}")]
    Invalid(&'static str),
}

pub use animation::{AnimationError, AnimationList, AnimationPart};
pub(crate) use argument::expect_len;
pub(crate) use desc::cut;
pub use desc::{DescError, DescFault};
pub(crate) use names::listed;
pub use saved::SavedFault;
pub use state_machine::{StateMachineError, StateMachinePart};
pub use unrepresentable::{PoseAt, Unrepresentable};
