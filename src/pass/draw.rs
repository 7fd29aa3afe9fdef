//! The draw stage: a pass and its pipelines.

use super::desc::{EnvironmentLight, MaterialDesc, PassDesc, PassKind, bias, check};
use super::pipelines::{Fragment, Modules, PipelineRequest, Target, Variant, graphics_pipelines};
use crate::error::Result;
use crate::gpu::pipeline::pipeline_layout;
use crate::gpu::{Blending, Device, Guard, Object, destroy_fields};
use crate::order;
use crate::pass::push::DrawPush;
use ash::vk;

/// The stages of the draw stage's [`DrawPush`].
pub(crate) const PUSH_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);
const PUSH_BYTES: u32 = size_of::<DrawPush>() as u32;

/// A pass: one pipeline for each variant that characters of the crowd use.
#[derive(Debug)]
pub(crate) struct DrawPass {
    pub(crate) target: Target,
    pub(crate) layout: Object<vk::PipelineLayout>,
    /// True if set 1 is the crowd's shadow map.
    pub(crate) shadow_map: bool,
    /// True if the fragment shader is the engine's.
    own_shader: bool,
    modules: Modules,
    /// Sorted by variant.
    pipelines: Vec<(Variant, Object<vk::Pipeline>)>,
}

destroy_fields!(DrawPass, &'a Device: pipelines, modules, layout);

impl DrawPass {
    /// Creates a pass without pipelines. `set_0` is throng's layout, `shadow` that of the shadow
    /// map's set, and `map` that of the environment map's.
    ///
    /// # Safety
    /// As for [`Crowd::create_pass`](crate::Crowd::create_pass). The layouts belong to `device`,
    /// too, and are alive.
    pub(crate) unsafe fn new<'g>(
        device: &'g Device,
        set_0: vk::DescriptorSetLayout,
        [shadow, map]: [vk::DescriptorSetLayout; 2],
        desc: &PassDesc<'_>,
    ) -> Result<Guard<'g, Self>> {
        check(device, desc)?;
        let shadow_map = desc.shadow_map && desc.material.is_none();
        let colors = desc.kind == PassKind::Color;
        let environment = if colors {
            desc.environment
        } else {
            EnvironmentLight::Sky
        };
        let environment_map = environment == EnvironmentLight::Map;
        let mut sets = vec![set_0];
        let mut fragment_push = PUSH_BYTES;
        if let Some(material) = &desc.material {
            sets.extend(material.set_layouts);
            if material.push_bytes > 0 {
                fragment_push = MaterialDesc::PUSH_OFFSET + material.push_bytes;
            }
        } else {
            sets.extend(shadow_map.then_some(shadow));
            sets.extend(environment_map.then_some(map));
        }
        let push = (vk::ShaderStageFlags::VERTEX, PUSH_BYTES);
        let fragment_push = Some(fragment_push);
        // SAFETY: the set layouts are alive, by this function's contract. `check` compared their
        // number and the push constants with the limits.
        let layout = unsafe { pipeline_layout(device, "throng pass", &sets, push, fragment_push) }?;
        let fragment = match (desc.kind, &desc.material) {
            (PassKind::Color, Some(material)) => Fragment::Own(material.fragment_spirv),
            (PassKind::Color, None) => Fragment::BuiltIn {
                shadow_map,
                environment_map,
            },
            _ => Fragment::None,
        };
        // SAFETY: the SPIR-V of the material is valid, by this function's contract.
        let modules = unsafe { Modules::new(device, (desc.kind, desc.view_mask), fragment) }?;
        let pass = Self {
            target: Target {
                kind: desc.kind,
                render_pass: desc.render_pass,
                subpass: desc.subpass,
                color_formats: desc.color_formats.clone(),
                depth_format: desc.depth_format,
                stencil_format: desc.stencil_format,
                samples: desc.samples,
                view_mask: desc.view_mask,
                reversed_z: desc.reversed_z,
                after_prepass: desc.after_prepass,
                depth_bias: bias(desc),
                depth_clamp: desc.depth_clamp,
                motion_scale: desc.motion_scale,
                environment,
            },
            layout: layout.keep(),
            shadow_map,
            own_shader: desc.material.is_some(),
            modules: modules.keep(),
            pipelines: Vec::new(),
        };
        Ok(Guard::new(device, pass))
    }

    /// The pipelines that these variants lack, each once.
    fn lacking(&self, variants: &[Variant]) -> Vec<Variant> {
        let drawn = variants.iter().filter(|variant| {
            self.target.kind == PassKind::Color || variant.blending != Blending::Blend
        });
        let keys = drawn.map(|variant| self.key(*variant));
        let keys = keys.filter(|key| self.find(*key).is_err());
        order::sorted_set(keys.collect())
    }

    /// The key of the pipeline that draws a variant.
    fn key(&self, variant: Variant) -> Variant {
        variant.in_pass(self.target.kind, self.own_shader)
    }

    pub(crate) fn pipeline(&self, variant: Variant) -> Option<vk::Pipeline> {
        let index = self.find(self.key(variant)).ok()?;
        Some(self.pipelines[index].1.handle)
    }

    /// All pipelines, with what they draw.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = (Variant, vk::Pipeline)> + '_ {
        let all = self.pipelines.iter();
        all.map(|(variant, pipeline)| (*variant, pipeline.handle))
    }

    /// The index of a key's pipeline, or the one at which it belongs.
    fn find(&self, key: Variant) -> core::result::Result<usize, usize> {
        self.pipelines
            .binary_search_by_key(&key, |(variant, _)| *variant)
    }
}

/// Creates the pipelines of these variants in all passes, in one call.
///
/// Existing pipelines and variants that a pass does not draw are skipped. If this fails, no
/// pipeline is added. Returns how many were created.
pub(crate) fn prepare<'a>(
    device: &Device,
    passes: impl Iterator<Item = &'a mut DrawPass>,
    variants: &[Variant],
) -> Result<u32> {
    let mut passes: Vec<_> = passes.collect();
    let lacking: Vec<_> = passes.iter().map(|pass| pass.lacking(variants)).collect();
    let requests = passes.iter().zip(&lacking).flat_map(|(pass, lacking)| {
        lacking.iter().map(|variant| PipelineRequest {
            modules: &pass.modules,
            layout: pass.layout.handle,
            target: &pass.target,
            variant: *variant,
        })
    });
    let requests: Vec<_> = requests.collect();
    let count = requests.len() as u32;
    let mut made = graphics_pipelines(device, &requests)?.into_iter();
    for (pass, lacking) in passes.iter_mut().zip(lacking) {
        for key in lacking {
            if let (Err(index), Some(made)) = (pass.find(key), made.next()) {
                pass.pipelines.insert(index, (key, made));
            }
        }
    }
    Ok(count)
}
