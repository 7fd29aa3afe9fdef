//! Spawn points: the instances of `EXT_mesh_gpu_instancing`.

use super::accessor::Elements;
use super::component::Component;
use super::fault::{cut, lookup};
use super::json_limits::Attributes;
use super::source::Source;
use crate::error::{AssetFault, Object, ObjectKind, Result};
use crate::import::fault::{fault_of, object};
use crate::import::repair::{Repair, RepairKind, note};
use crate::import::{RawNode, SpawnPoint};
use glam::{Affine3A, Quat, Vec3};

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
    let mut rest = Rest::new(nodes);
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
        source.charge(bytes, || place(index, ""))?;
        let world = rest.world(index);
        let model = world.inverse();
        if !model.is_finite() {
            let kind = RepairKind::SpawnPointsLeftOut;
            note(repairs, &place(index, ""), kind, instances.count as u64);
            continue;
        }
        for instance in 0..instances.count {
            let world_from_model = world * instances.transform(instance) * model;
            if !world_from_model.is_finite() {
                let part = format!(", instance {instance}");
                let why = AssetFault::Invalid("has a transform that is not finite");
                return Err(fault_of(place(index, &part), why));
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

fn place(node: usize, part: &str) -> Object {
    let part = format!("extensions.EXT_mesh_gpu_instancing{part}");
    object(ObjectKind::Node, node, part)
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
            let at = || place(node, &format!(".attributes.{}", cut(name)));
            let (_, accessor) = lookup(&doc.accessors, *accessor, "accessor", at)?;
            let need = *counts.get_or_insert(accessor.count);
            if accessor.count != need {
                let why = AssetFault::Count {
                    what: "the accessor",
                    got: accessor.count,
                    need,
                };
                return Err(fault_of(at(), why));
            }
        }
        let asked = counts.unwrap_or(0).saturating_add(before as u64);
        let cap = source.options.max_spawn_points as u64;
        if asked > cap {
            let what = "spawn points";
            return Err(fault_of(
                place(node, ""),
                AssetFault::Cap { what, asked, cap },
            ));
        }
        let mut stream = |name: &str, kind: &'static str| {
            let Some(accessor) = attributes.get(name) else {
                return Ok(None);
            };
            let at = || place(node, &format!(".attributes.{name}"));
            let integers = kind == "VEC4";
            let allow = |component, normalized| match component {
                Component::F32 => true,
                Component::I8 | Component::I16 => integers && normalized,
                _ => false,
            };
            let allowed = if integers {
                "5126, or normalised 5120, 5122"
            } else {
                "5126"
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

/// The transforms of nodes in their rest pose.
struct Rest<'a> {
    nodes: &'a [RawNode],
    /// Empty until one is needed.
    worlds: Vec<Option<Affine3A>>,
}

impl<'a> Rest<'a> {
    fn new(nodes: &'a [RawNode]) -> Self {
        Self {
            nodes,
            worlds: Vec::new(),
        }
    }

    /// World space from the node's space. The hierarchy has no cycles.
    fn world(&mut self, node: usize) -> Affine3A {
        self.worlds.resize(self.nodes.len(), None);
        let mut path = Vec::new();
        let mut at = Some(node);
        let mut world = Affine3A::IDENTITY;
        while let Some(node) = at {
            if let Some(known) = self.worlds[node] {
                world = known;
                break;
            }
            path.push(node);
            at = self.nodes[node].parent;
        }
        for node in path.into_iter().rev() {
            let raw = &self.nodes[node];
            world *= match raw.matrix {
                None => raw.transform.to_affine(),
                Some(matrix) => Affine3A::from_mat4(matrix),
            };
            self.worlds[node] = Some(world);
        }
        world
    }
}
