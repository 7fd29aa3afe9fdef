//! Joints, and what they carry, while a sphere is computed.

use super::rig::ReachRig;
use crate::clip::Hull;
use crate::mesh::{abs, stretch};
use glam::{DMat3, DVec3};

/// Working memory of [`ReachRig::reach`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Nodes {
    pub(super) joints: Vec<Node>,
    pub(super) pivots: Vec<Pivot>,
    pub(super) balls: Vec<Ball>,
    /// For each entry, the lengths that dual quaternions need.
    pub(super) entries: Vec<Lengths>,
}

/// A joint: where it may be in the space of the pivot above it, or in character space.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// `None` for character space.
    pub(super) pivot: Option<usize>,
    /// True if it is that pivot, so that its space is the pivot's.
    pub(super) is_pivot: bool,
    pub(super) linear: DMat3,
    pub(super) place: Range,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) center: DVec3,
    pub(super) half: DVec3,
}

/// A joint that turns or changes its scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pivot {
    pub(super) ball: usize,
    /// The distance from the position of the first pivot.
    pub(super) reach: f64,
    /// The least and the greatest factor of lengths.
    pub(super) scale: [f64; 2],
}

/// A range of positions, and the distance of vertices from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ball {
    pub(super) place: Range,
    pub(super) radius: f64,
}

/// The lengths of an entry: factors of its linear part, and the distance by which its morph targets
/// move vertices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    pub(super) scale: [f64; 2],
    /// The greatest factor from the joint's space.
    pub(super) joint: f64,
    pub(super) morph: f64,
    pub(super) far: f64,
}

impl Range {
    pub(super) const ORIGIN: Self = Self::at(DVec3::ZERO);

    pub(super) const fn at(center: DVec3) -> Self {
        Self {
            center,
            half: DVec3::ZERO,
        }
    }

    pub(super) fn of(hull: &Hull) -> Self {
        Self {
            center: 0.5 * (hull.least + hull.greatest),
            half: 0.5 * (hull.greatest - hull.least),
        }
    }

    /// The image under a matrix, moved by another range.
    pub(super) fn moved(self, linear: &DMat3, by: &Self) -> Self {
        Self {
            center: *linear * self.center + by.center,
            half: abs(linear) * self.half + by.half,
        }
    }

    /// The largest distance of one of its points from a point of another.
    pub(super) fn farthest(&self, from: &Self) -> f64 {
        ((self.center - from.center).abs() + self.half + from.half).length()
    }

    pub(super) fn least(&self) -> DVec3 {
        self.center - self.half
    }

    pub(super) fn greatest(&self) -> DVec3 {
        self.center + self.half
    }
}

impl Ball {
    pub(super) const fn empty(place: Range) -> Self {
        let radius = f64::NEG_INFINITY;
        Self { place, radius }
    }
}

impl Node {
    /// Character space.
    pub(super) const ROOT: Self = Self {
        pivot: None,
        is_pivot: false,
        linear: DMat3::IDENTITY,
        place: Range::ORIGIN,
    };
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

    pub(super) fn pivot(&self, node: &Node) -> Option<&Pivot> {
        self.pivots.get(node.pivot?)
    }

    /// The distance of a joint from the position of the first pivot above it.
    pub(super) fn reach_of(&self, node: &Node) -> f64 {
        self.pivot(node).map_or(0.0, |pivot| {
            pivot.reach + pivot.scale[1] * node.place.farthest(&Range::ORIGIN)
        })
    }

    /// The distance of a joint from one that is above it, or the same.
    pub(super) fn between(&self, above: &Node, below: &Node) -> f64 {
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

impl Lengths {
    pub(super) const NONE: Self = Self {
        scale: [1.0; 2],
        joint: 0.0,
        morph: 0.0,
        far: 0.0,
    };
}

/// A factor that no length shrinks by more than.
pub(super) fn shrink(matrix: &DMat3) -> f64 {
    let greatest = stretch(matrix);
    if greatest > 0.0 {
        // The determinant is the product of the three singular values.
        matrix.determinant().abs() / (greatest * greatest)
    } else {
        0.0
    }
}
