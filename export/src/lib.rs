//! Export of characters as glTF 2.0.
//!
//! [`glb()`] writes a character as binary glTF that other tools open: skeleton, skins, meshes,
//! morph targets, materials, textures and clips. The same character gives the same bytes each time.
//! An import of the file gives joints, rest pose, vertices, weights, names and durations of the
//! original. Poses differ by no more than the packing of clips allows
//! ([`ClipOptions::error_m`](throng::clip::ClipOptions::error_m)).
//!
//! # Contents
//!
//! - Joints are the first nodes, in the order of the skeleton.
//! - A primitive that follows one joint rigidly is the mesh of that joint's node. Other primitives
//!   are skinned meshes on nodes of their own, with any number of influences.
//! - A skin lists all joints of its hierarchy, so that none is lost. If one mesh follows several
//!   hierarchies, there is a node above all roots, because glTF requires one. An import recognises
//!   it by its `extras` and leaves it out.
//! - Morph targets have their names in `extras.targetNames` of the mesh.
//! - A clip is written from its curves if the character kept them
//!   ([`Character::curves`](throng::character::Character::curves)), otherwise from its packed keys,
//!   with a key for each frame. Tracks that were packed as curves stay curves.
//! - An additive clip is written on top of the rest pose, because glTF has no differences.
//! - Events are in `extras.events` of an animation, where an import reads them.
//! - A socket is a node below its joint.
//! - Images are written as PNG. Compressed ones are decoded, without their coarser levels, and
//!   normals of two channels get the third.
//!
//! glTF cannot store masks, blend spaces, state machines, gaits, roles of a humanoid and the
//! fact that a clip is additive. [`Exported::description`] has them, and so has `extras.throng` of
//! the scene, for other tools. To read them again, write the description as a TOML file of the same
//! name beside the file, or set
//! [`ImportOptions::animation`](throng::import::ImportOptions::animation).
//!
//! [`Exported::omissions`] lists what is lost or changed.
//!
//! - `data`: the binary part with its accessors, and the file around it.
//! - `nodes`, `skins`, `meshes`, `attributes`, `materials`, `animations`: the parts of
//!   the file.
//! - `additive`: differences from the rest pose as clips that replace it.
//! - `description`: the animation data that the file cannot store.
//! - `posed`: a mesh in one pose.

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod additive;
mod animations;
mod attributes;
mod data;
mod description;
mod groups;
mod materials;
mod meshes;
mod nodes;
mod objects;
mod omissions;
mod posed;
mod skins;

pub use omissions::Omission;
pub use posed::posed_glb;

use data::Data;
use materials::Materials;
use objects::{named, put_lists};
use omissions::Omissions;
use serde_json::{Value, json};
#[cfg(doc)]
use throng::Error;
use throng::Result;
use throng::character::{AnimationDesc, Character};

/// Options of an export.
///
/// Minor versions may add fields, so name the fields that you set and take the defaults for others.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportOptions {
    /// If false, images are not written, and materials have no textures.
    pub images: bool,
    /// The largest file in bytes. The default is the most that binary glTF can have, 4 GiB less one
    /// byte. Larger values count as the default.
    pub max_bytes: u64,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            images: true,
            max_bytes: u32::MAX.into(),
        }
    }
}

/// A character as binary glTF, with the data that the format cannot store.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Exported {
    /// The contents of the `.glb` file.
    pub bytes: Vec<u8>,
    /// The animation data that glTF has no place for.
    ///
    /// It makes clips additive, and has masks, blend spaces, sockets, the state machine, gaits and
    /// the roles of a humanoid.
    pub description: AnimationDesc,
    /// The parts that are left out or changed, and are not in the description either, with their
    /// numbers. Each kind is listed once.
    pub omissions: Vec<(Omission, u64)>,
}

/// Writes a character as binary glTF 2.0.
///
/// ```
/// use throng_export::{ExportOptions, glb};
///
/// let mannequin = throng::builtin::mannequin()?;
/// let exported = glb(&mannequin, &ExportOptions::default())?;
/// let again = throng_import::bytes(&exported.bytes, &Default::default())?;
/// assert_eq!(again.skeleton().joints(), mannequin.skeleton().joints());
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// [`Error::At`] with the primitive, image, skin or clip that does not fit into
/// [`ExportOptions::max_bytes`], or [`Error::Capacity`] if the rest of the file does not.
pub fn glb(character: &Character, options: &ExportOptions) -> Result<Exported> {
    let mut omissions = Omissions::default();
    let mut data = Data::new(options.max_bytes);
    let mut materials = Materials::new(character, options.images);
    materials.use_all();
    let groups = groups::of(character, &mut omissions);
    let skins = skins::plan(character, &groups);
    let meshes = meshes::write(
        character,
        &groups,
        &skins,
        &mut materials,
        &mut data,
        &mut omissions,
    )?;
    let mut nodes = nodes::write(character, &groups, &skins, &mut omissions);
    let written_skins = skins::write(character, &skins, &nodes.added, &mut data)?;
    let animations = animations::write(character, &nodes, &mut data, &mut omissions)?;
    let description = description::of(character, &mut omissions);
    omissions.rest_of(character);
    let mut root = json!({
        "asset": asset(),
        "scene": 0,
        "scenes": [scene(character, &nodes, &description)],
        "nodes": std::mem::take(&mut nodes.list),
    });
    for (key, value) in materials.write(&mut data)? {
        root[key] = value;
    }
    put_lists(
        &mut root,
        [
            ("meshes", meshes),
            ("skins", written_skins),
            ("animations", animations),
        ],
    );
    let bytes = data.into_file(root)?;
    Ok(Exported {
        bytes,
        description,
        omissions: omissions.list,
    })
}

/// The version of the format, and the program that wrote the file.
fn asset() -> Value {
    json!({ "version": "2.0", "generator": concat!("throng ", env!("CARGO_PKG_VERSION")) })
}

fn scene(character: &Character, nodes: &nodes::Nodes, description: &AnimationDesc) -> Value {
    let mut scene = named(character.name());
    scene["nodes"] = nodes.roots.clone().into();
    if *description != AnimationDesc::default() {
        scene["extras"]["throng"] = serde_json::to_value(description).unwrap_or_default();
    }
    scene
}
