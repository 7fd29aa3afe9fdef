//! Bindings for the engine's own shaders that draw a frame's crowd.

use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::frame::Frame;
use crate::crowd::visibility::runs::{Run, shown};
use crate::crowd::{CharacterId, ViewId};
use crate::error::{Error, Result};
use crate::gpu::{Features, PrimitiveDraw};
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
    /// The start of the list, for `throng_instance`.
    pub list: u32,
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

/// An indirect draw of instances that the GPU chose, for the engine's own pipelines.
///
/// Set 0 of such a pipeline is [`Crowd::set_layout`](crate::crowd::Crowd::set_layout). Its vertex
/// shader includes `shaders/include/throng.glsl` and finds its instance with
/// `throng_instance(list, gl_InstanceIndex)`.
///
/// A pipeline that has the draw's [`variant`](PrimitiveDraw::variant) as a constant deforms
/// vertices bit for bit as the crowd's own passes do. Without it, coarse levels that follow one
/// joint for each vertex are blended from all influences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndirectDraw {
    /// The primitive, its part of the index buffer, and how to draw it.
    pub draw: PrimitiveDraw,
    /// The level of detail, 0 for the full one.
    pub level: u32,
    /// True if the instances' transforms are flipped.
    ///
    /// Their front faces wind the other way.
    pub flipped: bool,
    /// The crowd's descriptor set. Bind it, but do not write it.
    ///
    /// It is valid for this frame; the next frame may have another.
    pub set: vk::DescriptorSet,
    /// The dynamic offsets to bind it with, in bytes.
    pub dynamic_offsets: [u32; 2],
    /// As [`DrawBindings::ring_palettes`].
    pub ring_palettes: vk::DeviceAddress,
    /// The start of the list, for `throng_instance`.
    pub list: u32,
    /// True if the instances hide some primitives, or have a material variant.
    ///
    /// The list has those of them that show the primitive, with a material of the draw's
    /// [class](PrimitiveDraw::class) if it has one. Then `throng_material` gives the material of an
    /// instance.
    pub varies: bool,
    /// The buffer and the offset of a `VkDrawIndexedIndirectCommand`, for
    /// `vkCmdDrawIndexedIndirect` with a count of 1.
    pub buffer: vk::Buffer,
    /// See [`Self::buffer`].
    pub offset: vk::DeviceSize,
}

impl Frame<'_> {
    /// The indirect draws of a character as a view sees it, if the GPU culls.
    ///
    /// They are the draws of everything that is not blended, for each level of detail: together
    /// they draw each instance that the view shows at its level. Draws without instances are among
    /// them, because the CPU does not know.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the view was not prepared in this frame, or if the CPU culls the
    ///   character: [`CrowdDesc::stages`](crate::CrowdDesc::stages) says so, or it has blended
    ///   materials. Then [`Self::draw_bindings`] has its ranges.
    /// - [`Error::NotFound`] if the character does not exist.
    pub fn indirect_draws(
        &self,
        view: ViewId,
        character: CharacterId,
    ) -> Result<impl Iterator<Item = IndirectDraw> + '_> {
        self.prepared_view(view)?;
        let crowd = &*self.crowd;
        let loaded = crowd.scene.characters.get(character)?;
        let buffers = &crowd.memory.buffers;
        let (Some(slot), Some(work)) = (&loaded.slot, &buffers.work) else {
            let why = "is culled by the CPU (CrowdDesc::stages, or because it is blended)";
            return Err(Error::invalid("character", why));
        };
        let dynamic_offsets = self.dynamic_offsets(view);
        let ring_palettes = buffers.palettes.address(self.frame_index);
        let draws = loaded.indirect(slot);
        let draws = draws.flat_map(move |shown| self.lists(view).map(move |view| (shown, view)));
        Ok(draws.filter_map(move |(shown, view)| {
            Some(IndirectDraw {
                draw: *shown.draw,
                level: shown.level as u32,
                flipped: shown.flipped,
                set: loaded.set(shown.draw.material)?,
                dynamic_offsets,
                ring_palettes,
                list: if crowd
                    .device
                    .enabled
                    .contains(Features::DRAW_INDIRECT_FIRST_INSTANCE)
                {
                    work.layout.zero()
                } else {
                    work.layout.start(view, shown.slot)
                },
                varies: shown.varies,
                buffer: work.buffer.handle,
                offset: work.layout.args_offset(view, shown.slot),
            })
        }))
    }

    /// The draws of a character in a view that the CPU culls. None of it is late.
    fn runs(&self, view: ViewId, character: CharacterId) -> &[Run] {
        match view.late {
            true => &[],
            false => self.crowd.scene.shown.runs(view.index, character.0),
        }
    }

    /// Fails if the GPU culls a character.
    pub(crate) fn expect_cpu(&self, character: &LoadedCharacter) -> Result<()> {
        if character.slot.is_none() {
            return Ok(());
        }
        let why = "is culled by the GPU (CrowdDesc::stages): see Frame::indirect_draws";
        Err(Error::invalid("character", why))
    }

    /// The bindings of a character as a view sees it.
    ///
    /// The set has the textures of `material`.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the view was not prepared in this frame, or if the GPU culls the
    ///   character ([`CrowdDesc::stages`](crate::CrowdDesc::stages)). Then
    ///   [`Self::indirect_draws`] has its draws.
    /// - [`Error::NotFound`] if the character or material does not exist.
    pub fn draw_bindings(
        &self,
        view: ViewId,
        character: CharacterId,
        material: u32,
    ) -> Result<DrawBindings> {
        self.prepared_view(view)?;
        let wanted = self.crowd.scene.characters.get(character)?;
        self.expect_cpu(wanted)?;
        let count = wanted.mesh.material_count();
        let set = wanted.set(material).filter(|_| material < count);
        let set = set.ok_or(Error::not_found(
            "material",
            material as usize,
            count as usize,
        ))?;
        let runs = self.runs(view, character);
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
            list: self.cpu_list(),
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
    /// - [`Error::Argument`] as [`Self::draw_bindings`].
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
        self.expect_cpu(loaded)?;
        let missing = Error::not_found("primitive", primitive as usize, loaded.primitives.len());
        let drawn = loaded.primitives.get(primitive as usize).ok_or(missing)?;
        let runs = self.runs(view, character);
        let bit = drawn.bit;
        let alike = shown(runs, move |look| look.hidden & bit == 0)
            .filter(move |run| run.flipped == flipped);
        let start = self.first_visible();
        Ok(alike.map(move |run| start + run.first..start + run.first + run.count))
    }
}
