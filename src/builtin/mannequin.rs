//! The mannequin as a built character and as raw data.

use super::gait::{RUN_M_S, WALK_M_S};
use super::rig::{RestJoint, rest_joints};
use crate::character::{AnimationDesc, ClipDesc, Gait, SocketDesc};
use crate::error::Result;
use crate::import::{ImportOptions, Imported, RawCharacter, RawNode, RawSkin};
use crate::mesh::Material;
use crate::skeleton::Transform;
use crate::state_machine::{MaskBranchDesc, MaskDesc};
use glam::{Mat4, Vec3};

/// Builds the mannequin with the default options.
///
/// For other options, use [`RawCharacter::mannequin`].
///
/// # Errors
/// None in practice, because its data is fixed. Returns the errors of [`RawCharacter::build`].
pub fn mannequin() -> Result<Imported> {
    RawCharacter::mannequin().build(&ImportOptions::default())
}

/// The mannequin's own animation data, used unless the options replace it.
fn animation() -> AnimationDesc {
    let gait = |name: &str, speed_m_s| ClipDesc {
        name: name.into(),
        gait: Some(Gait {
            speed_m_s,
            heading_rad: 0.0,
        }),
        ..ClipDesc::default()
    };
    let from_the_spine_up = MaskBranchDesc {
        joint: "Spine".into(),
        weight: 1.0,
        feather: 2,
    };
    AnimationDesc {
        masks: vec![MaskDesc {
            name: "upper body".into(),
            branches: vec![from_the_spine_up],
        }],
        clips: vec![gait("Walk", WALK_M_S), gait("Run", RUN_M_S)],
        sockets: vec![
            SocketDesc::new("left hand", "LeftHand"),
            SocketDesc::new("right hand", "RightHand"),
            SocketDesc::new("head", "Head"),
        ],
        ..AnimationDesc::default()
    }
}

impl RawCharacter {
    /// The built-in mannequin, to build it with your own options or to change it first.
    ///
    /// See the [module](crate::builtin) for what it has. Its animation description is in
    /// [`Self::animation`]. It names the clips, so set it to `None` if the options keep none.
    ///
    /// ```
    /// use throng::import::{ImportOptions, RawCharacter};
    ///
    /// let mannequin = RawCharacter::mannequin().build(&ImportOptions::with_curves())?;
    /// assert_eq!(mannequin.curves().len(), mannequin.clips().len());
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn mannequin() -> Self {
        let rest = rest_joints();
        Self {
            name: "mannequin".into(),
            nodes: rest.iter().map(|joint| node(joint, &rest)).collect(),
            skins: vec![RawSkin {
                name: "Mannequin".into(),
                joints: (0..rest.len()).collect(),
                inverse_bind: rest.iter().map(inverse_bind).collect(),
            }],
            primitives: vec![super::mesh::primitive()],
            materials: vec![Material {
                name: "Mannequin".into(),
                roughness: 0.6,
                tint_by_alpha: true,
                ..Material::default()
            }],
            animations: super::clips::animations(&rest),
            animation: Some(animation()),
            ..Self::default()
        }
    }
}

fn inverse_bind(joint: &RestJoint) -> Mat4 {
    Mat4::from_rotation_translation(joint.axes, joint.position).inverse()
}

fn node(joint: &RestJoint, rest: &[RestJoint]) -> RawNode {
    let (translation, rotation) = match joint.parent.map(|parent| &rest[parent]) {
        Some(parent) => {
            let from = parent.axes.inverse();
            let offset = from * (joint.position - parent.position);
            (offset, (from * joint.axes).normalize())
        }
        None => (joint.position, joint.axes),
    };
    RawNode {
        name: joint.name.clone(),
        parent: joint.parent,
        transform: Transform {
            translation,
            rotation,
            scale: Vec3::ONE,
        },
        matrix: None,
    }
}
