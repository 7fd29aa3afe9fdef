//! The layers of an actor: the clips, blend spaces and fades that it plays.

use super::blend::BlendPlay;
use super::blend_pool::{BlendPool, Blends};
use super::record_pool::{Block, RecordPool};
use crate::animator::library::{Library, Mapping, moved};
use crate::animator::play::{Play, Playing, Resolved, What};
use crate::animator::record::PlayRecord;
use crate::animator::sync::Layer;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::motion::{Ease, Ramp};
use glam::Vec2;

/// The layers of an actor: ranges of the shared [`Pools`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Layers {
    block: Block,
    blends: Blends,
}

/// The memory of the layers of all actors.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pools {
    records: RecordPool,
    blends: BlendPool,
}

impl Pools {
    /// Reserves memory for two records of each of this many actors.
    pub(crate) fn reserve(&mut self, actors: usize) {
        self.records.reserve(actors);
    }

    /// Reserves memory for two blend spaces of each of this many actors: one that plays, and one
    /// that fades out.
    pub(crate) fn reserve_blends(&mut self, actors: usize) {
        self.blends.reserve(2 * actors);
    }

    /// The most records that an actor ever had.
    pub(crate) fn most_records(&self) -> usize {
        self.records.most()
    }
}

impl Layers {
    /// Returns true if nothing plays.
    #[cfg(feature = "vulkan")]
    pub(crate) fn is_empty(&self) -> bool {
        self.block.is_empty()
    }

    /// The play records, ascending in layer.
    #[inline]
    pub(crate) fn records<'a>(&self, pools: &'a Pools) -> &'a [PlayRecord] {
        pools.records.get(self.block)
    }

    /// The blend spaces, in the order in which they were played.
    pub(crate) fn blends<'a>(&self, pools: &'a Pools) -> impl Iterator<Item = &'a BlendPlay> {
        pools.blends.iter(self.blends)
    }

    /// Replaces everything that plays by data that was checked.
    pub(crate) fn set(&mut self, pools: &mut Pools, records: &[PlayRecord], blends: &[BlendPlay]) {
        pools.records.set(&mut self.block, records);
        pools.blends.set(&mut self.blends, blends);
    }

    /// Gives the memory back.
    pub(crate) fn release(&mut self, pools: &mut Pools) {
        pools.records.release(&mut self.block);
        pools.blends.retain(&mut self.blends, |_| false);
    }

    /// Lists what plays at `local_s`.
    pub(crate) fn playing<'a>(
        self,
        library: &'a Library,
        pools: &'a Pools,
        local_s: f64,
    ) -> impl Iterator<Item = Playing> + use<'a> {
        let records = self.records(pools).iter();
        let records = records.filter(move |record| !record.is_over(local_s));
        let space = move |number: u8| {
            let play = self.blend(pools, number);
            play.map(|play| Id::new(play.space))
        };
        records.map(move |record| Playing {
            clip: (!record.has(PlayRecord::FLAG_POSE)).then_some(Id::new(record.clip)),
            blend_space: space(record.blend()),
            layer: record.layer,
            mask: record.mask(),
            time_s: record.clip_time_s(local_s, library.duration_s(record.clip)),
            speed: record.speed_at(local_s),
            weight: record.weight_at(local_s),
            to_weight: record.to_weight,
            loop_mode: record.loop_mode(),
            synced: record.has(PlayRecord::FLAG_SYNCED),
            by_state_machine: record.has(PlayRecord::FLAG_STATE_MACHINE),
        })
    }

    fn blend(self, pools: &Pools, number: u8) -> Option<&BlendPlay> {
        let mut blends = pools.blends.iter(self.blends);
        blends.find(|play| play.number == number)
    }

    /// The blend space that plays on a layer and is not fading out.
    pub(crate) fn blend_on<'a>(&self, pools: &'a Pools, layer: u8) -> Option<&'a BlendPlay> {
        let on_layer = |play: &&BlendPlay| play.layer == layer && play.weight.to > 0.0;
        pools.blends.iter(self.blends).filter(on_layer).last()
    }

    /// The time after `since_s` at which the position of a blend space next changes.
    ///
    /// Infinite if none moves.
    pub(crate) fn next_blend_step_s(&self, pools: &Pools, since_s: f64) -> f64 {
        pools.blends.next_step_s(self.blends, since_s)
    }
}

