//! What is wrong with a saved character.

/// Why bytes cannot be read as a saved character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SavedFault {
    /// They do not start as a saved character does.
    #[error("this is no saved character")]
    Magic,
    /// Another version of the crate wrote them, in another format.
    #[error("the format is of version {found}, this one reads {known}: save the character again")]
    Version {
        /// The version that the bytes have.
        found: u32,
        /// The version that can be read.
        known: u32,
    },
    /// They are shorter or longer than they were.
    #[error("{got} bytes are there of {need}")]
    Length {
        /// How many there are.
        got: u64,
        /// How many were written.
        need: u64,
    },
    /// They were altered.
    #[error("the checksum differs: the bytes were altered")]
    Checksum,
    /// They end before all of a part is read.
    #[error("byte {at}: the data ends too early")]
    Ends {
        /// Where reading stopped.
        at: u64,
    },
    /// A part makes no sense.
    #[error("{what} {why}")]
    Invalid {
        /// The part.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
}
