//! Spheres that every pose of some clips keeps to, computed from lengths.
//!
//! A box around the poses of some clips does not bound their blends: half way between an arm that
//! hangs and one that is raised, the hand is outside both boxes. Lengths bound all of them:
//!
//! - A rotation changes no length. A mean of translations is no longer than the longest, and a mean
//!   of scales no larger than the largest.
//! - An additive clip adds its translation times its weight, and multiplies scales by up to
//!   1 + w |s − 1|.
//! - The solvers of inverse kinematics and spring bones only turn joints. Foot placement also moves
//!   the pelvis, by a distance that has a limit.
//! - An inertialised transition adds offsets, which have a largest length.
//! - A vertex is a convex combination of its images under its palette entries.
//!
//! So joints that turn or change their scale become *pivots*. What lies between two pivots is
//! rigid, apart from translations, which have a range. Then
//!
//! ```text
//! reach(pivot) = reach(parent pivot) + scale(parent pivot) × the largest distance between them
//! scale(pivot) = scale(parent pivot) × the largest scale of the joints between them
//! radius = the largest reach(pivot) + scale(pivot) × the largest distance of an entry's vertices
//! ```
//!
//! The first pivots of a character have a range of positions instead, and the sphere is around the
//! boxes of these positions, widened by their radii.

use crate::character::Character;
use crate::clip::{ClipReach, Hull};
use crate::mesh::{Aabb, HubReach, MorphReach, Sphere, abs, linear, stretch};
use crate::motion::Inertialisation;
use crate::palette::{DISPLACEMENT, SkinningMethod};
use crate::skeleton::{NO_PARENT, Transform};
use crate::spring::SpringRig;
use glam::{Affine3A, DMat3, DVec3, Vec3};

/// The largest relative error of one rounding.
pub(super) const UNIT: f64 = 1.0 / 16_777_216.0;

/// A character's lengths at rest, and what its palette entries reach.
#[derive(Debug, Clone)]
pub(crate) struct ReachRig {
    joints: Box<[Bone]>,
    entries: Box<[Entry]>,
    /// Sorted by entry.
    morphs: Box<[MorphReach]>,
    /// For each morph weight, its size at rest, and the largest distance that it moves a vertex.
    weights: Box<[[f64; 2]]>,
    /// For dual quaternions. Sorted by hub.
    hubs: Box<[HubReach]>,
    /// The allowed error of palette formats other than matrices, in metres.
    format_m: f64,
    /// The margin for rounding, relative to the largest sum of lengths.
    ///
    /// Each level of the hierarchy rounds a product of matrices, whose rotations are normalised:
    /// at most 16 roundings of each coordinate. Interpolation and blending of the clips, palettes
    /// and skinning are covered by 128.
    rounding: f64,
}

#[derive(Debug, Clone, Copy)]
struct Bone {
    parent: u16,
    rest: Transform,
}

/// A palette entry: the box of its vertices, and the matrix to its joint's space.
#[derive(Debug, Clone, Copy)]
struct Entry {
    joint: u16,
    bounds: Aabb,
    bind: DMat3,
    offset: DVec3,
}

/// The poses that a sphere must contain: for each joint, what it may do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Poses {
    joints: Vec<JointPoses>,
    /// Bounds of the sizes of the morph weights.
    weights: Vec<f64>,
}

/// The range of a joint's local transforms.
#[derive(Debug, Clone, Copy)]
struct JointPoses {
    pivots: bool,
    /// True if its rotation or scale is near that at rest, but not exactly.
    near: bool,
    translation: Hull,
    /// The length of the longest translation, which can be less than that of the hull of several
    /// clips.
    longest: f64,
    /// The least and the greatest component.
    scale: [f64; 2],
}

/// The inputs of a sphere besides [`Poses`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posing<'a> {
    pub(crate) method: SkinningMethod,
    /// A model pose that is used as it is.
    pub(crate) model: Option<&'a [Affine3A]>,
    /// Spring bones, which move some joints of the model pose.
    pub(crate) springs: Option<&'a SpringRig>,
}

/// A sphere without the morph weights that the caller sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    pub(crate) sphere: Sphere,
    /// The part of its radius that is for rounding and for the palette format.
    pub(crate) error_m: f64,
    /// The largest factor from mesh space to character space of vertices that morph.
    pub(crate) morph_scale: f64,
}

/// Working memory of [`ReachRig::reach`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Nodes {
    joints: Vec<Node>,
    pivots: Vec<Pivot>,
    balls: Vec<Ball>,
    /// For each entry, the lengths that dual quaternions need.
    entries: Vec<Lengths>,
}

