//! The places of instances, and the memory that they take.

use throng::Capacity;
use throng::glam::{Vec2, Vec3, vec3};
use throng::mesh::Aabb;
use throng_standalone::Context;

use super::Result;
use super::scene::FRAMES_IN_FLIGHT;

/// The part of the largest memory heap that instances may take.
const MEMORY_SHARE: u64 = 2;

/// The places of the instances: the first in the middle, the others around it.
pub(crate) fn places(bounds: Aabb, count: u32) -> Vec<Vec2> {
    let size = bounds.size();
    let spacing = 1.15 * size.x.max(size.z).max(0.35 * size.y);
    let edge = (f64::from(count)).sqrt().ceil() as i32;
    let low = -(edge / 2);
    let cell = |index: i32| vec2(low + index % edge, low + index / edge);
    let cells = (0..edge * edge).map(cell);
    let mut places: Vec<Vec2> = cells.map(|cell| cell * spacing).collect();
    places.sort_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
    places.truncate(count as usize);
    places
}

fn vec2(x: i32, y: i32) -> Vec2 {
    Vec2::new(x as f32, y as f32)
}

/// The box around a character at all these places.
pub(crate) fn around(bounds: Aabb, places: &[Vec2]) -> Aabb {
    let all = places.iter().map(|at| moved(bounds, vec3(at.x, 0.0, at.y)));
    all.reduce(Aabb::union).unwrap_or(bounds)
}

/// The corners of a box.
pub(crate) fn corners(bounds: Aabb) -> [Vec3; 8] {
    std::array::from_fn(|corner| {
        let high = |bit: usize| (corner >> bit & 1) as f32;
        bounds.min + bounds.size() * vec3(high(0), high(1), high(2))
    })
}

/// A box that is moved.
pub(crate) fn moved(bounds: Aabb, by: Vec3) -> Aabb {
    Aabb {
        min: bounds.min + by,
        max: bounds.max + by,
    }
}

/// Fails if instances of this capacity need more than half of the device's largest heap.
///
/// # Errors
/// With both sizes.
pub(crate) fn check_memory(context: &Context, capacity: &Capacity) -> Result<()> {
    let frames = u64::from(FRAMES_IN_FLIGHT);
    let palettes = u64::from(capacity.palette_entries) * 48 * (frames + 1);
    let skinned = u64::from(capacity.skinned_words) * 4;
    let by_cpu = u64::from(capacity.cpu_skinned_words) * 4 * frames;
    let needed = palettes + skinned + by_cpu;
    // SAFETY: the physical device belongs to this instance.
    let memory = unsafe {
        context
            .instance
            .get_physical_device_memory_properties(context.physical_device)
    };
    let heaps = memory.memory_heaps_as_slice().iter();
    let largest = heaps.map(|heap| heap.size).max().unwrap_or(0);
    if needed > largest / MEMORY_SHARE {
        let (needed, most) = (needed >> 20, (largest / MEMORY_SHARE) >> 20);
        let instances = capacity.instances;
        let text = format!(
            "{instances} instances in this stage take {needed} MiB, and at most {most} MiB are used"
        );
        return Err(text.into());
    }
    Ok(())
}
