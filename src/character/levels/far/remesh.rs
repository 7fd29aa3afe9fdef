//! One closed surface around all pieces of a character.

use glam::{IVec3, Vec3A};
use std::collections::BTreeMap;

/// Cells along the longest edge of the bounds.
const CELLS: f32 = 72.0;
/// Empty cells around the bounds.
const BORDER: i32 = 2;
/// The most steps along an edge of a triangle.
const MOST_STEPS: f32 = 1024.0;

/// A grid of cells, each inside or outside.
struct Grid {
    least: Vec3A,
    cell: f32,
    size: IVec3,
    is_inside: Vec<bool>,
}

impl Grid {
    fn new(positions: &[Vec3A], indices: &[u32], size: f32) -> Self {
        let corners = || indices.iter().map(|index| positions[*index as usize]);
        let least = corners().fold(Vec3A::INFINITY, Vec3A::min);
        let most = corners().fold(Vec3A::NEG_INFINITY, Vec3A::max);
        let cell = (size / CELLS).max(f32::MIN_POSITIVE);
        let extent = ((most - least) / cell)
            .min(Vec3A::splat(2.0 * CELLS))
            .max(Vec3A::ZERO);
        let size = extent.as_ivec3() + 1 + 2 * BORDER;
        Self {
            least: least - cell * BORDER as f32,
            cell,
            size,
            is_inside: vec![false; (size.x * size.y * size.z) as usize],
        }
    }

    fn index(&self, at: IVec3) -> Option<usize> {
        let has = at.cmpge(IVec3::ZERO).all() && at.cmplt(self.size).all();
        has.then(|| (at.x + self.size.x * (at.y + self.size.y * at.z)) as usize)
    }

    fn has(&self, at: IVec3) -> bool {
        self.index(at).is_some_and(|index| self.is_inside[index])
    }

    /// Marks the cells that a triangle meets.
    fn add(&mut self, [a, b, c]: [Vec3A; 3]) {
        let [a, b, c] = [a, b, c].map(|corner| (corner - self.least) / self.cell);
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let steps = (longest * 2.0).ceil().clamp(1.0, MOST_STEPS) as u32;
        for u in 0..=steps {
            for v in 0..=steps - u {
                let [u, v] = [u, v].map(|step| step as f32 / steps as f32);
                let at = a + (b - a) * u + (c - a) * v;
                if let Some(index) = self.index(at.as_ivec3()) {
                    self.is_inside[index] = true;
                }
            }
        }
    }

    /// Marks the cells that cannot be reached from outside.
    fn fill(&mut self) {
        let mut is_outside = vec![false; self.is_inside.len()];
        // The first cell is in the border.
        is_outside[0] = true;
        let mut open = vec![IVec3::ZERO];
        while let Some(at) = open.pop() {
            for way in [IVec3::X, IVec3::Y, IVec3::Z] {
                for next in [at - way, at + way] {
                    if let Some(index) = self.index(next)
                        && !self.is_inside[index]
                        && !is_outside[index]
                    {
                        is_outside[index] = true;
                        open.push(next);
                    }
                }
            }
        }
        self.is_inside = is_outside.into_iter().map(|outside| !outside).collect();
    }

    /// The vertex at a corner of eight cells: the mean of the middles of the faces between cells
    /// inside and outside.
    fn vertex(&self, corner: IVec3) -> Vec3A {
        let (mut sum, mut count) = (Vec3A::ZERO, 0.0);
        for number in 0..8 {
            let at = corner - IVec3::new(number & 1, number >> 1 & 1, number >> 2);
            for axis in [IVec3::X, IVec3::Y, IVec3::Z] {
                let other = at + axis;
                let is_near = other.cmple(corner).all();
                if is_near && self.has(at) != self.has(other) {
                    sum += (at + other).as_vec3a() * 0.5 + 0.5;
                    count += 1.0;
                }
            }
        }
        self.least + sum / count * self.cell
    }
}

/// The vertices and triangles of a closed surface around these triangles, by surface nets.
///
/// It is up to a cell too large. `size` is the longest edge of the bounds.
///
/// Source: Gibson, "Constrained Elastic Surface Nets", 1998, without the relaxation.
pub(super) fn remesh(positions: &[Vec3A], indices: &[u32], size: f32) -> (Vec<[f32; 3]>, Vec<u32>) {
    let mut grid = Grid::new(positions, indices, size);
    for triangle in indices.as_chunks::<3>().0 {
        grid.add(triangle.map(|index| positions[index as usize]));
    }
    grid.fill();
    let mut numbers = BTreeMap::new();
    let (mut vertices, mut made) = (Vec::new(), Vec::new());
    let mut number = |corner: IVec3| {
        *numbers.entry(corner.to_array()).or_insert_with(|| {
            vertices.push(grid.vertex(corner).to_array());
            vertices.len() as u32 - 1
        })
    };
    let axes = [IVec3::X, IVec3::Y, IVec3::Z];
    let [x, y, z] = grid.size.to_array();
    let cells = (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
    for at in cells.map(IVec3::from) {
        for (axis, way) in axes.into_iter().enumerate() {
            let other = at + way;
            let is_inside = grid.has(at);
            if is_inside == grid.has(other) {
                continue;
            }
            let (u, v) = (axes[(axis + 1) % 3], axes[(axis + 2) % 3]);
            let [a, b, c, d] = [other, other + u, other + u + v, other + v].map(&mut number);
            made.extend(match is_inside {
                true => [a, b, c, a, c, d],
                false => [a, c, b, a, d, c],
            });
        }
    }
    (vertices, made)
}
