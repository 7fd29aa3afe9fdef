//! Blend shapes: each shape of a channel becomes a morph target.

use super::convert::vec3;
use super::fault::check_cap;
use crate::error::{Object, ObjectKind, Result};
use crate::import::RawMorph;
use crate::import::fault::cut;
use crate::import::fault::object;
use crate::import::options::ImportOptions;
use crate::mesh::MorphTarget;
use glam::Vec3;

/// The channel with this number in ufbx's list, and its first morph weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChannelWeights {
    /// The element, as baked animation names it.
    pub(super) element_id: u32,
    /// The index of its first weight. There is one for each of its shapes.
    pub(super) first: usize,
}

/// The morph weights of a node that channels drive.
pub(super) struct DrivenWeights {
    /// The node.
    pub(super) node: usize,
    /// The number of weights.
    pub(super) count: usize,
    /// The channels.
    pub(super) channels: Vec<ChannelWeights>,
}

/// All channels of a mesh, over all of its deformers.
pub(super) fn channels(mesh: &ufbx::Mesh) -> impl Iterator<Item = &ufbx::BlendChannel> {
    let deformers = mesh.blend_deformers.iter();
    deformers.flat_map(|deformer| deformer.channels.iter().map(|channel| &**channel))
}

/// The weights of a mesh on a node at rest. `None` if it has no shapes.
pub(super) fn weights(mesh: &ufbx::Mesh, node: usize, owner: &str) -> Option<RawMorph> {
    let mut morph = RawMorph {
        node,
        owner: owner.into(),
        ..RawMorph::default()
    };
    for channel in channels(mesh) {
        let mut effective = vec![0.0; channel.keyframes.len()];
        effective_weights(channel, channel.weight, &mut effective);
        for (key, weight) in channel.keyframes.iter().zip(effective) {
            morph.weights.push(weight);
            let name = match channel.keyframes.len() {
                1 => cut(&channel.element.name),
                _ => {
                    let percent = key.target_weight * 100.0;
                    format!("{} {percent}%", cut(&channel.element.name)).into()
                }
            };
            morph.names.push(name);
        }
    }
    (!morph.weights.is_empty()).then_some(morph)
}

/// The first weight of each channel of a mesh.
pub(super) fn first_weights(mesh: &ufbx::Mesh) -> Vec<ChannelWeights> {
    let mut next = 0;
    let first = |channel: &ufbx::BlendChannel| {
        let first = next;
        next += channel.keyframes.len();
        ChannelWeights {
            element_id: channel.element.element_id,
            first,
        }
    };
    channels(mesh).map(first).collect()
}

/// The weights of a channel's shapes for a weight of the channel (1 is 100 %).
///
/// Between two shapes, one fades out and the next fades in. Beyond the last shape, they are
/// extrapolated. This is what `ufbxi_update_blend_channel` of ufbx computes.
pub(super) fn effective_weights(channel: &ufbx::BlendChannel, weight: f64, effective: &mut [f32]) {
    let target = |key: Option<usize>| key.map_or(0.0, |key| channel.keyframes[key].target_weight);
    effective.fill(0.0);
    let count = channel.keyframes.len();
    let negative = channel
        .keyframes
        .iter()
        .rposition(|key| key.target_weight < 0.0);
    let first_positive = negative.map_or(0, |last| last + 1);
    let (mut previous, mut next) = (None, None);
    if weight > 0.0 {
        previous = negative;
        for key in first_positive..count {
            previous = next;
            next = Some(key);
            if target(next) > weight {
                break;
            }
        }
    } else {
        previous = (first_positive < count)
            .then_some(first_positive)
            .or(previous);
        for key in (0..first_positive).rev() {
            previous = next;
            next = Some(key);
            if target(next) < weight {
                break;
            }
        }
    }
    let delta = target(next) - target(previous);
    if delta == 0.0 {
        return;
    }
    let t = (weight - target(previous)) / delta;
    if let Some(previous) = previous {
        effective[previous] = (1.0 - t) as f32;
    }
    if let Some(next) = next {
        effective[next] = t as f32;
    }
}

