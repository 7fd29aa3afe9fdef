//! Spawn points: the instances of `EXT_mesh_gpu_instancing`.

use super::accessor::Elements;
use super::component::Component;
use super::fault::{cut, lookup};
use super::json_limits::Attributes;
use super::source::Source;
use crate::fault::{check_cap, expect_count};
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{RawNode, Repair, RepairKind, SpawnPoint};

/// The instances of all nodes whose meshes are imported, in the order of the nodes.
///
/// `carriers` are these nodes, ascending.
pub(super) fn read(
    source: &mut Source<'_>,
    nodes: &[RawNode],
    carriers: &[usize],
    repairs: &mut Vec<Repair>,
) -> Result<Vec<SpawnPoint>> {
    let doc = source.doc;
    let mut points = Vec::new();
    // Empty until one is needed.
    let mut worlds = Vec::new();
    for (index, node) in doc.nodes.iter().enumerate() {
        let extensions = node.extensions.as_ref();
        let Some(instancing) = extensions.and_then(|all| all.instancing.as_ref()) else {
            continue;
        };
        if carriers.binary_search(&index).is_err() {
            continue;
        }
        let instances = Instances::read(source, index, &instancing.attributes, points.len())?;
        let name = cut(node.name.as_deref().unwrap_or_default());
        let bytes = instances.count as u64 * (size_of::<SpawnPoint>() + name.len()) as u64;
        source.charge(bytes, || part_of(index, ""))?;
        if worlds.is_empty() {
            worlds = rest_pose(nodes)?;
        }
        let world = worlds[index];
        let model = world.inverse();
        if !model.is_finite() {
            let kind = RepairKind::SpawnPointsLeftOut;
            Repair::note(repairs, &part_of(index, ""), kind, instances.count as u64);
            continue;
        }
        for instance in 0..instances.count {
            let world_from_model = world * instances.transform(instance) * model;
            if !world_from_model.is_finite() {
                let part = format!(", instance {instance}");
                let why = AssetFault::Invalid("has a transform that is not finite");
                return Err(Error::asset(part_of(index, &part), why));
            }
            let node = name.clone();
            points.push(SpawnPoint {
                node,
                world_from_model,
            });
        }
    }
    Ok(points)
}

fn part_of(node: usize, part: &str) -> Object {
    let part = format!("extensions.EXT_mesh_gpu_instancing{part}");
    Object::new(ObjectKind::Node, node, part)
}

/// The transforms of a node's instances. What is absent is the identity.
struct Instances<'a> {
    count: usize,
    translation: Option<Elements<'a>>,
    rotation: Option<Elements<'a>>,
    scale: Option<Elements<'a>>,
}

impl<'a> Instances<'a> {
    /// Reads the instances of a node. `before` is the number of those of other nodes.
    fn read(
        source: &mut Source<'a>,
        node: usize,
        attributes: &Attributes,
        before: usize,
    ) -> Result<Self> {
        let doc = source.doc;
        let mut counts: Option<u64> = None;
        for (name, accessor) in attributes.iter() {
            let at = || part_of(node, &format!(".attributes.{}", cut(name)));
            let (_, accessor) = lookup(&doc.accessors, *accessor, "accessor", at)?;
            let need = *counts.get_or_insert(accessor.count);
            expect_count(at, "the accessor", accessor.count, need)?;
        }
        let asked = counts.unwrap_or(0).saturating_add(before as u64);
        let cap = source.options.limits.spawn_points as u64;
        check_cap(|| part_of(node, ""), "spawn points", asked, cap)?;
        let mut stream = |name: &str, kind: &'static str| {
            let Some(accessor) = attributes.get(name) else {
                return Ok(None);
            };
            let at = || part_of(node, &format!(".attributes.{name}"));
            let integers = kind == "VEC4";
            let allow = |component, normalized| match component {
                Component::F32 => true,
                Component::I8 | Component::I16 => integers && normalized,
                _ => false,
            };
            let allowed = match integers {
                true => "5126, or normalised 5120, 5122",
                false => "5126",
            };
            let (accessor, _) = source.typed(*accessor, kind, allowed, allow, at)?;
            source.elements(accessor, usize::MAX, 0).map(Some)
        };
        Ok(Self {
            translation: stream("TRANSLATION", "VEC3")?,
            rotation: stream("ROTATION", "VEC4")?,
            scale: stream("SCALE", "VEC3")?,
            count: counts.unwrap_or(0) as usize,
        })
    }

    fn transform(&self, at: usize) -> Affine3A {
        let vector = |elements: &Option<Elements<'_>>, default| match elements {
            Some(elements) => Vec3::from_array(elements.numbers(at)),
            None => default,
        };
        let rotation = self.rotation.as_ref().map(|elements| elements.numbers(at));
        let rotation = rotation
            .map(Quat::from_array)
            .filter(|turn| *turn != Quat::from_array([0.0; 4]));
        Affine3A::from_scale_rotation_translation(
            vector(&self.scale, Vec3::ONE),
            rotation.map_or(Quat::IDENTITY, Quat::normalize),
            vector(&self.translation, Vec3::ZERO),
        )
    }
}

/// World space from the space of each node, in the rest pose.
fn rest_pose(nodes: &[RawNode]) -> Result<Vec<Affine3A>> {
    let mut worlds = vec![Affine3A::IDENTITY; nodes.len()];
    for (index, _) in RawNode::breadth_first(nodes)? {
        let node = &nodes[index];
        let local = match node.matrix {
            None => node.transform.to_affine(),
            Some(matrix) => Affine3A::from_mat4(matrix),
        };
        worlds[index] = node.parent.map_or(local, |parent| worlds[parent] * local);
    }
    Ok(worlds)
}
