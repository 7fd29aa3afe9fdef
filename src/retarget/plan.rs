//! The data of a retarget that is the same for all poses.

use super::fit::RetargetFit;
use super::frame::{ModelJoint, body, leg_length, model_pose, turn, turn_between};
use super::humanoid::Humanoid;
use super::map::{JointLink, JointMap};
use super::options::{RetargetOptions, is_vrm_pair};
use crate::error::{Error, Result, expect_len};
use crate::id::Id;
use crate::skeleton::role::Role;
use crate::skeleton::{Joint, NO_PARENT, Skeleton, Transform};
use glam::{DMat3, DQuat, DVec3};

/// The least height of hips that counts, in metres.
const LEAST_HEIGHT_M: f64 = 1e-3;

#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// The links, in the order of the target's joints.
    pub(super) links: Vec<Link>,
    pub(super) turn: DQuat,
    pub(super) ratio: f64,
    pub(super) fit: RetargetFit,
    pub(super) scales: bool,
    /// True for the rules of VRM Animations.
    pub(super) of_vrm: bool,
    /// The scale of each source joint at rest.
    pub(super) source_scales: Vec<DVec3>,
    /// The diagonal of the box around the target's joints at rest.
    pub(super) size_m: f64,
    /// For each target joint at rest, the length of its longest axis in model space.
    pub(super) axis_lengths: Vec<f64>,
    pub(super) max_error: f64,
    pub(super) max_keys: usize,
    pub(super) max_times: usize,
}

/// The way a target joint follows a source joint.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) target: Id<Joint>,
    pub(super) source: usize,
    /// S₀⁻¹ · F⁻¹ · A · T₀.
    pub(super) behind: DQuat,
    /// The squared components of the source's axes along each of the target's axes.
    pub(super) axes: [DVec3; 3],
    pub(super) toward: Option<Toward>,
    pub(super) rest: Transform,
    /// The rotation that the rest scale contains.
    pub(super) mirror: DQuat,
    /// True if its position in model space follows.
    pub(super) moves: bool,
    /// The source of the nearest joint above that follows one, if the position is relative to it.
    pub(super) above: Option<usize>,
    pub(super) source_at: DVec3,
    pub(super) target_at: DVec3,
    /// The position of the source in the space of `above`.
    pub(super) source_offset: DVec3,
}

#[derive(Debug, Clone)]
pub(super) struct Toward {
    pub(super) source: usize,
    pub(super) part: f64,
    pub(super) behind: DQuat,
    pub(super) axes: [DVec3; 3],
}

/// The two rest poses and data derived from them.
struct Rests<'a> {
    map: &'a JointMap,
    source: Vec<ModelJoint>,
    target: Vec<ModelJoint>,
    turn: DQuat,
    /// For each link, the link of the nearest joint above that follows one.
    above: Vec<Option<usize>>,
    /// For each link, true if its position in model space follows.
    moves: Vec<bool>,
    /// True for the rules of VRM Animations.
    of_vrm: bool,
}

impl Plan {
    pub(super) fn new(
        source: &Skeleton,
        target: &Skeleton,
        map: &JointMap,
        options: &RetargetOptions,
    ) -> Result<Self> {
        expect_len("joints of the map's source", source.len(), map.joints[0])?;
        expect_len("joints of the map's target", target.len(), map.joints[1])?;
        check(options)?;
        let source_rest = rest("source_rest", source, &options.source_rest)?;
        let target_rest = rest("target_rest", target, &options.target_rest)?;
        let (mut from, mut to) = (Vec::new(), Vec::new());
        model_pose(source, &source_rest, &mut from);
        model_pose(target, &target_rest, &mut to);
        let bodies = [Humanoid::find(source), Humanoid::find(target)];
        let of_vrm = is_vrm_pair(source, target);
        let found = || match of_vrm {
            // Both face +Z.
            true => DQuat::IDENTITY,
            false => turn_between(body(&bodies[0], &from), body(&bodies[1], &to)),
        };
        let turn = options
            .turn
            .map_or_else(found, |turn| turn.as_dquat().normalize());
        let fit = RetargetFit::new(map, &bodies, [&from, &to]);
        let above = above(target, map);
        let rests = Rests {
            moves: match of_vrm {
                true => map.links().iter().map(JointLink::is_hips).collect(),
                false => moves(map, &above),
            },
            above,
            of_vrm,
            map,
            source: from,
            target: to,
            turn,
        };
        let ratio = options
            .ratio
            .map_or_else(|| rests.ratio(&bodies), f64::from);
        let aligned = rests.aligned(options.align && !of_vrm);
        let links = map.links().iter().enumerate();
        let links = links.map(|(at, link)| {
            rests.link(
                at,
                link,
                aligned[at],
                &target.joints()[usize::from(link.target)].rest,
                (options, ratio),
            )
        });
        Ok(Self {
            links: links.collect(),
            turn,
            ratio,
            fit: RetargetFit {
                ratio,
                turn: turn.as_quat(),
                ..fit
            },
            scales: options.scales && !of_vrm,
            of_vrm,
            source_scales: source_rest
                .iter()
                .map(|local| local.scale.as_dvec3())
                .collect(),
            size_m: size(&rests.target),
            axis_lengths: rests.target.iter().map(axis_length).collect(),
            max_error: options.max_error.into(),
            max_keys: options.max_keys,
            max_times: usize::MAX,
        })
    }
}

