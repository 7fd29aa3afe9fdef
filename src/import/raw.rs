//! The contents of a file, before they are checked.

use super::imported::SpawnPoint;
use super::repair::Repair;
use crate::character::{AnimationDesc, EventDesc};
use crate::clip::Interpolation;
use crate::mesh::{Expression, Image, Material, MorphTarget};
use crate::skeleton::Transform;
use crate::skeleton::role::{Role, VrmKind};
use crate::spring::SpringBones;
use glam::{Mat4, Quat, Vec2, Vec3, Vec4};
use std::borrow::Cow;

/// The unchecked contents of a file about one character.
///
/// Everything is in the file's order and numbering. Nothing here is trusted:
/// [`RawCharacter::build`](super::RawCharacter::build) checks all of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawCharacter {
    /// The name of the file in errors.
    pub name: Box<str>,
    /// The node hierarchy, in any order.
    pub nodes: Vec<RawNode>,
    /// Skins.
    pub skins: Vec<RawSkin>,
    /// Drawable parts: one per mesh primitive and node that carries the mesh.
    pub primitives: Vec<RawPrimitive>,
    /// Materials. A primitive without one gets [`Material::default`].
    ///
    /// If a format has another default material, its reader assigns that to such primitives.
    pub materials: Vec<Material>,
    /// The names of material variants, at most 65,535.
    ///
    /// [`RawPrimitive::variants`] has their materials.
    ///
    /// ```
    /// use throng::glam::Vec3;
    /// use throng::import::{ImportOptions, RawCharacter, RawNode, RawPrimitive};
    /// use throng::mesh::Material;
    /// use throng::skeleton::Transform;
    ///
    /// let node = RawNode {
    ///     name: "shirt".into(),
    ///     parent: None,
    ///     transform: Transform::IDENTITY,
    ///     matrix: None,
    /// };
    /// let red = Material { base_color: [1.0, 0.0, 0.0, 1.0], ..Material::default() };
    /// let raw = RawCharacter {
    ///     nodes: vec![node],
    ///     materials: vec![Material::default(), red],
    ///     variants: vec!["red".into()],
    ///     primitives: vec![RawPrimitive {
    ///         positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
    ///         indices: vec![0, 1, 2],
    ///         material: Some(0),
    ///         variants: vec![(0, 1)],
    ///         ..RawPrimitive::default()
    ///     }],
    ///     ..RawCharacter::default()
    /// };
    /// let built = raw.build(&ImportOptions::default())?;
    /// let red = built.variant("red")?;
    /// assert_eq!(built.primitives()[0].material_in(Some(red)), 1);
    /// # Ok::<(), throng::Error>(())
    /// ```
    pub variants: Vec<Box<str>>,
    /// Decoded images.
    pub images: Vec<Image>,
    /// Animations.
    pub animations: Vec<RawAnimation>,
    /// The morph weights of nodes that have some.
    pub morphs: Vec<RawMorph>,
    /// Nodes that are cameras, lights or meshes, or that a reader has added.
    ///
    /// They do not become joints for their names or animations alone. See
    /// [`build`](super::RawCharacter::build). Nodes of [`Self::primitives`] need not be listed.
    pub objects: Vec<usize>,
    /// Levels of detail that are drawable parts of their own: groups of levels of nodes.
    ///
    /// The levels of a group are finest first. A level is drawn by its nodes and all nodes below
    /// them, without those of another level or group. No node is in two levels. The finest level is
    /// the first that draws something.
    ///
    /// They become [`MeshLevel`](crate::mesh::MeshLevel)s of the finest level's parts. Parts of a
    /// coarser level are matched by their material: the first with the first of the finest level,
    /// and so on. A part of the finest level without a match is not drawn at the coarser level.
    /// Each level has its own vertices, skin and influences. It has no morph targets, or as many as
    /// the finest.
    ///
    /// A level that does not match the finest is left out, which is reported as
    /// [`RepairKind::LevelLeftOut`](crate::import::RepairKind::LevelLeftOut).
    ///
    /// ```
    /// use throng::glam::Vec3;
    /// use throng::import::{ImportOptions, RawCharacter, RawNode, RawPrimitive};
    /// use throng::skeleton::Transform;
    ///
    /// let node = |name: &str| RawNode {
    ///     name: name.into(),
    ///     parent: None,
    ///     transform: Transform::IDENTITY,
    ///     matrix: None,
    /// };
    /// let part = |node, indices: Vec<u32>| RawPrimitive {
    ///     node,
    ///     positions: vec![Vec3::ZERO, Vec3::X, Vec3::ONE, Vec3::Y],
    ///     indices,
    ///     ..RawPrimitive::default()
    /// };
    /// let raw = RawCharacter {
    ///     nodes: vec![node("near"), node("far")],
    ///     primitives: vec![part(0, vec![0, 1, 2, 0, 2, 3]), part(1, vec![0, 1, 2])],
    ///     level_groups: vec![vec![vec![0], vec![1]]],
    ///     ..RawCharacter::default()
    /// };
    /// let built = raw.build(&ImportOptions::default())?;
    /// assert_eq!((built.triangle_count(), built.levels().len()), (2, 1));
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[doc(alias = "LOD")]
    pub level_groups: Vec<Vec<Vec<usize>>>,
    /// Transforms for instances. They pass through to
    /// [`Imported::spawn_points`](super::Imported::spawn_points).
    pub spawn_points: Vec<SpawnPoint>,
    /// Parts of a humanoid, each with its node. No part and no node is listed twice.
    pub roles: Vec<(Role, usize)>,
    /// The kind of VRM file, if it is one. The humanoid then rests in VRM's T-pose, facing +Z.
    pub vrm: Option<VrmKind>,
    /// Named sets of morph weights.
    ///
    /// A weight is a node, which has a [`RawMorph`], and an index into [`RawMorph::weights`].
    pub expressions: Vec<Expression<(usize, usize)>>,
    /// Chains of nodes that swing.
    pub springs: SpringBones<usize>,
    /// The part of the file that each chain of `springs` comes from, such as
    /// `extensions.VRMC_springBone.springs[2]`.
    ///
    /// Repairs name the chain by it, or by its index if the list is shorter.
    pub spring_chain_parts: Vec<Box<str>>,
    /// The part of the file that each collider of `springs` comes from. Otherwise as
    /// `spring_chain_parts`.
    pub spring_collider_parts: Vec<Box<str>>,
    /// The animation description for [`build`](super::RawCharacter::build), which uses it unless
    /// [`ImportOptions::animation`](super::ImportOptions::animation) is set.
    ///
    /// [`add_clips`](super::RawCharacter::add_clips) ignores it.
    pub animation: Option<AnimationDesc>,
    /// The harmless faults that a reader repaired, and the parts that it left out.
    ///
    /// They come first in [`Imported::repairs`](super::Imported::repairs).
    pub repairs: Vec<Repair>,
}

