//! Play records of actors for shaders.

use super::time::{part_of, ratio, words};
use super::{CpuReason, GpuPlay, GpuTime, MAX_PLAYS, PosedBy};
use crate::animator::{ActorId, Animator, Clock, PlayRecord, Played};
use crate::clip::Clip;
use crate::error::Result;
use crate::gpu::constants::REPLACES;
use crate::motion::{Ease, LoopMode};
use bytemuck::Zeroable;

/// The longest way of a clip while its speed changes, in clip seconds. Shaders compute it in `f32`,
/// whose error is then below 1e-6 s.
const MAX_RAMP_WAY_S: f64 = 8.0;

impl Animator {
    /// Appends what an actor plays at the time of the animator, for shaders.
    ///
    /// The plays stay valid, at any later time, until something else plays on the actor, or its
    /// clock or a blend position changes. `epoch_s` is any time of the animator's clock, in
    /// seconds: see [`AnimateDispatch::now_s`](crate::gpu::AnimateDispatch::now_s).
    ///
    /// If only the CPU can pose the actor, nothing is appended, and the result has the reason. Some
    /// reasons pass with time.
    ///
    /// ```
    /// use throng::animator::Animator;
    /// use throng::gpu::{CpuReason, PosedBy};
    /// use throng::glam::Affine3A;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let mut animator = Animator::new(&character)?;
    /// let actor = animator.add("Walk")?;
    /// let mut plays = Vec::new();
    /// assert_eq!(animator.gpu_plays(actor, 0.0, &mut plays)?, PosedBy::Gpu);
    /// assert_eq!(plays.len(), 1);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) for an
    /// actor that is not alive.
    pub fn gpu_plays(
        &self,
        actor: ActorId,
        epoch_s: f64,
        out: &mut Vec<GpuPlay>,
    ) -> Result<PosedBy> {
        let played = self.played(actor)?;
        let special = if played.has_targets {
            Some(CpuReason::InverseKinematics)
        } else if played.has_springs {
            Some(CpuReason::Springs)
        } else if played.is_inertialised {
            Some(CpuReason::Inertialisation)
        } else {
            None
        };
        if let Some(reason) = special {
            return Ok(PosedBy::Cpu(reason));
        }
        let start = out.len();
        match convert(&played, (self.now_s(), epoch_s), out) {
            Ok(()) => Ok(PosedBy::Gpu),
            Err(reason) => {
                out.truncate(start);
                Ok(PosedBy::Cpu(reason))
            }
        }
    }

    /// Appends the morph weights and expressions that the caller set for an actor, as shaders
    /// combine them with those of clips.
    ///
    /// These are for [`AnimateDispatch::own_weights`](crate::gpu::AnimateDispatch::own_weights):
    /// their number, and two words for each, of at most as many as the character has morph weights.
    /// They stay valid until the caller sets others. Expressions are summed up first, so a weight
    /// may differ from [`Actor::morph_weights`](crate::animator::Actor::morph_weights) by a
    /// rounding.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) for an
    /// actor that is not alive.
    pub fn gpu_weights(&self, actor: ActorId, out: &mut Vec<u32>) -> Result<()> {
        self.played(actor)?;
        self.push_own_weights(actor, &mut vec![0.0; self.weight_count()], out);
        Ok(())
    }

    /// [`Self::gpu_weights`] of a living actor. `added` has a number for each morph weight of the
    /// character.
    pub(crate) fn push_own_weights(&self, actor: ActorId, added: &mut [f32], out: &mut Vec<u32>) {
        let start = out.len();
        out.push(0);
        for (index, value, replaces) in self.own_weights(actor, added) {
            let flag = if replaces { REPLACES } else { 0 };
            out.extend([index | flag, value.to_bits()]);
        }
        out[start] = (out.len() - start) as u32 / 2;
    }
}

/// Converts the records of an actor.
fn convert(
    played: &Played<'_>,
    (now_s, epoch_s): (f64, f64),
    out: &mut Vec<GpuPlay>,
) -> core::result::Result<(), CpuReason> {
    let Played { clock, .. } = *played;
    let local_s = clock.local_s(now_s);
    // Records that have faded out, or never had a weight, are not seen again.
    let seen = played.records.iter().filter(|record| {
        let comes = record.to_weight > 0.0 || record.fade_end_s() > local_s;
        comes || record.weight_at(local_s) > 0.0
    });
    for (number, record) in seen.enumerate() {
        if record.has(PlayRecord::FLAG_POSE) {
            return Err(CpuReason::OwnPose);
        }
        if number == MAX_PLAYS {
            return Err(CpuReason::Plays);
        }
        let Some(clip) = played.clip(record) else {
            continue;
        };
        out.push(converted(record, clip, clock, (now_s, epoch_s))?);
    }
    Ok(())
}

