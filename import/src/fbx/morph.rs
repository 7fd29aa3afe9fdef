//! Blend shapes: each shape of a channel becomes a morph target.

use super::convert::wide;
use super::geometric::Geometric;
use crate::budget::Budget;
use crate::fault::{check_cap, cut};
use throng::error::{Object, ObjectKind, Result};
use throng::glam::{DVec3, Vec3};
use throng::import::{ImportOptions, RawMorph};
use throng::mesh::{MorphTarget, MorphWeight};

/// A channel that has shapes, and the index of its first morph weight.
#[derive(Clone, Copy)]
pub(super) struct Channel<'a> {
    pub(super) channel: &'a ufbx::BlendChannel,
    /// The index of its first weight. There is one for each of its shapes.
    pub(super) first: usize,
}

/// The morph weights of a mesh, which all nodes that carry it have.
#[derive(Default)]
pub(super) struct Shapes<'a> {
    pub(super) channels: Vec<Channel<'a>>,
    rest: Vec<f32>,
    names: Vec<Box<str>>,
    name_bytes: usize,
}

/// The morph weights of the nodes that carry a mesh.
pub(super) struct DrivenWeights<'a> {
    pub(super) nodes: Vec<usize>,
    pub(super) shapes: Shapes<'a>,
}

/// All channels of a mesh, over all of its deformers.
fn channels(mesh: &ufbx::Mesh) -> impl Iterator<Item = &ufbx::BlendChannel> {
    let deformers = mesh.blend_deformers.iter();
    deformers.flat_map(|deformer| deformer.channels.iter().map(|channel| &**channel))
}

impl<'a> Shapes<'a> {
    fn read(mesh: &'a ufbx::Mesh) -> Self {
        let mut all = Self::default();
        for channel in channels(mesh).filter(|channel| !channel.keyframes.is_empty()) {
            let first = all.rest.len();
            all.channels.push(Channel { channel, first });
            all.rest.resize(first + channel.keyframes.len(), 0.0);
            effective_weights(channel, channel.weight, &mut all.rest[first..]);
            let name = cut(&channel.element.name);
            all.names.extend(channel.keyframes.iter().map(|key| {
                let percent = key.target_weight * 100.0;
                match channel.keyframes.len() {
                    1 => name.clone(),
                    _ => format!("{name} {percent}%").into(),
                }
            }));
        }
        all.name_bytes = all.names.iter().map(|name| name.len()).sum();
        all
    }

    pub(super) fn count(&self) -> usize {
        self.rest.len()
    }

