//! The test of shadow casters by what receives their shadows: the part of a light's record that the
//! stage cull reads (`shaders/include/receivers.glsl`).

use crate::crowd::receivers::Receivers;
use crate::crowd::view::View;
use crate::gpu::layout::GpuOcclusion;
use glam::Vec4;

/// A margin for texels that grow with the distance from the light.
const GROWS: f32 = 1.25;

impl GpuOcclusion {
    /// The same record for an eye of a light, which also tests what receives its shadows.
    pub(crate) fn with_receivers(self, light: &View, receivers: &Receivers) -> Self {
        let clip = &light.eye.clip_from_world;
        let [x, y, w] = [0, 1, 3].map(|row| clip.row(row));
        let extent = light.viewport.extent;
        // Texels a metre, where w is 1.
        let texels = f32::min(
            extent.width as f32 * x.truncate().length(),
            extent.height as f32 * y.truncate().length(),
        ) * 0.5;
        let grows = if light.is_orthographic() { 1.0 } else { GROWS };
        let plane = receivers.floor.unwrap_or_else(|| far_plane(light));
        let length = plane.truncate().length();
        Self {
            light: light.eye_point().to_array(),
            plane: (plane / length.max(f32::MIN_POSITIVE)).to_array(),
            missed: (w * (receivers.filter_texels * grows / texels)).to_array(),
            receivers: receivers.view,
            ..self
        }
    }
}

/// The far plane of a light, with everything nearer on its positive side. Its normal is zero if it
/// is infinitely far.
fn far_plane(light: &View) -> Vec4 {
    let clip = &light.eye.clip_from_world;
    let [z, w] = [2, 3].map(|row| clip.row(row));
    let eye = light.eye_point();
    // The near plane has the light on its other side.
    let is_far = |plane: &Vec4| {
        let has_normal = plane.truncate().length() > 0.0;
        has_normal && plane.truncate().dot(eye.truncate()) + plane.w * eye.w > 0.0
    };
    [z, w - z].into_iter().find(is_far).unwrap_or(Vec4::ZERO)
}
