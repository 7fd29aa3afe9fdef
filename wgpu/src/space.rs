//! Views in wgpu's clip space.

use throng::ash::vk;
use throng::glam::{Mat4, Vec3};
use throng::{Shadow, View};

/// A view of the whole attachments, of which `size` is the size in pixels.
///
/// `clip_from_world` is a matrix for wgpu: in its clip space, y points up, and depth is in 0..1.
/// Change the other fields of the result as you like, but not [`View::flip_y`].
#[must_use]
pub fn view(clip_from_world: Mat4, eye: Vec3, size: wgpu::Extent3d) -> View {
    let extent = vk::Extent2D {
        width: size.width,
        height: size.height,
    };
    View {
        flip_y: true,
        ..View::new(clip_from_world, eye, extent)
    }
}

/// The shadow layers of a view ([`View::shadow`]), from the matrices of the lights' [`view`]s.
///
/// Only the first [`Shadow::MAX_LAYERS`] count.
#[must_use]
pub fn shadow(clip_from_world: &[Mat4]) -> Shadow {
    let mut shadow = Shadow {
        flip_y: true,
        ..Shadow::default()
    };
    for (layer, matrix) in shadow.clip_from_world.iter_mut().zip(clip_from_world) {
        *layer = *matrix;
        shadow.layers += 1;
    }
    shadow
}
