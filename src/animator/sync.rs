//! Synchronised clips: all clips that keep step on a layer share one phase.

use super::Play;
use super::library::Library;
use super::record::PlayRecord;
use super::state::{BlendPlay, BlendPool, Blends};
use crate::motion::LoopMode;

/// A layer of an actor, on which something new fades in.
pub(super) struct Layer<'a> {
    pub(super) library: &'a Library,
    /// The actor's records on all layers.
    pub(super) records: &'a mut [PlayRecord],
    pub(super) blends: &'a mut BlendPool,
    pub(super) of_actor: Blends,
    pub(super) layer: u8,
    pub(super) now_s: f64,
}

/// The phase and rate that the synchronised clips of a layer follow.
#[derive(Debug, Clone, Copy)]
struct Lead {
    /// Cycles since its start, without wrapping.
    phase: f64,
    rate_hz: f64,
}

/// The result of looking for something to keep step with.
enum Joined {
    /// There is nothing to keep step with: what plays there does not loop.
    No,
    /// Nothing plays there: the new one is the first, and later ones keep step with it.
    First,
    /// The new one keeps step with this lead.
    With(Lead),
}

impl Layer<'_> {
    /// Synchronises `new`, which is fading in, with what fades out, so that feet do not slide.
    ///
    /// `new` takes over the phase of the leading record. During the fade, everything that keeps
    /// step changes from the rate of that record to the rate of `new`.
    ///
    /// Returns true if a record of the same clip and mask already keeps step. That record then
    /// fades in again, and `new` is not needed. Only looping clips keep step: any other `new` is
    /// not changed.
    pub(super) fn join(&mut self, new: &mut PlayRecord) -> bool {
        let duration_s = self.library.duration_s(new.clip);
        if new.loop_mode() != LoopMode::Loop || duration_s <= 0.0 {
            return false;
        }
        let lead = match self.lead() {
            Joined::No => return false,
            Joined::First => {
                new.flags |= PlayRecord::FLAG_SYNCED;
                return false;
            }
            Joined::With(lead) => lead,
        };
        let rates_hz = [lead.rate_hz, new.to_speed / duration_s];
        let (layer, now_s) = (self.layer, self.now_s);
        let is_same = |record: &PlayRecord| {
            let of_layer = record.layer == layer && record.has(PlayRecord::FLAG_SYNCED);
            let same = (record.clip, record.mask) == (new.clip, new.mask);
            of_layer && same && record.blend() == 0
        };
        let again = self.records.iter().position(is_same);
        if let Some(at) = again {
            self.records[at].fade_to(new.to_weight, now_s, new.fade_s, new.ease());
        }
        self.follow(rates_hz, new.fade_s);
        if let Some(at) = again {
            // It replaces what fades out, so it must come after it.
            let end = self.records.partition_point(|record| record.layer <= layer);
            self.records[at..end].rotate_left(1);
            return true;
        }
        new.flags |= PlayRecord::FLAG_SYNCED;
        let unwrapped_s = lead.phase * duration_s + new.offset_s;
        let speeds = rates_hz.map(|hz| hz * duration_s);
        new.re_anchor(now_s, unwrapped_s, speeds, new.fade_s);
        false
    }

    /// The same as [`Self::join`], for a blend space.
    pub(super) fn join_blend(&mut self, new: &mut BlendPlay, play: &Play<'_>) {
        if new.loop_mode != LoopMode::Loop {
            return;
        }
        let lead = match self.lead() {
            Joined::No => return,
            Joined::First => {
                new.synced = true;
                return;
            }
            Joined::With(lead) => lead,
        };
        new.synced = true;
        let rates_hz = [lead.rate_hz, new.rate.to];
        self.follow(rates_hz, play.fade_s);
        let phase = lead.phase + play.offset_s / new.cycle_s(self.library);
        new.stand_at(phase, self.now_s, rates_hz, play.fade_s.into());
    }

    /// Finds the record that leads the layer, and marks it as keeping step.
    fn lead(&mut self) -> Joined {
        let Some(at) = self.heaviest() else {
            return Joined::First;
        };
        let led = self.records[at];
        let led_s = self.library.duration_s(led.clip);
        if led.loop_mode() != LoopMode::Loop || led_s <= 0.0 {
            return Joined::No;
        }
        if !led.has(PlayRecord::FLAG_SYNCED) {
            let (layer, number) = (self.layer, led.blend());
            // The records that kept step with each other before continue independently.
            for record in self.records.iter_mut().filter(|r| r.layer == layer) {
                record.flags &= !PlayRecord::FLAG_SYNCED;
            }
            self.records[at].flags |= PlayRecord::FLAG_SYNCED;
            self.blends.for_each(self.of_actor, |play| {
                if play.layer == layer {
                    play.synced = play.number == number;
                }
            });
        }
        Joined::With(Lead {
            phase: led.unwrapped_s(self.now_s) / led_s,
            rate_hz: led.speed_at(self.now_s) / led_s,
        })
    }

    /// Changes the rate of everything that keeps step, over `over_s` seconds.
    fn follow(&mut self, rates_hz: [f64; 2], over_s: f32) {
        let (layer, now_s) = (self.layer, self.now_s);
        let synced = |record: &&mut PlayRecord| {
            record.layer == layer && record.has(PlayRecord::FLAG_SYNCED) && record.blend() == 0
        };
        for record in self.records.iter_mut().filter(synced) {
            let own_s = self.library.duration_s(record.clip);
            let unwrapped_s = record.unwrapped_s(now_s);
            record.re_anchor(now_s, unwrapped_s, rates_hz.map(|hz| hz * own_s), over_s);
        }
        self.blends.for_each(self.of_actor, |play| {
            if play.layer == layer && play.synced {
                play.follows = true;
                play.go_on(now_s, rates_hz, over_s.into());
            }
        });
    }

    /// The record with the most weight. Of equal ones, the last.
    ///
    /// A record whose fade-out has just started counts with the weight that it had. A clip of a
    /// blend space counts with the weight of the whole blend space.
    fn heaviest(&self) -> Option<usize> {
        let plays = |record: &PlayRecord| {
            record.layer == self.layer
                && !record.has(PlayRecord::FLAG_STATE_MACHINE | PlayRecord::FLAG_POSE)
        };
        let records = self.records.iter().enumerate();
        let own = records.filter(|(_, record)| plays(record));
        let weights = own.map(|(index, record)| {
            let mut blends = self.blends.iter(self.of_actor);
            let of_blend = blends.find(|play| play.number == record.blend());
            let weight = match of_blend {
                Some(play) => play.weight.from.max(play.weight.at(self.now_s)),
                None => record.from_weight.max(record.weight_at(self.now_s)),
            };
            (index, weight)
        });
        weights
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(index, _)| index)
    }
}
