//! Memory of the blend spaces of all actors: one list, in which each actor has a linked list.

use super::blend::{BlendPlay, MOST_BLENDS, NONE};
use super::record_pool::{Block, RecordPool};
use crate::animator::library::Library;
use crate::animator::record::PlayRecord;
use crate::grow::reserve_all;
use crate::motion::Ease;

/// The blend spaces of an actor, in the order in which they were played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blends(u32);

impl Default for Blends {
    fn default() -> Self {
        Self(NONE)
    }
}

/// The blend spaces that all actors play. Entries of ended ones are reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlendPool {
    list: Vec<BlendPlay>,
    free: Vec<u32>,
}

impl BlendPool {
    pub(crate) fn reserve(&mut self, count: usize) {
        reserve_all(&mut self.list, count);
        reserve_all(&mut self.free, count);
    }

    pub(crate) fn iter(&self, blends: Blends) -> impl Iterator<Item = &BlendPlay> {
        let get = |at: u32| self.list.get(at as usize);
        core::iter::successors(get(blends.0), move |play| get(play.next))
    }

    pub(crate) fn for_each(&mut self, blends: Blends, mut each: impl FnMut(&mut BlendPlay)) {
        let mut at = blends.0;
        while let Some(play) = self.list.get_mut(at as usize) {
            each(play);
            at = play.next;
        }
    }

    /// Adds a blend space after the others, with its own number.
    ///
    /// If all numbers are in use, the one with the lowest final weight is dropped, and its number
    /// is reused. Of equal ones, that with the lowest weight at `now_s` is dropped.
    pub(crate) fn add(&mut self, blends: &mut Blends, mut play: BlendPlay, now_s: f64) -> u8 {
        let taken = |pool: &Self, blends: Blends, number: u8| {
            let mut all = pool.iter(blends);
            all.any(|play| play.number == number)
        };
        let free = (1..=MOST_BLENDS).find(|number| !taken(self, *blends, *number));
        play.number = free.unwrap_or_else(|| self.least(*blends, now_s));
        if free.is_none() {
            self.retain(blends, |other| other.number != play.number);
        }
        self.push(blends, play);
        play.number
    }

    /// Replaces an actor's blend spaces.
    pub(crate) fn set(&mut self, blends: &mut Blends, plays: &[BlendPlay]) {
        self.retain(blends, |_| false);
        for play in plays {
            self.push(blends, *play);
        }
    }

    /// Adds a blend space after the others.
    fn push(&mut self, blends: &mut Blends, mut play: BlendPlay) {
        play.next = NONE;
        let at = match self.free.pop() {
            Some(at) => {
                self.list[at as usize] = play;
                at
            }
            None => {
                self.list.push(play);
                self.list.len() as u32 - 1
            }
        };
        match self.last(*blends) {
            Some(last) => self.list[last as usize].next = at,
            None => blends.0 = at,
        }
    }

    fn last(&self, blends: Blends) -> Option<u32> {
        let next = |at: &u32| self.list.get(*at as usize).map(|play| play.next);
        let exists = |at: &u32| *at != NONE;
        let first = Some(blends.0).filter(exists);
        core::iter::successors(first, |at| next(at).filter(exists)).last()
    }

    /// The number of the one with the lowest weight.
    fn least(&self, blends: Blends, now_s: f64) -> u8 {
        let key = |play: &&BlendPlay| (play.weight.to, play.weight.at(now_s));
        let least = self.iter(blends).min_by(|a, b| {
            let ((a_to, a_now), (b_to, b_now)) = (key(a), key(b));
            a_to.total_cmp(&b_to).then(a_now.total_cmp(&b_now))
        });
        least.map_or(1, |play| play.number)
    }

    pub(crate) fn retain(&mut self, blends: &mut Blends, mut keep: impl FnMut(&BlendPlay) -> bool) {
        let (mut at, mut before) = (blends.0, NONE);
        while let Some(play) = self.list.get(at as usize) {
            let next = play.next;
            if keep(play) {
                before = at;
            } else {
                match self.list.get_mut(before as usize) {
                    Some(before) => before.next = next,
                    None => blends.0 = next,
                }
                self.free.push(at);
            }
            at = next;
        }
    }

    /// Fades out what plays on a layer.
    pub(crate) fn fade_layer(
        &mut self,
        blends: Blends,
        layer: u8,
        fade: (f32, Ease),
        local_s: f64,
    ) {
        self.for_each(blends, |play| {
            if play.layer == layer {
                play.fade_to(0.0, local_s, fade);
            }
        });
    }

    /// Takes over the flags that a record gained while time passed.
    pub(crate) fn note(&mut self, blends: Blends, number: u8, [before, after]: [u8; 2]) {
        self.for_each(blends, |play| {
            if play.number == number {
                play.begun |= after & PlayRecord::FLAG_STARTED != 0;
                play.finished |= (after & !before) & PlayRecord::FLAG_FINISHED != 0;
            }
        });
    }

    /// Moves all to their positions at `local_s`. Returns true if records must be rewritten.
    pub(crate) fn advance(
        &mut self,
        library: &Library,
        blends: Blends,
        local_s: f64,
        back: bool,
    ) -> bool {
        let mut changed = false;
        self.for_each(blends, |play| {
            changed |= play.advance(library, local_s);
            if back && play.finished {
                let (cycles, to_hz) = (play.cycles(local_s), play.rate.to);
                let end = if to_hz > 0.0 { 1.0 } else { 0.0 };
                play.finished = (cycles - end) * to_hz >= 0.0;
                changed |= !play.finished;
            }
        });
        changed
    }

    /// The time after `since_s` at which a position next changes. Infinite if none moves.
    pub(crate) fn next_step_s(&self, blends: Blends, since_s: f64) -> f64 {
        let steps = self.iter(blends).map(|play| play.next_step_s(since_s));
        steps.fold(f64::INFINITY, f64::min)
    }

    /// Writes the records of all of them.
    ///
    /// They replace the old records of the blend space. Without old ones, they come after those of
    /// its layer.
    pub(crate) fn write(
        &self,
        library: &Library,
        blends: Blends,
        (pool, block): (&mut RecordPool, &mut Block),
        local_s: f64,
    ) {
        for play in self.iter(blends) {
            let records = pool.get(*block);
            let first = records.iter().position(|r| r.blend() == play.number);
            let behind = records.partition_point(|record| record.layer <= play.layer);
            let mut at = first.unwrap_or(behind);
            pool.retain(block, |record| record.blend() != play.number);
            play.each_record(library, |record| {
                pool.insert(block, at, record, local_s);
                at += 1;
            });
        }
    }
}
