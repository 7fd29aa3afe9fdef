//! Views in wgpu's clip space.

use throng::View;
use throng::ash::vk::Extent2D;
use throng::glam::{Mat4, Vec3};

/// A view of the whole attachments, of which `size` is the size in pixels.
///
/// `clip_from_world` is a matrix for wgpu: in its clip space, y points up, and depth is in 0..1.
/// Change the other fields of the result as you like, but not [`View::flip_y`].
#[must_use]
pub fn view(clip_from_world: Mat4, eye: Vec3, size: wgpu::Extent3d) -> View {
    View {
        flip_y: true,
        ..View::new(clip_from_world, eye, extent(size))
    }
}

/// The view of a light, for a layer of a shadow map of this size: [`View::shadow_of`] for wgpu.
///
/// As [`view`], but with coarser detail, and the position of the light instead of that of an eye.
#[must_use]
pub fn shadow_of(clip_from_world: Mat4, light: Vec3, size: wgpu::Extent3d) -> View {
    View {
        flip_y: true,
        ..View::shadow_of(clip_from_world, light, extent(size))
    }
}

fn extent(size: wgpu::Extent3d) -> Extent2D {
    Extent2D {
        width: size.width,
        height: size.height,
    }
}
