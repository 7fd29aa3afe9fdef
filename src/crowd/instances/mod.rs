//! The instance table, its ranges of memory, and attachments.

pub(in crate::crowd) mod attachments;
pub(in crate::crowd) mod gpu_attachments;
pub(in crate::crowd) mod state;
pub(in crate::crowd) mod table;
