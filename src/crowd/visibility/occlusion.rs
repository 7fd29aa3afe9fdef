//! The test of volumes against what an engine drew before: the layout of the pyramids that the
//! stage pyramid makes of depth, and the record that the stage cull reads for each of them.
//!
//! The test is in `shaders/include/occlusion.glsl`. It never hides a volume of which a fragment
//! could pass: rectangles are widened by more than rasterisers snap, and depth by the rounding of
//! coordinates.

use crate::ash::vk;
use crate::glam::{DVec3, DVec4, Mat4, Vec2};
use crate::gpu::layout::GpuOcclusion;
use crate::pass::push::PyramidPush;
use bytemuck::Zeroable;

/// The longest side of the finest level of a pyramid.
const LONGEST: u32 = 2048;
/// Levels that the first dispatch of the stage pyramid makes.
const TILE_LEVELS: u32 = 7;
/// As for planes: a relative error above that of any clip coordinate which a shader computes in
/// `f32`.
const ROUNDING: f64 = 1.0 / 1_048_576.0;

/// The pyramid of the farthest depths in a view.
///
/// The levels lie one after the other, each row by row. A texel of level `l` covers `2^l` pixels in
/// both directions. Sizes are rounded up, so the texel of a pixel is `pixel >> l`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pyramid {
    /// The first pixel in the attachments.
    pub(crate) origin: [u32; 2],
    /// The pixels in both directions.
    pub(crate) size: [u32; 2],
    /// The finest level.
    pub(crate) first_level: u32,
    /// The number of levels.
    pub(crate) levels: u32,
    /// The first word in the buffer.
    pub(crate) start: u32,
}

impl Pyramid {
    /// The most words of a pyramid beyond 4/3 of the texels of its finest level: less than a
    /// texel for each in a row and in a column, and one for each level.
    pub(crate) const MOST_EXTRA_WORDS: u32 = 2 * LONGEST * 2 / 3 + GpuOcclusion::LEVELS as u32;

    /// The pyramid of the part of a viewport that lies in the attachments. `texel_level` is the
    /// level of the image's texels.
    pub(crate) fn new(viewport: vk::Rect2D, texel_level: u32, start: u32) -> Self {
        let side = |offset: i32, length: u32| {
            let end = i64::from(offset) + i64::from(length);
            let first = offset.max(0);
            (first as u32, (end - i64::from(first)).max(0) as u32)
        };
        let vk::Rect2D { offset, extent } = viewport;
        let (x, width) = side(offset.x, extent.width);
        let (y, height) = side(offset.y, extent.height);
        let longest = width.max(height).max(1);
        let mut first_level = texel_level;
        while longest.div_ceil(1 << first_level) > LONGEST {
            first_level += 1;
        }
        let finest = longest.div_ceil(1 << first_level);
        Self {
            origin: [x, y],
            size: [width, height],
            first_level,
            levels: finest.next_power_of_two().ilog2() + 1,
            start,
        }
    }

    /// The texels of a level in both directions.
    fn extent(&self, level: u32) -> [u32; 2] {
        self.size.map(|pixels| pixels.div_ceil(1 << level))
    }

    /// The texels of its finest level.
    pub(crate) fn texels(&self) -> u64 {
        let [width, height] = self.extent(self.first_level);
        u64::from(width) * u64::from(height)
    }

    /// The start and the row length of each level, the finest first, and the end.
    pub(crate) fn places(&self) -> ([[u32; 2]; GpuOcclusion::LEVELS], u32) {
        let mut end = self.start;
        let mut places = [[0; 2]; GpuOcclusion::LEVELS];
        for (place, level) in places.iter_mut().zip(0..self.levels) {
            let [width, height] = self.extent(self.first_level + level);
            *place = [end, width];
            end += width * height;
        }
        (places, end)
    }

    /// One past its last word.
    pub(crate) fn end(&self) -> u32 {
        self.places().1
    }

