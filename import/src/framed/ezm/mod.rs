//! The EZMesh reader: `.ezm`, the XML format of MeshImport.
//!
//! ```text
//! bytes ──xml──▶ elements ──skeletons, meshes (layout, vertices), clips──▶ RawCharacter
//! ```

mod clips;
mod layout;
mod meshes;
mod read;
mod skeletons;
mod vertices;
mod xml;

pub(crate) use read::{has_skeleton, read};
