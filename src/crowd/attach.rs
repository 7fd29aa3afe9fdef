//! Attaches instances to joints of others, and moves them.

use super::state::Crowd;
use super::{Attachment, CharacterId, InstanceId};
use crate::animator::JointRef;
use crate::error::{Error, Result, expect_transform};
use crate::palette::Mat3x4;
use glam::Affine3A;

impl Crowd {
    /// Attaches an instance to a joint or a socket of another instance.
    ///
    /// From the next prepared frame on, its transform is the parent's world transform × the
    /// socket's model matrix × `socket_from_child`, at that frame's time. The caller has nothing
    /// else to do. If the instance is attached already, this replaces the old attachment.
    ///
    /// - Attached instances may have others attached to them, for example a sword in the hand of a
    ///   rider on a horse.
    /// - Motion vectors include the motion, unless one of the instances above it is teleported.
    /// - The child follows even if no view shows the parent, so that the parent is not animated.
    /// - If the parent is hidden ([`Self::set_visible`]), the child is hidden, too.
    /// - Root motion does not move an attached instance, but [`Self::root_delta`] still reports it.
    ///   After [`Self::detach`] root motion continues from the instance's transform.
    /// - If the product overflows, the instance keeps its transform.
    /// - When the parent is despawned, so is the child, unless [`Self::set_outlives_parent`] says
    ///   otherwise.
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if one of the two is not alive.
    /// - [`Error::NotFound`] or [`Error::UnknownName`] if the parent lacks the joint or socket.
    /// - [`Error::Argument`] if the offset is not finite or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT), or if the parent is the child itself or
    ///   attached to it.
    pub fn attach<'a>(
        &mut self,
        child: InstanceId,
        parent: InstanceId,
        socket: impl Into<JointRef<'a>>,
        socket_from_child: &Affine3A,
    ) -> Result<()> {
        self.instances.get(child)?;
        let character = CharacterId(self.instances.get(parent)?.record.character);
        let rig = &self.entry(character)?.rig;
        let socket = socket.into().find(rig.skeleton(), &rig.animations)?;
        expect_transform("socket_from_child", socket_from_child)?;
        let mut above = Some(parent.index);
        while let Some(index) = above {
            if index == child.index {
                return Err(Error::invalid(
                    "parent",
                    "must not be the child itself or attached to it",
                ));
            }
            above = self.attachments.parent(index);
        }
        self.attachments.unlink(child.index);
        self.attachments.link(
            child.index,
            Attachment {
                parent,
                socket,
                socket_from_child: *socket_from_child,
                outlives_parent: false,
            },
        );
        Ok(())
    }

    /// Changes the offset of an attached instance.
    ///
    /// It applies from the next prepared frame on.
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    /// - [`Error::Argument`] if it is not attached, or if the offset is not finite or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    pub fn set_attach_offset(
        &mut self,
        child: InstanceId,
        socket_from_child: &Affine3A,
    ) -> Result<()> {
        self.instances.get(child)?;
        expect_transform("socket_from_child", socket_from_child)?;
        self.attachment_mut(child)?.socket_from_child = *socket_from_child;
        Ok(())
    }

    /// Sets whether an attached instance stays alive when its parent is despawned.
    ///
    /// If `outlives` is true, the instance is detached at that moment and keeps its transform of
    /// the last prepared frame. By default it is despawned with its parent. [`Self::attach`] resets
    /// this.
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    /// - [`Error::Argument`] if it is not attached.
    pub fn set_outlives_parent(&mut self, child: InstanceId, outlives: bool) -> Result<()> {
        self.attachment_mut(child)?.outlives_parent = outlives;
        Ok(())
    }

    fn attachment_mut(&mut self, child: InstanceId) -> Result<&mut Attachment> {
        self.instances.get(child)?;
        let node = self.attachments.nodes.get_mut(child.index as usize);
        node.and_then(|node| node.attachment.as_mut())
            .ok_or(Error::invalid("instance", "is not attached"))
    }

    /// Detaches an instance from its parent. Returns whether it was attached.
    ///
    /// It stays where the last prepared frame had it.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn detach(&mut self, child: InstanceId) -> Result<bool> {
        self.instances.get(child)?;
        let attached = self.attachments.of(child.index).is_some();
        self.release_child(child.index);
        Ok(attached)
    }

    /// The attachment of an instance, or `None` if it is not attached.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn attachment(&self, id: InstanceId) -> Result<Option<Attachment>> {
        self.instances.get(id)?;
        Ok(self.attachments.of(id.index).copied())
    }

    /// The instances that are attached to an instance.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn attached_to(&self, id: InstanceId) -> Result<impl Iterator<Item = InstanceId> + '_> {
        self.instances.get(id)?;
        let children = self.attachments.children(id.index);
        Ok(children.filter_map(|index| self.instances.id(index)))
    }

    /// Rejects attached instances.
    ///
    /// # Errors
    /// [`Error::Argument`] if the instance is attached.
    pub(super) fn check_free(&self, id: InstanceId) -> Result<()> {
        if self.attachments.of(id.index).is_none() {
            return Ok(());
        }
        Err(Error::invalid(
            "world_from_model",
            "of an attached instance follows from its parent: see set_attach_offset and detach",
        ))
    }

    fn release_child(&mut self, child: u32) {
        if self.attachments.of(child).is_some() {
            // If root motion moves the child, it continues from here.
            let rooted =
                |id: &InstanceId| self.instances.get(*id).is_ok_and(|s| s.rooted.is_some());
            if let Some(id) = self.instances.id(child).filter(rooted) {
                let moved = self.root_at(id);
                debug_assert!(moved.is_ok(), "the child is alive");
            }
        }
        self.attachments.unlink(child);
        if let Some(marks) = self.visibility.marks.get_mut(child as usize) {
            marks.parent_hidden = false;
        }
    }

    /// Marks everything attached to a teleported instance as teleported, too.
    pub(super) fn teleport_attached(&mut self, index: u32) {
        if self.attachments.children(index).next().is_none() {
            return;
        }
        for child in self.attachments.family(index).into_iter().skip(1) {
            if let Some(node) = self.attachments.nodes.get_mut(child as usize) {
                node.jumps = true;
            }
        }
    }

    /// Detaches an instance that is about to be despawned. Returns the instances that are despawned
    /// with it, parents first.
    pub(super) fn release_family(&mut self, id: InstanceId) -> Vec<InstanceId> {
        let mut despawned = Vec::new();
        self.release_child(id.index);
        if self.attachments.children(id.index).next().is_none() {
            return despawned;
        }
        let mut open = vec![id.index];
        while let Some(parent) = open.pop() {
            let children: Vec<u32> = self.attachments.children(parent).collect();
            for child in children {
                let attachment = self.attachments.of(child);
                let outlives = attachment.is_some_and(|attachment| attachment.outlives_parent);
                self.release_child(child);
                if !outlives {
                    despawned.extend(self.instances.id(child));
                    open.push(child);
                }
            }
        }
        despawned
    }
}

