//! What the caller says: play, stop, seek, pause.

use super::clock::Clock;
use super::record::{
    FLAG_FINISHED, FLAG_IN_STEP, FLAG_POSE, FLAG_STARTED, FLAG_STATE_MACHINE, NO_MASK, PlayRecord,
};
use super::{ActorId, Animator, Play, Playing, step};
use crate::character::ClipId;
use crate::error::{ArgumentFault, Error, Result};
use crate::pose::Ease;

/// A clip and a mask that exist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolved {
    pub(super) clip: u16,
    pub(super) mask: Option<u16>,
}

/// The longest fade, in seconds: beyond it, `f32` no longer tells frames apart.
const MAX_FADE_S: f32 = 3600.0;

fn finite(what: &'static str, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    let why = ArgumentFault::NotFinite(value);
    Err(Error::Argument { what, why })
}

pub(super) fn in_range(what: &'static str, value: f32, max: f32) -> Result<()> {
    finite(what, value.into())?;
    if (0.0..=max).contains(&value) {
        return Ok(());
    }
    let (value, max) = (value.into(), max.into());
    let why = ArgumentFault::OutOfRange {
        value,
        min: 0.0,
        max,
    };
    Err(Error::Argument { what, why })
}

pub(super) fn check_fade(what: &'static str, fade_s: f32) -> Result<()> {
    in_range(what, fade_s, MAX_FADE_S)
}

