//! Checks that a character's rest pose and clips fit the format of a skinning method.

use super::format::{DualQuat, DualQuatStretch, PaletteFormat, QuatOffset, SkinningMethod};
use super::held::{Tolerance, unheld};
use crate::character::Character;
use crate::clip::{Clip, CurveClip, TrackValues, put_onto};
use crate::error::{Result, Unrepresentable};
use crate::mesh::PaletteJoint;
use crate::skeleton::{Joint, NO_PARENT, Skeleton, Transform};
use glam::Affine3A;

impl PaletteFormat {
    /// Checks that `method` can skin `character`, and returns the palette format.
    ///
    /// The rest pose and all clips are checked. Packed clips are checked in the form that is
    /// played, additive ones on top of the rest pose. Clips that exist only as curves are checked
    /// as curves. For [`SkinningMethod::DualQuat`] the result is [`PaletteFormat::DualQuatStretch`]
    /// if anything stretches.
    ///
    /// A format represents a skinning matrix if
    /// [`PaletteEntry::project`](crate::palette::PaletteEntry::project) displaces no corner of the
    /// box around the entry's vertices by more than 1e-4 of the model's size, which is the largest
    /// edge of [`Character::rest_bounds`]. Reflections (negative determinant) and scales of zero
    /// are rejected however small their effect is.
    ///
    /// Two kinds of joints are checked while a clip plays: those that scale tracks affect, and
    /// those that rotate below a non-uniform scale. They are checked at all key times and at three
    /// times between each two. All other skinning matrices differ from those of the rest pose only
    /// by a rotation, a translation and a constant factor, so the rest pose is checked for them. If
    /// a clip has more than 2²⁶ joints × times, only that many are checked, at evenly chosen times,
    /// but at least 1,024 times.
    ///
    /// # Errors
    /// [`Error::Unrepresentable`](crate::error::Error::Unrepresentable) with the method, joint,
    /// clip and time, and the property that the format cannot represent.
    pub fn of(character: &Character, method: SkinningMethod) -> Result<Self> {
        let mut check = Check::new(character, method);
        if method != SkinningMethod::Linear {
            check.rest()?;
            let packed = character.clips().iter();
            let packed = packed.map(|clip| (clip.name(), ClipForm::Packed(clip)));
            // If there are more curves than packed clips, the rest is not packed.
            let curves = character.curves().iter().skip(packed.len());
            let curves = curves.map(|clip| (clip.name(), ClipForm::Curves(clip)));
            for ((name, clip), is_additive) in packed
                .chain(curves)
                .zip(character.animation_set().additive())
            {
                check.clip(name, clip, is_additive)?;
            }
        }
        Ok(check.format)
    }
}

/// Limit of joints × times at which a clip is checked.
const MAX_SAMPLES: usize = 1 << 26;
/// Number of times that are always allowed, however many joints there are.
const LEAST_TIMES: usize = 1024;

struct Check<'a> {
    character: &'a Character,
    tolerance: Tolerance,
    format: PaletteFormat,
    rest: Vec<Transform>,
    local: Vec<Transform>,
    model: Vec<Affine3A>,
}

impl<'a> Check<'a> {
    fn new(character: &'a Character, method: SkinningMethod) -> Self {
        let skeleton = character.skeleton();
        let rest = skeleton.rest_pose();
        Self {
            character,
            tolerance: Tolerance::of(character),
            format: PaletteFormat::least(method),
            local: rest.clone(),
            rest,
            model: vec![Affine3A::IDENTITY; skeleton.len()],
        }
    }

    fn rest(&mut self) -> Result<()> {
        let all: Vec<&PaletteJoint> = self.character.palette().iter().collect();
        self.local.copy_from_slice(&self.rest);
        self.pose(&all, || "the rest pose".into())
    }

    /// Checks a clip. An additive one is checked on top of the rest pose.
    fn clip(&mut self, name: &str, clip: ClipForm<'_>, is_additive: bool) -> Result<()> {
        // This validates the clip's joints even if there is nothing else to check.
        self.local.copy_from_slice(&self.rest);
        clip.sample(0.0, &mut self.local)?;
        let changing = changing_shapes(self.character.skeleton(), clip);
        let entries = self.character.palette().iter();
        let entries: Vec<_> = entries
            .filter(|entry| changing.get(usize::from(entry.joint)) == Some(&true))
            .collect();
        if entries.is_empty() {
            return Ok(());
        }
        for time_s in times(clip, self.rest.len()) {
            if is_additive {
                self.local.fill(Transform::IDENTITY);
            } else {
                self.local.copy_from_slice(&self.rest);
            }
            clip.sample(time_s, &mut self.local)?;
            if is_additive {
                for (local, rest) in self.local.iter_mut().zip(&self.rest) {
                    *local = put_onto(rest, local);
                }
            }
            self.pose(&entries, || format!("clip \"{name}\" at {time_s} s"))?;
        }
        Ok(())
    }

    /// Checks `entries` in the local pose.
    fn pose(&mut self, entries: &[&PaletteJoint], at: impl Fn() -> String) -> Result<()> {
        self.character
            .skeleton()
            .model_pose(&self.local, &mut self.model)?;
        for entry in entries {
            let matrix = self.model[usize::from(entry.joint)] * entry.inverse_bind;
            if let Err(why) = self.entry(entry, &matrix) {
                let method = self.format.method();
                return Err(unheld(self.character, method, entry.joint, at(), why));
            }
        }
        Ok(())
    }

