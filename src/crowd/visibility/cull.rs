//! Stage cull: whether a view shows an instance, and at which level of detail.
//!
//! The arithmetic is additions, multiplications and comparisons alone, in a fixed order, so that it
//! can be repeated bit for bit. Square roots and quotients are taken once per view or change.

use crate::crowd::detail::Culling;
use crate::crowd::view::View;
use crate::gpu::constants::{CHUNK, INVERSE_FACTOR, MAX_LEVELS};
use crate::gpu::layout::GpuCullView;
use crate::grow::reserve_all;
use crate::mesh::Sphere;
use crate::palette::Mat3x4;
use glam::{Vec3, Vec4, Vec4Swizzles};

/// A relative error above that of any clip coordinate which a shader computes in `f32`: sixteen
/// roundings.
const ROUNDING: f32 = 1.0 / 1_048_576.0;

/// A level coarser than the last must meet this part of the allowed error, so that levels do not
/// alternate at a threshold.
const COARSER: f32 = 0.8;

/// The factors by which a view may allow more error, to keep to its number of triangles, are powers
/// of the fourth root of 2.
pub(crate) const FACTOR: f32 = 1.189_207_1;

/// Instances whose diameter is below this part of the allowed error are left out.
const LEAST_SIZE: f32 = 0.7;

/// The bounding spheres of all instances in world space, by table index.
///
/// The lists are padded to whole blocks.
#[derive(Debug, Default)]
pub(crate) struct Spheres {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    radius: Vec<f32>,
    /// The largest scale from character to world space.
    scale: Vec<f32>,
}

/// A bounding sphere in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WorldSphere {
    pub(crate) center: Vec3,
    pub(crate) radius: f32,
    /// The largest scale from character to world space.
    pub(crate) scale: f32,
}

impl WorldSphere {
    /// A sphere in character space under an instance's transform, as by [`Sphere::transformed`],
    /// but in 32 bits and with wider margins.
    ///
    /// The radius does not depend on the position. [`Plane`] and [`Self::reach`] have a margin for
    /// the rounding of the centre.
    #[inline]
    pub(crate) fn new(sphere: &Sphere, world_from_model: &Mat3x4) -> Self {
        // Dot products of the columns: of each with itself, and with the next.
        let [x, y, z] = world_from_model.rows.map(Vec4::from_array);
        let squares = x * x + y * y + z * z;
        let products = (x * x.yzxw() + y * y.yzxw() + z * z.yzxw()).abs();
        let sums = squares + products + products.zxyw();
        let scale = sums.x.max(sums.y).max(sums.z).sqrt() * (1.0 + ROUNDING);
        let summed = 2.0 * sphere.center.length() * scale;
        let center = sphere.center;
        let along = |[x, y, z, w]: [f32; 4]| x * center.x + y * center.y + z * center.z + w;
        Self {
            center: Vec3::from_array(world_from_model.rows.map(along)),
            radius: sphere.radius * scale + summed * ROUNDING,
            scale,
        }
    }

    /// The radius with a margin for the rounding of the centre.
    pub(crate) fn reach(&self) -> f32 {
        self.radius + self.center.length() * ROUNDING
    }
}

impl Spheres {
    pub(crate) fn reserve(&mut self, instances: usize) {
        let all = instances.next_multiple_of(CHUNK);
        for list in self.lists() {
            reserve_all(list, all);
        }
    }

    fn lists(&mut self) -> [&mut Vec<f32>; 5] {
        [
            &mut self.x,
            &mut self.y,
            &mut self.z,
            &mut self.radius,
            &mut self.scale,
        ]
    }

    /// Returns true if that changed it.
    pub(crate) fn set(&mut self, index: u32, sphere: &WorldSphere) -> bool {
        let index = index as usize;
        let mut changed = false;
        let values = [
            sphere.center.x,
            sphere.center.y,
            sphere.center.z,
            sphere.radius,
            sphere.scale,
        ];
        if self.x.len() <= index {
            let all = (index + 1).next_multiple_of(CHUNK);
            for list in self.lists() {
                list.resize(all, 0.0);
            }
        }
        for (list, value) in self.lists().into_iter().zip(values) {
            if let Some(to) = list.get_mut(index) {
                changed |= core::mem::replace(to, value) != value;
            }
        }
        changed
    }

    pub(crate) fn get(&self, index: u32) -> WorldSphere {
        let of = |list: &[f32]| list.get(index as usize).copied().unwrap_or(0.0);
        WorldSphere {
            center: Vec3::new(of(&self.x), of(&self.y), of(&self.z)),
            radius: of(&self.radius),
            scale: of(&self.scale),
        }
    }