/// A joint: where it may be in the space of the pivot above it, or in character space.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// `None` for character space.
    pivot: Option<usize>,
    /// True if it is that pivot, so that its space is the pivot's.
    is_pivot: bool,
    linear: DMat3,
    place: Range,
}

#[derive(Debug, Clone, Copy)]
struct Range {
    center: DVec3,
    half: DVec3,
}

/// A joint that turns or changes its scale.
#[derive(Debug, Clone, Copy)]
struct Pivot {
    ball: usize,
    /// The distance from the position of the first pivot.
    reach: f64,
    /// The least and the greatest factor of lengths.
    scale: [f64; 2],
}

/// A range of positions, and the distance of vertices from it.
#[derive(Debug, Clone, Copy)]
struct Ball {
    place: Range,
    radius: f64,
}

/// The lengths of an entry: factors of its linear part, and the distance by which its morph targets
/// move vertices.
#[derive(Debug, Clone, Copy)]
struct Lengths {
    scale: [f64; 2],
    /// The greatest factor from the joint's space.
    joint: f64,
    morph: f64,
    far: f64,
}

impl Range {
    const ORIGIN: Self = Self::at(DVec3::ZERO);

    const fn at(center: DVec3) -> Self {
        Self {
            center,
            half: DVec3::ZERO,
        }
    }

    fn of(hull: &Hull) -> Self {
        Self {
            center: 0.5 * (hull.least + hull.greatest),
            half: 0.5 * (hull.greatest - hull.least),
        }
    }

    /// The image under a matrix, moved by another range.
    fn moved(self, linear: &DMat3, by: &Self) -> Self {
        Self {
            center: *linear * self.center + by.center,
            half: abs(linear) * self.half + by.half,
        }
    }

    /// The largest distance of one of its points from a point of another.
    fn farthest(&self, from: &Self) -> f64 {
        ((self.center - from.center).abs() + self.half + from.half).length()
    }

    fn least(&self) -> DVec3 {
        self.center - self.half
    }

    fn greatest(&self) -> DVec3 {
        self.center + self.half
    }
}

impl Ball {
    const fn empty(place: Range) -> Self {
        let radius = f64::NEG_INFINITY;
        Self { place, radius }
    }
}

impl Node {
    /// Character space.
    const ROOT: Self = Self {
        pivot: None,
        is_pivot: false,
        linear: DMat3::IDENTITY,
        place: Range::ORIGIN,
    };
}

impl ReachRig {
    pub(crate) fn new(character: &Character) -> Self {
        let model = character.model();
        let joints = model.skeleton.joints();
        let mut depths: Vec<u32> = Vec::with_capacity(joints.len());
        for joint in joints {
            let above = depths.get(usize::from(joint.parent_index()));
            depths.push(above.map_or(1, |above| above + 1));
        }
        let depth = depths.into_iter().max().unwrap_or(0);
        let entries = model.palette.iter().map(|entry| Entry {
            joint: entry.joint.0,
            bounds: entry.bounds,
            bind: linear(&entry.inverse_bind),
            offset: Vec3::from(entry.inverse_bind.translation).as_dvec3(),
        });
        let rest = model.morph_weights.iter();
        let mut weights: Box<[[f64; 2]]> =
            rest.map(|weight| [weight.rest.abs().into(), 0.0]).collect();
        for own in &model.morph_reaches {
            if let Some([_, most]) = weights.get_mut(own.weight as usize) {
                *most = most.max(own.reach.as_dvec3().length());
            }
        }
        let size = model.rest_bounds.size().max_element();
        Self {
            joints: joints
                .iter()
                .map(|joint| Bone {
                    parent: joint.parent_index(),
                    rest: joint.rest,
                })
                .collect(),
            entries: entries.collect(),
            morphs: model.morph_reaches.clone().into(),
            weights,
            hubs: model.hub_reaches.clone().into(),
            format_m: f64::from(DISPLACEMENT) * f64::from(size),
            rounding: UNIT * (128.0 + 16.0 * f64::from(depth)),
        }
    }

    /// The distance by which overridden weights and expressions move vertices beyond a sphere, per
    /// unit of [`Reach::morph_scale`].
    ///
    /// `weights` has the sizes that the weights may have at most because of them, with their
    /// indices.
    pub(crate) fn morphed_m(&self, weights: impl Iterator<Item = (usize, f64)>) -> f64 {
        let more = weights.filter_map(|(weight, size)| {
            let [_, most] = self.weights.get(weight)?;
            Some(size * most)
        });
        more.sum()
    }

