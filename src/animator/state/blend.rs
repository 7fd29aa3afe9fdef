//! Playing blend spaces: one phase and one position for up to three clips.

use crate::animator::library::Library;
use crate::animator::record::PlayRecord;
use crate::error::{Error, Result, expect_finite, expect_index};
use crate::motion::{Ease, LoopMode, Ramp, SpeedRamp, cycle_duration_s, playback_speed};
use glam::Vec2;

/// The most blend spaces that an actor plays at a time, including those that fade out.
///
/// Three bits of a record's flags can hold no more.
pub(crate) const MOST_BLENDS: u8 = 7;

/// The highest rate, in cycles per second, in either direction. Faster rates are clamped.
const MAX_RATE_HZ: f64 = 1e6;

/// Marks the end of a linked list.
pub(super) const NONE: u32 = u32::MAX;

/// A blend space that an actor plays.
///
/// Its clips are records with its number in their flags. They are rewritten when its position
/// moves.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BlendPlay {
    pub(crate) space: u16,
    /// 1 to [`MOST_BLENDS`].
    pub(crate) number: u8,
    pub(crate) layer: u8,
    pub(crate) mask: u16,
    pub(crate) loop_mode: LoopMode,
    /// True if it shares its phase with the clips of its layer that keep step.
    pub(crate) synced: bool,
    /// True if its rate is set by what it keeps step with.
    pub(crate) follows: bool,
    pub(crate) begun: bool,
    pub(crate) finished: bool,
    /// Seconds of the blended cycle per second.
    pub(crate) speed: f64,
    /// The movement of its position, for each coordinate.
    pub(crate) position: [Ramp; 2],
    /// The position for which its records were written.
    pub(crate) at: Vec2,
    /// Cycles since the start, at the time when the rate starts to change.
    pub(crate) phase: f64,
    /// Cycles per second.
    pub(crate) rate: SpeedRamp,
    pub(crate) weight: Ramp,
    /// Index of the one that was played after it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) next: u32,
}

/// A clip of a blend space, with its weight at a position.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    clip: u16,
    duration_s: f64,
    weight: f32,
}

/// The clips at a position, and the duration of a cycle of them at speed 1, in seconds.
fn shares(library: &Library, space: u16, at: Vec2) -> ([Share; 3], f64) {
    let Some(space) = library.blend_spaces().get(usize::from(space)) else {
        return Default::default();
    };
    let share = |(index, weight): (usize, f32)| {
        let clip = space.clips().get(index).map_or(0, |clip| clip.0);
        Share {
            clip,
            duration_s: library.duration_s(clip),
            weight,
        }
    };
    let shares = space.shape.parts(at).map(share);
    let cycle_s = cycle_duration_s(shares.map(|share| (share.weight, share.duration_s)));
    let cycle_s = if cycle_s > 0.0 { cycle_s } else { 1.0 };
    let Some(limits) = space.speed_limits else {
        return (shares, cycle_s);
    };
    let strides = shares.map(|share| library.stride(share.clip, share.weight));
    let followed = playback_speed(strides, at.length().into(), limits);
    (shares, cycle_s / followed)
}

impl BlendPlay {
    /// A blend space that starts at `start_s`, at the time `offset_s` of its cycle.
    pub(crate) fn new(
        library: &Library,
        (space, at): (u16, Vec2),
        (start_s, offset_s, speed): (f64, f64, f64),
    ) -> Self {
        let cycle_s = shares(library, space, at).1;
        Self {
            space,
            number: 0,
            layer: 0,
            mask: PlayRecord::NO_MASK,
            loop_mode: LoopMode::Loop,
            synced: false,
            follows: false,
            begun: false,
            finished: false,
            speed,
            position: at.to_array().map(Ramp::constant),
            at,
            phase: offset_s / cycle_s,
            rate: SpeedRamp::constant(rate_hz(speed, cycle_s), start_s),
            weight: Ramp::constant(1.0),
            next: NONE,
        }
    }

    /// Checks data that was saved.
    pub(crate) fn check(&self, library: &Library) -> Result<()> {
        let (space, spaces) = (usize::from(self.space), library.blend_spaces().len());
        expect_index("blend space", space, spaces)?;
        if !(1..=MOST_BLENDS).contains(&self.number) {
            return Err(Error::invalid("number of a blend space", "must be 1 to 7"));
        }
        library.check_mask(self.mask)?;
        for ramp in &self.position {
            ramp.check("position in a blend space", f32::MAX)?;
        }
        for at in self.at.to_array() {
            expect_finite("position in a blend space", at)?;
        }
        self.weight.check("weight of a blend space", f32::MAX)
    }

    /// Duration of a cycle at the present position, in seconds.
    pub(crate) fn cycle_s(&self, library: &Library) -> f64 {
        shares(library, self.space, self.at).1
    }

    /// Cycles since the start, without wrapping.
    pub(crate) fn cycles(&self, time_s: f64) -> f64 {
        self.phase + self.rate.way(time_s)
    }

    /// Returns true if it has faded out.
    pub(crate) fn is_over(&self, time_s: f64) -> bool {
        self.weight.to == 0.0 && (self.weight.from == 0.0 || self.weight.has_ended(time_s))
    }

    /// The time after `since_s` at which its position next changes. Infinite if it does not move.
    pub(super) fn next_step_s(&self, since_s: f64) -> f64 {
        let [x, y] = self.position.map(|ramp| ramp.next_step_s(since_s));
        x.min(y)
    }

