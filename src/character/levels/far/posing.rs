//! A character in the poses that far meshes are fitted to.

use super::mesh::FarMesh;
use super::track::{POSES, Track};
use crate::character::levels::cover::{area, seen};
use crate::character::levels::poses::Poses;
use crate::character::levels::surface::{Surface, SurfacePoint};
use crate::character::levels::whole::Whole;
use crate::error::Result;
use glam::{Affine3A, Vec3A};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of poses that stay. Others are replaced by those in which meshes fit worst.
const KEPT: usize = 16;
/// The number of poses that are replaced at once.
const ADDED: usize = 3;
/// The least number of frames between them.
const APART: usize = 4;
/// The most vertices of the character that a mesh is fitted to.
const MOST_USED: usize = 1024;
/// Influences below this weight do not choose the entry of a vertex.
const LEAST_WEIGHT: f32 = 0.05;

/// A pose of all that are measured.
struct Moment {
    palette: Vec<Affine3A>,
    /// The positions of [`Posing::used`].
    used: Vec<Vec3A>,
}

/// A character in some poses.
#[derive(Clone)]
pub(super) struct Posing<'a> {
    pub(super) whole: &'a Whole<'a>,
    /// The palette of each pose. The rest pose comes first, and again at the end.
    pub(super) palettes: Vec<Vec<Affine3A>>,
    /// The vertices in all poses, with the morph weights of the rest pose.
    pub(super) tracks: Vec<Track>,
    /// The vertices at rest.
    pub(super) rest: Vec<Vec3A>,
    /// The triangles of the full level.
    pub(super) indices: Vec<u32>,
    /// Vertices of these triangles, each once: all, or an even selection.
    pub(super) used: Vec<u32>,
    /// These triangles at rest.
    pub(super) surface: Arc<Surface>,
    /// The longest edge of the bounds at rest, in metres.
    pub(super) size: f32,
    /// The number of different poses.
    pub(super) count: usize,
    /// All poses.
    moments: Arc<Vec<Moment>>,
    /// The pose that is replaced next.
    next: usize,
    /// The palettes of the poses that are seen.
    seen: Arc<Vec<Vec<Affine3A>>>,
    /// The area of the full level in them, in pixels.
    area: f32,
}

impl<'a> Posing<'a> {
    pub(super) fn new(poses: &Poses<'_>, whole: &'a Whole<'a>) -> Result<Self> {
        let shots = poses.spread(POSES)?;
        let palettes = shots.par_iter().map(|shot| poses.palette(*shot));
        let mut palettes: Vec<Vec<Affine3A>> = palettes.collect::<Result<_>>()?;
        let posed = palettes.par_iter().map(|palette| whole.morphed(palette));
        let posed: Vec<Vec<Vec3A>> = posed.collect();
        let track = |vertex: usize| Track::new(|pose| posed.get(pose).unwrap_or(&posed[0])[vertex]);
        palettes.resize(POSES, palettes[0].clone());
        let indices = whole.triangles(0);
        let used: BTreeSet<u32> = indices.iter().copied().collect();
        let step = used.len().div_ceil(MOST_USED).max(1);
        let used: Vec<u32> = used.into_iter().step_by(step).collect();
        let moments = poses.shots.par_iter().map(|shot| {
            let palette = poses.palette(*shot)?;
            let posed = whole.morphed(&palette);
            let used = used.iter().map(|vertex| posed[*vertex as usize]);
            Ok(Moment {
                used: used.collect(),
                palette,
            })
        });
        let size = whole.size();
        let seen = seen(poses);
        let seen = seen.iter().map(|shot| poses.palette(*shot));
        let seen: Vec<Vec<Affine3A>> = seen.collect::<Result<_>>()?;
        let areas = seen
            .par_iter()
            .map(|palette| area(&whole.posed(palette, false).positions, &indices, size));
        Ok(Self {
            whole,
            palettes,
            tracks: (0..posed[0].len()).map(track).collect(),
            surface: Arc::new(Surface::new(&posed[0], &indices)),
            size,
            count: posed.len(),
            area: areas.sum::<u64>() as f32,
            seen: Arc::new(seen),
            moments: Arc::new(moments.collect::<Result<_>>()?),
            next: KEPT,
            used,
            indices,
            rest: posed.into_iter().next().unwrap_or_default(),
        })
    }

