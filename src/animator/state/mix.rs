//! Changes of what an actor plays.

use super::blend::{BlendPlay, MOST_BLENDS};
use super::layers::{Layers, MOST, Pools};
use crate::animator::library::Library;
use crate::animator::play::{Play, Resolved, What};
use crate::animator::record::PlayRecord;
use crate::animator::replace::{Mapping, moved};
use crate::animator::sync::Layer;
use crate::error::{Error, Result};
use crate::motion::{Ease, Ramp};
use glam::Vec2;

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
        self.pools.records.get_mut(self.layers.records)
    }

    fn blends_mut(&mut self) -> &mut [BlendPlay] {
        self.pools.blends.get_mut(self.layers.blends)
    }

    pub(crate) fn retain_records(&mut self, keep: impl FnMut(&PlayRecord) -> bool) {
        self.pools.records.retain(&mut self.layers.records, keep);
    }

    fn retain_blends(&mut self, keep: impl FnMut(&BlendPlay) -> bool) {
        self.pools.blends.retain(&mut self.layers.blends, keep);
    }

    /// Adds a record after those of its layer.
    ///
    /// If the actor already has the maximum number, the record with the lowest final weight is
    /// dropped; of equal ones, that with the lowest weight now.
    pub(crate) fn push(&mut self, record: PlayRecord) {
        self.insert(usize::MAX, record);
    }

    /// Adds a record at an index, or as near to it as the order of layers allows.
    ///
    /// If the actor already has the maximum number, one is dropped as in [`Self::push`].
    fn insert(&mut self, at: usize, record: PlayRecord) {
        let (records, local_s) = (self.records(), self.local_s);
        if records.len() == MOST {
            let weights = records
                .iter()
                .map(|it| (it.to_weight, it.weight_at(local_s)));
            let (least, mut number) = (least(weights), 0);
            self.retain_records(|_| {
                number += 1;
                number - 1 != least
            });
        }
        let records = self.records();
        let first = records.partition_point(|other| other.layer < record.layer);
        let behind = records.partition_point(|other| other.layer <= record.layer);
        let at = at.clamp(first, behind);
        let block = &mut self.layers.records;
        self.pools.records.insert(block, at, record);
    }

    /// Removes the records that have faded out.
    pub(crate) fn drop_faded(&mut self) {
        let local_s = self.local_s;
        self.retain_records(|record| !record.is_over(local_s));
    }

    /// Removes the blend spaces that have faded out.
    fn drop_faded_blends(&mut self) {
        let local_s = self.local_s;
        self.retain_blends(|play| !play.is_over(local_s));
    }

    /// Removes what the caller plays below a layer.
    pub(crate) fn clear_below(&mut self, layers: usize) {
        self.retain_records(|record| usize::from(record.layer) >= layers);
        self.retain_blends(|play| usize::from(play.layer) >= layers);
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
                lost("mask", &old.set.mask_names[usize::from(mask)]);
            }
            new
        };
        for play in self.blends_mut() {
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
        }
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
                // Clips of states report no event at their end.
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
        for play in self
            .blends_mut()
            .iter_mut()
            .filter(|play| play.layer == layer)
        {
            play.fade_to(0.0, local_s, fade);
        }
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
        self.add_blend(new);
    }

    /// Adds a blend space after the others, with its own number.
    ///
    /// If all numbers are in use, the one with the lowest final weight is dropped, and its number
    /// is reused. Of equal ones, that with the lowest weight now is dropped.
    fn add_blend(&mut self, mut new: BlendPlay) {
        let (blends, local_s) = (self.layers.blends(self.pools), self.local_s);
        let is_free = |number: &u8| blends.iter().all(|play| play.number != *number);
        new.number = (1..=MOST_BLENDS).find(is_free).unwrap_or_else(|| {
            let weights = blends
                .iter()
                .map(|play| (play.weight.to, play.weight.at(local_s)));
            blends[least(weights)].number
        });
        self.retain_blends(|play| play.number != new.number);
        self.retain_records(|record| record.blend() != new.number);
        let (pool, block) = (&mut self.pools.blends, &mut self.layers.blends);
        pool.insert(block, pool.get(*block).len(), new);
    }

    fn layer(&mut self, layer: u8) -> Layer<'_> {
        Layer {
            library: self.library,
            records: self.pools.records.get_mut(self.layers.records),
            blends: self.pools.blends.get_mut(self.layers.blends),
            layer,
            now_s: self.local_s,
        }
    }

    /// Rewrites the records of the blend spaces, and removes what has faded out.
    fn write_blends(&mut self) {
        self.write_blend_records();
        self.drop_faded_blends();
        self.drop_faded();
    }

    /// Writes the records of the blend spaces.
    ///
    /// They replace the old records of the blend space. Without old ones, they come after those of
    /// its layer.
    fn write_blend_records(&mut self) {
        for index in 0..self.layers.blends(self.pools).len() {
            let play = self.layers.blends(self.pools)[index];
            let records = self.records();
            let first = records.iter().position(|r| r.blend() == play.number);
            let behind = records.partition_point(|record| record.layer <= play.layer);
            let mut at = first.unwrap_or(behind);
            self.retain_records(|record| record.blend() != play.number);
            play.each_record(self.library, |record| {
                self.insert(at, record);
                at += 1;
            });
        }
    }

    /// Takes over the flags that a record of a blend space gained while time passed.
    pub(crate) fn note_blend(&mut self, number: u8, [before, after]: [u8; 2]) {
        let mut blends = self.blends_mut().iter_mut();
        if let Some(play) = blends.find(|play| play.number == number) {
            play.begun |= after & PlayRecord::FLAG_STARTED != 0;
            play.finished |= (after & !before) & PlayRecord::FLAG_FINISHED != 0;
        }
    }

    /// Moves the blend spaces to their present positions. Returns true if records changed.
    pub(crate) fn advance_blends(&mut self, back: bool) -> bool {
        self.drop_faded_blends();
        let (library, local_s, mut changed) = (self.library, self.local_s, false);
        for play in self.blends_mut() {
            changed |= play.advance(library, local_s);
            changed |= back && play.is_unfinished_again(local_s);
        }
        if changed {
            self.write_blend_records();
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
        for play in self
            .blends_mut()
            .iter_mut()
            .filter(|play| play.layer == layer)
        {
            let cycle_s = play.cycle_s(library);
            change(Played::BlendSpace(play), local_s, cycle_s);
        }
        self.write_blends();
    }

    /// Moves the blend space of a layer to a position, over `over_s` seconds.
    ///
    /// # Errors
    /// [`Error::Argument`] if the layer plays no blend space.
    pub(crate) fn move_blend(&mut self, layer: u8, to: Vec2, over_s: f32) -> Result<()> {
        let (library, local_s) = (self.library, self.local_s);
        let on_layer = |play: &&mut BlendPlay| play.is_on(layer);
        let play = self.blends_mut().iter_mut().rfind(on_layer);
        let play = play.ok_or(no_blend())?;
        let (from, to) = (play.at.to_array(), to.to_array());
        play.position = [0, 1].map(|axis| {
            let (from, to) = (from[axis], to[axis]);
            Ramp::new(from, to, local_s, over_s.into(), Ease::Linear)
        });
        for play in self.blends_mut() {
            play.advance(library, local_s);
        }
        self.write_blends();
        Ok(())
    }
}

/// The index of the first of the lowest pairs of weights.
fn least(weights: impl Iterator<Item = (f32, f32)>) -> usize {
    let least = weights
        .enumerate()
        .min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    least.map_or(0, |(index, _)| index)
}

pub(crate) fn no_blend() -> Error {
    Error::invalid("layer", "plays no blend space")
}

/// Something that a layer plays.
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
