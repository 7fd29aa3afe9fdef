//! Decides what the views of a frame show, and lists it.

use crate::crowd::ViewStats;
use crate::crowd::characters::loaded::{Characters, LoadedCharacter};
use crate::crowd::instances::table::Instances;
use crate::crowd::view::View;
use crate::crowd::visibility::bits::bits;
use crate::crowd::visibility::cull::{FACTOR, Found, ViewTest};
use crate::crowd::visibility::runs::Run;
use crate::crowd::visibility::{Candidates, HIDDEN, Visibility};
use crate::gpu::constants::{CHUNK, FACTORS, LEVEL_BITS, MAX_LEVELS, REMEMBERED};

impl Visibility {
    /// Decides what each view of a frame shows, and at which levels of detail. Without views, every
    /// visible instance counts as shown.
    ///
    /// If the GPU culls, this only finds which instances may have to be posed, and decides for the
    /// characters that the CPU culls all the same.
    pub(crate) fn decide(
        &mut self,
        views: &[View],
        instances: &Instances,
        characters: &Characters,
    ) {
        let all = self.masks.len();
        self.characters = characters.len();
        self.counts.clear();
        self.seen.clear();
        self.levels.resize(all * views.len(), HIDDEN);
        self.of_character.clear();
        self.of_character.resize(self.characters * views.len(), 0);
        self.find_candidates();
        for at in 0..self.candidates.len() {
            let Some(block) = self.candidates.get(at).map(|block| block.number) else {
                continue;
            };
            let (shown, masks) = (
                of_block(&mut self.shown, block),
                of_block(&mut self.masks, block),
            );
            for (shown, mask) in shown.iter_mut().zip(masks) {
                *shown = u32::from(views.is_empty() && *mask != 0);
            }
        }
        for (number, view) in views.iter().enumerate() {
            self.decide_view(number, view, instances, characters);
        }
    }

    /// Finds the blocks that have instances to decide about.
    fn find_candidates(&mut self) {
        self.candidates.clear();
        let (active, on_cpu) = (&self.active, &self.on_cpu);
        if !self.gpu {
            let all = (0..active.len()).map(|number| Candidates {
                number,
                listed: u64::MAX,
                posed: 0,
            });
            self.candidates.extend(all);
            return;
        }
        self.candidates
            .extend(active.filled_or(on_cpu).map(|number| {
                let listed = on_cpu.block(number);
                Candidates {
                    number,
                    listed,
                    posed: active.block(number) & !listed,
                }
            }));
    }

