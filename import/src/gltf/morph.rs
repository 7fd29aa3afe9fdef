//! Morph targets, made sparse one at a time, and the weights of nodes.

use super::component::Component;
use super::fault::{cut, lookup};
use super::json::{Document, Node, Primitive};
use super::mesh::{At, Reader};
use super::source::Source;
use super::sparse::Stored;
use crate::fault::{check_cap, expect_count};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::Vec3;
use throng::import::{RawMorph, RepairKind};
use throng::mesh::{MorphTarget, MorphWeight};

/// The name in errors for lists with an element for each target.
const TARGETS: &str = "the list (one for each morph target of the mesh)";

/// The attributes that a target can change, in the order of the streams here.
const NAMES: [&str; 3] = ["POSITION", "NORMAL", "TANGENT"];

/// Checks that the targets refer to accessors that exist, that all primitives of a mesh have the
/// same number of targets, and that there are as many weights.
pub(super) fn check(doc: &Document) -> Result<()> {
    for (index, mesh) in doc.meshes.iter().enumerate() {
        let need = mesh.primitives.first().map_or(0, |p| p.targets.len());
        for (number, primitive) in mesh.primitives.iter().enumerate() {
            let part = || format!("primitives[{number}].targets");
            let got = primitive.targets.len();
            let at = || Object::new(ObjectKind::Mesh, index, part());
            expect_count(at, TARGETS, got as u64, need as u64)?;
            for (target, attributes) in primitive.targets.iter().enumerate() {
                if let Some(accessor) = attributes.greatest() {
                    let part = || format!("{}[{target}]", part());
                    let referrer = || Object::new(ObjectKind::Mesh, index, part());
                    lookup(&doc.accessors, accessor, "accessor", referrer)?;
                }
            }
        }
        if !mesh.weights.is_empty() {
            let at = || Object::new(ObjectKind::Mesh, index, "weights");
            expect_count(at, TARGETS, mesh.weights.len() as u64, need as u64)?;
        }
    }
    for (index, node) in doc.nodes.iter().enumerate() {
        if !node.weights.is_empty() {
            let at = || Object::new(ObjectKind::Node, index, "weights");
            let (got, need) = (node.weights.len(), target_count(doc, node));
            expect_count(at, TARGETS, got as u64, need as u64)?;
        }
    }
    Ok(())
}

fn expect_finite(weights: &[f32], object: impl FnOnce() -> Object) -> Result<()> {
    let Some(index) = weights.iter().position(|weight| !weight.is_finite()) else {
        return Ok(());
    };
    let why = AssetFault::value("weight", index, weights[index], "finite");
    Err(Error::asset(object(), why))
}

/// The number of morph targets of a node's mesh, if it has a mesh.
pub(super) fn target_count(doc: &Document, node: &Node) -> usize {
    let mesh = node.mesh.and_then(|mesh| doc.meshes.get(mesh as usize));
    let first = mesh.and_then(|mesh| mesh.primitives.first());
    first.map_or(0, |primitive| primitive.targets.len())
}

/// The weights of all nodes whose meshes have targets, in the order of the nodes.
pub(super) fn weights(source: &mut Source<'_>) -> Result<Vec<RawMorph>> {
    let doc = source.doc;
    let mut morphs = Vec::new();
    let mut total = 0;
    for (index, node) in doc.nodes.iter().enumerate() {
        let count = target_count(doc, node);
        let Some(mesh) = node.mesh.filter(|_| count > 0) else {
            continue;
        };
        total += count as u64;
        let at = || Object::new(ObjectKind::Node, index, "weights");
        let cap = source.options.limits.morph_targets as u64;
        check_cap(at, "morph weights", total, cap)?;
        let number = mesh as usize;
        let mesh = &doc.meshes[number];
        let owner = cut(node
            .name
            .as_deref()
            .or(mesh.name.as_deref())
            .unwrap_or_default());
        let names = mesh.extras.target_names.iter().take(count);
        // Every weight of the character also names its owner.
        let each = size_of::<MorphWeight>() + size_of::<f32>() + owner.len();
        let named = names.clone().map(|name| size_of::<Box<str>>() + name.len());
        let bytes = named.sum::<usize>() as u64 + count as u64 * each as u64;
        source.charge(bytes, at)?;
        let given = [
            (&node.weights, ObjectKind::Node, index),
            (&mesh.weights, ObjectKind::Mesh, number),
        ];
        let given = given
            .into_iter()
            .find(|(weights, _, _)| !weights.is_empty());
        if let Some((weights, kind, of)) = given {
            expect_finite(weights, || Object::new(kind, of, "weights"))?;
        }
        morphs.push(RawMorph {
            node: index,
            owner,
            weights: given.map_or_else(|| vec![0.0; count], |(weights, _, _)| weights.to_vec()),
            names: names.map(|name| cut(name)).collect(),
        });
    }
    Ok(morphs)
}

