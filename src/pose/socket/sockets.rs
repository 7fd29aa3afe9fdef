//! Several sockets of a character, and the ancestors that they share.

use super::{Playing, Samples, expect_joint, under};
use crate::character::{Affine, JointId, Skeleton, Transform};
use crate::error::{ArgumentFault, Error, Result};
use crate::pose::SampleList;
use crate::pose::palette::expect_len;

/// A place on a joint where something is attached: a sword, a muzzle flash, a camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Socket {
    /// The joint.
    pub joint: JointId,
    /// The joint's space from the socket's.
    pub offset: Affine,
}

impl Socket {
    /// The joint itself.
    #[must_use]
    pub const fn at(joint: JointId) -> Self {
        Self {
            joint,
            offset: Affine::IDENTITY,
        }
    }

    /// World space from the socket's, of an instance whose joint has the model matrix `model_from_joint`.
    #[must_use]
    pub fn world(&self, world_from_model: &Affine, model_from_joint: &Affine) -> Affine {
        *world_from_model * *model_from_joint * self.offset
    }
}

/// Several sockets of a character, made once: ancestors that they share are evaluated once an instance. Allocates nothing once
/// made. For several threads, a clone for each.
///
/// ```
/// use throng::glam::Affine3A;
/// use throng::pose::{Playing, Socket, Sockets};
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let at = |name| Socket::at(skeleton.joint(name).unwrap_or_default());
/// let mut sockets = Sockets::new(skeleton, &[at("LeftHand"), at("RightHand")])?;
/// assert!(sockets.joints() < 20); // of 57
///
/// let mut hands = [Affine3A::IDENTITY; 2];
/// sockets.models(&Playing::Clip(&character.clips()[0], 0.5), &mut hands)?;
/// assert_ne!(hands[0], hands[1]);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sockets {
    /// The sockets' joints and all above them, ascending, so that parents come first.
    nodes: Vec<Node>,
    /// For each socket its node, and its offset.
    sockets: Vec<(usize, Affine)>,
    /// The model matrix of each node.
    model: Vec<Affine>,
    /// Of the skeleton.
    count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    joint: u16,
    /// Its parent's node.
    parent: Option<usize>,
    rest: Transform,
}

impl Sockets {
    /// These sockets of a skeleton.
    ///
    /// # Errors
    /// [`Error::Each`] with the first socket whose joint there is not ([`Error::NotFound`]) or whose offset is not finite.
    pub fn new(skeleton: &Skeleton, sockets: &[Socket]) -> Result<Self> {
        let joints = skeleton.joints();
        let mut needed = vec![false; joints.len()];
        for (index, socket) in sockets.iter().enumerate() {
            let finite = socket.offset.is_finite().then_some(());
            let finite = finite.ok_or(Error::Argument {
                what: "Socket::offset",
                why: ArgumentFault::Invalid("must be finite"),
            });
            let fault = expect_joint(skeleton, socket.joint.0).and(finite);
            fault.map_err(|why| Error::Each {
                what: "socket",
                index: index as u64,
                why: Box::new(why),
            })?;
            let mut above = usize::from(socket.joint);
            // Above what is known, all is known.
            while above < joints.len() && !needed[above] {
                needed[above] = true;
                above = usize::from(joints[above].parent);
            }
        }
        let mut nodes: Vec<Node> = Vec::new();
        let find = |nodes: &[Node], joint: u16| nodes.binary_search_by_key(&joint, |n| n.joint);
        for (index, joint) in joints
            .iter()
            .enumerate()
            .filter(|(index, _)| needed[*index])
        {
            nodes.push(Node {
                joint: index as u16,
                parent: find(&nodes, joint.parent).ok(),
                rest: joint.rest,
            });
        }
        let placed = sockets.iter().map(|socket| {
            let node = find(&nodes, socket.joint.0).unwrap_or(0);
            (node, socket.offset)
        });
        Ok(Self {
            sockets: placed.collect(),
            model: vec![Affine::IDENTITY; nodes.len()],
            count: joints.len(),
            nodes,
        })
    }

    /// How many sockets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sockets.len()
    }

    /// Whether there is no socket.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    /// How many joints are evaluated an instance.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.nodes.len()
    }

    /// Character space from each socket's, of an instance, in the order of the sockets.
    ///
    /// # Errors
    /// As [`joint_model`](super::joint_model()); [`Error::Argument`] if `out` is not as long as there are sockets. Nothing is written then.
    pub fn models(&mut self, playing: &Playing<'_>, out: &mut [Affine]) -> Result<()> {
        expect_len("sockets", out.len(), self.len())?;
        playing.check(self.count)?;
        self.evaluate(playing, None, out);
        Ok(())
    }

    /// World space from each socket's, of an instance that stands at `world_from_model`.
    ///
    /// # Errors
    /// As [`Self::models`].
    pub fn worlds(
        &mut self,
        playing: &Playing<'_>,
        world_from_model: &Affine,
        out: &mut [Affine],
    ) -> Result<()> {
        expect_len("sockets", out.len(), self.len())?;
        playing.check(self.count)?;
        self.evaluate(playing, Some(world_from_model), out);
        Ok(())
    }

    /// World space from each socket's, of every instance of a list: those of the first instance, then those of the second.
    /// `shared` has the clips, masks and threshold; its samples are not looked at.
    ///
    /// # Errors
    /// [`Error::Each`] with the first instance that [`joint_model`](super::joint_model()) would refuse; [`Error::Argument`] if there are not as many
    /// transforms as instances, or `out` is not as long as all sockets of all. Nothing is written then.
    pub fn worlds_of(
        &mut self,
        shared: &Samples<'_>,
        list: &SampleList,
        world_from_model: &[Affine],
        out: &mut [Affine],
    ) -> Result<()> {
        expect_len("transforms", world_from_model.len(), list.len())?;
        expect_len("sockets", out.len(), self.len().saturating_mul(list.len()))?;
        let of = |instance| Samples {
            samples: list.samples(instance),
            ..*shared
        };
        for instance in 0..list.len() {
            of(instance).check(self.count).map_err(|why| Error::Each {
                what: "instance",
                index: instance as u64,
                why: Box::new(why),
            })?;
        }
        let outs = out.chunks_exact_mut(self.len().max(1));
        for (instance, (world_from_model, out)) in world_from_model.iter().zip(outs).enumerate() {
            let playing = Playing::Samples(of(instance));
            self.evaluate(&playing, Some(world_from_model), out);
        }
        Ok(())
    }

    fn evaluate(&mut self, playing: &Playing<'_>, world: Option<&Affine>, out: &mut [Affine]) {
        for (index, node) in self.nodes.iter().enumerate() {
            let local = playing.local(node.joint, &node.rest);
            let parent = node.parent.map(|parent| self.model[parent]);
            self.model[index] = under(parent, &local);
        }
        for (out, (node, offset)) in out.iter_mut().zip(&self.sockets) {
            let model = self.model[*node];
            *out = match world {
                Some(world) => *world * model * *offset,
                None => model * *offset,
            };
        }
    }
}