    /// A bit for each instance of a block that may be inside all planes, and is not too small.
    pub(crate) fn seen(&self, block: usize, test: &ViewTest) -> u64 {
        test.eyes()
            .fold(0, |seen, eye| seen | self.seen_by(block, eye))
    }

    /// A bit for each instance of a block that may be inside all planes.
    pub(crate) fn inside(&self, block: usize, test: &ViewTest) -> u64 {
        test.eyes()
            .fold(0, |inside, eye| inside | self.inside_of(block, eye))
    }

    fn seen_by(&self, block: usize, test: &EyeTest) -> u64 {
        let inside = self.inside_of(block, test);
        let start = (block * CHUNK) as u32;
        if !test.coarse {
            return inside;
        }
        super::bits::bits(inside).fold(inside, |seen, at| {
            let sphere = self.get(start + at as u32);
            let squared = test.distance_squared(sphere.center);
            seen & !(u64::from(test.is_too_small(&sphere, squared)) << at)
        })
    }

    fn inside_of(&self, block: usize, test: &EyeTest) -> u64 {
        let of = |list| {
            let (blocks, _) = <[f32]>::as_chunks::<CHUNK>(list);
            blocks.get(block)
        };
        let (Some(x), Some(y), Some(z), Some(radius)) =
            (of(&self.x), of(&self.y), of(&self.z), of(&self.radius))
        else {
            return 0;
        };
        let mut inside = u64::MAX;
        let mut sides = [0_u8; CHUNK];
        for plane in &test.planes {
            for (((side, x), y), (z, radius)) in
                sides.iter_mut().zip(x).zip(y).zip(z.iter().zip(radius))
            {
                *side = u8::from(plane.leaves_out(Vec3::new(*x, *y, *z), *radius));
            }
            for (at, eight) in (0..).step_by(8).zip(sides.as_chunks::<8>().0) {
                // Moves the lowest bits of eight bytes into one byte.
                let out = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                inside &= !(out << at);
            }
            if inside == 0 {
                break;
            }
        }
        inside
    }
}

/// A plane that bounds what a view shows.
#[derive(Debug, Clone, Copy)]
struct Plane {
    /// Its product with a point inside is not negative. The normal is not longer than 1.
    inward: Vec4,
    /// The rounding error of the product and of the point: per metre of the point's coordinates,
    /// and in any case.
    rounding: [f32; 2],
}

impl Plane {
    /// The plane of points whose product with `a` is not below minus that with `b`.
    fn new(a: Vec4, b: Vec4) -> Self {
        let inward = a + b;
        let length = inward.truncate().length() * (1.0 + ROUNDING);
        // A plane without a normal has everything on one side.
        let scale = if length > 0.0 { length } else { 1.0 };
        let lengths = a.truncate().length() + b.truncate().length();
        Self {
            inward: inward / scale,
            rounding: [
                (lengths / scale + 1.0) * ROUNDING,
                (a.w.abs() + b.w.abs()) / scale * ROUNDING,
            ],
        }
    }

    /// True if a sphere lies outside as a whole.
    fn leaves_out(&self, center: Vec3, radius: f32) -> bool {
        let [x, y, z, w] = self.inward.to_array();
        let product = ((center.x * x + center.y * y) + center.z * z) + w;
        let away = (center.x.abs() + center.y.abs()) + center.z.abs();
        let reach = (radius + away * self.rounding[0]) + self.rounding[1];
        product + reach < 0.0
    }
}

/// The tests that a view applies to instances, one for each eye.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ViewTest {
    first: EyeTest,
    /// The tests of further eyes.
    more: [Option<EyeTest>; View::MAX_EYES - 1],
}

/// The planes and distances that an eye tests instances with.
#[derive(Debug, Clone, Copy)]
struct EyeTest {
    planes: [Plane; 6],
    eye: Vec3,
    /// True if size depends on distance.
    perspective: bool,
    /// True if what is too small is left out.
    coarse: bool,
    /// Pixels per metre at a distance of 1 m over the allowed error in pixels: for the level that
    /// an instance has or a finer one, and for a coarser one.
    per_error: [f32; 2],
    /// The size that is left out as a multiple of the sphere's radius, at a distance of 1 m.
    least_size: f32,
    /// As `per_error`, for the error of shared poses, or 0 if there are none.
    per_pose: f32,
    /// The only level that is drawn, if the caller chose it.
    fixed: Option<u8>,
}

/// The result of the cull stage for an instance that lies inside a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// It is too small.
    TooSmall,
    /// It is drawn at this level.
    Level(u8),
}

impl ViewTest {
    pub(crate) fn new(view: &View) -> Self {
        let mut more = [None; View::MAX_EYES - 1];
        for (to, eye) in more.iter_mut().zip(view.further_eyes()) {
            *to = Some(EyeTest::new(&eye));
        }
        Self {
            first: EyeTest::new(view),
            more,
        }
    }

