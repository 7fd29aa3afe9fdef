//! Meshes: polygons become triangles, and corners become vertices.

use super::convert::{matrix, vec2};
use super::geometric::Geometric;
use super::morph::{Base, Counts, DrivenWeights, Shapes};
use super::nodes::{Nodes, of_file_node, up_to_file, visible};
use super::skin::{Skin, Skins};
use crate::budget::Budget;
use crate::fault::{check_cap, cut};
use std::collections::HashMap;
use throng::error::{Object, ObjectKind, Result};
use throng::glam::{Vec2, Vec3};
use throng::import::{RawMorph, RawPrimitive, Repair, RepairKind};

/// The meshes of a scene's nodes.
#[derive(Default)]
pub(super) struct Meshes<'a> {
    pub(super) primitives: Vec<RawPrimitive>,
    pub(super) skins: Skins<'a>,
    pub(super) morphs: Vec<RawMorph>,
    pub(super) driven: Vec<DrivenWeights<'a>>,
    vertices: u64,
    indices: u64,
    counts: Counts,
}

/// A mesh, and what all nodes that carry it have in common.
struct Carried<'a> {
    mesh: &'a ufbx::Mesh,
    /// The parts with triangles, one for each material.
    parts: Vec<&'a ufbx::MeshPart>,
    shapes: Shapes<'a>,
}

impl<'a> Meshes<'a> {
    pub(super) fn read(
        scene: &'a ufbx::Scene,
        nodes: &Nodes,
        budget: &mut Budget<'_>,
        repairs: &mut Vec<Repair>,
    ) -> Result<Self> {
        let mut all = Self::default();
        let visible = visible(scene);
        let is_visible = |node: &ufbx::Node| visible[node.element.typed_id as usize];
        let mut carriers = scene.meshes.iter().flat_map(|mesh| &mesh.element.instances);
        // If all are hidden, the property has another meaning.
        let (hides, hidden) = match carriers.any(&is_visible) {
            true => (true, RepairKind::Invisible),
            false => (false, RepairKind::InvisibleShown),
        };
        for (index, mesh) in scene.meshes.iter().enumerate() {
            let at = |part: &str| Object::new(ObjectKind::Mesh, index, part);
            let small = mesh.num_point_faces + mesh.num_line_faces + mesh.num_empty_faces;
            let skins = mesh.skin_deformers.len().saturating_sub(1);
            for (part, count) in [
                ("points and lines", small),
                ("skins after the first", skins),
                ("geometry caches", mesh.cache_deformers.len()),
            ] {
                Repair::note(repairs, &at(part), RepairKind::LeftOut, count as u64);
            }
            if !mesh.vertex_position.exists {
                continue;
            }
            let instances = mesh.element.instances.iter();
            let numbered = instances.filter_map(|node| Some((&**node, nodes.number(node)?)));
            let mut carriers: Vec<(&ufbx::Node, usize)> = numbered.collect();
            carriers.retain(|(node, number)| {
                let is_visible = is_visible(node);
                if !is_visible {
                    let object = Object::new(ObjectKind::Node, *number, &*nodes.raw[*number].name);
                    Repair::note(repairs, &object, hidden.clone(), 1);
                }
                is_visible || !hides
            });
            if carriers.is_empty() {
                continue;
            }
            let kind = RepairKind::SkinnedInstances;
            Repair::note(repairs, &at(""), kind, instances_elsewhere(mesh, &carriers));
            let parts = mesh.material_parts.iter();
            let carried = Carried {
                mesh,
                parts: parts.filter(|part| part.num_triangles > 0).collect(),
                shapes: all.counts.shapes(mesh, carriers.len(), budget.options)?,
            };
            for (node, number) in &carriers {
                all.carried(&carried, node, *number, nodes, budget)?;
            }
            if carried.shapes.count() > 0 {
                all.driven.push(DrivenWeights {
                    nodes: carriers.iter().map(|(_, number)| *number).collect(),
                    shapes: carried.shapes,
                });
            }
        }
        Ok(all)
    }

