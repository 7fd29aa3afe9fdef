//! The error type, and the faults that may contain it again.

#[cfg(feature = "vulkan")]
use super::allocator::AllocatorError;
use super::argument::{ArgumentFault, Number};
use super::asset::{AssetFault, Object};
use super::names::Escaped;
use super::place::{Field, IoKind, Location, Name, PathText};
use super::unrepresentable::Unrepresentable;
use core::fmt;

/// The reason that a pointer of Git LFS is not read, as the end of a sentence.
pub(crate) const LFS_POINTER: &str =
    "is only a Git LFS pointer: run `git lfs pull` to download the file itself";

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
    #[error("{}: {object}: {why}", Escaped(file))]
    Asset {
        /// The name of the file, or the name that the caller gave it.
        file: Box<str>,
        /// The object at fault, with its index.
        object: Object,
        /// The reason.
        why: AssetFault,
    },
    /// A file or resource could not be read.
    #[error("{} cannot be read: {}", PathText(path), IoKind(*kind, "it"))]
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
    #[error(
        "{what} \"{}\" does not exist: there are {}",
        Escaped(name),
        Escaped(known)
    )]
    UnknownName {
        /// The kind of thing requested, such as `clip`.
        what: &'static str,
        /// The name asked for.
        name: Box<str>,
        /// The names that exist, separated by commas (cut after a few hundred characters).
        known: Box<str>,
    },
    /// Two skeletons that must have joints in common but have none.
    #[error(
        "{}the skeletons have no joint name in common: {} has {}; {} has {}",
        Location { file, line: None },
        if file.is_empty() { "the source" } else { "the file" },
        Escaped(from),
        if file.is_empty() { "the target" } else { "the character" },
        Escaped(to)
    )]
    NoCommonJoints {
        /// The name of the file that `from` belongs to. Empty if there is no file.
        file: Box<str>,
        /// The names of the joints that were looked for, separated by commas (cut after a few
        /// hundred characters).
        from: Box<str>,
        /// The names of the joints that were searched, in the same form.
        to: Box<str>,
    },
    /// A handle to an object that no longer exists.
    #[error(
        "{what} {index} no longer exists: \
         the handle has generation {generation}, the current generation is {alive}"
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
    /// A file does not have what the import options name, such as a scene.
    #[error("{}: {why}", Escaped(file))]
    InFile {
        /// The name of the file, or the name that the caller gave it.
        file: Box<str>,
        /// The error.
        why: Box<Self>,
    },
    /// An error about one of several things, such as those passed to a call.
    #[error("{what} {index}{}: {why}", Name(name))]
    At {
        /// The kind of thing, such as `skin job`.
        what: &'static str,
        /// Its index, in the order in which they were given.
        index: u64,
        /// Its name. Empty if it has none.
        name: Box<str>,
        /// The error.
        why: Box<Self>,
    },
    /// A capacity was exceeded.
    #[error("{what}: {asked} requested, at most {cap} allowed")]
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
    #[error(
        "{}: triangle {triangle} follows {joints} joints, at most {cap} are allowed",
        Escaped(primitive)
    )]
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
    /// A file could not be written.
    #[error("{} cannot be written: {}", PathText(path), IoKind(*kind, "its folder"))]
    Write {
        /// The path as it was given.
        path: Box<str>,
        /// The error that the operating system reported.
        kind: std::io::ErrorKind,
    },
    /// Bytes that are not a saved character, or are corrupt.
    #[error("{}saved character: {why}", Location { file, line: None })]
    Saved {
        /// The name of the file. Empty for bytes that did not come from a file.
        file: Box<str>,
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
        "joint {joint} \"{}\" in {}: \
         the skinning matrix {why}, which {method} cannot represent",
        Escaped(name),
        Escaped(at)
    )]
    Unrepresentable {
        /// The name of the [`SkinningMethod`](crate::palette::SkinningMethod).
        method: &'static str,
        /// The joint's index in the skeleton.
        joint: u16,
        /// The joint's name, or empty.
        name: Box<str>,
        /// The pose: `the rest pose`, `the given pose`, or such as `clip "Walk" at 0.5 s`.
        at: Box<str>,
        /// The property that the format cannot represent.
        why: Unrepresentable,
    },
    /// The data or text of an [`AnimationDesc`](crate::character::AnimationDesc) or a
    /// [`StateMachineDesc`](crate::state_machine::StateMachineDesc) is invalid.
    #[error(
        "{}{}{}: {}",
        Location { file, line: *line },
        Escaped(part),
        Field(field),
        Why { part, why }
    )]
    Description {
        /// The name that the caller gave the text. Empty for data that did not come from text.
        file: Box<str>,
        /// The line in the text, from 1.
        line: Option<u32>,
        /// The part at fault, such as `clip 3 "Walk"` or `layer "base", state 0 "idle"`.
        part: Box<str>,
        /// The field of the part, such as `points[2].clip`. Empty if the part as a whole is meant.
        field: Box<str>,
        /// The reason.
        why: Box<DescFault>,
    },
    /// The device or driver does not support a required feature.
    #[error("{} does not support {}", Escaped(device), missing.join(", "))]
    Unsupported {
        /// The device's name.
        device: Box<str>,
        /// The missing features, by their Vulkan names.
        missing: Vec<&'static str>,
    },
    /// Device features that something needs were not enabled when the device was created.
    ///
    /// The engine says which are enabled, see [`Features`](crate::gpu::Features).
    #[cfg(feature = "vulkan")]
    #[error("{what} needs {}, which the device has not enabled", missing.join(", "))]
    NotEnabled {
        /// The setting that needs them, such as `PassDesc::view_mask`.
        what: &'static str,
        /// The missing features, by their Vulkan names.
        missing: Vec<&'static str>,
    },
    /// A Vulkan call failed.
    #[cfg(feature = "vulkan")]
    #[error("{call} failed: {result}")]
    Vulkan {
        /// The name of the call, such as `vkCreateBuffer`.
        call: &'static str,
        /// The result code it returned.
        result: ash::vk::Result,
    },
    /// The allocator could not provide memory.
    #[cfg(feature = "vulkan")]
    #[error("cannot allocate {bytes} bytes for {}: {why}", Escaped(name))]
    Memory {
        /// The name of the buffer or image.
        name: Box<str>,
        /// Its size in bytes.
        bytes: u64,
        /// The allocator's error.
        #[source]
        why: AllocatorError,
    },
}