/// The morph weights of a node: one for each target of its mesh.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawMorph {
    /// The node, for channels that drive its weights. At most one entry per node.
    pub node: usize,
    /// The name of the node or its mesh, or empty.
    pub owner: Box<str>,
    /// The weights at rest.
    pub weights: Vec<f32>,
    /// The targets' names. May be shorter than `weights`.
    pub names: Vec<Box<str>>,
}

/// A node of the hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub struct RawNode {
    /// Its name, or empty.
    pub name: Box<str>,
    /// The index of its parent, if it has one.
    pub parent: Option<usize>,
    /// The transform relative to the parent, unless there is a matrix.
    pub transform: Transform,
    /// Replaces `transform`. It must be a product of translation, rotation and scale.
    pub matrix: Option<Mat4>,
}

/// A skin: joints, and the inverse bind matrix of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawSkin {
    /// Its name, or empty.
    pub name: Box<str>,
    /// Node indices. Vertices refer to indices in this list.
    pub joints: Vec<usize>,
    /// One per joint, or empty if all are the identity.
    pub inverse_bind: Vec<Mat4>,
}

/// A drawable part on a node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawPrimitive {
    /// Its name.
    pub name: Box<str>,
    /// The name of the node that carries it. If empty, `name` is used.
    ///
    /// Parts are shown, hidden and left out by this name.
    pub part: Box<str>,
    /// The index of its mesh, for error messages.
    pub mesh: usize,
    /// Its index in the mesh.
    pub number: usize,
    /// The node that carries it.
    ///
    /// If there is a skin, the node only matters for
    /// [`ImportOptions::leave_out`](super::ImportOptions::leave_out).
    pub node: usize,
    /// The skin. `None`: the part follows its node rigidly.
    pub skin: Option<usize>,
    /// Index into the materials.
    pub material: Option<usize>,
    /// Other materials: pairs of a variant, which is an index into [`RawCharacter::variants`], and
    /// an index into the materials. No variant is listed twice.
    pub variants: Vec<(usize, usize)>,
    /// Mesh space, metres.
    pub positions: Vec<Vec3>,
    /// One per vertex, or empty.
    pub normals: Vec<Vec3>,
    /// Direction, and sign of the bitangent. One per vertex, or empty. Ignored without normals.
    pub tangents: Vec<Vec4>,
    /// For textures whose `uv_set` is 0, before their transforms. One per vertex, or empty.
    pub uvs: Vec<Vec2>,
    /// For textures whose `uv_set` is 1. One per vertex, or empty.
    pub uvs1: Vec<Vec2>,
    /// Linear RGBA, one per vertex, or empty.
    pub colors: Vec<[f32; 4]>,
    /// The number of joints and weights per vertex, 0 without a skin.
    pub influences_per_vertex: usize,
    /// `vertices × influences_per_vertex` indices into the skin's joints.
    pub joints: Vec<u32>,
    /// One weight for each element of `joints`.
    pub weights: Vec<f32>,
    /// Three per triangle, counter-clockwise seen from the front.
    pub indices: Vec<u32>,
    /// Coarser levels of detail, finest first.
    ///
    /// If primitives have different numbers of levels, those with fewer repeat their last one.
    pub levels: Vec<RawLevel>,
    /// Index into [`RawCharacter::morphs`]. `None`: there are no targets.
    pub morph: Option<usize>,
    /// One for each weight of the morph.
    pub targets: Vec<MorphTarget>,
}

