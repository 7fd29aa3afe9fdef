//! Compares eight poses of a clip with exact ones, joint by joint.

use super::octet::{EIGHT, Matrices, Octet};
use super::unpacked::{Moments, Unpacked};
use glam::{Affine3A, Mat3A, Vec3, Vec3A};

/// A joint's worst error so far in each of eight lanes: its square, and the group where it was
/// found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Far {
    squared: Octet,
    group: [u32; EIGHT],
}

/// The inputs for comparing the poses at eight times.
pub(super) struct Look<'a> {
    pub(super) made: &'a Unpacked<'a>,
    pub(super) at: &'a Moments,
    pub(super) exact: &'a [Matrices],
    pub(super) reaches: &'a [Vec3],
    pub(super) number: u32,
    pub(super) which: [&'a [bool]; 2],
}

impl Look<'_> {
    pub(super) fn run(&self, models: &mut [Matrices], found: &mut [Far]) -> Octet {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the check above found AVX2 on this CPU.
            return unsafe { self.run_avx2(models, found) };
        }
        self.run_any(models, found)
    }

    /// Runs the comparison compiled for AVX2.
    ///
    /// # Safety
    /// The CPU has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn run_avx2(&self, models: &mut [Matrices], found: &mut [Far]) -> Octet {
        self.run_any(models, found)
    }

    #[inline(always)]
    fn run_any(&self, models: &mut [Matrices], found: &mut [Far]) -> Octet {
        let [wanted, counted] = self.which;
        self.made.model_poses(self.at, wanted, models);
        let mut most = Octet::default();
        for joint in 0..models.len() {
            if !counted[joint] {
                continue;
            }
            let squared = squared(&self.exact[joint], &models[joint], self.reaches[joint]);
            most = most.max(squared);
            found[joint].take(squared, self.number);
        }
        most
    }

    /// Does the same if the file's own pose may not be finite. That is not an error of the clip.
    #[cold]
    pub(super) fn carefully(&self, models: &mut [Matrices], found: &mut [Far]) -> Octet {
        let [wanted, counted] = self.which;
        self.made.model_poses(self.at, wanted, models);
        let mut most = Octet::default();
        for joint in (0..models.len()).filter(|joint| counted[*joint]) {
            let squared = core::array::from_fn(|lane| {
                let [exact, made] = [&self.exact[joint], &models[joint]].map(|m| affine(m, lane));
                apart(&exact, &made, self.reaches[joint]).0.powi(2)
            });
            most = most.max(Octet(squared));
            found[joint].take(Octet(squared), self.number);
        }
        most
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

/// Squared distance of the joint's worst point. NaN becomes infinite.
#[inline(always)]
fn squared(exact: &Matrices, made: &Matrices, reach: Vec3) -> Octet {
    let off: Matrices = core::array::from_fn(|k| exact[k] - made[k]);
    let mut worst = Octet::default();
    for (axis, reach) in reach.to_array().into_iter().enumerate() {
        let mut sum = Octet::default();
        for row in 0..3 {
            let off = off[axis * 3 + row] * Octet::splat(reach) + off[9 + row];
            sum = sum + off * off;
        }
        worst = worst.max(sum.map(|sum| if sum.is_nan() { f32::INFINITY } else { sum }));
    }
    worst
}

/// Extracts one of eight matrices.
fn affine(matrices: &Matrices, lane: usize) -> Affine3A {
    let column = |axis: usize| Vec3A::from([0, 1, 2].map(|row| matrices[axis * 3 + row].0[lane]));
    Affine3A {
        matrix3: Mat3A::from_cols(column(0), column(1), column(2)),
        translation: column(3),
    }
}

/// Returns the largest distance between a joint's points, and the point. The distance is 0 if the
/// file's own pose is not finite.
pub(super) fn apart(exact: &Affine3A, made: &Affine3A, reach: Vec3) -> (f32, Vec3) {
    let mut worst = (0.0, Vec3::ZERO);
    for point in [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * reach) {
        let want = exact.transform_point3(point);
        let error = (want - made.transform_point3(point)).length();
        let error = match (want.is_finite(), error.is_nan()) {
            (false, _) => 0.0,
            (true, true) => f32::INFINITY,
            (true, false) => error,
        };
        if error > worst.0 {
            worst = (error, point);
        }
    }
    worst
}
