//! Attachments: instances that follow a joint of another instance, and the tree that they form.

use crate::animator::JointRef;
use crate::crowd::InstanceId;
use crate::crowd::instances::gpu_attachments::GpuAttachments;
use crate::crowd::pending::Marked;
use crate::crowd::table::Table;
use crate::error::{Error, Result};
use crate::gpu::layout::GpuAttachment;
use crate::skeleton::Socket;
use core::cmp::Reverse;
use glam::Affine3A;
use std::collections::BinaryHeap;

/// The parent, the socket and the offset of an attached instance.
///
/// ```
/// use throng::glam::{Affine3A, Vec3};
/// use throng::{Attachment, Crowd, InstanceId, Result};
///
/// fn arm(crowd: &mut Crowd, knight: InstanceId, sword: InstanceId) -> Result<()> {
///     let hand_from_sword = Affine3A::from_translation(Vec3::Y * 0.1);
///     let hand = Attachment::new(knight, "RightHand").at(hand_from_sword);
///     crowd.instance_mut(sword)?.attach_to(hand)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(alias = "attach")]
pub struct Attachment<'a> {
    /// The instance that it follows.
    pub parent: InstanceId,
    /// The joint or socket of the parent.
    pub socket: JointRef<'a>,
    /// Transform from the child's character space to the socket's space.
    pub socket_from_child: Affine3A,
    /// If true, the child is detached when its parent is despawned, and stays where it is. If
    /// false, it is despawned, too.
    pub outlives_parent: bool,
}

impl<'a> Attachment<'a> {
    /// An attachment without an offset, which ends with the parent.
    #[must_use]
    pub fn new(parent: InstanceId, socket: impl Into<JointRef<'a>>) -> Self {
        Self {
            parent,
            socket: socket.into(),
            socket_from_child: Affine3A::IDENTITY,
            outlives_parent: false,
        }
    }

    /// With an offset: the transform from the child's character space to the socket's space.
    #[must_use]
    pub fn at(self, socket_from_child: Affine3A) -> Self {
        Self {
            socket_from_child,
            ..self
        }
    }
}

/// An attachment with the socket found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Link {
    pub(crate) parent: InstanceId,
    pub(crate) socket: Socket,
    pub(crate) socket_from_child: Affine3A,
    pub(crate) outlives_parent: bool,
}

impl Link {
    /// As the interface has it.
    pub(crate) fn attachment(&self) -> Attachment<'static> {
        Attachment {
            parent: self.parent,
            socket: self.socket.into(),
            socket_from_child: self.socket_from_child,
            outlives_parent: self.outlives_parent,
        }
    }
}

/// No instance, and no slot of [`GpuAttachments`].
const NONE: u32 = u32::MAX;

/// The links of an instance. Others are named by table index.
#[derive(Debug, Clone, Copy)]
struct Node {
    link: Option<Link>,
    /// The first instance that is attached to it.
    first_child: u32,
    /// The next instance that is attached to the same parent.
    next: u32,
    /// The number of its ancestors, up to one that is not attached.
    depth: u32,
    /// Its slot in [`GpuAttachments`], if the GPU places it.
    slot: u32,
    /// True if an ancestor was teleported, so that motion vectors leave the change out.
    jumps: bool,
    /// True if an ancestor was teleported since the last update.
    game_jumps: bool,
    /// True if `order` has it.
    ordered: bool,
    /// True if `queue` has it.
    is_queued: bool,
    /// True if something other than its transform changed, which children that the GPU places have
    /// to know.
    notes_all: bool,
    /// True if the GPU placed it, so that the CPU's record is not what the GPU has.
    left_gpu: bool,
}

impl Node {
    const NEW: Self = Self {
        link: None,
        first_child: NONE,
        next: NONE,
        depth: 0,
        slot: NONE,
        jumps: false,
        game_jumps: false,
        ordered: false,
        is_queued: false,
        notes_all: false,
        left_gpu: false,
    };

    fn parent(&self) -> Option<u32> {
        Some(self.link?.parent.index)
    }
}

