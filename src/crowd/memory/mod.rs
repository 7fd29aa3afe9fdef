//! Buffers, ranges, growth, and what is freed later.

pub(in crate::crowd) mod buffers;
pub(in crate::crowd) mod load;
pub(in crate::crowd) mod range_allocator;
pub(in crate::crowd) mod retire;