/// The layers of an actor, with everything that a change of them needs.
pub(crate) struct Mix<'a> {
    pub(crate) library: &'a Library,
    pub(crate) pools: &'a mut Pools,
    pub(crate) layers: &'a mut Layers,
    /// The actor's time.
    pub(crate) local_s: f64,
}

impl<'a> Mix<'a> {
    pub(crate) fn new(
        library: &'a Library,
        pools: &'a mut Pools,
        layers: &'a mut Layers,
        local_s: f64,
    ) -> Self {
        Self {
            library,
            pools,
            layers,
            local_s,
        }
    }

    pub(crate) fn records(&self) -> &[PlayRecord] {
        self.layers.records(self.pools)
    }

    pub(crate) fn records_mut(&mut self) -> &mut [PlayRecord] {
        self.pools.records.get_mut(self.layers.block)
    }

    pub(crate) fn retain_records(&mut self, keep: impl FnMut(&PlayRecord) -> bool) {
        self.pools.records.retain(&mut self.layers.block, keep);
    }

    /// Adds a record after those of its layer.
    pub(crate) fn push(&mut self, record: PlayRecord) {
        let block = &mut self.layers.block;
        self.pools.records.push(block, record, self.local_s);
    }

    /// Removes the records that have faded out.
    pub(crate) fn drop_faded(&mut self) {
        let local_s = self.local_s;
        self.retain_records(|record| !record.is_over(local_s));
    }

    /// Removes the blend spaces that have faded out.
    pub(crate) fn drop_faded_blends(&mut self) {
        let (blends, local_s) = (&mut self.layers.blends, self.local_s);
        self.pools
            .blends
            .retain(blends, |play| !play.is_over(local_s));
    }

    /// Removes what the caller plays below a layer.
    pub(crate) fn clear_below(&mut self, layers: usize) {
        self.retain_records(|record| usize::from(record.layer) >= layers);
        let blends = &mut self.layers.blends;
        let keep = |play: &BlendPlay| usize::from(play.layer) >= layers;
        self.pools.blends.retain(blends, keep);
    }

