//! The stage cull: the state of instances that decides whether views show them. `shown` has the
//! instances that the views of a frame show.

mod bits;
pub(crate) mod chunks;
pub(crate) mod cull;
pub(crate) mod gpu;
mod members;
pub(crate) mod occluders;
pub(crate) mod occlusion;
mod queries;
mod receivers;
mod record;
pub(crate) mod runs;
pub(crate) mod shown;
pub(crate) mod sorted;

use crate::crowd::Capacity;
use crate::crowd::pending::Marked;
use crate::crowd::table::Table;
use crate::gpu::constants::CHUNK;
use crate::grow::reserve_all;
use bits::{InstanceSet, bits};
use cull::{Spheres, WorldSphere};

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

    /// The mask of views that may show the instance, or 0 if it is hidden.
    pub(crate) fn views(&self) -> u32 {
        if self.visible && !self.parent_hidden {
            self.mask
        } else {
            0
        }
    }
}

/// The changes that an instance makes to how its character looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Look {
    /// A bit for each primitive that it hides.
    pub(crate) hidden: u128,
    /// 0, or one more than the index of its material variant.
    pub(crate) variant: u16,
}

impl Look {
    /// True if it changes anything.
    pub(crate) fn varies(&self) -> bool {
        *self != Self::default()
    }
}

/// The visibility of all instances. Lists without a note are by table index.
#[derive(Debug, Default)]
pub(crate) struct Visibility {
    marks: Table<Marks>,
    /// Empty until one differs from the default.
    looks: Vec<Look>,
    /// The mask of views that may show it, or 0. Padded to whole blocks.
    masks: Vec<u32>,
    spheres: Spheres,
    /// The last levels in the first views, a few bits each. Padded to whole blocks.
    last_levels: Vec<u32>,
    /// True if the GPU decides who is drawn.
    gpu: bool,
    /// The instances that may have a new pose in any frame.
    active: InstanceSet,
    /// The instances whose characters the CPU culls, even if the GPU culls others.
    on_cpu: InstanceSet,
    /// Instances whose actors the GPU must have anew, if the GPU culls.
    pub(crate) noted: Marked,
    /// The number of instances whose palettes the ring keeps without any work.
    kept: usize,
    /// The number of instances that hide parts or have a material variant.
    varying: usize,
    /// The frame that is being prepared.
    posing_in: u64,
    /// The frame prepared last.
    prepared_in: u64,
    /// The frame prepared before the present one, in case this one is abandoned.
    prepared_before: u64,
}

impl Visibility {
    /// Reserves as much memory as can ever be needed, so that frames allocate nothing.
    pub(crate) fn reserve(&mut self, capacity: &Capacity) {
        let instances = capacity.instances as usize;
        let padded = instances.next_multiple_of(CHUNK);
        reserve_all(&mut self.marks, instances);
        reserve_all(&mut self.masks, padded);
        reserve_all(&mut self.last_levels, padded);
        self.spheres.reserve(instances);
        self.active.reserve(padded / CHUNK);
        self.on_cpu.reserve(padded / CHUNK);
        if self.gpu {
            self.noted.grow(instances);
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
        self.last_levels[index] = 0;
        self.on_cpu.set(index, on_cpu);
        self.active.set(index, true);
    }

    /// Sets whether the CPU culls an instance's character, even if the GPU culls others.
    pub(crate) fn set_on_cpu(&mut self, index: u32, on_cpu: bool) {
        self.on_cpu.set(index as usize, on_cpu);
    }

    /// True if the CPU culls an instance's character, even if the GPU culls others.
    pub(crate) fn is_on_cpu(&self, index: u32) -> bool {
        self.on_cpu.has(index as usize)
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
            self.last_levels.resize(all, 0);
            self.active.resize(all / CHUNK);
            self.on_cpu.resize(all / CHUNK);
        }
        self.masks[index] = self.marks[index as u32].views();
        self.note(index);
    }

    /// Sets the bounding sphere of an instance. Returns true if it is another one.
    pub(crate) fn set_sphere(&mut self, index: u32, sphere: &WorldSphere) -> bool {
        self.spheres.set(index, sphere)
    }

    /// Notes that the GPU must have the actor of an instance anew.
    pub(crate) fn note_actor(&mut self, index: u32) {
        self.note(index as usize);
    }

    /// The bounding sphere of an instance.
    pub(crate) fn sphere(&self, index: u32) -> WorldSphere {
        self.spheres.get(index)
    }

    /// Takes over the length of the table, which has no instances from there on.
    pub(crate) fn set_len(&mut self, indices: usize) {
        self.noted.retain(indices);
        let dead = Marks {
            mask: 0,
            ..Marks::NEW
        };
        let all = indices.max(self.marks.len());
        self.marks.resize(all, dead);
    }

    /// Clears the state of an instance that was despawned. Returns its look.
    pub(crate) fn despawned(&mut self, index: u32) -> Look {
        let [look, _] = self.change_look(index, |look| *look = Look::default());
        self.change(index, |marks| marks.mask = 0);
        self.deactivate(index, false);
        self.on_cpu.set(index as usize, false);
        look
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

    /// Changes the look of an instance. Returns the one before, and the new one.
    pub(crate) fn change_look(&mut self, index: u32, change: impl FnOnce(&mut Look)) -> [Look; 2] {
        let (at, before) = (index as usize, self.look(index));
        let mut look = before;
        change(&mut look);
        if look != before {
            if self.looks.len() <= at {
                self.looks.resize(at + 1, Look::default());
            }
            self.looks[at] = look;
            self.note(at);
        }
        self.varying = self.varying + usize::from(look.varies()) - usize::from(before.varies());
        [before, look]
    }

    /// Undoes the frame prepared last, which is never submitted.
    pub(crate) fn abandon_frame(&mut self) {
        self.prepared_in = self.prepared_before;
    }

    /// Returns true if a view with this mask and without a list would show the instance, wherever
    /// it looks.
    pub(crate) fn mask_shows(&self, view_mask: u32, index: u32) -> bool {
        self.masks[index as usize] & view_mask != 0
    }

    /// The look of an instance.
    pub(crate) fn look(&self, index: u32) -> Look {
        self.looks.get(index as usize).copied().unwrap_or_default()
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
