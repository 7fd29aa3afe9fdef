//! Decides which instances each view of a frame shows, and makes lists of their table indices.
//!
//! Hidden parts cost nothing for instances that hide none: a view's list of a character is cut into
//! runs of instances that are equally flipped, have the same level of detail and hide the same
//! parts.

use crate::crowd::characters::MAX_LEVELS;
use crate::crowd::desc::MAX_VIEWS;
use crate::crowd::instances::table::Instances;
use crate::crowd::view::View;
use crate::crowd::visibility::cull::{BLOCK, Placed, Spheres};
use crate::crowd::visibility::runs::{Run, runs_of};
use crate::crowd::{Capacity, InstanceId, ListId};
use crate::error::{Error, Result};

/// The most lists of one frame: one for each view.
pub(in crate::crowd) const MAX_LISTS: u32 = MAX_VIEWS;

/// The state that decides the visibility of an instance. Indexed by table index.
#[derive(Debug, Clone, Copy)]
pub(in crate::crowd) struct Marks {
    /// The mask of views that may show it, or 0 if it is not alive.
    pub(in crate::crowd) mask: u32,
    /// The flag that the caller set.
    pub(in crate::crowd) visible: bool,
    /// True if something that it is attached to is hidden.
    pub(in crate::crowd) parent_hidden: bool,
    /// A bit for each primitive that it hides.
    pub(in crate::crowd) hidden: u128,
    /// The frame in which it was last shown.
    shown_in: u64,
}

impl Marks {
    pub(in crate::crowd) const NEW: Self = Self {
        mask: u32::MAX,
        visible: true,
        parent_hidden: false,
        hidden: 0,
        shown_in: 0,
    };
}

impl Marks {
    /// The mask of views that may show the instance, or 0 if it is hidden.
    fn views(&self) -> u32 {
        if self.visible && !self.parent_hidden {
            self.mask
        } else {
            0
        }
    }
}

/// A view's level of an instance that it does not show.
pub(super) const HIDDEN: u8 = u8::MAX;

/// Views whose levels of detail are remembered from frame to frame.
pub(super) const REMEMBERED: usize = 10;

/// Bits of a remembered level.
pub(super) const LEVEL_BITS: usize = MAX_LEVELS.ilog2() as usize;

/// The factors by which a view may allow more error to keep to its number of triangles are powers
/// of this.
pub(super) const FACTOR: f32 = 1.189_207_1;

/// The highest power.
pub(super) const FACTORS: u32 = 40;

/// What a view shows in a frame.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::crowd) struct ViewCounts {
    /// Instances that it shows.
    pub(in crate::crowd) shown: u32,
    /// Visible instances outside of it.
    pub(in crate::crowd) outside: u32,
    /// Visible instances that are too small.
    pub(in crate::crowd) too_small: u32,
    /// Instances that it shows at each level of detail.
    pub(in crate::crowd) levels: [u32; MAX_LEVELS],
    /// Triangles of what it shows, with those of hidden parts.
    pub(in crate::crowd) triangles: u64,
    /// The allowed error over that of the view.
    pub(in crate::crowd) error_factor: f32,
}

/// Visibility of all instances in a frame. Lists without a note are by table index.
#[derive(Debug, Default)]
pub(in crate::crowd) struct Visibility {
    pub(super) marks: Vec<Marks>,
    /// The mask of views that may show it, or 0.
    pub(super) masks: Vec<u32>,
    pub(super) spheres: Spheres,
    /// A bit for each list of this frame that has the instance.
    pub(super) listed: Vec<u32>,
    /// The number of lists of this frame.
    pub(in crate::crowd) lists: u32,
    /// A bit for each view that shows the instance. Without views, bit 0 stands for visible.
    pub(super) shown: Vec<u32>,
    /// The last levels in the first views, a few bits each.
    pub(super) last_levels: Vec<u32>,
    /// For each view, the level of each instance, or [`HIDDEN`].
    pub(super) levels: Vec<u8>,
    /// The number of instances inside the view that is decided.
    pub(super) inside: u32,
    /// By view.
    pub(super) counts: Vec<ViewCounts>,
    /// By view and character, the number of instances that are shown.
    pub(super) of_character: Vec<u32>,
    /// The number of characters of `of_character`.
    pub(super) characters: usize,
    pub(super) runs: Vec<Run>,
    /// Table indices, run after run.
    pub(super) list: Vec<u32>,
    /// Instances of a run while they are sorted: hidden parts, position, table index.
    pub(super) order: Vec<(u128, u32, u32)>,
    /// The number of instances that hide parts.
    hiding: usize,
    /// The frame prepared last.
    pub(super) prepared_in: u64,
    /// The frame prepared before the present one, in case this one is abandoned.
    pub(super) prepared_before: u64,
}

