//! Built-in content: a mannequin.
//!
//! The mannequin is about 1.79 m tall, stands at the origin on y = 0 and looks along +Z. It has:
//!
//! - 57 joints with all fingers, see below,
//! - the clips `Idle`, `Walk`, `Run` and `Wave`, which all loop,
//! - gaits of 1.2 m/s for `Walk` and 3.1 m/s for `Run`, at which the feet do not slide,
//! - the mask `upper body`, and the sockets `left hand`, `right hand` and `head`,
//! - seven coarser levels of detail, down to 24 triangles,
//! - a single part with vertex colours. The shirt is nearly white, so an instance's tint is most
//!   visible there.
//!
//! # Joints
//! Names are those of VRM 1.0, but begin with an upper-case letter. Files have names of their own:
//! [`Skeleton::joints`](crate::skeleton::Skeleton::joints) lists them, and
//! [roles](crate::skeleton::Skeleton::roles) find the joints of any humanoid.
//!
//! - `Root`, `Hips`, `Spine`, `Chest`, `UpperChest`, `Neck`, `Head`
//! - with `Left` or `Right` before each: `Shoulder`, `UpperArm`, `UpperArmTwist`, `LowerArm`,
//!   `LowerArmTwist`, `Hand`, `UpperLeg`, `LowerLeg`, `Foot`, `Toes`
//! - fingers, with the side before each: `ThumbMetacarpal`, `ThumbProximal`, `ThumbDistal`, and
//!   `Index`, `Middle`, `Ring` or `Little` followed by `Proximal`, `Intermediate` or `Distal`
//!
//! ```
//! let mannequin = throng::builtin::mannequin()?;
//! assert!(mannequin.clip("Walk").is_ok());
//! # Ok::<(), throng::Error>(())
//! ```

mod file;

use crate::character::{AnimationDesc, ClipDesc, Gait, SocketDesc};
use crate::error::Result;
use crate::import::{ImportOptions, Imported, RawCharacter};
use crate::mesh::Material;
use crate::state_machine::{MaskBranchDesc, MaskDesc};

/// Builds the mannequin with the default options.
///
/// For other options, use [`RawCharacter::mannequin`].
///
/// # Errors
/// None in practice, because its data is fixed. Returns the errors of [`RawCharacter::build`].
pub fn mannequin() -> Result<Imported> {
    RawCharacter::mannequin().build(&ImportOptions::default())
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
    /// let options = ImportOptions { curves: true, ..ImportOptions::default() };
    /// let mannequin = RawCharacter::mannequin().build(&options)?;
    /// assert_eq!(mannequin.curves().len(), mannequin.clips().len());
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn mannequin() -> Self {
        // The file is part of the library, and a test compares it with what it was made from.
        let file = file::read().unwrap_or_default();
        Self {
            name: "mannequin".into(),
            materials: vec![Material {
                name: "Mannequin".into(),
                roughness: 0.6,
                tint_by_alpha: true,
                ..Material::default()
            }],
            animation: Some(animation()),
            ..file.into()
        }
    }
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
        clips: vec![gait("Walk", 1.2), gait("Run", 3.1)],
        sockets: vec![
            SocketDesc::new("left hand", "LeftHand"),
            SocketDesc::new("right hand", "RightHand"),
            SocketDesc::new("head", "Head"),
        ],
        ..AnimationDesc::default()
    }
}
