//! Adds and removes passes, and sets the images that they sample.

use crate::character::Character;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::memory::retire::Retired;
use crate::crowd::{Capacity, CharacterDesc, PassId, SkinningStage};
use crate::crowd::{Crowd, Pipelines};
use crate::error::{Error, Result, expect};
use crate::gpu::{
    AnimateVariant, Device, GpuInstance, MAX_JOINTS, draws_without_indices, skin_variant, variant,
};
use crate::mesh::AlphaMode;
use crate::order;
use crate::palette::PaletteFormat;
use crate::pass::animate::AnimatePipeline;
use crate::pass::attach::AttachPass;
use crate::pass::cull::CullPass;
#[cfg(doc)]
use crate::pass::desc::EnvironmentLight;
use crate::pass::desc::PassDesc;
use crate::pass::draw::{DrawPass, prepare};
use crate::pass::environment_map::{self, EnvironmentMap};
use crate::pass::image_input::ImageInput;
use crate::pass::pipelines::{Reads, Variant};
use crate::pass::pyramid::PyramidPass;
use crate::pass::shadow_map::{self, ShadowMap};
use ash::vk;

/// A pipeline of a crowd, for statistics of the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineInfo {
    /// The stage of the frame: that of the scope of [`Crowd::gpu_times`].
    pub stage: &'static str,
    /// The pass that draws with it, if it draws.
    pub pass: Option<PassId>,
    /// Its constant [`PrimitiveDraw::variant`](crate::gpu::PrimitiveDraw::variant), or
    /// [`GpuInstance::NONE`](crate::gpu::GpuInstance::NONE) if it is for all variants.
    pub variant: u32,
    /// Its constant [`PrimitiveDraw::surface`](crate::gpu::PrimitiveDraw::surface), without what
    /// its shaders do not read.
    pub surface: u32,
    /// The pipeline, which the crowd owns.
    pub handle: vk::Pipeline,
}

impl Pipelines {
    /// Creates the pipelines that a character lacks, in all passes, in one call.
    ///
    /// If it has deformed vertices, its pipelines read them from now on.
    pub(crate) fn prepare(
        &mut self,
        device: &Device,
        character: &mut LoadedCharacter,
    ) -> Result<()> {
        let before = (character.reads, character.wears_variants);
        character.reads.skinned = character.deforms;
        character.wears_variants |= character.needs_variants();
        let made = self.prepare_as_it_is(device, character);
        if made.is_err() {
            (character.reads, character.wears_variants) = before;
        }
        made
    }

    /// Creates the pipeline that poses instances on the GPU, where it can pose them.
    pub(crate) fn prepare_animate(
        &mut self,
        device: &Device,
        format: PaletteFormat,
        character: &Character,
    ) -> Result<()> {
        let variant = AnimateVariant::of(character, format);
        let fits = variant.joints <= MAX_JOINTS;
        let Some(animate) = self.animate.as_mut().filter(|_| fits) else {
            return Ok(());
        };
        let before = animate.pipelines().count();
        // SAFETY: the pipelines are those of a crowd on this device.
        unsafe { animate.prepare_variant(device, variant) }?;
        self.created += (animate.pipelines().count() - before) as u32;
        Ok(())
    }

    /// Creates the stage attach if the GPU may place attached instances.
    pub(crate) fn prepare_attach(&mut self, device: &Device, attachments: u32) -> Result<()> {
        let Some(cull) = &self.cull else {
            return Ok(());
        };
        if self.animate.is_some() && attachments > 0 && self.attach.is_none() {
            // SAFETY: the layout is that of the cull pass on this device.
            self.attach = Some(unsafe { AttachPass::new(device, cull.set_layout()) }?);
        }
        Ok(())
    }

