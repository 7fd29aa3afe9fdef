//! A mesh in one pose, without skeleton and clips.

use super::attributes::{self, Streams};
use super::data::Data;
use super::materials::Materials;
use super::objects::{at, named, put_lists};
use super::omissions::Omissions;
use super::{ExportOptions, asset};
use serde_json::json;
use throng::Result;
use throng::character::Character;
use throng::skin::PosedVertices;

/// A posed mesh: the vertices and the triangles of each primitive.
#[derive(Debug, Clone, Copy)]
pub struct PosedMesh<'a> {
    /// The character.
    pub character: &'a Character,
    /// The deformed vertices of each primitive.
    pub vertices: &'a [PosedVertices],
    /// The triangles of each primitive, counter-clockwise from their front in this pose.
    pub triangles: &'a [Vec<[u32; 3]>],
}

/// Writes the posed mesh as binary glTF: a mesh with one primitive for each that has triangles.
///
/// Positions have the same bits as the posed vertices.
///
/// # Errors
/// As [`glb`](super::glb()).
pub fn posed_glb(mesh: PosedMesh<'_>, options: &ExportOptions) -> Result<Vec<u8>> {
    let character = mesh.character;
    let mut data = Data::new(options.max_bytes);
    let mut materials = Materials::new(character, options.images);
    let mut omissions = Omissions::default();
    let mut primitives = Vec::new();
    let all = character.primitives().iter();
    let all = all.zip(mesh.vertices.iter().zip(mesh.triangles));
    for (number, (primitive, (posed, triangles))) in all.enumerate() {
        if triangles.is_empty() {
            continue;
        }
        let streams = Streams {
            positions: &posed.positions,
            normals: &posed.normals,
            tangents: &posed.tangents,
        };
        let at = at("primitive", number);
        let attributes =
            attributes::write(character, primitive, &streams, &mut data, &mut omissions);
        let indices = data.indices(triangles.as_flattened(), posed.positions.len());
        primitives.push(json!({
            "attributes": attributes.map_err(&at)?,
            "indices": indices.map_err(&at)?,
            "material": materials.index_of(primitive.material as usize),
        }));
    }
    let mut root = json!({ "asset": asset(), "scene": 0 });
    let mut node = named(character.name());
    if !primitives.is_empty() {
        node["mesh"] = 0.into();
        let mut mesh = named(character.name());
        mesh["primitives"] = primitives.into();
        put_lists(&mut root, [("meshes", vec![mesh])]);
    }
    put_lists(
        &mut root,
        [
            ("scenes", vec![json!({ "nodes": [0] })]),
            ("nodes", vec![node]),
        ],
    );
    for (key, value) in materials.write(&mut data)? {
        root[key] = value;
    }
    data.into_file(root)
}