impl<'a> Reader<'_, 'a> {
    /// The targets of a primitive, without changes to attributes that it does not have or that
    /// cannot be morphed.
    pub(super) fn targets(&mut self, at: &At, raw: &Primitive) -> Result<Vec<MorphTarget>> {
        self.morph_targets += raw.targets.len() as u64;
        let cap = self.source.options.limits.morph_targets as u64;
        at.check_cap("morph targets", self.morph_targets, cap)?;
        let bytes = raw.targets.len() as u64 * size_of::<MorphTarget>() as u64;
        self.source.charge(bytes, || at.object("targets"))?;
        let has = |name| raw.attributes.contains_key(name);
        // Without normals, the format says to ignore tangents.
        let based = [true, has("NORMAL"), has("NORMAL") && has("TANGENT")];
        let (mut others, mut baseless) = (0, [0; 3]);
        let mut targets = Vec::with_capacity(raw.targets.len());
        let mut moved = Vec::new();
        for (number, target) in raw.targets.iter().enumerate() {
            others += u64::from(target.others);
            let mut streams = [None, None, None];
            for (stream, name) in NAMES.into_iter().enumerate() {
                match target.get(name) {
                    Some(_) if !based[stream] => baseless[stream] += 1,
                    Some(accessor) => {
                        let part = format!("targets[{number}].{name}");
                        streams[stream] = Some(self.deltas(at, raw, &part, name, accessor)?);
                    }
                    None => {}
                }
            }
            targets.push(self.thin(at, raw, number, &streams, &mut moved)?);
        }
        let part = "targets (attributes other than POSITION, NORMAL, TANGENT)";
        self.leave_out(at, part, RepairKind::LeftOut, others);
        for (name, count) in NAMES.into_iter().zip(baseless) {
            let part = format!("targets ({name}, which the primitive does not have)");
            self.leave_out(at, &part, RepairKind::LeftOut, count);
        }
        Ok(targets)
    }

    /// The offsets of one target for one attribute.
    fn deltas(
        &mut self,
        at: &At,
        raw: &Primitive,
        part: &str,
        name: &str,
        accessor: u64,
    ) -> Result<Stored<'a>> {
        let quantized = self.quantized;
        let whole = quantized && name == "POSITION";
        let allow = |component, normalized| match component {
            Component::F32 => true,
            Component::I8 | Component::I16 => whole || (quantized && normalized),
            _ => false,
        };
        let allowed = match (quantized, whole) {
            (false, _) => "5126; others with KHR_mesh_quantization",
            (true, true) => "5126, 5120, 5122",
            (true, false) => "5126, or normalised 5120, 5122",
        };
        let object = || at.object(part);
        let source = &mut *self.source;
        let (index, accessor) = source.typed(accessor, "VEC3", allowed, allow, object)?;
        // The deltas are not compressed.
        let (got, need) = (accessor.count, vertex_count(source, raw));
        expect_count(object, "the accessor", got, need)?;
        source.stored(index)
    }

    /// The vertices that a target changes, and the changes. `moved` is scratch memory.
    fn thin(
        &mut self,
        at: &At,
        raw: &Primitive,
        number: usize,
        streams: &[Option<Stored<'a>>; 3],
        moved: &mut Vec<u64>,
    ) -> Result<MorphTarget> {
        let words = vertex_count(self.source, raw).div_ceil(64);
        let elements = streams.iter().flatten().map(|stored| stored.len() as u64);
        let cap = self.source.options.limits.morph_elements;
        self.morph_elements = elements
            .chain([words])
            .fold(self.morph_elements, u64::saturating_add);
        at.check_cap("elements of morph targets", self.morph_elements, cap)?;
        moved.clear();
        moved.resize(words as usize, 0);
        let mut used = [true, false, false];
        for (stored, used) in streams.iter().zip(&mut used) {
            if let Some(stored) = stored {
                stored.each(|vertex, delta| {
                    if delta != [0.0; 3] {
                        moved[vertex / 64] |= 1 << (vertex % 64);
                        *used = true;
                    }
                });
            }
        }
        let count: usize = moved.iter().map(|word| word.count_ones() as usize).sum();
        let per_vertex = size_of::<u32>() + used.iter().filter(|u| **u).count() * size_of::<Vec3>();
        let bytes = count as u64 * per_vertex as u64;
        let part = || at.object(&format!("targets[{number}]"));
        self.source.charge(bytes, part)?;
        let mut vertices = Vec::with_capacity(count);
        for (at, word) in moved.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                vertices.push((at * 64) as u32 + left.trailing_zeros());
                left &= left - 1;
            }
        }
        let [positions, normals, tangents] = [0, 1, 2].map(|stream: usize| {
            let listed = if used[stream] { &vertices[..] } else { &[] };
            picked(streams[stream].as_ref(), listed)
        });
        Ok(MorphTarget {
            vertices,
            positions,
            normals,
            tangents,
        })
    }
}

fn vertex_count(source: &Source<'_>, raw: &Primitive) -> u64 {
    let position = raw.attributes.get("POSITION").copied().unwrap_or_default();
    source.count(position as usize)
}

/// The stored values of these vertices, which ascend. Vertices without a value get zeros.
fn picked(stored: Option<&Stored<'_>>, vertices: &[u32]) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; vertices.len()];
    let Some(stored) = stored.filter(|_| !vertices.is_empty()) else {
        return out;
    };
    let mut next = 0;
    stored.each(|vertex, delta| {
        while vertices.get(next).is_some_and(|v| (*v as usize) < vertex) {
            next += 1;
        }
        if vertices.get(next).is_some_and(|v| *v as usize == vertex) {
            out[next] = Vec3::from_array(delta);
        }
    });
    out
}