    /// The largest distance of points of a mesh from the vertices that they are tied to, in all
    /// poses, and the poses with the largest ones, which are apart from each other.
    pub(super) fn worst(&self, mesh: &FarMesh, tied: &[SurfacePoint]) -> (f32, Vec<usize>) {
        let most = self.moments.par_iter().map(|moment| {
            let own = mesh.posed(&moment.palette);
            let pairs = moment.used.iter().zip(tied);
            let squares = pairs.map(|(fine, far)| fine.distance_squared(far.of(&own)));
            squares.fold(0.0, f32::max)
        });
        let most: Vec<f32> = most.collect();
        let mut order: Vec<usize> = (0..most.len()).collect();
        order.sort_by(|a, b| most[*b].total_cmp(&most[*a]));
        let mut worst: Vec<usize> = Vec::new();
        for at in &order {
            if worst.len() == ADDED {
                break;
            }
            if worst.iter().all(|other| other.abs_diff(*at) >= APART) {
                worst.push(*at);
            }
        }
        (most[order[0]].sqrt(), worst)
    }

    /// Takes poses instead of earlier ones.
    pub(super) fn replace(&mut self, poses: &Poses<'_>, moments: &[usize]) -> Result<()> {
        for moment in moments {
            let palette = poses.palette(poses.shots[*moment])?;
            let posed = self.whole.morphed(&palette);
            for (track, at) in self.tracks.iter_mut().zip(posed) {
                track.set(self.next, at);
            }
            self.palettes[self.next] = palette;
            self.count = self.count.max(self.next + 1);
            self.next += 1;
            if self.next == POSES {
                self.next = KEPT;
            }
        }
        Ok(())
    }

    /// A vertex that follows an entry, in all poses.
    pub(super) fn track(&self, entry: u32, own: Vec3A) -> Track {
        Track::new(|pose| self.palettes[pose][entry as usize].transform_point3a(own))
    }

    /// The point of the character's surface that stays nearest to a point, and the largest squared
    /// distance in any pose.
    pub(super) fn nearest(&self, track: &Track) -> Option<(SurfacePoint, f32)> {
        let cost = |point: &SurfacePoint, least: f32| {
            let corners = point.corners.map(|corner| &self.tracks[corner as usize]);
            track.distance_squared(corners, point.weights, least)
        };
        self.surface.nearest(&self.rest, track.at(0), cost)
    }

    /// For each position at rest, the entry that moves it most like the surface near it.
    ///
    /// `None` if there is no entry that shows a position.
    pub(super) fn entries(&self, positions: &[Vec3A]) -> Option<Vec<u32>> {
        let rest = &self.palettes[0];
        let of = |at: &Vec3A| {
            let cost = |point: &SurfacePoint, _| point.of(&self.rest).distance_squared(*at);
            let (point, _) = self.surface.nearest(&self.rest, *at, cost)?;
            let wanted = Track::of(&point, &self.tracks);
            let influences = point
                .parts()
                .flat_map(|(corner, _)| self.influences(corner));
            let influences = influences.filter(|(_, weight)| *weight > LEAST_WEIGHT);
            let entries: BTreeSet<u32> = influences.map(|(entry, _)| entry).collect();
            // A reflection would turn triangles over.
            let entries = entries.into_iter();
            let entries = entries.filter(|entry| rest[*entry as usize].matrix3.determinant() > 0.0);
            let costs = entries.map(|entry| {
                let own = rest[entry as usize].inverse().transform_point3a(*at);
                let moved = self.track(entry, own);
                (
                    moved.distance_squared([&wanted; 3], [1.0, 0.0, 0.0], f32::INFINITY),
                    entry,
                )
            });
            costs
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map(|(_, entry)| entry)
        };
        positions.par_iter().map(of).collect()
    }

    /// The influences of a vertex: entries of the character's palette, and their weights.
    fn influences(&self, vertex: u32) -> impl Iterator<Item = (u32, f32)> + '_ {
        let (primitive, vertex) = self.whole.source(vertex);
        let first = primitive.palette.start;
        let all = primitive.influences(vertex as usize);
        all.map(move |(joint, weight)| (first + joint as u32, weight))
    }

    /// The area that a mesh covers, relative to the full level.
    pub(super) fn cover(&self, mesh: &FarMesh) -> f32 {
        let areas = self
            .seen
            .par_iter()
            .map(|palette| area(&mesh.posed(palette), &mesh.indices, self.size));
        areas.sum::<u64>() as f32 / self.area
    }
}

impl FarMesh {
    /// The vertices in all poses.
    pub(super) fn tracks(&self, posing: &Posing<'_>) -> Vec<Track> {
        let all = self.positions.iter().zip(&self.entries);
        all.map(|(at, entry)| posing.track(*entry, *at)).collect()
    }
}
