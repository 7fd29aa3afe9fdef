//! The animate and palette stages of a frame.
//!
//! The animators of all characters evaluate their instances straight into the ring.

use crate::animate::Starts;
use crate::crowd::characters::entry::Entry;
use crate::crowd::instance::CrowdMut;
use crate::crowd::instances::table::Instances;
use crate::crowd::memory::buffers::Written;
use crate::crowd::scene::animator_mut;
use crate::crowd::state::Crowd;
use crate::crowd::{CharacterId, Frame, InstanceId, SkinningStage};
use crate::error::Result;
use crate::gpu::palettes::ROW_BYTES;
use core::ptr::NonNull;
use std::time::Instant;

impl Frame<'_> {
    /// Evaluates every instance that is shown and not at rest.
    ///
    /// Palettes go straight into the palette ring. Morph weights are written for the instances that
    /// have them.
    pub(in crate::crowd) fn write_poses(&mut self, written: &mut Written) -> Result<()> {
        let started = Instant::now();
        let crowd = &mut *self.crowd;
        if crowd.scene.instances.take_moved() {
            crowd.scene.animated.forget();
        }
        crowd.scene.deforms.clear();
        crowd.scene.animated.any_in_ring = false;
        for character in 0..crowd.scene.characters.len() {
            crowd.animate(self.frame_index, character)?;
        }
        written.morphs = u64::from(crowd.scene.instances.morphs_end()) * 4;
        crowd.frame.counters.animate_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }
}

impl Crowd {
    /// Evaluates the instances of one character.
    fn animate(&mut self, frame_index: u32, character: usize) -> Result<()> {
        let (Some(Some(entry)), Some(Some(animator))) = (
            self.scene.characters.get(character),
            self.animators.get(character),
        ) else {
            return Ok(());
        };
        let animated = &mut self.scene.animated;
        animated.actors.clear();
        animated.places.clear();
        animated.deformed.clear();
        let rows = entry.rig.palette().len() as u32 * entry.mesh.entry_rows();
        for index in &entry.members {
            if !self.scene.visibility.is_shown(*index) {
                continue;
            }
            let Some(instance) = self.scene.instances.state(*index) else {
                continue;
            };
            let (actor, row) = (instance.actor, instance.rows.start);
            let deform = instance.skin == SkinningStage::Cpu;
            let rests = animator.is_resting(actor);
            self.scene.instances.set_in_ring(*index, !rests);
            animated.any_in_ring |= !rests;
            let place = match (rests, deform) {
                (true, _) => None,
                (false, false) => Some(Destination::Ring(row)),
                (false, true) => Some(Destination::Deform(self.scene.deforms.take_rows(rows), row)),
            };
            if deform {
                let start = place.and_then(|place| match place {
                    Destination::Deform(start, _) => Some(start),
                    Destination::Ring(_) => None,
                });
                animated.deformed.push((*index, start));
            }
            let still = animator.still_pose(actor).filter(|_| !deform);
            if let Some(place) = place
                && animated.must_write(frame_index, *index, still)
            {
                animated.actors.push(actor.index);
                animated.places.push(place);
            }
        }
        self.write_palettes(frame_index, character)?;
        self.write_weights(frame_index, character)
    }

    /// Writes the palettes of the actors that [`Self::animate`] collected.
    fn write_palettes(&mut self, frame_index: u32, character: usize) -> Result<()> {
        let (Some(Some(entry)), Some(Some(animator))) = (
            self.scene.characters.get(character),
            self.animators.get_mut(character),
        ) else {
            return Ok(());
        };
        if self.scene.animated.actors.is_empty() {
            return Ok(());
        }
        self.scene.animated.order();
        let Animated {
            ordered: (actors, places),
            starts,
            ..
        } = &mut self.scene.animated;
        let format = entry.mesh.format();
        let rows = entry.rig.palette().len() * entry.mesh.entry_rows() as usize;
        let ring = self.memory.buffers.palettes.mapped_start(frame_index);
        let Some(ring) = ring.map(NonNull::as_ptr) else {
            return Ok(());
        };
        let deform = self.scene.deforms.rows_start();
        starts.0.clear();
        starts.0.extend(places.iter().map(|place| match place {
            Destination::Ring(row) => ring.wrapping_add(*row as usize * ROW_BYTES as usize),
            Destination::Deform(row, _) => deform.wrapping_add(row * ROW_BYTES as usize),
        }));
        // SAFETY: each instance has rows of its own, in the ring or among those that are skinned on
        // the CPU; the frame index's earlier work has ended, by the contract of `begin_frame`.
        unsafe {
            let starts = Starts::Each(&starts.0);
            animator.write_palettes(actors, format, starts);
        }
        for place in places.iter() {
            if let Destination::Deform(start, row) = place {
                let rows = bytemuck::cast_slice::<_, u8>(self.scene.deforms.rows(*start, rows));
                let to = ring.wrapping_add(*row as usize * ROW_BYTES as usize);
                // SAFETY: the rows of this instance in the ring are its own, and the source is not
                // in the ring.
                unsafe { to.copy_from_nonoverlapping(rows.as_ptr(), rows.len()) };
            }
        }
        let counters = &mut self.frame.counters;
        counters.animated += actors.len() as u32;
        counters.palette_entries += (actors.len() * entry.rig.palette().len()) as u32;
        counters.upload_bytes += actors.len() as u64 * rows as u64 * ROW_BYTES;
        Ok(())
    }

