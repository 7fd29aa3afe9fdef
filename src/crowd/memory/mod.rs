//! Buffers, ranges of them, and what is freed later.

pub(in crate::crowd) mod buffers;
pub(in crate::crowd) mod history_buffer;
pub(in crate::crowd) mod pending_growth;
pub(in crate::crowd) mod range_allocator;
pub(in crate::crowd) mod read_back;
pub(in crate::crowd) mod retire;
pub(in crate::crowd) mod work;