impl Error {
    /// A fault in the bytes of a saved character.
    pub(crate) fn saved(why: SavedFault) -> Self {
        Self::Saved {
            file: Box::default(),
            why,
        }
    }

    /// A fault of an object in a file. [`Self::in_file`] adds the file's name.
    #[must_use]
    pub fn asset(object: Object, why: AssetFault) -> Self {
        Self::Asset {
            file: Box::default(),
            object,
            why,
        }
    }

    /// The same error, with this file name if it is about a file and has no name yet.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        if let Self::Saved { file, .. } = &mut self
            && file.is_empty()
        {
            *file = name.into();
        }
        if let Self::Asset { file, .. } | Self::InFile { file, .. } = &mut self
            && file.is_empty()
        {
            *file = if name.is_empty() { "unnamed" } else { name }.into();
        }
        self
    }
}

/// The reason that a part of a description is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DescFault {
    /// The text is not TOML, or does not have the description's form. Holds the parser's message.
    #[error("{}", Escaped(.0))]
    Text(Box<str>),
    /// There are more than the cap allows.
    #[error("has {asked} {what}, at most {cap} are allowed")]
    Cap {
        /// The thing that is capped.
        what: &'static str,
        /// The number in the description.
        asked: usize,
        /// The largest number allowed.
        cap: usize,
    },
    /// A required item is missing.
    #[error("has no {0}")]
    Missing(&'static str),
    /// A name that does not exist.
    #[error(
        "{what} \"{}\" does not exist: there are {}",
        Escaped(name),
        Escaped(known)
    )]
    Unknown {
        /// The kind of thing that was named, such as `state`.
        what: &'static str,
        /// The name.
        name: Box<str>,
        /// The names that exist, separated by commas (cut after a few hundred characters).
        known: Box<str>,
    },
    /// A name that another item of the same list already has.
    #[error("has the same name as element {of} of its list")]
    Duplicate {
        /// The index of the other item, from 0.
        of: usize,
    },
    /// Text that is not valid as a name.
    #[error("\"{}\" is not a valid name: {why}", Escaped(name))]
    Name {
        /// The name.
        name: Box<str>,
        /// The reason.
        why: &'static str,
    },
    /// A number that is not allowed here.
    #[error("is {}, must be {allowed}", Number(*value))]
    Value {
        /// The number.
        value: f64,
        /// The numbers that are allowed.
        allowed: &'static str,
    },
    /// A parameter of the wrong kind.
    #[error("parameter \"{}\" is a {is}, must be a {need}", Escaped(parameter))]
    Kind {
        /// The parameter's name.
        parameter: Box<str>,
        /// The kind that it has.
        is: &'static str,
        /// The kind that is needed.
        need: &'static str,
    },
    /// A time that is not one of the clip.
    #[error(
        "is {}, must be in 0..={}, the duration of the clip",
        Number(*time_s),
        Number(*duration_s)
    )]
    Time {
        /// The time in seconds.
        time_s: f64,
        /// The clip's duration in seconds.
        duration_s: f64,
    },
    /// A clip that has neither root motion nor a gait, where a ground speed is followed.
    #[error(
        "clip \"{}\" has no ground speed: it needs root motion, or a gait that is measured or given",
        Escaped(clip)
    )]
    NoGroundSpeed {
        /// The clip's name.
        clip: Box<str>,
    },
    /// A clip that is additive where the layer is not, or the other way round.
    #[error("clip \"{}\" is {is}, unlike the layer", Escaped(clip))]
    Additive {
        /// The clip's name.
        clip: Box<str>,
        /// The clip's kind: `additive` or `not additive`.
        is: &'static str,
    },
    /// Data that its own type rejected, such as points from which no blend can be made.
    #[error("{0}")]
    Refused(Box<Error>),
    /// Any other error.
    #[error("{0}")]
    Invalid(&'static str),
}

