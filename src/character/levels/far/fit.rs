//! Moves the vertices of a far mesh to where they fit the surface best in all poses.

use super::mesh::FarMesh;
use super::posing::Posing;
use super::track::Track;
use crate::character::levels::surface::{Surface, SurfacePoint};
use glam::{Mat3A, Vec3, Vec3A};
use rayon::prelude::*;

/// The weight with which all vertices together stay where they are.
const STAY: f32 = 0.02;
/// The residual, relative to the first one, at which the solver ends.
const TOLERANCE: f64 = 1e-5;
/// The most steps of the solver.
const MOST_STEPS: usize = 100;

/// A point of the character's surface and a point of a far mesh that are tied to each other.
pub(super) struct Tie {
    fine: SurfacePoint,
    pub(super) far: SurfacePoint,
    /// The largest distance between the two in any pose.
    distance_m: f32,
    /// Ties from the character to the mesh count as much as those back.
    strength: f32,
}

/// Ties points of each surface to the points of the other that stay nearest.
pub(super) fn ties(posing: &Posing<'_>, mesh: &FarMesh) -> Vec<Tie> {
    let own = mesh.tracks(posing);
    let rest: Vec<Vec3A> = own.iter().map(|track| track.at(0)).collect();
    let tie = |fine: SurfacePoint, far: SurfacePoint, square: f32, count: usize| Tie {
        fine,
        far,
        distance_m: square.sqrt(),
        strength: 1.0 / count.max(1) as f32,
    };
    let coarse = Surface::new(&rest, &mesh.indices);
    let there = posing.used.par_iter().filter_map(|vertex| {
        let track = &posing.tracks[*vertex as usize];
        let cost = |far: &SurfacePoint, least: f32| {
            let corners = far.corners.map(|corner| &own[corner as usize]);
            track.distance_squared(corners, far.weights, least)
        };
        let (far, square) = coarse.nearest(&rest, track.at(0), cost)?;
        Some(tie(
            SurfacePoint::vertex(*vertex),
            far,
            square,
            posing.used.len(),
        ))
    });
    let triangles = mesh.indices.as_chunks::<3>().0;
    let corners = (0..own.len() as u32).map(SurfacePoint::vertex);
    let within = triangles
        .iter()
        .flat_map(|corners| SurfacePoint::within(*corners));
    let points: Vec<SurfacePoint> = corners.chain(within).collect();
    let back = points.par_iter().filter_map(|far| {
        let (fine, square) = posing.nearest(&Track::of(far, &own))?;
        Some(tie(fine, *far, square, points.len()))
    });
    let mut ties: Vec<Tie> = there.collect();
    ties.par_extend(back);
    ties
}

/// The largest distance of ties in metres.
pub(super) fn largest(ties: &[Tie]) -> f32 {
    ties.iter().map(|tie| tie.distance_m).fold(0.0, f32::max)
}

/// Moves the vertices so that tied points come closer, above all those that are far apart.
///
/// A weighted least-squares problem: in each pose, a point of the mesh is a linear function of the
/// vertices. The weights are squared distances, so the fourth powers count.
pub(super) fn fit(posing: &Posing<'_>, mesh: &mut FarMesh, ties: &[Tie]) {
    let count = mesh.positions.len();
    let mut matrix = vec![Mat3A::ZERO; count * count];
    let mut right = vec![Vec3A::ZERO; count];
    let mean = ties
        .iter()
        .map(|tie| tie.distance_m * tie.strength)
        .sum::<f32>()
        * 0.5;
    let mean = mean.max(f32::MIN_POSITIVE);
    let fine = ties.iter().map(|tie| Track::of(&tie.fine, &posing.tracks));
    let fine: Vec<Track> = fine.collect();
    for (pose, palette) in posing.palettes.iter().take(posing.count).enumerate() {
        let of = |corner: u32| &palette[mesh.entries[corner as usize] as usize];
        for (tie, fine) in ties.iter().zip(&fine) {
            let far = tie.distance_m / mean;
            let strength = far * far * tie.strength / posing.count as f32;
            let mut wanted = fine.at(pose);
            for (corner, weight) in tie.far.parts() {
                wanted -= of(corner).translation * weight;
            }
            for (row, weight) in tie.far.parts() {
                let turned = of(row).matrix3.transpose() * (weight * strength);
                right[row as usize] += turned * wanted;
                for (column, other) in tie.far.parts() {
                    let at = row as usize * count + column as usize;
                    matrix[at] += turned * of(column).matrix3 * other;
                }
            }
        }
    }
    let stay = STAY / count as f32;
    for (at, (position, right)) in mesh.positions.iter().zip(&mut right).enumerate() {
        matrix[at * count + at] += Mat3A::from_diagonal(Vec3::splat(stay));
        *right += *position * stay;
    }
    let before = mesh.positions.clone();
    solve(&matrix, &right, &mut mesh.positions);
    if !mesh.positions.iter().all(|at| at.is_finite()) {
        mesh.positions = before;
    }
}

/// Solves a symmetric system by conjugate gradients. `at` has the start, and gets the solution.
fn solve(matrix: &[Mat3A], right: &[Vec3A], at: &mut [Vec3A]) {
    let times = |vector: &[Vec3A]| -> Vec<Vec3A> {
        let rows = matrix.chunks_exact(right.len().max(1));
        let products = rows.map(|row| {
            let all = row.iter().zip(vector);
            all.fold(Vec3A::ZERO, |sum, (matrix, vector)| sum + *matrix * *vector)
        });
        products.collect()
    };
    let dot = |a: &[Vec3A], b: &[Vec3A]| -> f64 {
        let all = a.iter().zip(b);
        all.map(|(a, b)| f64::from(a.dot(*b))).sum()
    };
    let product = times(at);
    let rest = right.iter().zip(product);
    let mut rest: Vec<Vec3A> = rest.map(|(right, product)| *right - product).collect();
    let mut way = rest.clone();
    let first = dot(&rest, &rest);
    let mut square = first;
    for _ in 0..(3 * right.len()).min(MOST_STEPS) {
        if square <= first * TOLERANCE * TOLERANCE {
            break;
        }
        let product = times(&way);
        let step = (square / dot(&way, &product)) as f32;
        let all = at.iter_mut().zip(&mut rest).zip(way.iter().zip(&product));
        for ((at, rest), (way, product)) in all {
            *at += *way * step;
            *rest -= *product * step;
        }
        let before = core::mem::replace(&mut square, dot(&rest, &rest));
        let keep = (square / before) as f32;
        for (way, rest) in way.iter_mut().zip(&rest) {
            *way = *rest + *way * keep;
        }
    }
}
