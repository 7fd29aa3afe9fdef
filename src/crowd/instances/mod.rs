//! Who there is: the instance table, its ranges of memory, attachments.

pub(in crate::crowd) mod attachments;
pub(in crate::crowd) mod state;
pub(in crate::crowd) mod table;
