//! An actor's own time, which can be paused and scaled.

use crate::error::{Result, expect_finite, expect_in};

/// An actor's time, as a function of the animator's: `local = local_s + (now − anchor) · scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Clock {
    anchor_s: f64,
    local_s: f64,
    /// The scale that was set. It has no effect while the clock is paused.
    scale: f64,
    paused: bool,
}

impl Clock {
    /// The same time as the animator's.
    pub(crate) const SAME: Self = Self {
        anchor_s: 0.0,
        local_s: 0.0,
        scale: 1.0,
        paused: false,
    };

    pub(crate) fn is_paused(&self) -> bool {
        self.paused
    }

    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// Seconds of the actor's time per second of the animator's.
    pub(crate) fn rate(&self) -> f64 {
        if self.paused { 0.0 } else { self.scale }
    }

    /// Returns true if time does not advance.
    pub(crate) fn stands(&self) -> bool {
        self.rate() == 0.0
    }

    #[inline]
    pub(crate) fn local_s(&self, now_s: f64) -> f64 {
        if self.stands() {
            return self.local_s;
        }
        self.local_s + (now_s - self.anchor_s) * self.rate()
    }

    /// The animator's time at which the actor's time is `local_s`. Infinite if there is none.
    pub(crate) fn animator_s(&self, local_s: f64) -> f64 {
        if self.stands() {
            return f64::INFINITY;
        }
        self.anchor_s + (local_s - self.local_s) / self.rate()
    }

    /// Goes on at `now_s` of an animator from where it was at `then_s`, of another or earlier one.
    pub(crate) fn go_on(&mut self, then_s: f64, now_s: f64) {
        if then_s != now_s {
            self.local_s = self.local_s(then_s);
            self.anchor_s = now_s;
        }
    }

    /// Checks data that was saved.
    pub(crate) fn check(&self) -> Result<()> {
        expect_finite("anchor of the clock", self.anchor_s)?;
        expect_finite("time of the clock", self.local_s)?;
        Self::check_scale(self.scale)
    }

    /// At the limit, a year of the animator's time leaves that of the actor a resolution of 4 ms.
    pub(crate) fn check_scale(scale: f64) -> Result<()> {
        expect_in("time scale", scale, 0.0, 1e6)
    }

    fn re_anchor(&mut self, now_s: f64) {
        self.local_s = self.local_s(now_s);
        self.anchor_s = now_s;
    }

    pub(crate) fn pause(&mut self, now_s: f64, paused: bool) {
        if self.paused != paused {
            self.re_anchor(now_s);
            self.paused = paused;
        }
    }

    pub(crate) fn set_scale(&mut self, now_s: f64, scale: f64) {
        self.re_anchor(now_s);
        self.scale = scale;
    }

    /// The animator's time of an actor's event.
    pub(crate) fn event_s(&self, local_s: f64, now_s: f64) -> f64 {
        let time_s = self.animator_s(local_s);
        // Rounding must not move the event past the present time.
        if time_s.is_finite() {
            time_s.min(now_s)
        } else {
            now_s
        }
    }
}