impl Visibility {
    /// Checks that the view's list belongs to this frame.
    ///
    /// # Errors
    /// [`Error::Argument`] if it does not.
    pub(in crate::crowd) fn check(&self, view: &View, frame: u64) -> Result<()> {
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
    pub(in crate::crowd) fn make_list(
        &mut self,
        instances: &Instances,
        ids: &[InstanceId],
    ) -> Result<u32> {
        let number = self.lists;
        self.listed.resize(instances.table_len(), 0);
        for (position, id) in ids.iter().enumerate() {
            let marked = instances.get(*id).and_then(|_| {
                let listed = self.listed.get_mut(id.index as usize);
                match listed.filter(|listed| **listed >> number & 1 == 0) {
                    Some(listed) => *listed |= 1 << number,
                    None => {
                        let of = ids.iter().position(|other| other == id);
                        return Err(Error::duplicate("instance", of.unwrap_or(position)));
                    }
                }
                Ok(())
            });
            if let Err(why) = marked {
                // The next list reuses the bits of this one, so clear them.
                for listed in &mut self.listed {
                    *listed &= !(1 << number);
                }
                return Err(why.at("instance", position));
            }
        }
        self.lists += 1;
        Ok(number)
    }

    /// Reserves as much memory as can ever be needed, so that frames allocate nothing.
    pub(in crate::crowd) fn reserve(&mut self, capacity: &Capacity, characters: usize) {
        fn reserve<T>(list: &mut Vec<T>, all: usize) {
            list.reserve(all.saturating_sub(list.len()));
        }
        let (instances, views) = (capacity.instances as usize, capacity.views as usize);
        let padded = instances.next_multiple_of(BLOCK);
        reserve(&mut self.marks, instances);
        reserve(&mut self.masks, padded);
        self.spheres.reserve(instances);
        reserve(&mut self.listed, instances);
        reserve(&mut self.shown, padded);
        reserve(&mut self.last_levels, padded);
        reserve(&mut self.levels, padded * views);
        reserve(&mut self.counts, views);
        reserve(&mut self.of_character, characters * views);
        reserve(&mut self.list, instances * views);
        let alike = characters * MAX_LEVELS * 2 + self.hiding;
        reserve(&mut self.runs, alike.min(instances) * views);
        if self.hiding > 0 {
            reserve(&mut self.order, instances);
        }
    }

    /// Sets the state of a new instance.
    pub(in crate::crowd) fn spawned(&mut self, index: u32) {
        let index = index as usize;
        if self.marks.len() <= index {
            self.marks.resize(index + 1, Marks::NEW);
        }
        if let Some(marks) = self.marks.get_mut(index) {
            *marks = Marks::NEW;
        }
        self.mask(index);
        if let Some(levels) = self.last_levels.get_mut(index) {
            *levels = 0;
        }
    }

    /// Notes the views that may show an instance after its state changed.
    fn mask(&mut self, index: usize) {
        let all = self.marks.len().next_multiple_of(BLOCK);
        if self.masks.len() < all {
            self.masks.resize(all, 0);
            self.shown.resize(all, 0);
            self.last_levels.resize(all, 0);
        }
        if let (Some(mask), Some(marks)) = (self.masks.get_mut(index), self.marks.get(index)) {
            *mask = marks.views();
        }
    }

    /// Notes the bounding sphere of an instance.
    pub(in crate::crowd) fn place(&mut self, index: u32, placed: &Placed) {
        self.spheres.set(index, placed);
    }

    /// Replaces the state of all instances: `None` for one that is not alive.
    pub(in crate::crowd) fn restore(&mut self, all: impl Iterator<Item = Option<Marks>>) {
        let dead = Marks {
            mask: 0,
            ..Marks::NEW
        };
        self.marks.clear();
        self.marks.extend(all.map(|marks| marks.unwrap_or(dead)));
        self.hiding = self.marks.iter().filter(|marks| marks.hidden != 0).count();
        self.masks.fill(0);
        self.last_levels.fill(0);
        for index in 0..self.marks.len() {
            self.mask(index);
        }
    }

    /// Clears the state of an instance that was despawned. Returns true if it hid parts.
    pub(in crate::crowd) fn despawned(&mut self, index: u32) -> bool {
        let [hid, _] = self.hide(index, u128::MAX, false);
        self.change(index, |marks| marks.mask = 0);
        hid
    }

    /// The state of an instance.
    pub(in crate::crowd) fn marks(&self, index: u32) -> Marks {
        self.marks
            .get(index as usize)
            .copied()
            .unwrap_or(Marks::NEW)
    }

    pub(in crate::crowd) fn change(&mut self, index: u32, change: impl FnOnce(&mut Marks)) {
        if let Some(marks) = self.marks.get_mut(index as usize) {
            change(marks);
        }
        self.mask(index as usize);
    }

    /// Hides or shows the primitives of these bits. Returns whether the instance hid any primitive
    /// before, and whether it does now.
    pub(in crate::crowd) fn hide(&mut self, index: u32, bits: u128, hide: bool) -> [bool; 2] {
        let Some(marks) = self.marks.get_mut(index as usize) else {
            return [false; 2];
        };
        let before = marks.hidden != 0;
        marks.hidden = if hide {
            marks.hidden | bits
        } else {
            marks.hidden & !bits
        };
        let after = marks.hidden != 0;
        self.hiding = self.hiding + usize::from(after) - usize::from(before);
        [before, after]
    }

    pub(in crate::crowd) fn begin_frame(&mut self) {
        if self.lists > 0 {
            self.listed.fill(0);
            self.lists = 0;
        }
    }

    /// Undoes the frame prepared last, which is never submitted.
    pub(in crate::crowd) fn abandon_frame(&mut self) {
        self.prepared_in = self.prepared_before;
    }

    /// Returns true if a view of the prepared frame shows the instance.
    pub(in crate::crowd) fn is_shown(&self, index: u32) -> bool {
        self.shown
            .get(index as usize)
            .is_some_and(|views| *views != 0)
    }

    /// Returns true if a view of the prepared frame shows an instance of the character.
    pub(in crate::crowd) fn shows_any(&self, character: u32) -> bool {
        let mut views = 0..self.counts.len();
        let shows = |view: usize| {
            let at = view * self.characters + character as usize;
            self.of_character.get(at).is_some_and(|count| *count > 0)
        };
        self.counts.is_empty() || views.any(shows)
    }

    /// Returns true if a view of the prepared frame shows the instance.
    pub(in crate::crowd) fn view_shows(&self, view: u32, index: u32) -> bool {
        let views = self.shown.get(index as usize).copied().unwrap_or(0);
        views >> view & 1 != 0
    }

    /// Returns true if a view with this mask and without a list would show the instance, wherever
    /// it looks.
    pub(in crate::crowd) fn mask_shows(&self, view_mask: u32, index: u32) -> bool {
        let mask = self.masks.get(index as usize);
        mask.is_some_and(|mask| mask & view_mask != 0)
    }

    /// The level of detail at which a view of the prepared frame shows the instance.
    pub(in crate::crowd) fn level(&self, view: u32, index: u32) -> Option<u8> {
        let at = view as usize * self.masks.len() + index as usize;
        let level = self.levels.get(at).copied();
        level.filter(|level| *level != HIDDEN)
    }

    /// What each view of the prepared frame shows.
    pub(in crate::crowd) fn counts(&self) -> &[ViewCounts] {
        &self.counts
    }

    pub(in crate::crowd) fn hidden(&self, index: u32) -> u128 {
        self.marks
            .get(index as usize)
            .map_or(0, |marks| marks.hidden)
    }

    /// The runs of a character that a view shows, for primitives that are not blended.
    pub(in crate::crowd) fn runs(&self, view: u32, character: u32) -> &[Run] {
        runs_of(&self.runs, view, character)
    }

    /// The table indices of all lists.
    pub(in crate::crowd) fn list(&self) -> &[u32] {
        &self.list
    }

    /// Returns true if the present frame shows the instance, and the last prepared frame did not.
    pub(in crate::crowd) fn has_returned(&self, index: u32) -> bool {
        let marks = self.marks.get(index as usize);
        self.is_shown(index) && marks.is_some_and(|marks| marks.shown_in < self.prepared_in)
    }

    /// Notes what the present frame shows, after [`Self::has_returned`] was asked.
    pub(in crate::crowd) fn mark_shown(&mut self, frame: u64) {
        for (marks, _) in (self.marks.iter_mut())
            .zip(&self.shown)
            .filter(|of| *of.1 != 0)
        {
            marks.shown_in = frame;
        }
        // It is the same frame again if preparing it failed the first time.
        if self.prepared_in != frame {
            (self.prepared_before, self.prepared_in) = (self.prepared_in, frame);
        }
    }
}
