//! Replaces a character while its instances go on playing.

use crate::animator::{ReplaceIssue, ReplaceIssues, joints_by_name, moved};
use crate::character::Character;
use crate::crowd::Crowd;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::visibility::Look;
use crate::crowd::{CharacterId, InstanceId};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::{Gpu, MemoryAllocator};
use crate::id::Id;
use crate::skeleton::{Joint, Socket};
use core::cell::RefCell;
use glam::Affine3A;
use std::sync::Arc;

/// An attached instance whose joint is gone: the joint of the old character, and its world
/// transform.
type Unfit = (InstanceId, Id<Joint>, Affine3A);

/// Finds the sockets of a character in another one, by name.
struct SameSocket<'a> {
    before: &'a Character,
    now: &'a Character,
    joints: Vec<Option<u16>>,
}

impl<'a> SameSocket<'a> {
    fn new(before: &'a Character, now: &'a Character) -> Self {
        Self {
            before,
            now,
            joints: joints_by_name(before.skeleton(), now.skeleton()),
        }
    }

    /// The socket of the same name, or the same offset from the joint of the same name.
    fn find(&self, socket: &Socket) -> Option<Socket> {
        let mut known = self.before.sockets().iter();
        let same = known.find(|(_, other)| other == socket);
        let same = same.and_then(|(name, _)| self.now.socket(name).ok());
        let same = same.and_then(|same| Some(self.now.sockets().get(same.index())?.1));
        same.or_else(|| {
            let joint = Id::new(moved(&self.joints, socket.joint.0)?);
            Some(Socket { joint, ..*socket })
        })
    }
}

impl Crowd {
    /// Replaces a character in place, for example because an artist has saved its file again.
    ///
    /// Its instances stay alive and go on playing what they play, as
    /// [`Animator::replace`](crate::animator::Animator::replace) describes. Hidden parts, material
    /// variants, and the joints and sockets that others are attached to, are found by their names,
    /// too. An instance that is attached to a joint that is gone is detached, and stays where it
    /// is. The id of the character stays valid, and the options of
    /// [`CharacterDesc`](crate::CharacterDesc) stay those with which it was added.
    ///
    /// Returns what no longer fits, with the number of instances that used it. The next
    /// [`Frame::record_prepare`](crate::Frame::record_prepare) uploads the new data. Frames in
    /// flight keep the old data until they have ended. For motion vectors, the next frame has no
    /// motion.
    ///
    /// Call it between frames.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if the character does not exist.
    /// - [`Error::Capacity`] if the instances do not fit any more, with larger palettes, more morph
    ///   weights or more vertices (see [`Self::reserve`]).
    /// - As [`Self::add_character`].
    ///
    /// If this fails, the old character stays as it is.
    #[doc(alias("reload", "hot reload"))]
    pub fn replace_character(
        &mut self,
        allocator: &mut dyn MemoryAllocator,
        id: CharacterId,
        character: &Character,
    ) -> Result<Vec<ReplaceIssue>> {
        let (device, allocator) = (Arc::clone(&self.device), RefCell::new(allocator));
        let gpu = Gpu::new(&device, &allocator)?;
        let (desc, deforms) = {
            let old = self.scene.characters.get(id)?;
            (old.desc, old.deforms)
        };
        let unfit = self.unfit_attachments(id, character)?;
        let (loaded, upload) = self.load(gpu, character, &desc, deforms)?;
        let mut issues = ReplaceIssues::default();
        let members = &self.scene.characters.get(id)?.members;
        let fits = self.scene.instances.check_resize(members, &loaded.sizes());
        let animator = fits.and_then(|()| {
            let animator = self.animators.of_mut(id)?;
            let fits = (Arc::clone(&loaded.rig), loaded.mesh.format());
            animator.replace_noting(character, Some(fits), &mut issues)?;
            Ok(animator)
        });
        let animator = animator.inspect_err(|_| {
            if let Some(slot) = &loaded.slot {
                self.scene.characters.chunks.remove(slot);
            }
        })?;
        animator.expect_fit(Arc::clone(&loaded.rig), loaded.mesh.format());
        let serial = loaded.serial;
        let old = self.scene.replace(id.0, loaded.keep());
        self.fit_attachments(id, (&old, unfit), &mut issues)?;
        self.fit_looks(id, &old, &mut issues);
        self.retire(old);
        self.finish_load(serial, upload.keep(), character);
        Ok(issues.list())
    }

