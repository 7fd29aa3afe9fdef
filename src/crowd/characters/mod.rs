//! Characters of a crowd: added, grown, removed.

pub(in crate::crowd) mod assets;
pub(in crate::crowd) mod entry;
