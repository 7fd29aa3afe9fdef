//! Where a time falls among a clip's frames, and how rotations get from one to the next.

use crate::character::RawClip;

/// When the frames of a clip are: from `start_s` on `rate` a second, but for the last, which is at `end_s`. So a clip whose
/// length is no whole number of intervals still has its keys on the file's grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timing {
    pub(super) start_s: f64,
    pub(super) end_s: f64,
    /// At least one.
    pub(super) frames: usize,
    /// Frames a second; 0 for a single frame.
    pub(super) rate: f64,
}

/// Where a time falls among the frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) u: f32,
    /// What rotations need of `u`.
    pub(super) slerp: Slerp,
    /// The time that it is, clamped to the clip.
    pub(super) time_s: f64,
}

/// How far `u` is moved so that rotations turn at an even speed although their components are interpolated linearly: with `w`,
/// one minus the cosine between the keys, the part of the way is `u + w (one + w two)`. That is the first terms of the series in
/// `w` of `sin(uφ) / (sin(uφ) + sin((1-u)φ))`, where `cos φ = 1 - w`; the second is a fit for φ up to 0.4.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slerp {
    pub(super) one: f32,
    pub(super) two: f32,
}

impl Slerp {
    fn new(u: f32) -> Self {
        let bow = u * (1.0 - u);
        let skew = bow * (1.0 - 2.0 * u);
        Self {
            one: skew * (1.0 / 3.0),
            two: skew * (0.136_888_22 - 0.276_155_4 * bow),
        }
    }

    /// What part of the way between the components of two rotations lies at `u`.
    pub(super) fn part(&self, from: [f32; 4], to: [f32; 4], u: f32) -> f32 {
        let pairs = from.into_iter().zip(to);
        let w = pairs.fold(1.0, |w, (a, b)| w - a * b);
        u + w * (self.one + w * self.two)
    }
}

impl Timing {
    /// A single frame.
    pub(super) fn single(raw: &RawClip) -> Self {
        Self {
            start_s: raw.start_s().into(),
            end_s: raw.duration_s().into(),
            frames: 1,
            rate: 0.0,
        }
    }

    /// When a frame is.
    pub(super) fn time_s(&self, frame: usize) -> f64 {
        if frame + 1 >= self.frames {
            self.end_s
        } else {
            self.start_s + frame as f64 / self.rate
        }
    }

    /// Where `time_s` falls.
    #[inline]
    pub(super) fn place(&self, time_s: f64) -> Place {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        // Not `clamp`, which panics where it is unsure of its bounds.
        let time_s = time_s.max(self.start_s).min(self.end_s);
        let last = self.frames - 1;
        let at = (time_s - self.start_s) * self.rate;
        let mut from = (at as usize).min(last);
        let mut u = at - from as f64;
        if from + 1 >= last {
            from = last.saturating_sub(1);
            let start_s = self.start_s + from as f64 / self.rate;
            u = (time_s - start_s) / (self.end_s - start_s);
            if time_s >= self.end_s {
                (from, u) = (last, 0.0);
            }
        }
        let u = u.clamp(0.0, 1.0) as f32;
        Place {
            from,
            to: (from + 1).min(last),
            u,
            slerp: Slerp::new(u),
            time_s,
        }
    }
}