    /// The push constants of its dispatches, each with the workgroups in both directions. There is
    /// only one for a small picture.
    ///
    /// `samples` are those of the image.
    pub(crate) fn dispatches(
        &self,
        (texel_level, samples): (u32, u32),
        reversed_z: bool,
    ) -> [Option<(PyramidPush, [u32; 2])>; 2] {
        let size = self.extent(self.first_level);
        let push = PyramidPush {
            first: self.origin.map(|pixel| pixel >> texel_level),
            end: [0, 1]
                .map(|axis| (self.origin[axis] + self.size[axis]).div_ceil(1 << texel_level)),
            size,
            start: self.start,
            levels: self.levels.min(TILE_LEVELS),
            shift: self.first_level - texel_level,
            toward: if reversed_z { -1.0 } else { 1.0 },
            samples,
        };
        let tile = 1 << (TILE_LEVELS - 1);
        let top = (self.levels > TILE_LEVELS).then(|| {
            let below = TILE_LEVELS - 1;
            let push = PyramidPush {
                size: self.extent(self.first_level + below),
                start: self.places().0[below as usize][0],
                levels: self.levels - below,
                ..push
            };
            (push, [1; 2])
        });
        [Some((push, size.map(|texels| texels.div_ceil(tile)))), top]
    }
}

/// The projection of an eye to pixels, and the numbers with which it is tested.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Projection {
    pub(crate) clip_from_world: Mat4,
    pub(crate) jitter: Vec2,
    pub(crate) viewport: vk::Rect2D,
    pub(crate) flip_y: bool,
    pub(crate) reversed_z: bool,
    /// Metres that volumes are widened by.
    pub(crate) margin_m: f32,
    /// The largest error of depth in the attachment's format.
    pub(crate) depth_step: f32,
}

impl GpuOcclusion {
    /// The record of an eye whose pyramid lies there.
    pub(crate) fn new(pyramid: &Pyramid, eye: &Projection) -> Self {
        let clip = eye.clip_from_world.as_dmat4();
        let [x, y, z, w] = [0, 1, 2, 3].map(|row| clip.row(row));
        let vk::Rect2D { offset, extent } = eye.viewport;
        // Half of a side, with the sign of the direction, and the middle in pixels of the pyramid.
        let axis = |first: i32, length: u32, flip: bool, jitter: f32, origin: u32| {
            let half = f64::from(length) / 2.0;
            let signed = if flip { -half } else { half };
            let middle = f64::from(first) + half - f64::from(origin);
            (signed, middle + signed * f64::from(jitter))
        };
        let [left, top] = pyramid.origin;
        let (half_x, middle_x) = axis(offset.x, extent.width, false, eye.jitter.x, left);
        let (half_y, middle_y) = axis(offset.y, extent.height, eye.flip_y, eye.jitter.y, top);
        let sign = if eye.reversed_z { -1.0 } else { 1.0 };
        let rows = [
            x * half_x + w * middle_x,
            y * half_y + w * middle_y,
            z * sign,
            w,
        ];
        // Bounds of the error of a row: those of the two that it is made of.
        let bound = |of: fn(DVec4) -> f64| {
            let [x, y, z, w] = [x, y, z, w].map(of);
            let x = x * half_x.abs() + w * middle_x.abs();
            let y = y * half_y.abs() + w * middle_y.abs();
            DVec4::new(x, y, z, w) * ROUNDING
        };
        // The coordinates of a point are rounded, too.
        let per_metre = bound(|row| row.truncate().length()) * 2.0;
        let edges = axes([x, y, z, w]).map(|axis| rows.map(|row| row.truncate().dot(axis) as f32));
        let (levels, _) = pyramid.places();
        Self {
            rows: rows.map(|row| row.as_vec4().to_array()),
            per_metre: per_metre.as_vec4().to_array(),
            always: bound(|row| row.w.abs()).as_vec4().to_array(),
            edges,
            last_pixel: pyramid.size.map(|pixels| pixels.saturating_sub(1) as f32),
            farthest: if eye.reversed_z { 0.0 } else { 1.0 },
            margin_m: eye.margin_m,
            depth_step: eye.depth_step,
            first_level: pyramid.first_level,
            last_level: pyramid.first_level + pyramid.levels - 1,
            levels,
            ..Zeroable::zeroed()
        }
    }
}

/// Three directions that are perpendicular to each other: right, down and forward of a picture, as
/// far as it has them at right angles.
fn axes([x, y, z, w]: [DVec4; 4]) -> [DVec3; 3] {
    let [x, y, z, w] = [x, y, z, w].map(DVec4::truncate);
    // An orthographic view has no direction in w.
    let along = if w.length() > 1e-5 * x.length().max(y.length()) {
        w
    } else {
        z
    };
    let forward = along.normalize_or(DVec3::Z);
    let right = x.reject_from_normalized(forward);
    let right = right
        .try_normalize()
        .unwrap_or_else(|| forward.any_orthonormal_vector());
    [right, forward.cross(right), forward]
}
