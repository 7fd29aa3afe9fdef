//! The points of a surface that are seen from outside.

use crate::character::levels::cover::spans;
use crate::character::levels::surface::SurfacePoint;
use glam::{Mat3A, Vec2, Vec3A, Vec3Swizzles as _};
use rayon::prelude::*;

/// The longest edge of the bounds, in pixels.
const PIXELS: f32 = 128.0;
/// The most pixels of a picture along an edge.
const MOST_PIXELS: f32 = 4.0 * PIXELS;
/// The directions of the pictures: turns about the vertical axis and tilts, in degrees. Crowds are
/// seen from the side and from above, and hardly ever from below.
const DIRECTIONS: [[f32; 2]; 10] = [
    [0.0, 0.0],
    [45.0, 30.0],
    [90.0, 0.0],
    [135.0, 30.0],
    [180.0, 0.0],
    [225.0, 30.0],
    [270.0, 0.0],
    [315.0, 30.0],
    [0.0, 90.0],
    [0.0, -60.0],
];

/// For each pixel of pictures from all sides, the point of the surface that it shows.
///
/// `shows` tells for a point, and whether its front is seen, if it is opaque there.
pub(super) fn seen(
    positions: &[Vec3A],
    indices: &[u32],
    size: f32,
    shows: impl Fn(&SurfacePoint, bool) -> bool + Sync,
) -> Vec<SurfacePoint> {
    let scale = PIXELS / size.max(f32::MIN_POSITIVE);
    let picture = |[turn, tilt]: &[f32; 2]| {
        let turn = Mat3A::from_rotation_y(turn.to_radians());
        let view = Mat3A::from_rotation_x(tilt.to_radians()) * turn;
        let placed = positions.iter().map(|at| view * *at * scale);
        let placed: Vec<Vec3A> = placed.collect();
        picture(&placed, indices, &shows)
    };
    DIRECTIONS.par_iter().flat_map(picture).collect()
}

/// The nearest points of a picture that is seen along the z axis, in pixels.
fn picture(
    placed: &[Vec3A],
    indices: &[u32],
    shows: &impl Fn(&SurfacePoint, bool) -> bool,
) -> Vec<SurfacePoint> {
    let corners = || indices.iter().map(|index| placed[*index as usize]);
    let least = corners().fold(Vec3A::INFINITY, Vec3A::min).floor();
    let most = corners().fold(Vec3A::NEG_INFINITY, Vec3A::max).ceil();
    let extent = (most - least).min(Vec3A::splat(MOST_PIXELS));
    if !extent.cmpge(Vec3A::ZERO).all() {
        return Vec::new();
    }
    let [width, height] = [extent.x as usize + 1, extent.y as usize + 1];
    let mut pixels: Vec<Option<(f32, SurfacePoint)>> = vec![None; width * height];
    for triangle in indices.as_chunks::<3>().0 {
        let corners = triangle.map(|index| placed[index as usize] - least);
        let flat = corners.map(|corner| corner.xy());
        let [a, b, c] = flat;
        let area = (b - a).perp_dot(c - a);
        for (y, row) in spans(flat, [width, height]) {
            for x in row {
                let at = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let [u, v] = [(b - at).perp_dot(c - at), (c - at).perp_dot(a - at)];
                let weights = [u / area, v / area, 1.0 - (u + v) / area];
                // Rounding makes nonsense of the narrowest triangles.
                if !weights.iter().all(|weight| (-1.0..=2.0).contains(weight)) {
                    continue;
                }
                let depths = corners.iter().zip(weights);
                let depth: f32 = depths.map(|(corner, weight)| corner.z * weight).sum();
                let point = SurfacePoint {
                    corners: *triangle,
                    weights,
                };
                let pixel = &mut pixels[y * width + x];
                if pixel.is_none_or(|(known, _)| known < depth) && shows(&point, area > 0.0) {
                    *pixel = Some((depth, point));
                }
            }
        }
    }
    let points = pixels.into_iter().flatten();
    points.map(|(_, point)| point).collect()
}
