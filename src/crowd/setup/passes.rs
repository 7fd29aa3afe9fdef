//! Adds and removes passes, and sets the shadow map that they sample.

use crate::crowd::PassId;
use crate::crowd::crowd::Crowd;
use crate::crowd::memory::retire::Retired;
use crate::error::{Error, Result};
use crate::pass::desc::PassDesc;
use crate::pass::draw::{DrawPass, prepare};
use crate::pass::shadow_map::{ShadowMap, bind};
use ash::vk;

impl Crowd {
    /// Creates a pass: the pipelines that draw the crowd's characters into the engine's
    /// attachments.
    ///
    /// Call this before the first frame, because it compiles shaders.
    ///
    /// # Pipelines
    /// A pass has one pipeline for each combination that the crowd's characters use: palette
    /// format (4), vertices that all follow one joint or not (2), and kind of alpha (3; 2 in passes
    /// without blended materials). These are at most 24, and typically 1 to 4. All of them are
    /// created in one call of `vkCreateGraphicsPipelines`, with the
    /// [pipeline cache](crate::gpu::Device::with_pipeline_cache) of the device. A character that is
    /// added later adds its missing combinations to every pass, in one call, too.
    /// [`Self::pipeline_count`] counts them.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the description is inconsistent.
    /// - [`Error::Unsupported`] and [`Error::Vulkan`] from the device.
    ///
    /// # Safety
    /// - The device supports the formats as attachments with that sample count, and blending for
    ///   the first colour format.
    /// - The set layouts of a [`MaterialDesc`](crate::MaterialDesc) belong to the crowd's device
    ///   and are alive during the call. Together with throng's set 0, they keep to the device's
    ///   limits of descriptors, and at most one of them is for push descriptors.
    /// - Its SPIR-V is valid, fits its set layouts and throng's set 0, and needs no feature that is
    ///   not enabled.
    pub unsafe fn create_pass(&mut self, desc: &PassDesc<'_>) -> Result<PassId> {
        let (set_0, shadow) = (
            self.pipelines.set_layout.handle(),
            self.pipelines.shadow.layout(),
        );
        // SAFETY: both layouts are the crowd's. The rest is this function's contract.
        let mut pass = unsafe { DrawPass::new(&self.device, set_0, shadow, desc) }?;
        let characters = self.scene.characters.iter();
        let variants = characters.flat_map(|(_, it)| it.variants()).collect();
        if let Err(error) = prepare(&self.device, core::iter::once(&mut pass), &variants) {
            // SAFETY: no command buffer has used the pass, because it was created above.
            unsafe { pass.destroy(&self.device) };
            return Err(error);
        }
        self.pipelines.passes.push(Some(pass));
        Ok(PassId(self.pipelines.passes.len() as u32 - 1))
    }

    /// The number of pipelines that the crowd has.
    ///
    /// These are the pipelines of its passes, and 2 compute pipelines that every crowd has.
    #[must_use]
    pub fn pipeline_count(&self) -> usize {
        const COMPUTE: usize = 2;
        let passes = self.pipelines.passes.iter().flatten();
        COMPUTE + passes.map(DrawPass::pipeline_count).sum::<usize>()
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

    pub(in crate::crowd) fn pass(&self, pass: PassId) -> Result<&DrawPass> {
        let count = self.pipelines.passes.len() as u64;
        let found = self
            .pipelines
            .passes
            .get(pass.0 as usize)
            .and_then(Option::as_ref);
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
        let count = self.pipelines.passes.len() as u64;
        let found = self
            .pipelines
            .passes
            .get_mut(pass.0 as usize)
            .and_then(Option::take);
        let pass = found.ok_or(Error::NotFound {
            what: "pass",
            index: pass.0.into(),
            count,
        })?;
        self.memory
            .retire_queue
            .retire(Retired::Pass(Box::new(pass)));
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
    /// - The image view is one of the crowd's device, as [`ShadowMap`] describes it, of an image
    ///   with the usage `SAMPLED`. It lives until the crowd is destroyed, or until another map was
    ///   set and no frame begun before that is in flight.
    /// - If a frame's draws sample it, it is in that layout, and what was drawn into it is visible
    ///   to fragment shaders.
    pub unsafe fn set_shadow_map(&mut self, map: &ShadowMap) -> Result<()> {
        if map.edge == 0 {
            return Err(Error::invalid("ShadowMap::edge", "must be at least 1"));
        }
        // SAFETY: the layout is the crowd's. The view is alive, by this function's contract.
        let bound = unsafe { bind(&self.device, self.pipelines.shadow.layout(), map) }?;
        if let Some(before) = self.pipelines.shadow.bound.replace(bound) {
            self.memory.retire_queue.retire(Retired::Shadow(before));
        }
        self.pipelines.shadow.edge = map.edge;
        Ok(())
    }
}
