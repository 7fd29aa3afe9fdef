//! Decides which instances each view of a frame shows, and makes lists of their table indices.
//!
//! Hidden parts cost nothing for instances that hide none: a view's list of a character is cut into
//! runs of instances that are equally flipped, have the same level of detail and hide the same
//! parts.

mod bits;
pub(crate) mod chunks;
pub(crate) mod cull;
mod decide;
pub(crate) mod gpu;
mod members;
mod record;
pub(crate) mod runs;
pub(crate) mod sorted;

use crate::crowd::desc::MAX_VIEWS;
use crate::crowd::instances::table::Instances;
use crate::crowd::pending::Marked;
use crate::crowd::table::Table;
use crate::crowd::view::View;
use crate::crowd::visibility::bits::{InstanceSet, bits};
use crate::crowd::visibility::cull::{Spheres, ViewTest, WorldSphere};
use crate::crowd::visibility::runs::{Run, runs_of};
use crate::crowd::{Capacity, InstanceId, ListId, ViewStats};
use crate::error::{Error, Result};
use crate::gpu::constants::{CHUNK, MAX_LEVELS};
use crate::grow::reserve_all;

/// The most lists of one frame: one for each view.
pub(crate) const MAX_LISTS: u32 = MAX_VIEWS;

/// The state that decides the visibility of an instance. Indexed by table index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks {
    /// The mask of views that may show it, or 0 if it is not alive.
    pub(crate) mask: u32,
    /// The flag that the caller set.
    pub(crate) visible: bool,
    /// True if something that it is attached to is hidden.
    pub(crate) parent_hidden: bool,
    /// The last prepared frame that had its pose, or [`Self::ALWAYS`].
    posed_in: u64,
    /// True if the ring keeps its palette without any work.
    is_kept: bool,
}

impl Marks {
    pub(crate) const NEW: Self = Self {
        mask: u32::MAX,
        visible: true,
        parent_hidden: false,
        posed_in: 0,
        is_kept: false,
    };

    /// Every frame has its pose, without any work.
    const ALWAYS: u64 = u64::MAX;
}

impl Marks {
    /// The mask of views that may show the instance, or 0 if it is hidden.
    pub(crate) fn views(&self) -> u32 {
        if self.visible && !self.parent_hidden {
            self.mask
        } else {
            0
        }
    }
}

/// A view's level of an instance that it does not show.
pub(crate) const HIDDEN: u8 = u8::MAX;

/// A block that has instances to decide about, with a bit for each of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidates {
    pub(crate) number: usize,
    /// Members that the CPU lists.
    pub(crate) listed: u64,
    /// Members that may have to be posed. The GPU lists them.
    pub(crate) posed: u64,
}

/// Visibility of all instances in a frame. Lists without a note are by table index.
#[derive(Debug, Default)]
pub(crate) struct Visibility {
    pub(crate) marks: Table<Marks>,
    /// A bit for each primitive that an instance hides. Empty until one hides any.
    pub(crate) hidden: Vec<u128>,
    /// The mask of views that may show it, or 0.
    pub(crate) masks: Vec<u32>,
    pub(crate) spheres: Spheres,
    /// By list of this frame, a bit for each instance that it has. As many as were ever needed.
    pub(crate) listed: Vec<Vec<u64>>,
    /// The number of lists of this frame.
    pub(crate) lists: u32,
    /// True if the GPU decides who is drawn.
    pub(crate) gpu: bool,
    /// The instances that may have a new pose in any frame.
    pub(crate) active: InstanceSet,
    /// The instances whose characters the CPU culls, even if the GPU culls others.
    pub(crate) on_cpu: InstanceSet,
    pub(crate) candidates: Vec<Candidates>,
    /// The tests of views, with their masks and lists, if the GPU culls.
    pub(crate) seen: Vec<(ViewTest, u32, Option<ListId>)>,
    /// Instances whose actors the GPU must have anew, if the GPU culls.
    pub(crate) noted: Marked,
    /// The number of instances whose palettes the ring keeps without any work.
    kept: usize,
    /// A bit for each view that shows the instance. Without views, bit 0 means visible.
    pub(crate) shown: Vec<u32>,
    /// The last levels in the first views, a few bits each.
    pub(crate) last_levels: Vec<u32>,
    /// For each view, the level of each instance, or [`HIDDEN`].
    pub(crate) levels: Vec<u8>,
    /// The number of instances inside the view that is decided.
    pub(crate) inside: u32,
    /// By view.
    pub(crate) counts: Vec<ViewStats>,
    /// By view and character, the number of instances that are shown.
    pub(crate) of_character: Vec<u32>,
    /// The number of characters of `of_character`.
    pub(crate) characters: usize,
    pub(crate) runs: Vec<Run>,
    /// Table indices, run after run.
    pub(crate) list: Vec<u32>,
    /// Instances of a run while they are sorted: hidden parts, position, table index.
    pub(crate) order: Vec<(u128, u32, u32)>,
    /// The number of instances that hide parts.
    hiding: usize,
    /// The frame that is being prepared.
    posing_in: u64,
    /// The frame prepared last.
    pub(crate) prepared_in: u64,
    /// The frame prepared before the present one, in case this one is abandoned.
    pub(crate) prepared_before: u64,
}

