//! Decides what the views of a frame show, and lists it.

use super::cull::{BLOCK, Found, ViewTest};
use super::marks::{FACTOR, FACTORS, HIDDEN, LEVEL_BITS, REMEMBERED, ViewCounts, Visibility};
use super::runs::Run;
use crate::crowd::characters::{Characters, LoadedCharacter, MAX_LEVELS};
use crate::crowd::instances::table::Instances;
use crate::crowd::view::View;

impl Visibility {
    /// Decides what each view of a frame shows, and at which levels of detail. Without views, every
    /// visible instance counts as shown.
    pub(in crate::crowd) fn decide(
        &mut self,
        views: &[View],
        instances: &Instances,
        characters: &Characters,
    ) {
        let all = self.masks.len();
        self.characters = characters.len();
        self.counts.clear();
        self.shown.fill(0);
        self.levels.clear();
        self.levels.resize(all * views.len(), HIDDEN);
        self.of_character.clear();
        self.of_character.resize(self.characters * views.len(), 0);
        for (number, view) in views.iter().enumerate() {
            self.decide_view(number, view, instances, characters);
        }
        if views.is_empty() {
            for (shown, mask) in self.shown.iter_mut().zip(&self.masks) {
                *shown = u32::from(*mask != 0);
            }
        }
    }

