//! Splitting primitives and characters into parts that follow few joints.

mod characters;
mod made;
mod primitives;
