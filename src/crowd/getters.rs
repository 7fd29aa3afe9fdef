//! Queries about a crowd, its instances and its characters.

use super::state::Crowd;
use super::{CharacterId, InstanceId};
use crate::error::Result;
use crate::id::unknown;
use glam::Affine3A;

impl Crowd {
    /// World space from an instance's character space.
    ///
    /// For an [attached](Self::attach) instance, it is that of the last prepared frame.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn transform(&self, id: InstanceId) -> Result<Affine3A> {
        let instance = self.instances.get(id)?;
        Ok(instance.record.world_from_model.to_affine())
    }

    /// The tint that [`Self::set_tint`] set, as linear RGBA.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn tint(&self, id: InstanceId) -> Result<[f32; 4]> {
        self.instances.get(id).map(|instance| instance.record.tint)
    }

    /// The word that [`Self::set_user`] set.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn user(&self, id: InstanceId) -> Result<u32> {
        self.instances.get(id).map(|instance| instance.record.user)
    }

    /// The flag that [`Self::set_visible`] set.
    ///
    /// The instance may still be hidden, because something that it is attached to is.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn is_visible(&self, id: InstanceId) -> Result<bool> {
        self.instances.get(id)?;
        let marks = self.visibility.marks.get(id.index as usize);
        Ok(marks.is_some_and(|marks| marks.visible))
    }

    /// The mask that [`Self::set_view_mask`] set.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn view_mask(&self, id: InstanceId) -> Result<u32> {
        self.instances.get(id)?;
        let marks = self.visibility.marks.get(id.index as usize);
        Ok(marks.map_or(0, |marks| marks.mask))
    }

    /// The morph weights that [`Self::set_morph_weights`] set.
    ///
    /// There is one for each of its character's morph weights. It is `None` if the clips and the
    /// rest pose decide.
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

    /// The instances of a character, in no particular order.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn instances_of(
        &self,
        character: CharacterId,
    ) -> Result<impl ExactSizeIterator<Item = InstanceId> + '_> {
        let members = self.entry(character)?.members.iter();
        // Every member is alive, so the generation in the table is that of the member.
        Ok(members.map(|index| self.instances.any_id(*index)))
    }

    /// The living instance at an index of the instance table.
    ///
    /// [`Self::table_index`] is the inverse.
    #[must_use]
    pub fn instance_at(&self, table_index: u32) -> Option<InstanceId> {
        self.instances.id(table_index)
    }

    /// All characters, in the order in which they were added.
    pub fn characters(&self) -> impl Iterator<Item = CharacterId> + '_ {
        let all = (0..).zip(&self.characters);
        all.filter_map(|(index, entry)| entry.as_ref().map(|_| CharacterId(index)))
    }

    /// The name of a character.
    ///
    /// It is the name that its importer was given, usually the file's.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn character_name(&self, id: CharacterId) -> Result<&str> {
        Ok(self.entry(id)?.rig.name())
    }

    /// The first character with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`], with the names that exist.
    pub fn find_character(&self, name: &str) -> Result<CharacterId> {
        let entries = || self.characters.iter().flatten();
        let named = |id: &CharacterId| self.character_name(*id) == Ok(name);
        self.characters()
            .find(named)
            .ok_or_else(|| unknown("character", name, entries().map(|entry| entry.rig.name())))
    }
}
