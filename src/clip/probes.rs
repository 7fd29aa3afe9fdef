//! The points at which the error of a character's clips is measured.
//!
//! These are points near each joint, its sockets, and all vertices. Testing every vertex at every
//! time takes long, so the search for the number of bits tests each joint's outermost vertices
//! instead, as if no other joint moved them. The result is then checked at all vertices, with their
//! weights; see [`Comparison`](super::compare::Comparison).

use crate::mesh::{Model, Primitive};
use crate::order::greatest;
use crate::skeleton::{Socket, rest_model_pose};
use glam::{Affine3A, Vec3};
use std::ops::Range;

/// For a character of height [`HUMAN_M`], in metres: the distance from each joint of the points
/// that are always tested, and the allowed error.
const POINT_M: f32 = 0.03;
const ERROR_M: f32 = 1e-4;
const HUMAN_M: f32 = 1.8;
/// Least weight of a joint at a vertex that is tested as if the joint alone moved it.
const GUIDE_WEIGHT: f32 = 0.25;
/// Directions in which a joint's outermost vertices are found, and their opposites: towards the
/// faces and corners of the box around its vertices.
const AXES: [Vec3; 7] = [
    Vec3::X,
    Vec3::Y,
    Vec3::Z,
    Vec3::new(1.0, 1.0, 1.0),
    Vec3::new(1.0, 1.0, -1.0),
    Vec3::new(1.0, -1.0, 1.0),
    Vec3::new(1.0, -1.0, -1.0),
];
/// Most vertices of a cell.
const CELL: usize = 16;

/// The points at which the error of a character's clips is measured.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// The character's size as a multiple of a human's.
    pub(super) scale: f32,
    joints: Vec<OfJoint>,
    /// The points of all joints, in the space of the joint.
    points: Vec<Vec3>,
    influences: Vec<Influence>,
    /// The first influence of each vertex, and the end.
    first: Vec<u32>,
    /// The first vertex of each primitive, and the end.
    primitives: Vec<u32>,
    /// The vertices that each joint moves, in boxes in its space.
    cells: Vec<Cell>,
    /// The vertices of all cells.
    moved: Vec<u32>,
}

/// Vertices that one joint moves and that are close together.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    /// The box around them, in the joint's space: its centre and half of its size.
    pub(super) center: Vec3,
    pub(super) half: Vec3,
    moved: Range<u32>,
}

#[derive(Debug, Clone, Default)]
struct OfJoint {
    /// Points that count as they are: near the joint, sockets, and morphed vertices.
    always: Range<u32>,
    /// Outermost vertices, which follow.
    guides: Range<u32>,
    /// Its vertices. The first cell has all of them; the others share them out.
    cells: Range<u32>,
    /// Distance of the farthest point from the joint in the rest pose, in metres.
    reach_m: f32,
}

/// A joint that moves a vertex.
#[derive(Debug, Clone, Copy)]
pub(super) struct Influence {
    pub(super) joint: u16,
    pub(super) weight: f32,
    /// The vertex in the joint's space, times the weight.
    pub(super) point: Vec3,
}

impl Probes {
    /// Finds the points of a character.
    pub(crate) fn new(model: &Model, sockets: &[(Box<str>, Socket)]) -> Self {
        let size = model.rest_bounds.size().max_element();
        let scale = if size > 0.0 && size.is_finite() {
            size / HUMAN_M
        } else {
            1.0
        };
        let mut probes = Self {
            scale,
            joints: vec![OfJoint::default(); model.skeleton.len()],
            first: vec![0],
            primitives: vec![0],
            ..Self::default()
        };
        for primitive in &model.primitives {
            probes.push_vertices(model, primitive);
        }
        probes.list_moved();
        let outermost = probes.outermost(model);
        let rest = rest_model_pose(&model.skeleton);
        for (joint, (rest, outermost)) in rest.iter().zip(outermost).enumerate() {
            probes.push_points(joint, rest, sockets, &outermost);
        }
        probes
    }

    /// The error bound in metres, unless options have another.
    pub(super) fn error_m(&self) -> f32 {
        ERROR_M * self.scale
    }

    /// Distance of the farthest point from its joint in the rest pose, in metres.
    pub(super) fn reach_m(&self, joint: usize) -> f32 {
        self.joints[joint].reach_m
    }

    /// The points of a joint that are always tested, and its outermost vertices if `guides` is
    /// true. They are in the joint's space.
    #[inline(always)]
    pub(super) fn points(&self, joint: usize, guides: bool) -> &[Vec3] {
        let own = &self.joints[joint];
        let last = if guides { &own.guides } else { &own.always };
        &self.points[own.always.start as usize..last.end as usize]
    }