impl Visibility {
    /// Checks that the view's list belongs to this frame.
    ///
    /// # Errors
    /// [`Error::Argument`] if it does not.
    pub(crate) fn check(&self, view: &View, frame: u64) -> Result<()> {
        let good = |list: ListId| list.frame == frame && list.index < self.lists;
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
        let number = self.lists;
        if self.listed.len() <= number as usize {
            self.listed.push(Vec::new());
        }
        let Some(list) = self.listed.get_mut(number as usize) else {
            return Ok(number);
        };
        list.clear();
        list.resize(self.active.len(), 0);
        for (position, id) in ids.iter().enumerate() {
            instances
                .get(*id)
                .map_err(|why| why.at("instance", position))?;
            let index = id.index as usize;
            let bit = 1 << (index % CHUNK);
            if let Some(word) = list.get_mut(index / CHUNK) {
                if *word & bit != 0 {
                    let of = ids.iter().position(|other| other == id);
                    let why = Error::duplicate("instance", of.unwrap_or(position));
                    return Err(why.at("instance", position));
                }
                *word |= bit;
            }
        }
        self.lists += 1;
        Ok(number)
    }

    /// The bits of a list of this frame, by table index.
    pub(crate) fn listed(&self, list: u32) -> &[u64] {
        self.listed.get(list as usize).map_or(&[], Vec::as_slice)
    }

    /// Reserves as much memory as can ever be needed, so that frames allocate nothing.
    pub(crate) fn reserve(&mut self, capacity: &Capacity, characters: usize) {
        let (instances, views) = (capacity.instances as usize, capacity.views as usize);
        let padded = instances.next_multiple_of(CHUNK);
        reserve_all(&mut self.marks, instances);
        reserve_all(&mut self.masks, padded);
        self.spheres.reserve(instances);
        self.listed
            .resize_with(self.listed.len().max(views), Vec::new);
        for list in &mut self.listed {
            reserve_all(list, padded / CHUNK);
        }
        self.active.reserve(padded / CHUNK);
        self.on_cpu.reserve(padded / CHUNK);
        reserve_all(&mut self.candidates, padded / CHUNK);
        if self.gpu {
            self.noted.grow(instances);
        }
        reserve_all(&mut self.shown, padded);
        reserve_all(&mut self.last_levels, padded);
        reserve_all(&mut self.levels, padded * views);
        reserve_all(&mut self.counts, views);
        reserve_all(&mut self.seen, views);
        reserve_all(&mut self.of_character, characters * views);
        reserve_all(&mut self.list, instances * views);
        // This may grow with every call that hides a part.
        let alike = characters * MAX_LEVELS * 2 + self.hiding;
        let runs = alike.min(instances) * views;
        self.runs.reserve(runs.saturating_sub(self.runs.len()));
        if self.hiding > 0 {
            reserve_all(&mut self.order, instances);
        }
    }

    /// Sets the state of a new instance. `on_cpu` is true if the CPU culls its character.
    pub(crate) fn spawned(&mut self, index: u32, on_cpu: bool) {
        let index = index as usize;
        if self.marks.len() <= index {
            self.marks.resize(index + 1, Marks::NEW);
        }
        self.marks[index as u32] = Marks::NEW;
        self.mask(index);
        if let Some(levels) = self.last_levels.get_mut(index) {
            *levels = 0;
        }
        self.on_cpu.set(index, on_cpu);
        self.active.set(index, true);
    }

    /// Sets whether the CPU culls an instance's character, even if the GPU culls others.
    pub(crate) fn set_on_cpu(&mut self, index: u32, on_cpu: bool) {
        self.on_cpu.set(index as usize, on_cpu);
    }

    /// Lets the GPU decide who is drawn.
    pub(crate) fn cull_on_gpu(&mut self) {
        self.gpu = true;
    }

    /// True if the GPU decides who is drawn.
    pub(crate) fn is_on_gpu(&self) -> bool {
        self.gpu
    }

    /// Notes that an instance may have a new pose in any frame.
    pub(crate) fn activate(&mut self, index: u32) {
        let at = index as usize;
        if !self.active.has(at) {
            self.active.set(at, true);
            // Until now, every frame had its pose.
            let marks = &mut self.marks[index];
            marks.posed_in = self.prepared_in;
            self.kept -= usize::from(core::mem::take(&mut marks.is_kept));
        }
    }

