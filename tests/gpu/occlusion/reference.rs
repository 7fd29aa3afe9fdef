//! The test of volumes against depth on the CPU: once as the shader has it, and once for every
//! pixel alone.

use crate::occlusion_records::{Projection, Pyramid};
use crate::shader_layout::GpuOcclusion;
use throng::glam::{DMat3, DVec3, DVec4, Mat3, Vec3, Vec4, Vec4Swizzles};

/// A volume in world space.
#[derive(Debug, Clone, Copy)]
pub(super) enum Volume {
    Sphere {
        center: Vec3,
        radius: f32,
    },
    /// Half of its edges.
    Box {
        center: Vec3,
        edges: Mat3,
    },
}

/// The depth of each pixel that attachments have, row by row.
#[derive(Debug, Clone)]
pub(super) struct Picture {
    pub(super) width: u32,
    pub(super) depths: Vec<f32>,
}

impl Picture {
    pub(super) fn at(&self, x: u32, y: u32) -> f32 {
        self.depths[(y * self.width + x) as usize]
    }

    /// The pyramid of a part of it, as the stage pyramid makes it.
    pub(super) fn pyramid(&self, pyramid: &Pyramid, reversed_z: bool) -> Vec<f32> {
        let (places, end) = pyramid.places();
        let mut words = vec![0.0; (end - pyramid.start) as usize];
        for (level, [start, width]) in
            (pyramid.first_level..).zip(&places[..pyramid.levels as usize])
        {
            let texels = pyramid.size.map(|pixels| pixels.div_ceil(1 << level));
            for (y, x) in (0..texels[1]).flat_map(|y| (0..texels[0]).map(move |x| (y, x))) {
                let block = |axis: usize, texel: u32| {
                    let [first, end] = [texel << level, (texel + 1) << level];
                    let end = end.min(pyramid.size[axis]);
                    pyramid.origin[axis] + first..pyramid.origin[axis] + end
                };
                let mut farthest = f32::NEG_INFINITY;
                for row in block(1, y) {
                    for column in block(0, x) {
                        let depth = self.at(column, row);
                        farthest = farthest.max(if reversed_z { -depth } else { depth });
                    }
                }
                words[(start - pyramid.start + y * width + x) as usize] = farthest;
            }
        }
        words
    }
}

fn turned(record: &GpuOcclusion, v: Vec3) -> Vec4 {
    Vec4::from_array(record.rows.map(|row| Vec4::from_array(row).xyz().dot(v)))
}

fn placed(record: &GpuOcclusion, v: Vec3) -> Vec4 {
    turned(record, v) + Vec4::from_array(record.rows.map(|row| row[3]))
}

fn sum_of(v: Vec3) -> f32 {
    v.abs().element_sum()
}

/// As `shaders/include/occlusion.glsl` has it, or `None` if the volume touches no pixel. `pyramids`
/// begin where the places of levels do.
pub(super) fn hides(record: &GpuOcclusion, pyramids: &[f32], volume: &Volume) -> Option<bool> {
    let (center, edges, away) = match *volume {
        Volume::Sphere { center, radius } => {
            let half_edge = radius + record.margin_m;
            let edges = record.edges.map(|edge| Vec4::from_array(edge) * half_edge);
            (center, edges, sum_of(center) + 2.0 * half_edge)
        }
        Volume::Box { center, mut edges } => {
            if record.margin_m > 0.0 {
                let Mat3 {
                    x_axis: x,
                    y_axis: y,
                    z_axis: z,
                } = edges;
                let faces = [y.cross(z), z.cross(x), x.cross(y)].map(Vec3::length);
                let scale = record.margin_m / edges.determinant().abs();
                let [x, y, z] = [(x, faces[0]), (y, faces[1]), (z, faces[2])]
                    .map(|(edge, face)| edge * (1.0 + face * scale));
                edges = Mat3::from_cols(x, y, z);
            }
            let all = [edges.x_axis, edges.y_axis, edges.z_axis];
            let away = sum_of(center) + all.map(sum_of).iter().sum::<f32>();
            (center, all.map(|edge| turned(record, edge)), away)
        }
    };
    let (center, [a, b, c]) = (placed(record, center), edges);
    let rounding = Vec4::from_array(record.per_metre) * away + Vec4::from_array(record.always);
    let least_w = center.w - (a.w.abs() + b.w.abs() + c.w.abs()) - rounding.w;
    if least_w.is_nan() || least_w <= 0.0 {
        return Some(false);
    }
    let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
    for corner in 0..8 {
        let sign = |bit: u32| if corner & bit == 0 { 1.0 } else { -1.0 };
        let point = center + a * sign(1) + b * sign(2) + c * sign(4);
        let place = point.xyz() / point.w;
        (low, high) = (low.min(place), high.max(place));
    }
    let [last_x, last_y] = record.last_pixel;
    let last_pixel = Vec3::new(last_x, last_y, 0.0);
    let slack = 0.125 + (rounding.xyz() + rounding.w * low.abs().max(high.abs())) / least_w;
    let (from, to) = ((low - slack).max(Vec3::ZERO), high + slack);
    let inside = from.x < last_x + 1.0 && from.y < last_y + 1.0 && to.x >= 0.0 && to.y >= 0.0;
    if !inside {
        return None;
    }
    let nearest = low.z.min(record.farthest);
    let error = (rounding.z + rounding.w * nearest.abs()) / least_w;
    let nearest = nearest - (error + 4.8e-7 * nearest.abs() + record.depth_step);
    let to = to.min(last_pixel);
    let pixels = |v: Vec3| [v.x as u32, v.y as u32];
    let (first, last) = (pixels(from), pixels(to));
    let longest = (last[0] - first[0]).max(last[1] - first[1]);
    let level = (32 - longest.leading_zeros()).clamp(record.first_level, record.last_level);
    let covered = |level: u32| {
        let [start, width] = record.levels[(level - record.first_level) as usize];
        let mut rows = (first[1] >> level)..=(last[1] >> level);
        rows.all(|y| {
            let mut texels = (first[0] >> level)..=(last[0] >> level);
            texels.all(|x| nearest > pyramids[(start + y * width + x) as usize])
        })
    };
    let finer = level - (level - record.first_level).min(3);
    Some(covered(level) || level > record.first_level && covered(finer))
}

