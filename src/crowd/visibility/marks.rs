//! Decides which instances each view of a frame shows, and makes lists of their table indices.
//!
//! Views that show the same instances share one list. Hidden parts cost nothing for instances that
//! hide none: the list of a character is cut into runs of instances that are equally flipped and
//! hide the same parts. A character without hidden parts has one run, and a second one if some
//! instances are flipped.

use crate::crowd::characters::{Characters, LoadedCharacter};
use crate::crowd::desc::MAX_VIEWS;
use crate::crowd::instances::table::Instances;
use crate::crowd::view::View;
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
    /// Returns true if a view with this mask may show the instance.
    fn allow(&self, view_mask: u32) -> bool {
        self.visible && !self.parent_hidden && self.mask & view_mask != 0
    }
}

/// The key by which views share a visible set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Set {
    mask: u32,
    list: Option<u32>,
}

/// Visibility of all instances in a frame.
#[derive(Debug, Default)]
pub(in crate::crowd) struct Visibility {
    marks: Vec<Marks>,
    /// By table index, a bit for each list of this frame that has the instance.
    listed: Vec<u32>,
    /// The number of lists of this frame.
    pub(in crate::crowd) lists: u32,
    /// By table index, a bit for each set that has the instance.
    shown: Vec<u32>,
    sets: Vec<Set>,
    /// The set of each view.
    set_of_view: Vec<u32>,
    runs: Vec<Run>,
    /// Table indices, run after run.
    list: Vec<u32>,
    /// Members of a character while they are sorted.
    order: Vec<(bool, u128, u32)>,
    /// The number of instances that hide parts.
    hiding: usize,
    /// The frame prepared last.
    prepared_in: u64,
    /// The frame prepared before the present one, in case this one is abandoned.
    prepared_before: u64,
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
        reserve(&mut self.marks, instances);
        reserve(&mut self.listed, instances);
        reserve(&mut self.shown, instances);
        reserve(&mut self.sets, views.max(1));
        reserve(&mut self.set_of_view, views);
        reserve(&mut self.list, instances * views);
        reserve(&mut self.runs, (characters * 2 + self.hiding) * views);
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
            .is_some_and(|sets| *sets != 0)
    }

    /// Returns true if a view of the prepared frame shows the instance.
    pub(in crate::crowd) fn view_shows(&self, view: u32, index: u32) -> bool {
        let sets = self.shown.get(index as usize).copied().unwrap_or(0);
        sets >> self.set(view) & 1 != 0
    }

    /// Returns true if a view with this mask and without a list would show the instance.
    pub(in crate::crowd) fn mask_shows(&self, view_mask: u32, index: u32) -> bool {
        let marks = self.marks.get(index as usize);
        marks.is_some_and(|marks| marks.allow(view_mask))
    }

    fn set(&self, view: u32) -> u32 {
        self.set_of_view.get(view as usize).copied().unwrap_or(0)
    }

    pub(in crate::crowd) fn hidden(&self, index: u32) -> u128 {
        self.marks
            .get(index as usize)
            .map_or(0, |marks| marks.hidden)
    }

    /// The runs of a character that a view shows, for primitives that are not blended.
    pub(in crate::crowd) fn runs(&self, view: u32, character: u32) -> &[Run] {
        runs_of(&self.runs, self.set(view), character)
    }

    /// The table indices of all lists.
    pub(in crate::crowd) fn list(&self) -> &[u32] {
        &self.list
    }

    /// Decides what each view of a frame shows. Without views, every visible instance counts as
    /// shown.
    pub(in crate::crowd) fn decide(&mut self, views: &[View]) {
        self.sets.clear();
        self.set_of_view.clear();
        for view in views {
            let set = Set {
                mask: view.mask,
                list: view.list.map(|list| list.index),
            };
            let known = self.sets.iter().position(|other| *other == set);
            let number = known.unwrap_or(self.sets.len());
            self.set_of_view.push(number as u32);
            if known.is_none() {
                self.sets.push(set);
            }
        }
        if views.is_empty() {
            self.sets.push(Set {
                mask: u32::MAX,
                list: None,
            });
        }
        self.shown.clear();
        let (sets, listed) = (&self.sets, &self.listed);
        let shown = (0..).zip(&self.marks).map(|(index, marks): (usize, _)| {
            let listed = listed.get(index).copied().unwrap_or(0);
            (0..).zip(sets).fold(0, |all, (number, set): (u32, &Set)| {
                let named = set.list.is_none_or(|list| listed >> list & 1 != 0);
                all | u32::from(named && marks.allow(set.mask)) << number
            })
        });
        self.shown.extend(shown);
        self.merge();
    }

    /// Merges sets that have the same instances.
    fn merge(&mut self) {
        let sets = self.sets.len() as u32;
        for later in 1..sets {
            let same = |earlier: &u32| {
                let differs = |sets: &u32| (sets >> earlier ^ sets >> later) & 1 != 0;
                !self.shown.iter().any(differs)
            };
            if let Some(earlier) = (0..later).find(same) {
                for set in self.set_of_view.iter_mut().filter(|set| **set == later) {
                    *set = earlier;
                }
            }
        }
    }

    /// Calls `returned` with each instance that this frame shows and the last prepared frame did
    /// not.
    pub(in crate::crowd) fn mark_shown(&mut self, frame: u64, mut returned: impl FnMut(u32)) {
        for (index, (marks, sets)) in (0..).zip(self.marks.iter_mut().zip(&self.shown)) {
            if *sets == 0 {
                continue;
            }
            if marks.shown_in < self.prepared_in {
                returned(index);
            }
            marks.shown_in = frame;
        }
        // It is the same frame again if preparing it failed the first time.
        if self.prepared_in != frame {
            (self.prepared_before, self.prepared_in) = (self.prepared_in, frame);
        }
    }

    /// Makes the lists after [`Self::decide`]. `is_flipped` says if the instance of a table index
    /// is flipped.
    pub(in crate::crowd) fn make_lists(
        &mut self,
        characters: &Characters,
        is_flipped: impl Fn(u32) -> bool,
    ) {
        self.list.clear();
        self.runs.clear();
        for set in 0..self.sets.len() as u32 {
            if !self.set_of_view.contains(&set) {
                continue;
            }
            for (index, character) in characters.iter() {
                if character.hiding > 0 {
                    self.list_by_parts(set, index, character, &is_flipped);
                } else {
                    self.list_all(set, index, character, &is_flipped);
                }
            }
        }
    }

    fn list_all(
        &mut self,
        set: u32,
        number: u32,
        character: &LoadedCharacter,
        is_flipped: impl Fn(u32) -> bool,
    ) {
        let shown = &self.shown;
        let in_set = |index: &u32| {
            let sets = shown.get(*index as usize).copied().unwrap_or(0);
            sets >> set & 1 != 0
        };
        for flipped in [false, true] {
            if flipped && character.flipped == 0 {
                break;
            }
            let first = self.list.len();
            let members = character.members.iter().copied().filter(in_set);
            self.list
                .extend(members.filter(|index| is_flipped(*index) == flipped));
            let count = self.list.len() - first;
            if count > 0 {
                self.runs.push(Run {
                    of: set,
                    character: number,
                    first: first as u32,
                    count: count as u32,
                    flipped,
                    hidden: 0,
                });
            }
        }
    }

    fn list_by_parts(
        &mut self,
        set: u32,
        number: u32,
        character: &LoadedCharacter,
        is_flipped: impl Fn(u32) -> bool,
    ) {
        self.order.clear();
        for index in &character.members {
            let sets = self.shown.get(*index as usize).copied().unwrap_or(0);
            if sets >> set & 1 != 0 {
                let hidden = self.hidden(*index);
                self.order.push((is_flipped(*index), hidden, *index));
            }
        }
        self.order.sort_unstable();
        for alike in self.order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let Some((flipped, hidden, _)) = alike.first().copied() else {
                continue;
            };
            self.runs.push(Run {
                of: set,
                character: number,
                first: self.list.len() as u32,
                count: alike.len() as u32,
                flipped,
                hidden,
            });
            self.list.extend(alike.iter().map(|(_, _, index)| *index));
        }
    }
}
