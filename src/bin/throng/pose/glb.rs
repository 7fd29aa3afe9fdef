//! Writes a posed mesh as binary glTF.

use super::deform::Mesh;
use super::glb_data::Data;
use super::glb_material::Materials;
use crate::failure::Failure;
use serde_json::{Value, json};
use throng::character::Character;
use throng::glam::{Vec2, Vec3, Vec4};
use throng::mesh::{Material, Primitive};
use throng::skin::PosedVertices;

/// The posed mesh as a file: a mesh with one primitive for each of the character.
///
/// Positions have the same bits as the posed vertices.
///
/// # Errors
/// [`Failure::File`] if there are no triangles, or if the data takes 4 GiB or more.
pub(super) fn glb(mesh: &Mesh<'_>) -> Result<Vec<u8>, Failure> {
    let mut data = Data::default();
    let mut materials = Materials::new(mesh.model);
    let mut primitives = Vec::new();
    let parts = mesh.model.primitives().iter().zip(mesh.posed);
    for (index, (part, posed)) in parts.enumerate() {
        let triangles: Vec<[u32; 3]> = mesh.triangles(index).collect();
        if !triangles.is_empty() {
            primitives.push(json!({
                "attributes": attributes(part, posed, uv_sets(mesh.model, part), &mut data),
                "indices": data.indices(triangles.as_flattened(), posed.positions.len()),
                "material": materials.index_of(part.material as usize),
            }));
        }
    }
    if primitives.is_empty() {
        let words = format!("{}: there are no triangles to write", mesh.model.name());
        return Err(Failure::File(words));
    }
    let written = materials.write(&mut data);
    let mut root = json!({
        "asset": { "version": "2.0", "generator": concat!("throng ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "name": mesh.model.name(), "mesh": 0 }],
        "meshes": [{ "name": mesh.model.name(), "primitives": primitives }],
        "accessors": data.accessors,
        "bufferViews": data.views,
        "buffers": [{ "byteLength": data.bytes.len() }],
    });
    for (key, value) in written {
        root[key] = value;
    }
    file(&root, data.bytes).ok_or_else(|| {
        Failure::File(format!(
            "{}: the mesh takes 4 GiB or more",
            mesh.model.name()
        ))
    })
}

/// The number of sets of texture coordinates that a primitive has or its textures use.
fn uv_sets(model: &Character, part: &Primitive) -> usize {
    let own = match (part.uvs.is_empty(), part.uvs1.is_empty()) {
        (true, true) => 0,
        (false, true) => 1,
        (_, false) => 2,
    };
    let material = model.materials().get(part.material as usize);
    let textures = material.into_iter().flat_map(Material::textures).flatten();
    let used = textures.map(|texture| texture.uv_set as usize + 1);
    used.max().unwrap_or(0).max(own)
}

/// The vertex data. Sets of texture coordinates that do not exist are 0, 0 at all vertices.
fn attributes(part: &Primitive, posed: &PosedVertices, uv_sets: usize, data: &mut Data) -> Value {
    let mut all = json!({ "POSITION": data.positions(&posed.positions) });
    if !posed.normals.is_empty() {
        let normals: Vec<Vec3> = posed
            .normals
            .iter()
            .map(|n| n.normalize_or(Vec3::Y))
            .collect();
        all["NORMAL"] = data
            .vertices("VEC3", bytemuck::cast_slice(&normals), 12)
            .into();
    }
    if !posed.tangents.is_empty() && !posed.normals.is_empty() {
        let unit = |tangent: &Vec4| {
            let direction = tangent.truncate().normalize_or(Vec3::X);
            direction.extend(if tangent.w < 0.0 { -1.0 } else { 1.0 })
        };
        let tangents: Vec<[f32; 4]> = posed
            .tangents
            .iter()
            .map(|tangent| unit(tangent).to_array())
            .collect();
        all["TANGENT"] = data
            .vertices("VEC4", bytemuck::cast_slice(&tangents), 16)
            .into();
    }
    let zeros = vec![Vec2::ZERO; posed.positions.len()];
    for (set, uvs) in [&part.uvs, &part.uvs1]
        .into_iter()
        .take(uv_sets)
        .enumerate()
    {
        let uvs = if uvs.is_empty() { &zeros } else { uvs };
        all[format!("TEXCOORD_{set}")] = data.vertices("VEC2", bytemuck::cast_slice(uvs), 8).into();
    }
    if !part.colors.is_empty() {
        let clamped = part
            .colors
            .iter()
            .map(|color| color.map(|value| value.clamp(0.0, 1.0)));
        let colors: Vec<[f32; 4]> = clamped.collect();
        all["COLOR_0"] = data
            .vertices("VEC4", bytemuck::cast_slice(&colors), 16)
            .into();
    }
    all
}

/// The container: header, JSON padded with spaces, binary part padded with zeros.
fn file(root: &Value, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let mut json = root.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let chunks = [(*b"JSON", json), (*b"BIN\0", bytes)];
    let length = 12
        + chunks
            .iter()
            .map(|(_, chunk)| chunk.len() + 8)
            .sum::<usize>();
    let mut file = b"glTF".to_vec();
    file.extend(2_u32.to_le_bytes());
    file.extend(u32::try_from(length).ok()?.to_le_bytes());
    for (kind, chunk) in chunks {
        file.extend(u32::try_from(chunk.len()).ok()?.to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    Some(file)
}
