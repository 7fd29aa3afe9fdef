//! The list of what an import repaired.

use crate::error::Object;
use crate::ids::JointId;

/// A harmless fault that was repaired, or a part that was left out or did not match.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// The object that was repaired or left out.
    pub object: Object,
    /// The kind of repair.
    pub kind: RepairKind,
    /// The number of elements that it affects (vertices, keys, …).
    pub count: u64,
}

impl core::fmt::Display for Repair {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {} ({})", self.object, self.kind, self.count)
    }
}

/// The kinds of [`Repair`].
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairKind {
    /// Weights did not sum to 1 and were scaled to do so.
    #[error("weights renormalised")]
    WeightsRenormalised,
    /// All weights of a vertex were zero. The vertex follows its first joint rigidly.
    #[error("vertices without weights bound to their first joint")]
    WeightlessVertex,
    /// A joint index with weight zero was out of range and became joint 0.
    #[error("out-of-range joint indices of weight 0 set to 0")]
    UnusedJointIndex,
    /// A node with a skin carried a primitive without joints and weights.
    ///
    /// The primitive follows the node rigidly, as if there were no skin.
    #[error("skin ignored, because the primitive has no joints and weights")]
    SkinWithoutInfluences,
    /// A joint that occurred twice in a vertex was merged.
    #[error("repeated joints of a vertex merged")]
    RepeatedJoint,
    /// Vertices had more influences than
    /// [`ImportOptions::max_influences`](crate::import::ImportOptions::max_influences) and lost the
    /// weakest.
    #[error("weakest influences dropped")]
    InfluencesDropped,
    /// Several keys had the same time, which stands for a jump.
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
        joint: JointId,
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

/// Lists a repair with its count, unless the count is 0.
pub(super) fn note(repairs: &mut Vec<Repair>, object: &Object, kind: RepairKind, count: u64) {
    if count > 0 {
        repairs.push(Repair {
            object: object.clone(),
            kind,
            count,
        });
    }
}
