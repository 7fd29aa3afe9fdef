//! The mannequin as a built character and as raw data.

use super::gait::{RUN_M_S, WALK_M_S};
use crate::character::{AnimationDesc, ClipDesc, Gait, SocketDesc};
use crate::error::Result;
use crate::import::{ImportOptions, Imported, RawCharacter, RawNode, RawSkin, RawTransform};
use crate::mesh::Material;
use crate::skeleton::Transform;
use crate::state_machine::{MaskDesc, MaskPartDesc};
use glam::{Mat4, Vec3};

/// Builds the mannequin.
///
/// # Errors
/// None in practice, because its data is fixed. Returns the errors of [`RawCharacter::build`].
pub fn mannequin() -> Result<Imported> {
    mannequin_with(&ImportOptions::default())
}

/// Builds the mannequin with your own options, for example with its curves.
///
/// ```
/// use throng::builtin;
/// use throng::import::ImportOptions;
///
/// let mannequin = builtin::mannequin_with(&ImportOptions::with_curves())?;
/// assert_eq!(mannequin.curves().len(), mannequin.clips().len());
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// Returns the errors of [`RawCharacter::build`] about the options. No others occur in practice.
pub fn mannequin_with(options: &ImportOptions) -> Result<Imported> {
    if options.animation.is_some() {
        return raw().build(options);
    }
    raw().build(&ImportOptions {
        animation: Some(animation()),
        ..options.clone()
    })
}

/// The mannequin's own animation description, used unless the options override it.
///
/// It contains the gaits of `Walk` (1.2 m/s) and `Run` (3.1 m/s), at which the feet do not slide,
/// the mask `upper body`, and the sockets `left hand`,
/// `right hand` and `head`.
#[must_use]
pub fn animation() -> AnimationDesc {
    let gait = |name: &str, speed_m_s| ClipDesc {
        name: name.into(),
        gait: Some(Gait {
            speed_m_s,
            heading_rad: 0.0,
        }),
        ..ClipDesc::default()
    };
    let from_the_spine_up = MaskPartDesc {
        joint: "Spine".into(),
        weight: 1.0,
        feather: 2,
    };
    AnimationDesc {
        masks: vec![MaskDesc {
            name: "upper body".into(),
            parts: vec![from_the_spine_up],
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

/// The mannequin as raw data, to change it before building.
#[must_use]
pub fn raw() -> RawCharacter {
    let rest = super::rig::rest_joints();
    RawCharacter {
        name: "mannequin".into(),
        nodes: rest.iter().map(|joint| node(joint, &rest)).collect(),
        skins: vec![RawSkin {
            name: "Mannequin".into(),
            joints: (0..rest.len()).collect(),
            inverse_bind: rest
                .iter()
                .map(|joint| Mat4::from_rotation_translation(joint.axes, joint.position).inverse())
                .collect(),
        }],
        primitives: vec![super::mesh::primitive()],
        materials: vec![Material {
            name: "Mannequin".into(),
            roughness: 0.6,
            tint_by_alpha: true,
            ..Material::default()
        }],
        images: Vec::new(),
        animations: super::clips::animations(&rest),
        morphs: Vec::new(),
        ..RawCharacter::default()
    }
}

pub(crate) fn node(joint: &super::rig::RestJoint, rest: &[super::rig::RestJoint]) -> RawNode {
    let transform = match joint.parent {
        Some(parent) => {
            let from = rest[parent].axes.inverse();
            Transform {
                translation: from * (joint.position - rest[parent].position),
                rotation: (from * joint.axes).normalize(),
                scale: Vec3::ONE,
            }
        }
        None => Transform {
            translation: joint.position,
            rotation: joint.axes,
            scale: Vec3::ONE,
        },
    };
    RawNode {
        name: joint.name.clone(),
        parent: joint.parent,
        transform: RawTransform::Trs(transform),
    }
}