impl Volume {
    /// The corners of the box, or of one around the sphere along the directions of the picture.
    fn corners(&self, record: &GpuOcclusion) -> [DVec3; 8] {
        let (center, edges) = match *self {
            Self::Box { center, edges } => (center, edges.as_dmat3()),
            Self::Sphere { center, radius } => {
                // The rows turn the directions into the record's edges.
                let rows = record.rows.map(|row| Vec4::from_array(row).as_dvec4());
                let rows = DMat3::from_cols(rows[0].xyz(), rows[1].xyz(), rows[3].xyz());
                let depth = Vec4::from_array(record.rows[2]).as_dvec4().xyz();
                let flat = rows.determinant().abs() < 1e-9;
                let rows = match flat {
                    true => DMat3::from_cols(rows.x_axis, rows.y_axis, depth),
                    false => rows,
                };
                let edge = |edge: [f32; 4]| {
                    let edge = Vec4::from_array(edge).as_dvec4();
                    let products = DVec3::new(edge.x, edge.y, if flat { edge.z } else { edge.w });
                    rows.transpose().inverse() * products * f64::from(radius)
                };
                let [x, y, z] = record.edges.map(edge);
                (center, DMat3::from_cols(x, y, z))
            }
        };
        core::array::from_fn(|corner| {
            let sign = |bit: usize| if corner & bit == 0 { 1.0 } else { -1.0 };
            center.as_dvec3() + edges * DVec3::new(sign(1), sign(2), sign(4))
        })
    }

    /// A point of it, for three numbers in -1..1.
    pub(super) fn point(&self, at: Vec3) -> DVec3 {
        match *self {
            Self::Box { center, edges } => center.as_dvec3() + edges.as_dmat3() * at.as_dvec3(),
            Self::Sphere { center, radius } => {
                // On its surface.
                let direction = at.as_dvec3().normalize_or(DVec3::X);
                center.as_dvec3() + direction * f64::from(radius)
            }
        }
    }
}

/// The place of a point in pixels of attachments, and its depth. `None` behind the eye.
pub(super) fn project(eye: &Projection, point: DVec3) -> Option<DVec3> {
    let clip: DVec4 = eye.clip_from_world.as_dmat4() * point.extend(1.0);
    if clip.w <= 0.0 {
        return None;
    }
    let place = clip.xyz() / clip.w;
    let (offset, extent) = (eye.viewport.offset, eye.viewport.extent);
    let y = place.y + f64::from(eye.jitter.y);
    let y = if eye.flip_y { -y } else { y };
    Some(DVec3::new(
        f64::from(offset.x)
            + (place.x + f64::from(eye.jitter.x) + 1.0) / 2.0 * f64::from(extent.width),
        f64::from(offset.y) + (y + 1.0) / 2.0 * f64::from(extent.height),
        place.z,
    ))
}

/// True if every pixel of the picture that the volume's rectangle touches is nearer than the
/// nearest of its corners. It has no margin. `None` if it touches no pixel.
pub(super) fn hidden_by_pixels(
    eye: &Projection,
    (record, pyramid): (&GpuOcclusion, &Pyramid),
    picture: &Picture,
    volume: &Volume,
) -> Option<bool> {
    let (mut low, mut high) = (DVec3::MAX, DVec3::MIN);
    let sign = if eye.reversed_z { -1.0 } else { 1.0 };
    for corner in volume.corners(record) {
        let Some(mut place) = project(eye, corner) else {
            return Some(false);
        };
        place.z *= sign;
        (low, high) = (low.min(place), high.max(place));
    }
    let nearest = low.z.min(f64::from(record.farthest));
    let [x, y] = [(low.x, high.x), (low.y, high.y)].map(|(low, high)| (low.floor(), high.floor()));
    let inside = |axis: usize, (low, high): (f64, f64)| {
        let first = f64::from(pyramid.origin[axis]);
        let last = first + f64::from(pyramid.size[axis]) - 1.0;
        (low <= last && high >= first).then(|| low.max(first) as u32..=high.min(last) as u32)
    };
    let (x, y) = (inside(0, x)?, inside(1, y)?);
    let mut pixels = y.flat_map(|y| x.clone().map(move |x| (x, y)));
    Some(pixels.all(|(x, y)| nearest > sign * f64::from(picture.at(x, y))))
}
