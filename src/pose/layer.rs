//! Layers: which clip an instance plays, as a closed form of time.

/// What happens past the end of a clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Looping {
    /// Starts over: the clip's time is taken modulo its duration.
    #[default]
    Loop,
    /// Holds the last pose (or the first, when played backwards).
    Once,
}

/// A clip playing on an instance. Closed-form in time: the pose depends on nothing but these values
/// and the time asked for, so a paused, saved or jumped clock gives the same pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layer {
    /// Index into the character's clips.
    pub clip: usize,
    /// The engine's time, in seconds, at which the layer stands at `offset_s`.
    pub start_s: f64,
    /// Where in the clip it starts, in seconds.
    pub offset_s: f64,
    /// Clip seconds per second; negative plays backwards, 0 holds.
    pub speed: f64,
    /// What happens past the end.
    pub looping: Looping,
}

impl Layer {
    /// `clip` from its start at `start_s`, at normal speed, in a loop.
    #[must_use]
    pub const fn new(clip: usize, start_s: f64) -> Self {
        Self {
            clip,
            start_s,
            offset_s: 0.0,
            speed: 1.0,
            looping: Looping::Loop,
        }
    }

    /// The clip's own time at the engine's `now_s`, for a clip that lasts `duration_s`: in
    /// `0..=duration_s`. Computed in `f64`, so that it stays exact for months.
    ///
    /// 0 where there is no such time: for a clip that has no positive, finite duration, and where
    /// the layer's values or `now_s` are not finite or overflow.
    #[must_use]
    pub fn clip_time_s(&self, now_s: f64, duration_s: f32) -> f64 {
        let duration = f64::from(duration_s);
        let raw = (now_s - self.start_s) * self.speed + self.offset_s;
        if !(duration > 0.0 && duration.is_finite() && raw.is_finite()) {
            return 0.0;
        }
        match self.looping {
            Looping::Loop => raw.rem_euclid(duration),
            Looping::Once => raw.clamp(0.0, duration),
        }
    }
}
