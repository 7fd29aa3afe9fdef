//! Compares eight poses of a clip with exact ones, joint by joint and vertex by vertex.
//!
//! Loops here have no closures: a closure that is not inlined is not compiled for AVX2.

use super::octet::{EIGHT, Matrices, Octet};
use super::packed::VertexError;
use super::probes::{Cell, Probes};
use super::tested_times::Poses;
use super::unpacked::{Moments, Unpacked};
use crate::simd::Unit;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2Fma, SimdLevel, phase};
use glam::{Affine3A, Vec3};

/// A joint's worst error so far in each of eight lanes: its square, and the group where it was
/// found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Far {
    squared: Octet,
    group: [u32; EIGHT],
}

/// The points that are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Detail {
    /// The points that are always tested, and each joint's outermost vertices instead of all.
    Guides,
    /// The points that are always tested, and the worst of all vertices if it is off by more than
    /// this many metres.
    Worst(f32),
    /// The points that are always tested, and all vertices that are off by more than this many
    /// metres. Their errors count for each joint that moves them.
    Vertices(f32),
}

/// The vertex with the worst error so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct FarVertex {
    /// `None` if no vertex was found to be off.
    pub(super) error: Option<VertexError>,
    /// The joint that moves it most.
    pub(super) joint: u16,
}

impl FarVertex {
    pub(super) fn error_m(&self) -> f32 {
        self.error.map_or(0.0, |error| error.error_m)
    }
}

/// The inputs for comparing the poses at eight times.
pub(super) struct Comparison<'a> {
    pub(super) made: &'a Unpacked<'a>,
    /// The exact poses. Those that are not finite are not an error of the clip.
    pub(super) exact: &'a Poses,
    pub(super) probes: &'a Probes,
    pub(super) detail: Detail,
    pub(super) number: u32,
    pub(super) times_s: &'a [f64; EIGHT],
    /// The joints whose poses are computed, and those whose errors count.
    pub(super) which: [&'a [bool]; 2],
}

/// The results of comparisons.
pub(super) struct Found {
    pub(super) joints: Vec<Far>,
    pub(super) vertex: FarVertex,
}

