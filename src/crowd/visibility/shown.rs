//! The instances that the views of a frame show: levels of detail, and lists of table indices.
//!
//! Hidden parts cost nothing for instances that hide none: a view's list of a character is cut into
//! runs of instances that are equally flipped, have the same level of detail and hide the same
//! parts.

use crate::crowd::characters::list::Characters;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::desc::MAX_VIEWS;
use crate::crowd::instances::table::Instances;
use crate::crowd::view::View;
use crate::crowd::visibility::bits::bits;
use crate::crowd::visibility::cull::{FACTOR, Found, ViewTest, WorldSphere};
use crate::crowd::visibility::runs::{Run, runs_of};
use crate::crowd::visibility::{Look, Visibility};
use crate::crowd::{Capacity, InstanceId, ListId, ViewStats};
use crate::error::{Error, Result};
use crate::gpu::constants::{CHUNK, FACTORS, LEVEL_BITS, MAX_LEVELS, REMEMBERED};
use crate::grow::reserve_all;

/// The most lists of one frame: one for each view.
pub(crate) const MAX_LISTS: u32 = MAX_VIEWS;

/// A view's level of an instance that it does not show.
const HIDDEN: u8 = u8::MAX;

/// Runs of a character in a view, apart from looks: flipped or not, at each level.
const RUN_KINDS: usize = 2 * MAX_LEVELS;

/// A block that has instances to decide about, with a bit for each of them.
#[derive(Debug, Clone, Copy)]
struct Candidates {
    number: usize,
    /// Members that the CPU lists.
    listed: u64,
    /// Members that may have to be posed. The GPU lists them.
    posed: u64,
}

impl Candidates {
    /// The table indices of the instances that the CPU lists.
    fn listed(&self) -> impl Iterator<Item = usize> + use<> {
        let start = self.number * CHUNK;
        bits(self.listed).map(move |at| start + at)
    }
}

/// A view of the frame.
#[derive(Debug, Clone, Copy)]
struct ShownView {
    test: ViewTest,
    mask: u32,
    list: Option<ListId>,
}

/// The instances that the views of a frame show, kept so that frames allocate nothing.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// By list that the caller made, a bit for each instance that it has. As many as were ever
    /// needed.
    lists: Vec<Vec<u64>>,
    /// The number of lists that the caller made for this frame.
    pub(crate) list_count: u32,
    views: Vec<ShownView>,
    candidates: Vec<Candidates>,
    /// By table index, a bit for each view that shows the instance. Without views, bit 0 means
    /// visible.
    shown: Vec<u32>,
    /// By view and table index, the level of each instance, or [`HIDDEN`].
    levels: Vec<u8>,
    /// By view.
    counts: Vec<ViewStats>,
    /// By view and character, the number of instances that are shown.
    of_character: Vec<u32>,
    runs: Vec<Run>,
    /// Table indices, run after run.
    list: Vec<u32>,
    /// Instances of a run while they are sorted: look, position, table index.
    order: Vec<(Look, u32, u32)>,
}

impl Shown {
    /// Reserves as much memory as can ever be needed, so that frames allocate nothing.
    pub(crate) fn reserve(&mut self, of: &Visibility, capacity: &Capacity, characters: usize) {
        let (instances, views) = (capacity.instances as usize, capacity.views as usize);
        let padded = instances.next_multiple_of(CHUNK);
        self.lists
            .resize_with(self.lists.len().max(views), Vec::new);
        for list in &mut self.lists {
            reserve_all(list, padded / CHUNK);
        }
        reserve_all(&mut self.views, views);
        reserve_all(&mut self.candidates, padded / CHUNK);
        reserve_all(&mut self.shown, padded);
        reserve_all(&mut self.levels, padded * views);
        reserve_all(&mut self.counts, views);
        reserve_all(&mut self.of_character, characters * views);
        reserve_all(&mut self.list, instances * views);
        // This may grow with every call that changes a look.
        let alike = characters * RUN_KINDS + of.varying;
        let runs = alike.min(instances) * views;
        self.runs.reserve(runs.saturating_sub(self.runs.len()));
        if of.varying > 0 {
            reserve_all(&mut self.order, instances);
        }
    }

    /// Begins a frame, which has no lists yet.
    pub(crate) fn begin_frame(&mut self) {
        self.list_count = 0;
    }

    /// Checks that the view's list belongs to this frame.
    ///
    /// # Errors
    /// [`Error::Argument`] if it does not.
    pub(crate) fn check(&self, view: &View, frame: u64) -> Result<()> {
        let good = |list: ListId| list.frame == frame && list.index < self.list_count;
        if view.list.is_none_or(good) {
            return Ok(());
        }
        Err(Error::invalid("View::list", "was not made in this frame"))
    }