/// All attachments of a crowd.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    /// By table index, up to the last instance that has been attached or has had children.
    nodes: Table<Node>,
    /// Depths and table indices of the attached instances, parents before their children.
    ///
    /// If `stale`, it is not sorted and may have instances that are no longer attached.
    order: Vec<(u32, u32)>,
    stale: bool,
    /// Depths and table indices of the attached instances that have to be moved, the least depth
    /// first.
    queue: BinaryHeap<Reverse<(u32, u32)>>,
    /// Instances whose children have to be moved.
    noted: Marked,
    /// Instances that the CPU places in each frame, because the GPU poses what they are attached
    /// to, and some that it no longer does.
    moving: Marked,
    /// The attached instances that the GPU places.
    pub(crate) gpu: GpuAttachments,
    /// Kept, so that restores allocate nothing.
    saved: Vec<SavedAttachment>,
}

impl Attachments {
    fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    fn node_mut(&mut self, index: u32) -> Option<&mut Node> {
        self.nodes.get_mut(index as usize)
    }

    #[inline]
    pub(crate) fn of(&self, index: u32) -> Option<&Link> {
        self.node(index)?.link.as_ref()
    }

    pub(crate) fn of_mut(&mut self, index: u32) -> Option<&mut Link> {
        self.node_mut(index)?.link.as_mut()
    }

    fn parent(&self, index: u32) -> Option<u32> {
        self.node(index)?.parent()
    }

    /// The instances that are attached to an instance.
    pub(crate) fn children(&self, index: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |index: &u32| *index != NONE;
        let first = self.node(index).map(|node| node.first_child).filter(known);
        core::iter::successors(first, move |child| {
            Some(self.nodes[*child].next).filter(known)
        })
    }

    /// Marks everything attached to a teleported instance as teleported, too.
    pub(crate) fn teleport(&mut self, index: u32) {
        if self.children(index).next().is_none() {
            return;
        }
        for child in self.family(index).into_iter().skip(1) {
            let node = &mut self.nodes[child];
            (node.jumps, node.game_jumps) = (true, true);
        }
        self.note(index);
    }

    /// An instance and everything attached to it, directly or through others, parents before their
    /// children.
    fn family(&self, index: u32) -> Vec<u32> {
        let mut family = vec![index];
        let mut done = 0;
        while let Some(parent) = family.get(done).copied() {
            family.extend(self.children(parent));
            done += 1;
        }
        family
    }

    /// Attaches an instance, in place of an earlier attachment.
    ///
    /// # Errors
    /// [`Error::Argument`] if the parent is the instance itself or attached to it.
    pub(crate) fn attach(&mut self, child: u32, link: Link) -> Result<()> {
        let mut above = Some(link.parent.index);
        while let Some(index) = above {
            if index == child {
                return Err(Error::invalid(
                    "parent",
                    "must not be the child itself or attached to it",
                ));
            }
            above = self.parent(index);
        }
        let was = self.of_mut(child);
        match was.filter(|was| (was.parent, was.socket) == (link.parent, link.socket)) {
            Some(was) => {
                *was = link;
                self.note(link.parent.index);
            }
            None => {
                self.unlink(child);
                self.link(child, link);
            }
        }
        Ok(())
    }

    /// Attaches an instance that is not attached.
    fn link(&mut self, child: u32, link: Link) {
        let parent = link.parent.index;
        let all = child.max(parent) as usize + 1;
        if self.nodes.len() < all {
            self.nodes.resize(all, Node::NEW);
            // Frames allocate nothing.
            self.queue.reserve(all.saturating_sub(self.queue.len()));
            self.noted.grow(all);
            self.moving.grow(all);
        }
        let next = core::mem::replace(&mut self.nodes[parent].first_child, child);
        let node = &mut self.nodes[child];
        (node.link, node.next) = (Some(link), next);
        if !core::mem::replace(&mut node.ordered, true) {
            self.order.push((0, child));
        }
        self.stale = true;
        self.note(parent);
    }