impl Comparison<'_> {
    /// Compares the poses. Returns the squares of the worst errors of the points, without those of
    /// vertices.
    ///
    /// Leaves the differences of the joints' matrices in `models`.
    pub(super) fn run(&self, models: &mut [Matrices], found: &mut Found) -> Octet {
        match Unit::best().level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Unit::best` found AVX2 on this CPU. No multiplication is fused with an
            // addition unless it says so, so the bits are the same.
            SimdLevel::Avx512 | SimdLevel::Avx2 => unsafe {
                phase!(Avx2Fma, self.run_any(models, found))
            },
            _ => self.run_any(models, found),
        }
    }

    #[inline(always)]
    fn run_any(&self, models: &mut [Matrices], found: &mut Found) -> Octet {
        let [wanted, counted] = self.which;
        let at = Moments::new(self.made.timing(), self.times_s);
        self.made.model_poses(&at, wanted, models);
        let mut most = Octet::default();
        let guides = self.detail == Detail::Guides;
        for joint in 0..models.len() {
            if !counted[joint] {
                continue;
            }
            let off = difference(&self.exact.models[joint], &models[joint], self.exact.finite);
            // Most clips leave some joints exactly where they are.
            if is_zero(&off) {
                models[joint] = off;
                continue;
            }
            let mut squared = Octet::default();
            for point in self.probes.points(joint, guides) {
                squared = squared.max(self::squared(image(&off, *point)));
            }
            most = most.max(squared);
            found.joints[joint].take(squared, self.number);
            models[joint] = off;
        }
        match self.detail {
            Detail::Guides => {}
            Detail::Worst(above_m) => {
                let above_m = above_m.max(found.vertex.error_m());
                self.vertices(above_m, true, models, found);
            }
            Detail::Vertices(above_m) => self.vertices(above_m, false, models, found),
        }
        most
    }

    /// Compares the vertices that may be off by more than `above_m`, or only by more than the worst
    /// so far. All joints must be counted.
    ///
    /// A vertex is a weighted mean of points that its joints move, so it is off by no more than the
    /// worst of them. They lie in boxes, whose worst point is a corner.
    #[inline(always)]
    fn vertices(&self, above_m: f32, only_worst: bool, off: &[Matrices], found: &mut Found) {
        let mut least = above_m * above_m;
        for (joint, own) in off.iter().enumerate() {
            let Some((all, cells)) = self.probes.cells(joint) else {
                continue;
            };
            if is_zero(own) || !farthest_corner(own, all).any_above(least) {
                continue;
            }
            for cell in cells {
                if !farthest_corner(own, cell).any_above(least) {
                    continue;
                }
                for vertex in self.probes.moved(cell) {
                    let squared = self.vertex(*vertex, off);
                    if squared.any_above(least) {
                        let worst = self.take_vertex(joint, *vertex, squared, found);
                        least = if only_worst { worst } else { least };
                    }
                }
            }
        }
    }

    /// Counts a vertex, and returns the square of its worst error.
    #[cold]
    fn take_vertex(&self, joint: usize, vertex: u32, squared: Octet, found: &mut Found) -> f32 {
        found.joints[joint].take(squared, self.number);
        let worst = squared.greatest();
        if worst.sqrt() > found.vertex.error_m() {
            let lane = squared.0.iter().position(|own| *own == worst).unwrap_or(0);
            let (primitive, number) = self.probes.vertex(vertex);
            let influences = self.probes.influences(vertex).iter();
            let strongest = influences.max_by(|a, b| a.weight.total_cmp(&b.weight));
            found.vertex = FarVertex {
                error: Some(VertexError {
                    error_m: worst.sqrt(),
                    primitive,
                    vertex: number,
                    time_s: self.times_s[lane],
                }),
                joint: strongest.map_or(0, |influence| influence.joint),
            };
        }
        worst
    }

    /// The squares of a vertex's errors.
    #[inline(always)]
    fn vertex(&self, vertex: u32, off: &[Matrices]) -> Octet {
        let mut sum = [Octet::default(); 3];
        for influence in self.probes.influences(vertex) {
            let (off, point) = (&off[usize::from(influence.joint)], influence.point);
            let (x, y) = (Octet::splat(point.x), Octet::splat(point.y));
            let z = Octet::splat(point.z);
            for (row, sum) in sum.iter_mut().enumerate() {
                let turned = off[row] * x + off[3 + row] * y + off[6 + row] * z;
                *sum = *sum + turned + off[9 + row] * Octet::splat(influence.weight);
            }
        }
        squared(sum)
    }
}

impl Far {
    #[inline(always)]
    fn take(&mut self, squared: Octet, number: u32) {
        for lane in 0..EIGHT {
            let worse = squared.0[lane] > self.squared.0[lane];
            self.group[lane] = if worse { number } else { self.group[lane] };
        }
        self.squared = self.squared.max(squared);
    }

    /// Returns the worst error of all lanes, with its group and lane.
    pub(super) fn worst(&self) -> (f32, u32, usize) {
        let mut worst = (0.0, 0, 0);
        for (lane, squared) in self.squared.0.into_iter().enumerate() {
            if squared > worst.0 {
                worst = (squared, self.group[lane], lane);
            }
        }
        (worst.0.sqrt(), worst.1, worst.2)
    }
}

/// The difference of two matrices. If some exact ones may not be finite, it is 0 for those.
#[inline(always)]
fn difference(exact: &Matrices, made: &Matrices, finite: bool) -> Matrices {
    let mut off = *exact;
    for (off, made) in off.iter_mut().zip(made) {
        *off = *off - *made;
    }
    if !finite {
        for lane in 0..EIGHT {
            if !exact.iter().all(|number| number.0[lane].is_finite()) {
                off.iter_mut().for_each(|number| number.0[lane] = 0.0);
            }
        }
    }
    off
}

/// True if a difference moves no point. NaN is not 0.
#[inline(always)]
fn is_zero(off: &Matrices) -> bool {
    let sum = off
        .iter()
        .fold(Octet::default(), |sum, number| sum + number.map(f32::abs));
    sum == Octet::default()
}

/// The square of a vector's length. NaN becomes infinite.
#[inline(always)]
fn squared([x, y, z]: [Octet; 3]) -> Octet {
    let sum = x * x + y * y + z * z;
    sum.map(|sum| if sum.is_nan() { f32::INFINITY } else { sum })
}

#[inline(always)]
fn image(off: &Matrices, point: Vec3) -> [Octet; 3] {
    let (x, y) = (Octet::splat(point.x), Octet::splat(point.y));
    let z = Octet::splat(point.z);
    let mut image = [off[9], off[10], off[11]];
    for (row, image) in image.iter_mut().enumerate() {
        *image = off[row] * x + off[3 + row] * y + off[6 + row] * z + *image;
    }
    image
}

/// The squared length of the farthest image of a box.
#[inline(always)]
fn farthest_corner(off: &Matrices, cell: &Cell) -> Octet {
    let (x, y) = (Octet::splat(cell.half.x), Octet::splat(cell.half.y));
    let (z, zero) = (Octet::splat(cell.half.z), Octet::default());
    let center = image(off, cell.center);
    let mut most = zero;
    for (x, y) in [(x, y), (zero - x, y), (x, zero - y), (zero - x, zero - y)] {
        let (mut low, mut high) = (center, center);
        for row in 0..3 {
            let (side, along) = (off[row] * x + off[3 + row] * y, off[6 + row] * z);
            low[row] = center[row] + side - along;
            high[row] = center[row] + side + along;
        }
        most = most.max(squared(low)).max(squared(high));
    }
    most
}

/// Returns the point of a joint that is furthest off. If the file's own pose is not finite, no
/// point is off.
pub(super) fn farthest(exact: &Affine3A, made: &Affine3A, points: &[Vec3]) -> Vec3 {
    let mut worst = (0.0, Vec3::ZERO);
    for point in points.iter().copied() {
        let want = exact.transform_point3(point);
        let error = (want - made.transform_point3(point)).length();
        let error = if error.is_nan() { f32::INFINITY } else { error };
        if want.is_finite() && error > worst.0 {
            worst = (error, point);
        }
    }
    worst.1
}