    /// Goes on with the clips, blend spaces and masks of another character.
    ///
    /// Plays of something that is gone end, and `lost` is called with its name. The records of a
    /// state machine end, too: it writes new ones.
    pub(crate) fn adopt(
        &mut self,
        old: &Library,
        map: &Mapping,
        lost: &mut dyn FnMut(&'static str, &str),
    ) {
        let (library, local_s) = (self.library, self.local_s);
        let mask_of = |mask: u16, lost: &mut dyn FnMut(&'static str, &str)| {
            if mask == PlayRecord::NO_MASK {
                return Some(mask);
            }
            let new = moved(&map.masks, mask);
            if new.is_none() {
                lost("mask", &old.set.masks[usize::from(mask)].name);
            }
            new
        };
        self.pools.blends.for_each(self.layers.blends, |play| {
            let space = moved(&map.blend_spaces, play.space);
            if space.is_none() {
                lost(
                    "blend space",
                    old.blend_spaces()[usize::from(play.space)].name(),
                );
            }
            match (space, mask_of(play.mask, lost)) {
                (Some(space), Some(mask)) => {
                    (play.space, play.mask) = (space, mask);
                    play.set_rate(library, local_s);
                }
                _ => play.weight = Ramp::constant(0.0),
            }
        });
        self.drop_faded_blends();
        self.retain_records(|record| {
            record.blend() == 0 && !record.has(PlayRecord::FLAG_STATE_MACHINE)
        });
        for record in self.records_mut() {
            let is_pose = record.has(PlayRecord::FLAG_POSE);
            let clip = if is_pose {
                Some(record.clip)
            } else {
                moved(&map.clips, record.clip)
            };
            if clip.is_none() {
                lost("clip", old.clips[usize::from(record.clip)].name());
            }
            match (clip, mask_of(record.mask, lost)) {
                (Some(clip), Some(mask)) => {
                    if !is_pose {
                        let durations_s = [old.duration_s(record.clip), library.duration_s(clip)];
                        record.stretch(local_s, durations_s);
                    }
                    (record.clip, record.mask) = (clip, mask);
                }
                _ => (record.from_weight, record.to_weight) = (0.0, 0.0),
            }
        }
        self.write_blends();
    }

    /// Hands the records of a state machine to the caller, and fades them out.
    pub(crate) fn release_machine(&mut self, fade_s: f32) {
        let local_s = self.local_s;
        for record in self.records_mut() {
            if record.has(PlayRecord::FLAG_STATE_MACHINE) {
                record.flags &= !PlayRecord::FLAG_STATE_MACHINE;
                // A state that is left does not finish.
                record.flags |= PlayRecord::FLAG_FINISHED;
                record.fade_to(0.0, local_s, fade_s, Ease::Smooth);
            }
        }
        self.drop_faded();
    }

    /// Fades out what the caller plays on a layer.
    pub(crate) fn fade_layer(&mut self, layer: u8, fade: (f32, Ease)) {
        let local_s = self.local_s;
        let own = |record: &&mut PlayRecord| {
            record.layer == layer && !record.has(PlayRecord::FLAG_STATE_MACHINE)
        };
        for record in self.records_mut().iter_mut().filter(own) {
            record.fade_to(0.0, local_s, fade.0, fade.1);
        }
        let blends = self.layers.blends;
        self.pools.blends.fade_layer(blends, layer, fade, local_s);
    }

    /// Plays what was requested, or the rest pose, in a cross-fade.
    pub(crate) fn play(&mut self, play: &Play<'_>, resolved: Option<Resolved>) {
        self.drop_faded();
        self.drop_faded_blends();
        self.fade_layer(play.layer, (play.fade_s, play.ease));
        if let Some(Resolved { what, mask }) = resolved {
            match what {
                What::Clip(clip) => self.start_clip(play, clip, mask),
                What::BlendSpace(space, at) => self.start_blend(play, (space, at), mask),
            }
        }
        self.write_blends();
    }

    fn start_clip(&mut self, play: &Play<'_>, clip: u16, mask: Option<u16>) {
        let mut record = record(play, (clip, mask), self.local_s);
        let joined = play.synced && self.layer(play.layer).join(&mut record);
        if !joined {
            self.push(record);
        }
    }

    fn start_blend(&mut self, play: &Play<'_>, (space, at): (u16, Vec2), mask: Option<u16>) {
        let local_s = self.local_s;
        let start_s = play.start_s.unwrap_or(local_s);
        let times = (start_s, play.offset_s, play.speed);
        let from = if play.fade_s > 0.0 { 0.0 } else { play.weight };
        let mut new = BlendPlay {
            layer: play.layer,
            mask: mask.unwrap_or(PlayRecord::NO_MASK),
            loop_mode: play.loop_mode,
            weight: Ramp::new(from, play.weight, local_s, play.fade_s.into(), play.ease),
            ..BlendPlay::new(self.library, (space, at), times)
        };
        if play.synced {
            self.layer(play.layer).join_blend(&mut new, play);
        }
        let blends = &mut self.layers.blends;
        let number = self.pools.blends.add(blends, new, local_s);
        // Remove the records of a blend space that was dropped to free this number.
        self.retain_records(|record| record.blend() != number);
    }

    fn layer(&mut self, layer: u8) -> Layer<'_> {
        Layer {
            library: self.library,
            records: self.pools.records.get_mut(self.layers.block),
            blends: &mut self.pools.blends,
            of_actor: self.layers.blends,
            layer,
            now_s: self.local_s,
        }
    }

    /// Rewrites the records of the blend spaces, and removes what has faded out.
    fn write_blends(&mut self) {
        let records = (&mut self.pools.records, &mut self.layers.block);
        let blends = self.layers.blends;
        self.pools
            .blends
            .write(self.library, blends, records, self.local_s);
        self.drop_faded_blends();
        self.drop_faded();
    }

    /// Takes over the flags that a record of a blend space gained while time passed.
    pub(crate) fn note_blend(&mut self, number: u8, flags: [u8; 2]) {
        self.pools.blends.note(self.layers.blends, number, flags);
    }

    /// Moves the blend spaces to their present positions. Returns true if records changed.
    pub(crate) fn advance_blends(&mut self, back: bool) -> bool {
        self.drop_faded_blends();
        let (library, blends, local_s) = (self.library, self.layers.blends, self.local_s);
        let changed = self.pools.blends.advance(library, blends, local_s, back);
        if changed {
            let records = (&mut self.pools.records, &mut self.layers.block);
            self.pools.blends.write(library, blends, records, local_s);
        }
        changed
    }

