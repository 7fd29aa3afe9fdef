//! The clock that all instances share.

use throng::character::Character;
use throng::motion::LoopMode;

use super::state::{Base, Playback};

/// The limits of the speed.
pub(crate) const SLOWEST: f64 = 1.0 / 64.0;
pub(crate) const FASTEST: f64 = 16.0;
/// The rate for stepping through a clip with fewer than [`LEAST_HZ`], in frames per second.
const STEP_HZ: f64 = 30.0;
/// The lowest packed rate that is used for steps, in frames per second.
const LEAST_HZ: f64 = 10.0;
/// The least number of steps through a clip.
const LEAST_STEPS: f64 = 4.0;

impl Playback {
    /// Duration of the base in seconds, 0 if it has none.
    pub(crate) fn duration_s(&self, character: &Character) -> f64 {
        let clip = self
            .clip()
            .and_then(|clip| character.clips().get(clip.index()));
        clip.map_or(0.0, throng::clip::Clip::duration_s)
    }

    /// The time in the clip of the first instance.
    pub(crate) fn clip_time_s(&self, character: &Character) -> f64 {
        self.mode()
            .clip_time_s(self.time_s - self.start_s, self.duration_s(character))
    }

    /// The time that is shown: that of the clip, or else the time since the base started.
    pub(crate) fn shown_time_s(&self, character: &Character) -> f64 {
        match self.base {
            Base::Clip(_) => self.clip_time_s(character),
            _ => self.time_s - self.start_s,
        }
    }

    pub(super) fn mode(&self) -> LoopMode {
        if self.looping {
            LoopMode::Loop
        } else {
            LoopMode::Once
        }
    }

    /// Moves the clock so that the clip is at this time.
    pub(crate) fn seek(&mut self, clip_time_s: f64) {
        self.time_s = self.start_s + clip_time_s;
    }

    /// Moves the clock on by real time. A clip that does not loop stops the clock at its end.
    pub(crate) fn advance(&mut self, passed_s: f64, character: &Character) {
        self.speed = sane(self.speed, SLOWEST, FASTEST);
        self.fade_s = sane(self.fade_s.into(), 0.0, 60.0) as f32;
        if !self.playing {
            return;
        }
        self.time_s += passed_s * self.speed;
        let duration_s = self.duration_s(character);
        if !self.looping && self.clip().is_some() && self.time_s - self.start_s >= duration_s {
            self.seek(duration_s);
            self.playing = false;
            self.ended = true;
        }
    }

    /// Plays or pauses. At the end of a clip that does not loop, it plays from the start.
    pub(crate) fn play_or_pause(&mut self, character: &Character) {
        self.playing = !self.playing;
        self.ended = false;
        let ended = self.time_s - self.start_s >= self.duration_s(character);
        if self.playing && !self.looping && self.clip().is_some() && ended {
            self.seek(0.0);
        }
    }

    /// The frames per second of steps: those of the packed clip, unless they are too few.
    ///
    /// A clip that moves evenly is packed with very few frames.
    pub(crate) fn step_rate_hz(&self, character: &Character) -> f64 {
        let clip = self
            .clip()
            .and_then(|clip| character.clips().get(clip.index()));
        let packed_hz = clip.map_or(0.0, |clip| clip.report().rate_hz);
        let duration_s = self.duration_s(character);
        if packed_hz >= LEAST_HZ && packed_hz * duration_s > LEAST_STEPS - 0.5 {
            return packed_hz;
        }
        if duration_s <= 0.0 {
            return STEP_HZ;
        }
        STEP_HZ.max(LEAST_STEPS / duration_s)
    }

    /// Pauses, and moves by frames of the clip. At either end, a looping clip goes around.
    ///
    /// Without a clip, it does not go back before the start of the base.
    pub(crate) fn step(&mut self, frames: i32, character: &Character) {
        self.playing = false;
        self.ended = false;
        let rate_hz = self.step_rate_hz(character);
        let duration_s = self.duration_s(character);
        if self.clip().is_none() || duration_s <= 0.0 {
            let moved_s = self.time_s + f64::from(frames) / rate_hz;
            self.time_s = moved_s.max(self.start_s);
            return;
        }
        let last = (duration_s * rate_hz).round().max(1.0);
        let mut frame = (self.clip_time_s(character) * rate_hz).round() + f64::from(frames);
        if self.looping {
            // The last frame of a cycle is the first of the next.
            frame = frame.rem_euclid(last);
        }
        self.seek((frame / rate_hz).clamp(0.0, duration_s));
    }
}

/// A number that the user has typed, within its limits.
fn sane(value: f64, least: f64, most: f64) -> f64 {
    if value.is_nan() {
        return least.max(1.0).min(most);
    }
    value.clamp(least, most)
}