impl Animator {
    /// Plays a clip on an actor: it takes the place of what its layer plays, in a cross-fade of
    /// [`Play::fade_s`]. Costs the same however many actors there are, and allocates nothing.
    ///
    /// A fade that interrupts another starts from the weights reached, so nothing jumps.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive; [`Error::UnknownName`] or
    /// [`Error::NotFound`] for a clip or mask that its character lacks; [`Error::Argument`] for
    /// values that are not finite, a fade that is negative or longer than an hour, a weight that is
    /// negative, and a layer that the actor's state machine has. The actor stays as it was then.
    #[doc(alias = "crossfade")]
    pub fn play<'a>(&mut self, id: ActorId, play: impl Into<Play<'a>>) -> Result<()> {
        let play = play.into();
        self.check_layer(id, play.layer)?;
        let resolved = self.resolve(&play)?;
        self.touch(id.index);
        match resolved {
            Some(resolved) => self.start(id.index, &play, resolved),
            None => self.fade_out(id.index, play.layer, (play.fade_s, play.ease)),
        }
        Ok(())
    }

    /// Fades out what a layer plays, in `fade_s` seconds: what lies below comes through, under layer
    /// 0 the rest pose.
    ///
    /// # Errors
    /// As [`Self::play`].
    pub fn stop(&mut self, id: ActorId, layer: u8, fade_s: f32) -> Result<()> {
        self.play(id, Play::REST.layer(layer).fade_s(fade_s))
    }

    /// Whether actor and layer can be played on.
    pub(super) fn check_layer(&self, id: ActorId, layer: u8) -> Result<()> {
        let actor = self.actors.get(id)?;
        let taken = actor.driver.is_some() && usize::from(layer) < self.library.machine_layers();
        if taken {
            return Err(Error::Argument {
                what: "layer",
                why: ArgumentFault::Invalid("belongs to the actor's state machine"),
            });
        }
        Ok(())
    }

    /// What `play` names, if all of it makes sense; `None` for the rest pose.
    pub(super) fn resolve(&self, play: &Play<'_>) -> Result<Option<Resolved>> {
        finite("Play::start_s", play.start_s.unwrap_or(0.0))?;
        finite("Play::offset_s", play.offset_s)?;
        finite("Play::speed", play.speed)?;
        check_fade("Play::fade_s", play.fade_s)?;
        in_range("Play::weight", play.weight, f32::MAX)?;
        let mask = self.library.mask(play.mask)?;
        let clip = self.library.clip(play.clip)?;
        Ok(clip.map(|clip| Resolved { clip, mask }))
    }

    /// Fades to a clip.
    pub(super) fn start(&mut self, index: u32, play: &Play<'_>, resolved: Resolved) {
        let Some(actor) = self.actors.list.get_mut(index as usize) else {
            return;
        };
        let local_s = actor.clock.local_s(self.now_s);
        let (pool, block) = (&mut self.pool, &mut actor.block);
        pool.retain(block, |record| !record.is_over(local_s));
        let records = pool.get_mut(*block);
        fade_layer(records, play.layer, (play.fade_s, play.ease), local_s);
        let mut record = record(play, resolved, local_s);
        let joined = play.in_step && step::join(&self.library, records, &mut record, local_s);
        if !joined {
            pool.push(block, record, local_s);
        }
        pool.retain(block, |record| !record.is_over(local_s));
        self.changed(index);
    }

    /// Fades a layer out.
    fn fade_out(&mut self, index: u32, layer: u8, fade: (f32, Ease)) {
        let Some(actor) = self.actors.list.get_mut(index as usize) else {
            return;
        };
        let local_s = actor.clock.local_s(self.now_s);
        fade_layer(self.pool.get_mut(actor.block), layer, fade, local_s);
        self.pool
            .retain(&mut actor.block, |record| !record.is_over(local_s));
        self.changed(index);
    }

    /// Sets the speed of what a layer plays, in clip seconds per second: negative plays backwards,
    /// 0 holds. Each clip goes on from where it is; clips that keep step go on doing so, at the rate
    /// that gives the last of them this speed.
    ///
    /// # Errors
    /// As [`Self::play`], for the actor, the layer and a speed that is not finite.
    pub fn set_speed(&mut self, id: ActorId, layer: u8, speed: f64) -> Result<()> {
        finite("speed", speed)?;
        let step_s = self.step_duration_s(id, layer)?;
        self.change_layer(id, layer, |record, now_s, duration_s| {
            let speed = match step_s {
                Some(step_s) if record.has(FLAG_IN_STEP) => speed * (duration_s / step_s),
                _ => speed,
            };
            record.turn(now_s, speed, duration_s);
        })
    }

    /// Jumps to a time of the clip that a layer plays, in seconds. Events between are not delivered;
    /// what lies on that very time is. Clips that keep step go to the same phase.
    ///
    /// # Errors
    /// As [`Self::play`], for the actor, the layer and a time that is not finite.
    pub fn seek(&mut self, id: ActorId, layer: u8, time_s: f64) -> Result<()> {
        finite("time_s", time_s)?;
        let step_s = self.step_duration_s(id, layer)?;
        let phase = step_s.map(|step_s| time_s / step_s);
        let phase = phase.filter(|phase| phase.is_finite());
        self.change_layer(id, layer, |record, now_s, duration_s| {
            let time_s = match phase {
                Some(phase) if record.has(FLAG_IN_STEP) => phase * duration_s,
                _ => time_s,
            };
            let speeds = [record.speed_at(now_s), record.to_speed];
            let left_s = record.anchor_s + f64::from(record.speed_ramp_s) - now_s;
            record.re_anchor(now_s, time_s, speeds, left_s.max(0.0) as f32);
            record.flags &= !(FLAG_STARTED | FLAG_FINISHED);
        })
    }

    /// How long the last clip of a layer lasts that keeps step; `None` if there is none.
    fn step_duration_s(&self, id: ActorId, layer: u8) -> Result<Option<f64>> {
        self.check_layer(id, layer)?;
        let records = self.pool.get(self.actors.get(id)?.block).iter();
        let in_step = |record: &&PlayRecord| is_played(record, layer) && record.has(FLAG_IN_STEP);
        let last = records.rev().find(in_step);
        let duration_s = last.map(|record| self.library.duration_s(record.clip));
        Ok(duration_s.filter(|duration_s| *duration_s > 0.0))
    }

    /// Changes the records of a layer at the present time; they are given with the clip's duration.
    fn change_layer(
        &mut self,
        id: ActorId,
        layer: u8,
        mut change: impl FnMut(&mut PlayRecord, f64, f64),
    ) -> Result<()> {
        self.check_layer(id, layer)?;
        self.touch(id.index);
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            let local_s = actor.clock.local_s(self.now_s);
            let records = self.pool.get_mut(actor.block).iter_mut();
            for record in records.filter(|record| is_played(record, layer)) {
                let duration_s = self.library.duration_s(record.clip);
                change(record, local_s, duration_s);
            }
        }
        self.changed(id.index);
        Ok(())
    }

    /// Stops an actor's time, with all that it plays, fades and waits for. Costs nothing until
    /// [`Self::resume`].
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn pause(&mut self, id: ActorId) -> Result<()> {
        self.change_clock(id, |clock, now_s| clock.pause(now_s, true))
    }

    /// Lets a paused actor's time go on from where it stopped.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn resume(&mut self, id: ActorId) -> Result<()> {
        self.change_clock(id, |clock, now_s| clock.pause(now_s, false))
    }

    /// Whether the actor is paused.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn is_paused(&self, id: ActorId) -> Result<bool> {
        self.actors.get(id).map(|actor| actor.clock.is_paused())
    }

    /// Sets how fast an actor's time runs: clips, fades and state machines alike. 1 is normal.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive; [`Error::Argument`] for a scale
    /// that is negative or not finite.
    pub fn set_time_scale(&mut self, id: ActorId, scale: f32) -> Result<()> {
        in_range("time scale", scale, f32::MAX)?;
        self.change_clock(id, |clock, now_s| clock.set_scale(now_s, scale.into()))
    }

    /// How fast the actor's time runs when it is not paused.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn time_scale(&self, id: ActorId) -> Result<f32> {
        let actor = self.actors.get(id)?;
        Ok(actor.clock.scale() as f32)
    }

    /// The actor's own time, in seconds: the animator's unless it was paused or has a time scale.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn time_s(&self, id: ActorId) -> Result<f64> {
        let actor = self.actors.get(id)?;
        Ok(actor.clock.local_s(self.now_s))
    }

    fn change_clock(&mut self, id: ActorId, change: impl FnOnce(&mut Clock, f64)) -> Result<()> {
        self.actors.check(id)?;
        self.touch(id.index);
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            change(&mut actor.clock, self.now_s);
        }
        self.changed(id.index);
        Ok(())
    }

    /// What an actor plays now, ascending in layer, whatever drives it. Of one layer, what fades
    /// out comes before what takes its place.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn playing(&self, id: ActorId) -> Result<impl Iterator<Item = Playing> + '_> {
        let actor = self.actors.get(id)?;
        let local_s = actor.clock.local_s(self.now_s);
        let records = self.pool.get(actor.block).iter();
        let records = records.filter(move |record| !record.is_over(local_s));
        Ok(records.map(move |record| Playing {
            clip: (!record.has(FLAG_POSE)).then_some(ClipId(record.clip)),
            layer: record.layer,
            time_s: record.clip_time_s(local_s, self.library.duration_s(record.clip)),
            speed: record.speed_at(local_s),
            weight: record.weight_at(local_s),
            to_weight: record.to_weight,
            loop_mode: record.loop_mode(),
            by_state_machine: record.has(FLAG_STATE_MACHINE),
        }))
    }

    /// The play records of an actor, ascending in layer: for code that evaluates them itself.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn records(&self, id: ActorId) -> Result<&[PlayRecord]> {
        let actor = self.actors.get(id)?;
        Ok(self.pool.get(actor.block))
    }

    /// Something changed: the actor wakes with the next update.
    pub(super) fn changed(&mut self, index: u32) {
        if let Some(actor) = self.actors.list.get_mut(index as usize) {
            actor.version = actor.version.wrapping_add(1);
            actor.still_from_s = f64::INFINITY;
            self.wake.set(index, self.now_s);
        }
        self.warm();
    }
}

