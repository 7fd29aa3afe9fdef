//! Hidden parts of instances.

use super::runs::Run;
use super::state::Crowd;
use super::{CharacterId, Frame, InstanceId, ViewId};
use crate::error::{Error, Result};
use crate::mesh::PartId;
use core::ops::Range;

/// Instances of one draw, as a range of the visible list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DrawInstances {
    /// First instance of the draw.
    pub(super) first: u32,
    /// The number of instances.
    pub(super) count: u32,
    /// True if their transforms are flipped.
    pub(super) flipped: bool,
}

/// The instances of contiguous runs that show the primitive of this bit. Neighbouring runs are
/// joined.
pub(super) fn shown(runs: &[Run], bit: u128) -> impl Iterator<Item = DrawInstances> {
    let key = move |run: &Run| (run.flipped, run.hides(bit));
    let alike = runs.chunk_by(move |a, b| key(a) == key(b));
    alike.filter_map(move |runs| {
        let first = runs.first().filter(|run| !run.hides(bit))?;
        Some(DrawInstances {
            first: first.first,
            count: runs.iter().map(|run| run.count).sum(),
            flipped: first.flipped,
        })
    })
}

impl Crowd {
    /// Shows or hides a part of an instance.
    ///
    /// It applies to all views and passes.
    ///
    /// A part is the primitives of a node, as
    /// [`Character::part`](crate::character::Character::part) gives it.
    ///
    /// A hidden part costs nothing on the GPU, because its draws leave the instance out. Instances
    /// that hide nothing cost no more than without this feature. For each set of hidden parts that
    /// occurs among the instances of a character, the primitives in question take up to one more
    /// draw call.
    ///
    /// In [`SkinningStage::Compute`](super::SkinningStage::Compute) and
    /// [`SkinningStage::Cpu`](super::SkinningStage::Cpu), hidden vertices are deformed all the
    /// same, so a part that is shown again has the right motion at once.
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if the instance is not alive.
    /// - [`Error::NotFound`] if its character lacks the part.
    /// - [`Error::Capacity`] if the part has primitives past
    ///   [`PartId::MAX_HIDEABLE`].
    pub fn set_part_visible(&mut self, id: InstanceId, part: PartId, visible: bool) -> Result<()> {
        let character = self.instances.get(id)?.record.character;
        let bits = self.entry(CharacterId(character))?.rig.part_bits(part)?;
        let Some(marks) = self.visibility.marks.get_mut(id.index as usize) else {
            return Ok(());
        };
        let before = marks.hidden != 0;
        marks.hidden = if visible {
            marks.hidden & !bits
        } else {
            marks.hidden | bits
        };
        let after = marks.hidden != 0;
        if before == after {
            return Ok(());
        }
        let count = |all: usize| all + usize::from(after) - usize::from(before);
        self.visibility.hiding = count(self.visibility.hiding);
        let characters = self.characters.len();
        self.visibility.reserve(&self.desc.capacity, characters);
        if let Some(Some(entry)) = self.characters.get_mut(character as usize) {
            entry.hiding = count(entry.hiding);
        }
        Ok(())
    }

    /// Returns true if an instance shows all primitives of a part.
    ///
    /// # Errors
    /// As [`Self::set_part_visible`].
    pub fn is_part_visible(&self, id: InstanceId, part: PartId) -> Result<bool> {
        let character = CharacterId(self.instances.get(id)?.record.character);
        let bits = self.entry(character)?.rig.part_bits(part)?;
        Ok(self.visibility.hidden(id.index) & bits == 0)
    }

    /// The parts of an instance that are hidden.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn hidden_parts(&self, id: InstanceId) -> Result<impl Iterator<Item = PartId> + '_> {
        let character = CharacterId(self.instances.get(id)?.record.character);
        let rig = &self.entry(character)?.rig;
        let hidden = self.visibility.hidden(id.index);
        let parts = rig.parts().map(|(part, _)| part);
        let is_hidden = move |part: &PartId| {
            let bits = rig.part_bits(*part).unwrap_or(0);
            bits != 0 && hidden & bits == bits
        };
        Ok(parts.filter(is_hidden))
    }
}

impl Frame<'_> {
    /// The visible instances that show a primitive of a character, as ranges of the visible list.
    ///
    /// `primitive` is the primitive's index. This is for pipelines of the engine's own: the
    /// instances of [`DrawBindings::plain`](super::DrawBindings::plain), or of
    /// [`flipped`](super::DrawBindings::flipped), without those that hide the primitive. Draw
    /// each range with one call.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the view was not prepared in this frame.
    /// - [`Error::NotFound`] if the character or primitive does not exist.
    pub fn draw_ranges(
        &self,
        view: ViewId,
        character: CharacterId,
        primitive: u32,
        flipped: bool,
    ) -> Result<impl Iterator<Item = Range<u32>> + '_> {
        self.prepared_view(view)?;
        let entry = self.crowd.entry(character)?;
        let missing = Error::NotFound {
            what: "primitive",
            index: primitive.into(),
            count: entry.primitives.len() as u64,
        };
        let drawn = entry.primitives.get(primitive as usize).ok_or(missing)?;
        let runs = self.crowd.visibility.runs(view.index, character.0);
        let alike = shown(runs, drawn.bit).filter(move |run| run.flipped == flipped);
        let start = self.first_visible();
        Ok(alike.map(move |run| start + run.first..start + run.first + run.count))
    }
}