    /// The size of a morph weight at rest.
    pub(crate) fn rest_weight(&self, weight: usize) -> f64 {
        self.weights.get(weight).map_or(0.0, |[rest, _]| *rest)
    }

    /// Bounds all vertices in the poses.
    pub(crate) fn reach(&self, poses: &Poses, posing: &Posing<'_>, nodes: &mut Nodes) -> Reach {
        self.place_joints(poses, posing, nodes);
        let mut reach = Sums {
            magnitude: 0.0,
            morph_scale: 0.0,
            factor: 1.0,
        };
        self.place_entries(poses, nodes, &mut reach);
        let mut error_m = 0.0;
        if posing.method != SkinningMethod::Linear {
            error_m = self.format_m * reach.factor;
        }
        if posing.method == SkinningMethod::DualQuat {
            self.place_hubs(nodes, &mut reach);
            error_m = self.format_m * reach.factor;
        }
        let balls = nodes.balls.iter().filter(|ball| ball.radius >= 0.0);
        let all = balls.clone().fold(Hull::EMPTY, |all, ball| {
            let far = DVec3::splat(ball.radius);
            all.with(ball.place.least() - far)
                .with(ball.place.greatest() + far)
        });
        let Range { center, .. } = Range::of(&all);
        let from = Range::at(center);
        let radius = balls
            .map(|ball| ball.radius + ball.place.farthest(&from))
            .fold(f64::NEG_INFINITY, f64::max);
        let magnitude = reach.magnitude + center.length() + radius;
        // A rotation and a scale near those at rest: each moves what is below the joint, which is
        // at most a diameter away, by this part of the distance.
        let near = poses.joints.iter().filter(|own| own.near && !own.pivots);
        let near = near.count() as f64 * 2.0 * ClipReach::NEAR * 2.0 * radius;
        let error_m = error_m + magnitude * self.rounding;
        let radius = radius + near + error_m;
        let empty = nodes.balls.iter().all(|ball| ball.radius < 0.0);
        Reach {
            sphere: if empty {
                Sphere::EMPTY
            } else {
                Sphere::around(center, radius)
            },
            error_m,
            morph_scale: reach.morph_scale * reach.factor,
        }
    }

    fn place_joints(&self, poses: &Poses, posing: &Posing<'_>, nodes: &mut Nodes) {
        nodes.joints.clear();
        nodes.pivots.clear();
        nodes.balls.clear();
        // Vertices whose joints never turn.
        nodes.balls.push(Ball::empty(Range::ORIGIN));
        for (index, (bone, own)) in self.joints.iter().zip(&poses.joints).enumerate() {
            let swings = posing.springs.is_some_and(|springs| springs.moves(index));
            let fixed = posing.model.filter(|_| !swings);
            if let Some(matrix) = fixed.and_then(|model| model.get(index)) {
                nodes.joints.push(Node {
                    linear: linear(matrix),
                    place: Range::at(Vec3::from(matrix.translation).as_dvec3()),
                    ..Node::ROOT
                });
                continue;
            }
            let parent = nodes.joints.get(usize::from(bone.parent));
            let parent = parent
                .filter(|_| bone.parent != NO_PARENT)
                .unwrap_or(&Node::ROOT);
            let place = Range::of(&own.translation).moved(&parent.linear, &parent.place);
            if !own.pivots {
                let Transform {
                    rotation, scale, ..
                } = bone.rest;
                let turn = DMat3::from_quat(rotation.as_dquat());
                let turn = turn * DMat3::from_diagonal(scale.as_dvec3());
                nodes.joints.push(Node {
                    pivot: parent.pivot,
                    is_pivot: false,
                    linear: parent.linear * turn,
                    place,
                });
                continue;
            }
            let [least, greatest] = own.scale_sizes();
            let scale = [
                shrink(&parent.linear) * least,
                stretch(&parent.linear) * greatest,
            ];
            let pivot = match nodes.pivot(parent) {
                Some(above) => {
                    let mut distance = place.farthest(&Range::ORIGIN);
                    if parent.is_pivot {
                        distance = distance.min(own.longest);
                    }
                    Pivot {
                        ball: above.ball,
                        reach: above.reach + above.scale[1] * distance,
                        scale: [above.scale[0] * scale[0], above.scale[1] * scale[1]],
                    }
                }
                None => {
                    nodes.balls.push(Ball::empty(place));
                    let ball = nodes.balls.len() - 1;
                    let reach = 0.0;
                    Pivot { ball, reach, scale }
                }
            };
            nodes.pivots.push(pivot);
            nodes.joints.push(Node {
                pivot: Some(nodes.pivots.len() - 1),
                is_pivot: true,
                ..Node::ROOT
            });
        }
    }