    /// Detaches an instance.
    pub(crate) fn unlink(&mut self, child: u32) {
        let Some(parent) = self.parent(child) else {
            return;
        };
        let next = self.nodes[child].next;
        let before = self.children(parent).take_while(|other| *other != child);
        match before.last() {
            Some(before) => self.nodes[before].next = next,
            None => self.nodes[parent].first_child = next,
        }
        let node = &mut self.nodes[child];
        (node.link, node.next) = (None, NONE);
        (node.jumps, node.game_jumps) = (false, false);
        self.leave_gpu(child);
        self.stale = true;
    }

    /// The slot of an instance that the GPU places.
    fn slot(&self, index: u32) -> Option<u32> {
        let slot = self.node(index)?.slot;
        (slot != NONE).then_some(slot)
    }

    /// True if the GPU places an instance.
    pub(crate) fn on_gpu(&self, index: u32) -> bool {
        self.slot(index).is_some()
    }

    /// The level of an instance that the GPU places, or 0.
    pub(crate) fn level(&self, index: u32) -> u32 {
        self.slot(index).map_or(0, |slot| self.gpu.level(slot))
    }

    /// Lets the GPU place an attached instance from now on. Returns false if there is no space for
    /// more.
    pub(crate) fn place_on_gpu(&mut self, index: u32, record: &GpuAttachment) -> bool {
        let Some(slot) = self.slot(index).or_else(|| self.gpu.take()) else {
            return false;
        };
        // It is 0 in a slot that was free.
        if self.gpu.level(slot) != record.level {
            self.note(index);
        }
        self.nodes[index].slot = slot;
        self.gpu.put(slot, record);
        true
    }

    /// Lets the CPU place an instance from now on.
    pub(crate) fn leave_gpu(&mut self, index: u32) {
        if let Some(slot) = self.slot(index) {
            (self.nodes[index].slot, self.nodes[index].left_gpu) = (NONE, true);
            self.gpu.free(slot);
            self.note(index);
        }
    }

    /// Returns true if the GPU placed an instance since the last call.
    pub(crate) fn take_left_gpu(&mut self, index: u32) -> bool {
        let node = self.node_mut(index);
        node.is_some_and(|node| core::mem::take(&mut node.left_gpu))
    }

    /// Notes that the CPU has to place an attached instance in each frame, as long as it calls
    /// this.
    pub(crate) fn keep_moving(&mut self, index: u32) {
        self.moving.add(index);
    }

    /// Queues the instances that the CPU places in each frame.
    pub(crate) fn queue_moving(&mut self) {
        while let Some(index) = self.moving.pop() {
            self.queue_update(index);
        }
    }

    /// Queues an instance to be moved, if it is attached.
    pub(crate) fn queue_update(&mut self, index: u32) {
        if let Some(node) = self.nodes.get_mut(index as usize)
            && node.link.is_some()
            && !core::mem::replace(&mut node.is_queued, true)
        {
            self.queue.push(Reverse((node.depth, index)));
        }
    }

    /// Notes that an instance was shown or hidden, that it is posed or placed on another side, or
    /// that its children were attached in another way.
    pub(crate) fn note(&mut self, index: u32) {
        self.note_moved(index, || true);
    }

    /// Notes that an instance was moved. Unless it `may_flip`, the GPU finds that out for the
    /// children that it places.
    #[inline]
    pub(crate) fn note_moved(&mut self, index: u32, may_flip: impl FnOnce() -> bool) {
        if let Some(node) = self.nodes.get_mut(index as usize)
            && node.first_child != NONE
        {
            node.notes_all |= may_flip();
            self.noted.add(index);
        }
    }

    /// Queues the children of every instance that was noted.
    pub(crate) fn queue_noted(&mut self) {
        while let Some(parent) = self.noted.pop() {
            let all = core::mem::take(&mut self.nodes[parent].notes_all);
            self.queue_children(parent, all);
        }
    }

