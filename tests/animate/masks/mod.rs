//! Masks: by name and subtree, and those that are refused.

mod by_name;
mod refusals;
