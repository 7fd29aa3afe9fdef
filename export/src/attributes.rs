//! Vertex attributes besides influences, and morph targets.

use super::data::Data;
use super::omissions::{Omission, Omissions};
use serde_json::{Value, json};
use throng::Result;
use throng::character::Character;
use throng::glam::{Vec2, Vec3, Vec4};
use throng::mesh::{Material, MorphTarget, Primitive};

/// The largest deviation from length 1 that stays: the validator of glTF allows 5e-4.
const UNIT_TOLERANCE: f32 = 1e-4;

/// The streams that a pose changes: those of the primitive, or posed ones.
pub(super) struct Streams<'a> {
    pub(super) positions: &'a [Vec3],
    pub(super) normals: &'a [Vec3],
    pub(super) tangents: &'a [Vec4],
}

/// The vertex data. Sets of texture coordinates that do not exist are 0, 0 at all vertices.
pub(super) fn write(
    character: &Character,
    primitive: &Primitive,
    streams: &Streams<'_>,
    data: &mut Data,
    omissions: &mut Omissions,
) -> Result<Value> {
    let mut all = json!({ "POSITION": data.positions(streams.positions)? });
    if !streams.normals.is_empty() {
        let normals = streams.normals.iter().map(|normal| unit(*normal, Vec3::Y));
        all["NORMAL"] = data.vertices("VEC3", &normals.collect::<Vec<_>>())?.into();
    }
    if !streams.tangents.is_empty() && !streams.normals.is_empty() {
        let tangents = streams.tangents.iter().map(|tangent| {
            let direction = unit(tangent.truncate(), Vec3::X);
            let sign = if tangent.w < 0.0 { -1.0 } else { 1.0 };
            direction.extend(sign).to_array()
        });
        all["TANGENT"] = data.vertices("VEC4", &tangents.collect::<Vec<_>>())?.into();
    }
    let zeros = vec![Vec2::ZERO; streams.positions.len()];
    for (set, uvs) in [&primitive.uvs, &primitive.uvs1]
        .into_iter()
        .take(uv_sets(character, primitive))
        .enumerate()
    {
        let uvs = if uvs.is_empty() { &zeros } else { uvs };
        all[format!("TEXCOORD_{set}")] = data.vertices("VEC2", uvs)?.into();
    }
    if !primitive.colors.is_empty() {
        let clamped = primitive
            .colors
            .iter()
            .map(|color| color.map(|c| c.clamp(0.0, 1.0)));
        let clamped: Vec<[f32; 4]> = clamped.collect();
        let changed = clamped
            .iter()
            .zip(&primitive.colors)
            .filter(|(a, b)| a != b);
        omissions.add(Omission::ColorsClamped, changed.count());
        all["COLOR_0"] = data.vertices("VEC4", &clamped)?.into();
    }
    Ok(all)
}

/// The number of sets of texture coordinates that a primitive has or its textures use.
fn uv_sets(character: &Character, primitive: &Primitive) -> usize {
    let own = match (primitive.uvs.is_empty(), primitive.uvs1.is_empty()) {
        (true, true) => 0,
        (false, true) => 1,
        (_, false) => 2,
    };
    let material = character.materials().get(primitive.material as usize);
    let textures = material.into_iter().flat_map(Material::textures).flatten();
    let used = textures.map(|texture| texture.uv_set as usize + 1);
    used.max().unwrap_or(0).max(own)
}

/// The vector with unit length, and with the same bits if it is near enough to that.
fn unit(vector: Vec3, instead: Vec3) -> Vec3 {
    match (vector.length() - 1.0).abs() <= UNIT_TOLERANCE {
        true => vector,
        false => vector.normalize_or(instead),
    }
}

/// The targets of a primitive. All have the same attributes, because readers expect that.
pub(super) fn write_targets(primitive: &Primitive, data: &mut Data) -> Result<Vec<Value>> {
    let has = |stream: fn(&MorphTarget) -> bool| primitive.targets.iter().any(stream);
    let normals = !primitive.normals.is_empty() && has(|target| !target.normals.is_empty());
    let tangents = !primitive.normals.is_empty()
        && !primitive.tangents.is_empty()
        && has(|target| !target.tangents.is_empty());
    let count = primitive.vertex_count();
    let mut targets = Vec::with_capacity(primitive.targets.len());
    for target in &primitive.targets {
        // A stream without offsets changes no vertex.
        let moved = |list: &[_]| {
            if list.is_empty() {
                0
            } else {
                target.vertices.len()
            }
        };
        let mut one = json!({});
        for (name, list, is_there, bounds) in [
            ("POSITION", &target.positions, true, true),
            ("NORMAL", &target.normals, normals, false),
            ("TANGENT", &target.tangents, tangents, false),
        ] {
            if is_there {
                let vertices = &target.vertices[..moved(list)];
                one[name] = data.sparse(count, vertices, list, bounds)?.into();
            }
        }
        targets.push(one);
    }
    Ok(targets)
}
