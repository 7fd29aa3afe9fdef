//! Whether a character's poses fit a method's format: its rest pose and its clips.

use super::clip_form::ClipForm;
use super::format::{DualQuat, DualQuatStretch, PaletteFormat, QuatOffset, SkinningMethod};
use super::held::{Tolerance, unheld};
use crate::character::Character;
use crate::clip::{CurveClip, TrackValues, put_onto};
use crate::error::{PoseAt, Result, Unrepresentable};
use crate::mesh::PaletteJoint;
use crate::skeleton::{Affine, Joint, NO_PARENT, Skeleton, Transform, model_pose};

/// Checks that `method` can skin `character`, in its rest pose and all of its clips, and finds the
/// palette format that this takes.
///
/// For [`SkinningMethod::DualQuat`] that is [`PaletteFormat::DualQuatStretch`] if something stretches. The
/// packed clips are checked, which are what is played, additive ones on the rest pose; the curves
/// if there are only those.
///
/// A palette entry's format holds a skinning matrix if
/// [`PaletteEntry::project`](crate::palette::PaletteEntry::project) displaces no corner of the box around
/// the entry's vertices by more than 1e-4 of the model's size, the largest edge of
/// [`Character::rest_bounds`]. Mirrors (negative determinant) and scales of zero are refused
/// however small their effect is.
///
/// What scale tracks move, and what turns below a non-uniform scale, is looked at at all key times
/// of a clip and at three times between each two. The other skinning matrices are their rest pose's
/// but for a rotation, a translation and a constant factor, and are checked there. Clips of more
/// than 2²⁶ joints × times are looked at at as many times, evenly chosen, and at 1,024 at least.
///
/// # Errors
/// [`Error::Unrepresentable`](crate::error::Error::Unrepresentable), naming method, joint, clip and time, and what is too
/// much.
pub fn check_method(character: &Character, method: SkinningMethod) -> Result<PaletteFormat> {
    let mut check = Check::new(character, method);
    if method != SkinningMethod::Linear {
        check.rest()?;
        let packed = character.clips().iter();
        let packed = packed.map(|clip| (clip.name(), ClipForm::Packed(clip)));
        // Nothing is packed where there are more of these.
        let curves = character.curves().iter().skip(packed.len());
        let curves = curves.map(|clip| (clip.name(), ClipForm::Curves(clip)));
        for ((name, clip), is_additive) in
            packed.chain(curves).zip(character.animations().additive())
        {
            check.clip(name, clip, is_additive)?;
        }
    }
    Ok(check.format)
}

/// [`check_method`] for curves on the joints of `character`, which need not be its own, with its
/// rest pose.
///
/// # Errors
/// As [`check_method`]; [`Error::NotFound`](crate::error::Error::NotFound) if the clip drives a joint that
/// the character lacks.
pub fn check_clip(
    character: &Character,
    method: SkinningMethod,
    clip: &CurveClip,
) -> Result<PaletteFormat> {
    let mut check = Check::new(character, method);
    if method != SkinningMethod::Linear {
        check.rest()?;
        check.clip(clip.name(), ClipForm::Curves(clip), false)?;
    }
    Ok(check.format)
}

/// Joints × times that a clip is looked at at most.
const MAX_SAMPLES: usize = 1 << 26;
/// Times that a clip is looked at at most, whatever its joints.
const LEAST_TIMES: usize = 1024;

struct Check<'a> {
    character: &'a Character,
    tolerance: Tolerance,
    format: PaletteFormat,
    rest: Vec<Transform>,
    local: Vec<Transform>,
    model: Vec<Affine>,
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
            model: vec![Affine::IDENTITY; skeleton.len()],
        }
    }

    fn rest(&mut self) -> Result<()> {
        let all: Vec<&PaletteJoint> = self.character.palette().iter().collect();
        self.local.copy_from_slice(&self.rest);
        self.pose(&all, || PoseAt::Rest)
    }

    /// Checks a clip; an additive one on the rest pose.
    fn clip(&mut self, name: &str, clip: ClipForm<'_>, is_additive: bool) -> Result<()> {
        // Its joints are checked even if nothing has to be looked at.
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
            let at = || PoseAt::Clip {
                name: name.into(),
                time_s,
            };
            self.pose(&entries, at)?;
        }
        Ok(())
    }

    /// Checks `entries` in the local pose.
    fn pose(&mut self, entries: &[&PaletteJoint], at: impl Fn() -> PoseAt) -> Result<()> {
        model_pose(self.character.skeleton(), &self.local, &mut self.model)?;
        for entry in entries {
            let matrix = self.model[usize::from(entry.joint)] * entry.inverse_bind;
            if let Err(why) = self.entry(entry, &matrix) {
                let method = self.format.method();
                return Err(unheld(self.character, method, entry.joint, at(), why));
            }
        }
        Ok(())
    }

    fn entry(&mut self, joint: &PaletteJoint, matrix: &Affine) -> Result<(), Unrepresentable> {
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

/// How a joint's model matrix differs from that at rest while a clip plays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// By a rotation and a translation: no scale moves, and none is other than uniform.
    Rigid,
    /// The same, below or on a non-uniform scale; a rotation below it would shear.
    Stretched,
    /// In its shape as well.
    Changing,
}

/// Which joints' skinning matrices change in more than a rotation from the left and a translation
/// while `clip` plays. Where they don't, `MᵀM` is constant, and with it every length and angle that
/// the formats' limits are about.
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

/// Whether the clip drives the rotation and the scale of each joint.
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

/// Whether the scale at rest is uniform up to rounding and signs.
fn is_uniform(joint: &Joint) -> bool {
    let scale = joint.rest.scale.abs();
    scale.max_element() - scale.min_element() <= 1e-6 * scale.max_element()
}

/// The times that a clip is looked at: all keys and three times between each two, or as many as are
/// allowed.
fn times(clip: ClipForm<'_>, joints: usize) -> Vec<f64> {
    let keys = clip.key_times();
    let count = (keys.len() * 4).saturating_sub(3);
    let most = (MAX_SAMPLES / joints.max(1)).max(LEAST_TIMES);
    let taken = count.min(most);
    let at = |sample: usize| {
        // The first and the last are always taken.
        let sample = sample * (count - 1) / (taken - 1).max(1);
        let (key, quarter) = (sample / 4, (sample % 4) as f64 / 4.0);
        let from = keys[key];
        let to = keys.get(key + 1).copied().unwrap_or(from);
        from + quarter * (to - from)
    };
    (0..taken).map(at).collect()
}