    /// Writes the morph weights of a character's instances, and lists those that the CPU skins.
    fn write_weights(&mut self, frame_index: u32, character: usize) -> Result<()> {
        let (Some(Some(entry)), Some(Some(animator))) = (
            self.scene.characters.get(character),
            self.animators.get(character),
        ) else {
            return Ok(());
        };
        let count = entry.rig.morph_weights().len();
        if count == 0 && self.scene.animated.deformed.is_empty() {
            return Ok(());
        }
        let mut deformed = self.scene.animated.deformed.iter().peekable();
        for index in &entry.members {
            if !self.scene.visibility.is_shown(*index) {
                continue;
            }
            let Some(instance) = self.scene.instances.state(*index) else {
                continue;
            };
            self.frame.weights.resize(count, 0.0);
            if count > 0 {
                let actor = instance.actor.index;
                animator.write_weights(actor, &mut self.frame.weights);
                let at = u64::from(instance.morphs.start) * 4;
                let active = active_count(&self.frame.weights);
                let words = 1 + 2 * active as usize;
                let section = self.memory.buffers.sections.morphs;
                // SAFETY: the frame index's earlier work has ended, by the contract of
                // `begin_frame`.
                let out = unsafe {
                    self.memory
                        .buffers
                        .write::<u32>(frame_index, section, at, words)
                };
                let listed = (0..)
                    .zip(&self.frame.weights)
                    .filter(|(_, weight)| **weight != 0.0);
                let words =
                    listed.flat_map(|(index, weight): (u32, &f32)| [index, weight.to_bits()]);
                if let Some(mut out) = out {
                    out.fill_from(core::iter::once(active).chain(words))?;
                }
            }
            if let Some((_, start)) = deformed.next_if(|(of, _)| of == index) {
                let rows = instance.rows.size as usize;
                let rows = start.map(|start| start..start + rows);
                let skinned = (instance.skinned.start, instance.skinned.size);
                let character = instance.record.character;
                self.scene
                    .deforms
                    .add(character, rows, skinned, &self.frame.weights);
            }
        }
        Ok(())
    }

    /// Moves the animators of all characters to the frame's time, and applies root motion.
    pub(in crate::crowd) fn update_animators(&mut self, time_s: f64) -> Result<()> {
        let started = Instant::now();
        for character in 0..self.animators.len() {
            let Some(Some(animator)) = self.animators.get_mut(character) else {
                continue;
            };
            animator.update(time_s)?;
            if animator.has_rooted() {
                self.apply_root_motion(CharacterId(character as u32))?;
            }
        }
        self.frame.counters.update_ms = started.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// Moves the instances of a character that follow their root motion.
    fn apply_root_motion(&mut self, character: CharacterId) -> Result<()> {
        let animator = animator_mut(&mut self.animators, character)?;
        let scene = &mut self.scene;
        for member in 0..scene.entry(character)?.members.len() {
            let index = scene.entry(character)?.members.get(member).copied();
            let Some(id) = index.and_then(|index| scene.instances.id(index)) else {
                continue;
            };
            // The transform of an attached instance follows from its parent's.
            if scene.attachments.of(id.index).is_some() {
                continue;
            }
            let actor = scene.instances.alive(id).actor;
            if let Some(world) = animator.root_moved_to(actor) {
                CrowdMut {
                    animator,
                    scene,
                    id,
                }
                .put(&world, false)?;
            }
        }
        Ok(())
    }
}

impl Entry {
    /// The instance of an actor.
    pub(in crate::crowd) fn instance(
        &self,
        instances: &Instances,
        actor: u32,
    ) -> Option<InstanceId> {
        let index = self.instance_of_actor.get(actor as usize)?;
        instances.id(*index)
    }
}

/// The number of weights that are not 0. Only these cost anything.
fn active_count(weights: &[f32]) -> u32 {
    weights.iter().filter(|weight| **weight != 0.0).count() as u32
}

/// Working memory of the animate stage, kept from frame to frame so that nothing is allocated.
#[derive(Debug, Default)]
pub(in crate::crowd) struct Animated {
    /// The actors of one character whose palettes are written, and the destination of each.
    pub(in crate::crowd) actors: Vec<u32>,
    pub(in crate::crowd) places: Vec<Destination>,
    /// The same in the order of writing.
    pub(in crate::crowd) ordered: (Vec<u32>, Vec<Destination>),
    pub(in crate::crowd) starts: Addresses,
    /// The instances of one character that are skinned on the CPU.
    ///
    /// Each has its table index and the first of its rows among those of all such instances, or
    /// `None` for the rest pose.
    pub(in crate::crowd) deformed: Vec<(u32, Option<usize>)>,
    /// By frame index and table index, the pose in the ring. 0: none that can be kept.
    written: Vec<Vec<u64>>,
    /// Counts the events that invalidate everything in the ring.
    epoch: u32,
    /// True if an instance of this frame has its palette in the ring.
    pub(in crate::crowd) any_in_ring: bool,
}

/// The destination of a palette.
#[derive(Debug, Clone, Copy)]
pub(in crate::crowd) enum Destination {
    /// The ring, from this row on.
    Ring(u32),
    /// The rows of instances skinned on the CPU, from which it is copied to the ring.
    Deform(usize, u32),
}

/// Addresses that palettes are written to.
#[derive(Debug, Default)]
pub(in crate::crowd) struct Addresses(pub(in crate::crowd) Vec<*mut u8>);

// SAFETY: the addresses are used only during the call that computes them.
unsafe impl Send for Addresses {}
// SAFETY: the addresses are used only during the call that computes them.
unsafe impl Sync for Addresses {}

impl Animated {
    pub(in crate::crowd) fn new(frames_in_flight: u32) -> Self {
        Self {
            written: vec![Vec::new(); frames_in_flight as usize],
            ..Self::default()
        }
    }

