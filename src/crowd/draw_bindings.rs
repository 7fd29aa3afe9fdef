//! What shaders of the engine's own bind to see a frame's crowd.

use super::{CharacterId, Frame, ViewId};
use crate::error::{Error, Result};
use ash::vk;
use core::ops::Range;

/// A character of a frame as shaders see it: for pipelines of the engine's own, whose set 0 is
/// [`Crowd::set_layout`](super::state::Crowd::set_layout) and whose shaders include
/// `shaders/include/throng.glsl`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawBindings {
    /// The crowd's own set: bind it, don't write it. It is good for this frame; the next may have
    /// another.
    pub set: vk::DescriptorSet,
    /// To be bound with it: where this frame's view, palettes, visible list and morph weights
    /// start, in bytes.
    pub dynamic_offsets: [u32; 4],
    /// The character's instances in the visible list (`throng_visible`) whose transform does not
    /// mirror: first instance and instance count of a draw of one of
    /// [`SkinnedMesh::draws`](crate::gpu::SkinnedMesh::draws). Those that the view shows, whatever
    /// parts they hide: [`Frame::draw_ranges`] looks at that, too.
    pub plain: Range<u32>,
    /// Those whose transform mirrors: their front faces are wound the other way.
    pub mirrored: Range<u32>,
}

impl Frame<'_> {
    /// What to bind for `character` with the textures of `material`, as `view` sees it.
    ///
    /// # Errors
    /// [`Error::Argument`] for a view that was not prepared in this frame, [`Error::NotFound`] for
    /// a character or material that does not exist.
    pub fn inputs(
        &self,
        view: ViewId,
        character: CharacterId,
        material: u32,
    ) -> Result<DrawBindings> {
        self.prepared_view(view)?;
        let wanted = self.crowd.entry(character)?;
        let count = wanted.mesh.material_count();
        let set = wanted.set(material).filter(|_| material < count);
        let set = set.ok_or(Error::NotFound {
            what: "material",
            index: material.into(),
            count: count.into(),
        })?;
        let runs = self.crowd.visibility.runs(view.index, character.0);
        let start = runs.first().map_or(0, |run| run.first);
        let count = |mirrored: bool| -> u32 {
            let alike = runs.iter().filter(|run| run.mirrored == mirrored);
            alike.map(|run| run.count).sum()
        };
        let middle = start + count(false);
        Ok(DrawBindings {
            set,
            dynamic_offsets: self.dynamic_offsets(view),
            plain: start..middle,
            mirrored: middle..middle + count(true),
        })
    }
}