    fn decide_view(
        &mut self,
        number: usize,
        view: &View,
        instances: &Instances,
        characters: &Characters,
    ) {
        let test = ViewTest::new(view);
        self.inside = 0;
        let mut counts = ViewCounts {
            error_factor: 1.0,
            ..ViewCounts::default()
        };
        for block in 0..self.masks.len() / BLOCK {
            let may = self.allowed(block, view);
            if may == 0 {
                continue;
            }
            let inside = may & self.spheres.inside(block, &test);
            counts.outside += (may & !inside).count_ones();
            self.inside += inside.count_ones();
            for at in bits(inside) {
                if let Some(shown) = self.shown.get_mut(block * BLOCK + at) {
                    *shown |= 1 << number;
                }
            }
        }
        if self.inside == 0 {
            self.counts.push(counts);
            return;
        }
        let inside = counts;
        counts = self.find_levels(number, &test, inside, instances, characters);
        let most = view.max_triangles.map_or(u64::MAX, u64::from);
        if counts.triangles > most && !test.is_fixed() {
            // Fewer triangles for each higher power.
            let (mut low, mut high) = (1, FACTORS);
            while low < high {
                let middle = (low + high) / 2;
                let test = test.with_error(FACTOR.powi(middle as i32));
                let found = self.find_levels(number, &test, inside, instances, characters);
                if found.triangles > most {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            let factor = FACTOR.powi(low as i32);
            let test = test.with_error(factor);
            counts = self.find_levels(number, &test, inside, instances, characters);
            counts.error_factor = factor;
        }
        self.finish_view(number, instances);
        self.counts.push(counts);
    }

    /// A bit for each instance of a block that the view shows if it is inside.
    fn allowed(&self, block: usize, view: &View) -> u64 {
        let masks = self.masks.as_chunks::<BLOCK>().0.get(block);
        let may = masks.map_or(0, |masks| {
            let each = (0..).zip(masks);
            each.fold(0, |all, (at, mask): (u32, &u32)| {
                all | u64::from(mask & view.mask != 0) << at
            })
        });
        let Some(list) = view.list else { return may };
        let listed = self.listed.iter().skip(block * BLOCK).take(BLOCK);
        let listed = (0..).zip(listed).fold(0, |all, (at, lists): (u32, &u32)| {
            all | u64::from(lists >> list.index & 1) << at
        });
        may & listed
    }

    /// Finds the level of every instance that lies inside a view.
    fn find_levels(
        &mut self,
        number: usize,
        test: &ViewTest,
        mut counts: ViewCounts,
        instances: &Instances,
        characters: &Characters,
    ) -> ViewCounts {
        let start = number * self.masks.len();
        let levels = self.levels.get_mut(start..).unwrap_or_default();
        let each = levels.iter_mut().zip(&self.shown).zip(&self.last_levels);
        for (index, ((to, shown), last)) in (0..).zip(each) {
            if shown >> number & 1 == 0 {
                continue;
            }
            let state = instances.state(index);
            let character = state.and_then(|state| characters.at(state.character));
            let Some(character) = character else { continue };
            let last = match number {
                0..REMEMBERED => last >> (number * LEVEL_BITS) & (MAX_LEVELS as u32 - 1),
                _ => 0,
            };
            let placed = self.spheres.get(index);
            *to = HIDDEN;
            match test.find(&placed, &character.errors, last as u8) {
                Found::TooSmall => counts.too_small += 1,
                Found::Level(level) => {
                    *to = level;
                    counts.shown += 1;
                    if let Some(count) = counts.levels.get_mut(usize::from(level)) {
                        *count += 1;
                    }
                    let level = character.level(level);
                    counts.triangles += level.map_or(0, |level| level.triangles.into());
                }
            }
        }
        counts
    }

    /// Remembers the levels of a view, and counts what it shows of each character.
    fn finish_view(&mut self, number: usize, instances: &Instances) {
        let start = number * self.masks.len();
        let levels = self.levels.get(start..).unwrap_or_default();
        let each = self.shown.iter_mut().zip(&mut self.last_levels);
        for (index, (level, (shown, last))) in (0..).zip(levels.iter().zip(each)) {
            if *shown >> number & 1 == 0 {
                continue;
            }
            if *level == HIDDEN {
                *shown &= !(1 << number);
                continue;
            }
            if number < REMEMBERED {
                let shift = number * LEVEL_BITS;
                let others = *last & !((MAX_LEVELS as u32 - 1) << shift);
                *last = others | u32::from(*level) << shift;
            }
            let character = instances.state(index).map_or(0, |state| state.character);
            let at = number * self.characters + character as usize;
            if let Some(count) = self.of_character.get_mut(at) {
                *count += 1;
            }
        }
    }

    /// Makes the lists after [`Self::decide`].
    pub(in crate::crowd) fn make_lists(&mut self, instances: &Instances, characters: &Characters) {
        self.list.clear();
        self.runs.clear();
        for view in 0..self.counts.len() {
            for (index, character) in characters.iter() {
                let shown = view * self.characters + index as usize;
                if self.of_character.get(shown).is_some_and(|shown| *shown > 0) {
                    self.list_character((view as u32, index), character, instances);
                }
            }
        }
    }

    /// Lists the instances of a character that a view shows, run after run: flipped ones last,
    /// within these by level, within a level by hidden parts, then in the order of the members.
    fn list_character(
        &mut self,
        (view, number): (u32, u32),
        character: &LoadedCharacter,
        instances: &Instances,
    ) {
        let start = view as usize * self.masks.len();
        let levels = self.levels.get(start..).unwrap_or_default();
        let bucket = |index: u32| {
            let level = levels.get(index as usize).copied().unwrap_or(HIDDEN);
            let flipped = character.flipped > 0 && instances.is_flipped(index);
            (level != HIDDEN).then_some(usize::from(flipped) * MAX_LEVELS + usize::from(level))
        };
        let mut counts = [0_u32; BUCKETS];
        for bucket in character.members.iter().filter_map(|index| bucket(*index)) {
            counts[bucket % BUCKETS] += 1;
        }
        let mut next = [self.list.len() as u32; BUCKETS];
        for at in 1..BUCKETS {
            next[at] = next[at - 1] + counts[at - 1];
        }
        let end = next[BUCKETS - 1] + counts[BUCKETS - 1];
        self.list.resize(end as usize, 0);
        let starts = next;
        for index in &character.members {
            let Some(bucket) = bucket(*index) else {
                continue;
            };
            let at = &mut next[bucket % BUCKETS];
            if let Some(to) = self.list.get_mut(*at as usize) {
                *to = *index;
            }
            *at += 1;
        }
        for (bucket, (first, count)) in starts.into_iter().zip(counts).enumerate() {
            let run = Run {
                view,
                character: number,
                first,
                count,
                flipped: bucket >= MAX_LEVELS,
                level: (bucket % MAX_LEVELS) as u8,
                hidden: 0,
            };
            match (count, character.hiding) {
                (0, _) => {}
                (_, 0) => self.runs.push(run),
                _ => self.split_by_parts(&run),
            }
        }
    }

    /// Sorts a run by the parts that its instances hide, and adds a run for each kind.
    fn split_by_parts(&mut self, run: &Run) {
        let range = run.first as usize..(run.first + run.count) as usize;
        let Some(list) = self.list.get_mut(range) else {
            return;
        };
        let hidden = |index: u32| self.marks.get(index as usize).map_or(0, |it| it.hidden);
        self.order.clear();
        let keyed = (0..).zip(&*list);
        self.order
            .extend(keyed.map(|(position, index)| (hidden(*index), position, *index)));
        self.order.sort_unstable();
        for (to, (.., index)) in list.iter_mut().zip(&self.order) {
            *to = *index;
        }
        let mut first = run.first;
        for alike in self.order.chunk_by(|a, b| a.0 == b.0) {
            let count = alike.len() as u32;
            self.runs.push(Run {
                first,
                count,
                hidden: alike.first().map_or(0, |of| of.0),
                ..*run
            });
            first += count;
        }
    }
}

/// Runs of a character in a view, apart from hidden parts: flipped or not, at each level.
const BUCKETS: usize = 2 * MAX_LEVELS;

/// The numbers of the bits that are set, ascending.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        lowest
    })
}