    /// Reserves memory for this many instances.
    pub(in crate::crowd) fn reserve(&mut self, instances: usize) {
        fn reserve<T>(list: &mut Vec<T>, all: usize) {
            list.reserve(all.saturating_sub(list.len()));
        }
        reserve(&mut self.actors, instances);
        reserve(&mut self.places, instances);
        reserve(&mut self.ordered.0, instances);
        reserve(&mut self.ordered.1, instances);
        reserve(&mut self.starts.0, instances);
        for written in &mut self.written {
            reserve(written, instances);
        }
    }

    /// Reserves memory for this many instances that are skinned on the CPU.
    pub(in crate::crowd) fn reserve_deformed(&mut self, instances: usize) {
        let more = instances.saturating_sub(self.deformed.len());
        self.deformed.reserve(more);
    }

    /// Invalidates everything in the ring.
    pub(in crate::crowd) fn forget(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Invalidates the palette in the ring at this table index, because a new instance has it.
    pub(in crate::crowd) fn spawned(&mut self, index: u32) {
        for written in &mut self.written {
            if written.len() <= index as usize {
                written.resize(index as usize + 1, 0);
            }
            written[index as usize] = 0;
        }
    }

    pub(in crate::crowd) fn any_in_ring(&self) -> bool {
        self.any_in_ring
    }

    /// Returns false if the pose is still and the ring has it already; otherwise it must be
    /// written.
    pub(in crate::crowd) fn must_write(
        &mut self,
        frame_index: u32,
        index: u32,
        still: Option<u32>,
    ) -> bool {
        let stamp = still.map_or(0, |pose| {
            u64::from(self.epoch) << 32 | u64::from(pose.wrapping_add(1))
        });
        let written = self.written.get_mut(frame_index as usize);
        let Some(written) = written.and_then(|list| list.get_mut(index as usize)) else {
            return true;
        };
        let known = stamp != 0 && *written == stamp;
        *written = stamp;
        !known
    }
}

impl Destination {
    /// The palette's first row.
    fn row(self) -> usize {
        match self {
            Self::Ring(row) => row as usize,
            Self::Deform(row, _) => row,
        }
    }
}

/// Rows in a cache line of 64 bytes.
const LINE_ROWS: usize = 4;

impl Animated {
    /// Groups palettes by their start within a cache line.
    ///
    /// The kernel evaluates neighbours together, and can store whole lines if they start equally
    /// far into one.
    pub(in crate::crowd) fn order(&mut self) {
        let mut next = [0; LINE_ROWS + 1];
        for place in &self.places {
            next[place.row() % LINE_ROWS + 1] += 1;
        }
        for phase in 0..LINE_ROWS {
            next[phase + 1] += next[phase];
        }
        let (actors, places) = &mut self.ordered;
        // The loop below overwrites every element.
        actors.resize(self.actors.len(), 0);
        places.resize(self.places.len(), Destination::Ring(0));
        for (actor, place) in self.actors.iter().zip(&self.places) {
            let next = &mut next[place.row() % LINE_ROWS];
            actors[*next] = *actor;
            places[*next] = *place;
            *next += 1;
        }
    }
}