/// Whether a record of the layer is the caller's, and plays a clip.
fn is_played(record: &PlayRecord, layer: u8) -> bool {
    record.layer == layer && !record.has(FLAG_STATE_MACHINE | FLAG_POSE)
}

/// Fades out what the caller plays on a layer.
pub(super) fn fade_layer(
    records: &mut [PlayRecord],
    layer: u8,
    (fade_s, ease): (f32, Ease),
    local_s: f64,
) {
    let own = |record: &&mut PlayRecord| record.layer == layer && !record.has(FLAG_STATE_MACHINE);
    for record in records.iter_mut().filter(own) {
        record.fade_to(0.0, local_s, fade_s, ease);
    }
}

/// The record of what is asked for, which fades in from `local_s` on.
fn record(play: &Play<'_>, resolved: Resolved, local_s: f64) -> PlayRecord {
    let mut record = PlayRecord::new(resolved.clip, play.start_s.unwrap_or(local_s));
    record.offset_s = play.offset_s;
    (record.from_speed, record.to_speed) = (play.speed, play.speed);
    record.set_loop_mode(play.loop_mode);
    record.set_ease(play.ease);
    record.layer = play.layer;
    record.mask = resolved.mask.unwrap_or(NO_MASK);
    (record.fade_start_s, record.fade_s) = (local_s, play.fade_s);
    record.from_weight = if play.fade_s > 0.0 { 0.0 } else { play.weight };
    record.to_weight = play.weight;
    record
}
