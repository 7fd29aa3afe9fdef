//! Joints, their hierarchy, their rest pose, and model poses.

use super::role::{Role, VrmKind};
use crate::error::{Error, Result, expect_len};
use crate::id::{Id, find};
use crate::order;
use glam::{Affine3A, Mat3, Quat, Vec3};
use std::ops::Range;
use std::sync::Arc;

/// Stands for the parent index of a root joint.
pub(crate) const NO_PARENT: u16 = u16::MAX;

/// Translation, rotation and scale of a joint relative to its parent.
///
/// Scale is applied first, then rotation, then translation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transform {
    /// In metres, in the parent's space.
    pub translation: Vec3,
    /// A unit quaternion, xyzw.
    pub rotation: Quat,
    /// Along the joint's own axes; may be negative or zero.
    pub scale: Vec3,
}

impl Transform {
    /// The identity transform.
    pub const IDENTITY: Self = Self {
        translation: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        scale: Vec3::ONE,
    };

    /// The transform as a matrix: `parent_from_local`.
    #[must_use]
    pub fn to_affine(&self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Decomposes a matrix, or returns `None` if it shears.
    ///
    /// The axes must be orthogonal to within `tolerance` (the cosine of the angle between any two).
    /// A flipped matrix gets a negative x scale. Axes of zero length get zero scale, and the
    /// rotation is completed from the others.
    #[must_use]
    pub fn from_affine(affine: &Affine3A, tolerance: f32) -> Option<Self> {
        let m = Mat3::from(affine.matrix3);
        let lengths = Vec3::new(m.x_axis.length(), m.y_axis.length(), m.z_axis.length());
        // Also rejects a length that overflows: next to it, all others would count as zero.
        if !lengths.is_finite() {
            return None;
        }
        let tiny = lengths.max_element() * 1e-7;
        let mut axes = [m.x_axis, m.y_axis, m.z_axis];
        let mut scale = lengths.to_array();
        let flat = |s: f32| s <= tiny;
        for i in 0..3 {
            if flat(scale[i]) {
                (axes[i], scale[i]) = (Vec3::ZERO, 0.0);
            } else {
                axes[i] /= scale[i];
            }
        }
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            if axes[a].dot(axes[b]).abs() > tolerance {
                return None;
            }
        }
        complete(&mut axes);
        let mut basis = Mat3::from_cols(axes[0], axes[1], axes[2]);
        if basis.determinant() < 0.0 {
            scale[0] = -scale[0];
            basis.x_axis = -basis.x_axis;
        }
        let rotation = Quat::from_mat3(&basis).normalize();
        let found = Self {
            translation: affine.translation.into(),
            rotation,
            scale: Vec3::from_array(scale),
        };
        (found.translation.is_finite() && rotation.is_finite()).then_some(found)
    }

    /// True if no number is NaN or infinite.
    pub(crate) fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

/// Replaces zero axes so that all three are orthonormal, and right-handed if there is a choice.
fn complete(axes: &mut [Vec3; 3]) {
    let missing = axes.iter().filter(|a| **a == Vec3::ZERO).count();
    match missing {
        0 => {}
        1 => {
            for i in 0..3 {
                if axes[i] == Vec3::ZERO {
                    axes[i] = axes[(i + 1) % 3]
                        .cross(axes[(i + 2) % 3])
                        .normalize_or(Vec3::X);
                }
            }
        }
        2 => {
            for i in 0..3 {
                if axes[i] != Vec3::ZERO {
                    axes[(i + 1) % 3] = axes[i].any_orthonormal_vector();
                    axes[(i + 2) % 3] = axes[i].cross(axes[(i + 1) % 3]);
                    return;
                }
            }
        }
        _ => *axes = [Vec3::X, Vec3::Y, Vec3::Z],
    }
}

/// The joints of a humanoid, ascending by role.
pub(crate) type Roles = Arc<[(Role, Id<Joint>)]>;

/// One joint: its name, parent and rest transform.
#[doc(alias = "bone")]
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// The node's name, or empty.
    pub name: Box<str>,
    /// The parent, whose index is less than this joint's own. `None` for a root.
    pub parent: Option<Id<Joint>>,
    /// The local transform if no clip drives the joint.
    pub rest: Transform,
}

impl Joint {
    /// The parent's index, or [`NO_PARENT`].
    pub(crate) fn parent_index(&self) -> u16 {
        self.parent.map_or(NO_PARENT, |parent| parent.0)
    }
}