    /// Reads the mesh of one node: a primitive for each material.
    fn carried(
        &mut self,
        carried: &Carried<'a>,
        node: &ufbx::Node,
        number: usize,
        nodes: &Nodes,
        budget: &mut Budget<'_>,
    ) -> Result<()> {
        let mesh = carried.mesh;
        let index = mesh.element.typed_id as usize;
        let at = Object::new(ObjectKind::Mesh, index, "");
        let node_name = &of_file_node(node).element.name;
        let names = [&mesh.element.name, node_name];
        let mut given = names.into_iter().filter(|name| !name.is_empty());
        let name = given
            .next()
            .map_or_else(|| format!("mesh {index}").into(), |name| cut(name));
        let part = match node_name.is_empty() {
            true => name.clone(),
            false => cut(node_name),
        };
        let own = Geometric::of(node);
        let first = mesh.element.instances.first();
        let first = first.map_or(own, |node| Geometric::of(node));
        let bind = first.to(&own);
        let skin = self.skins.read(mesh, (number, bind), nodes, budget)?;
        // Joints place a skinned mesh, which is in one place on all nodes.
        let geometric = if skin.is_some() { first } else { own };
        let morph = carried.shapes.of_node(number, &part, &at, budget)?;
        let morph = morph.map(|weights| {
            self.morphs.push(weights);
            self.morphs.len() - 1
        });
        for (number_in_mesh, source) in carried.parts.iter().enumerate() {
            let cap = budget.options.limits.primitives as u64;
            let count = self.primitives.len() as u64 + 1;
            check_cap(|| at.clone(), "primitives", count, cap)?;
            let corners = Corners::read(mesh, source);
            self.vertices += corners.vertices.len() as u64;
            self.indices += corners.indices.len() as u64;
            let options = budget.options;
            let cap = options.limits.vertices as u64;
            check_cap(|| at.clone(), "vertices", self.vertices, cap)?;
            let cap = options.limits.indices as u64;
            check_cap(|| at.clone(), "indices", self.indices, cap)?;
            let influences = skin.as_ref().map_or(0, Skin::influences);
            charge(budget, &corners, influences, &at)?;
            budget.charge((name.len() + part.len()) as u64, &at)?;
            let mut primitive = corners.streams(mesh, &geometric);
            primitive.name = format!("{name}.{number_in_mesh}").into();
            primitive.part.clone_from(&part);
            primitive.mesh = index;
            primitive.number = number_in_mesh;
            primitive.node = number;
            primitive.material = material(mesh, node, source.index as usize);
            let vertices = corners.mesh_vertices(mesh);
            if let Some(skin) = &skin {
                skin.write(&vertices, &mut primitive);
            }
            if morph.is_some() {
                primitive.morph = morph;
                let base = Base::new(mesh, &corners.vertices, &vertices, geometric);
                primitive.targets = self.counts.targets(&carried.shapes, &base, &at, budget)?;
            }
            self.primitives.push(primitive);
        }
        Ok(())
    }
}

/// The number of nodes with another transform than the first, if the mesh is skinned.
fn instances_elsewhere(mesh: &ufbx::Mesh, carriers: &[(&ufbx::Node, usize)]) -> u64 {
    /// The largest difference of a number that is due to rounding.
    const ROUNDING: f32 = 1e-5;
    let mut transforms = carriers
        .iter()
        .map(|(node, _)| matrix(&node.geometry_to_world));
    let first = transforms
        .next()
        .filter(|_| !mesh.skin_deformers.is_empty());
    let Some(first) = first else {
        return 0;
    };
    transforms
        .filter(|other| !other.abs_diff_eq(first, ROUNDING))
        .count() as u64
}

/// Charges for the streams, joints and weights of a primitive.
fn charge(
    budget: &mut Budget<'_>,
    corners: &Corners,
    influences: usize,
    object: &Object,
) -> Result<()> {
    let streams = size_of::<[f32; 18]>() as u64;
    let each = (influences as u64 * 8).saturating_add(streams);
    let vertices = (corners.vertices.len() as u64).saturating_mul(each);
    let indices = corners.indices.len() as u64 * 4;
    budget.charge(vertices.saturating_add(indices), object)
}

/// The material of a part: that of the node, which may differ from that of the mesh.
fn material(mesh: &ufbx::Mesh, node: &ufbx::Node, part: usize) -> Option<usize> {
    let mut found = mesh.materials.get(part);
    // Materials stay at the node of the file, or move to one that ufbx adds.
    for node in up_to_file(node) {
        found = node.materials.get(part).or(found);
    }
    Some(found?.element.typed_id as usize)
}

