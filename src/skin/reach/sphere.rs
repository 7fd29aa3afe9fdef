//! The sphere around all vertices in some poses.

use super::nodes::{Ball, Lengths, Node, Nodes, Pivot, Range, shrink};
use super::poses::Poses;
use super::rig::ReachRig;
use crate::clip::{ClipReach, Hull};
use crate::mesh::{Sphere, abs, linear, stretch};
use crate::palette::SkinningMethod;
use crate::skeleton::{NO_PARENT, Transform};
use crate::spring::SpringRig;
use glam::{Affine3A, DMat3, DVec3, Vec3};

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

/// The results besides the balls.
#[derive(Debug)]
struct Sums {
    /// The largest sum of lengths, for rounding.
    magnitude: f64,
    morph_scale: f64,
    /// The largest factor of errors by dual quaternions.
    factor: f64,
}

impl ReachRig {
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
