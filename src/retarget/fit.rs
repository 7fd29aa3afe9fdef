//! The share of joints that a map covers, and the postures of the two bodies.

use super::frame::ModelJoint;
use super::humanoid::Humanoid;
use super::map::JointMap;
use crate::skeleton::role::{Role, Side};
use core::fmt;
use glam::Quat;

/// The largest difference of two postures that belong to the same build, in radians.
///
/// It is 30°. At rest, the spines of four published bipeds are within 5° of the direction of their
/// legs, and that of a fox is at 52°.
const SAME_POSTURE_RAD: f64 = 30.0 * core::f64::consts::PI / 180.0;

/// The numbers that tell how well two skeletons fit together.
///
/// ```
/// use throng::retarget::{JointMap, Retarget};
///
/// let skeleton = throng::builtin::mannequin()?.skeleton().clone();
/// let map = JointMap::humanoid(&skeleton, &skeleton)?;
/// let retarget = Retarget::new(&skeleton, &skeleton, &map, &Default::default())?;
/// let fit = retarget.fit();
/// if !fit.is_good() {
///     println!("the motion may look wrong: {fit}");
/// }
/// assert!(fit.is_good());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RetargetFit {
    /// The number of source joints.
    pub source_joints: usize,
    /// The number of source joints that move a target joint.
    pub source_matched: usize,
    /// The number of target joints.
    pub target_joints: usize,
    /// The number of target joints that follow a source joint.
    pub target_matched: usize,
    /// True if the hips, the head and all parts of the arms and legs found a partner.
    pub whole_body: bool,
    /// The angle of the source's spine to its legs at rest, in radians.
    ///
    /// About 0 for a biped. `None` if the hips, the head or the feet are not known.
    pub source_posture_rad: Option<f64>,
    /// The angle of the target's spine to its legs.
    pub target_posture_rad: Option<f64>,
    /// The factor for translations.
    pub ratio: f64,
    /// The rotation from the source's model space to the target's.
    pub turn: Quat,
}

impl RetargetFit {
    /// The fit of two bodies at rest, before the ratio and the turn are known.
    pub(super) fn new(map: &JointMap, bodies: &[Humanoid; 2], placed: [&[ModelJoint]; 2]) -> Self {
        let [source_joints, target_joints] = [map.source_len(), map.joints[1]];
        let arms = [Role::LeftUpperArm, Role::LeftLowerArm, Role::LeftHand];
        let legs = [Role::LeftUpperLeg, Role::LeftLowerLeg, Role::LeftFoot];
        let limbs = arms.into_iter().chain(legs);
        let limbs = limbs.flat_map(|role| Side::BOTH.map(|side| role.on(side)));
        let mut body = [Role::Hips, Role::Head].into_iter().chain(limbs);
        let is_matched = |role| map.links().iter().any(|link| link.role == Some(role));
        Self {
            source_joints,
            source_matched: source_joints - map.unmatched_joints()[0].len(),
            target_joints,
            target_matched: map.links().len(),
            whole_body: body.all(is_matched),
            source_posture_rad: posture_rad(&bodies[0], placed[0]),
            target_posture_rad: posture_rad(&bodies[1], placed[1]),
            ratio: 1.0,
            turn: Quat::IDENTITY,
        }
    }

    /// The share of the source's joints that move a target joint, 0 to 1.
    pub(crate) fn source_share(&self) -> f64 {
        share(self.source_matched, self.source_joints)
    }

    /// The share of the target's joints that follow a source joint, 0 to 1.
    pub(crate) fn target_share(&self) -> f64 {
        share(self.target_matched, self.target_joints)
    }

    /// True if the postures differ by more than 30°, as those of a biped and a quadruped do.
    pub(crate) fn is_other_posture(&self) -> bool {
        let both = self.source_posture_rad.zip(self.target_posture_rad);
        both.is_some_and(|(source, target)| (source - target).abs() > SAME_POSTURE_RAD)
    }

    /// False if the motion is likely to look wrong, because the skeletons are of different builds.
    ///
    /// This is the case if their postures differ, or if fewer than half of the joints of both
    /// found a partner and these are not a whole body. Joints for fingers and controls, which many
    /// skeletons lack, do not matter if the body is whole.
    #[must_use]
    pub fn is_good(&self) -> bool {
        let most = self.source_share().max(self.target_share()) >= 0.5;
        (most || self.whole_body) && !self.is_other_posture()
    }
}

/// The share of joints that found a partner, and the postures if they differ.
impl fmt::Display for RetargetFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} joints of the source ({:.0} %) and {} of {} joints of the target ({:.0} %) \
             found a partner",
            self.source_matched,
            self.source_joints,
            100.0 * self.source_share(),
            self.target_matched,
            self.target_joints,
            100.0 * self.target_share()
        )?;
        match (self.source_posture_rad, self.target_posture_rad) {
            (Some(source), Some(target)) if self.is_other_posture() => write!(
                f,
                "; the source's spine is at {:.0}° to its legs, the target's at {:.0}°",
                source.to_degrees(),
                target.to_degrees()
            ),
            _ => Ok(()),
        }
    }
}

fn share(matched: usize, joints: usize) -> f64 {
    // Skeletons have at least one joint.
    matched as f64 / joints.max(1) as f64
}

/// The angle between the direction from the hips to the head and that from the feet to the hips.
fn posture_rad(body: &Humanoid, placed: &[ModelJoint]) -> Option<f64> {
    let at = |role| Some(placed.get(usize::from(body.joint(role)?))?.position());
    let hips = at(Role::Hips)?;
    let head = at(Role::Head).or_else(|| at(Role::Neck))?;
    let [left, right] = Side::BOTH.map(|side| at(Role::LeftFoot.on(side)));
    let spine = (head - hips).try_normalize()?;
    let legs = (hips - (left? + right?) * 0.5).try_normalize()?;
    Some(spine.angle_between(legs))
}
