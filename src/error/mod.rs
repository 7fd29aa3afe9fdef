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

/// Everything that can fail for a reason the caller must handle.
///
/// This covers files, arguments, devices and capacities. Each variant carries the numbers and names
/// that are needed to act on it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file violates its format.
    #[error("{file}: {object}: {why}")]
    Asset {
        /// The name of the file, or the name that the caller gave it.
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
        /// The error that the operating system reported.
        kind: std::io::ErrorKind,
    },
    /// An index that does not exist in the object it addresses.
    #[error("{what} {index} does not exist: there are {count}")]
    NotFound {
        /// The kind of thing requested, such as `clip`.
        what: &'static str,
        /// The index asked for.
        index: u64,
        /// The number that exist.
        count: u64,
    },
    /// A name that does not exist.
    #[error("no {what} is called \"{name}\": there are {known}")]
    UnknownName {
        /// The kind of thing requested, such as `clip`.
        what: &'static str,
        /// The name asked for.
        name: Box<str>,
        /// The names that exist, separated by commas (cut after a few hundred characters).
        known: Box<str>,
    },
    /// Two skeletons that must have joints in common but have none.
    #[error("no joint of one is found in the other: there are {from}; and there are {to}")]
    NoCommonJoints {
        /// The names of the joints that were looked for, separated by commas (cut after a few
        /// hundred characters).
        from: Box<str>,
        /// The names of the joints that were searched, in the same form.
        to: Box<str>,
    },
    /// A handle to an object that no longer exists.
    #[error(
        "{what} {index} is no longer alive (its slot is at generation {alive}, the handle at {generation})"
    )]
    Stale {
        /// The kind of object that the handle addresses, such as `instance`.
        what: &'static str,
        /// The index that the handle names.
        index: u32,
        /// The handle's generation.
        generation: u32,
        /// The generation that is alive at that index, or will be next.
        alive: u32,
    },
    /// One of several things passed to a call is invalid.
    #[error("{what} {index}: {why}")]
    At {
        /// The kind of thing, such as `skin job`.
        what: &'static str,
        /// Its index, in the order in which they were given.
        index: u64,
        /// The error.
        why: Box<Self>,
    },
    /// A capacity was exceeded.
    #[error("{what}: {asked} asked, room for {cap}")]
    Capacity {
        /// The capacity that ran out, in its unit, such as `instances` or `palette entries`.
        what: &'static str,
        /// The total number requested.
        asked: u64,
        /// The number that fits.
        cap: u64,
    },
    /// A triangle follows more joints than one part of its primitive may use.
    ///
    /// No split of the primitive can keep this triangle.
    #[error("{primitive}: triangle {triangle} follows {joints} joints, {cap} are allowed")]
    TriangleJoints {
        /// The primitive's name.
        primitive: Box<str>,
        /// The index of the triangle.
        triangle: usize,
        /// The number of palette entries that its vertices follow.
        joints: usize,
        /// The largest number that a part may use.
        cap: usize,
    },
    /// Bytes that are not a saved character, or are corrupt.
    #[error("saved character: {why}")]
    Saved {
        /// The error.
        why: SavedFault,
    },
    /// An argument that the function does not accept.
    #[error("{what}: {why}")]
    Argument {
        /// The name of the argument or field.
        what: &'static str,
        /// The error.
        why: ArgumentFault,
    },
    /// A skinning matrix that the palette's format cannot represent.
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
        /// The pose.
        at: PoseAt,
        /// The property that the format cannot represent.
        why: Unrepresentable,
    },
    /// The data or text of a state machine is invalid: which part, which line, and why.
    #[error("{0}")]
    StateMachine(Box<StateMachineError>),
    /// The description of a character's animation, or its text, is invalid: which part, which line,
    /// and why.
    #[error("{0}")]
    Animation(Box<AnimationError>),
    /// The device or driver lacks a required feature.
    #[error("unsupported: {what} ({device})")]
    Unsupported {
        /// The missing feature, by its Vulkan name.
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
        /// The result code it returned.
        result: ash::vk::Result,
    },
    /// The allocator could not provide memory.
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
    /// The same error, with this file name unless it already has one.
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        if let Self::Asset { file, .. } = &mut self
            && file.is_empty()
        {
            *file = if name.is_empty() { "unnamed" } else { name }.into();
        }
        self
    }
}