    fn entry(&mut self, joint: &PaletteJoint, matrix: &Affine3A) -> Result<(), Unrepresentable> {
        let tolerance = self.tolerance;
        match self.format {
            PaletteFormat::Mat3x4 => Ok(()),
            PaletteFormat::DualQuat if tolerance.entry::<DualQuat>(joint, matrix).is_ok() => Ok(()),
            PaletteFormat::DualQuat | PaletteFormat::DualQuatStretch => {
                tolerance.entry::<DualQuatStretch>(joint, matrix)?;
                self.format = PaletteFormat::DualQuatStretch;
                Ok(())
            }
            PaletteFormat::QuatOffset => tolerance.entry::<QuatOffset>(joint, matrix).map(drop),
        }
    }
}

/// The change of a joint's model matrix, relative to rest, while a clip plays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A rotation and a translation: no scale moves, and all scales are uniform.
    Rigid,
    /// As `Rigid`, but on or below a non-uniform scale. A rotation below it would shear.
    Stretched,
    /// The shape changes too.
    Changing,
}

/// Finds the joints whose skinning matrices change by more than a rotation from the left and a
/// translation while `clip` plays.
///
/// For all others, `MᵀM` is constant, and so are all lengths and angles that the limits of the
/// formats refer to.
fn changing_shapes(skeleton: &Skeleton, clip: ClipForm<'_>) -> Vec<bool> {
    let driven = driven(skeleton, clip);
    let mut shapes: Vec<Shape> = Vec::with_capacity(skeleton.len());
    for (index, joint) in skeleton.joints().iter().enumerate() {
        let above = match joint.parent_index() {
            NO_PARENT => Shape::Rigid,
            parent => shapes[usize::from(parent)],
        };
        let stretched = above == Shape::Stretched;
        let [turns, scales] = driven[index];
        let shape = if above == Shape::Changing || scales || stretched && turns {
            Shape::Changing
        } else if stretched || !is_uniform(joint) {
            Shape::Stretched
        } else {
            Shape::Rigid
        };
        shapes.push(shape);
    }
    shapes.iter().map(|s| *s == Shape::Changing).collect()
}

/// Returns whether the clip drives the rotation and the scale of each joint.
fn driven(skeleton: &Skeleton, clip: ClipForm<'_>) -> Vec<[bool; 2]> {
    let curves = match clip {
        ClipForm::Packed(clip) => {
            let joints = 0..skeleton.len();
            return joints.map(|joint| clip.may_turn_and_scale(joint)).collect();
        }
        ClipForm::Curves(curves) => curves,
    };
    let mut driven = vec![[false; 2]; skeleton.len()];
    for track in curves.tracks() {
        let which = match track.values {
            TrackValues::Translation(_) => continue,
            TrackValues::Rotation(_) => 0,
            TrackValues::Scale(_) => 1,
        };
        if let Some(joint) = driven.get_mut(usize::from(track.joint)) {
            joint[which] = true;
        }
    }
    driven
}

/// Returns true if the scale at rest is uniform, apart from rounding and signs.
fn is_uniform(joint: &Joint) -> bool {
    let scale = joint.rest.scale.abs();
    scale.max_element() - scale.min_element() <= 1e-6 * scale.max_element()
}

/// Chooses the times at which a clip is checked: all keys and three times between each two, or as
/// many as are allowed.
fn times(clip: ClipForm<'_>, joints: usize) -> Vec<f64> {
    let keys = clip.key_times();
    let count = (keys.len() * 4).saturating_sub(3);
    let most = (MAX_SAMPLES / joints.max(1)).max(LEAST_TIMES);
    let taken = count.min(most);
    let at = |sample: usize| {
        // The first and the last time are always included.
        let sample = sample * (count - 1) / (taken - 1).max(1);
        let (key, quarter) = (sample / 4, (sample % 4) as f64 / 4.0);
        let from = keys[key];
        let to = keys.get(key + 1).copied().unwrap_or(from);
        from + quarter * (to - from)
    };
    (0..taken).map(at).collect()
}

/// A packed clip, or the curves of one.
#[derive(Debug, Clone, Copy)]
pub(super) enum ClipForm<'a> {
    Packed(&'a Clip),
    Curves(&'a CurveClip),
}

impl ClipForm<'_> {
    /// Returns the times of all joint keys, ascending and without duplicates.
    pub(super) fn key_times(&self) -> Vec<f64> {
        match self {
            Self::Packed(clip) => clip.key_times(),
            Self::Curves(clip) => clip.key_times().into_iter().map(f64::from).collect(),
        }
    }

    /// Samples the local pose at a time into `local`, one transform per joint.
    ///
    /// `local` must hold the rest pose, because curves overwrite only what they drive.
    pub(super) fn sample(&self, time_s: f64, local: &mut [Transform]) -> Result<()> {
        match self {
            Self::Packed(clip) => clip.sample_portable(time_s, local),
            Self::Curves(clip) => clip.sample(time_s, local),
        }
    }
}
