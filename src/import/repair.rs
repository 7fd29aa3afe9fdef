//! The list of what an import repaired.

use super::options::UpAxis;
use crate::error::{AssetFault, Escaped, Object};
use crate::id::Id;
use crate::skeleton::Joint;
use std::collections::HashMap;

/// A harmless fault that was repaired, or a part that was left out or did not match.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// The name of the file, as in errors. May be empty.
    pub file: Box<str>,
    /// The object that was repaired or left out.
    pub object: Object,
    /// The kind of repair.
    pub kind: RepairKind,
    /// The number of elements that it affects (vertices, keys, …).
    pub count: u64,
}

impl core::fmt::Display for Repair {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.write_file(f)?;
        write!(f, "{}: {} ({})", self.object, self.kind, self.count)
    }
}

impl Repair {
    /// Lists a repair with its count, unless the count is 0.
    pub fn note(repairs: &mut Vec<Self>, object: &Object, kind: RepairKind, count: u64) {
        if count > 0 {
            repairs.push(Self {
                file: Box::default(),
                object: object.clone(),
                kind,
                count,
            });
        }
    }

    fn write_file(&self, f: &mut impl core::fmt::Write) -> core::fmt::Result {
        match &*self.file {
            "" => Ok(()),
            file => write!(f, "{}: ", Escaped(file)),
        }
    }

    /// The repairs as text, with one line for all of one kind, kind of object and file.
    pub(super) fn summary(repairs: &[Self]) -> Vec<String> {
        let mut groups: Vec<(&Self, u64, u64)> = Vec::new();
        let mut group_of = HashMap::new();
        for repair in repairs {
            // The part names what is left out.
            let is_named = repair.kind == RepairKind::LeftOut;
            let part = is_named.then(|| without_indices(&repair.object.part));
            let kinds = (repair.object.kind, repair.kind.to_string());
            let group = *group_of
                .entry((&repair.file, kinds, part))
                .or_insert_with(|| {
                    groups.push((repair, 0, 0));
                    groups.len() - 1
                });
            let (_, objects, count) = &mut groups[group];
            *objects += 1;
            *count = count.saturating_add(repair.count);
        }
        let line = |(first, objects, count): (&Self, u64, u64)| {
            let mut line = String::new();
            // Writing to a string cannot fail.
            let _ = first.write_file(&mut line);
            let more = match objects {
                1 => String::new(),
                objects => format!(" and {} more", objects - 1),
            };
            line + &format!("{}{more}: {} ({count})", first.object, first.kind)
        };
        groups.into_iter().map(line).collect()
    }
}