    /// Creates what tests instances against depth, if the GPU culls and there may be any.
    pub(crate) fn prepare_pyramid(&mut self, device: &Device, capacity: &Capacity) -> Result<()> {
        let Some(cull) = self.cull.as_mut().filter(|_| capacity.tests_depth()) else {
            return Ok(());
        };
        cull.prepare_behind(device)?;
        if capacity.late_views > 0 {
            cull.prepare_late(device)?;
        }
        if self.pyramid.is_none() {
            self.pyramid = Some(PyramidPass::new(device)?.keep());
        }
        Ok(())
    }

    fn prepare_as_it_is(&mut self, device: &Device, character: &LoadedCharacter) -> Result<()> {
        let variants = order::sorted_set(character.variants().collect());
        self.created += prepare(
            device,
            self.passes.iter_mut().map(|(_, pass)| pass),
            &variants,
        )?;
        if character.reads.skinned {
            let variants = character.mesh.chunks().iter().map(|chunks| chunks.variant);
            self.created += self.skin.pass.prepare(device, variants)?;
        }
        Ok(())
    }
}

impl Crowd {
    /// Creates a pass: the pipelines that draw the crowd's characters into the engine's
    /// attachments.
    ///
    /// Call this before the first frame, because it compiles shaders.
    ///
    /// # Pipelines
    /// A pass has one pipeline for each variant of primitive and material that the crowd's
    /// characters have: what data their vertices have, how they are skinned, and which textures,
    /// alpha and coordinates a material has. Each pass counts only what its shaders read: one that
    /// writes only depth has one pipeline for most characters, a colour pass as many as there are
    /// different materials. All of them are created in one call of `vkCreateGraphicsPipelines`,
    /// with the [pipeline cache](crate::gpu::Device::with_pipeline_cache) of the device. A
    /// character that is added later adds its missing variants to every pass, in one call, too.
    /// [`Self::warm_up`] creates them in advance, and [`Self::pipelines`] lists them.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the description is inconsistent.
    /// - [`Error::NotEnabled`] if it needs a feature that the engine has not enabled.
    /// - [`Error::Capacity`] for more eyes, sets or push constants than the device has.
    /// - [`Error::Unsupported`] and [`Error::Vulkan`] from the device.
    ///
    /// # Safety
    /// - The device supports the formats as attachments with that sample count, and blending for
    ///   the first colour format.
    /// - A render pass belongs to the crowd's device, has the subpass with these attachments, and
    ///   is alive until the pass is removed or the crowd destroyed: characters that are added later
    ///   add pipelines.
    /// - The set layouts of a [`MaterialDesc`](crate::MaterialDesc) belong to the crowd's device
    ///   and are alive during the call. Together with throng's set 0, they keep to the device's
    ///   limits of descriptors, and at most one of them is for push descriptors.
    /// - Its SPIR-V is valid, fits its set layouts and throng's set 0, and needs no feature that is
    ///   not enabled.
    pub unsafe fn create_pass(&mut self, desc: &PassDesc<'_>) -> Result<PassId> {
        let pipelines = &self.pipelines;
        let (set_0, images) = (
            pipelines.set_layout.handle(),
            [&pipelines.shadow, &pipelines.environment].map(ImageInput::layout),
        );
        // SAFETY: the layouts are the crowd's. The rest is this function's contract.
        let mut pass = unsafe { DrawPass::new(&self.device, set_0, images, desc) }?;
        let characters = self.scene.characters.iter();
        let used = characters.flat_map(|(_, it)| it.variants());
        let used = used.chain(self.pipelines.warm.iter().copied());
        let variants = order::sorted_set(used.collect());
        let passes = core::iter::once(&mut *pass);
        self.pipelines.created += prepare(&self.device, passes, &variants)?;
        Ok(PassId(self.pipelines.passes.push(pass.keep())))
    }

