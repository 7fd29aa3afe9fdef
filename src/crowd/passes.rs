//! Adds and removes passes, and sets the shadow map that they sample.

use super::PassId;
use super::retire::Retired;
use super::shadow_map::{ShadowMap, bind};
use super::state::Crowd;
use crate::error::{Error, Result};
use crate::pass::desc::PassDesc;
use crate::pass::draw::DrawPass;
use ash::vk;

impl Crowd {
    /// Creates a pass: the pipelines that draw the crowd's characters into the engine's
    /// attachments.
    ///
    /// Call this before the first frame, because it compiles shaders.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the description is inconsistent.
    /// - [`Error::Unsupported`] and [`Error::Vulkan`] from the device.
    ///
    /// # Safety
    /// The device supports the formats as attachments with that sample count. The SPIR-V of a
    /// [`MaterialDesc`](crate::MaterialDesc) is valid, fits its set layouts and throng's set 0, and
    /// needs no feature that is not enabled.
    pub unsafe fn create_pass(&mut self, desc: &PassDesc<'_>) -> Result<PassId> {
        let (set_0, shadow) = (self.set_layout.handle(), self.shadow.layout());
        let mut pass = DrawPass::new(&self.device, set_0, shadow, desc)?;
        for entry in self.characters.iter().flatten() {
            if let Err(error) = pass.prepare(&self.device, entry.variants()) {
                // SAFETY: no command buffer has used the pass, because it was created above.
                unsafe { pass.destroy(&self.device) };
                return Err(error);
            }
        }
        self.passes.push(Some(pass));
        Ok(PassId(self.passes.len() as u32 - 1))
    }

    /// The layout of a pass's pipelines.
    ///
    /// The engine needs it to bind the sets and push constants of its own shading.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the pass does not exist.
    pub fn pass_layout(&self, pass: PassId) -> Result<vk::PipelineLayout> {
        Ok(self.pass(pass)?.layout.handle)
    }

    pub(super) fn pass(&self, pass: PassId) -> Result<&DrawPass> {
        let count = self.passes.len() as u64;
        let found = self.passes.get(pass.0 as usize).and_then(Option::as_ref);
        found.ok_or(Error::NotFound {
            what: "pass",
            index: pass.0.into(),
            count,
        })
    }

    /// Retires a pass.
    ///
    /// Its pipelines are destroyed when no frame in flight uses them any more.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the pass was removed before.
    pub fn remove_pass(&mut self, pass: PassId) -> Result<()> {
        let count = self.passes.len() as u64;
        let found = self.passes.get_mut(pass.0 as usize).and_then(Option::take);
        let pass = found.ok_or(Error::NotFound {
            what: "pass",
            index: pass.0.into(),
            count,
        })?;
        self.retire_queue.retire(Retired::Pass(Box::new(pass)));
        Ok(())
    }

    /// Sets the shadow map that passes with [`PassDesc::shadow_map`](crate::PassDesc::shadow_map)
    /// sample.
    ///
    /// It applies from the next frame on. [`View::shadow`](crate::View::shadow) describes its
    /// contents for each view.
    ///
    /// # Errors
    /// [`Error::Argument`] for an edge of 0, and [`Error::Vulkan`]. The previous map is then kept.
    ///
    /// # Safety
    /// - The image view lives until the crowd is destroyed, or until another map was set and no
    ///   frame begun before that is in flight.
    /// - If a frame's draws sample it, it is in that layout, and what was drawn into it is visible
    ///   to fragment shaders.
    pub unsafe fn set_shadow_map(&mut self, map: &ShadowMap) -> Result<()> {
        if map.edge == 0 {
            return Err(Error::invalid("ShadowMap::edge", "must be at least 1"));
        }
        let bound = bind(&self.device, self.shadow.layout(), map)?;
        if let Some(before) = self.shadow.bound.replace(bound) {
            self.retire_queue.retire(Retired::Shadow(before));
        }
        self.shadow.edge = map.edge;
        Ok(())
    }
}
