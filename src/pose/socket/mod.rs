//! Sockets: where single joints are, of their ancestors alone.
//!
//! - `playing`: what an instance plays, joint by joint; `sockets`: several sockets of a character, and what they share.

mod playing;
mod sockets;

pub use playing::{Playing, Samples};
pub use sockets::{Socket, Sockets};

use crate::character::{Affine, JointId, NO_PARENT, Skeleton, Transform};
use crate::error::{Error, Result};

/// The model matrix of one joint: the product of its ancestors' local transforms and its own, which are evaluated, and no others. The
/// same bits as the whole skeleton's by [`Clip::sample`](super::Clip::sample) (or [`animate`](super::animate())), [`blend`](super::blend()) and
/// [`model_pose`](super::model_pose()).
///
/// Allocates nothing, for joints less than 64 deep. For several joints of an instance see [`Sockets`].
///
/// ```
/// use throng::glam::Affine3A;
/// use throng::pose::{ClipSample, Playing, Samples, joint_model};
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let hand = skeleton.joint("RightHand")?;
///
/// let samples = [ClipSample::new(0, 0.4).weighted(0.7), ClipSample::new(1, 0.2).weighted(0.3)];
/// let playing = Playing::Samples(Samples::new(character.clips(), &samples));
/// let world_from_model = Affine3A::from_translation([10.0, 0.0, 5.0].into());
/// let world_from_hand = world_from_model * joint_model(skeleton, &playing, hand)?;
/// assert!(world_from_hand.translation.x > 9.0);
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotFound`] for a joint that does not exist; [`Error::Each`] with the first sample whose clip or mask there is not ([`Error::NotFound`])
/// or is for another number of joints, whose weight is negative or not finite, or whose level is below that of one before; [`Error::Argument`]
/// for a local pose of another number of joints.
pub fn joint_model(skeleton: &Skeleton, playing: &Playing<'_>, joint: JointId) -> Result<Affine> {
    /// Deeper joints take memory.
    const DEPTH: usize = 64;
    let joint = joint.0;
    expect_joint(skeleton, joint)?;
    playing.check(skeleton.len())?;
    let joints = skeleton.joints();
    let mut shallow = [0; DEPTH];
    let mut deep = Vec::new();
    let (mut depth, mut above) = (0, joint);
    while above != NO_PARENT {
        match shallow.get_mut(depth) {
            Some(place) => *place = above,
            None => deep.push(above),
        }
        depth += 1;
        above = joints[usize::from(above)].parent;
    }
    let path = shallow.iter().take(depth).chain(&deep).rev();
    let model = path.fold(None, |parent: Option<Affine>, joint| {
        let local = playing.local(*joint, &joints[usize::from(*joint)].rest);
        Some(under(parent, &local))
    });
    Ok(model.unwrap_or(Affine::IDENTITY))
}

/// As [`model_pose`](super::model_pose()) has it.
fn under(parent: Option<Affine>, local: &Transform) -> Affine {
    let local = local.to_affine();
    parent.map_or(local, |parent| parent * local)
}

fn expect_joint(skeleton: &Skeleton, joint: u16) -> Result<()> {
    if usize::from(joint) < skeleton.len() {
        return Ok(());
    }
    Err(Error::NotFound {
        what: "joint",
        index: joint.into(),
        count: skeleton.len() as u64,
    })
}