    /// The cell of all vertices that a joint moves, and smaller cells with the same vertices. There
    /// are none if it moves no vertex.
    #[inline(always)]
    pub(super) fn cells(&self, joint: usize) -> Option<(&Cell, &[Cell])> {
        let own = &self.joints[joint].cells;
        self.cells[own.start as usize..own.end as usize].split_first()
    }

    /// The numbers of a cell's vertices.
    #[inline(always)]
    pub(super) fn moved(&self, cell: &Cell) -> &[u32] {
        &self.moved[cell.moved.start as usize..cell.moved.end as usize]
    }

    /// The joints that move a vertex.
    #[inline(always)]
    pub(super) fn influences(&self, vertex: u32) -> &[Influence] {
        let [from, to] = [vertex, vertex + 1].map(|at| self.first[at as usize] as usize);
        &self.influences[from..to]
    }

    /// The indices of a vertex's primitive and of the vertex in it.
    pub(super) fn vertex(&self, number: u32) -> (u32, u32) {
        let primitive = self.primitives.partition_point(|first| *first <= number) - 1;
        (primitive as u32, number - self.primitives[primitive])
    }

    fn push_vertices(&mut self, model: &Model, primitive: &Primitive) {
        let entries = &model.palette[model.palette_range(primitive)];
        let mut positions = primitive.positions.clone();
        let weights = model.morph_weights.get(primitive.first_weight.index()..);
        for (target, weight) in primitive.targets.iter().zip(weights.unwrap_or_default()) {
            for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
                positions[*vertex as usize] += *delta * weight.rest;
            }
        }
        if primitive.is_far() {
            // Meshes for far away have larger errors of their own.
            positions.clear();
        }
        for (vertex, position) in positions.iter().enumerate() {
            for (entry, weight) in primitive.influences(vertex) {
                let entry = &entries[entry];
                let point = entry.inverse_bind.transform_point3(*position);
                if weight > 0.0 && point.is_finite() {
                    self.influences.push(Influence {
                        joint: entry.joint.0,
                        weight,
                        point: point * weight,
                    });
                }
            }
            self.first.push(self.influences.len() as u32);
        }
        self.primitives.push(self.first.len() as u32 - 1);
    }

    /// Lists the vertices of each joint, in cells.
    fn list_moved(&mut self) {
        let mut moved: Vec<Vec<(Vec3, u32)>> = vec![Vec::new(); self.joints.len()];
        for (vertex, ends) in (0..).zip(self.first.windows(2)) {
            for influence in &self.influences[ends[0] as usize..ends[1] as usize] {
                let point = influence.point / influence.weight;
                moved[usize::from(influence.joint)].push((point, vertex));
            }
        }
        for (joint, moved) in moved.iter_mut().enumerate() {
            let start = self.cells.len() as u32;
            if !moved.is_empty() {
                let first = self.moved.len() as u32;
                self.cells.push(cell(moved, first));
                self.push_cells(moved);
            }
            self.joints[joint].cells = start..self.cells.len() as u32;
        }
    }

    /// Divides vertices at the middle until the cells are small.
    fn push_cells(&mut self, moved: &mut [(Vec3, u32)]) {
        let own = cell(moved, self.moved.len() as u32);
        if moved.len() <= CELL {
            self.moved.extend(moved.iter().map(|moved| moved.1));
            self.cells.push(own);
            return;
        }
        let axis = greatest(own.half.to_array());
        let middle = moved.len() / 2;
        moved.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]));
        let (low, high) = moved.split_at_mut(middle);
        self.push_cells(low);
        self.push_cells(high);
    }

    /// For each joint, its outermost vertices in every direction.
    fn outermost(&self, model: &Model) -> Vec<Outermost> {
        let half = |joint| self.cells(joint).map_or(Vec3::ONE, |(all, _)| all.half);
        let joints = 0..self.joints.len();
        let mut all: Vec<Outermost> = joints.map(half).map(Outermost::new).collect();
        for influence in &self.influences {
            if influence.weight >= GUIDE_WEIGHT {
                let own = &mut all[usize::from(influence.joint)];
                own.add(influence.point / influence.weight, false);
            }
        }
        let near = model.primitives.iter();
        for primitive in near.filter(|primitive| !primitive.is_far()) {
            let entries = &model.palette[model.palette_range(primitive)];
            for (vertex, morphed) in morphed(primitive) {
                let influences = primitive.influences(vertex);
                for (entry, _) in influences.filter(|(_, weight)| *weight >= GUIDE_WEIGHT) {
                    let entry = &entries[entry];
                    for position in morphed {
                        let point = entry.inverse_bind.transform_point3(position);
                        all[usize::from(entry.joint)].add(point, true);
                    }
                }
            }
        }
        all
    }

    fn push_points(
        &mut self,
        joint: usize,
        rest: &Affine3A,
        sockets: &[(Box<str>, Socket)],
        outermost: &Outermost,
    ) {
        let near_m = POINT_M * self.scale;
        let near = |axis: Vec3| {
            let length = rest.transform_vector3(axis).length();
            let reach = near_m / length;
            axis * if reach.is_finite() { reach } else { near_m }
        };
        let start = self.points.len() as u32;
        // An error is a convex function of the point, so these are the worst of their octahedron.
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(near);
        let around = [x, y, z, -x, -y, -z];
        self.points.extend(around);
        for (_, socket) in sockets {
            let origin = Vec3::from(socket.offset.translation);
            if usize::from(socket.joint) == joint && origin != Vec3::ZERO && origin.is_finite() {
                let own = around.map(|near| origin + near);
                self.points.extend(own);
            }
        }
        let far = |point: &Vec3| rest.transform_vector3(*point).length() > near_m;
        let outside = |morphed| outermost.points(morphed).filter(far).collect::<Vec<_>>();
        self.points.extend(outside(true));
        let guides = self.points.len() as u32;
        self.points.extend(outside(false));
        let end = self.points.len() as u32;
        let own = &mut self.joints[joint];
        (own.always, own.guides) = (start..guides, guides..end);
        let points = self.points[start as usize..].iter();
        let reaches = points.map(|point| rest.transform_vector3(*point).length());
        own.reach_m = reaches
            .filter(|reach| reach.is_finite())
            .fold(near_m, f32::max);
    }
}

