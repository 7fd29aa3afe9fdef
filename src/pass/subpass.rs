//! Passes in a subpass, as an engine describes its render pass to Vulkan.

use super::desc::PassDesc;
use crate::error::{Error, Result, expect};
use ash::vk;
use core::slice;

/// Reads a subpass of either structure, whose fields have the same names.
macro_rules! read {
    ($info:ident, $subpass:ident, $render_pass:ident, $view_mask:expr) => {{
        let attachments = list($info.p_attachments, $info.attachment_count);
        let attachments = attachments.iter().map(|one| (one.format, one.samples));
        let subpasses = list($info.p_subpasses, $info.subpass_count);
        let one = find("subpass", subpasses, $subpass)?;
        let colors = list(one.p_color_attachments, one.color_attachment_count);
        let depth = one.p_depth_stencil_attachment.as_ref();
        let colors = colors.iter().map(|reference| reference.attachment);
        let depth = depth.map(|reference| reference.attachment);
        let desc = read(attachments.collect(), colors, depth)?;
        Ok(PassDesc {
            render_pass: Some($render_pass),
            subpass: $subpass,
            view_mask: $view_mask(one),
            ..desc
        })
    }};
}

impl PassDesc<'_> {
    /// A colour pass in a subpass of a render pass that `vkCreateRenderPass` created.
    ///
    /// Kind and options can be changed.
    ///
    /// ```no_run
    /// use throng::ash::{self, vk};
    /// use throng::{Crowd, PassDesc, PassId};
    ///
    /// /// # Safety
    /// /// The handles belong together, and `info` is valid. The render pass outlives the crowd.
    /// unsafe fn passes(
    ///     device: &ash::Device,
    ///     info: &vk::RenderPassCreateInfo,
    ///     crowd: &mut Crowd,
    /// ) -> Result<(vk::RenderPass, PassId), Box<dyn std::error::Error>> {
    ///     unsafe {
    ///         let render_pass = device.create_render_pass(info, None)?;
    ///         let desc = PassDesc::of_subpass(info, 0, render_pass)?;
    ///         let pass = crowd.create_pass(&PassDesc { reversed_z: true, ..desc })?;
    ///         Ok((render_pass, pass))
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// - [`Error::NotFound`] if there is no such subpass, or no attachment that it refers to.
    /// - [`Error::Argument`] if its attachments differ in their samples.
    ///
    /// # Safety
    /// All pointers of `info` are valid, for as many elements as it says.
    pub unsafe fn of_subpass(
        info: &vk::RenderPassCreateInfo<'_>,
        subpass: u32,
        render_pass: vk::RenderPass,
    ) -> Result<Self> {
        // SAFETY: the pointers are valid, by this function's contract.
        unsafe { read!(info, subpass, render_pass, |_| view_mask(info, subpass)) }
    }

    /// A colour pass in a subpass of a render pass that `vkCreateRenderPass2` created.
    ///
    /// # Errors
    /// As [`Self::of_subpass`].
    ///
    /// # Safety
    /// All pointers of `info` are valid, for as many elements as it says.
    pub unsafe fn of_subpass_2(
        info: &vk::RenderPassCreateInfo2<'_>,
        subpass: u32,
        render_pass: vk::RenderPass,
    ) -> Result<Self> {
        let view_mask = |one: &vk::SubpassDescription2<'_>| one.view_mask;
        // SAFETY: the pointers are valid, by this function's contract.
        unsafe { read!(info, subpass, render_pass, view_mask) }
    }
}

/// The formats and samples of these attachments.
fn read(
    attachments: Vec<(vk::Format, vk::SampleCountFlags)>,
    colors: impl Iterator<Item = u32>,
    depth: Option<u32>,
) -> Result<PassDesc<'static>> {
    let mut samples = None;
    let mut format = |attachment| {
        if attachment == vk::ATTACHMENT_UNUSED {
            return Ok(vk::Format::UNDEFINED);
        }
        let (format, own) = *find("attachment", &attachments, attachment)?;
        let same = *samples.get_or_insert(own) == own;
        expect(
            "subpass",
            same,
            "has attachments that differ in their samples",
        )?;
        Ok(format)
    };
    let color_formats = colors.map(&mut format).collect::<Result<_>>()?;
    let depth = format(depth.unwrap_or(vk::ATTACHMENT_UNUSED))?;
    let [depth_format, stencil_format] = parts(depth);
    Ok(PassDesc {
        color_formats,
        depth_format,
        stencil_format,
        samples: samples.unwrap_or(vk::SampleCountFlags::TYPE_1),
        ..PassDesc::default()
    })
}

/// The formats of depth and stencil of an attachment for either or both.
fn parts(format: vk::Format) -> [vk::Format; 2] {
    use vk::Format as F;
    match format {
        F::D16_UNORM_S8_UINT | F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT => [format, format],
        F::S8_UINT => [F::UNDEFINED, format],
        _ => [format, F::UNDEFINED],
    }
}

/// The view mask of a subpass, in the structure that Vulkan 1.1 has for it.
///
/// # Safety
/// The chain of `info` is valid.
unsafe fn view_mask(info: &vk::RenderPassCreateInfo<'_>, subpass: u32) -> u32 {
    let mut next = info.p_next.cast::<vk::BaseInStructure<'_>>();
    // SAFETY: the chain is valid, by this function's contract, and a structure has the type that it
    // says.
    unsafe {
        while let Some(one) = next.as_ref() {
            if one.s_type == vk::StructureType::RENDER_PASS_MULTIVIEW_CREATE_INFO {
                let info = &*next.cast::<vk::RenderPassMultiviewCreateInfo<'_>>();
                let masks = list(info.p_view_masks, info.subpass_count);
                return masks.get(subpass as usize).copied().unwrap_or(0);
            }
            next = one.p_next;
        }
    }
    0
}

/// The elements that Vulkan describes by a pointer and a count.
///
/// # Safety
/// The pointer is valid for that many elements, or the count is 0.
unsafe fn list<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if count == 0 || first.is_null() {
        return &[];
    }
    // SAFETY: the pointer is valid for the elements, by this function's contract.
    unsafe { slice::from_raw_parts(first, count as usize) }
}

fn find<'a, T>(what: &'static str, all: &'a [T], index: u32) -> Result<&'a T> {
    let found = all.get(index as usize);
    found.ok_or_else(|| Error::not_found(what, index as usize, all.len()))
}
