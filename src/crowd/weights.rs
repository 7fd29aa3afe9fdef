//! Morph weights that the engine sets.

use super::{CharacterId, Crowd, InstanceId};
use crate::error::{ArgumentFault, Error, Result};

impl Crowd {
    /// Sets an instance's morph weights over what its clip and the rest pose say: one for each of its character's
    /// [`morph_weights`](crate::character::Character::morph_weights). `None` for a weight leaves it to them.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive; [`Error::Argument`] for another number of weights, or
    /// one that is not finite.
    pub fn set_morph_weights(&mut self, id: InstanceId, weights: &[Option<f32>]) -> Result<()> {
        let character = CharacterId(self.instances.get(id)?.record.character);
        let need = self.entry(character)?.rig.morph_weights().len();
        let got = weights.len();
        if got != need {
            let why = ArgumentFault::Length { got, need };
            return Err(Error::Argument {
                what: "morph weights",
                why,
            });
        }
        for weight in weights.iter().flatten() {
            check_weight(*weight)?;
        }
        if let Some(slot) = self.instances.slots.get_mut(id.index as usize) {
            slot.weights.clear();
            if weights.iter().any(Option::is_some) {
                let values = weights.iter().map(|weight| weight.unwrap_or(f32::NAN));
                slot.weights.extend(values);
            }
        }
        Ok(())
    }

    /// Sets one morph weight of an instance over what its clip and the rest pose say; `None` leaves it to them again.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive; [`Error::NotFound`] for a weight that its character lacks;
    /// [`Error::Argument`] for one that is not finite.
    pub fn set_morph_weight(
        &mut self,
        id: InstanceId,
        index: usize,
        weight: Option<f32>,
    ) -> Result<()> {
        let character = CharacterId(self.instances.get(id)?.record.character);
        let count = self.entry(character)?.rig.morph_weights().len();
        if index >= count {
            return Err(Error::NotFound {
                what: "morph weight",
                index: index as u64,
                count: count as u64,
            });
        }
        weight.map_or(Ok(()), check_weight)?;
        if let Some(slot) = self.instances.slots.get_mut(id.index as usize) {
            slot.weights.resize(count, f32::NAN);
            if let Some(set) = slot.weights.get_mut(index) {
                *set = weight.unwrap_or(f32::NAN);
            }
        }
        Ok(())
    }
}

fn check_weight(weight: f32) -> Result<()> {
    if weight.is_finite() {
        return Ok(());
    }
    Err(Error::Argument {
        what: "morph weight",
        why: ArgumentFault::NotFinite(weight.into()),
    })
}