    /// The weights of a node that carries the mesh. `None` if there are no shapes.
    pub(super) fn of_node(
        &self,
        node: usize,
        owner: &str,
        at: &Object,
        budget: &mut Budget<'_>,
    ) -> Result<Option<RawMorph>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        // Every weight of the character also names its owner.
        let each = size_of::<MorphWeight>() + size_of::<Box<str>>() + size_of::<f32>();
        let bytes = (self.count() as u64).saturating_mul((each + owner.len()) as u64);
        budget.charge(bytes.saturating_add(self.name_bytes as u64), at)?;
        Ok(Some(RawMorph {
            node,
            owner: owner.into(),
            weights: self.rest.clone(),
            names: self.names.clone(),
        }))
    }
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
    /// The shapes of a mesh that `nodes` nodes carry, whose weights are counted.
    pub(super) fn shapes<'a>(
        &mut self,
        mesh: &'a ufbx::Mesh,
        nodes: usize,
        options: &ImportOptions,
    ) -> Result<Shapes<'a>> {
        // Channels without shapes take time, too.
        let each = channels(mesh).map(|channel| channel.keyframes.len().max(1) as u64);
        let count = each.sum::<u64>().saturating_mul(nodes as u64);
        self.weights = self.weights.saturating_add(count);
        let at = || Object::new(ObjectKind::Mesh, mesh.element.typed_id as usize, "");
        let cap = options.limits.morph_targets as u64;
        check_cap(at, "morph weights", self.weights, cap)?;
        Ok(Shapes::read(mesh))
    }

    /// The targets of a primitive with these vertices.
    pub(super) fn targets(
        &mut self,
        shapes: &Shapes<'_>,
        base: &Base<'_>,
        at: &Object,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<MorphTarget>> {
        let count = shapes.count() as u64;
        self.targets = self.targets.saturating_add(count);
        let cap = budget.options.limits.morph_targets as u64;
        check_cap(|| at.clone(), "morph targets", self.targets, cap)?;
        budget.charge(count * size_of::<MorphTarget>() as u64, at)?;
        let channels = shapes.channels.iter();
        let keys = channels.flat_map(|channel| &channel.channel.keyframes);
        keys.map(|key| self.target(&key.shape, base, at, budget))
            .collect()
    }

    fn target(
        &mut self,
        shape: &ufbx::BlendShape,
        base: &Base<'_>,
        at: &Object,
        budget: &mut Budget<'_>,
    ) -> Result<MorphTarget> {
        let offsets = || shape.offset_vertices.iter().zip(&shape.position_offsets);
        let mut count = 0;
        for (vertex, _) in offsets() {
            let copies = base.copies(*vertex).len();
            count += copies;
            // Offsets of vertices outside the primitive take time too.
            self.elements = self.elements.saturating_add(copies.max(1) as u64);
        }
        let cap = budget.options.limits.morph_elements;
        check_cap(|| at.clone(), "morph target elements", self.elements, cap)?;
        let has_normals = shape.normal_offsets.iter().any(|n| wide(*n) != DVec3::ZERO);
        let vectors = 1 + usize::from(has_normals);
        let bytes = size_of::<u32>() + vectors * size_of::<Vec3>();
        budget.charge((count as u64).saturating_mul(bytes as u64), at)?;
        let mut changes: Vec<(u32, usize)> = Vec::with_capacity(count);
        for (index, (vertex, _)) in offsets().enumerate() {
            changes.extend(base.copies(*vertex).iter().map(|(_, copy)| (*copy, index)));
        }
        // Stable, so offsets of one vertex are added in the file's order.
        changes.sort_by_key(|(vertex, _)| *vertex);
        let mut target = MorphTarget::default();
        for (vertex, index) in changes {
            let weight = shape.offset_weights.get(index).map_or(1.0, |w| *w as f32);
            let position = base.position_change(shape, index) * weight;
            let normal = base.normal_change(shape, index, vertex) * weight;
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

/// The vertices of a primitive that shapes change.
pub(super) struct Base<'a> {
    mesh: &'a ufbx::Mesh,
    /// The corner of each vertex.
    corners: &'a [u32],
    geometric: Geometric,
    /// The vertices of the mesh, each with a vertex of the primitive that it became. Sorted.
    copies: Vec<(u32, u32)>,
}

impl<'a> Base<'a> {
    /// `corners` and `vertices` are those of the mesh, one of each for each vertex.
    pub(super) fn new(
        mesh: &'a ufbx::Mesh,
        corners: &'a [u32],
        vertices: &[u32],
        geometric: Geometric,
    ) -> Self {
        let numbered = vertices.iter().zip(0..);
        let mut copies: Vec<(u32, u32)> = numbered.map(|(vertex, copy)| (*vertex, copy)).collect();
        copies.sort_unstable();
        Self {
            mesh,
            corners,
            geometric,
            copies,
        }
    }

    fn copies(&self, vertex: u32) -> &[(u32, u32)] {
        let start = self.copies.partition_point(|(other, _)| *other < vertex);
        let end = self.copies.partition_point(|(other, _)| *other <= vertex);
        &self.copies[start..end]
    }

    fn position_change(&self, shape: &ufbx::BlendShape, index: usize) -> Vec3 {
        let change = shape.position_offsets.get(index);
        change.map_or(Vec3::ZERO, |change| self.geometric.vector(*change))
    }

    fn normal_change(&self, shape: &ufbx::BlendShape, index: usize, vertex: u32) -> Vec3 {
        let Some(change) = shape.normal_offsets.get(index) else {
            return Vec3::ZERO;
        };
        let normals = &self.mesh.vertex_normal;
        let corner = self.corners[vertex as usize] as usize;
        let normal = normals.exists.then(|| normals[corner]);
        self.geometric.normal_change(*change, normal)
    }
}