    /// Notes that every frame has the pose of an instance, until [`Self::activate`]. `kept` is true
    /// if its palette lies in the ring.
    pub(crate) fn deactivate(&mut self, index: u32, kept: bool) {
        self.active.set(index as usize, false);
        let marks = &mut self.marks[index];
        marks.posed_in = Marks::ALWAYS;
        let before = core::mem::replace(&mut marks.is_kept, kept);
        self.kept = self.kept + usize::from(kept) - usize::from(before);
    }

    /// Lets all instances whose palettes the ring kept write them again.
    pub(crate) fn activate_kept(&mut self) {
        for index in 0..self.marks.len() as u32 {
            if self.marks(index).is_kept {
                self.activate(index);
            }
        }
    }

    /// True if the ring keeps palettes without any work.
    pub(crate) fn keeps_any(&self) -> bool {
        self.kept > 0
    }

    /// The instances that may have a new pose in any frame, in the order of the table.
    pub(crate) fn active(&self) -> impl Iterator<Item = u32> + '_ {
        self.active.iter()
    }

    /// The numbers in a block of the instances that may have a new pose in any frame.
    pub(crate) fn active_in(&self, block: usize) -> impl Iterator<Item = usize> + use<> {
        bits(self.active.block(block))
    }

    /// The number of the frame prepared last.
    pub(crate) fn prepared_in(&self) -> u64 {
        self.prepared_in
    }

    /// The first block from a number on that has such instances.
    pub(crate) fn next_active_block(&self, from: usize) -> Option<usize> {
        self.active.next_block(from)
    }

    /// The number of blocks of instances.
    pub(crate) fn blocks(&self) -> usize {
        self.active.len()
    }

    fn note(&mut self, index: usize) {
        if self.gpu {
            self.noted.add(index as u32);
        }
    }

    /// Notes the views that may show an instance after its state changed.
    fn mask(&mut self, index: usize) {
        let all = self.marks.len().next_multiple_of(CHUNK);
        if self.masks.len() < all {
            self.masks.resize(all, 0);
            self.shown.resize(all, 0);
            self.last_levels.resize(all, 0);
            self.active.resize(all / CHUNK);
            self.on_cpu.resize(all / CHUNK);
        }
        self.masks[index] = self.marks[index as u32].views();
        self.note(index);
    }

    /// Notes the bounding sphere of an instance.
    pub(crate) fn set_sphere(&mut self, index: u32, sphere: &WorldSphere) {
        if self.spheres.set(index, sphere) {
            self.note(index as usize);
        }
    }

    /// Notes the bounding sphere of an instance that the GPU places, where it is now.
    pub(crate) fn set_gpu_sphere(&mut self, index: u32, sphere: &WorldSphere) {
        self.spheres.set(index, sphere);
    }

    /// The bounding sphere of an instance.
    pub(crate) fn sphere(&self, index: u32) -> WorldSphere {
        self.spheres.get(index)
    }

    /// Forgets all instances. The table has this many indices then.
    pub(crate) fn clear(&mut self, indices: usize) {
        let dead = Marks {
            mask: 0,
            ..Marks::NEW
        };
        self.marks.clear();
        self.marks.resize(indices, dead);
        self.noted.clear();
        self.hidden.fill(0);
        (self.kept, self.hiding) = (0, 0);
        self.masks.fill(0);
        self.last_levels.fill(0);
        self.active.clear();
        self.on_cpu.clear();
    }

    /// Clears the state of an instance that was despawned. Returns true if it hid parts.
    pub(crate) fn despawned(&mut self, index: u32) -> bool {
        let [hid, _] = self.hide(index, u128::MAX, false);
        self.change(index, |marks| marks.mask = 0);
        self.deactivate(index, false);
        self.on_cpu.set(index as usize, false);
        hid
    }

    /// The state of an instance.
    pub(crate) fn marks(&self, index: u32) -> Marks {
        self.marks[index]
    }

    pub(crate) fn change(&mut self, index: u32, change: impl FnOnce(&mut Marks)) {
        let at = index as usize;
        let marks = &mut self.marks[index];
        let before = marks.views();
        change(marks);
        let hides = before != 0 && marks.views() == 0;
        if hides && (!self.gpu || self.on_cpu.has(at)) {
            // From now on, frames do not have its pose.
            self.activate(index);
        }
        self.mask(at);
    }

    /// Hides or shows the primitives of these bits. Returns whether the instance hid any primitive
    /// before, and whether it does now.
    pub(crate) fn hide(&mut self, index: u32, bits: u128, hide: bool) -> [bool; 2] {
        let at = index as usize;
        if hide && bits != 0 && self.hidden.len() <= at {
            self.hidden.resize(at + 1, 0);
        }
        let Some(hidden) = self.hidden.get_mut(at) else {
            return [false; 2];
        };
        let before = *hidden != 0;
        *hidden = if hide {
            *hidden | bits
        } else {
            *hidden & !bits
        };
        let after = *hidden != 0;
        self.note(at);
        self.hiding = self.hiding + usize::from(after) - usize::from(before);
        [before, after]
    }

    pub(crate) fn begin_frame(&mut self) {
        self.lists = 0;
    }

    /// Undoes the frame prepared last, which is never submitted.
    pub(crate) fn abandon_frame(&mut self) {
        self.prepared_in = self.prepared_before;
    }

    /// Returns true if a view of the prepared frame shows the instance. If the GPU culls, this is
    /// known of active instances and of those that the CPU culls.
    pub(crate) fn is_shown(&self, index: u32) -> bool {
        self.shown
            .get(index as usize)
            .is_some_and(|views| *views != 0)
    }

    /// Returns true if a view of the prepared frame shows the instance.
    pub(crate) fn view_shows(&self, view: u32, index: u32) -> bool {
        self.view_shows_at(view, index, &self.sphere(index))
    }

    /// As [`Self::view_shows`], for an instance whose bounding sphere is known.
    fn view_shows_at(&self, view: u32, index: u32, sphere: &WorldSphere) -> bool {
        let at = index as usize;
        if self.gpu && !self.on_cpu.has(at) {
            let seen = self.seen.get(view as usize);
            let shows = |(test, mask, list): &(ViewTest, u32, Option<ListId>)| {
                self.mask_shows(*mask, index)
                    && list.is_none_or(|list| is_set(self.listed(list.index), at))
                    && test.shows(sphere)
            };
            return seen.is_some_and(shows);
        }
        let views = self.shown.get(index as usize).copied().unwrap_or(0);
        views >> view & 1 != 0
    }

    /// Returns true if views of the prepared frame show the instance, and all of these may show a
    /// shared pose with this error in metres.
    pub(crate) fn may_share(&self, index: u32, sphere: &WorldSphere, error_m: f32) -> bool {
        let shows = |(number, _): &(u32, _)| self.view_shows_at(*number, index, sphere);
        let mut shown = (0..).zip(&self.seen).filter(shows).peekable();
        shown.peek().is_some() && shown.all(|(_, seen)| seen.0.may_share(sphere, error_m))
    }

    /// Returns true if a view of the prepared frame shows the instance, which the GPU culls, or
    /// without views, if it is visible.
    pub(crate) fn shows_somewhere(&self, index: u32, sphere: &WorldSphere) -> bool {
        let views = self.seen.len() as u32;
        let visible = views == 0 && self.mask_shows(u32::MAX, index);
        visible || (0..views).any(|view| self.view_shows_at(view, index, sphere))
    }

    /// Returns true if a view with this mask and without a list would show the instance, wherever
    /// it looks.
    pub(crate) fn mask_shows(&self, view_mask: u32, index: u32) -> bool {
        let mask = self.masks.get(index as usize);
        mask.is_some_and(|mask| mask & view_mask != 0)
    }

    /// The level of detail at which a view of the prepared frame shows the instance.
    pub(crate) fn level(&self, view: u32, index: u32) -> Option<u8> {
        let at = view as usize * self.masks.len() + index as usize;
        let level = self.levels.get(at).copied();
        level.filter(|level| *level != HIDDEN)
    }

    /// The counts of each view of the prepared frame.
    pub(crate) fn counts(&self) -> &[ViewStats] {
        &self.counts
    }

    /// A bit for each primitive that an instance hides.
    pub(crate) fn hidden(&self, index: u32) -> u128 {
        self.hidden.get(index as usize).copied().unwrap_or(0)
    }

    /// The runs of a character that a view shows, for primitives that are not blended.
    pub(crate) fn runs(&self, view: u32, character: u32) -> &[Run] {
        runs_of(&self.runs, view, character)
    }

    /// The table indices of all lists.
    pub(crate) fn list(&self) -> &[u32] {
        &self.list
    }

    /// Notes that this frame has the pose of an instance. Returns true if the last prepared frame
    /// did not.
    pub(crate) fn pose(&mut self, index: u32) -> bool {
        let before = self.prepared_in;
        core::mem::replace(&mut self.marks[index].posed_in, self.posing_in) < before
    }

    /// Notes the frame that is being prepared.
    pub(crate) fn begin_posing(&mut self, frame: u64) {
        self.posing_in = frame;
    }

    /// Notes that the frame was prepared.
    pub(crate) fn end_posing(&mut self) {
        (self.prepared_before, self.prepared_in) = (self.prepared_in, self.posing_in);
    }
}

/// True if the bit of an instance is set.
fn is_set(bits: &[u64], index: usize) -> bool {
    let word = bits.get(index / CHUNK);
    word.is_some_and(|word| word >> (index % CHUNK) & 1 != 0)
}