fn check(options: &RetargetOptions) -> Result<()> {
    let turn = options.turn.map_or(1.0, |turn| turn.length());
    for (what, value, min, max) in [
        ("ratio", options.ratio.unwrap_or(1.0), 0.0, f32::MAX),
        ("turn's length", turn, 0.5, 2.0),
        ("max_error", options.max_error, 0.0, f32::MAX),
    ] {
        if !(min..=max).contains(&value) {
            return Err(Error::out_of_range(what, value, min, max));
        }
    }
    Ok(())
}

/// The given rest pose, or the skeleton's own.
fn rest(what: &'static str, skeleton: &Skeleton, given: &[Transform]) -> Result<Vec<Transform>> {
    if given.is_empty() {
        return Ok(skeleton.rest_pose());
    }
    expect_len(what, given.len(), skeleton.len())?;
    if given.iter().all(Transform::is_finite) {
        return Ok(given.to_vec());
    }
    Err(Error::invalid(what, "has a transform that is not finite"))
}

/// For each link, the nearest link above it in the target's hierarchy.
fn above(target: &Skeleton, map: &JointMap) -> Vec<Option<usize>> {
    let mut nearest: Vec<Option<usize>> = Vec::with_capacity(target.len());
    let mut above = vec![None; map.links().len()];
    let mut links = map.links().iter().enumerate().peekable();
    for (index, joint) in target.joints().iter().enumerate() {
        let over = match joint.parent_index() {
            NO_PARENT => None,
            parent => nearest[usize::from(parent)],
        };
        let own = links.next_if(|(_, link)| usize::from(link.target) == index);
        nearest.push(match own {
            Some((at, _)) => {
                above[at] = over;
                Some(at)
            }
            None => over,
        });
    }
    above
}

/// For each link, the number of links directly below it, and the last of them.
fn below(above: &[Option<usize>]) -> Vec<(u32, usize)> {
    let mut below = vec![(0, 0); above.len()];
    for (at, above) in above.iter().enumerate() {
        if let Some(above) = *above {
            below[above] = (below[above].0 + 1, at);
        }
    }
    below
}

/// For each link, true if its position in model space follows.
///
/// That is the case for the hips, for links above all others, and for links between such a link and
/// the first one with several links below.
fn moves(map: &JointMap, above: &[Option<usize>]) -> Vec<bool> {
    let below = below(above);
    let mut moves: Vec<bool> = map.links().iter().map(JointLink::is_hips).collect();
    for root in (0..moves.len()).filter(|at| above[*at].is_none()) {
        moves[root] = true;
        let mut branch = root;
        while below[branch].0 == 1 {
            branch = below[branch].1;
        }
        // A single chain is a limb.
        if below[branch].0 > 1 {
            while branch != root {
                moves[branch] = true;
                branch = above[branch].unwrap_or(root);
            }
        }
    }
    moves
}

fn size(placed: &[ModelJoint]) -> f64 {
    let (mut least, mut greatest) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for joint in placed {
        least = least.min(joint.position());
        greatest = greatest.max(joint.position());
    }
    let size = (greatest - least).length();
    if size.is_finite() { size } else { 0.0 }
}

fn axis_length(placed: &ModelJoint) -> f64 {
    let axes = placed.affine.matrix3;
    let squared = [axes.x_axis, axes.y_axis, axes.z_axis].map(DVec3::length_squared);
    squared.into_iter().fold(0.0, f64::max).sqrt()
}

