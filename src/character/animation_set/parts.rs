//! Parts of a description that do not change clips: masks, sockets, blend spaces, roles, machine.

use super::apply::Draft;
use super::desc::{AnimationDesc, BlendAt, BlendSpaceDesc, SocketDesc};
use super::set::{AnimationSet, MAX_PARTS, MAX_SOCKETS};
use super::source::AnimationSource;
use crate::clip::Clip;
use crate::error::{DescFault, Error, cut};
use crate::id::Id;
use crate::motion::{BlendLine, BlendPlane, BlendShape, BlendSpace};
use crate::order;
use crate::skeleton::joints::Roles;
use crate::skeleton::role::Role;
use crate::skeleton::{Joint, Mask, Skeleton, Socket};
use crate::state_machine::{StateMachine, StateMachineClip, build_mask, speed_limits};
use crate::text::{At, Checked, Fault, check_cap, check_names, check_value, find};
use glam::{Affine3A, Quat, Vec2, Vec3};

impl Draft<'_> {
    /// Checks everything except the data of individual clips. The clips are those that the
    /// character will have.
    pub(super) fn parts(&self, source: &AnimationSource) -> Result<AnimationSet, Error> {
        let mut set = AnimationSet::default();
        let desc = source.desc();
        self.lists(desc, &mut set)
            .map_err(|fault| source.error(fault))?;
        set.desc = AnimationDesc {
            gait_motion: desc.gait_motion,
            masks: desc.masks.clone(),
            sockets: desc.sockets.clone(),
            blend_spaces: desc.blend_spaces.clone(),
            ..AnimationDesc::default()
        };
        self.machine(source, &mut set)?;
        Ok(set)
    }

    fn lists(&self, desc: &AnimationDesc, set: &mut AnimationSet) -> Checked<()> {
        for (what, asked, cap) in [
            ("masks", desc.masks.len(), StateMachine::MAX_MASKS),
            ("sockets", desc.sockets.len(), MAX_SOCKETS),
            ("blend spaces", desc.blend_spaces.len(), MAX_PARTS),
        ] {
            check_cap(At::WHOLE, what, asked, cap)?;
        }
        check_names(desc.masks.iter().map(|mask| mask.name.as_str()), |index| {
            At::of("mask", index)
        })?;
        let sockets = desc.sockets.iter().map(|socket| socket.name.as_str());
        check_names(sockets, |index| At::of("socket", index))?;
        let spaces = desc.blend_spaces.iter().map(|space| space.name.as_str());
        check_names(spaces, |index| At::of("blend_space", index))?;
        for (index, mask) in desc.masks.iter().enumerate() {
            let built = build_mask(index, mask, self.character.skeleton())?;
            set.masks.push(built);
        }
        for (index, socket) in desc.sockets.iter().enumerate() {
            let built = self.socket(At::of("socket", index), socket)?;
            set.sockets.push((socket.name.as_str().into(), built));
        }
        for (index, space) in desc.blend_spaces.iter().enumerate() {
            let space = self.blend_space(At::of("blend_space", index), space)?;
            set.blend_spaces.push(space);
        }
        Ok(())
    }

    fn socket(&self, at: At, desc: &SocketDesc) -> Checked<Socket> {
        let joints = self.character.skeleton().joints();
        let names = || joints.iter().map(|joint| &*joint.name);
        let joint = find(at, "joint", "joint", &desc.joint, names)?;
        for (name, values) in [
            ("translation", &desc.translation[..]),
            ("rotation", &desc.rotation),
        ] {
            for (number, value) in values.iter().enumerate() {
                let field = format!("{name}[{number}]");
                check_value(at, &field, *value, value.is_finite(), "a finite number")?;
            }
        }
        let Some(rotation) = unit(desc.rotation) else {
            let why = DescFault::Invalid("is a quaternion of length 0");
            return Err(Fault::new(at, "rotation", why));
        };
        let ok = desc.scale > 0.0 && desc.scale.is_finite();
        check_value(at, "scale", desc.scale, ok, "a positive number")?;
        let offset = Affine3A::from_scale_rotation_translation(
            Vec3::splat(desc.scale),
            rotation,
            Vec3::from_array(desc.translation),
        );
        Ok(Socket {
            joint: Id::new(joint),
            offset,
        })
    }

    fn blend_space(&self, at: At, desc: &BlendSpaceDesc) -> Checked<BlendSpace> {
        let points = &desc.points;
        if points.is_empty() {
            return Err(Fault::new(at, "points", DescFault::Missing("points")));
        }
        check_cap(at, "points", points.len(), BlendSpace::MAX_POINTS)?;
        let (mut line, mut plane, mut clips) = (Vec::new(), Vec::new(), Vec::new());
        for (number, point) in points.iter().enumerate() {
            let field = format!("points[{number}].clip");
            let clip = self.clip(at, &field, &point.clip)?;
            if self.clips[usize::from(clip)].is_additive() != self.is_additive(&clips, clip) {
                let why = DescFault::Invalid("additive and other clips cannot be blended together");
                return Err(Fault::new(at, field, why));
            }
            clips.push(Id::new(clip));
            let field = format!("points[{number}].at");
            let coordinates = match point.at {
                BlendAt::Line(x) => {
                    line.push(x);
                    [x, 0.0]
                }
                BlendAt::Plane(at) => {
                    plane.push(Vec2::from_array(at));
                    at
                }
            };
            for value in coordinates {
                check_value(at, &field, value, value.is_finite(), "a finite number")?;
            }
            if !line.is_empty() && !plane.is_empty() {
                let why = DescFault::Invalid(
                    "has a different number of coordinates than the points before it",
                );
                return Err(Fault::new(at, field, why));
            }
        }
        let shape = if plane.is_empty() {
            BlendLine::new(&line).map(BlendShape::Line)
        } else {
            BlendPlane::new(&plane).map(BlendShape::Plane)
        };
        Ok(BlendSpace {
            name: desc.name.as_str().into(),
            clips,
            shape: shape.map_err(|why| Fault::refused(at, "points", why))?,
            speed_limits: speed_limits(at, desc.ground_speed, desc.speed_limits)?,
        })
    }

    /// True if the first of the clips is additive, or this one if the list is empty.
    fn is_additive(&self, clips: &[Id<Clip>], clip: u16) -> bool {
        let first = clips
            .first()
            .map_or(usize::from(clip), |first| first.index());
        self.clips[first].is_additive()
    }

    fn machine(&self, source: &AnimationSource, set: &mut AnimationSet) -> Result<(), Error> {
        let clips = self.clips.iter().map(|clip| StateMachineClip {
            name: clip.name(),
            duration_s: clip.duration_s(),
            additive: Some(clip.is_additive()),
            // Gaits are measured after this check: see `Character::set_clips`.
            ground_velocity: None,
        });
        let clips: Vec<_> = clips.collect();
        let skeleton = self.character.skeleton();
        let built = source.machine(skeleton, &clips, &set.blend_spaces)?;
        let Some((machine, desc)) = built else {
            return Ok(());
        };
        for mask in &machine.masks {
            let id = set.machine_mask(mask);
            let id = id.map_err(|fault| source.error(fault))?;
            set.machine_masks.push(id);
        }
        set.state_machine = Some(machine);
        set.desc.state_machine = Some(desc);
        Ok(())
    }
}