    /// Makes a list of table indices for views of this frame. Returns its number.
    ///
    /// # Errors
    /// [`Error::At`], with the index in the list.
    pub(crate) fn make_list(&mut self, instances: &Instances, ids: &[InstanceId]) -> Result<u32> {
        let number = self.list_count;
        let list = &mut self.lists[number as usize];
        list.clear();
        list.resize(instances.table_len().div_ceil(CHUNK), 0);
        for (position, id) in ids.iter().enumerate() {
            let at = |why: Error| why.at("instance", position);
            instances.get(*id).map_err(at)?;
            let (word, bit) = (id.index as usize / CHUNK, 1 << (id.index as usize % CHUNK));
            if list[word] & bit != 0 {
                let of = ids.iter().position(|other| other == id);
                return Err(at(Error::duplicate("instance", of.unwrap_or(position))));
            }
            list[word] |= bit;
        }
        self.list_count += 1;
        Ok(number)
    }

    /// The bits of a list of this frame, by table index.
    pub(crate) fn listed(&self, list: u32) -> &[u64] {
        &self.lists[list as usize]
    }

    /// The words of a list from a block on, or 0 past its end: instances that came later.
    fn listed_block(&self, list: ListId, block: usize) -> u64 {
        let list = self.listed(list.index);
        list.get(block).copied().unwrap_or(0)
    }

    /// Decides what each view of a frame shows, at which levels of detail, and makes the lists.
    /// Without views, every visible instance counts as shown.
    ///
    /// If the GPU culls, this only finds which instances may have to be posed, and decides for the
    /// characters that the CPU culls anyway.
    pub(crate) fn decide(
        &mut self,
        views: &[View],
        of: &mut Visibility,
        instances: &Instances,
        characters: &Characters,
    ) {
        let all = of.masks.len();
        self.counts.clear();
        self.views.clear();
        self.shown.resize(all, 0);
        self.levels.resize(all * views.len(), HIDDEN);
        self.of_character.clear();
        self.of_character.resize(characters.len() * views.len(), 0);
        self.find_candidates(of);
        // Blocks of a constant size, so that they are vectorised.
        let masks = of.masks.as_chunks::<CHUNK>().0;
        let shown = self.shown.as_chunks_mut::<CHUNK>().0;
        for block in &self.candidates {
            let masks = &masks[block.number];
            for (shown, mask) in shown[block.number].iter_mut().zip(masks) {
                *shown = u32::from(views.is_empty() && *mask != 0);
            }
        }
        for (number, view) in views.iter().enumerate() {
            let counts = self.decide_view(number, view, of, instances, characters);
            self.counts.push(counts);
        }
        self.make_lists(of, instances, characters);
    }

