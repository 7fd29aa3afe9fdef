//! Errors in the bytes of a saved character.

/// The reason that bytes cannot be read as a saved character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SavedFault {
    /// The bytes do not start with the signature of a saved character.
    #[error("this is no saved character")]
    Magic,
    /// Another version of the crate wrote the bytes, in another format.
    #[error("the format is of version {found}, this one reads {known}: save the character again")]
    Version {
        /// The version of the bytes.
        found: u32,
        /// The version that can be read.
        known: u32,
    },
    /// The data is shorter or longer than it was when it was written.
    #[error("{got} bytes are there of {need}")]
    Length {
        /// The number of bytes that are there.
        got: u64,
        /// The number of bytes that were written.
        need: u64,
    },
    /// The bytes were altered.
    #[error("the checksum differs: the bytes were altered")]
    Checksum,
    /// The data ends before a part is complete.
    #[error("byte {at}: the data ends too early")]
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