/// The vertices that morph targets move, each with the corners of a box around its positions for
/// all weights from 0 to 1.
fn morphed(primitive: &Primitive) -> impl Iterator<Item = (usize, [Vec3; 8])> {
    let mut moves = vec![[Vec3::ZERO; 2]; primitive.vertex_count()];
    for target in &primitive.targets {
        for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
            let [low, high] = &mut moves[*vertex as usize];
            *low += delta.min(Vec3::ZERO);
            *high += delta.max(Vec3::ZERO);
        }
    }
    let all = moves.into_iter().zip(&primitive.positions).enumerate();
    let moved = all.filter(|(_, ([low, high], _))| low != high);
    moved.map(|(vertex, (ends, position))| {
        let corners = core::array::from_fn(|corner| {
            let side = |axis: usize| ends[corner >> axis & 1][axis];
            *position + Vec3::new(side(0), side(1), side(2))
        });
        (vertex, corners)
    })
}

/// The cell of these vertices, which are listed from `first` on.
fn cell(moved: &[(Vec3, u32)], first: u32) -> Cell {
    let points = moved.iter().map(|moved| moved.0);
    let min = points.clone().fold(Vec3::INFINITY, Vec3::min);
    let max = points.fold(Vec3::NEG_INFINITY, Vec3::max);
    Cell {
        center: 0.5 * min + 0.5 * max,
        half: 0.5 * max - 0.5 * min,
        moved: first..first + moved.len() as u32,
    }
}

/// The points that are farthest in each direction.
struct Outermost {
    /// Factors that make the box around the points a cube.
    unit: Vec3,
    /// The greatest and the least of each axis, with its coordinate.
    found: [[Option<(f32, Vec3, bool)>; 2]; AXES.len()],
}

impl Outermost {
    fn new(half: Vec3) -> Self {
        Self {
            unit: half.max(Vec3::splat(1e-20)).recip(),
            found: [[None; 2]; AXES.len()],
        }
    }

    fn add(&mut self, point: Vec3, morphed: bool) {
        let scaled = point * self.unit;
        for (axis, found) in AXES.iter().zip(&mut self.found) {
            let along = axis.dot(scaled);
            for (found, along) in found.iter_mut().zip([along, -along]) {
                if along.is_finite() && found.is_none_or(|(most, ..)| along > most) {
                    *found = Some((along, point, morphed));
                }
            }
        }
    }

    /// The points, each once: either the morphed or the others.
    fn points(&self, morphed: bool) -> impl Iterator<Item = Vec3> {
        let all = self.found.iter().flatten().flatten();
        let own = all.filter(|found| found.2 == morphed).map(|found| found.1);
        let mut points: Vec<Vec3> = Vec::new();
        for point in own {
            if !points.contains(&point) {
                points.push(point);
            }
        }
        points.into_iter()
    }
}
