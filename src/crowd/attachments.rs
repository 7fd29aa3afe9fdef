//! Attachments: instances that follow a joint of another instance, and the tree that they form.

use super::InstanceId;
use crate::skeleton::Socket;
use glam::Affine3A;

/// The parent, the socket and the offset of an attached instance.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(alias = "attach")]
pub struct Attachment {
    /// The instance that it follows.
    pub parent: InstanceId,
    /// The joint of the parent, and the offset from that joint.
    pub socket: Socket,
    /// Transform from the child's character space to the socket's space.
    pub socket_from_child: Affine3A,
    /// If true, the child is detached when its parent is despawned. If false, it is despawned, too.
    ///
    /// See [`Crowd::set_outlives_parent`](super::Crowd::set_outlives_parent).
    pub outlives_parent: bool,
}

/// No instance.
const NO_INSTANCE: u32 = u32::MAX;

/// The links of an instance. Others are named by table index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) attachment: Option<Attachment>,
    /// The first instance that is attached to it.
    first_child: u32,
    /// The next instance that is attached to the same parent.
    next: u32,
    /// The number of its ancestors, up to one that is not attached.
    depth: u32,
    /// True if an ancestor was teleported, so that motion vectors leave the change out.
    pub(super) jumps: bool,
    /// True if `order` has it.
    ordered: bool,
}

impl Node {
    const NEW: Self = Self {
        attachment: None,
        first_child: NO_INSTANCE,
        next: NO_INSTANCE,
        depth: 0,
        jumps: false,
        ordered: false,
    };
}

/// All attachments of a crowd.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    pub(super) nodes: Vec<Node>,
    /// Depths and table indices of the attached instances, parents before their children.
    ///
    /// If `stale`, it is not sorted and may have instances that are no longer attached.
    pub(super) order: Vec<(u32, u32)>,
    stale: bool,
}

impl Attachments {
    fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    pub(super) fn of(&self, index: u32) -> Option<&Attachment> {
        self.node(index)?.attachment.as_ref()
    }

    pub(super) fn parent(&self, index: u32) -> Option<u32> {
        self.of(index).map(|attachment| attachment.parent.index)
    }

    /// The instances that are attached to an instance.
    pub(super) fn children(&self, index: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |index: &u32| *index != NO_INSTANCE;
        let first = self.node(index).map(|node| node.first_child).filter(known);
        core::iter::successors(first, move |child| {
            self.node(*child).map(|node| node.next).filter(known)
        })
    }

    /// An instance and everything attached to it, directly or through others, parents before their
    /// children.
    pub(super) fn family(&self, index: u32) -> Vec<u32> {
        let mut family = vec![index];
        let mut done = 0;
        while let Some(parent) = family.get(done).copied() {
            family.extend(self.children(parent));
            done += 1;
        }
        family
    }

    /// Attaches an instance that is not attached.
    pub(super) fn link(&mut self, child: u32, attachment: Attachment) {
        let parent = attachment.parent.index;
        let last = child.max(parent) as usize;
        if self.nodes.len() <= last {
            self.nodes.resize(last + 1, Node::NEW);
        }
        let next = self
            .node(parent)
            .map_or(NO_INSTANCE, |node| node.first_child);
        if let Some(node) = self.nodes.get_mut(parent as usize) {
            node.first_child = child;
        }
        if let Some(node) = self.nodes.get_mut(child as usize) {
            (node.attachment, node.next) = (Some(attachment), next);
            if !core::mem::replace(&mut node.ordered, true) {
                self.order.push((0, child));
            }
        }
        self.stale = true;
    }

    /// Detaches an instance.
    pub(super) fn unlink(&mut self, child: u32) {
        let Some(parent) = self.parent(child) else {
            return;
        };
        let next = self.node(child).map_or(NO_INSTANCE, |node| node.next);
        let before = self.children(parent).take_while(|other| *other != child);
        let place = match before.last() {
            Some(before) => self.nodes.get_mut(before as usize).map(|n| &mut n.next),
            None => self
                .nodes
                .get_mut(parent as usize)
                .map(|node| &mut node.first_child),
        };
        if let Some(place) = place {
            *place = next;
        }
        if let Some(node) = self.nodes.get_mut(child as usize) {
            (node.attachment, node.next, node.jumps) = (None, NO_INSTANCE, false);
        }
        self.stale = true;
    }

    /// Sorts the attached instances again if they have changed.
    pub(super) fn sort(&mut self) {
        if !core::mem::take(&mut self.stale) {
            return;
        }
        let Self { nodes, order, .. } = self;
        let parent = |nodes: &[Node], index: u32| {
            let node = nodes.get(index as usize)?;
            node.attachment.map(|attachment| attachment.parent.index)
        };
        order.retain(|(_, child)| {
            let node = nodes.get_mut(*child as usize);
            node.is_some_and(|node| {
                node.ordered = node.attachment.is_some();
                node.ordered
            })
        });
        for node in nodes.iter_mut() {
            node.depth = 0;
        }
        for (depth, child) in order.iter_mut() {
            // Walk up to an ancestor that has a known depth or is not attached.
            let (mut steps, mut above) = (0, *child);
            let known = loop {
                match nodes.get(above as usize).map_or(0, |node| node.depth) {
                    0 => match parent(nodes, above) {
                        Some(next) => (steps, above) = (steps + 1, next),
                        None => break 0,
                    },
                    known => break known,
                }
            };
            *depth = known + steps;
            // Walk the same way again and set depths, so that no part of it is walked twice later.
            let mut at = *child;
            for step in 0..steps {
                let next = parent(nodes, at);
                if let Some(node) = nodes.get_mut(at as usize) {
                    node.depth = known + steps - step;
                }
                at = next.unwrap_or(NO_INSTANCE);
            }
        }
        order.sort_unstable();
    }
}
