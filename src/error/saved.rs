//! Errors in the bytes of a saved character.

/// The reason that bytes cannot be read as a saved character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SavedFault {
    /// The bytes do not start with the signature of a saved character.
    #[error("the bytes do not start with the signature")]
    Magic,
    /// Another version of the crate wrote the bytes, in another format.
    #[error("format version {found} is not supported, only {known}: save the character again")]
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
    /// The bytes were altered.
    #[error("the checksum does not match: the bytes were altered")]
    Checksum,
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
}
