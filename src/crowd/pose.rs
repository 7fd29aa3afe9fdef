//! Evaluating what plays: palettes and morph weights of a frame.

use super::buffers::Written;
use super::instances::{SkinMode, Slot};
use super::{Crowd, Frame};
use crate::error::Result;
use crate::gpu::palettes;
use std::time::Instant;

impl Frame<'_> {
    /// Evaluates every playing instance straight into the palette ring, and the morph weights of all instances that have
    /// some.
    pub(super) fn write_poses(&mut self, written: &mut Written) -> Result<()> {
        let (crowd, slot) = (&mut *self.crowd, self.slot);
        crowd.deforms.clear();
        for character in 0..crowd.characters.len() {
            let members = crowd.characters[character]
                .as_ref()
                .map_or(0, |entry| entry.members.len());
            for member in 0..members {
                crowd.pose(slot, character, member)?;
            }
        }
        let counters = &mut crowd.counters;
        counters.upload_bytes +=
            u64::from(counters.palette_entries) * size_of::<crate::pose::Mat3x4>() as u64;
        written.morphs = u64::from(crowd.instances.morphs_end()) * 4;
        Ok(())
    }
}

impl Crowd {
    /// Evaluates one instance.
    fn pose(&mut self, slot: u32, character: usize, member: usize) -> Result<()> {
        let Some(Some(entry)) = self.characters.get(character) else {
            return Ok(());
        };
        let index = entry.members.get(member).copied().unwrap_or(u32::MAX);
        let Some(instance) = self.instances.slot(index) else {
            return Ok(());
        };
        let deform = instance.skin == SkinMode::Cpu;
        if !instance.moves() && instance.morphs.size == 0 && !deform {
            return Ok(());
        }
        let rig = &entry.rig;
        let clip = instance.layer.map(|layer| {
            let clip = rig.played_clip(layer.clip);
            let duration_s = clip.map_or(0.0, |clip| clip.duration_s());
            (layer.clip, layer.clip_time_s(self.time_s, duration_s))
        });
        let counters = &mut self.counters;
        let started = self.desc.profile.then(Instant::now);
        if !instance.posed || instance.morphs.size > 0 {
            self.poser.animate(rig, clip)?;
        }
        let animated = self.desc.profile.then(Instant::now);
        if instance.moves() {
            let place = (slot, instance.rows.start);
            let model = if instance.posed {
                &instance.model[..]
            } else {
                self.poser.compose(rig)?
            };
            let (ring, method) = (&mut self.buffers.palettes, entry.mesh.method());
            if deform {
                let evaluate = |rows: &mut _| palettes::evaluate(rig, method, model, rows);
                let rows = self.deforms.palette(instance.rows.size, evaluate)?;
                // SAFETY: the slot has ended, by the contract of `begin_frame`.
                unsafe { palettes::copy(ring, place, palettes::as_ref(method, rows))? };
            } else {
                // SAFETY: as above.
                unsafe { palettes::write(ring, place, rig, method, model)? };
            }
            counters.animated += 1;
            counters.palette_entries += rig.palette().len() as u32;
        }
        if let (Some(started), Some(animated)) = (started, animated) {
            counters.cpu.animate_ms += (animated - started).as_secs_f64() * 1e3;
            counters.cpu.palette_ms += animated.elapsed().as_secs_f64() * 1e3;
        }
        if instance.morphs.size > 0 {
            gather_weights(self.poser.weights(), instance, &mut self.weights);
            let share = instance.morphs;
            let (section, at) = (self.buffers.sections.morphs, u64::from(share.start) * 4);
            let active = active_count(&self.weights);
            let words = 1 + 2 * active as usize;
            // SAFETY: as above.
            let out = unsafe { self.buffers.write::<u32>(slot, section, at, words) };
            let listed = (0..)
                .zip(&self.weights)
                .filter(|(_, weight)| **weight != 0.0);
            let words = listed.flat_map(|(index, weight): (u32, &f32)| [index, weight.to_bits()]);
            if let Some(mut out) = out {
                out.fill_from(core::iter::once(active).chain(words))?;
            }
        } else {
            self.weights.clear();
        }
        if deform {
            let skinned = (instance.skinned.start, instance.skinned.size);
            let character = instance.record.character;
            self.deforms.add(character, skinned, &self.weights);
        }
        Ok(())
    }
}

/// An instance's morph weights: as its clip or the rest pose have them, then as the caller set them.
fn gather_weights(posed: &[f32], instance: &Slot, weights: &mut Vec<f32>) {
    weights.clear();
    weights.extend(posed);
    for (weight, set) in weights.iter_mut().zip(&instance.weights) {
        if !set.is_nan() {
            *weight = *set;
        }
    }
}

/// How many weights are not 0: only those cost anything.
fn active_count(weights: &[f32]) -> u32 {
    weights.iter().filter(|weight| **weight != 0.0).count() as u32
}
