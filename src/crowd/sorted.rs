//! Instances with blended materials, far ones first, for each view.

use super::characters::Entry;
use super::instances::Instances;
use super::view::View;
use crate::error::Result;
use crate::gpu::limit;
use glam::Vec3;

/// The instances of one character as one view sees them: a range of the list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) view: u32,
    pub(super) character: u32,
    pub(super) first: usize,
    pub(super) count: usize,
}

/// The lists of a frame.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// Table indices, run after run.
    list: Vec<u32>,
    runs: Vec<Run>,
    /// Depths while a run is sorted.
    depths: Vec<(f32, u32)>,
}

impl Sorted {
    /// Room for this many instances in all, which then allocates nothing.
    pub(super) fn make_room(&mut self, instances: usize) {
        self.list.reserve(instances.saturating_sub(self.list.len()));
        self.depths
            .reserve(instances.saturating_sub(self.depths.len()));
    }

    /// Room for the runs of this many characters and views.
    pub(super) fn make_room_for(&mut self, characters: usize, views: usize) {
        let runs = characters * views;
        self.runs.reserve(runs.saturating_sub(self.runs.len()));
    }

    /// Sorts anew.
    ///
    /// # Errors
    /// [`Error::Capacity`](crate::Error::Capacity) if there are more than `cap`.
    pub(super) fn sort(
        &mut self,
        views: &[View],
        characters: &[Option<Entry>],
        instances: &Instances,
        cap: u32,
    ) -> Result<()> {
        self.list.clear();
        self.runs.clear();
        let blended = characters
            .iter()
            .flatten()
            .filter(|entry| entry.solid < entry.draws.len());
        let each: u64 = blended.map(|entry| entry.members.len() as u64).sum();
        limit("blended instances", each * views.len() as u64, cap.into())?;
        if each == 0 {
            return Ok(());
        }
        for (view, of) in (0..).zip(views) {
            for (character, entry) in (0..).zip(characters) {
                let Some(entry) = entry.as_ref().filter(|e| e.solid < e.draws.len()) else {
                    continue;
                };
                let first = self.list.len();
                self.add(of, entry, instances);
                self.runs.push(Run {
                    view,
                    character,
                    first,
                    count: entry.members.len(),
                });
            }
        }
        Ok(())
    }

    fn add(&mut self, view: &View, entry: &Entry, instances: &Instances) {
        self.depths.clear();
        let distance = view.distance();
        self.depths.extend(entry.members.iter().map(|index| {
            let place = instances.slot(*index).map_or(Vec3::ZERO, |slot| {
                slot.record.world_from_model.transform_point(entry.center)
            });
            (distance.dot(place.extend(1.0)), *index)
        }));
        // Equal ones by their place in the table, so that nothing flickers.
        self.depths
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.list
            .extend(self.depths.iter().map(|(_, index)| *index));
    }

    /// All of it, as the visible list has it after the members.
    pub(super) fn list(&self) -> &[u32] {
        &self.list
    }

    /// What a view sees of a character.
    pub(super) fn run(&self, view: u32, character: u32) -> Option<Run> {
        let key = (view, character);
        let at = self
            .runs
            .binary_search_by_key(&key, |run| (run.view, run.character));
        at.ok().and_then(|at| self.runs.get(at)).copied()
    }
}