impl AnimationSet {
    /// The index of a state machine's mask among the masks. Appends the mask if it is new.
    fn machine_mask(&mut self, mask: &Mask) -> Checked<Id<Mask>> {
        let known = self.masks.iter().position(|known| known.name == mask.name);
        let index = known.unwrap_or_else(|| {
            self.masks.push(mask.clone());
            self.masks.len() - 1
        });
        if self.masks[index] == *mask {
            return Ok(Id::new(index as u16));
        }
        let why = DescFault::Invalid("the state machine has a different mask with this name");
        Err(Fault::new(At::of("mask", index), "name", why))
    }
}

/// The quaternion scaled to length 1, or `None` if its length is 0.
fn unit(xyzw: [f32; 4]) -> Option<Quat> {
    let wide = glam::DQuat::from_array(xyzw.map(f64::from));
    let length = wide.length();
    (length > 0.0).then(|| (wide / length).as_quat())
}

/// The roles, ascending. `None` if the description names none.
pub(super) fn roles(desc: &AnimationDesc, skeleton: &Skeleton) -> Checked<Option<Roles>> {
    let mut found: Vec<(Role, Id<Joint>)> = Vec::new();
    for (bone, joint) in &desc.humanoid {
        let field = format!("humanoid.{}", cut(bone));
        let Some(role) = Role::from_name(bone) else {
            let why = DescFault::Invalid("is no humanoid bone of VRM 1.0");
            return Err(Fault::new(At::WHOLE, field, why));
        };
        let names = || skeleton.joints().iter().map(|joint| &*joint.name);
        let joint = Id::new(find(At::WHOLE, &field, "joint", joint, names)?);
        if found.iter().any(|(_, other)| *other == joint) {
            let why = DescFault::Invalid("is the joint of another bone");
            return Err(Fault::new(At::WHOLE, field, why));
        }
        found.push((role, joint));
    }
    order::sort(&mut found);
    Ok((!found.is_empty()).then(|| found.into()))
}
