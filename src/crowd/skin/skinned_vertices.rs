//! The deformed vertices of an instance, for the engine's own use.

use crate::crowd::frame::Frame;
use crate::crowd::{CharacterId, InstanceId, SkinningStage};
use crate::error::{Error, Result};
use crate::gpu::{SkinnedMesh, SkinnedPrimitive};
use ash::vk;

/// The deformed vertices of an instance in this frame.
///
/// They are in character space; the caller applies the instance's transform.
///
/// Commands may read them if they are submitted after those of [`Frame::record_prepare`] and before
/// those of the next frame. These uses need no barrier from the engine, neither before the reads
/// nor between them and the next frame:
///
/// - storage buffer reads in vertex and compute shaders
/// - vertex buffers
/// - sources of copies
/// - acceleration structure builds, if
///   [`CrowdDesc::skinned_usage`](crate::CrowdDesc::skinned_usage) includes them
///
/// For any other use (fragment, mesh and ray tracing shaders, other queues) the engine records its
/// own barriers: after `record_prepare` from `ALL_COMMANDS`/`MEMORY_WRITE`, and before that of the
/// next frame to `ALL_COMMANDS`. Only throng writes there.
///
/// Vertices of hidden parts are deformed, too, as if they were shown.
///
/// The layout is that of [`SkinnedLayout`](crate::skin::SkinnedLayout). [`Self::primitives`] gives
/// it in bytes.
#[derive(Debug, Clone, Copy)]
pub struct SkinnedVertices<'a> {
    /// The buffer, which changes after [`Crowd::reserve`](crate::crowd::Crowd::reserve).
    ///
    /// Its usage is `STORAGE_BUFFER | VERTEX_BUFFER | TRANSFER_SRC` and
    /// [`CrowdDesc::skinned_usage`](crate::CrowdDesc::skinned_usage).
    pub buffer: vk::Buffer,
    /// Start of the instance's range in bytes, a multiple of 16.
    ///
    /// It may change in the next frame.
    pub offset: u64,
    /// Size of the instance's range in bytes.
    pub size: u64,
    mesh: &'a SkinnedMesh,
}

impl<'a> SkinnedVertices<'a> {
    /// Each primitive's streams in the buffer, and its indices.
    ///
    /// They are in [`SkinnedMesh::index_buffer`] of [`Crowd::mesh`](crate::Crowd::mesh).
    pub fn primitives(&self) -> impl Iterator<Item = SkinnedPrimitive> + use<'a> {
        self.mesh.skinned_primitives(self.offset)
    }
}

impl Frame<'_> {
    /// The deformed vertices of an instance, after [`Self::record_prepare`].
    ///
    /// The instance must use [`SkinningStage::Compute`] or [`SkinningStage::Cpu`].
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    /// - [`Error::Argument`] if the frame is not prepared, the instance uses
    ///   [`SkinningStage::Vertex`], or no view of the frame shows it.
    pub fn skinned(&self, id: InstanceId) -> Result<SkinnedVertices<'_>> {
        let instance = self.crowd.scene.instances.get(id)?;
        let fault = |what, why| Err(Error::invalid(what, why));
        if !self.prepared {
            return fault("frame", "was not prepared with record_prepare");
        }
        if instance.skin == SkinningStage::Vertex {
            return fault(
                "instance",
                "has no deformed vertices: its stage is SkinningStage::Vertex (see set_skinning_stage)",
            );
        }
        let sphere = || self.crowd.sphere(id.index);
        if !self.crowd.scene.shows(id.index, sphere) {
            return fault("instance", "is not shown by any view of the frame");
        }
        let mesh = self.crowd.mesh(CharacterId(instance.character))?;
        Ok(SkinnedVertices {
            buffer: self.crowd.memory.buffers.skinned().buffer,
            offset: u64::from(instance.record.skinned) * 4,
            size: u64::from(mesh.skinned_layout().words) * 4,
            mesh,
        })
    }
}
