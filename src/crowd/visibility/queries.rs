//! Questions of the engine about views: levels of detail, lists of its own.

use crate::crowd::frame::Frame;
use crate::crowd::visibility::shown::MAX_LISTS;
use crate::crowd::{CharacterId, InstanceId, ListId, ViewId};
use crate::error::{Error, Result};
use crate::gpu::limit;

impl Frame<'_> {
    /// The level of detail at which a prepared view shows an instance: 0 is the full one. `None` if
    /// the view does not show it.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the view was not prepared in this frame, or if the GPU culls the
    ///   instance's character ([`CrowdDesc::stages`](crate::crowd::CrowdDesc::stages)).
    /// - [`Error::Stale`] or [`Error::NotFound`] if the instance is not alive.
    #[doc(alias = "LOD")]
    pub fn level(&self, view: ViewId, instance: InstanceId) -> Result<Option<u32>> {
        self.prepared_view(view)?;
        let character = self.crowd.scene.instances.get(instance)?.character;
        let loaded = self.crowd.scene.characters.get(CharacterId(character))?;
        self.expect_cpu(loaded)?;
        let scene = &self.crowd.scene;
        let level = scene.shown.level(view.index, instance.index);
        Ok(level.map(u32::from))
    }

    /// Makes a list of instances for views of this frame.
    ///
    /// A view with this [`View::list`](crate::View::list) shows only these instances, provided that
    /// they are visible and its mask allows them. Several views can share a list. Use it if the
    /// engine does its own culling.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the frame is prepared already.
    /// - [`Error::Capacity`] for more lists than
    ///   [`Capacity::views`](crate::crowd::Capacity::views).
    /// - [`Error::At`], with the index in the list: [`Error::Stale`] or [`Error::NotFound`] if the
    ///   instance is not alive, [`Error::Argument`] if it occurs twice.
    #[doc(alias = "cull")]
    pub fn make_list(&mut self, instances: &[InstanceId]) -> Result<ListId> {
        if self.prepared {
            return Err(Error::invalid("frame", "was already prepared"));
        }
        let crowd = &mut *self.crowd;
        let shown = &mut crowd.scene.shown;
        let cap = crowd.desc.capacity.views.min(MAX_LISTS);
        let what = "lists (Capacity::views, raised by Crowd::reserve)";
        limit(what, u64::from(shown.list_count) + 1, cap.into())?;
        let index = shown.make_list(&crowd.scene.instances, instances)?;
        let frame = crowd.memory.retire_queue.frame();
        Ok(ListId { frame, index })
    }
}