    /// Queues the children of an instance: all of them, or those that the CPU places.
    pub(crate) fn queue_children(&mut self, parent: u32, all: bool) {
        let mut next = self.node(parent).map_or(NONE, |node| node.first_child);
        while next != NONE {
            let node = &mut self.nodes[next];
            let queues = all || node.slot == NONE;
            if queues && !core::mem::replace(&mut node.is_queued, true) {
                self.queue.push(Reverse((node.depth, next)));
            }
            next = node.next;
        }
    }

    /// Takes the next attached instance that has to be moved: parents before their children.
    pub(crate) fn take_queued(&mut self) -> Option<u32> {
        let Reverse((_, index)) = self.queue.pop()?;
        self.nodes[index].is_queued = false;
        Some(index)
    }

    /// True if nothing is attached.
    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns true if an ancestor was teleported since the last update that called this.
    pub(crate) fn take_game_jump(&mut self, index: u32) -> bool {
        let node = self.node_mut(index);
        node.is_some_and(|node| core::mem::take(&mut node.game_jumps))
    }

    /// Returns true if an ancestor was teleported since the last call.
    pub(crate) fn take_jump(&mut self, index: u32) -> bool {
        let node = self.node_mut(index);
        node.is_some_and(|node| core::mem::take(&mut node.jumps))
    }

    /// Sorts the attached instances again if they have changed: parents before their children.
    pub(crate) fn sort(&mut self) {
        if !core::mem::take(&mut self.stale) {
            return;
        }
        let Self { nodes, order, .. } = self;
        order.retain(|(_, child)| {
            let node = &mut nodes[*child];
            node.ordered = node.link.is_some();
            node.ordered
        });
        for node in nodes.iter_mut() {
            node.depth = 0;
        }
        for (depth, child) in order.iter_mut() {
            // Walk up to an ancestor that has a known depth or is not attached.
            let (mut steps, mut above) = (0, *child);
            while let (0, Some(next)) = (nodes[above].depth, nodes[above].parent()) {
                (steps, above) = (steps + 1, next);
            }
            *depth = nodes[above].depth + steps;
            // Walk the same way again and set depths, so that no part of it is walked twice later.
            let mut at = *child;
            for step in 0..steps {
                nodes[at].depth = *depth - step;
                at = nodes[at].parent().unwrap_or(NONE);
            }
        }
        order.sort_unstable();
    }
}

/// An attachment in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SavedAttachment {
    /// Table index of the attached instance.
    pub(crate) child: u32,
    pub(crate) link: Link,
    /// True if an ancestor was teleported since the last update.
    jumps: bool,
}

impl Attachments {
    /// Copies all attachments. Those of a parent come before those of its children, and the order
    /// is such that [`Self::restore`] lists children as they are listed now.
    pub(crate) fn save(&self, to: &mut Vec<SavedAttachment>) {
        to.clear();
        let mut done = 0;
        for root in 0..self.nodes.len() as u32 {
            if self.of(root).is_some() {
                continue;
            }
            let mut parent = Some(root);
            while let Some(index) = parent {
                let first = to.len();
                to.extend(self.children(index).filter_map(|child| {
                    let node = &self.nodes[child];
                    Some(SavedAttachment {
                        child,
                        link: node.link?,
                        jumps: node.game_jumps,
                    })
                }));
                to.get_mut(first..).unwrap_or_default().reverse();
                parent = to.get(done).map(|saved| saved.child);
                done += usize::from(parent.is_some());
            }
        }
    }

    /// Returns true if these are all attachments, in the order of [`Self::save`].
    pub(crate) fn are(&mut self, saved: &[SavedAttachment]) -> bool {
        let mut now = core::mem::take(&mut self.saved);
        self.save(&mut now);
        let same = now == saved;
        self.saved = now;
        same
    }

    /// Replaces all attachments. The caller has checked that they form trees.
    pub(crate) fn restore(&mut self, saved: &[SavedAttachment]) {
        self.nodes.clear();
        self.order.clear();
        self.queue.clear();
        self.noted.clear();
        self.moving.clear();
        self.gpu.clear();
        for saved in saved {
            self.link(saved.child, saved.link);
            self.nodes[saved.child].game_jumps = saved.jumps;
        }
    }
}
