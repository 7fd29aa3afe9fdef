//! Tests of the FBX importer.
//!
//! - It reads text files that are written here, and the results match numbers computed by hand.
//! - Posed vertices match those that ufbx skins itself.
//! - Parts that multiply are shared, or counted against a cap before they are allocated.
//! - The transforms of nodes with skinned meshes do not move them.
//! - Clips are for the armature that they move, and sockets are joints.
//! - Altered files are imported or rejected with a typed error.
#![cfg(feature = "fbx")]

mod ascii;
#[path = "../memory/counting.rs"]
#[allow(dead_code, reason = "the program `memory` uses all of it")]
mod counting;

mod arm;
mod bombs;
mod geometric;
mod hostile;
mod levels;
mod libraries;
mod materials;
mod oracle;
mod skins;
mod takes;
mod visible;

use throng_reference::poser;
