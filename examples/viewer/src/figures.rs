//! The figures of a frame: times, and deformed vertices to read back.

use throng::ash::vk;
use throng::character::{Character, LevelInfo};
use throng::{Crowd, Frame, InstanceId, Stats};

/// The place of an instance's deformed vertices, for reading them back.
#[derive(Clone, Debug)]
pub(crate) struct Deformed {
    pub(crate) buffer: vk::Buffer,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// For each primitive, the offset of its positions in bytes, and the number of vertices.
    pub(crate) positions: Vec<(u64, u32)>,
}

/// CPU milliseconds of a frame by stage, and GPU milliseconds by scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub(crate) cpu: Vec<(&'static str, f64)>,
    pub(crate) gpu: Vec<(&'static str, f64)>,
}

/// The times of a frame, in which the GPU's are those of an earlier one.
pub(crate) fn times(stats: &Stats, crowd: &Crowd) -> Times {
    // Scopes of one name are shown as one.
    let mut gpu: Vec<(&str, f64)> = Vec::new();
    for (scope, ms) in crowd.gpu_times() {
        match gpu.iter_mut().find(|(name, _)| name == scope) {
            Some((_, sum)) => *sum += ms,
            None => gpu.push((scope, *ms)),
        }
    }
    let rest_ms = (stats.prepare_ms - stats.animate_ms - stats.skin_ms).max(0.0);
    Times {
        cpu: vec![
            ("update", stats.update_ms),
            ("animate", stats.animate_ms),
            ("skin", stats.skin_ms),
            ("prepare", rest_ms),
        ],
        gpu,
    }
}

/// The figures of a level of detail. Level 0 is the full one.
pub(crate) fn level_figures(character: &Character, level: u32) -> LevelInfo {
    let coarser = (level as usize).min(character.levels().len());
    let coarser = coarser.checked_sub(1);
    let level = coarser.and_then(|coarser| character.levels().nth(coarser));
    level.unwrap_or(LevelInfo {
        triangles: character.triangle_count(),
        vertices: character.vertex_count(),
        error_m: 0.0,
        cover: 1.0,
    })
}

/// The deformed vertices of an instance, unless the vertex shader deforms them.
pub(crate) fn deformed(frame: &Frame<'_>, id: InstanceId) -> Option<Deformed> {
    let skinned = frame.skinned(id).ok()?;
    let positions = skinned
        .primitives()
        .map(|part| (part.positions, part.vertex_count));
    Some(Deformed {
        buffer: skinned.buffer,
        offset: skinned.offset,
        size: skinned.size,
        positions: positions.collect(),
    })
}