/// A coarser level of detail of a primitive.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawLevel {
    /// Three per triangle, as [`RawPrimitive::indices`]. They refer to the primitive's vertices.
    pub indices: Vec<u32>,
    /// True if each vertex follows its strongest joint alone.
    pub rigid: bool,
    /// The error in metres, see [`MeshLevel::error_m`](crate::mesh::MeshLevel::error_m).
    ///
    /// `None`: it is measured. A known error must cover all animations, so set it to `None` if you
    /// add some.
    pub error_m: Option<f32>,
    /// The area that the character covers, see
    /// [`LevelInfo::cover`](crate::character::LevelInfo::cover). `None`: it is measured.
    pub cover: Option<f32>,
}

impl RawPrimitive {
    /// For each of `count` skins, true if a primitive uses it, or if there are no primitives.
    #[must_use]
    pub fn used_skins(primitives: &[Self], count: usize) -> Vec<bool> {
        let mut used = vec![primitives.is_empty(); count];
        for skin in primitives.iter().filter_map(|primitive| primitive.skin) {
            // An index that does not exist is an error later.
            used.get_mut(skin).into_iter().for_each(|used| *used = true);
        }
        used
    }

    /// The indices of the full level and of all coarser ones, one list after the other.
    pub(super) fn used_indices(&self) -> Cow<'_, [u32]> {
        if self.levels.is_empty() {
            return Cow::Borrowed(&self.indices);
        }
        let levels = self.levels.iter().flat_map(|level| &level.indices);
        Cow::Owned(self.indices.iter().chain(levels).copied().collect())
    }
}

/// An animation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawAnimation {
    /// Its name, or empty.
    pub name: Box<str>,
    /// Its channels.
    pub channels: Vec<RawChannel>,
    /// Its events. Their times are in seconds from the file's time 0.
    pub events: Vec<EventDesc>,
}

/// One animated property of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct RawChannel {
    /// The node.
    pub node: usize,
    /// Key times in seconds.
    pub times_s: Vec<f32>,
    /// The interpolation between keys.
    pub interpolation: Interpolation,
    /// The values: one per key, or three (in-tangent, value, out-tangent) for a cubic spline.
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
    /// Morph weights: for every key, one for each weight of the node's [`RawMorph`].
    ///
    /// For a cubic spline, each key has first all in-tangents, then all values, then all
    /// out-tangents.
    Weights(Vec<f32>),
}