/// The numbers of morph data that were read, for the caps.
#[derive(Debug, Default)]
pub(super) struct Counts {
    weights: u64,
    targets: u64,
    elements: u64,
}

impl Counts {
    /// Counts the weights of one more node that carries `mesh`.
    pub(super) fn count_weights(
        &mut self,
        mesh: &ufbx::Mesh,
        options: &ImportOptions,
    ) -> Result<()> {
        let keys = channels(mesh).map(|channel| channel.keyframes.len() as u64);
        self.weights += keys.sum::<u64>();
        let at = || object(ObjectKind::Mesh, mesh.element.typed_id as usize, "");
        let cap = options.max_morph_targets as u64;
        check_cap(at, "morph weights", self.weights, cap)
    }

    /// The targets of a primitive whose vertices are these vertices of the mesh.
    pub(super) fn targets(
        &mut self,
        mesh: &ufbx::Mesh,
        vertices: &[u32],
        options: &ImportOptions,
    ) -> Result<Vec<MorphTarget>> {
        let copies = Copies::new(vertices);
        let at = || object(ObjectKind::Mesh, mesh.element.typed_id as usize, "");
        let mut targets = Vec::new();
        for key in channels(mesh).flat_map(|channel| &channel.keyframes) {
            self.targets += 1;
            let cap = options.max_morph_targets as u64;
            check_cap(at, "morph targets", self.targets, cap)?;
            targets.push(self.target(&key.shape, &copies, options, at)?);
        }
        Ok(targets)
    }

    fn target(
        &mut self,
        shape: &ufbx::BlendShape,
        copies: &Copies,
        options: &ImportOptions,
        at: impl Fn() -> Object,
    ) -> Result<MorphTarget> {
        let mut changes: Vec<(u32, Vec3, Vec3)> = Vec::new();
        for (index, vertex) in shape.offset_vertices.iter().enumerate() {
            let Some(offset) = shape.position_offsets.get(index) else {
                break;
            };
            let copies = copies.of(*vertex);
            // Those of vertices outside the primitive take time too.
            self.elements += copies.len().max(1) as u64;
            let cap = options.max_morph_elements;
            check_cap(&at, "morph target elements", self.elements, cap)?;
            let weight = shape.offset_weights.get(index).map_or(1.0, |w| *w as f32);
            let normal = shape
                .normal_offsets
                .get(index)
                .map_or(Vec3::ZERO, |n| vec3(*n));
            let (position, normal) = (vec3(*offset) * weight, normal * weight);
            changes.extend(copies.iter().map(|(_, copy)| (*copy, position, normal)));
        }
        changes.sort_by_key(|(vertex, ..)| *vertex);
        let has_normals = changes.iter().any(|(_, _, normal)| *normal != Vec3::ZERO);
        let mut target = MorphTarget::default();
        for (vertex, position, normal) in changes {
            // A shape that lists a vertex twice adds both offsets.
            if target.vertices.last() == Some(&vertex) {
                let last = target.positions.len() - 1;
                target.positions[last] += position;
                if has_normals {
                    target.normals[last] += normal;
                }
                continue;
            }
            target.vertices.push(vertex);
            target.positions.push(position);
            if has_normals {
                target.normals.push(normal);
            }
        }
        Ok(target)
    }
}

/// The vertices of the mesh, each with the vertex of a primitive that stands for it, sorted.
struct Copies(Vec<(u32, u32)>);

impl Copies {
    fn new(vertices: &[u32]) -> Self {
        let numbered = vertices.iter().zip(0..);
        let mut all: Vec<(u32, u32)> = numbered.map(|(vertex, copy)| (*vertex, copy)).collect();
        all.sort_unstable();
        Self(all)
    }

    fn of(&self, vertex: u32) -> &[(u32, u32)] {
        let start = self.0.partition_point(|(other, _)| *other < vertex);
        let end = self.0.partition_point(|(other, _)| *other <= vertex);
        &self.0[start..end]
    }
}