    fn eyes(&self) -> impl Iterator<Item = &EyeTest> {
        core::iter::once(&self.first).chain(self.more.iter().flatten())
    }

    fn each(&self, change: impl Fn(&EyeTest) -> EyeTest) -> Self {
        Self {
            first: change(&self.first),
            more: self.more.map(|eye| eye.as_ref().map(&change)),
        }
    }

    /// True if the caller chose the level.
    pub(crate) fn is_fixed(&self) -> bool {
        self.first.fixed.is_some()
    }

    /// The same with more allowed error: a power of [`FACTOR`] times as much.
    pub(crate) fn with_power(&self, power: u32) -> Self {
        self.each(|eye| eye.with_power(power))
    }

    /// The same, but never stricter than a device that rounds in another way.
    pub(crate) fn widened(&self) -> Self {
        self.each(EyeTest::widened)
    }

    /// True if an eye has a sphere inside all planes, and not too small.
    pub(crate) fn shows(&self, sphere: &WorldSphere) -> bool {
        self.eyes().any(|eye| eye.shows(sphere))
    }

    /// True if all eyes allow a shared pose with this error in metres in place of an instance's
    /// own.
    pub(crate) fn may_share(&self, sphere: &WorldSphere, error_m: f32) -> bool {
        self.eyes().all(|eye| eye.may_share(sphere, error_m))
    }

    /// Finds the level of an instance that lies inside: the finest that an eye needs which has it
    /// inside. `errors` are those of its character's levels in metres, ascending from 0, and `last`
    /// is the level that it had in this view.
    pub(crate) fn find(&self, sphere: &WorldSphere, errors: &[f32], last: u8) -> Found {
        let mut more = self.more.iter().flatten().peekable();
        if more.peek().is_none() {
            return self.first.find(sphere, errors, last);
        }
        let inside = self.eyes().filter(|eye| !eye.leaves_out(sphere));
        let levels = inside.filter_map(|eye| match eye.find(sphere, errors, last) {
            Found::Level(level) => Some(level),
            Found::TooSmall => None,
        });
        levels.min().map_or(Found::TooSmall, Found::Level)
    }

    /// The record of the view `view` for the GPU's cull stage. Those of its further eyes stand from
    /// `more_at` on.
    pub(crate) fn record(&self, view: &View, more_at: u32) -> GpuCullView {
        let more = self.more.iter().flatten().count() as u32;
        GpuCullView {
            more_eyes: if more > 0 { more_at << 8 | more } else { 0 },
            ..self.first.record(view)
        }
    }

    /// The records of its further eyes.
    pub(crate) fn more_records(self, view: &View) -> impl Iterator<Item = GpuCullView> {
        let more = self.more.into_iter().flatten();
        more.map(|eye| eye.record(view))
    }
}

impl EyeTest {
    fn new(view: &View) -> Self {
        let [x, y, z, w] = [0, 1, 2, 3].map(|row| view.eye.clip_from_world.row(row));
        let jitter = view.eye.jitter;
        let everything = Plane::new(Vec4::W, Vec4::ZERO);
        let sides = [
            Plane::new(w * (1.0 + jitter.x), x),
            Plane::new(w * (1.0 - jitter.x), -x),
            Plane::new(w * (1.0 + jitter.y), y),
            Plane::new(w * (1.0 - jitter.y), -y),
        ];
        let [left, right, top, bottom] = sides;
        let planes = match view.culling {
            Culling::Off | Culling::Rays => [everything; 6],
            Culling::Sides => [left, right, top, bottom, everything, everything],
            Culling::Frustum => {
                let (near, far) = (Plane::new(z, Vec4::ZERO), Plane::new(w, -z));
                [left, right, top, bottom, near, far]
            }
        };
        let eye = view.eye_point();
        let perspective = !view.is_orthographic();
        let extent = view.viewport.extent;
        let half = [extent.width, extent.height].map(|size| size as f32 / 2.0);
        let pixels = f32::max(
            x.truncate().length() * half[0],
            y.truncate().length() * half[1],
        );
        let depth = if perspective {
            w.truncate().length()
        } else {
            w.w.abs()
        };
        let coarse = view.detail.error_px > 0.0 && view.culling != Culling::Off;
        let pixels = (pixels / depth).min(f32::MAX);
        let per_error = (pixels / view.detail.error_px).min(f32::MAX);
        Self {
            planes,
            eye: eye.truncate(),
            perspective,
            coarse,
            per_error: [per_error, (per_error / COARSER).min(f32::MAX)],
            least_size: (2.0 / LEAST_SIZE * per_error).min(f32::MAX),
            per_pose: match view.detail.pose_error_px > 0.0 {
                true => (pixels / view.detail.pose_error_px).min(f32::MAX),
                false => 0.0,
            },
            fixed: match view.detail.level {
                None if view.detail.error_px > 0.0 => None,
                level => Some(level.unwrap_or(0).min(MAX_LEVELS as u32) as u8),
            },
        }
    }

