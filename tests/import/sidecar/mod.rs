//! Animation data of a character: as data, and as a TOML file beside the model.
//!
//! The models are made, the mannequin, and an asset. Errors name file, line and part.

mod beside;
mod broken;
mod desc;
mod folder;
mod gaits;
mod page;