    /// Finds the blocks that have instances to decide about.
    fn find_candidates(&mut self, of: &Visibility) {
        self.candidates.clear();
        let (active, on_cpu) = (&of.active, &of.on_cpu);
        if !of.gpu {
            let all = (0..active.len()).map(|number| Candidates {
                number,
                listed: u64::MAX,
                posed: 0,
            });
            self.candidates.extend(all);
            return;
        }
        let blocks = active.filled_or(on_cpu);
        self.candidates.extend(blocks.map(|number| {
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
        of: &mut Visibility,
        instances: &Instances,
        characters: &Characters,
    ) -> ViewStats {
        let test = ViewTest::new(view);
        let wide = test.widened();
        self.views.push(ShownView {
            test,
            mask: view.mask,
            list: view.list,
        });
        let mut inside = 0;
        let mut counts = ViewStats {
            error_factor: 1.0,
            ..ViewStats::default()
        };
        for at in 0..self.candidates.len() {
            let block = self.candidates[at];
            let start = block.number * CHUNK;
            let level = number * of.masks.len() + start;
            self.levels[level..][..CHUNK].fill(HIDDEN);
            let may = self.allowed(block.number, view, of);
            let (listed, posed) = (may & block.listed, may & block.posed);
            let mut shown = 0;
            if listed != 0 {
                shown = listed & of.spheres.inside(block.number, &test);
                counts.outside += (listed & !shown).count_ones();
                inside += shown.count_ones();
            }
            if posed != 0 {
                shown |= posed & of.spheres.seen(block.number, &wide);
            }
            let words = &mut self.shown.as_chunks_mut::<CHUNK>().0[block.number];
            for at in bits(shown) {
                words[at] |= 1 << number;
            }
        }
        if inside == 0 {
            return counts;
        }
        let mut find =
            |test: &ViewTest| self.find_levels(number, test, counts, (of, instances, characters));
        let mut found = find(&test);
        let most = view.detail.max_triangles.map_or(u64::MAX, u64::from);
        if found.triangles > most && !test.is_fixed() {
            // Fewer triangles for each higher power.
            let (mut low, mut high) = (1, FACTORS);
            while low < high {
                let middle = (low + high) / 2;
                if find(&test.with_power(middle)).triangles > most {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            found = find(&test.with_power(low));
            found.error_factor = FACTOR.powi(low as i32);
        }
        self.finish_view(number, of, instances, characters.len());
        found
    }

    /// A bit for each instance of a block that the view shows if it is inside.
    fn allowed(&self, block: usize, view: &View, of: &Visibility) -> u64 {
        let masks = &of.masks.as_chunks::<CHUNK>().0[block];
        let may = (0..).zip(masks).fold(0, |all, (at, mask): (u32, &u32)| {
            all | u64::from(mask & view.mask != 0) << at
        });
        view.list
            .map_or(may, |list| may & self.listed_block(list, block))
    }

    /// Finds the level of every instance that lies inside a view.
    fn find_levels(
        &mut self,
        number: usize,
        test: &ViewTest,
        mut counts: ViewStats,
        (of, instances, characters): (&Visibility, &Instances, &Characters),
    ) -> ViewStats {
        let levels = &mut self.levels[number * of.masks.len()..];
        for index in self.candidates.iter().flat_map(Candidates::listed) {
            if self.shown[index] >> number & 1 == 0 {
                continue;
            }
            let character = &characters[instances[index as u32].character];
            let last = match number {
                0..REMEMBERED => {
                    of.last_levels[index] >> (number * LEVEL_BITS) & (MAX_LEVELS as u32 - 1)
                }
                _ => 0,
            };
            let sphere = of.spheres.get(index as u32);
            levels[index] = HIDDEN;
            let errors = character.errors(of.look(index as u32).varies());
            match test.find(&sphere, errors, last as u8) {
                Found::TooSmall => counts.too_small += 1,
                Found::Level(level) => {
                    levels[index] = level;
                    counts.shown += 1;
                    counts.levels[usize::from(level)] += 1;
                    counts.triangles += u64::from(character.levels[usize::from(level)].triangles);
                }
            }
        }
        counts
    }

    /// Remembers the levels of a view, and counts what it shows of each character.
    fn finish_view(
        &mut self,
        number: usize,
        of: &mut Visibility,
        instances: &Instances,
        characters: usize,
    ) {
        let levels = &self.levels[number * of.masks.len()..];
        for index in self.candidates.iter().flat_map(Candidates::listed) {
            let (shown, level) = (&mut self.shown[index], levels[index]);
            if *shown >> number & 1 == 0 {
                continue;
            }
            if level == HIDDEN {
                *shown &= !(1 << number);
                continue;
            }
            if number < REMEMBERED {
                let (last, shift) = (&mut of.last_levels[index], number * LEVEL_BITS);
                let others = *last & !((MAX_LEVELS as u32 - 1) << shift);
                *last = others | u32::from(level) << shift;
            }
            let character = instances[index as u32].character as usize;
            self.of_character[number * characters + character] += 1;
        }
    }

    fn make_lists(&mut self, of: &Visibility, instances: &Instances, characters: &Characters) {
        self.list.clear();
        self.runs.clear();
        for view in 0..self.counts.len() {
            for (index, character) in characters.iter() {
                if self.of_character[view * characters.len() + index as usize] > 0 {
                    self.list_character((view as u32, index), character, of, instances);
                }
            }
        }
    }

    /// Lists the instances of a character that a view shows, run after run: flipped ones last,
    /// within these by level, within a level by look, then in the order of the members.
    fn list_character(
        &mut self,
        (view, number): (u32, u32),
        character: &LoadedCharacter,
        of: &Visibility,
        instances: &Instances,
    ) {
        let levels = &self.levels[view as usize * of.masks.len()..];
        let bucket = |index: u32| {
            let level = levels[index as usize];
            let flipped = character.flipped > 0 && instances[index].flipped;
            (level != HIDDEN).then_some(usize::from(flipped) * MAX_LEVELS + usize::from(level))
        };
        let mut counts = [0_u32; RUN_KINDS];
        for bucket in character.members.iter().filter_map(|index| bucket(*index)) {
            counts[bucket] += 1;
        }
        let mut next = [self.list.len() as u32; RUN_KINDS];
        for at in 1..RUN_KINDS {
            next[at] = next[at - 1] + counts[at - 1];
        }
        let (starts, end) = (next, next[RUN_KINDS - 1] + counts[RUN_KINDS - 1]);
        self.list.resize(end as usize, 0);
        for index in &character.members {
            if let Some(bucket) = bucket(*index) {
                self.list[next[bucket] as usize] = *index;
                next[bucket] += 1;
            }
        }
        for (bucket, (first, count)) in starts.into_iter().zip(counts).enumerate() {
            let run = Run {
                view,
                character: number,
                first,
                count,
                flipped: bucket >= MAX_LEVELS,
                level: (bucket % MAX_LEVELS) as u8,
                look: Look::default(),
            };
            match (count, character.varying) {
                (0, _) => {}
                (_, 0) => self.runs.push(run),
                _ => self.split_by_look(&run, of),
            }
        }
    }

    /// Sorts a run by the looks of its instances, and adds a run for each.
    fn split_by_look(&mut self, run: &Run, of: &Visibility) {
        let list = &mut self.list[run.first as usize..(run.first + run.count) as usize];
        self.order.clear();
        let keyed = (0..).zip(&*list);
        self.order
            .extend(keyed.map(|(position, index)| (of.look(*index), position, *index)));
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
                look: alike[0].0,
                ..*run
            });
            first += count;
        }
    }

    /// Returns true if a view of the prepared frame shows the instance. If the GPU culls, this is
    /// known of active instances and of those that the CPU culls.
    pub(crate) fn is_shown(&self, index: u32) -> bool {
        let views = self.shown.get(index as usize);
        views.is_some_and(|views| *views != 0)
    }

    /// Returns true if a view of the prepared frame shows the instance, whose bounding sphere is
    /// known.
    pub(crate) fn view_shows(
        &self,
        of: &Visibility,
        view: u32,
        index: u32,
        sphere: &WorldSphere,
    ) -> bool {
        let (at, view) = (index as usize, view as usize);
        if of.gpu && !of.on_cpu.has(at) {
            let ShownView { test, mask, list } = &self.views[view];
            let is_listed = |list: ListId| self.listed_block(list, at / CHUNK) >> (at % CHUNK) & 1;
            return of.mask_shows(*mask, index)
                && list.is_none_or(|list| is_listed(list) != 0)
                && test.shows(sphere);
        }
        let views = self.shown.get(at).copied().unwrap_or(0);
        views >> view & 1 != 0
    }

    /// Returns true if views of the prepared frame show the instance, and all of these may show a
    /// shared pose with this error in metres.
    pub(crate) fn may_share(
        &self,
        of: &Visibility,
        index: u32,
        sphere: &WorldSphere,
        error_m: f32,
    ) -> bool {
        let shows = |(number, _): &(u32, _)| self.view_shows(of, *number, index, sphere);
        let mut shown = (0..).zip(&self.views).filter(shows).peekable();
        shown.peek().is_some() && shown.all(|(_, view)| view.test.may_share(sphere, error_m))
    }

    /// Returns true if a view of the prepared frame shows the instance, which the GPU culls, or
    /// without views, if it is visible.
    pub(crate) fn shows_somewhere(
        &self,
        of: &Visibility,
        index: u32,
        sphere: &WorldSphere,
    ) -> bool {
        let views = self.views.len() as u32;
        let visible = views == 0 && of.mask_shows(u32::MAX, index);
        visible || (0..views).any(|view| self.view_shows(of, view, index, sphere))
    }

    /// The level of detail at which a view of the prepared frame shows the instance. There may be
    /// more instances since then.
    pub(crate) fn level(&self, view: u32, index: u32) -> Option<u8> {
        let all = self.levels.len().checked_div(self.views.len())?;
        let levels = self.levels.get(view as usize * all..)?;
        let level = levels.get(..all)?.get(index as usize).copied();
        level.filter(|level| *level != HIDDEN)
    }

    /// The counts of each view of the prepared frame.
    pub(crate) fn counts(&self) -> &[ViewStats] {
        &self.counts
    }

    /// The runs of a character that a view shows, for primitives that are not blended.
    pub(crate) fn runs(&self, view: u32, character: u32) -> &[Run] {
        runs_of(&self.runs, view, character)
    }

    /// The table indices of all lists.
    pub(crate) fn list(&self) -> &[u32] {
        &self.list
    }
}
