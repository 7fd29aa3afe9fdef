//! Bindings for the engine's own shaders that draw a frame's crowd.

use super::Frame;
use crate::crowd::visibility::runs::shown;
use crate::crowd::{CharacterId, ViewId};
use crate::error::{Error, Result};
use ash::vk;
use core::ops::Range;

/// Bindings of a character in a frame, for the engine's own pipelines.
///
/// Set 0 of such a pipeline is [`Crowd::set_layout`](crate::crowd::Crowd::set_layout), and its
/// shaders include `shaders/include/throng.glsl`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawBindings {
    /// The crowd's descriptor set. Bind it, but do not write it.
    ///
    /// It is valid for this frame; the next frame may have another.
    pub set: vk::DescriptorSet,
    /// The dynamic offsets to bind it with, in bytes.
    ///
    /// They say where this frame's view and lists start.
    pub dynamic_offsets: [u32; 2],
    /// The device address of this frame's palettes in the ring.
    ///
    /// Shaders with `THRONG_NO_VIEW` need it (`THRONG_RING_PALETTES`). Others have it from the
    /// view. It is valid for this frame.
    pub ring_palettes: vk::DeviceAddress,
    /// Visible instances of the character whose transform is not flipped.
    ///
    /// The range is that of the visible list (`throng_visible`). It gives the first instance and
    /// the instance count of a draw of one of
    /// [`SkinnedMesh::draws`](crate::gpu::SkinnedMesh::draws). It has all instances that the view
    /// shows, whatever parts they hide. [`Frame::draw_ranges`] takes hidden parts into account.
    pub plain: Range<u32>,
    /// Visible instances of the character whose transform is flipped.
    ///
    /// Their front faces wind the other way.
    pub flipped: Range<u32>,
}

impl Frame<'_> {
    /// The bindings of a character as a view sees it.
    ///
    /// The set has the textures of `material`.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the view was not prepared in this frame.
    /// - [`Error::NotFound`] if the character or material does not exist.
    pub fn draw_bindings(
        &self,
        view: ViewId,
        character: CharacterId,
        material: u32,
    ) -> Result<DrawBindings> {
        self.prepared_view(view)?;
        let wanted = self.crowd.scene.characters.get(character)?;
        let count = wanted.mesh.material_count();
        let set = wanted.set(material).filter(|_| material < count);
        let set = set.ok_or(Error::not_found(
            "material",
            material as usize,
            count as usize,
        ))?;
        let runs = self.crowd.scene.visibility.runs(view.index, character.0);
        let start = self.first_visible() + runs.first().map_or(0, |run| run.first);
        let count = |flipped: bool| -> u32 {
            let alike = runs.iter().filter(|run| run.flipped == flipped);
            alike.map(|run| run.count).sum()
        };
        let middle = start + count(false);
        Ok(DrawBindings {
            set,
            dynamic_offsets: self.dynamic_offsets(view),
            ring_palettes: self.crowd.memory.buffers.palettes.address(self.frame_index),
            plain: start..middle,
            flipped: middle..middle + count(true),
        })
    }

    /// The visible instances that show a primitive of a character, as ranges of the visible list.
    ///
    /// `primitive` is the primitive's index. This is for pipelines of the engine's own: the
    /// instances of [`DrawBindings::plain`](crate::crowd::DrawBindings::plain), or of
    /// [`flipped`](crate::crowd::DrawBindings::flipped), without those that hide the primitive.
    /// Draw each range with one call.
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
        let loaded = self.crowd.scene.characters.get(character)?;
        let missing = Error::not_found("primitive", primitive as usize, loaded.primitives.len());
        let drawn = loaded.primitives.get(primitive as usize).ok_or(missing)?;
        let runs = self.crowd.scene.visibility.runs(view.index, character.0);
        let alike = shown(runs, drawn.bit).filter(move |run| run.flipped == flipped);
        let start = self.first_visible();
        Ok(alike.map(move |run| start + run.first..start + run.first + run.count))
    }
}