    fn decide_view(
        &mut self,
        number: usize,
        view: &View,
        instances: &Instances,
        characters: &Characters,
    ) {
        let test = ViewTest::new(view);
        let wide = test.widened();
        if self.gpu {
            self.seen.push((test, view.mask, view.list));
        }
        let all = self.masks.len();
        self.inside = 0;
        let mut counts = ViewStats {
            error_factor: 1.0,
            ..ViewStats::default()
        };
        for at in 0..self.candidates.len() {
            let Some(block) = self.candidates.get(at).copied() else {
                continue;
            };
            let start = number * all + block.number * CHUNK;
            let levels = self.levels.get_mut(start..).unwrap_or_default();
            let levels = levels.iter_mut().take(CHUNK);
            levels.for_each(|level| *level = HIDDEN);
            let may = self.allowed(block.number, view);
            let (listed, posed) = (may & block.listed, may & block.posed);
            let mut shown = 0;
            if listed != 0 {
                let inside = listed & self.spheres.inside(block.number, &test);
                counts.outside += (listed & !inside).count_ones();
                self.inside += inside.count_ones();
                shown |= inside;
            }
            if posed != 0 {
                shown |= posed & self.spheres.seen(block.number, &wide);
            }
            let words = of_block(&mut self.shown, block.number);
            for at in bits(shown) {
                if let Some(word) = words.get_mut(at) {
                    *word |= 1 << number;
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
                let test = test.with_power(middle);
                let found = self.find_levels(number, &test, inside, instances, characters);
                if found.triangles > most {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            let test = test.with_power(low);
            counts = self.find_levels(number, &test, inside, instances, characters);
            counts.error_factor = FACTOR.powi(low as i32);
        }
        self.finish_view(number, instances);
        self.counts.push(counts);
    }

    /// A bit for each instance of a block that the view shows if it is inside.
    fn allowed(&self, block: usize, view: &View) -> u64 {
        let masks = self.masks.as_chunks::<CHUNK>().0.get(block);
        let may = masks.map_or(0, |masks| {
            let each = (0..).zip(masks);
            each.fold(0, |all, (at, mask): (u32, &u32)| {
                all | u64::from(mask & view.mask != 0) << at
            })
        });
        view.list.map_or(may, |list| {
            let listed = self.listed.get(list.index as usize);
            may & listed
                .and_then(|list| list.get(block))
                .copied()
                .unwrap_or(0)
        })
    }

    /// Finds the level of every instance that lies inside a view.
    fn find_levels(
        &mut self,
        number: usize,
        test: &ViewTest,
        mut counts: ViewStats,
        instances: &Instances,
        characters: &Characters,
    ) -> ViewStats {
        let start = number * self.masks.len();
        let levels = self.levels.get_mut(start..).unwrap_or_default();
        for index in self.candidates.iter().flat_map(Candidates::listed) {
            let shown = self.shown.get(index).copied().unwrap_or(0);
            if shown >> number & 1 == 0 {
                continue;
            }
            let character = &characters[instances[index as u32].character];
            let Some(to) = levels.get_mut(index) else {
                continue;
            };
            let last = match number {
                0..REMEMBERED => {
                    let last = self.last_levels.get(index).copied().unwrap_or(0);
                    last >> (number * LEVEL_BITS) & (MAX_LEVELS as u32 - 1)
                }
                _ => 0,
            };
            let placed = self.spheres.get(index as u32);
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
        for index in self.candidates.iter().flat_map(Candidates::listed) {
            let (Some(shown), Some(last), Some(level)) = (
                self.shown.get_mut(index),
                self.last_levels.get_mut(index),
                levels.get(index),
            ) else {
                continue;
            };
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
            let character = instances[index as u32].character;
            let at = number * self.characters + character as usize;
            if let Some(count) = self.of_character.get_mut(at) {
                *count += 1;
            }
        }
    }

    /// Makes the lists after [`Self::decide`].
    pub(crate) fn make_lists(&mut self, instances: &Instances, characters: &Characters) {
        self.list.clear();
        self.runs.clear();
        for view in 0..self.counts.len() {
            for (index, character) in characters.iter() {
                let shown = view * self.characters + index as usize;
                let some = self.of_character.get(shown).is_some_and(|shown| *shown > 0);
                if some {
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
            let flipped = character.flipped > 0 && instances[index].flipped;
            (level != HIDDEN).then_some(usize::from(flipped) * MAX_LEVELS + usize::from(level))
        };
        let mut counts = [0_u32; RUN_KINDS];
        for bucket in character.members.iter().filter_map(|index| bucket(*index)) {
            counts[bucket % RUN_KINDS] += 1;
        }
        let mut next = [self.list.len() as u32; RUN_KINDS];
        for at in 1..RUN_KINDS {
            next[at] = next[at - 1] + counts[at - 1];
        }
        let end = next[RUN_KINDS - 1] + counts[RUN_KINDS - 1];
        self.list.resize(end as usize, 0);
        let starts = next;
        for index in &character.members {
            let Some(bucket) = bucket(*index) else {
                continue;
            };
            let at = &mut next[bucket % RUN_KINDS];
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
        let hidden = |index: u32| self.hidden.get(index as usize).copied().unwrap_or(0);
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

/// The elements of a block in a list by table index.
fn of_block(list: &mut [u32], block: usize) -> &mut [u32] {
    let (blocks, _) = list.as_chunks_mut::<CHUNK>();
    blocks
        .get_mut(block)
        .map_or(&mut [], |block| block.as_mut_slice())
}

impl Candidates {
    /// The table indices of the instances that the CPU lists.
    fn listed(&self) -> impl Iterator<Item = usize> + use<> {
        let start = self.number * CHUNK;
        bits(self.listed).map(move |at| start + at)
    }
}

/// Runs of a character in a view, apart from hidden parts: flipped or not, at each level.
const RUN_KINDS: usize = 2 * MAX_LEVELS;
