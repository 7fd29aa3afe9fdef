//! Facts about a model that both the tables and the JSON have.

use throng::character::{Character, LevelInfo};
use throng::mesh::{ExpressionOverride, Primitive};
use throng::spring::SpringCollider;

/// The states that follow a speed over the ground: layer, state and parameter.
pub(super) fn ground_speeds(model: &Character) -> impl Iterator<Item = (&str, &str, &str)> {
    let machine = model.animation_desc().state_machine.iter();
    machine
        .flat_map(|machine| &machine.layers)
        .flat_map(|layer| {
            layer.states.iter().filter_map(|state| {
                let parameter = state.ground_speed.as_deref()?;
                Some((&*layer.name, &*state.name, parameter))
            })
        })
}

/// The number of vertices that each morph weight moves.
pub(super) fn moved_vertices(model: &Character, weight: usize) -> usize {
    let moved = |part: &Primitive| {
        let number = weight.checked_sub(part.first_weight.index());
        let target = number.and_then(|number| part.targets.get(number));
        target.map_or(0, |target| target.vertices.len())
    };
    model.primitives().iter().map(moved).sum()
}

/// The distance in metres from which a level's error is at most one pixel, in a view of 60 degrees
/// and 1080 pixels in height.
pub(super) fn level_distance_m(level: &LevelInfo) -> f32 {
    let half_view = 30_f32.to_radians().tan();
    level.error_m * 1080.0 / (2.0 * half_view)
}

/// The names of the vertex streams of a primitive besides positions and influences.
pub(super) fn streams(part: &Primitive) -> Vec<&'static str> {
    let all = [
        ("normals", part.normals.is_empty()),
        ("tangents", part.tangents.is_empty()),
        ("uvs", part.uvs.is_empty()),
        ("uvs1", part.uvs1.is_empty()),
        ("colours", part.colors.is_empty()),
    ];
    let there = all.iter().filter(|(_, is_empty)| !is_empty);
    there.map(|(name, _)| *name).collect()
}

/// The effect of an expression on others, if it has one.
pub(super) fn override_name(how: ExpressionOverride) -> Option<&'static str> {
    match how {
        ExpressionOverride::None => None,
        ExpressionOverride::Block => Some("block"),
        ExpressionOverride::Blend => Some("blend"),
    }
}

pub(super) fn shape_name(collider: &SpringCollider) -> &'static str {
    match collider.tail_m {
        None => "sphere",
        Some(_) => "capsule",
    }
}

pub(super) struct GpuMemory {
    pub(super) mesh: u64,
    pub(super) images: u64,
    pub(super) palette_per_instance: u64,
    pub(super) deformed_per_instance: u64,
}

pub(super) fn gpu_memory(model: &Character) -> Option<GpuMemory> {
    use throng::gpu::{Features, SkinnedMesh};
    use throng::palette::{PaletteFormat, SkinningMethod};
    use throng::skin::SkinnedLayout;
    let format = PaletteFormat::of(model, SkinningMethod::Linear).ok()?;
    let compression = Features::TEXTURE_COMPRESSION_BC
        | Features::TEXTURE_COMPRESSION_ETC2
        | Features::TEXTURE_COMPRESSION_ASTC;
    Some(GpuMemory {
        mesh: SkinnedMesh::buffer_bytes(model, SkinningMethod::Linear).ok()?,
        images: SkinnedMesh::image_bytes(model, compression),
        palette_per_instance: model.palette().len() as u64 * format.entry_bytes() as u64,
        deformed_per_instance: u64::from(SkinnedLayout::new(model).ok()?.words) * 4,
    })
}
