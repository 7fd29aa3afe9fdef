//! Sockets: where single joints are, of their ancestors alone.

use super::animate::animate_tracks;
use super::blend::{JointPart, blend_joint, check_threshold, check_weight};
use super::palette::expect_len;
use super::{BLEND_THRESHOLD, Clip, ClipSample, Mask, PlayList};
use crate::character::{Affine, NO_PARENT, RawClip, Skeleton, Track, Transform};
use crate::error::{ArgumentFault, Error, Result};

/// What an instance plays, as [`joint_model`] and [`Sockets`] read it.
#[derive(Debug, Clone, Copy)]
pub enum Playing<'a> {
    /// Nothing: the rest pose.
    Rest,
    /// A file's own curves at a time in seconds, as [`animate`](super::animate()) evaluates them.
    Raw(&'a RawClip, f64),
    /// A list of samples, blended as [`ClipSample`] says.
    Samples(Samples<'a>),
    /// A local pose: one transform a joint.
    Local(&'a [Transform]),
}

/// A list of samples, and what its indices are of.
#[derive(Debug, Clone, Copy)]
pub struct Samples<'a> {
    /// What [`ClipSample::clip`] is an index of.
    pub clips: &'a [Clip],
    /// What [`ClipSample::mask`] is an index of.
    pub masks: &'a [Mask],
    /// What is played, ascending in level.
    pub samples: &'a [ClipSample],
    /// The first level's threshold, positive; [`BLEND_THRESHOLD`] is usual.
    pub threshold: f32,
}

impl<'a> Samples<'a> {
    /// These samples, without masks, with the usual threshold.
    #[must_use]
    pub const fn new(clips: &'a [Clip], samples: &'a [ClipSample]) -> Self {
        Self {
            clips,
            masks: &[],
            samples,
            threshold: BLEND_THRESHOLD,
        }
    }

    fn check(&self, joints: usize) -> Result<()> {
        check_threshold(self.threshold)?;
        let mut level = 0;
        for (index, sample) in self.samples.iter().enumerate() {
            self.check_sample(sample, joints, &mut level)
                .map_err(|why| Error::Each {
                    what: "sample",
                    index: index as u64,
                    why: Box::new(why),
                })?;
        }
        Ok(())
    }

    fn check_sample(&self, sample: &ClipSample, joints: usize, level: &mut u8) -> Result<()> {
        check_weight(sample.weight)?;
        if sample.weight == 0.0 {
            return Ok(());
        }
        if sample.level < *level {
            return Err(Error::Argument {
                what: "level",
                why: ArgumentFault::Invalid("is below that of the sample before"),
            });
        }
        *level = sample.level;
        let missing = |what, index, count: usize| Error::NotFound {
            what,
            index,
            count: count as u64,
        };
        let clips = self.clips;
        let clip = clips.get(sample.clip);
        let clip = clip.ok_or_else(|| missing("clip", sample.clip as u64, clips.len()))?;
        expect_len("joints of the clip", clip.joints(), joints)?;
        let Some(index) = sample.mask else {
            return Ok(());
        };
        let mask = self.masks.get(usize::from(index));
        let mask = mask.ok_or_else(|| missing("mask", index.into(), self.masks.len()))?;
        expect_len("mask", mask.weights().len(), joints)
    }

    /// The joint's local transform. Everything was checked.
    fn local(&self, joint: u16, rest: &Transform) -> Transform {
        let parts = self.samples.iter().filter(|sample| sample.weight > 0.0);
        let parts = parts.filter_map(|sample| {
            let clip = self.clips.get(sample.clip)?;
            let mask = sample
                .mask
                .and_then(|mask| self.masks.get(usize::from(mask)));
            let mask = mask.and_then(|mask| mask.weights().get(usize::from(joint)));
            Some(JointPart {
                value: clip.sample_joint(joint, sample.time_s),
                weight: sample.weight * mask.copied().unwrap_or(1.0),
                additive: clip.is_additive(),
                level: sample.level,
            })
        });
        blend_joint(rest, self.threshold, parts)
    }
}

impl Playing<'_> {
    /// Whether it is for a skeleton of so many joints.
    fn check(&self, joints: usize) -> Result<()> {
        match self {
            Self::Rest | Self::Raw(..) => Ok(()),
            Self::Samples(samples) => samples.check(joints),
            Self::Local(local) => expect_len("local pose", local.len(), joints),
        }
    }

    /// A joint's local transform. Everything was checked.
    fn local(&self, joint: u16, rest: &Transform) -> Transform {
        match self {
            Self::Rest => *rest,
            Self::Raw(clip, time_s) => raw_local(clip, *time_s, joint, rest),
            Self::Samples(samples) => samples.local(joint, rest),
            Self::Local(local) => local.get(usize::from(joint)).copied().unwrap_or(*rest),
        }
    }
}