/// The kinds of [`Repair`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairKind {
    /// An image of a colour (base colour, emissive) is missing or cannot be decoded.
    ///
    /// A checkerboard of magenta and black replaces it.
    #[error("replaced by a placeholder: {0}")]
    ImageReplaced(Box<AssetFault>),
    /// An image of a texture that is not a colour is missing or cannot be decoded.
    ///
    /// The materials have no such texture. A material without its metallic-roughness texture
    /// becomes non-metallic.
    #[error("left out: {0}")]
    ImageLeftOut(Box<AssetFault>),
    /// A warning of the FBX parser about a fault that it repaired, such as clamped indices.
    #[error("{}", Escaped(.0))]
    Fbx(Box<str>),
    /// Trailing indices that make no full triangle were dropped.
    #[error("trailing indices that make no full triangle dropped")]
    TrailingIndices,
    /// The elements that Draco data has are not as many as the accessor states.
    ///
    /// All of them are read. The count is their number.
    #[error("decoded elements read, whose number differs from that of the accessor")]
    DracoCount {
        /// The number that the accessor states.
        stated: u64,
    },
    /// An animation has no channels. Its clip has no tracks.
    #[error("animation without channels")]
    NoChannels,
    /// Channels drive nodes that have a matrix, which glTF does not allow.
    ///
    /// The matrix is the rest transform, split into translation, rotation and scale. The channels
    /// replace these parts one by one.
    #[error("animated matrices split into translation, rotation and scale")]
    MatrixAnimated,
    /// The duration that the file states contradicts the number of frames and their rate.
    ///
    /// The clip ends at its last frame.
    #[error("stated duration ignored, because it contradicts the frames")]
    DurationIgnored,
    /// Joints that vertices may use had no inverse bind matrix.
    ///
    /// It was computed from the rest pose.
    #[error("missing inverse bind matrices computed from the rest pose")]
    InverseBindComputed,
    /// Inverse bind matrices had a last row other than 0, 0, 0, 1, which replaces it.
    #[error("last rows of inverse bind matrices set to 0, 0, 0, 1")]
    InverseBindLastRow,
    /// A skin differs from an earlier one only by a transform of its mesh.
    ///
    /// The mesh was moved, so that both use the same palette entries. No vertex of a pose moves by
    /// more than 4e-6 of the size of the largest mesh. See
    /// [`ImportOptions::share_binds`](crate::import::ImportOptions::share_binds).
    #[error("mesh moved, to share palette entries with an earlier skin")]
    SkinShared,
    /// Joints of a skin are not in the scene that is imported. They are used as they are.
    #[error("joints used that are not in the scene")]
    JointsOutsideScene,
    /// The node that a skin names as the root of its skeleton is not above all of its joints.
    ///
    /// It is ignored: joints keep their parents. The count is the number of joints that are not
    /// below it.
    #[error("root of the skeleton ignored, because it is not above all joints")]
    SkeletonRoot,
    /// A name has characters that control the output, such as line breaks and escape sequences.
    ///
    /// The name is kept. [`Escaped`](crate::error::Escaped) prints it. The count is the number of
    /// such names.
    #[error("name with control characters kept")]
    ControlCharacters,
    /// The tangents of a cubic spline are huge: the curve leaves its keys by orders of magnitude.
    ///
    /// Between two keys, a number exceeds 100 times the greatest of all keys, or 100 if that is
    /// less than 1. The curve is kept. The count is the number of intervals between keys.
    #[error("cubic splines that leave their keys by orders of magnitude kept")]
    SplineOvershoots,
    /// Weights did not sum to 1 and were scaled to do so.
    #[error("weights renormalised")]
    WeightsRenormalised,
    /// All weights of a vertex were zero. The vertex follows its first joint rigidly.
    #[error("vertices without weights bound to their first joint")]
    WeightlessVertex,
    /// A joint index with weight zero was out of range and became joint 0.
    #[error("out-of-range joint indices of weight 0 set to 0")]
    UnusedJointIndex,
    /// No mesh has a skin. Each follows the joint that its node becomes.
    ///
    /// That is right for things without bones, such as a sword. The count is the number of meshes'
    /// primitives.
    #[error("no mesh has a skin, so each follows the joint of its node")]
    NoSkin,
    /// A node with a skin carried a primitive without joints and weights.
    ///
    /// The primitive follows the node rigidly, as if there were no skin.
    #[error("skin ignored, because the primitive has no joints and weights")]
    SkinWithoutInfluences,
    /// Nodes that carry a skinned mesh stand elsewhere than the first of them.
    ///
    /// The joints place the mesh, so all of its instances are in one place.
    #[error("instances of a skinned mesh put in one place, because its joints place it")]
    SkinnedInstances,
    /// A joint that occurred twice in a vertex was merged.
    #[error("repeated joints of a vertex merged")]
    RepeatedJoint,
    /// Vertices had more influences than
    /// [`ImportOptions::max_influences`](crate::import::ImportOptions::max_influences) and lost the
    /// weakest.
    #[error("weakest influences dropped")]
    InfluencesDropped,
    /// Several keys had the same time, which means a jump.
    ///
    /// The last of them keeps the time. The first moved to the next smaller number, or was dropped
    /// if that time was taken or negative. Keys between them were dropped because they never have
    /// an effect.
    #[error("keys with equal times separated")]
    EqualKeyTimes,
    /// A quaternion of length zero became the identity.
    #[error("zero quaternions set to the identity")]
    ZeroQuaternion,
    /// Neighbouring quaternion keys had opposite signs. Signs were changed so that interpolation
    /// takes the shortest arc.
    #[error("rotation keys flipped onto the shortest arc")]
    AntipodalKey,
    /// Quaternions were not of unit length and were normalised.
    #[error("quaternions normalised")]
    QuaternionNormalised,
    /// Normals were not of unit length. They were normalised or, if zero, replaced.
    #[error("normals normalised")]
    NormalNormalised,
    /// Tangents did not have unit length, or their sign was not 1 or -1.
    ///
    /// The direction was normalised or, if zero, replaced by one perpendicular to the normal. The
    /// sign became 1 or -1, whichever is nearer.
    #[error("tangents normalised")]
    TangentNormalised,
    /// Tangents without normals were ignored, as the format requires.
    #[error("tangents without normals ignored")]
    TangentsIgnored,
    /// A material uses texture coordinates that the primitive does not have. They are 0, 0 at all
    /// vertices.
    #[error("texture coordinates that the material uses do not exist")]
    NoTextureCoordinates,
    /// A material's factor was outside its range and was clamped.
    #[error("out-of-range factors clamped")]
    FactorClamped,
    /// A scene listed a node that has a parent as one of its roots. The node keeps its parent.
    #[error("scene roots with a parent kept below it")]
    SceneRootWithParent,
    /// A node's matrix was sheared slightly, by more than rounding explains.
    ///
    /// The nearest translation, rotation and scale replace it.
    #[error("slight shear of a matrix removed")]
    ShearRemoved,
    /// Events whose times are outside their clip were left out.
    #[error("events outside their clip left out")]
    EventOutside,
    /// Bytes past the end that the container's header states were ignored.
    #[error("bytes after the container's end ignored")]
    TrailingBytes,
    /// An unsupported part was left out. The object names it.
    #[error("left out, because it is not supported")]
    LeftOut,
    /// The mesh of a node was left out, because the node is invisible and other meshes are not.
    #[error("left out, because the node is invisible")]
    Invisible,
    /// The mesh of an invisible node was imported, because all meshes are invisible.
    #[error("imported although the node is invisible, because all meshes are")]
    InvisibleShown,
    /// A coarser level of detail was left out. The object is its node, or the list that names it.
    ///
    /// The count is the number of its primitives.
    #[error("coarser level of detail left out: {0}")]
    LevelLeftOut(Box<AssetFault>),
    /// A coarser level of detail does not have the same attributes as the finest.
    ///
    /// Attributes that only the coarser one has are left out. Those that it lacks are computed
    /// (normals, tangents) or the same for all vertices: white, and texture coordinates 0, 0. The
    /// count is the number of its vertices.
    #[error(
        "attributes of a coarser level of detail left out or made up, as the finest has others"
    )]
    LevelAttributes,
    /// A material of specular colour and glossiness was converted to metalness and roughness.
    ///
    /// A texture of specular colour and glossiness is left out. The material then becomes
    /// non-metallic.
    #[error("converted to metalness and roughness")]
    SpecularGlossiness,
    /// The file states another axis that points up than [`ImportOptions::up`], which counts.
    ///
    /// [`ImportOptions::up`]: crate::import::ImportOptions::up
    #[error("turned so that +{up:?} is up, although the file states +{stated:?}")]
    UpReplaced {
        /// The axis that the file or its format states.
        stated: UpAxis,
        /// The axis of the options.
        up: UpAxis,
    },
    /// Instances of a node whose transform has no inverse were left out.
    #[error("instances left out, because the node's transform has no inverse")]
    SpawnPointsLeftOut,
    /// A part of an extension does not follow the rules of its format, and was left out.
    ///
    /// Such parts are spring bones, expressions and humanoid bones.
    #[error("left out: {0}")]
    Unusable(Box<AssetFault>),
    /// Tracks of a joint were left out of added clips, because the skeleton does not have the
    /// joint.
    #[error("tracks left out, because the skeleton does not have the joint")]
    UnmatchedJoint,
    /// Tracks of a morph weight were left out of added clips, because the character does not have
    /// the weight.
    #[error("tracks left out, because the character does not have the morph weight")]
    UnmatchedWeight,
    /// Several joints have the same name, in the file or in the skeleton.
    ///
    /// Such joints are matched by their position in the hierarchy. The count is the number of
    /// joints in the file with this name.
    #[error("joints with the same name, {matched} of them matched by their position")]
    AmbiguousName {
        /// The number of joints in the skeleton with this name.
        in_skeleton: usize,
        /// The number of joints that were matched. The others were left out.
        matched: usize,
    },
    /// A matched joint has another rest transform or parent in the file than in the skeleton.
    ///
    /// Properties that the clips do not drive stay as in the skeleton. Those that they drive were
    /// authored for another rest pose. Use [retargeting](crate::retarget) for such skeletons.
    #[error("rest transform or parent of the joint differs")]
    RestDiffers {
        /// The joint, in the skeleton that the clips are for.
        joint: Id<Joint>,
        /// The distance between the two translations, in metres of the parent's space.
        translation_m: f32,
        /// The angle between the two rotations.
        rotation_rad: f32,
        /// The largest difference of a component of the two scales.
        scale: f32,
        /// True if the parents differ, or only one has a parent.
        other_parent: bool,
    },
    /// An animation was not added, because no track was left.
    #[error("clip left out, because none of its tracks matched")]
    EmptyClip,
    /// An added clip got a number after its name, because another clip has that name.
    #[error("clip renamed, because another clip has the same name")]
    RenamedClip,
}

/// The text without what stands in square brackets.
fn without_indices(part: &str) -> String {
    let pieces = part.split('[').enumerate();
    let outside = pieces.map(|(at, piece)| match piece.split_once(']') {
        Some((_, after)) if at > 0 => after,
        _ => piece,
    });
    outside.collect()
}

/// The same repairs, with the file's name unless they have one.
pub(super) fn of_file(mut repairs: Vec<Repair>, name: &str) -> Vec<Repair> {
    for repair in repairs.iter_mut().filter(|repair| repair.file.is_empty()) {
        repair.file = name.into();
    }
    repairs
}
