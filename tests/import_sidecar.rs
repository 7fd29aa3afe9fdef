//! What belongs to a character's animation: as data, as a TOML file beside the model, on a made
//! file, on the mannequin and on an asset; what is wrong with it is named with file, line and part.
#![cfg(all(feature = "gltf", feature = "toml"))]

#[path = "sidecar/beside.rs"]
mod beside;
#[path = "sidecar/broken.rs"]
mod broken;
#[path = "sidecar/desc.rs"]
mod desc;
#[path = "sidecar/folder.rs"]
mod folder;
#[path = "sidecar/gaits.rs"]
mod gaits;
