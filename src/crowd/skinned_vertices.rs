//! The deformed vertices of an instance, for the engine.

use super::instances::SkinningStage;
use super::{CharacterId, Frame, InstanceId};
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::{SkinnedMesh, SkinnedPrimitive};
use ash::vk;

/// Where the deformed vertices of an instance lie in this frame, in character space: its transform
/// is the caller's to apply.
///
/// They are there for whatever is submitted after [`Frame::record_prepare`]'s commands and before
/// those of the next frame, in vertex, fragment and compute shaders (storage buffer reads), as
/// vertex buffers, as source of copies, and, where
/// [`CrowdDesc::skinned_usage`](crate::CrowdDesc::skinned_usage) says so, for acceleration
/// structure builds. Barriers before that are throng's, and so are those by which the next frame
/// waits for those reads. For any other use (mesh and ray tracing shaders, `vkCmdBlitImage` and its
/// like, other queues) the engine puts its own barriers: behind `record_prepare` from
/// `ALL_COMMANDS`/`MEMORY_WRITE`, and before that of the next frame to `ALL_COMMANDS`. Nothing but
/// throng writes there.
///
/// Vertices of parts that the instance hides are there, too, as if they were shown.
///
/// The layout is that of [`SkinnedLayout`](crate::skin::SkinnedLayout); [`Self::primitives`] has it
/// in bytes.
#[derive(Debug, Clone, Copy)]
pub struct SkinnedVertices<'a> {
    /// With the usage `STORAGE_BUFFER | VERTEX_BUFFER | TRANSFER_SRC` and
    /// [`CrowdDesc::skinned_usage`](crate::CrowdDesc::skinned_usage). Another one after
    /// [`Crowd::reserve`](super::state::Crowd::reserve).
    pub buffer: vk::Buffer,
    /// Where the instance's range starts, in bytes, a multiple of 16. Another one in the next
    /// frame, perhaps.
    pub offset: u64,
    /// How many bytes it has.
    pub size: u64,
    mesh: &'a SkinnedMesh,
}

impl<'a> SkinnedVertices<'a> {
    /// Each primitive's streams in the buffer, and the indices that go with them.
    pub fn primitives(&self) -> impl Iterator<Item = SkinnedPrimitive> + use<'a> {
        self.mesh.skinned_primitives(self.offset)
    }

    /// The buffer of the indices.
    #[must_use]
    pub fn index_buffer(&self) -> vk::Buffer {
        self.mesh.index_buffer()
    }
}

impl Frame<'_> {
    /// The deformed vertices of an instance of [`SkinningStage::Compute`] or [`SkinningStage::Cpu`], after
    /// [`Self::record_prepare`].
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive; [`Error::Argument`] if the frame
    /// is not prepared, the instance is of [`SkinningStage::Vertex`], or no view of the frame shows it.
    pub fn skinned(&self, id: InstanceId) -> Result<SkinnedVertices<'_>> {
        let instance = self.crowd.instances.get(id)?;
        let fault = |what, why| {
            Err(Error::Argument {
                what,
                why: ArgumentFault::Invalid(why),
            })
        };
        if !self.prepared {
            return fault("frame", "record_prepare was not called for it");
        }
        if instance.skin == SkinningStage::Vertex {
            return fault("instance", "is skinned where it is drawn: see set_skin");
        }
        if !self.crowd.visibility.is_shown(id.index) {
            return fault("instance", "is shown by no view of the frame");
        }
        Ok(SkinnedVertices {
            buffer: self.crowd.buffers.skinned().buffer,
            offset: u64::from(instance.skinned.start) * 4,
            size: u64::from(instance.skinned.size) * 4,
            mesh: &self
                .crowd
                .entry(CharacterId(instance.record.character))?
                .mesh,
        })
    }
}
