//! The caller's controls for clips and blend spaces: play, stop, seek, set the speed.

use super::blend::BlendPlay;
use super::carry::Moment;
use super::instances::Animator;
use super::record::PlayRecord;
use super::step::Layer;
use super::{ActorId, Play, Playing};
use crate::error::{Error, Result, expect_finite, expect_in};
use crate::id::Id;
use crate::motion::Ease;
use glam::Vec2;

/// A clip or blend space to play, and a mask, all checked to exist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolved {
    pub(super) what: What,
    pub(super) mask: Option<u16>,
}

/// A clip, or a blend space and a position in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    Clip(u16),
    BlendSpace(u16, Vec2),
}

/// The longest fade, in seconds. In a longer one, `f32` cannot distinguish successive frames.
const MAX_FADE_S: f32 = 3600.0;

pub(super) fn check_fade(what: &'static str, fade_s: f32) -> Result<()> {
    expect_in(what, fade_s, 0.0, MAX_FADE_S)
}

impl Animator {
    /// Plays a clip or a blend space on an actor.
    ///
    /// It replaces what its layer plays, in a cross-fade of [`Play::fade_s`] seconds. A fade that
    /// interrupts another starts from the weights reached, so nothing jumps.
    ///
    /// The cost does not depend on the number of actors. Nothing is allocated, except by an
    /// inertialised transition ([`Play::inertial_s`]).
    ///
    /// # Errors
    /// If there is an error, the actor does not change.
    ///
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::UnknownName`] or [`Error::NotFound`] for a clip, blend space or mask that the
    ///   character does not have.
    /// - [`Error::Argument`] for:
    ///   - a value that is not finite,
    ///   - a position that does not have as many coordinates as the blend space,
    ///   - a position for a single clip,
    ///   - a fade that is negative or longer than an hour,
    ///   - a negative weight,
    ///   - a layer that the actor's state machine drives.
    #[doc(alias = "crossfade")]
    pub fn play<'a>(&mut self, id: ActorId, play: impl Into<Play<'a>>) -> Result<()> {
        let mut play = play.into();
        self.check_layer(id, play.layer)?;
        let resolved = self.resolve(&play)?;
        self.touch(id.index);
        let cuts = play.inertial_s > 0.0;
        if cuts {
            play.fade_s = 0.0;
            self.expect_special(id.index);
            self.note_cut(id.index, Moment::Old);
        }
        match resolved {
            Some(resolved) => self.start(id.index, &play, resolved),
            None => self.fade_out(id.index, play.layer, (play.fade_s, play.ease)),
        }
        if cuts {
            self.note_cut(id.index, Moment::New);
            self.begin_cut(id.index, play.inertial_s);
        }
        Ok(())
    }

    /// Fades out what a layer plays, over `fade_s` seconds.
    ///
    /// The layers below show through; under layer 0 that is the rest pose.
    ///
    /// # Errors
    /// The same as [`Self::play`].
    pub fn stop(&mut self, id: ActorId, layer: u8, fade_s: f32) -> Result<()> {
        self.play(id, Play::REST.layer(layer).fade_s(fade_s))
    }

    /// Checks that the actor is alive and that the caller may play on the layer.
    pub(super) fn check_layer(&self, id: ActorId, layer: u8) -> Result<()> {
        let actor = self.actors.get(id)?;
        let taken = actor.driver.is_some() && usize::from(layer) < self.library.machine_layers();
        if taken {
            return Err(Error::invalid(
                "layer",
                "belongs to the actor's state machine",
            ));
        }
        Ok(())
    }

    /// Checks a play request and looks up its names. `None` stands for the rest pose.
    pub(super) fn resolve(&self, play: &Play<'_>) -> Result<Option<Resolved>> {
        expect_finite("Play::start_s", play.start_s.unwrap_or(0.0))?;
        expect_finite("Play::offset_s", play.offset_s)?;
        expect_finite("Play::speed", play.speed)?;
        check_fade("Play::fade_s", play.fade_s)?;
        check_fade("Play::inertial_s", play.inertial_s)?;
        expect_in("Play::weight", play.weight, 0.0, f32::MAX)?;
        let mask = self.library.mask(play.mask)?;
        let what = match (play.clip, play.blend_space) {
            (None, Some(space)) => {
                let (space, at) = self.library.blend_space(space, play.at)?;
                Some(What::BlendSpace(space, at))
            }
            (Some(_), Some(_)) => {
                return Err(Error::invalid(
                    "Play::clip",
                    "must be None for a blend space",
                ));
            }
            _ if play.at.is_some() => {
                return Err(Error::invalid("Play::at", "is for blend spaces only"));
            }
            (Some(clip), None) => Some(What::Clip(self.library.clip(clip)?)),
            (None, None) => None,
        };
        Ok(what.map(|what| Resolved { what, mask }))
    }

    /// Fades to a clip or a blend space.
    pub(super) fn start(&mut self, index: u32, play: &Play<'_>, resolved: Resolved) {
        let Some(actor) = self.actors.list.get_mut(index as usize) else {
            return;
        };
        let local_s = actor.clock.local_s(self.now_s);
        let (pool, block) = (&mut self.pool, &mut actor.block);
        pool.retain(block, |record| !record.is_over(local_s));
        let fade = (play.fade_s, play.ease);
        fade_layer(pool.get_mut(*block), play.layer, fade, local_s);
        self.blends
            .retain(&mut actor.blends, |play| !play.is_over(local_s));
        self.blends
            .fade_layer(actor.blends, play.layer, fade, local_s);
        match resolved.what {
            What::Clip(clip) => {
                let mut record = record(play, (clip, resolved.mask), local_s);
                let mut layer = Layer {
                    library: &self.library,
                    records: pool.get_mut(*block),
                    blends: &mut self.blends,
                    of_actor: actor.blends,
                    layer: play.layer,
                    now_s: local_s,
                };
                let joined = play.in_step && layer.join(&mut record);
                if !joined {
                    pool.push(block, record, local_s);
                }
            }
            What::BlendSpace(space, at) => {
                self.start_blend(index, play, (space, at), resolved.mask)
            }
        }
        self.write_blends(index);
        self.changed(index);
    }

    /// Fades out everything that the caller plays on a layer.
    fn fade_out(&mut self, index: u32, layer: u8, fade: (f32, Ease)) {
        let Some(actor) = self.actors.list.get_mut(index as usize) else {
            return;
        };
        let local_s = actor.clock.local_s(self.now_s);
        fade_layer(self.pool.get_mut(actor.block), layer, fade, local_s);
        self.blends.fade_layer(actor.blends, layer, fade, local_s);
        self.write_blends(index);
        self.changed(index);
    }

    /// Rewrites the records of an actor's blend spaces, and removes those that have faded out.
    pub(super) fn write_blends(&mut self, index: u32) {
        let Some(actor) = self.actors.list.get_mut(index as usize) else {
            return;
        };
        let local_s = actor.clock.local_s(self.now_s);
        let (pool, blends) = (&mut self.pool, &mut self.blends);
        let records = (&mut *pool, &mut actor.block);
        blends.write(&self.library, actor.blends, records, local_s);
        blends.retain(&mut actor.blends, |play| !play.is_over(local_s));
        pool.retain(&mut actor.block, |record| !record.is_over(local_s));
    }

    /// Sets the speed of what a layer plays.
    ///
    /// The unit is clip seconds per second. Negative plays backwards, 0 holds the pose. Each clip
    /// continues from its current time. Clips that keep step stay in step: the last of them gets
    /// this speed, and the others follow its rate.
    ///
    /// # Errors
    /// The same as [`Self::play`], for the actor and the layer, and for a speed that is not finite.
    pub fn set_speed(&mut self, id: ActorId, layer: u8, speed: f64) -> Result<()> {
        expect_finite("speed", speed)?;
        let step_s = self.step_duration_s(id, layer)?;
        let in_step = |speed: f64, is_in_step: bool, duration_s: f64| match step_s {
            Some(step_s) if is_in_step => speed * (duration_s / step_s),
            _ => speed,
        };
        self.change_layer(id, layer, |part, now_s, duration_s| match part {
            Part::Clip(record) => {
                let speed = in_step(speed, record.has(PlayRecord::FLAG_IN_STEP), duration_s);
                record.turn(now_s, speed, duration_s);
            }
            Part::BlendSpace(play) => {
                let speed = in_step(speed, play.in_step, duration_s);
                play.turn(now_s, speed, duration_s);
            }
        })
    }

    /// Jumps to a time of the clip that a layer plays.
    ///
    /// The time is in seconds. For a blend space, it is a time of the blended cycle at the present
    /// position. Events between the old and the new time are not delivered, but an event exactly at
    /// the new time is. Clips that keep step jump to the same phase.
    ///
    /// # Errors
    /// The same as [`Self::play`], for the actor and the layer, and for a time that is not finite.
    pub fn seek(&mut self, id: ActorId, layer: u8, time_s: f64) -> Result<()> {
        expect_finite("time_s", time_s)?;
        let step_s = self.step_duration_s(id, layer)?;
        let phase = step_s.map(|step_s| time_s / step_s);
        let phase = phase.filter(|phase| phase.is_finite());
        let in_step = |is_in_step: bool, duration_s: f64| match phase {
            Some(phase) if is_in_step => phase * duration_s,
            _ => time_s,
        };
        self.change_layer(id, layer, |part, now_s, duration_s| match part {
            Part::Clip(record) => {
                let time_s = in_step(record.has(PlayRecord::FLAG_IN_STEP), duration_s);
                let speeds = [record.speed_at(now_s), record.to_speed];
                let left_s = record.anchor_s + f64::from(record.speed_ramp_s) - now_s;
                record.re_anchor(now_s, time_s, speeds, left_s.max(0.0) as f32);
                record.flags &= !(PlayRecord::FLAG_STARTED | PlayRecord::FLAG_FINISHED);
            }
            Part::BlendSpace(play) => {
                play.seek(now_s, in_step(play.in_step, duration_s) / duration_s);
            }
        })
    }

    /// Duration of the last clip of a layer that keeps step, in seconds.
    ///
    /// For a blend space it is the duration of the blended cycle. `None` if nothing keeps step.
    fn step_duration_s(&self, id: ActorId, layer: u8) -> Result<Option<f64>> {
        self.check_layer(id, layer)?;
        let actor = self.actors.get(id)?;
        let records = self.pool.get(actor.block).iter();
        let in_step =
            |record: &&PlayRecord| is_played(record, layer) && record.has(PlayRecord::FLAG_IN_STEP);
        let last = records.rev().find(in_step);
        let duration_s = last.map(|record| {
            let mut blends = self.blends.iter(actor.blends);
            match blends.find(|play| play.number == record.blend()) {
                Some(play) => play.cycle_s(&self.library),
                None => self.library.duration_s(record.clip),
            }
        });
        Ok(duration_s.filter(|duration_s| *duration_s > 0.0))
    }

    /// Calls `change` on everything that the caller plays on a layer.
    ///
    /// The arguments of `change` are the clip or blend space, the actor's time, and the duration of
    /// the clip or of the blended cycle.
    fn change_layer(
        &mut self,
        id: ActorId,
        layer: u8,
        mut change: impl FnMut(Part<'_>, f64, f64),
    ) -> Result<()> {
        self.check_layer(id, layer)?;
        self.touch(id.index);
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            let local_s = actor.clock.local_s(self.now_s);
            let records = self.pool.get_mut(actor.block).iter_mut();
            let own = |record: &&mut PlayRecord| is_played(record, layer) && record.blend() == 0;
            for record in records.filter(own) {
                let duration_s = self.library.duration_s(record.clip);
                change(Part::Clip(record), local_s, duration_s);
            }
            self.blends.for_each(actor.blends, |play| {
                if play.layer == layer {
                    let cycle_s = play.cycle_s(&self.library);
                    change(Part::BlendSpace(play), local_s, cycle_s);
                }
            });
        }
        self.write_blends(id.index);
        self.changed(id.index);
        Ok(())
    }

    /// Lists what an actor plays now, ascending in layer, whatever drives it.
    ///
    /// Each clip of a blend space that has a weight is listed. Within one layer, clips that fade
    /// out come before the clips that replace them.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn playing(&self, id: ActorId) -> Result<impl Iterator<Item = Playing> + '_> {
        let actor = self.actors.get(id)?;
        let local_s = actor.clock.local_s(self.now_s);
        let records = self.pool.get(actor.block).iter();
        let records = records.filter(move |record| !record.is_over(local_s));
        let space = move |number: u8| {
            let mut blends = self.blends.iter(actor.blends);
            let play = blends.find(|play| play.number == number);
            play.map(|play| Id::new(play.space))
        };
        Ok(records.map(move |record| Playing {
            clip: (!record.has(PlayRecord::FLAG_POSE)).then_some(Id::new(record.clip)),
            blend_space: space(record.blend()),
            layer: record.layer,
            time_s: record.clip_time_s(local_s, self.library.duration_s(record.clip)),
            speed: record.speed_at(local_s),
            weight: record.weight_at(local_s),
            to_weight: record.to_weight,
            loop_mode: record.loop_mode(),
            by_state_machine: record.has(PlayRecord::FLAG_STATE_MACHINE),
        }))
    }

    /// The play records of an actor, ascending in layer.
    ///
    /// For code that evaluates them itself.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn records(&self, id: ActorId) -> Result<&[PlayRecord]> {
        let actor = self.actors.get(id)?;
        Ok(self.pool.get(actor.block))
    }

    /// Notes a change to an actor, which wakes it with the next update.
    pub(super) fn changed(&mut self, index: u32) {
        if let Some(actor) = self.actors.list.get_mut(index as usize) {
            actor.version = actor.version.wrapping_add(1);
            actor.still_from_s = f64::INFINITY;
            self.wake.set(index, self.now_s);
        }
        self.warm();
    }
}

/// Something that a layer plays.
enum Part<'a> {
    Clip(&'a mut PlayRecord),
    BlendSpace(&'a mut BlendPlay),
}

/// Returns true if the record belongs to this layer and the caller plays a clip with it.
fn is_played(record: &PlayRecord, layer: u8) -> bool {
    record.layer == layer && !record.has(PlayRecord::FLAG_STATE_MACHINE | PlayRecord::FLAG_POSE)
}

/// Fades out what the caller plays on a layer.
pub(super) fn fade_layer(
    records: &mut [PlayRecord],
    layer: u8,
    (fade_s, ease): (f32, Ease),
    local_s: f64,
) {
    let own = |record: &&mut PlayRecord| {
        record.layer == layer && !record.has(PlayRecord::FLAG_STATE_MACHINE)
    };
    for record in records.iter_mut().filter(own) {
        record.fade_to(0.0, local_s, fade_s, ease);
    }
}

/// The record of a play request, fading in from `local_s` on.
fn record(play: &Play<'_>, (clip, mask): (u16, Option<u16>), local_s: f64) -> PlayRecord {
    let mut record = PlayRecord::new(clip, play.start_s.unwrap_or(local_s));
    record.offset_s = play.offset_s;
    (record.from_speed, record.to_speed) = (play.speed, play.speed);
    record.set_loop_mode(play.loop_mode);
    record.set_ease(play.ease);
    record.layer = play.layer;
    record.mask = mask.unwrap_or(PlayRecord::NO_MASK);
    (record.fade_start_s, record.fade_s) = (local_s, play.fade_s);
    record.from_weight = if play.fade_s > 0.0 { 0.0 } else { play.weight };
    record.to_weight = play.weight;
    record
}
