//! The surface that is simplified to a far mesh.

use super::mesh::renumbered;
use super::posing::Posing;
use super::remesh::remesh;
use super::track::Track;
use crate::character::levels::surface::SurfacePoint;
use glam::Vec3A;
use meshoptimizer_rs::{
    AttributesMut, Error, Limits, PositionsMut, SimplifyOptions, SimplifySettings, Workspace,
    simplify_with_update,
};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The poses whose shapes weigh in a simplification.
const POSES: usize = 10;
/// Budgets of memory and counted work for one call of the simplifier.
const LIMITS: Limits = Limits {
    max_bytes: 1 << 30,
    max_work: 1 << 32,
};

/// A surface at rest, with the way that it moves.
pub(super) struct Source {
    positions: Vec<[f32; 3]>,
    indices: Vec<u32>,
    /// For each vertex, its offsets in the [`POSES`], relative to the size of the character.
    offsets: Vec<f32>,
    /// The number of floats of a vertex's offsets.
    width: usize,
}

impl Source {
    /// The character's own surface. Vertices at one place are one.
    pub(super) fn welded(posing: &Posing<'_>) -> Self {
        let mut numbers = BTreeMap::new();
        let (mut positions, mut points) = (Vec::new(), Vec::new());
        let indices = posing.indices.iter().map(|index| {
            let at = posing.rest[*index as usize].to_array();
            *numbers.entry(at.map(f32::to_bits)).or_insert_with(|| {
                positions.push(at);
                points.push(SurfacePoint::vertex(*index));
                positions.len() as u32 - 1
            })
        });
        let indices = indices.collect();
        Self::new(posing, positions, indices, &points)
    }

    /// One closed surface around all pieces of the character.
    pub(super) fn remeshed(posing: &Posing<'_>) -> Self {
        let (positions, indices) = remesh(&posing.rest, &posing.indices, posing.size);
        let rest = &posing.rest;
        let points = positions.par_iter().map(|at| {
            let at = Vec3A::from(*at);
            let cost = |point: &SurfacePoint, _| point.of(rest).distance_squared(at);
            let nearest = posing.surface.nearest(rest, at, cost);
            nearest.map_or(SurfacePoint::vertex(0), |(nearest, _)| nearest)
        });
        let points: Vec<SurfacePoint> = points.collect();
        Self::new(posing, positions, indices, &points)
    }

    fn new(
        posing: &Posing<'_>,
        positions: Vec<[f32; 3]>,
        indices: Vec<u32>,
        points: &[SurfacePoint],
    ) -> Self {
        // The first poses differ most.
        let poses = 1..posing.count.min(1 + POSES);
        let width = poses.len() * 3;
        let offsets = points.iter().flat_map(|point| {
            let track = Track::of(point, &posing.tracks);
            poses.clone().flat_map(move |pose| {
                let moved = track.at(pose) - track.at(0);
                (moved / posing.size).to_array()
            })
        });
        Self {
            positions,
            indices,
            offsets: offsets.collect(),
            width,
        }
    }

    /// The vertices and indices of a mesh with about as many triangles.
    pub(super) fn simplified(
        &self,
        triangles: usize,
        size: f32,
    ) -> Result<(Vec<Vec3A>, Vec<u32>), Error> {
        let (mut positions, mut indices) = (self.positions.clone(), self.indices.clone());
        let (mut offsets, width) = (self.offsets.clone(), self.width);
        let mut attributes = match width {
            0 => None,
            _ => {
                let count = positions.len();
                let view = AttributesMut::from_interleaved(&mut offsets, count, width, width, 0);
                Some(view?)
            }
        };
        let settings = SimplifySettings {
            target_index_count: (triangles * 3).min(indices.len()),
            target_error: size,
            options: SimplifyOptions::ERROR_ABSOLUTE | SimplifyOptions::PERMISSIVE,
        };
        let mut workspace = Workspace::default();
        workspace.set_limits(LIMITS);
        let done = simplify_with_update(
            &mut indices,
            &mut PositionsMut::from_packed(&mut positions),
            attributes.as_mut(),
            &vec![1.0; width],
            None,
            settings,
            &mut workspace,
        )?;
        indices.truncate(done.index_count);
        let (vertices, indices) = renumbered(&indices, positions.len());
        let kept = vertices.iter().map(|at| positions[*at as usize].into());
        Ok((kept.collect(), indices))
    }
}