    /// Creates the pipelines of characters that are added later, in all passes.
    ///
    /// After this, [`Self::add_character`] compiles nothing for such a character, and neither does
    /// [`Self::replace_character`]. It does not matter whether the passes were created before or
    /// are created afterwards.
    ///
    /// ```no_run
    /// # fn warm(crowd: &mut throng::Crowd, knight: &throng::character::Character)
    /// #     -> throng::Result<()> {
    /// use throng::{CharacterDesc, SkinningStage};
    ///
    /// crowd.warm_up(knight, &CharacterDesc::default(), SkinningStage::Vertex)
    /// # }
    /// ```
    ///
    /// - `character` is the one that is added later, or one whose primitives and materials are
    ///   alike.
    /// - `desc` has the options with which it will be added.
    /// - `skin` is the stage that will deform its vertices. If that differs by instance, call this
    ///   for [`SkinningStage::Vertex`] and for another one.
    ///
    /// # Errors
    /// - [`Error::Unrepresentable`] if the method's palette format cannot represent the character's
    ///   poses.
    /// - [`Error::Vulkan`] from the device.
    ///
    /// The pipelines are then as before.
    pub fn warm_up(
        &mut self,
        character: &Character,
        desc: &CharacterDesc,
        skin: SkinningStage,
    ) -> Result<()> {
        let deforms = skin != SkinningStage::Vertex;
        let format = PaletteFormat::of(character, desc.method)?;
        let draws = draws_without_indices(character, format);
        let is_blended = draws.iter().any(|draw| draw.alpha == AlphaMode::Blend);
        let reads = Reads {
            skinned: deforms,
            starts: self.reads_starts(is_blended),
        };
        let wanted = draws.iter().map(|draw| Variant::of(draw, reads));
        let pipelines = &mut self.pipelines;
        let variants = pipelines.warm.iter().copied().chain(wanted).collect();
        let variants = order::sorted_set(variants);
        let passes = pipelines.passes.iter_mut().map(|(_, pass)| pass);
        pipelines.created += prepare(&self.device, passes, &variants)?;
        pipelines.warm = variants;
        if !is_blended {
            pipelines.prepare_animate(&self.device, format, character)?;
        }
        if deforms {
            let variants = draws.iter().map(|draw| {
                let primitives = character.primitives().get(draw.primitive as usize);
                primitives.map_or(0, |it| {
                    skin_variant(variant(character, it, it.material, format))
                })
            });
            pipelines.created += pipelines.skin.pass.prepare(&self.device, variants)?;
        }
        Ok(())
    }

    /// Creates the pipelines that read deformed vertices, for characters whose instances have some
    /// since the last frame.
    pub(crate) fn prepare_skinning(&mut self) -> Result<()> {
        for (_, character) in self.scene.characters.iter_mut() {
            let variants = character.needs_variants() && !character.wears_variants;
            if variants || character.deforms && !character.reads.skinned {
                self.pipelines.prepare(&self.device, character)?;
            }
        }
        Ok(())
    }

    /// All pipelines that the crowd has: those of its passes, and its compute pipelines.
    pub fn pipelines(&self) -> impl Iterator<Item = PipelineInfo> + '_ {
        let compute = |stage, (variant, handle)| PipelineInfo {
            stage,
            pass: None,
            variant,
            surface: 0,
            handle,
        };
        let pipelines = &self.pipelines;
        let (scatter, shift) = (pipelines.scatter.pipeline(), pipelines.shift.pipeline());
        let each = [("scatter", scatter), ("shift", shift)];
        let each = each.map(|(stage, it)| compute(stage, (GpuInstance::NONE, it)));
        let skin = pipelines.skin.pass.pipelines();
        let drawing = pipelines.passes.iter().flat_map(|(number, pass)| {
            pass.pipelines().map(move |(variant, handle)| PipelineInfo {
                stage: pass.target.kind.scope(),
                pass: Some(PassId(number)),
                variant: variant.vertex,
                surface: variant.surface,
                handle,
            })
        });
        let cull = pipelines.cull.iter().flat_map(CullPass::pipelines);
        let cull = cull.map(move |(stage, handle)| compute(stage, (GpuInstance::NONE, handle)));
        let animate = pipelines
            .animate
            .iter()
            .flat_map(AnimatePipeline::pipelines);
        let animate = animate.map(move |it| compute("animate", (GpuInstance::NONE, it)));
        let attach = pipelines.attach.iter().map(AttachPass::pipeline);
        let attach = attach.map(move |it| compute("attach", (GpuInstance::NONE, it)));
        let pyramid = pipelines.pyramid.iter().flat_map(PyramidPass::pipelines);
        let pyramid = pyramid.map(move |(stage, it)| compute(stage, (GpuInstance::NONE, it)));
        let rays = self.rays.iter().flat_map(|rays| rays.pass.pipelines());
        let rays = rays.map(move |(stage, it)| compute(stage, (GpuInstance::NONE, it)));
        each.into_iter()
            .chain(rays)
            .chain(pyramid)
            .chain(attach)
            .chain(cull)
            .chain(animate)
            .chain(skin.map(move |it| compute("skin", it)))
            .chain(drawing)
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

