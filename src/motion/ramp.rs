//! Transitions between two values, closed-form in time.

/// The curve of a transition from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Ease {
    /// At a constant rate.
    Linear,
    /// Slow at both ends: 3u² − 2u³ (smoothstep).
    #[default]
    Smooth,
}

impl Ease {
    /// The fraction of the transition done after a fraction of its time.
    ///
    /// `u` is the fraction of the time. Maps 0..=1 to 0..=1.
    #[must_use]
    #[inline]
    pub fn at(self, u: f64) -> f64 {
        match self {
            Self::Linear => u,
            Self::Smooth => u * u * (3.0 - 2.0 * u),
        }
    }

    /// The integral of [`Self::at`] from 0 to `u`, for `u` in 0..=1. It is a half at 1.
    pub(crate) fn integral(self, u: f64) -> f64 {
        match self {
            Self::Linear => 0.5 * u * u,
            Self::Smooth => u * u * u * (1.0 - 0.5 * u),
        }
    }
}

/// A weight that changes from one value to another, closed-form in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ramp {
    /// The value until `start_s`.
    pub(crate) from: f32,
    /// The value from `start_s + duration_s` on.
    pub(crate) to: f32,
    /// The start of the change, in seconds of the engine's time.
    pub(crate) start_s: f64,
    /// Duration of the change, in seconds. 0 or less is a step.
    pub(crate) duration_s: f64,
    /// The curve of the change.
    pub(crate) ease: Ease,
}

impl Ramp {
    /// A ramp that always has this value.
    pub(crate) const fn constant(value: f32) -> Self {
        Self::new(value, value, 0.0, 0.0, Ease::Linear)
    }

    /// A ramp from one value to another.
    pub(crate) const fn new(from: f32, to: f32, start_s: f64, duration_s: f64, ease: Ease) -> Self {
        Self {
            from,
            to,
            start_s,
            duration_s,
            ease,
        }
    }

    /// The value at the engine's time `now_s`. NaN counts as 0.
    #[inline]
    pub(crate) fn at(&self, now_s: f64) -> f32 {
        match self.part(now_s) {
            // The ends are returned directly, because the sum below could miss them by a rounding
            // error.
            part if part <= 0.0 => self.from,
            part if part >= 1.0 => self.to,
            part => {
                let (from, to) = (f64::from(self.from), f64::from(self.to));
                (from + (to - from) * self.ease.at(part)) as f32
            }
        }
    }

    /// Returns true if the change has ended.
    pub(crate) fn has_ended(&self, now_s: f64) -> bool {
        self.part(now_s) >= 1.0
    }

    /// A new ramp to `to` that starts with the value at `now_s`, so that the value does not jump.
    pub(crate) fn turned(&self, now_s: f64, to: f32, duration_s: f64, ease: Ease) -> Self {
        Self::new(self.at(now_s), to, now_s, duration_s, ease)
    }

    fn part(&self, now_s: f64) -> f64 {
        part(now_s, self.start_s, self.duration_s)
    }
}

/// The elapsed fraction of an interval that starts at `start_s`, in 0..=1.
#[inline]
fn part(now_s: f64, start_s: f64, duration_s: f64) -> f64 {
    let now_s = if now_s.is_nan() { 0.0 } else { now_s };
    let part = (now_s - start_s) / duration_s;
    if duration_s > 0.0 && part.is_finite() {
        part.clamp(0.0, 1.0)
    } else if now_s < start_s {
        0.0
    } else {
        1.0
    }
}

/// A speed that changes from one value to another. The distance is closed-form in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SpeedRamp {
    /// The speed until `start_s`.
    pub(crate) from: f64,
    /// The speed from `start_s + duration_s` on.
    pub(crate) to: f64,
    /// The start of the change, in seconds.
    pub(crate) start_s: f64,
    /// Duration of the change, in seconds. 0 means at once.
    pub(crate) duration_s: f64,
    /// The curve of the change.
    pub(crate) ease: Ease,
}

impl SpeedRamp {
    /// A ramp that always has this speed. Its distance is measured from `start_s`.
    pub(crate) const fn constant(speed: f64, start_s: f64) -> Self {
        Self {
            from: speed,
            to: speed,
            start_s,
            duration_s: 0.0,
            ease: Ease::Linear,
        }
    }

    /// The speed at `now_s`.
    pub(crate) fn at(&self, now_s: f64) -> f64 {
        let part = self.ease.at(part(now_s, self.start_s, self.duration_s));
        // This form is exact at both ends.
        self.from * (1.0 - part) + self.to * part
    }

