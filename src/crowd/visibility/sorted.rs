//! Sorts instances with blended materials for each view, far ones first.

use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::scene::Scene;
use crate::crowd::view::View;
use crate::crowd::visibility::runs::{Run, runs_of};
use crate::error::Result;
use crate::gpu::limit;
use crate::grow::reserve_all;

/// The sorted lists of a frame.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// Table indices, run after run.
    list: Vec<u32>,
    /// Contiguous instances that are drawn alike, by view.
    runs: Vec<Run>,
    /// Depths and indices while the instances of a character are sorted.
    depths: Vec<(f32, u32)>,
}

impl Sorted {
    /// Reserves memory for this many instances in total.
    pub(crate) fn reserve(&mut self, instances: usize) {
        reserve_all(&mut self.list, instances);
        reserve_all(&mut self.runs, instances);
        reserve_all(&mut self.depths, instances);
    }

    /// Sorts the instances that each view shows.
    ///
    /// # Errors
    /// [`Error::Capacity`](crate::Error::Capacity) if there are more than `cap`.
    pub(crate) fn sort(&mut self, views: &[View], scene: &Scene, cap: u32) -> Result<()> {
        self.list.clear();
        self.runs.clear();
        let blended = || scene.characters.iter().filter(|(_, it)| it.is_blended());
        if blended().next().is_none() {
            return Ok(());
        }
        let each = (0..views.len() as u32)
            .flat_map(|view| blended().map(move |(character, _)| (view, character)));
        let runs = each.flat_map(|(view, character)| scene.shown.runs(view, character));
        let what = "blended instances (Capacity::blended, raised by Crowd::reserve)";
        limit(what, runs.map(|run| u64::from(run.count)).sum(), cap.into())?;
        for (number, view) in (0..).zip(views) {
            for (index, character) in blended() {
                self.gather(view, (number, index), character, scene);
                self.add((number, index), scene);
            }
        }
        Ok(())
    }

    /// Sorts the instances of a character by depth.
    fn gather(
        &mut self,
        view: &View,
        (number, index): (u32, u32),
        character: &LoadedCharacter,
        scene: &Scene,
    ) {
        let (shown, distance) = (&scene.shown, view.distance());
        let runs = shown.runs(number, index).iter();
        let shown = runs.flat_map(|run| {
            let first = run.first as usize;
            &shown.list()[first..first + run.count as usize]
        });
        self.depths.clear();
        self.depths.extend(shown.map(|index| {
            let world_from_model = &scene.instances[*index].record.world_from_model;
            let center = world_from_model.transform_point(character.center);
            (distance.dot(center.extend(1.0)), *index)
        }));
        // Instances of equal depth are sorted by table index, so that nothing flickers.
        self.depths
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }

    /// Adds the gathered instances, in runs that are drawn alike.
    fn add(&mut self, (view, character): (u32, u32), scene: &Scene) {
        // The start of this list's runs in the visible list.
        let start = scene.shown.list().len();
        let kind = |index: u32| {
            let level = scene.shown.level(view, index);
            let look = scene.visibility.look(index);
            (scene.instances[index].flipped, level.unwrap_or(0), look)
        };
        for alike in self.depths.chunk_by(|a, b| kind(a.1) == kind(b.1)) {
            let (flipped, level, look) = kind(alike[0].1);
            self.runs.push(Run {
                view,
                character,
                first: (start + self.list.len()) as u32,
                count: alike.len() as u32,
                flipped,
                level,
                look,
            });
            self.list.extend(alike.iter().map(|(_, index)| *index));
        }
    }

    /// The whole list. In the visible list it follows the lists of the sets.
    pub(crate) fn list(&self) -> &[u32] {
        &self.list
    }

    /// The runs of a character that a view shows.
    pub(crate) fn runs(&self, view: u32, character: u32) -> &[Run] {
        runs_of(&self.runs, view, character)
    }
}
