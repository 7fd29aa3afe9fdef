//! Meshes: sections of triangles, each with a material.

use super::skeletons::Skeletons;
use super::vertices::{self, Vertices};
use super::xml::{check_count, children, elements, is, name};
use crate::budget::Budget;
use crate::fault::file_part;
use roxmltree::Node;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::import::{RawCharacter, RawNode, RawPrimitive, Repair, RepairKind};
use throng::mesh::Material;
use throng::skeleton::Transform;

/// Adds the meshes and materials to `raw`, and a node for each mesh.
///
/// Returns the names of the materials' textures.
pub(super) fn read(
    root: Node<'_, '_>,
    skeletons: &Skeletons,
    raw: &mut RawCharacter,
    budget: &mut Budget<'_>,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<(usize, Box<str>)>> {
    for list in elements(root, "Meshes") {
        let got = children(list, "Mesh").count();
        check_count(list, "count", got as u64, &file_part("Meshes"))?;
    }
    let mut materials = Materials::default();
    for material in elements(root, "Material") {
        let index = materials.index(name(material, "name"));
        // Text of any form, such as `diffuse=skin.png`.
        let data = name(material, "meta_data");
        let mut words = data.split(|c: char| c.is_whitespace() || "=,;\"'<>".contains(c));
        if let (Some(index), Some(texture)) = (index, words.find(|word| is_image(word))) {
            materials.textures.entry(index).or_insert(texture.into());
        }
    }
    for (index, mesh) in elements(root, "Mesh").enumerate() {
        let sections = sections(mesh);
        check_sections(mesh, index)?;
        if sections.is_empty() {
            continue;
        }
        let node = raw.nodes.len();
        budget.nodes(node + 1)?;
        raw.nodes.push(RawNode {
            name: name(mesh, "name").into(),
            parent: None,
            transform: Transform::IDENTITY,
            matrix: None,
        });
        // Found once, because there may be many sections.
        let of_mesh = children(mesh, "vertexbuffer").next();
        let skin = skeletons.skin(name(mesh, "skeleton"));
        let mut shared: Option<Vertices> = None;
        for (number, section) in sections.into_iter().enumerate() {
            let at = |part: &str| {
                Object::new(
                    ObjectKind::Mesh,
                    index,
                    format!("primitives[{number}]{part}"),
                )
            };
            let own = children(section, "vertexbuffer").next();
            let vertices = match (own.or(of_mesh), &shared) {
                (None, _) => {
                    return Err(Error::asset(at(""), AssetFault::Missing("vertexbuffer")));
                }
                (Some(_), Some(shared)) if own.is_none() => {
                    // Each section gets a copy.
                    let count = shared.streams.positions.len() as u64;
                    budget.vertices(count, shared.size, &at(".vertexbuffer"))?;
                    shared.clone()
                }
                (Some(buffer), _) => {
                    let at = at(".vertexbuffer");
                    let read = vertices::read(buffer, budget, &at, repairs)?;
                    if own.is_none() {
                        shared = Some(read.clone());
                    }
                    read
                }
            };
            budget.primitive(&at(""))?;
            budget.charge(name(mesh, "name").len() as u64, &at(""))?;
            let mut indices = Vec::new();
            for buffer in children(section, "indexbuffer") {
                indices.extend(vertices::indices(buffer, budget, &at(".indexbuffer"))?);
            }
            let mut primitive = RawPrimitive {
                name: name(mesh, "name").into(),
                mesh: index,
                number,
                node,
                material: materials.index(name(section, "material")),
                indices,
                ..vertices.streams
            };
            if primitive.influences_per_vertex > 0 {
                primitive.skin = skin;
                if skin.is_none() {
                    let count = primitive.positions.len() as u64;
                    let at = at(", weights without a skeleton");
                    Repair::note(repairs, &at, RepairKind::LeftOut, count);
                    // There is no skin for them.
                    primitive.influences_per_vertex = 0;
                    (primitive.joints, primitive.weights) = Default::default();
                }
            }
            raw.primitives.push(primitive);
        }
    }
    raw.materials = materials.list;
    Ok(materials.textures.into_iter().collect())
}

/// The sections of a mesh. A mesh with triangles of its own is a section too.
fn sections<'a, 'input>(mesh: Node<'a, 'input>) -> Vec<Node<'a, 'input>> {
    let has_indices = children(mesh, "indexbuffer").next().is_some();
    let own = has_indices.then_some(mesh).into_iter();
    own.chain(children(mesh, "MeshSection")).collect()
}

fn check_sections(mesh: Node<'_, '_>, index: usize) -> Result<()> {
    let got = mesh.children().filter(|child| is(*child, "MeshSection"));
    let at = Object::new(ObjectKind::Mesh, index, "");
    check_count(mesh, "submesh_count", got.count() as u64, &at)
}

/// The materials by name.
#[derive(Debug, Default)]
struct Materials {
    list: Vec<Material>,
    of_name: HashMap<Box<str>, usize>,
    /// The names of image files.
    textures: BTreeMap<usize, Box<str>>,
}

impl Materials {
    /// The index of the material with this name. `None` if the name is empty.
    fn index(&mut self, name: &str) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        if let Some(index) = self.of_name.get(name) {
            return Some(*index);
        }
        let index = self.list.len();
        self.list.push(Material {
            name: name.into(),
            ..Material::default()
        });
        self.of_name.insert(name.into(), index);
        if is_image(name) {
            self.textures.insert(index, name.into());
        }
        Some(index)
    }
}

/// The extensions of image files, also of those that cannot be decoded.
const EXTENSIONS: [&str; 10] = [
    "png", "jpg", "jpeg", "webp", "tga", "dds", "bmp", "tif", "tiff", "gif",
];

/// True if a text is the name of an image file.
fn is_image(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|part| part.to_str());
    extension.is_some_and(|one| {
        EXTENSIONS
            .iter()
            .any(|known| one.eq_ignore_ascii_case(known))
    })
}