    pub(crate) fn pass(&self, pass: PassId) -> Result<&DrawPass> {
        let passes = &self.pipelines.passes;
        let missing = Error::not_found("pass", pass.0 as usize, passes.len());
        passes.get(pass.0).ok_or(missing)
    }

    /// Retires a pass.
    ///
    /// Its pipelines are destroyed when no frame in flight uses them any more.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the pass was removed before.
    pub fn remove_pass(&mut self, pass: PassId) -> Result<()> {
        let passes = &mut self.pipelines.passes;
        let missing = Error::not_found("pass", pass.0 as usize, passes.len());
        let pass = passes.take(pass.0).ok_or(missing)?;
        let retired = Retired::Pass(Box::new(pass));
        self.memory.retire_queue.retire(retired);
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
        expect("ShadowMap::edge", map.edge > 0, "must be at least 1")?;
        let own = shadow_map::sampler(&self.device, map)?;
        let image = vk::DescriptorImageInfo::default()
            .image_view(map.view)
            .image_layout(map.layout);
        let input = &mut self.pipelines.shadow;
        // SAFETY: the layout is the crowd's. The view is alive, by this function's contract.
        let bound = unsafe { input.bind(&self.device, Some(own), image) }?;
        input.extent = map.edge;
        if let Some(before) = input.bound.replace(bound) {
            self.memory.retire_queue.retire(Retired::Image(before));
        }
        Ok(())
    }

    /// Sets the environment map that passes with [`EnvironmentLight::Map`] sample.
    ///
    /// It applies from the next frame on. [`View::environment`](crate::View::environment) turns it
    /// and says how bright it is; views without one have the sky, also in reflections.
    ///
    /// # Errors
    /// [`Error::Argument`] for no levels, and [`Error::Vulkan`]. The previous map is then kept.
    ///
    /// # Safety
    /// - Image view and sampler are of the crowd's device, as [`EnvironmentMap`] describes them, of
    ///   an image with the usage `SAMPLED`. They live until the crowd is destroyed, or until
    ///   another map was set and no frame begun before that is in flight.
    /// - If a frame's draws sample it, it is in that layout, and what was written to it is visible
    ///   to fragment shaders.
    pub unsafe fn set_environment_map(&mut self, map: &EnvironmentMap) -> Result<()> {
        let what = "EnvironmentMap::levels";
        expect(what, map.levels > 0, "must be at least 1")?;
        let own = match map.sampler {
            Some(_) => None,
            None => Some(environment_map::sampler(&self.device)?),
        };
        let image = vk::DescriptorImageInfo::default()
            .sampler(map.sampler.unwrap_or_default())
            .image_view(map.view)
            .image_layout(map.layout);
        let input = &mut self.pipelines.environment;
        // SAFETY: the layout is the crowd's. View and sampler are alive, by this function's
        // contract.
        let bound = unsafe { input.bind(&self.device, own, image) }?;
        input.extent = map.levels;
        if let Some(before) = input.bound.replace(bound) {
            self.memory.retire_queue.retire(Retired::Image(before));
        }
        Ok(())
    }
}
