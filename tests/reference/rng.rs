//! Small deterministic random numbers (splitmix64).

use throng::glam::{Quat, Vec3};

pub struct Rng(u64);

impl Rng {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..end`.
    pub const fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    pub const fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    /// A number in `min..max`.
    pub fn range(&mut self, min: f32, max: f32) -> f32 {
        let unit = (self.bits() >> 40) as f32 / (1_u32 << 24) as f32;
        min + unit * (max - min)
    }

    /// A vector with each coordinate in `min..max`.
    pub fn vector(&mut self, min: f32, max: f32) -> Vec3 {
        Vec3::from_array([0; 3].map(|_| self.range(min, max)))
    }

    /// A uniformly distributed direction.
    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector(-1.0, 1.0);
            if v.length_squared() > 0.01 && v.length_squared() <= 1.0 {
                return v.normalize();
            }
        }
    }

    /// A uniformly distributed rotation.
    pub fn rotation(&mut self) -> Quat {
        loop {
            let q = Quat::from_array([0; 4].map(|_| self.range(-1.0, 1.0)));
            if q.length_squared() > 0.01 && q.length_squared() <= 1.0 {
                return q.normalize();
            }
        }
    }
}