    fn with_power(&self, power: u32) -> Self {
        let inverse = (0..power).fold(1.0, |inverse: f32, _| inverse * INVERSE_FACTOR);
        Self {
            per_error: self.per_error.map(|per_error| per_error * inverse),
            ..*self
        }
    }

    /// True if a sphere lies outside of a plane.
    fn leaves_out(&self, sphere: &WorldSphere) -> bool {
        let leaves_out = |plane: &Plane| plane.leaves_out(sphere.center, sphere.radius);
        self.planes.iter().any(leaves_out)
    }

    fn shows(&self, sphere: &WorldSphere) -> bool {
        !self.leaves_out(sphere) && !self.is_too_small(sphere, self.distance_squared(sphere.center))
    }

    fn widened(&self) -> Self {
        Self {
            planes: self.planes.map(|plane| Plane {
                rounding: plane.rounding.map(|rounding| rounding * 2.0),
                ..plane
            }),
            least_size: (self.least_size * (1.0 + 4.0 * ROUNDING)).min(f32::MAX),
            ..*self
        }
    }

    /// The record of an eye of the view `view` for the GPU's cull stage.
    fn record(&self, view: &View) -> GpuCullView {
        let limited = view.detail.max_triangles.filter(|_| self.fixed.is_none());
        let flags = [
            (self.perspective, GpuCullView::PERSPECTIVE),
            (self.coarse, GpuCullView::COARSE),
            (limited.is_some(), GpuCullView::BUDGET),
        ];
        let flags = flags.into_iter().filter(|(is, _)| *is);
        let list = view.list.map_or(0, |list| list.index + 1);
        GpuCullView {
            planes: self.planes.map(|plane| plane.inward.to_array()),
            rounding: self.planes.map(|plane| plane.rounding),
            eye: self.eye.to_array(),
            least_size: self.least_size,
            per_error: self.per_error,
            max_triangles: limited.unwrap_or(u32::MAX),
            fixed_level: self.fixed.map_or(0, |level| u32::from(level) + 1),
            mask: view.mask,
            flags: flags.fold(list << GpuCullView::LIST_SHIFT, |flags, (_, flag)| {
                flags | flag
            }),
            per_pose: self.per_pose,
            more_eyes: 0,
        }
    }

    /// True if a shared pose with this error in metres may stand in for that of an instance.
    fn may_share(&self, sphere: &WorldSphere, error_m: f32) -> bool {
        let near = if self.perspective { sphere.radius } else { 0.0 };
        let reach = self.per_pose * (sphere.scale * error_m) + near;
        let squared = self.distance_squared(sphere.center);
        self.per_pose > 0.0 && error_m > 0.0 && squared >= reach * reach
    }

    fn is_too_small(&self, sphere: &WorldSphere, squared: f32) -> bool {
        let size = sphere.radius * self.least_size;
        self.coarse && squared > size * size
    }

    /// The square of the distance that sizes are divided by.
    fn distance_squared(&self, center: Vec3) -> f32 {
        let [x, y, z] = (center - self.eye).to_array();
        if self.perspective {
            (x * x + y * y) + z * z
        } else {
            1.0
        }
    }

    /// Finds the level of an instance that lies inside. See [`ViewTest::find`].
    fn find(&self, sphere: &WorldSphere, errors: &[f32], last: u8) -> Found {
        let squared = self.distance_squared(sphere.center);
        if self.is_too_small(sphere, squared) {
            return Found::TooSmall;
        }
        Found::Level(self.level(sphere, squared, errors, last))
    }

    /// The coarsest level whose error is allowed at the sphere's near side.
    fn level(&self, sphere: &WorldSphere, squared: f32, errors: &[f32], last: u8) -> u8 {
        let coarsest = errors.len().clamp(1, MAX_LEVELS) as u8 - 1;
        if let Some(fixed) = self.fixed {
            return fixed.min(coarsest);
        }
        let near = if self.perspective { sphere.radius } else { 0.0 };
        let fits = |level: &u8| {
            let error = errors
                .get(usize::from(*level))
                .copied()
                .unwrap_or(f32::INFINITY);
            let per_error = self.per_error[usize::from(*level > last)];
            let reach = per_error * (sphere.scale * error) + near;
            squared >= reach * reach
        };
        (1..=coarsest).rev().find(fits).unwrap_or(0)
    }
}
