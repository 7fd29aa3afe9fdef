//! Questions of the engine about views: hits of rays, levels of detail, lists of its own.

use crate::crowd::frame::Frame;
use crate::crowd::visibility::shown::MAX_LISTS;
use crate::crowd::{CharacterId, InstanceHit, InstanceId, ListId, ViewId};
use crate::error::{Error, Result};
use crate::gpu::limit;
use crate::skin::{CullMode, Ray};

impl Frame<'_> {
    /// Finds the nearest hit of a ray on the instances that a prepared view shows.
    ///
    /// Poses and transforms are those of this frame. Otherwise as
    /// [`Crowd::pick`](crate::crowd::Crowd::pick).
    ///
    /// # Errors
    /// [`Error::Argument`] if the view was not prepared in this frame, or if the ray is not finite
    /// or has no direction.
    #[doc(alias = "raycast")]
    pub fn pick(&mut self, view: ViewId, ray: &Ray, cull: CullMode) -> Result<Option<InstanceHit>> {
        self.prepared_view(view)?;
        self.crowd.nearest(ray, cull, |scene, index| {
            let (visibility, sphere) = (&scene.visibility, scene.visibility.sphere(index));
            scene
                .shown
                .view_shows(visibility, view.index, index, &sphere)
        })
    }

    /// Finds all hits of a ray on the instances that a prepared view shows, nearest first.
    ///
    /// As [`Self::pick`] and [`Crowd::pick_all`](crate::crowd::Crowd::pick_all).
    ///
    /// # Errors
    /// As [`Self::pick`].
    pub fn pick_all(
        &mut self,
        view: ViewId,
        ray: &Ray,
        cull: CullMode,
    ) -> Result<Vec<InstanceHit>> {
        self.prepared_view(view)?;
        self.crowd.all(ray, cull, |scene, index| {
            let (visibility, sphere) = (&scene.visibility, scene.visibility.sphere(index));
            scene
                .shown
                .view_shows(visibility, view.index, index, &sphere)
        })
    }

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
        let level = scene
            .shown
            .level(&scene.visibility, view.index, instance.index);
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
