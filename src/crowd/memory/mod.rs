//! Buffers, ranges of them, and what is freed later.

pub(crate) mod buffers;
pub(crate) mod growth;
pub(crate) mod history_buffer;
pub(crate) mod pending_growth;
pub(crate) mod range_allocator;
pub(crate) mod read_back;
pub(crate) mod retire;
pub(crate) mod sections;
pub(crate) mod work;
