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

/// Writes a character in one pose as binary glTF: a mesh with one primitive for each that has
/// triangles.
///
/// `vertices` has the deformed vertices of each primitive, and `triangles` its triangles,
/// counter-clockwise from their front in this pose. Positions have the same bits as the posed
/// vertices.
///
/// # Errors
/// As [`glb`](super::glb()).
pub fn posed_glb(
    character: &Character,
    vertices: &[PosedVertices],
    triangles: &[Vec<[u32; 3]>],
    options: &ExportOptions,
) -> Result<Vec<u8>> {
    let mut data = Data::new(options.max_bytes);
    let mut materials = Materials::new(character, options.images);
    let mut omissions = Omissions::default();
    let mut primitives = Vec::new();
    let all = character.primitives().iter();
    let all = all.zip(vertices.iter().zip(triangles));
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
