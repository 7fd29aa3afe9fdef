//! Houses that are drawn before the people, who may be hidden behind them.

use std::io::Cursor;

use throng::ash::{self, vk};
use throng::glam::Vec3;
use throng::{
    Crowd, Depth, Frame, MaterialDesc, PassDesc, PassId, PassKind, Receivers, View, ViewId,
};
use throng_standalone::Context;

use super::shadow::ShadowImage;
use super::shadow::depth_image::{self, DepthImage, DepthImageDesc};
use super::{Result, scenery};

/// The shader of `--hidden-view`.
static HIDDEN: &[u8] = include_bytes!("../../shaders/spv/example/hidden.frag.spv");

/// The depth of the houses, and the passes of those who are around them.
pub(crate) struct Walls {
    depth: Option<DepthImage>,
    depth_pass: PassId,
    /// The pass that draws shadows of the houses, if there are shadows.
    pub(crate) shadow_pass: Option<PassId>,
    /// The pass of the people who are hidden.
    pub(crate) hidden_pass: PassId,
    /// True if the houses are seen through.
    pub(crate) shows_hidden: bool,
}

impl Walls {
    /// Creates the passes: those of the houses, and one of the people with the attachments of
    /// `pass`.
    pub(crate) fn new(
        (crowd, scenery): (&mut Crowd, &mut Crowd),
        pass: &PassDesc<'_>,
        shows_hidden: bool,
    ) -> Result<Self> {
        let spirv = ash::util::read_spv(&mut Cursor::new(HIDDEN))?;
        let red = MaterialDesc {
            fragment_spirv: &spirv,
            set_layouts: &[],
            push_bytes: 0,
        };
        let hidden = PassDesc {
            shadow_map: false,
            material: Some(red),
            ..pass.clone()
        };
        let depth = PassDesc {
            kind: PassKind::Depth,
            depth_format: depth_image::FORMAT,
            reversed_z: true,
            ..PassDesc::default()
        };
        // SAFETY: images of these formats are created on the same device, and the shader fits
        // set 0.
        unsafe {
            let shadow_pass = match pass.shadow_map {
                true => Some(scenery.create_pass(&ShadowImage::pass_desc())?),
                false => None,
            };
            Ok(Self {
                depth: None,
                depth_pass: scenery.create_pass(&depth)?,
                shadow_pass,
                hidden_pass: crowd.create_pass(&hidden)?,
                shows_hidden,
            })
        }
    }

    /// Makes the depth image as large as a picture.
    pub(crate) fn resize(&mut self, context: &mut Context, extent: vk::Extent2D) -> Result<()> {
        if self.depth.as_ref().map(DepthImage::extent) == Some(extent) {
            return Ok(());
        }
        if let Some(depth) = self.depth.take() {
            context.wait_idle()?;
            depth.destroy(context);
        }
        let desc = DepthImageDesc {
            name: "the depth of walls",
            extent,
            view_type: vk::ImageViewType::TYPE_2D,
            farthest: 0.0,
            reader: vk::PipelineStageFlags2::COMPUTE_SHADER,
        };
        self.depth = Some(DepthImage::new(context, desc)?);
        Ok(())
    }

    /// Draws the depth of the houses in a view.
    ///
    /// # Safety
    /// `cmd` is recording outside of rendering, and the frame was prepared in it.
    pub(crate) unsafe fn record_depth(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        (around, view): (&Frame<'_>, ViewId),
    ) -> Result<()> {
        if let Some(depth) = &self.depth {
            // SAFETY: this function has the same contract.
            unsafe {
                depth.begin(device, cmd);
                around.record_draw(cmd, view, self.depth_pass)?;
                depth.end(device, cmd);
            }
        }
        Ok(())
    }

    /// The depth of the houses, in the camera's view of the crowd.
    pub(crate) fn depth(&self) -> Option<Depth> {
        let depth = self.depth.as_ref()?;
        Some(Depth {
            layout: depth_image::READ,
            reversed_z: true,
            ..Depth::new(depth.view, depth.extent())
        })
    }

    /// The sun's view of the crowd, without casters whose shadows the camera does not see.
    pub(crate) fn sun(&self, sun: View) -> View {
        let receivers = Receivers {
            floor: Some(Vec3::Y.extend(-scenery::GROUND_M)),
            ..Receivers::of(0)
        };
        View {
            receivers: Some(receivers),
            ..sun
        }
    }

    /// Destroys the depth image. The device must be idle.
    pub(crate) fn destroy(self, context: &mut Context) {
        if let Some(depth) = self.depth {
            depth.destroy(context);
        }
    }
}

/// The views of ground, sky and houses: that of the picture, and with walls that of their depth and
/// that of the sun, if there are shadows.
pub(crate) fn around_views(walls: Option<&Walls>, view: &View, sun: Option<View>) -> Vec<View> {
    let houses = match walls {
        Some(walls) if walls.shows_hidden => scenery::CLEAR_MASK,
        _ => scenery::HOUSES_MASK,
    };
    let picture = View {
        mask: scenery::GROUND_MASK | houses,
        ..*view
    };
    let of_houses = |view: View| View {
        mask: scenery::HOUSES_MASK,
        ..view
    };
    let with_walls = walls.into_iter().flat_map(|_| [Some(*view), sun]);
    let with_walls = with_walls.flatten().map(of_houses);
    [picture].into_iter().chain(with_walls).collect()
}
