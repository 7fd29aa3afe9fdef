//! The best far mesh for a number of triangles.

use super::fit::{fit, largest, ties};
use super::mesh::FarMesh;
use super::posing::Posing;
use super::reduce::Reducer;
use super::source::Source;
use crate::character::levels::poses::Poses;
use crate::character::levels::whole::Whole;
use crate::error::Result;
use glam::{Affine3A, Vec3A};
use rayon::prelude::*;

/// The number of times that the vertices of a mesh are fitted.
const FITS: usize = 4;
/// The ratio between numbers of triangles at which a mesh is fitted.
const STEP: f32 = 0.7;
/// The steps in the search for the offset along normals.
const STEPS: usize = 6;
/// The largest offset, relative to the size of the character.
const MOST_OUT: f32 = 0.1;
/// The most by which the covered area may differ from the full one.
const COVER: f32 = 0.02;
/// The most triangles of a mesh that is reduced edge by edge.
const MOST_TRIANGLES: usize = 800;

/// Makes far meshes of a character.
pub(in crate::character::levels) struct Maker<'a> {
    pub(super) posing: Posing<'a>,
    poses: &'a Poses<'a>,
}

/// A far mesh with its error in the poses that it was fitted to.
struct Made {
    mesh: FarMesh,
    distance_m: f32,
}

impl<'a> Maker<'a> {
    pub(in crate::character::levels) fn new(
        poses: &'a Poses<'a>,
        whole: &'a Whole<'a>,
    ) -> Result<Self> {
        let posing = Posing::new(poses, whole)?;
        Ok(Self { posing, poses })
    }

    /// For each number of triangles, descending, the mesh with at most as many that comes closest
    /// to the character. `None` if none covers its area.
    pub(in crate::character::levels) fn make(&self, triangles: &[usize]) -> Result<Vec<FarMesh>> {
        if triangles.is_empty() {
            return Ok(Vec::new());
        }
        let sources = [Source::welded(&self.posing), Source::remeshed(&self.posing)];
        let chains = sources
            .par_iter()
            .map(|source| self.chain(source, triangles));
        let chains: Vec<Vec<Option<Made>>> = chains.collect::<Result<_>>()?;
        let best = (0..triangles.len()).filter_map(|at| {
            let all = chains.iter().filter_map(|chain| chain[at].as_ref());
            let best = all.min_by(|a, b| a.distance_m.total_cmp(&b.distance_m));
            best.map(|made| made.mesh.clone())
        });
        Ok(best.collect())
    }

    /// Meshes from a source, one for each number of triangles.
    fn chain(&self, source: &Source, triangles: &[usize]) -> Result<Vec<Option<Made>>> {
        let mut posing = self.posing.clone();
        let mut all = Vec::with_capacity(triangles.len());
        let most = triangles
            .first()
            .map_or(0, |most| (*most).max(MOST_TRIANGLES));
        let begun = source.simplified(most, posing.size).ok();
        let mut mesh = begun.and_then(|(positions, indices)| self.begin(positions, indices));
        for count in triangles {
            mesh = mesh.and_then(|mesh| reduced(&posing, mesh, *count));
            let Some(mesh) = &mut mesh else {
                break;
            };
            all.push(self.fitted(&mut posing, mesh)?);
        }
        all.resize_with(triangles.len(), || None);
        Ok(all)
    }

    /// A mesh that is not fitted yet. `None` without triangles.
    fn begin(&self, positions: Vec<Vec3A>, indices: Vec<u32>) -> Option<FarMesh> {
        if indices.is_empty() {
            return None;
        }
        let entries = self.posing.entries(&positions)?;
        let rest = &self.posing.palettes[0];
        Some(FarMesh {
            positions: own(rest, &entries, positions.into_iter()),
            entries,
            indices,
        })
    }

    /// The best mesh of several fits, moved outwards. `mesh` becomes the same before it was moved.
    fn fitted(&self, posing: &mut Posing<'_>, mesh: &mut FarMesh) -> Result<Option<Made>> {
        let (mut best, mut now) = (None::<Made>, mesh.clone());
        for at in 0..=FITS {
            if let Some(wide) = widened(posing, &now) {
                let tied = ties(posing, &wide);
                let far = tied.iter().map(|tie| tie.far).take(posing.used.len());
                let (most, worst) = posing.worst(&wide, &far.collect::<Vec<_>>());
                let distance_m = largest(&tied).max(most);
                if best
                    .as_ref()
                    .is_none_or(|best| distance_m < best.distance_m)
                {
                    best = Some(Made {
                        mesh: wide,
                        distance_m,
                    });
                    mesh.clone_from(&now);
                }
                posing.replace(self.poses, &worst)?;
            }
            if at < FITS {
                let tied = ties(posing, &now);
                fit(posing, &mut now, &tied);
            }
        }
        Ok(best)
    }
}

/// A mesh with at most this many triangles.
fn reduced(posing: &Posing<'_>, mut mesh: FarMesh, triangles: usize) -> Option<FarMesh> {
    loop {
        let next = (mesh.indices.len() as f32 / 3.0 * STEP) as usize;
        mesh = Reducer::new(posing, mesh).reduce(next.max(triangles))?;
        if next <= triangles {
            return Some(mesh);
        }
        fit_if_better(posing, &mut mesh);
    }
}

/// Fits the vertices of a mesh, if they come closer.
fn fit_if_better(posing: &Posing<'_>, mesh: &mut FarMesh) {
    let before = ties(posing, mesh);
    let mut fitted = mesh.clone();
    fit(posing, &mut fitted, &before);
    let after = ties(posing, &fitted);
    if largest(&after) < largest(&before) {
        *mesh = fitted;
    }
}

/// The mesh moved along its normals until it covers the area of the full level.
fn widened(posing: &Posing<'_>, mesh: &FarMesh) -> Option<FarMesh> {
    let rest = &posing.palettes[0];
    let positions = mesh.posed(rest);
    let normals = FarMesh::normals(&positions, &mesh.indices);
    let moved = |out: f32| FarMesh {
        positions: own(
            rest,
            &mesh.entries,
            positions
                .iter()
                .zip(&normals)
                .map(|(at, normal)| *at + *normal * out),
        ),
        ..mesh.clone()
    };
    // The secant through the last two offsets.
    let most = MOST_OUT * posing.size;
    let (mut before, mut out) = (0.0, 0.01 * posing.size);
    let mut excess = posing.cover(&moved(before)) - 1.0;
    for _ in 0..STEPS {
        let made = moved(out);
        let now = posing.cover(&made) - 1.0;
        if now.abs() <= COVER * 0.5 {
            return Some(made);
        }
        let slope = (now - excess) / (out - before);
        if slope <= 0.0 || !slope.is_finite() {
            return None;
        }
        (before, excess) = (out, now);
        out = (out - now / slope).clamp(-most, most);
    }
    let made = moved(out);
    ((posing.cover(&made) - 1.0).abs() <= COVER).then_some(made)
}

/// Positions at rest in the mesh space of their entries.
fn own(rest: &[Affine3A], entries: &[u32], positions: impl Iterator<Item = Vec3A>) -> Vec<Vec3A> {
    let all = positions.zip(entries);
    let all = all.map(|(at, entry)| rest[*entry as usize].inverse().transform_point3a(at));
    all.collect()
}