/// The reason for an [`Error::Argument`].
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentFault {
    /// Not a number, or infinite.
    #[error("{0} is not finite")]
    NotFinite(f64),
    /// Outside a closed range. An infinite limit, or one that is the largest number of its type, is
    /// no limit: the message leaves it out.
    #[error("{} {}", range::Number(*value), range::Limits { min: *min, max: *max })]
    OutOfRange {
        /// The value given.
        value: f64,
        /// The smallest value accepted.
        min: f64,
        /// The largest value accepted.
        max: f64,
    },
    /// A slice of the wrong length.
    #[error("{got} elements, {need} needed")]
    Length {
        /// The length that the caller gave.
        got: usize,
        /// The length that is needed.
        need: usize,
    },
    /// Equal to another one, where all must differ.
    #[error("is the same as that of number {of}")]
    Duplicate {
        /// The index of the other one.
        of: usize,
    },
    /// A value or combination that makes no sense. The text says which.
    #[error("{0}")]
    Invalid(&'static str),
}

/// The kind of an object in a file, by the format's name.
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
    /// The word for it in error messages.
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

/// An object in a file: its kind and its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its kind.
    pub kind: ObjectKind,
    /// Its index in the file's list of such objects, if there is one.
    pub index: Option<usize>,
    /// A part of it, such as `primitives[2].attributes.JOINTS_0` or `vertex 17`. Empty if the
    /// object as a whole is meant.
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

/// The reason that a file was rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssetFault {
    /// The container or its text is malformed.
    #[error("{what} at byte {at}")]
    Malformed {
        /// The malformed part.
        what: &'static str,
        /// Its position, in bytes from the start of the file.
        at: u64,
    },
    /// The JSON text is malformed or does not match the format.
    #[error("{what} (line {line}, column {column})")]
    Json {
        /// The parser's message.
        what: Box<str>,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// An index past the end of the list it refers to.
    #[error("refers to {what} {index}, but there are {count}")]
    Dangling {
        /// The kind of object that is referred to.
        what: &'static str,
        /// The index in the file.
        index: u64,
        /// The number that exist.
        count: u64,
    },
    /// A byte range that exceeds the object it addresses.
    #[error("needs bytes {start}..{end} of {what}, which has {len}")]
    OutOfBounds {
        /// The object that is addressed.
        what: &'static str,
        /// First byte.
        start: u64,
        /// One past the last byte.
        end: u64,
        /// The number of bytes that it has.
        len: u64,
    },
    /// A count that differs from the count it must match.
    #[error("{what} has {got}, {need} needed")]
    Count {
        /// The thing that was counted.
        what: &'static str,
        /// The count in the file.
        got: u64,
        /// The count that is needed.
        need: u64,
    },
    /// A cap is exceeded: one of the import options, or one of the crate.
    #[error("{what}: {asked} is more than the cap of {cap}")]
    Cap {
        /// The thing that is capped.
        what: &'static str,
        /// The number that the file asks for.
        asked: u64,
        /// The cap.
        cap: u64,
    },
    /// A type, component type, mode, path or other enumerated value that is not allowed here.
    #[error("{what} is {got}, which is not allowed here ({allowed})")]
    NotAllowed {
        /// The property.
        what: &'static str,
        /// Its value in the file.
        got: Box<str>,
        /// The values that are allowed.
        allowed: &'static str,
    },
    /// A number that is not finite, or outside its allowed range.
    #[error("{what} {index} is {value}, which is not allowed")]
    Value {
        /// The kind of number.
        what: &'static str,
        /// The index of the element in the object.
        index: u64,
        /// The value.
        value: f64,
    },
    /// The node hierarchy is not a forest.
    #[error("is its own ancestor, or the child of two nodes")]
    NotATree,
    /// Something that the format requires is absent.
    #[error("lacks {0}")]
    Missing(&'static str),
    /// A resource that must not or cannot be read.
    ///
    /// It is outside the asset's folder, or cannot be reached from where the bytes came from.
    #[error("refers to \"{uri}\", which {why}")]
    Resource {
        /// The reference, cut after 200 characters.
        uri: Box<str>,
        /// The reason that it is not read.
        why: &'static str,
    },
    /// A resource of the asset that could not be read.
    #[error("refers to \"{uri}\", which cannot be read: {kind}")]
    Unreadable {
        /// The reference, cut after 200 characters.
        uri: Box<str>,
        /// The error that the operating system reported.
        kind: std::io::ErrorKind,
    },
    /// An image that the decoder rejected.
    #[error("cannot be decoded: {0}")]
    Image(Box<str>),
    /// A required extension or version that is not supported.
    #[error("requires {0}, which is not supported")]
    Requires(Box<str>),
    /// Any other violation, described by the text.
    #[error("{0}")]
    Invalid(&'static str),
}

pub use animation::{AnimationError, AnimationList, AnimationPart};
pub(crate) use argument::{expect_finite, expect_in, expect_len};
pub(crate) use desc::cut;
pub use desc::{DescError, DescFault};
pub(crate) use names::listed;
pub use saved::SavedFault;
pub use state_machine::{StateMachineError, StateMachinePart};
pub use unrepresentable::{PoseAt, Unrepresentable};
