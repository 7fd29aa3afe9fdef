//! Adds and removes passes, and sets the shadow map that they sample.

use crate::crowd::PassId;
use crate::crowd::characters::INFLUENCES;
use crate::crowd::crowd::Crowd;
use crate::crowd::memory::retire::Retired;
use crate::error::{Error, Result};
use crate::gpu::Blending;
use crate::order;
use crate::palette::{PaletteFormat, SkinningMethod};
use crate::pass::desc::PassDesc;
use crate::pass::draw::{DrawPass, prepare};
use crate::pass::pipelines::Variant;
use crate::pass::shadow_map::{ShadowMap, bind};
use ash::vk;

/// Characters whose pipelines are created in advance. See [`Crowd::warm_up`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WarmUp {
    /// Their skinning method, as in [`CharacterDesc::method`](crate::CharacterDesc::method).
    pub method: SkinningMethod,
    /// True if they have vertices that follow more than four joints.
    pub many_influences: bool,
    /// True if they have masked materials.
    pub masked: bool,
    /// True if they have blended materials.
    pub blended: bool,
}

impl WarmUp {
    /// All characters of this method whose vertices follow at most four joints.
    #[must_use]
    pub const fn of(method: SkinningMethod) -> Self {
        Self {
            method,
            many_influences: false,
            masked: true,
            blended: true,
        }
    }

    fn variants(self) -> impl Iterator<Item = Variant> {
        let formats = formats(self.method).iter();
        let blendings = [
            (Blending::Opaque, true),
            (Blending::Mask, self.masked),
            (Blending::Blend, self.blended),
        ];
        let blendings = blendings.into_iter().filter(|(_, wanted)| *wanted);
        let influences = INFLUENCES.into_iter();
        let influences = influences.filter(move |most| *most != 0 || self.many_influences);
        formats.flat_map(move |format| {
            let influences = influences.clone();
            blendings.clone().flat_map(move |(blending, _)| {
                influences.clone().map(move |influences| Variant {
                    method: *format as u32,
                    influences,
                    blending,
                })
            })
        })
    }
}

/// The palette formats that characters of a method may have.
fn formats(method: SkinningMethod) -> &'static [PaletteFormat] {
    match method {
        SkinningMethod::Linear => &[PaletteFormat::Mat3x4],
        SkinningMethod::DualQuat => &[PaletteFormat::DualQuat, PaletteFormat::DualQuatStretch],
        SkinningMethod::QuatOffset => &[PaletteFormat::QuatOffset],
    }
}

impl Default for WarmUp {
    fn default() -> Self {
        Self::of(SkinningMethod::Linear)
    }
}

impl Crowd {
    /// Creates a pass: the pipelines that draw the crowd's characters into the engine's
    /// attachments.
    ///
    /// Call this before the first frame, because it compiles shaders.
    ///
    /// # Pipelines
    /// A pass has one pipeline for each combination that the crowd's characters use: palette
    /// format (4), influences of a vertex (1, up to 4, more: 3), and kind of alpha (3; 2 in passes
    /// without blended materials). These are at most 36, and typically 1 to 4. All of them are
    /// created in one call of `vkCreateGraphicsPipelines`, with the [pipeline
    /// cache](crate::gpu::Device::with_pipeline_cache) of the device. A character that is added
    /// later adds its missing combinations to every pass, in one call, too. [`Self::warm_up`]
    /// creates them in advance, and [`Self::pipeline_count`] counts them.
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
        let used = characters.flat_map(|(_, it)| it.variants());
        let used = used.chain(self.pipelines.warm.iter().copied());
        let variants = order::sorted_set(used.collect());
        if let Err(error) = prepare(&self.device, core::iter::once(&mut pass), &variants) {
            // SAFETY: no command buffer has used the pass, because it was created above.
            unsafe { pass.destroy(&self.device) };
            return Err(error);
        }
        self.pipelines.passes.push(Some(pass));
        Ok(PassId(self.pipelines.passes.len() as u32 - 1))
    }

    /// Creates the pipelines of characters that are added later, in all passes.
    ///
    /// After this, [`Self::add_character`] compiles nothing for such characters, and neither does
    /// [`Self::replace_character`]. It does not matter whether the passes were created before or
    /// are created afterwards. Call it several times for more.
    ///
    /// ```no_run
    /// # fn warm(crowd: &mut throng::Crowd) -> throng::Result<()> {
    /// use throng::{WarmUp, palette::SkinningMethod};
    ///
    /// // Linear blending with up to four influences: 6 pipelines in a colour pass.
    /// crowd.warm_up(&WarmUp::default())?;
    /// // Dual quaternions for opaque materials only.
    /// let desc = WarmUp { masked: false, blended: false, ..WarmUp::of(SkinningMethod::DualQuat) };
    /// crowd.warm_up(&desc)
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Vulkan`] from the device. The pipelines are then as before.
    pub fn warm_up(&mut self, desc: &WarmUp) -> Result<()> {
        let mut variants = self.pipelines.warm.clone();
        variants.extend(desc.variants());
        let variants = order::sorted_set(variants);
        let passes = self.pipelines.passes.iter_mut().flatten();
        prepare(&self.device, passes, &variants)?;
        self.pipelines.warm = variants;
        Ok(())
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
        let (index, passes) = (pass.0 as usize, &self.pipelines.passes);
        let found = passes.get(index).and_then(Option::as_ref);
        found.ok_or(Error::not_found("pass", index, passes.len()))
    }

    /// Retires a pass.
    ///
    /// Its pipelines are destroyed when no frame in flight uses them any more.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the pass was removed before.
    pub fn remove_pass(&mut self, pass: PassId) -> Result<()> {
        let (index, passes) = (pass.0 as usize, &mut self.pipelines.passes);
        let missing = Error::not_found("pass", index, passes.len());
        let found = passes.get_mut(index).and_then(Option::take);
        let pass = found.ok_or(missing)?;
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