impl Crowd {
    /// Moves attached instances to their transforms at the time of the frame begun last, and hides
    /// those whose parents are hidden.
    pub(super) fn follow_all(&mut self) -> Result<()> {
        self.attachments.sort();
        for at in 0..self.attachments.order.len() {
            let child = self.attachments.order.get(at).copied();
            if let Some(child) = child.and_then(|(_, index)| self.instances.id(index)) {
                self.follow(child)?;
            }
        }
        Ok(())
    }

    fn follow(&mut self, child: InstanceId) -> Result<()> {
        let Some(attachment) = self.attachments.of(child.index).copied() else {
            return Ok(());
        };
        let Attachment { parent, socket, .. } = attachment;
        if let Some(above) = self.visibility.marks.get(parent.index as usize) {
            let parent_hidden = above.parent_hidden || !above.visible;
            if let Some(marks) = self.visibility.marks.get_mut(child.index as usize) {
                marks.parent_hidden = parent_hidden;
            }
        }
        let above = self.transform(parent)?;
        let model = self.socket_model(parent, &socket, self.time_s)?;
        let world_from_child = above * model * attachment.socket_from_child;
        let node = self.attachments.nodes.get_mut(child.index as usize);
        let jumps = node.is_some_and(|node| core::mem::take(&mut node.jumps));
        let instance = self.instances.get(child)?;
        let same = instance.record.world_from_model == Mat3x4::from_affine(&world_from_child);
        if (same && !jumps) || expect_transform("", &world_from_child).is_err() {
            return Ok(());
        }
        self.put(child, &world_from_child, jumps)
    }
}
