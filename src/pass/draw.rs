//! The draw stage: a pass and its pipelines.

use super::desc::{MaterialDesc, PassDesc, PassKind, bias, check};
use super::pipelines::{Fragment, Modules, Target, Variant};
use crate::error::Result;
use crate::gpu::pipeline::pipeline_layout;
use crate::gpu::{Blending, Device, Object};
use ash::vk;
use std::collections::BTreeMap;

/// The stages of the draw stage's push constants: the primitive's index, and which instances the
/// draw is for.
pub(crate) const PUSH_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::VERTEX;
const PUSH_BYTES: u32 = 8;

/// A pass: one pipeline for each variant that characters of the crowd use.
#[derive(Debug)]
pub(crate) struct DrawPass {
    pub(crate) target: Target,
    pub(crate) layout: Object<vk::PipelineLayout>,
    /// True if set 1 is the crowd's shadow map.
    pub(crate) shadow_map: bool,
    modules: Modules,
    pipelines: BTreeMap<Variant, Object<vk::Pipeline>>,
}

impl DrawPass {
    /// Creates a pass without pipelines. `set_0` is throng's layout, `shadow` that of the shadow
    /// map's set.
    pub(crate) fn new(
        device: &Device,
        set_0: vk::DescriptorSetLayout,
        shadow: vk::DescriptorSetLayout,
        desc: &PassDesc<'_>,
    ) -> Result<Self> {
        check(device, desc)?;
        let shadow_map = desc.shadow_map && desc.material.is_none();
        let mut sets = vec![set_0];
        let mut own_push = None;
        if let Some(material) = &desc.material {
            sets.extend(material.set_layouts);
            own_push =
                Some((MaterialDesc::PUSH_OFFSET, material.push_bytes)).filter(|(_, n)| *n > 0);
        } else if shadow_map {
            sets.push(shadow);
        }
        let mut pass = Self {
            target: Target {
                kind: desc.kind,
                color_formats: desc.color_formats.to_vec(),
                depth_format: desc.depth_format,
                stencil_format: desc.stencil_format,
                samples: desc.samples,
                reversed_z: desc.reversed_z,
                after_prepass: desc.after_prepass,
                depth_bias: bias(desc),
            },
            layout: pipeline_layout(
                device,
                "throng pass",
                &sets,
                (PUSH_STAGES, PUSH_BYTES),
                own_push,
            )?,
            shadow_map,
            modules: Modules::default(),
            pipelines: BTreeMap::new(),
        };
        let fragment = match (desc.kind, &desc.material) {
            (PassKind::Color, Some(material)) => Fragment::Own(material.fragment_spirv),
            (PassKind::Color, None) => Fragment::BuiltIn { shadow_map },
            _ => Fragment::None,
        };
        if let Err(error) = pass.modules.build(device, desc.kind, fragment) {
            // SAFETY: no command buffer has used the pass, because it was created above.
            unsafe { pass.destroy(device) };
            return Err(error);
        }
        Ok(pass)
    }

    /// Creates the pipelines of these variants.
    ///
    /// Existing pipelines and variants that the pass does not draw are skipped. Pipelines created
    /// before an error are kept.
    pub(crate) fn prepare(
        &mut self,
        device: &Device,
        variants: impl Iterator<Item = Variant>,
    ) -> Result<()> {
        for variant in variants {
            let drawn = self.target.kind == PassKind::Color || variant.blending != Blending::Blend;
            if drawn && !self.pipelines.contains_key(&variant) {
                let layout = self.layout.handle;
                let made = self
                    .modules
                    .pipeline(device, layout, &self.target, variant)?;
                self.pipelines.insert(variant, made);
            }
        }
        Ok(())
    }

    pub(crate) fn pipeline(&self, variant: Variant) -> Option<vk::Pipeline> {
        self.pipelines.get(&variant).map(|made| made.handle)
    }

    /// Destroys the pipelines and their layout.
    ///
    /// # Safety
    /// Not in use by the GPU.
    pub(crate) unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the GPU does not use them, by this function's contract.
        unsafe {
            for pipeline in self.pipelines.values_mut() {
                pipeline.destroy(device);
            }
            self.modules.destroy(device);
            self.layout.destroy(device);
        }
        self.pipelines.clear();
    }
}
