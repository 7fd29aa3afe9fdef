//! Errors in files.

use super::argument::Number;
use super::names::Escaped;
use super::place::IoKind;

/// Declares the kinds of objects, with the words for them in error messages.
macro_rules! kinds {
    ($($doc:literal $kind:ident $word:literal,)*) => {
        /// The kind of an object in a file, by the format's name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ObjectKind {
            $(#[doc = $doc] $kind,)*
        }

        impl core::fmt::Display for ObjectKind {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(match self {
                    $(Self::$kind => $word,)*
                })
            }
        }
    };
}

kinds! {
    "The file itself: container, header, top-level properties." File "file",
    "A scene." Scene "scene",
    "A node of the scene graph." Node "node",
    "A skin." Skin "skin",
    "A mesh." Mesh "mesh",
    "An animation." Animation "animation",
    "A material." Material "material",
    "A texture." Texture "texture",
    "An image." Image "image",
    "A sampler." Sampler "sampler",
    "An accessor." Accessor "accessor",
    "A buffer view." BufferView "bufferView",
    "A buffer." Buffer "buffer",
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

impl Object {
    /// The object of this kind and index, or a part of it.
    pub fn new(
        kind: ObjectKind,
        index: impl Into<Option<usize>>,
        part: impl Into<Box<str>>,
    ) -> Self {
        let (index, part) = (index.into(), part.into());
        Self { kind, index, part }
    }
}

impl core::fmt::Display for Object {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.kind.fmt(f)?;
        if let Some(index) = self.index {
            write!(f, " {index}")?;
        }
        if !self.part.is_empty() {
            write!(f, ", {}", Escaped(&self.part))?;
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
    #[error("{} (line {line}, column {column})", Escaped(what))]
    Json {
        /// The parser's message.
        what: Box<str>,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// The XML text is malformed.
    #[error("{} (line {line}, column {column})", Escaped(what))]
    Xml {
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
    #[error("needs bytes {start}..{end} of {what}, which has {len} bytes")]
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
    #[error("{what} has {got}, needs {need}")]
    Count {
        /// The thing that was counted.
        what: &'static str,
        /// The count in the file.
        got: u64,
        /// The count that is needed.
        need: u64,
    },
    /// A cap is exceeded: one of the import options, or one of the crate.
    #[error("{what}: {asked} exceeds the limit of {cap}")]
    Cap {
        /// The thing that is capped.
        what: &'static str,
        /// The number that the file asks for.
        asked: u64,
        /// The cap.
        cap: u64,
    },
    /// A type, component type, mode, path or other enumerated value that is not allowed here.
    #[error("{what} is {}, which is not allowed here ({allowed})", Escaped(got))]
    NotAllowed {
        /// The property.
        what: &'static str,
        /// Its value in the file.
        got: Box<str>,
        /// The values that are allowed.
        allowed: &'static str,
    },
    /// A name that has no meaning in the format.
    #[error("\"{}\" is not {what}", Escaped(name))]
    UnknownName {
        /// The name in the file, cut after 200 characters.
        name: Box<str>,
        /// The kind of thing that it should name, such as `a humanoid bone of VRM`.
        what: &'static str,
    },
    /// A number that is not finite, or outside its allowed range.
    #[error("{what} {index} is {}, must be {allowed}", Number(*value))]
    Value {
        /// The kind of number.
        what: &'static str,
        /// The index of the element in the object.
        index: u64,
        /// The value.
        value: f64,
        /// The numbers that are allowed.
        allowed: &'static str,
    },
    /// A key time that is less than the previous one.
    #[error("key {key} is at {time_s} s, before the previous key at {before_s} s")]
    UnsortedKeys {
        /// The index of the key.
        key: u64,
        /// Its time, in seconds.
        time_s: f32,
        /// The time of the previous key, in seconds.
        before_s: f32,
    },
    /// A node that is reached again by following its parents.
    #[error("is its own ancestor")]
    OwnAncestor,
    /// A node that two nodes list as their child, or one node twice.
    #[error("is a child of node {first} and of node {second}, but may have only one parent")]
    SecondParent {
        /// The node that lists it first.
        first: u64,
        /// The node that lists it again. May be the same.
        second: u64,
    },
    /// Something that the format requires is absent.
    #[error("missing {0}")]
    Missing(&'static str),
    /// A resource that must not or cannot be read.
    ///
    /// It is outside the asset's folder, or cannot be reached from where the bytes came from.
    #[error("refers to \"{}\", which {why}", Escaped(uri))]
    Resource {
        /// The reference, cut after 200 characters.
        uri: Box<str>,
        /// The reason that it is not read.
        why: &'static str,
    },
    /// A resource of the asset that could not be read.
    #[error("refers to \"{}\", which cannot be read: {}", Escaped(uri), IoKind(*kind, "it"))]
    Unreadable {
        /// The reference, cut after 200 characters.
        uri: Box<str>,
        /// The error that the operating system reported.
        kind: std::io::ErrorKind,
    },
    /// An image that the decoder rejected.
    #[error("cannot be decoded: {}", Escaped(.0))]
    Image(Box<str>),
    /// An FBX file that the parser rejected, with its reason.
    #[error("cannot be read as FBX: {}", Escaped(.0))]
    Fbx(Box<str>),
    /// A required extension or version that is not supported.
    #[error("requires {}, which is not supported", Escaped(.0))]
    Requires(Box<str>),
    /// A format whose reader is a Cargo feature that is not enabled.
    #[error("is {format}, which needs the Cargo feature `{feature}` of throng-import")]
    NoReader {
        /// The format.
        format: &'static str,
        /// The feature that enables its reader.
        feature: &'static str,
    },
    /// An extension whose decoder is a Cargo feature that is not enabled.
    #[error("requires {extension}, which needs the Cargo feature `{feature}` of throng-import")]
    NoDecoder {
        /// The extension.
        extension: &'static str,
        /// The feature that enables its decoder.
        feature: &'static str,
    },
    /// Compressed data that the decoder rejected.
    #[error("cannot be decoded as {codec} data: {}", Escaped(why))]
    Compressed {
        /// The codec.
        codec: &'static str,
        /// The decoder's reason.
        why: Box<str>,
    },
    /// Any other violation, described by the text.
    #[error("{0}")]
    Invalid(&'static str),
}

impl AssetFault {
    /// The fault of a number that is not allowed ([`Self::Value`]).
    pub fn value(
        what: &'static str,
        index: usize,
        value: impl Into<f64>,
        allowed: &'static str,
    ) -> Self {
        let (index, value) = (index as u64, value.into());
        Self::Value {
            what,
            index,
            value,
            allowed,
        }
    }

    /// The fault of an index past the end of a list with `count` elements ([`Self::Dangling`]).
    #[must_use]
    pub const fn dangling(what: &'static str, index: usize, count: usize) -> Self {
        let (index, count) = (index as u64, count as u64);
        Self::Dangling { what, index, count }
    }

    /// The fault of the first key whose time is not finite, negative, or less than that of the
    /// previous key.
    #[must_use]
    pub fn of_key_times(times_s: &[f32]) -> Option<Self> {
        let mut before_s = 0.0;
        for (index, time_s) in times_s.iter().copied().enumerate() {
            if !(time_s.is_finite() && time_s >= 0.0) {
                let what = "the time of key";
                return Some(Self::value(what, index, time_s, "finite and at least 0"));
            }
            if time_s < before_s {
                let key = index as u64;
                return Some(Self::UnsortedKeys {
                    key,
                    time_s,
                    before_s,
                });
            }
            before_s = time_s;
        }
        None
    }
}