    /// The instances that are attached to joints or sockets that another character in place of
    /// theirs would lack. Each has the place where it is now, which the other's joints cannot tell.
    fn unfit_attachments(&self, id: CharacterId, now: &Character) -> Result<Vec<Unfit>> {
        let old = self.scene.characters.get(id)?;
        let same = SameSocket::new(&old.rig, now);
        let mut unfit = Vec::new();
        for child in old
            .members
            .iter()
            .flat_map(|it| self.scene.attachments.children(*it))
        {
            let attachment = self.scene.attachments.of(child);
            let Some(lost) = attachment.filter(|it| same.find(&it.socket).is_none()) else {
                continue;
            };
            if let Some(child) = self.scene.instances.id(child) {
                let world = self.instance(child)?.transform();
                unfit.push((child, lost.socket.joint, world));
            }
        }
        Ok(unfit)
    }

    /// Lets what is attached to instances of a replaced character follow the joints of its names,
    /// and detaches the rest.
    fn fit_attachments(
        &mut self,
        id: CharacterId,
        (old, unfit): (&LoadedCharacter, Vec<Unfit>),
        issues: &mut ReplaceIssues,
    ) -> Result<()> {
        for (child, joint, world) in unfit {
            let joint = old.rig.skeleton().joints().get(joint.index());
            issues.note(
                Some(child.index),
                "joint",
                joint.map_or("", |joint| &joint.name),
            );
            self.instance_mut(child)?.detach_at(&world);
        }
        let scene = &mut self.scene;
        let new = scene.characters.get(id)?;
        let same = SameSocket::new(&old.rig, &new.rig);
        for member in &new.members {
            let children: Vec<u32> = scene.attachments.children(*member).collect();
            scene.attachments.note(*member);
            for child in children {
                if let Some(attachment) = scene.attachments.of_mut(child)
                    && let Some(socket) = same.find(&attachment.socket)
                {
                    attachment.socket = socket;
                }
            }
        }
        Ok(())
    }

    /// Hides the parts of the new character that have the names of the hidden parts of the old one,
    /// and chooses the variant that has the name of the old one.
    fn fit_looks(&mut self, id: CharacterId, old: &LoadedCharacter, issues: &mut ReplaceIssues) {
        let scene = &mut self.scene;
        for member in scene.characters[id.0].members.clone() {
            let new = &scene.characters[id.0];
            let before = scene.visibility.look(member);
            let actor = Some(scene.instances[member].actor.index);
            let mut look = Look::default();
            for (part, name) in old.rig.parts().filter(|_| before.hidden != 0) {
                let bits = old.rig.part_bits(part).unwrap_or(0);
                if bits == 0 || bits & before.hidden != bits {
                    continue;
                }
                match new.rig.part(name).and_then(|part| new.rig.part_bits(part)) {
                    Ok(now) => look.hidden |= now,
                    Err(_) => issues.note(actor, "part", name),
                }
            }
            let variant = before.variant.checked_sub(1);
            let variant = variant.and_then(|at| old.rig.variants().get(usize::from(at)));
            if let Some(variant) = variant {
                match new.rig.variant(&variant.name) {
                    Ok(now) => look.variant = now.0 + 1,
                    Err(_) => issues.note(actor, "variant", &variant.name),
                }
            }
            let instance = scene.instances.any_id(member);
            scene.change_look(instance, |own| *own = look);
        }
    }
}
