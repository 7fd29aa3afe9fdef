//! Tests of the FBX importer.
//!
//! - It reads text files that are written here, and the results match numbers computed by hand.
//! - Posed vertices match those that ufbx skins itself.
//! - Altered files are imported or rejected with a typed error.
#![cfg(feature = "fbx")]

mod ascii;
#[path = "../reference/poser.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use more of it")]
mod poser;

mod arm;
mod hostile;
mod materials;
mod oracle;
mod takes;
