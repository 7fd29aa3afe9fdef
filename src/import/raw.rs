//! What a file says, before anything of it is proven.

use crate::clip::Interpolation;
use crate::mesh::{Image, Material, MorphTarget};
use crate::skeleton::Transform;
use glam::{Mat4, Quat, Vec2, Vec3, Vec4};

/// Everything that one file says about one character, in the file's own order and numbering.
///
/// Nothing here is trusted: [`RawCharacter::build`](super::RawCharacter::build) checks all of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawCharacter {
    /// What errors call it.
    pub name: Box<str>,
    /// The node hierarchy, in any order.
    pub nodes: Vec<RawNode>,
    /// Skins.
    pub skins: Vec<RawSkin>,
    /// Drawable parts, one per node that carries a mesh and primitive of that mesh.
    pub primitives: Vec<RawPrimitive>,
    /// Materials; a primitive without one gets [`Material::default`]. A reader whose format has
    /// another default gives it to such primitives.
    pub materials: Vec<Material>,
    /// Decoded images.
    pub images: Vec<Image>,
    /// Animations.
    pub animations: Vec<RawAnimation>,
    /// The morph weights of the nodes that have some.
    pub morphs: Vec<RawMorph>,
}

/// The morph weights of a node: one for each target of the mesh that it carries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawMorph {
    /// The node, for channels that drive its weights. At most one entry a node.
    pub node: usize,
    /// The name of the node or its mesh, or empty.
    pub owner: Box<str>,
    /// The weights at rest.
    pub weights: Vec<f32>,
    /// The targets' names; may be shorter than `weights`.
    pub names: Vec<Box<str>>,
}

/// A node of the hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub struct RawNode {
    /// Its name, or empty.
    pub name: Box<str>,
    /// Its parent, if it has one.
    pub parent: Option<usize>,
    /// Relative to the parent.
    pub transform: RawTransform,
}

/// A node's transform as the file gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RawTransform {
    /// Translation, rotation and scale.
    Trs(Transform),
    /// A matrix, which must be one that translation, rotation and scale can make.
    Matrix(Mat4),
}

/// A skin: joints, and the inverse bind matrix of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawSkin {
    /// Its name, or empty.
    pub name: Box<str>,
    /// Node indices; vertices refer to positions in this list.
    pub joints: Vec<usize>,
    /// One per joint, or empty: all identity.
    pub inverse_bind: Vec<Mat4>,
}

/// A drawable part on a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawPrimitive {
    /// What to call it.
    pub name: Box<str>,
    /// The name of the node that carries it, by which it is shown, hidden and left out. Empty: as
    /// `name`.
    pub part: Box<str>,
    /// The mesh it is part of and its number in it, for error messages.
    pub mesh: usize,
    /// Its number in the mesh.
    pub number: usize,
    /// The node that carries it. Where there is a skin, only
    /// [`ImportOptions::leave_out`](super::options::ImportOptions::leave_out) reads it.
    pub node: usize,
    /// The skin; `None`: the part follows its node rigidly.
    pub skin: Option<usize>,
    /// Index into the materials.
    pub material: Option<usize>,
    /// Mesh space, metres.
    pub positions: Vec<Vec3>,
    /// One a vertex, or empty.
    pub normals: Vec<Vec3>,
    /// Direction and sign of the bitangent, one a vertex, or empty. Ignored without normals.
    pub tangents: Vec<Vec4>,
    /// For textures whose `uv_set` is 0, before their transforms: one a vertex, or empty.
    pub uvs: Vec<Vec2>,
    /// For textures whose `uv_set` is 1: one a vertex, or empty.
    pub uvs1: Vec<Vec2>,
    /// Linear RGBA, one a vertex, or empty.
    pub colors: Vec<[f32; 4]>,
    /// How many joints and weights each vertex has; 0 without a skin.
    pub influences_per_vertex: usize,
    /// `vertices × influences_per_vertex` indices into the skin's joints.
    pub joints: Vec<u32>,
    /// As many weights.
    pub weights: Vec<f32>,
    /// Three a triangle, counter-clockwise from the front.
    pub indices: Vec<u32>,
    /// Index into [`RawCharacter::morphs`]; `None`: there are no targets.
    pub morph: Option<usize>,
    /// As many as the morph has weights.
    pub targets: Vec<MorphTarget>,
}

/// An animation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawAnimation {
    /// Its name, or empty.
    pub name: Box<str>,
    /// Its channels.
    pub channels: Vec<RawChannel>,
    /// Its events: names, and times in seconds from the file's time 0.
    pub events: Vec<(Box<str>, f64)>,
}

/// One animated property of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct RawChannel {
    /// The node.
    pub node: usize,
    /// Key times in seconds.
    pub times_s: Vec<f32>,
    /// How to get from key to key.
    pub interpolation: Interpolation,
    /// The values: one a key, or three (in-tangent, value, out-tangent) for a cubic spline.
    pub values: RawKeys,
}

/// The values of a channel.
#[derive(Debug, Clone, PartialEq)]
pub enum RawKeys {
    /// Metres.
    Translation(Vec<Vec3>),
    /// Quaternions, xyzw.
    Rotation(Vec<Quat>),
    /// Factors.
    Scale(Vec<Vec3>),
    /// Morph weights: for every key, one for each weight of the node's [`RawMorph`]; for a cubic
    /// spline first all in-tangents, then all values, then all out-tangents.
    Weights(Vec<f32>),
}