/// Converts a record of an actor with this clock.
fn converted(
    record: &PlayRecord,
    clip: &Clip,
    clock: &Clock,
    (now_s, epoch_s): (f64, f64),
) -> core::result::Result<GpuPlay, CpuReason> {
    let mut play = GpuPlay {
        clip: record.clip,
        mask: record.mask,
        layer: record.layer,
        smooth: u8::from(record.ease() == Ease::Smooth),
        mode: GpuPlay::STILL,
        ..Zeroable::zeroed()
    };
    let local_s = clock.local_s(now_s);
    set_weight(&mut play, record, clock, local_s, epoch_s)?;
    let speed = record.to_speed * clock.rate();
    let (duration_s, timing) = (clip.duration_s(), &clip.timing);
    let changes = record.is_changing_speed(local_s) && clock.rate() > 0.0;
    let stands = timing.frames == 1 && clip.kept.is_empty() && !clip.drives_weights();
    if duration_s <= 0.0 || stands {
        return Ok(play);
    }
    if clock.rate() == 0.0 || (speed == 0.0 && !changes) {
        stand(
            &mut play,
            record.clip_time_s(local_s, duration_s),
            duration_s,
        );
        return Ok(play);
    }
    if record.loop_mode() == LoopMode::Once {
        if changes {
            return Err(CpuReason::SpeedChange);
        }
        let end_s = if speed > 0.0 { duration_s } else { 0.0 };
        let left_s = (end_s - record.unwrapped_s(local_s)) / record.to_speed;
        if left_s <= 0.0 {
            stand(
                &mut play,
                record.clip_time_s(local_s, duration_s),
                duration_s,
            );
            return Ok(play);
        }
        let anchor = GpuTime::within(clock.animator_s(local_s + left_s), epoch_s);
        play.anchor = anchor.ok_or(CpuReason::Range)?.words();
        set_rate(&mut play, speed, duration_s)?;
        play.mode = GpuPlay::ONCE;
        return Ok(play);
    }
    let is_loop = record.loop_mode() == LoopMode::Loop;
    let period_s = if is_loop {
        duration_s
    } else {
        2.0 * duration_s
    };
    let mut anchor_s = now_s;
    if changes {
        let ramp_s = f64::from(record.speed_ramp_s);
        let rates = [record.from_speed, record.to_speed].map(f64::abs);
        if ramp_s * rates[0].max(rates[1]) > MAX_RAMP_WAY_S {
            return Err(CpuReason::SpeedChange);
        }
        anchor_s = clock.animator_s(record.anchor_s + ramp_s);
        play.ramp_s = (ramp_s / clock.rate()) as f32;
        play.from_rate = (record.from_speed * clock.rate() / period_s) as f32;
    }
    let anchor = GpuTime::within(anchor_s, epoch_s).ok_or(CpuReason::Range)?;
    play.anchor = anchor.words();
    // The time of the tick, not that which was rounded to it.
    let unwrapped_s = record.unwrapped_s(clock.local_s(anchor.seconds(epoch_s)));
    let cycle_s = record.loop_mode().cycle_time_s(unwrapped_s, duration_s);
    play.phase = words(part_of(cycle_s, period_s));
    set_rate(&mut play, speed, period_s)?;
    play.mode = if is_loop {
        GpuPlay::LOOP
    } else {
        GpuPlay::PING_PONG
    };
    Ok(play)
}

/// Lets a record stand at a time of its clip.
fn stand(play: &mut GpuPlay, at_s: f64, duration_s: f64) {
    match at_s < duration_s {
        true => play.phase = words(part_of(at_s, duration_s)),
        false => play.whole_rate = 1,
    }
}

fn set_weight(
    play: &mut GpuPlay,
    record: &PlayRecord,
    clock: &Clock,
    local_s: f64,
    epoch_s: f64,
) -> core::result::Result<(), CpuReason> {
    let weight = record.weight_at(local_s);
    if clock.rate() == 0.0 || record.fade_end_s() <= local_s {
        (play.from_weight, play.to_weight) = (weight, weight);
        return Ok(());
    }
    let start_s = clock.animator_s(record.fade_start_s);
    let start = GpuTime::within(start_s, epoch_s).ok_or(CpuReason::Range)?;
    play.fade_start = start.words();
    play.fade_s = (f64::from(record.fade_s) / clock.rate()) as f32;
    (play.from_weight, play.to_weight) = (record.from_weight, record.to_weight);
    Ok(())
}

fn set_rate(play: &mut GpuPlay, speed: f64, period_s: f64) -> core::result::Result<(), CpuReason> {
    let rate = ratio(speed, period_s).ok_or(CpuReason::Range)?;
    (play.rate, play.whole_rate) = (words(rate as u64), (rate >> 64) as i32);
    Ok(())
}