fn raw_local(clip: &RawClip, time_s: f64, joint: u16, rest: &Transform) -> Transform {
    let time_s = if time_s.is_nan() { 0.0 } else { time_s };
    let tracks = clip.tracks();
    let first = tracks.partition_point(|track: &Track| track.joint < joint);
    let own = &tracks[first..];
    let own = &own[..own.partition_point(|track| track.joint == joint)];
    let mut one = [*rest];
    animate_tracks(own, time_s, joint.into(), &mut one);
    one[0]
}

/// The model matrix of one joint: the product of its ancestors' local transforms and its own, which are evaluated, and no others. The
/// same bits as the whole skeleton's by [`Clip::sample`] (or [`animate`](super::animate())), [`blend`](super::blend()) and
/// [`model_pose`](super::model_pose()).
///
/// Allocates nothing, for joints less than 64 deep. For several joints of an instance see [`Sockets`].
///
/// ```
/// use throng::glam::Affine3A;
/// use throng::pose::{Clip, ClipOptions, ClipSample, Playing, Samples, joint_model};
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let clips = [0, 1].map(|index| {
///     Clip::new(&character, &character.clips()[index], &ClipOptions::default())
/// });
/// let clips: Vec<Clip> = clips.into_iter().collect::<throng::Result<_>>()?;
/// let hand = skeleton.find("RightHand").unwrap_or(0);
///
/// let samples = [ClipSample::new(0, 0.4).weighted(0.7), ClipSample::new(1, 0.2).weighted(0.3)];
/// let playing = Playing::Samples(Samples::new(&clips, &samples));
/// let world_from_model = Affine3A::from_translation([10.0, 0.0, 5.0].into());
/// let world_from_hand = world_from_model * joint_model(skeleton, &playing, hand)?;
/// assert!(world_from_hand.translation.x > 9.0);
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotFound`] for a joint that there is not; [`Error::Each`] with the first sample whose clip or mask there is not ([`Error::NotFound`])
/// or is for another number of joints, whose weight is negative or not finite, or whose level is below that of one before; [`Error::Argument`]
/// for a local pose of another number of joints.
pub fn joint_model(skeleton: &Skeleton, playing: &Playing<'_>, joint: u16) -> Result<Affine> {
    /// Deeper joints take memory.
    const DEPTH: usize = 64;
    expect_joint(skeleton, joint)?;
    playing.check(skeleton.len())?;
    let joints = skeleton.joints();
    let mut shallow = [0; DEPTH];
    let mut deep = Vec::new();
    let (mut depth, mut above) = (0, joint);
    while above != NO_PARENT {
        match shallow.get_mut(depth) {
            Some(place) => *place = above,
            None => deep.push(above),
        }
        depth += 1;
        above = joints[usize::from(above)].parent;
    }
    let path = shallow.iter().take(depth).chain(&deep).rev();
    let model = path.fold(None, |parent: Option<Affine>, joint| {
        let local = playing.local(*joint, &joints[usize::from(*joint)].rest);
        Some(under(parent, &local))
    });
    Ok(model.unwrap_or(Affine::IDENTITY))
}

/// As [`model_pose`](super::model_pose()) has it.
fn under(parent: Option<Affine>, local: &Transform) -> Affine {
    let local = local.to_affine();
    parent.map_or(local, |parent| parent * local)
}

fn expect_joint(skeleton: &Skeleton, joint: u16) -> Result<()> {
    if usize::from(joint) < skeleton.len() {
        return Ok(());
    }
    Err(Error::NotFound {
        what: "joint",
        index: joint.into(),
        count: skeleton.len() as u64,
    })
}

/// A place on a joint where something is attached: a sword, a muzzle flash, a camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Socket {
    /// Index into the skeleton's joints.
    pub joint: u16,
    /// The joint's space from the socket's.
    pub offset: Affine,
}

impl Socket {
    /// The joint itself.
    #[must_use]
    pub const fn at(joint: u16) -> Self {
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
/// let at = |name| Socket::at(skeleton.find(name).unwrap_or(0));
/// let mut sockets = Sockets::new(skeleton, &[at("LeftHand"), at("RightHand")])?;
/// assert!(sockets.joints() < 20); // of 57
///
/// let mut hands = [Affine3A::IDENTITY; 2];
/// sockets.models(&Playing::Raw(&character.clips()[0], 0.5), &mut hands)?;
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
            let fault = expect_joint(skeleton, socket.joint).and(finite);
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
            let node = find(&nodes, socket.joint).unwrap_or(0);
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
    /// As [`joint_model`]; [`Error::Argument`] if `out` is not as long as there are sockets. Nothing is written then.
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
    /// [`Error::Each`] with the first instance that [`joint_model`] would refuse; [`Error::Argument`] if there are not as many
    /// transforms as instances, or `out` is not as long as all sockets of all. Nothing is written then.
    pub fn worlds_of(
        &mut self,
        shared: &Samples<'_>,
        list: &PlayList,
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