/// The corners of a primitive that differ, and its triangles.
struct Corners {
    /// Corners of the mesh, one for each vertex.
    vertices: Vec<u32>,
    indices: Vec<u32>,
}

impl Corners {
    fn read(mesh: &ufbx::Mesh, part: &ufbx::MeshPart) -> Self {
        let mut corners = Self {
            vertices: Vec::new(),
            indices: Vec::new(),
        };
        let mut numbers = HashMap::new();
        let mut triangles: Vec<u32> = Vec::new();
        for face in &part.face_indices {
            let Some(face) = mesh.faces.get(*face as usize).copied() else {
                continue;
            };
            if face.num_indices < 3 {
                continue;
            }
            let most = (face.num_indices as usize - 2) * 3;
            triangles.resize(triangles.len().max(most), 0);
            let count = ufbx::triangulate_face(&mut triangles, mesh, face) as usize;
            for corner in triangles.iter().take(count * 3) {
                let new = corners.vertices.len() as u32;
                let number = *numbers.entry(key(mesh, *corner as usize)).or_insert(new);
                if number == new {
                    corners.vertices.push(*corner);
                }
                corners.indices.push(number);
            }
        }
        corners
    }

    /// The vertices of the mesh that the corners belong to.
    fn mesh_vertices(&self, mesh: &ufbx::Mesh) -> Vec<u32> {
        let vertex = |corner: &u32| mesh.vertex_indices[*corner as usize];
        self.vertices.iter().map(vertex).collect()
    }

    fn streams(&self, mesh: &ufbx::Mesh, geometric: &Geometric) -> RawPrimitive {
        let corners = || self.vertices.iter().map(|corner| *corner as usize);
        type Convert = fn(&Geometric, ufbx::Vec3) -> Vec3;
        let vectors = |list: &ufbx::VertexVec3, convert: Convert| match list.exists {
            true => {
                let vectors = corners().map(|corner| convert(geometric, list[corner]));
                vectors.collect()
            }
            false => Vec::new(),
        };
        let uvs = |set: usize| match mesh.uv_sets.get(set) {
            Some(set) if set.vertex_uv.exists => corners()
                .map(|corner| {
                    let uv = vec2(set.vertex_uv[corner]);
                    Vec2::new(uv.x, 1.0 - uv.y)
                })
                .collect(),
            _ => Vec::new(),
        };
        let normals = vectors(&mesh.vertex_normal, Geometric::normal);
        let tangents: Vec<_> = vectors(&mesh.vertex_tangent, Geometric::direction);
        let bitangents = vectors(&mesh.vertex_bitangent, Geometric::direction);
        let frames = normals.iter().zip(tangents).zip(bitangents);
        let tangents = frames.map(|((normal, tangent), bitangent)| {
            let is_left_handed = normal.cross(tangent).dot(bitangent) < 0.0;
            tangent.extend(if is_left_handed { -1.0 } else { 1.0 })
        });
        let colour = |corner: usize| {
            let colour = mesh.vertex_color[corner];
            [colour.x, colour.y, colour.z, colour.w].map(|channel| channel as f32)
        };
        let mut indices = self.indices.clone();
        if geometric.mirrors {
            for triangle in indices.as_chunks_mut::<3>().0 {
                triangle.swap(1, 2);
            }
        }
        RawPrimitive {
            positions: vectors(&mesh.vertex_position, Geometric::point),
            tangents: tangents.collect(),
            normals,
            uvs: uvs(0),
            colors: match mesh.vertex_color.exists {
                true => corners().map(colour).collect(),
                false => Vec::new(),
            },
            indices,
            ..RawPrimitive::default()
        }
    }
}

/// The indices of a corner's attributes. Corners with the same indices are one vertex.
fn key(mesh: &ufbx::Mesh, corner: usize) -> [u32; 7] {
    let of = |indices: &[u32]| indices.get(corner).copied().unwrap_or_default();
    [
        of(&mesh.vertex_indices),
        of(&mesh.vertex_position.indices),
        of(&mesh.vertex_normal.indices),
        of(&mesh.vertex_uv.indices),
        of(&mesh.vertex_tangent.indices),
        of(&mesh.vertex_bitangent.indices),
        of(&mesh.vertex_color.indices),
    ]
}