    fn place_entries(&self, poses: &Poses, nodes: &mut Nodes, sums: &mut Sums) {
        let mut morphs = self.morphs.iter().peekable();
        let mut fixed = Hull::EMPTY;
        nodes.entries.clear();
        for (index, entry) in self.entries.iter().enumerate() {
            let (mut morph, mut morphing) = (DVec3::ZERO, false);
            while let Some(next) = morphs.next_if(|next| next.entry as usize == index) {
                let weight = poses.weights.get(next.weight as usize);
                morph += next.reach.as_dvec3() * weight.copied().unwrap_or(0.0);
                morphing = true;
            }
            let node = nodes.joints.get(usize::from(entry.joint));
            let Some(node) = node.filter(|_| !entry.bounds.is_empty()) else {
                nodes.entries.push(Lengths::NONE);
                continue;
            };
            let least = entry.bounds.min.as_dvec3() - morph;
            let greatest = entry.bounds.max.as_dvec3() + morph;
            let pivot = nodes.pivot(node).copied();
            let whole = node.linear * entry.bind;
            let scale = pivot.map_or([1.0; 2], |pivot| pivot.scale);
            let spread = least.abs().max(greatest.abs());
            let lengths = Lengths {
                scale: [scale[0] * shrink(&whole), scale[1] * stretch(&whole)],
                joint: scale[1] * stretch(&node.linear),
                morph: morph.length(),
                far: spread.length(),
            };
            nodes.entries.push(lengths);
            if morphing {
                sums.morph_scale = sums.morph_scale.max(lengths.scale[1]);
            }
            let sum = lengths.joint * (abs(&entry.bind) * spread + entry.offset.abs()).length()
                + scale[1] * node.place.farthest(&Range::ORIGIN);
            let reach = pivot.map_or(0.0, |pivot| pivot.reach);
            sums.magnitude = sums.magnitude.max(sum + reach);
            let corners = (0..8).map(|corner: usize| {
                let far = [0, 1, 2].map(|axis| {
                    if corner >> axis & 1 == 1 {
                        greatest[axis]
                    } else {
                        least[axis]
                    }
                });
                let point = entry.bind * DVec3::from_array(far) + entry.offset;
                Range::at(point).moved(&node.linear, &node.place)
            });
            match pivot {
                None => {
                    fixed = corners.fold(fixed, |all, corner| {
                        all.with(corner.least()).with(corner.greatest())
                    });
                }
                Some(pivot) => {
                    let far = corners.map(|corner| corner.farthest(&Range::ORIGIN));
                    let far = far.fold(0.0, f64::max);
                    if let Some(ball) = nodes.balls.get_mut(pivot.ball) {
                        ball.radius = ball.radius.max(pivot.reach + pivot.scale[1] * far);
                    }
                }
            }
        }
        if let Some(ball) = nodes.balls.first_mut().filter(|_| fixed != Hull::EMPTY) {
            *ball = Ball {
                place: Range::of(&fixed),
                radius: 0.0,
            };
        }
    }

