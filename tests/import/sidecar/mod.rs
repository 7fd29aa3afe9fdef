//! What belongs to a character's animation: as data, as a TOML file beside the model, on a made
//! file, on the mannequin and on an asset; what is wrong with it is named with file, line and part.
#![cfg(all(feature = "gltf", feature = "toml"))]

mod beside;
mod broken;
mod desc;
mod folder;
mod gaits;
