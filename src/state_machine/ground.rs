//! Ground speeds that states follow: their parameters, limits and clips.

use super::build::Known;
use super::desc::{MotionDesc, StateDesc};
use super::machine::StateMachineClip;
use super::model::{Ground, Motion, Played};
use crate::error::{DescFault, cut};
use crate::motion::SPEED_LIMITS;
use crate::text::{At, Checked, Fault};
use glam::DVec3;

impl Known<'_> {
    pub(super) fn ground(
        &self,
        at: At,
        desc: &StateDesc,
        motion: &Motion,
    ) -> Checked<Option<Ground>> {
        let limits = speed_limits(at, desc.ground_speed.is_some(), desc.speed_limits)?;
        let (Some(name), Some(limits)) = (&desc.ground_speed, limits) else {
            let limits = self.limits_of_space(&desc.motion);
            let parameter = None;
            return Ok(limits.map(|limits| Ground { parameter, limits }));
        };
        let field = "ground_speed";
        let parameter = self.float(at, field, name)?;
        let clip = |played: &Played| &self.clips[played.clip.index()];
        match motion {
            Motion::None => {
                let why = DescFault::Invalid("needs a motion that moves over the ground");
                return Err(Fault::new(at, field, why));
            }
            Motion::Clip(played) => {
                check_strides(at, field, [(clip(played), true)].into_iter())?;
            }
            Motion::Blend {
                parameters,
                shape,
                clips,
            } => {
                let axis = parameters.iter().position(|axis| *axis == parameter);
                let points = shape.points();
                let moves = points.iter().map(|at| axis.is_some_and(|a| at[a] != 0.0));
                check_strides(at, field, clips.iter().map(clip).zip(moves))?;
            }
        }
        let parameter = Some(parameter);
        Ok(Some(Ground { parameter, limits }))
    }

    /// The limits of a blend space of the character that follows its own position.
    fn limits_of_space(&self, motion: &MotionDesc) -> Option<[f64; 2]> {
        let MotionDesc::BlendSpace { name, .. } = motion else {
            return None;
        };
        let space = self.spaces.iter().find(|space| space.name() == name);
        space?.speed_limits()
    }
}

/// The limits of the playback speed of what follows a ground speed. `None` if it does not.
pub(crate) fn speed_limits(
    at: At,
    follows: bool,
    limits: Option<[f32; 2]>,
) -> Checked<Option<[f64; 2]>> {
    let field = "speed_limits";
    if !follows && limits.is_some() {
        let why = DescFault::Invalid("needs `ground_speed`");
        return Err(Fault::new(at, field, why));
    }
    let [least, most] = limits.unwrap_or(SPEED_LIMITS);
    for (index, value, ok, allowed) in [
        (0, least, least > 0.0, "a positive number"),
        (1, most, most >= least, "a number not below the first"),
    ] {
        if !(ok && value.is_finite()) {
            let value = value.into();
            let why = DescFault::Value { value, allowed };
            return Err(Fault::new(at, format!("{field}[{index}]"), why));
        }
    }
    Ok(follows.then_some([least, most].map(f64::from)))
}

/// Checks that clips have the ground speeds that their motion follows.
///
/// Each comes with whether it needs one. Others may stand, but not all of them.
pub(crate) fn check_strides<'c>(
    at: At,
    field: &str,
    clips: impl Iterator<Item = (&'c StateMachineClip<'c>, bool)> + Clone,
) -> Checked<()> {
    let stands = |clip: &StateMachineClip<'_>| clip.ground_velocity == Some(DVec3::ZERO);
    let all_stand = clips.clone().all(|(clip, _)| stands(clip));
    let mut clips = clips.filter(|(clip, _)| stands(clip));
    match clips.find(|(_, needs)| *needs || all_stand) {
        None => Ok(()),
        Some((clip, _)) => {
            let clip = cut(clip.name);
            Err(Fault::new(at, field, DescFault::NoGroundSpeed { clip }))
        }
    }
}