    /// Adds the vertices that dual quaternions move out of the other balls: see [`HubReach`].
    ///
    /// A format with stretch blends the stretch of entries before it turns and moves vertices. A
    /// vertex then differs from its image under one entry by the difference of their stretches
    /// times its distance from the origin of mesh space.
    fn place_hubs(&self, nodes: &mut Nodes, sums: &mut Sums) {
        for hub in self.hubs.chunk_by(|a, b| a.hub == b.hub) {
            let own = || {
                hub.iter().filter_map(|one| {
                    let entry = self.entries.get(one.entry as usize)?;
                    let lengths = nodes.entries.get(one.entry as usize)?;
                    Some((one, nodes.joints.get(usize::from(entry.joint))?, lengths))
                })
            };
            let at = hub.first().map_or(NO_PARENT, |first| first.hub);
            let center = nodes.joints.get(usize::from(at)).copied();
            let center = center.unwrap_or(Node::ROOT);
            let least = own().map(|(.., own)| own.scale[0]);
            let greatest = own().map(|(.., own)| own.scale[1]);
            let differ = greatest.fold(0.0, f64::max) - least.fold(f64::INFINITY, f64::min);
            let distance = own().map(|(one, node, lengths)| {
                let factor = f64::from(one.factor);
                let from_hub = nodes.between(&center, node);
                factor * (from_hub + lengths.scale[1] * lengths.morph + differ * lengths.far)
                    + lengths.joint * f64::from(one.distance)
            });
            let distance = distance.fold(0.0, f64::max);
            let factors = hub.iter().map(|one| f64::from(one.factor));
            sums.factor = factors.fold(sums.factor, f64::max);
            let reach = nodes.reach_of(&center);
            sums.magnitude = sums.magnitude.max(reach + distance);
            let pivot = center.pivot.and_then(|at| nodes.pivots.get(at));
            match pivot.and_then(|pivot| nodes.balls.get_mut(pivot.ball)) {
                Some(ball) => ball.radius = ball.radius.max(reach + distance),
                None => nodes.balls.push(Ball {
                    place: center.place,
                    radius: distance,
                }),
            }
        }
    }
}

impl Nodes {
    /// Reserves memory for a character.
    pub(crate) fn make_room(&mut self, rig: &ReachRig) {
        let joints = rig.joints.len();
        room(&mut self.joints, joints);
        room(&mut self.pivots, joints);
        // One for what never turns, and one for each first pivot and each hub.
        room(&mut self.balls, 1 + joints + rig.hubs.len());
        room(&mut self.entries, rig.entries.len());
    }

    /// The largest factor of lengths by a joint's transform to character space over the least.
    pub(crate) fn unevenness(&self, joint: usize) -> f64 {
        let Some(node) = self.joints.get(joint) else {
            return 1.0;
        };
        let pivot = self.pivot(node);
        let [least, greatest] = pivot.map_or([1.0; 2], |pivot| pivot.scale);
        (greatest * stretch(&node.linear)) / (least * shrink(&node.linear))
    }

    fn pivot(&self, node: &Node) -> Option<&Pivot> {
        self.pivots.get(node.pivot?)
    }

    /// The distance of a joint from the position of the first pivot above it.
    fn reach_of(&self, node: &Node) -> f64 {
        self.pivot(node).map_or(0.0, |pivot| {
            pivot.reach + pivot.scale[1] * node.place.farthest(&Range::ORIGIN)
        })
    }

    /// The distance of a joint from one that is above it, or the same.
    fn between(&self, above: &Node, below: &Node) -> f64 {
        match (self.pivot(above), self.pivot(below)) {
            _ if above.pivot == below.pivot => {
                let scale = self.pivot(above).map_or(1.0, |pivot| pivot.scale[1]);
                scale * below.place.farthest(&above.place)
            }
            (Some(from), _) => {
                let back = from.scale[1] * above.place.farthest(&Range::ORIGIN);
                self.reach_of(below) - from.reach + back
            }
            (None, Some(to)) => {
                let ball = self.balls.get(to.ball);
                let first = ball.map_or(0.0, |ball| ball.place.farthest(&above.place));
                first + self.reach_of(below)
            }
            (None, None) => below.place.farthest(&above.place),
        }
    }
}

/// Reserves memory for `len` elements in all.
fn room<T>(list: &mut Vec<T>, len: usize) {
    list.reserve(len.saturating_sub(list.len()));
}

/// The results besides the balls.
#[derive(Debug)]
struct Sums {
    /// The largest sum of lengths, for rounding.
    magnitude: f64,
    morph_scale: f64,
    /// The largest factor of errors by dual quaternions.
    factor: f64,
}

impl Lengths {
    const NONE: Self = Self {
        scale: [1.0; 2],
        joint: 0.0,
        morph: 0.0,
        far: 0.0,
    };
}

/// A factor that no length shrinks by more than.
fn shrink(matrix: &DMat3) -> f64 {
    let greatest = stretch(matrix);
    if greatest > 0.0 {
        // The determinant is the product of the three singular values.
        matrix.determinant().abs() / (greatest * greatest)
    } else {
        0.0
    }
}

impl JointPoses {
    /// The least and the greatest size of a component of the scale.
    fn scale_sizes(&self) -> [f64; 2] {
        let [a, b] = self.scale;
        let least = if a <= 0.0 && b >= 0.0 {
            0.0
        } else {
            a.abs().min(b.abs())
        };
        [least, a.abs().max(b.abs())]
    }
}