    /// Fades its weight to `to`.
    pub(crate) fn fade_to(&mut self, to: f32, now_s: f64, (fade_s, ease): (f32, Ease)) {
        let changes = self.rate_left_s(now_s) > 0.0 && self.rate.from != self.rate.to;
        if changes && ease != self.rate.ease {
            let rate_hz = self.rate.at(now_s);
            self.go_on(now_s, [rate_hz; 2], 0.0);
        }
        self.rate.ease = ease;
        self.weight = self.weight.turned(now_s, to, fade_s.into(), ease);
    }

    /// Continues from `now_s` with a rate that changes from the first to the second over `over_s`.
    pub(crate) fn go_on(&mut self, now_s: f64, [from_hz, to_hz]: [f64; 2], over_s: f64) {
        let phase = self.cycles(now_s);
        self.stand_at(phase, now_s, [from_hz, to_hz], over_s);
    }

    /// Sets the phase at `now_s`, and the rates from then on.
    pub(crate) fn stand_at(
        &mut self,
        phase: f64,
        now_s: f64,
        [from_hz, to_hz]: [f64; 2],
        over_s: f64,
    ) {
        self.phase = phase;
        self.rate = SpeedRamp {
            from: if over_s > 0.0 { from_hz } else { to_hz },
            to: to_hz,
            start_s: now_s,
            duration_s: over_s,
            ease: self.weight.ease,
        };
    }

    /// Remaining duration of the change of rate.
    fn rate_left_s(&self, now_s: f64) -> f64 {
        (self.rate.start_s + self.rate.duration_s - now_s).max(0.0)
    }

    /// Changes the speed from `now_s` on, at once.
    ///
    /// With [`LoopMode::Once`], it continues from its end if it is past it. If it now moves towards
    /// an end that it is not at, it finishes again there.
    pub(crate) fn turn(&mut self, now_s: f64, speed: f64, cycle_s: f64) {
        let mut phase = self.cycles(now_s);
        if self.loop_mode == LoopMode::Once {
            phase = match self.rate.to {
                old if old > 0.0 => phase.min(1.0),
                old if old < 0.0 => phase.max(0.0),
                _ => phase,
            };
        }
        self.speed = speed;
        let hz = rate_hz(speed, cycle_s);
        self.stand_at(phase, now_s, [hz; 2], 0.0);
        let end = if hz > 0.0 { 1.0 } else { 0.0 };
        self.finished &= (phase - end) * hz >= 0.0;
    }

    /// Jumps to a phase.
    pub(crate) fn seek(&mut self, now_s: f64, phase: f64) {
        let rates_hz = [self.rate.at(now_s), self.rate.to];
        self.stand_at(phase, now_s, rates_hz, self.rate_left_s(now_s));
        (self.begun, self.finished) = (false, false);
    }

    /// Updates the rate to that of its position and speed, as of `now_s`.
    pub(crate) fn set_rate(&mut self, library: &Library, now_s: f64) {
        let to_hz = rate_hz(self.speed, self.cycle_s(library));
        if self.follows || to_hz == self.rate.to {
            return;
        }
        let left_s = self.rate_left_s(now_s);
        self.go_on(now_s, [self.rate.at(now_s), to_hz], left_s);
    }

    /// Moves it to its position at `now_s`. Returns true if it moved.
    pub(super) fn advance(&mut self, library: &Library, now_s: f64) -> bool {
        let at = Vec2::from_array(self.position.map(|ramp| ramp.stepped(now_s)));
        if at == self.at {
            return false;
        }
        self.at = at;
        self.set_rate(library, now_s);
        true
    }

    /// Calls `each` with a record for each of its clips. Only the heaviest reports when it
    /// finishes.
    pub(super) fn each_record(&self, library: &Library, mut each: impl FnMut(PlayRecord)) {
        let (shares, _) = shares(library, self.space, self.at);
        let heavier = |a: &Share, b: &Share| b.weight > a.weight;
        let mut lead = 0;
        for (index, share) in shares.iter().enumerate() {
            if heavier(&shares[lead], share) {
                lead = index;
            }
        }
        for (index, share) in shares.iter().enumerate() {
            if share.weight > 0.0 {
                each(self.record(share, index == lead));
            }
        }
    }

    fn record(&self, share: &Share, leads: bool) -> PlayRecord {
        let rate = &self.rate;
        let mut record = PlayRecord::new(share.clip, rate.start_s);
        let speeds = [rate.from, rate.to].map(|hz| hz * share.duration_s);
        let offset_s = self.phase * share.duration_s;
        record.re_anchor(rate.start_s, offset_s, speeds, rate.duration_s as f32);
        record.set_loop_mode(self.loop_mode);
        record.set_ease(self.weight.ease);
        (record.layer, record.mask) = (self.layer, self.mask);
        record.from_weight = self.weight.from * share.weight;
        record.to_weight = self.weight.to * share.weight;
        record.fade_start_s = self.weight.start_s;
        record.fade_s = self.weight.duration_s as f32;
        record.flags = self.number << PlayRecord::BLEND_SHIFT;
        for (flag, is_set) in [
            (PlayRecord::FLAG_SYNCED, self.synced),
            (PlayRecord::FLAG_STARTED, self.begun),
            (PlayRecord::FLAG_FINISHED, self.finished || !leads),
        ] {
            if is_set {
                record.flags |= flag;
            }
        }
        record
    }
}

fn rate_hz(speed: f64, cycle_s: f64) -> f64 {
    (speed / cycle_s).clamp(-MAX_RATE_HZ, MAX_RATE_HZ)
}