impl Rests<'_> {
    fn source_at(&self, link: usize) -> DVec3 {
        self.source[usize::from(self.map.links()[link].source)].position()
    }

    fn target_at(&self, link: usize) -> DVec3 {
        self.target[usize::from(self.map.links()[link].target)].position()
    }

    /// The ratio of sizes.
    ///
    /// It uses the heights of the hips for a VRM Animation. Otherwise it uses leg lengths if both
    /// have legs, else the distances between the joints that follow.
    fn ratio(&self, bodies: &[Humanoid; 2]) -> f64 {
        let is_usable = |ratio: &f64| ratio.is_finite() && *ratio > 0.0;
        if let Some(hips) = self.moves.iter().position(|moves| *moves && self.of_vrm) {
            let (from, to) = (self.source_at(hips).y, self.target_at(hips).y);
            // Some files have the hips at the origin, which is no T-pose.
            if from > LEAST_HEIGHT_M && is_usable(&(to / from)) {
                return to / from;
            }
        }
        let legs = leg_length(&bodies[0], &self.source).zip(leg_length(&bodies[1], &self.target));
        let spread = |at: &dyn Fn(usize) -> DVec3| {
            let all = 1..self.map.links().len();
            all.map(|link| at(link).distance(at(0))).fold(0.0, f64::max)
        };
        let (from, to) = legs.unwrap_or_else(|| {
            (
                spread(&|link| self.source_at(link)),
                spread(&|link| self.target_at(link)),
            )
        });
        Some(to / from).filter(is_usable).unwrap_or(1.0)
    }

    /// `A` of each link.
    ///
    /// A limb that is turned first takes the limbs below it along, and then those are turned. They
    /// therefore twist as little as possible against each other.
    fn aligned(&self, align: bool) -> Vec<DQuat> {
        let links = self.map.links();
        let ends = self.limb_ends();
        let mut turns: Vec<DQuat> = Vec::with_capacity(links.len());
        for (at, link) in links.iter().enumerate() {
            let along = match link.role {
                Some(role) => role.is_held_along(),
                None => true,
            };
            let over = self.above[at].filter(|_| along).map(|above| turns[above]);
            let over = over.unwrap_or(DQuat::IDENTITY);
            let end = ends[at].filter(|_| align);
            turns.push(end.and_then(|end| self.arc(at, end, over)).unwrap_or(over));
        }
        turns
    }

    /// The shortest arc that turns the target's limb from `at` to `end` onto the source's, after
    /// `over`.
    fn arc(&self, at: usize, end: usize, over: DQuat) -> Option<DQuat> {
        let source = (self.source_at(end) - self.source_at(at)).try_normalize()?;
        let target = (self.target_at(end) - self.target_at(at)).try_normalize()?;
        let arc = DQuat::from_rotation_arc(over * target, self.turn * source);
        let turned = (arc * over).normalize();
        turned.is_finite().then_some(turned)
    }

    /// For each link that is a limb, the link at the end of that limb.
    fn limb_ends(&self) -> Vec<Option<usize>> {
        let links = self.map.links();
        let of_role = |role: Role| links.iter().position(|link| link.role == Some(role));
        let below = below(&self.above);
        let by_roles = links.iter().any(|link| link.role.is_some());
        let end = |(at, link): (usize, &JointLink)| match link.role {
            Some(role) => role.limb_end().and_then(of_role),
            None => {
                let is_limb = !by_roles && !self.moves[at] && below[at].0 == 1;
                is_limb.then_some(below[at].1)
            }
        };
        links.iter().enumerate().map(end).collect()
    }

    fn link(
        &self,
        at: usize,
        link: &JointLink,
        aligned: DQuat,
        rest: &Transform,
        (options, ratio): (&RetargetOptions, f64),
    ) -> Link {
        let target = &self.target[usize::from(link.target)];
        let stands = aligned * target.rotation;
        let follow = |source: Id<Joint>| {
            let source = &self.source[usize::from(source)];
            let behind = source.rotation.inverse() * self.turn.inverse() * stands;
            let axes = DMat3::from_quat(stands.inverse() * self.turn * source.rotation).transpose();
            let axes = [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| axis * axis);
            (behind, axes)
        };
        let (behind, axes) = follow(link.source);
        let over = self.above[at].map(|above| usize::from(self.map.links()[above].source));
        let over = over.filter(|_| options.all_translations);
        let source_at = self.source_at(at);
        Link {
            target: link.target,
            source: link.source.into(),
            behind,
            axes,
            toward: link.second_source.map(|source| {
                let (behind, axes) = follow(source);
                Toward {
                    source: source.into(),
                    part: link.second_weight.into(),
                    behind,
                    axes,
                }
            }),
            rest: *rest,
            mirror: turn(rest),
            moves: self.moves[at],
            above: over,
            source_at,
            target_at: match self.of_vrm {
                true => self.turn * source_at * ratio,
                false => self.target_at(at),
            },
            source_offset: over.map_or(DVec3::ZERO, |over| {
                self.source[over]
                    .affine
                    .inverse()
                    .transform_point3(source_at)
            }),
        }
    }
}