    /// Sets the speed of what the caller plays on a layer.
    pub(crate) fn set_speed(&mut self, layer: u8, speed: f64) {
        let step_s = self.step_duration_s(layer);
        let synced = |is_synced: bool, duration_s: f64| match step_s {
            Some(step_s) if is_synced => speed * (duration_s / step_s),
            _ => speed,
        };
        self.change_layer(layer, |played, now_s, duration_s| match played {
            Played::Clip(record) => {
                let speed = synced(record.has(PlayRecord::FLAG_SYNCED), duration_s);
                record.turn(now_s, speed, duration_s);
            }
            Played::BlendSpace(play) => {
                let speed = synced(play.synced, duration_s);
                play.turn(now_s, speed, duration_s);
            }
        });
    }

    /// Jumps to a time of what the caller plays on a layer.
    pub(crate) fn seek(&mut self, layer: u8, time_s: f64) {
        let phase = self.step_duration_s(layer).map(|step_s| time_s / step_s);
        let phase = phase.filter(|phase| phase.is_finite());
        let synced = |is_synced: bool, duration_s: f64| match phase {
            Some(phase) if is_synced => phase * duration_s,
            _ => time_s,
        };
        self.change_layer(layer, |played, now_s, duration_s| match played {
            Played::Clip(record) => {
                let time_s = synced(record.has(PlayRecord::FLAG_SYNCED), duration_s);
                let speeds = [record.speed_at(now_s), record.to_speed];
                let left_s = record.anchor_s + f64::from(record.speed_ramp_s) - now_s;
                record.re_anchor(now_s, time_s, speeds, left_s.max(0.0) as f32);
                record.flags &= !(PlayRecord::FLAG_STARTED | PlayRecord::FLAG_FINISHED);
            }
            Played::BlendSpace(play) => {
                play.seek(now_s, synced(play.synced, duration_s) / duration_s);
            }
        });
    }

    /// Duration of the last clip of a layer that keeps step, in seconds.
    ///
    /// For a blend space it is the duration of the blended cycle. `None` if nothing keeps step.
    fn step_duration_s(&self, layer: u8) -> Option<f64> {
        let synced =
            |record: &&PlayRecord| is_played(record, layer) && record.has(PlayRecord::FLAG_SYNCED);
        let last = self.records().iter().rev().find(synced)?;
        let duration_s = match self.layers.blend(self.pools, last.blend()) {
            Some(play) => play.cycle_s(self.library),
            None => self.library.duration_s(last.clip),
        };
        (duration_s > 0.0).then_some(duration_s)
    }

    /// Calls `change` on everything that the caller plays on a layer.
    ///
    /// The arguments of `change` are the clip or blend space, the actor's time, and the duration of
    /// the clip or of the blended cycle.
    fn change_layer(&mut self, layer: u8, mut change: impl FnMut(Played<'_>, f64, f64)) {
        let (library, local_s) = (self.library, self.local_s);
        let own = |record: &&mut PlayRecord| is_played(record, layer) && record.blend() == 0;
        for record in self.records_mut().iter_mut().filter(own) {
            let duration_s = library.duration_s(record.clip);
            change(Played::Clip(record), local_s, duration_s);
        }
        self.pools.blends.for_each(self.layers.blends, |play| {
            if play.layer == layer {
                let cycle_s = play.cycle_s(library);
                change(Played::BlendSpace(play), local_s, cycle_s);
            }
        });
        self.write_blends();
    }

    /// Moves the blend space of a layer to a position, over `over_s` seconds.
    pub(crate) fn move_blend(&mut self, layer: u8, to: Vec2, over_s: f32) -> Result<()> {
        let number = self
            .layers
            .blend_on(self.pools, layer)
            .map(|play| play.number);
        let number = number.ok_or(no_blend())?;
        let (local_s, to) = (self.local_s, to.to_array());
        self.pools.blends.for_each(self.layers.blends, |play| {
            if play.number == number {
                let from = play.at.to_array();
                let ramp = |axis: usize| {
                    Ramp::new(from[axis], to[axis], local_s, over_s.into(), Ease::Linear)
                };
                play.position = [ramp(0), ramp(1)];
            }
        });
        let blends = &mut self.pools.blends;
        blends.advance(self.library, self.layers.blends, local_s, false);
        self.write_blends();
        Ok(())
    }
}

pub(crate) fn no_blend() -> Error {
    Error::invalid("layer", "plays no blend space")
}

enum Played<'a> {
    Clip(&'a mut PlayRecord),
    BlendSpace(&'a mut BlendPlay),
}

/// Returns true if the record belongs to this layer and the caller plays a clip with it.
fn is_played(record: &PlayRecord, layer: u8) -> bool {
    record.layer == layer && !record.has(PlayRecord::FLAG_STATE_MACHINE | PlayRecord::FLAG_POSE)
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
