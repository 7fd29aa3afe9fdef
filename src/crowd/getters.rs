//! What can be asked of a crowd: everything that can be set, and who is in it.

use super::state::Crowd;
use super::{CharacterId, InstanceId};
use crate::error::{Error, Result, listed};
use crate::skeleton::Affine;

impl Crowd {
    /// World space from an instance's character space. That of an [attached](Self::attach) one is
    /// as the last prepared frame had it.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn transform(&self, id: InstanceId) -> Result<Affine> {
        let instance = self.instances.get(id)?;
        Ok(instance.record.world_from_model.to_affine())
    }

    /// What [`Self::set_tint`] set: linear RGBA.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn tint(&self, id: InstanceId) -> Result<[f32; 4]> {
        self.instances.get(id).map(|instance| instance.record.tint)
    }

    /// What [`Self::set_user`] set.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn user(&self, id: InstanceId) -> Result<u32> {
        self.instances.get(id).map(|instance| instance.record.user)
    }

    /// What [`Self::set_visible`] set. Something that it is attached to may hide the instance all
    /// the same.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn is_visible(&self, id: InstanceId) -> Result<bool> {
        self.instances.get(id)?;
        let marks = self.visibility.marks.get(id.index as usize);
        Ok(marks.is_some_and(|marks| marks.visible))
    }

    /// What [`Self::set_view_mask`] set.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn view_mask(&self, id: InstanceId) -> Result<u32> {
        self.instances.get(id)?;
        let marks = self.visibility.marks.get(id.index as usize);
        Ok(marks.map_or(0, |marks| marks.mask))
    }

    /// What [`Self::set_morph_weights`] set: one for each of its character's morph weights, `None`
    /// where the clip and the rest pose decide.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn morph_overrides(
        &self,
        id: InstanceId,
    ) -> Result<impl Iterator<Item = Option<f32>> + '_> {
        let (animator, actor) = self.actor(id)?;
        animator.morph_overrides(actor)
    }

    /// The character of an instance.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn character_of(&self, id: InstanceId) -> Result<CharacterId> {
        let instance = self.instances.get(id)?;
        Ok(CharacterId(instance.record.character))
    }

    /// All instances that are alive, in the order of the instance table.
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> + '_ {
        let all = 0..self.instances.states.len() as u32;
        all.filter_map(|index| self.instances.id(index))
    }

    /// The instances of a character, in no order.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a character that does not exist.
    pub fn instances_of(
        &self,
        character: CharacterId,
    ) -> Result<impl ExactSizeIterator<Item = InstanceId> + '_> {
        let members = self.entry(character)?.members.iter();
        // Every member is alive, so nothing is lost by taking its generation from the table.
        Ok(members.map(|index| self.instances.any_id(*index)))
    }

    /// The instance at an index of the instance table, as [`Self::table_index`] gives it, if one is
    /// alive there.
    #[must_use]
    pub fn instance_at(&self, table_index: u32) -> Option<InstanceId> {
        self.instances.id(table_index)
    }

    /// All characters, in the order in which they were added.
    pub fn characters(&self) -> impl Iterator<Item = CharacterId> + '_ {
        let all = (0..).zip(&self.characters);
        all.filter_map(|(index, entry)| entry.as_ref().map(|_| CharacterId(index)))
    }

    /// The name of a character: what its importer was given, usually the file's.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a character that does not exist.
    pub fn character_name(&self, id: CharacterId) -> Result<&str> {
        Ok(self.entry(id)?.rig.name())
    }

    /// The first character of this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that there are.
    pub fn find_character(&self, name: &str) -> Result<CharacterId> {
        let entries = || self.characters.iter().flatten();
        let named = |id: &CharacterId| self.character_name(*id) == Ok(name);
        self.characters()
            .find(named)
            .ok_or_else(|| Error::UnknownName {
                what: "character",
                name: name.into(),
                known: listed(entries().map(|entry| entry.rig.name())),
            })
    }
}