/// The reason that bytes cannot be read as a saved character.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedFault {
    /// The bytes do not start with the signature of a saved character.
    #[error("the bytes do not start with the signature")]
    Magic,
    /// The file is only a Git LFS pointer to a saved character.
    #[error("{LFS_POINTER}")]
    LfsPointer,
    /// Another version of the crate wrote the bytes, in another format.
    #[error(
        "has format version {found}, but this version of the crate reads only {known}: \
         save the character again"
    )]
    Version {
        /// The version of the bytes.
        found: u32,
        /// The version that can be read.
        known: u32,
    },
    /// The data is shorter or longer than it was when it was written.
    #[error("has {got} bytes, needs {need}")]
    Length {
        /// The number of bytes that are there.
        got: u64,
        /// The number of bytes that were written.
        need: u64,
    },
    /// The data is larger than [`LoadOptions::max_bytes`](crate::character::LoadOptions).
    #[error("has {bytes} bytes, but {cap} are allowed (LoadOptions::max_bytes)")]
    TooLarge {
        /// The number of bytes that are there.
        bytes: u64,
        /// The most bytes that are allowed.
        cap: u64,
    },
    /// The bytes of a section, or of the table of sections, were altered.
    #[error(
        "the checksum of \"{}\" does not match: the bytes were altered",
        Escaped(section)
    )]
    Checksum {
        /// The name of the section, or `table`.
        section: Box<str>,
    },
    /// A section is missing, exists twice, is misplaced, or is required but unknown.
    #[error("section \"{}\" {why}", Escaped(name))]
    Section {
        /// The name of the section.
        name: Box<str>,
        /// The reason.
        why: &'static str,
    },
    /// Another version of the crate wrote a section, in another format.
    #[error(
        "section \"{}\" has version {found}, but this version of the crate reads only \
         {known}: save the character again",
        Escaped(name)
    )]
    SectionVersion {
        /// The name of the section.
        name: Box<str>,
        /// The version of the section.
        found: u32,
        /// The version that can be read.
        known: u32,
    },
    /// The data ends before a part is complete.
    #[error("the data ends at byte {at}, before it is complete")]
    Ends {
        /// The byte position at which reading stopped.
        at: u64,
    },
    /// A part is invalid.
    #[error("{what} {why}")]
    Invalid {
        /// The part.
        what: &'static str,
        /// The reason that it is invalid.
        why: &'static str,
    },
    /// Data that its own type rejected, such as a clip whose key times do not ascend.
    #[error("{0}")]
    Refused(Box<Error>),
}

/// The reason of an error in a part, which does not repeat the name of the part.
struct Why<'a> {
    part: &'a str,
    why: &'a DescFault,
}

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            DescFault::Unknown { what, name, known } if self.names(what, name) => {
                write!(f, "does not exist: there are {}", Escaped(known))
            }
            why => why.fmt(f),
        }
    }
}

impl Why<'_> {
    /// True if the part is an element of a list of its file, of this kind and with this name.
    fn names(&self, what: &str, name: &str) -> bool {
        let quoted = self.part.strip_suffix('"');
        let before = quoted.and_then(|part| part.strip_suffix(name)?.strip_suffix(" \""));
        let kind = before.and_then(|before| before.rsplit_once(' '));
        kind.is_some_and(|(kind, _)| kind.ends_with(what) && !kind.contains('"'))
    }
}