/// Joints in breadth-first order.
///
/// Every parent comes before its children, and the joints of each depth are a contiguous range.
///
/// ```
/// use throng::Id;
/// use throng::skeleton::{Joint, Skeleton, Transform};
///
/// let joint = |name: &str, parent| Joint { name: name.into(), parent, rest: Transform::IDENTITY };
/// let skeleton = Skeleton::new(vec![joint("arm", None), joint("hand", Some(Id::new(0)))])?;
/// assert_eq!(skeleton.levels(), [0..1, 1..2]);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Skeleton {
    /// Shared with the clips that were made for this skeleton.
    pub(crate) joints: Arc<[Joint]>,
    pub(crate) levels: Vec<Range<u16>>,
    /// The joints of a humanoid, ascending by role.
    pub(crate) roles: Roles,
    pub(crate) vrm: Option<VrmKind>,
}

impl Skeleton {
    /// The most joints that a skeleton can have.
    ///
    /// Indices are 16 bits wide, and the last one means "no joint".
    pub const MAX_JOINTS: usize = NO_PARENT as usize;

    /// The joints, parents first.
    #[must_use]
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The number of joints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// True if there are no joints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The rest pose: the local transform of every joint.
    #[must_use]
    pub fn rest_pose(&self) -> Vec<Transform> {
        self.joints.iter().map(|joint| joint.rest).collect()
    }

    /// The contiguous index range of each depth, roots first.
    #[must_use]
    pub fn levels(&self) -> &[Range<u16>] {
        &self.levels
    }

    /// Finds the first joint with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`](crate::error::Error::UnknownName) with the names that exist.
    pub fn joint(&self, name: &str) -> Result<Id<Joint>> {
        find("joint", self.joints.iter().map(|joint| &*joint.name), name)
    }

    /// True if a joint lies at most `most` joints below another one. Both must exist.
    pub(crate) fn is_below(&self, joint: Id<Joint>, above: Id<Joint>, most: usize) -> bool {
        let mut at = self.joints[joint.index()].parent;
        for _ in 1..most {
            let Some(parent) = at.filter(|at| *at > above) else {
                break;
            };
            at = self.joints[parent.index()].parent;
        }
        at == Some(above)
    }

    /// The joints that are parts of a humanoid, ascending by role.
    ///
    /// A VRM file names them, or
    /// [`AnimationDesc::humanoid`](crate::character::AnimationDesc::humanoid). [`Self::humanoid`]
    /// finds others by their names.
    #[must_use]
    pub fn roles(&self) -> &[(Role, Id<Joint>)] {
        &self.roles
    }

    /// The kind of VRM file that the skeleton is from.
    #[must_use]
    pub fn vrm(&self) -> Option<VrmKind> {
        self.vrm
    }

    /// The same skeleton with these joints as the parts of a humanoid.
    ///
    /// # Errors
    /// [`Error::At`] with the index of a pair whose joint does not exist, or whose role or joint
    /// occurs twice.
    pub(crate) fn with_roles(mut self, roles: &[(Role, Id<Joint>)]) -> Result<Self> {
        for (index, (role, joint)) in roles.iter().enumerate() {
            let before = &roles[..index];
            let why = if joint.index() >= self.len() {
                Error::not_found("joint", (*joint).into(), self.len())
            } else if let Some(of) = before.iter().position(|(other, _)| other == role) {
                Error::duplicate("role", of)
            } else if let Some(of) = before.iter().position(|(_, other)| other == joint) {
                Error::duplicate("joint", of)
            } else {
                continue;
            };
            return Err(why.at("role", index));
        }
        let mut sorted = roles.to_vec();
        order::sort(&mut sorted);
        self.roles = sorted.into();
        Ok(self)
    }
}

impl Skeleton {
    /// Computes the model pose: `model[j] = model[parent(j)] × local[j]`, roots unchanged.
    ///
    /// ```
    /// use throng::glam::Affine3A;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let skeleton = character.skeleton();
    /// let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    /// skeleton.model_pose(&skeleton.rest_pose(), &mut model)?;
    /// let head = model[skeleton.joint("Head")?.index()];
    /// assert!(head.translation.y > 1.0);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if a slice does not have one element per joint.
    /// In that case nothing is written.
    #[doc(alias = "local_to_model")]
    pub fn model_pose(&self, local: &[Transform], model: &mut [Affine3A]) -> Result<()> {
        let joints = self.joints();
        expect_len("local pose", local.len(), joints.len())?;
        expect_len("model pose", model.len(), joints.len())?;
        for (index, (joint, local)) in joints.iter().zip(local).enumerate() {
            let parent_from_local = local.to_affine();
            model[index] = if joint.parent_index() == NO_PARENT {
                parent_from_local
            } else {
                model[usize::from(joint.parent_index())] * parent_from_local
            };
        }
        Ok(())
    }
}

pub(crate) fn rest_model_pose(skeleton: &Skeleton) -> Vec<Affine3A> {
    let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    // The lengths match, so there is no error.
    let _ = skeleton.model_pose(&skeleton.rest_pose(), &mut model);
    model
}
