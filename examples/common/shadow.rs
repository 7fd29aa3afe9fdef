//! A shadow map: a depth image that is drawn from the sun before the picture.

#[path = "depth_image.rs"]
pub(crate) mod depth_image;

use std::error::Error;

use depth_image::{DepthImage, DepthImageDesc};
use throng::ash::{self, vk};
use throng::glam::camera::rh;
use throng::glam::{Mat4, Vec3};
use throng::{Lighting, PassDesc, PassKind, Shadow, ShadowMap, View};
use throng_standalone::Context;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// A depth image with one layer, and the sun's view of the crowd.
pub(crate) struct ShadowImage {
    image: DepthImage,
    clip_from_world: Mat4,
}

impl ShadowImage {
    /// Creates a map of `edge` × `edge` texels.
    ///
    /// It covers everything between the ground, within `rim`, and `height_m` above it, until
    /// [`Self::aim`].
    pub(crate) fn new(
        context: &mut Context,
        edge: u32,
        (rim, height_m): (&[Vec3], f32),
        lighting: &Lighting,
    ) -> Result<Self> {
        let above = rim.iter().map(|point| *point + Vec3::Y * height_m);
        let points = rim.iter().copied().chain(above);
        let desc = DepthImageDesc {
            name: "a shadow map",
            extent: vk::Extent2D {
                width: edge,
                height: edge,
            },
            view_type: vk::ImageViewType::TYPE_2D_ARRAY,
            farthest: 1.0,
            reader: vk::PipelineStageFlags2::FRAGMENT_SHADER,
        };
        Ok(Self {
            image: DepthImage::new(context, desc)?,
            clip_from_world: fit(points, 0.0, lighting.sun_direction),
        })
    }

    /// Covers these corners of a box instead, and the ground at least `depth_m` behind them along
    /// the light.
    ///
    /// While a box of one size moves, edges of shadows stand still: the map moves by whole texels.
    #[allow(dead_code, reason = "most examples show a place that stays")]
    pub(crate) fn aim(&mut self, corners: &[Vec3], depth_m: f32, sun_direction: Vec3) {
        let fitted = fit(corners.iter().copied(), depth_m, sun_direction);
        let texel = 2.0 / self.image.extent().width as f32;
        let origin = fitted.w_axis;
        let snapped = (origin / texel).round() * texel;
        let (x, y) = (snapped.x - origin.x, snapped.y - origin.y);
        self.clip_from_world = Mat4::from_translation(Vec3::new(x, y, 0.0)) * fitted;
    }

    /// The pass that draws into the map.
    pub(crate) fn pass_desc() -> PassDesc<'static> {
        PassDesc {
            kind: PassKind::Shadow,
            depth_format: depth_image::FORMAT,
            ..PassDesc::default()
        }
    }

    /// The map in the form that crowds sample it.
    pub(crate) fn map(&self) -> ShadowMap {
        ShadowMap {
            view: self.image.view,
            layout: depth_image::READ,
            edge: self.image.extent().width,
            reversed_z: false,
        }
    }

    /// The view of the sun.
    pub(crate) fn view(&self) -> View {
        View::shadow_of(self.clip_from_world, Vec3::ZERO, self.image.extent())
    }

    /// The mapping from the world to the shadow map, for a camera's view.
    pub(crate) fn shadow(&self) -> Shadow {
        Shadow::of(&[self.view()])
    }

    /// Clears the map and begins rendering.
    ///
    /// # Safety
    /// `cmd` is recording outside of rendering, and [`Self::end`] follows.
    pub(crate) unsafe fn begin(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: this function has the same contract.
        unsafe { self.image.begin(device, cmd) };
    }

    /// Ends rendering and makes the map visible to the picture's shaders.
    ///
    /// # Safety
    /// As [`Self::begin`], which must have been called before.
    pub(crate) unsafe fn end(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: this function has the same contract.
        unsafe { self.image.end(device, cmd) };
    }

    /// Destroys the map. The device must be idle.
    pub(crate) fn destroy(self, context: &mut Context) {
        self.image.destroy(context);
    }
}

/// The tightest box along the light around all points, and the ground at least `depth_m` behind.
fn fit(points: impl Iterator<Item = Vec3>, depth_m: f32, sun_direction: Vec3) -> Mat4 {
    let sun = sun_direction.normalize();
    // Any other direction does for light from straight above.
    let up = if sun.y.abs() > 0.99 { Vec3::Z } else { Vec3::Y };
    let light_from_world = rh::view::look_to_mat4(Vec3::ZERO, -sun, up);
    let points = points.map(|point| light_from_world.transform_point3(point));
    let boxed = points.map(|point| (point, point));
    let boxed = boxed.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (low, high) = boxed.unwrap_or((Vec3::NEG_ONE, Vec3::ONE));
    let margin = 0.02 * (high - low).max_element();
    let (low, high) = (low - margin, high + margin);
    // The box looks along -Z. Beyond the crowd it includes ground, as deep as the box is wide.
    let (near, far) = (-high.z, (high.y - low.y).max(depth_m) - low.z);
    // The offset is a separate translation, because glam 0.34 forgets to flip the offset of boxes
    // that are not centred.
    let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
    let centered = Mat4::from_translation(-middle.with_z(0.0));
    rh::proj::vulkan::orthographic(-half.x, half.x, -half.y, half.y, near, far)
        * centered
        * light_from_world
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that stands on the ground, and its shadow, is in the map.
    #[test]
    fn everything_is_covered() {
        let rim: Vec<_> = [(-9.0, 2.0), (7.0, 11.0), (3.0, -8.0)]
            .map(|(x, z)| Vec3::new(x, 0.0, z))
            .into();
        let sun = Vec3::new(0.5, 0.7, -0.4);
        let above = rim.iter().map(|at| *at + Vec3::Y * 2.0);
        let clip_from_world = fit(rim.iter().copied().chain(above), 0.0, sun);
        for at in rim {
            let top = at + Vec3::Y * 2.0;
            let shadow = top - sun * (2.0 / sun.y);
            for point in [at, top, shadow] {
                let clip = clip_from_world * point.extend(1.0);
                assert!(
                    clip.w == 1.0 && clip.x.abs() < 1.0 && clip.y.abs() < 1.0,
                    "{clip}"
                );
                assert!((0.0..=1.0).contains(&clip.z), "{clip}");
            }
        }
    }
}