    /// The distance covered from `start_s` to `now_s`: the integral of the speed.
    pub(crate) fn way(&self, now_s: f64) -> f64 {
        let now_s = if now_s.is_nan() { 0.0 } else { now_s };
        let since = now_s - self.start_s;
        let over = if self.duration_s > 0.0 {
            self.duration_s
        } else {
            0.0
        };
        // A change of infinite duration never begins.
        if since <= 0.0 || over.is_infinite() {
            return self.from * since;
        }
        if since >= over {
            let mean = 0.5 * (self.from + self.to);
            return mean * over + self.to * (since - over);
        }
        let eased = self.ease.integral(since / over) * over;
        self.from * since + (self.to - self.from) * eased
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::rng::Rng;

    const ODD: [f64; 10] = [
        0.0,
        -0.0,
        1.0,
        -1e-300,
        1e300,
        f64::MAX,
        f64::MIN,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];

    fn ease(rng: &mut Rng) -> Ease {
        [Ease::Linear, Ease::Smooth][rng.below(2)]
    }

    /// The fraction of a change that is done, by its definition.
    fn eased(ease: Ease, u: f64) -> f64 {
        match ease {
            Ease::Linear => u,
            Ease::Smooth => 3.0 * u.powi(2) - 2.0 * u.powi(3),
        }
    }

    #[test]
    fn ramps_go_evenly_or_smoothly() {
        let mut rng = Rng::new(13);
        for _ in 0..5000 {
            let (from, to) = (rng.range(0.0, 2.0), rng.range(0.0, 2.0));
            let start = f64::from(rng.range(-9.0, 9.0));
            let length = f64::from(rng.range(0.01, 4.0));
            let ease = ease(&mut rng);
            let ramp = Ramp::new(from, to, start, length, ease);
            let now = start + f64::from(rng.range(-0.5, 1.5)) * length;
            let u = ((now - start) / length).clamp(0.0, 1.0);
            let part = eased(ease, u);
            let want = f64::from(from) * (1.0 - part) + f64::from(to) * part;
            let off = (f64::from(ramp.at(now)) - want).abs();
            assert!(off < 2e-7, "{ramp:?} at {now}");
            assert_eq!(ramp.at(start), from);
            assert_eq!(ramp.at(start + 2.0 * length), to);
            assert_eq!(ramp.has_ended(now), u >= 1.0);
            let turned = ramp.turned(now, 0.5, 1.0, ease);
            assert_eq!(turned.at(now), ramp.at(now));
        }
        let step = Ramp::new(0.25, 0.75, 3.0, 0.0, Ease::Smooth);
        assert_eq!([2.9, 3.0, 4.0].map(|now| step.at(now)), [0.25, 0.75, 0.75]);
    }

    /// Invalid times give one of the two end values.
    #[test]
    fn odd_ramps_stay_at_an_end() {
        let odd = [ODD[4], ODD[5], ODD[6], ODD[7], ODD[8], ODD[9], -1.0];
        for odd in odd {
            for ramp in [
                Ramp::new(0.25, 0.75, odd, 1.0, Ease::Smooth),
                Ramp::new(0.25, 0.75, 1.0, odd, Ease::Smooth),
                Ramp::new(0.25, 0.75, odd, odd, Ease::Linear),
            ] {
                for now in [odd, 0.0, f64::MAX] {
                    assert!([0.25, 0.75].contains(&ramp.at(now)), "{ramp:?} at {now}");
                }
            }
        }
    }

    /// Compares with Gauss quadrature with two points, which is exact for cubics.
    ///
    /// The intervals do not straddle the ends of the change.
    #[test]
    fn the_way_is_the_integral_of_the_speed() {
        let mut rng = Rng::new(1);
        for _ in 0..300 {
            let ramp = SpeedRamp {
                from: rng.range(-3.0, 3.0).into(),
                to: rng.range(-3.0, 3.0).into(),
                start_s: rng.range(-50.0, 50.0).into(),
                duration_s: if rng.chance(4) {
                    0.0
                } else {
                    rng.range(0.05, 3.0).into()
                },
                ease: ease(&mut rng),
            };
            let end = f64::from(rng.range(-4.0, 6.0));
            let mut cuts = vec![0.0, end];
            cuts.extend([ramp.duration_s].into_iter().filter(|cut| *cut < end));
            cuts.sort_by(f64::total_cmp);
            let speed = |since: f64| {
                let u = if ramp.duration_s > 0.0 {
                    (since / ramp.duration_s).clamp(0.0, 1.0)
                } else {
                    f64::from(since >= 0.0)
                };
                ramp.from + (ramp.to - ramp.from) * eased(ramp.ease, u)
            };
            let mut way = 0.0;
            for pair in cuts.windows(2) {
                let (middle, half) = ((pair[0] + pair[1]) / 2.0, (pair[1] - pair[0]) / 2.0);
                let node = half / 3.0_f64.sqrt();
                way += half * (speed(middle - node) + speed(middle + node));
            }
            let way = if end < 0.0 { -way } else { way };
            // Times of up to 56 s have rounding errors of 7e-15, at speeds of up to 3.
            let off = (ramp.way(ramp.start_s + end) - way).abs();
            assert!(off < 1e-12, "{ramp:?} after {end}: {off}");
            let off = (ramp.at(ramp.start_s + end) - speed(end)).abs();
            assert!(off < 1e-12, "{ramp:?} after {end}: {off}");
        }
    }

    #[test]
    fn a_change_that_takes_for_ever_changes_nothing() {
        let ramp = SpeedRamp {
            from: 0.5,
            to: 9.0,
            start_s: 1.0,
            duration_s: f64::INFINITY,
            ease: Ease::Smooth,
        };
        for now in [0.0, 1.0, 7.25, 1e6] {
            assert_eq!(ramp.way(now), 0.5 * (now - 1.0));
            assert_eq!(ramp.at(now), 0.5);
        }
    }
}