impl Poses {
    /// Starts with the rest pose.
    pub(crate) fn begin(&mut self, rig: &ReachRig) {
        self.joints.clear();
        self.joints.extend(rig.joints.iter().map(|bone| JointPoses {
            pivots: false,
            near: false,
            translation: Hull::EMPTY.with(bone.rest.translation.as_dvec3()),
            longest: bone.rest.translation.as_dvec3().length(),
            scale: [
                bone.rest.scale.min_element().into(),
                bone.rest.scale.max_element().into(),
            ],
        }));
        self.weights.clear();
        self.weights
            .extend(rig.weights.iter().map(|[rest, _]| rest));
    }

    /// A joint may turn in any way.
    pub(crate) fn turn(&mut self, joint: usize) {
        if let Some(own) = self.joints.get_mut(joint) {
            own.pivots = true;
        }
    }

    /// Adds the poses of a clip that is not additive.
    pub(crate) fn mean(&mut self, clip: &ClipReach) {
        for joint in &clip.near {
            if let Some(own) = self.joints.get_mut(usize::from(*joint)) {
                own.near = true;
            }
        }
        for joint in &clip.turns {
            self.turn((*joint).into());
        }
        for moves in &clip.moves {
            if let Some(own) = self.joints.get_mut(usize::from(moves.joint)) {
                own.pivots |= moves.scales;
                let (least, greatest) = (moves.translation.least, moves.translation.greatest);
                own.translation = own.translation.with(least).with(greatest);
                own.longest = own.longest.max(moves.translation.length());
                own.scale[0] = own.scale[0].min(moves.scale[0]);
                own.scale[1] = own.scale[1].max(moves.scale[1]);
            }
        }
        for (weight, bound) in &clip.weights {
            if let Some(own) = self.weights.get_mut(usize::from(*weight)) {
                *own = own.max(*bound);
            }
        }
    }

    /// Adds an additive clip with weights from 0 to `weight`, after all that are not additive.
    pub(crate) fn add(&mut self, clip: &ClipReach, weight: f64) {
        for joint in &clip.turns {
            self.turn((*joint).into());
        }
        for moves in &clip.moves {
            if let Some(own) = self.joints.get_mut(usize::from(moves.joint)) {
                own.pivots |= moves.scales;
                own.translation.least += moves.translation.least.min(DVec3::ZERO) * weight;
                own.translation.greatest += moves.translation.greatest.max(DVec3::ZERO) * weight;
                own.longest += moves.translation.length() * weight;
                let [least, greatest] = moves.scale.map(|scale| 1.0 + weight * (scale - 1.0));
                own.multiply([least.min(1.0), greatest.max(1.0)]);
            }
        }
        for (own, bound) in &clip.weights {
            if let Some(own) = self.weights.get_mut(usize::from(*own)) {
                *own += bound * weight;
            }
        }
    }

    pub(crate) fn pose(&mut self, rig: &ReachRig, local: &[Transform]) {
        for ((own, pose), bone) in self.joints.iter_mut().zip(local).zip(&rig.joints) {
            own.pivots |= pose.rotation != bone.rest.rotation || pose.scale != bone.rest.scale;
            own.translation = own.translation.with(pose.translation.as_dvec3());
            own.longest = own.longest.max(pose.translation.as_dvec3().length());
            own.scale[0] = own.scale[0].min(pose.scale.min_element().into());
            own.scale[1] = own.scale[1].max(pose.scale.max_element().into());
        }
    }

    /// Adds the offsets of an inertialised transition to everything else.
    pub(crate) fn offset(&mut self, transition: &Inertialisation) {
        for (own, [translation, turn, scale]) in self.joints.iter_mut().zip(transition.reaches()) {
            own.pivots |= turn > 0.0 || scale > 0.0;
            own.translation.least -= translation;
            own.translation.greatest += translation;
            own.longest += translation;
            own.scale[0] -= scale;
            own.scale[1] += scale;
        }
        for (own, offset) in self.weights.iter_mut().zip(transition.weight_reaches()) {
            *own += offset;
        }
    }
}

impl JointPoses {
    /// Multiplies the range of scales by one that contains 1.
    fn multiply(&mut self, [least, greatest]: [f64; 2]) {
        let [a, b] = self.scale;
        let products = [a * least, a * greatest, b * least, b * greatest];
        self.scale = [
            products.into_iter().fold(f64::INFINITY, f64::min),
            products.into_iter().fold(f64::NEG_INFINITY, f64::max),
        ];
    }
}
