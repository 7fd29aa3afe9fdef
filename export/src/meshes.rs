//! Meshes: the primitives of each group, with triangles and influences.

use super::attributes;
use super::data::{BYTE, Data, SHORT};
use super::groups::Group;
use super::materials::Materials;
use super::objects::{at, named, rest_model_pose};
use super::omissions::Omissions;
use super::skins::{Carrier, Skin, Skins};
use serde_json::{Value, json};
use throng::Result;
use throng::character::Character;
use throng::glam::{Affine3A, DMat3, Mat3};
use throng::mesh::Primitive;

/// One mesh for each group.
pub(super) fn write(
    character: &Character,
    groups: &[Group<'_>],
    skins: &Skins,
    materials: &mut Materials<'_>,
    data: &mut Data,
    omissions: &mut Omissions,
) -> Result<Vec<Value>> {
    let rest = rest_model_pose(character.skeleton())?;
    let mut meshes = Vec::with_capacity(groups.len());
    for (group, carrier) in groups.iter().zip(&skins.carriers) {
        let skin = match carrier {
            Carrier::Joint(_) => None,
            Carrier::Skin(skin) => skins.list.get(*skin),
        };
        let mut primitives = Vec::with_capacity(group.primitives.len());
        for number in &group.primitives {
            let one = &character.primitives()[*number];
            let written = primitive_json(character, one, &rest, skin, materials, data, omissions);
            primitives.push(written.map_err(at("primitive", *number))?);
        }
        let mut mesh = named(group.name);
        mesh["primitives"] = primitives.into();
        if group.weights > 0 {
            let all = character.morph_weights().iter();
            let own = all.skip(group.first_weight).take(group.weights);
            let rest: Vec<f32> = own.clone().map(|weight| weight.rest).collect();
            mesh["weights"] = json!(rest);
            let names: Vec<&str> = own.map(|weight| &*weight.name).collect();
            if names.iter().any(|name| !name.is_empty()) {
                mesh["extras"]["targetNames"] = json!(names);
            }
        }
        meshes.push(mesh);
    }
    Ok(meshes)
}

fn primitive_json(
    character: &Character,
    primitive: &Primitive,
    rest: &[Affine3A],
    skin: Option<&Skin>,
    materials: &mut Materials<'_>,
    data: &mut Data,
    omissions: &mut Omissions,
) -> Result<Value> {
    let streams = attributes::Streams {
        positions: &primitive.positions,
        normals: &primitive.normals,
        tangents: &primitive.tangents,
    };
    let mut attributes = attributes::write(character, primitive, &streams, data, omissions)?;
    if let Some(skin) = skin {
        put_influences(&mut attributes, character, primitive, skin, data)?;
    }
    let triangles = triangles(character, primitive, rest);
    let mut written = json!({
        "attributes": attributes,
        "indices": data.indices(&triangles, primitive.vertex_count())?,
        "material": materials.index_of(primitive.material as usize),
    });
    if !primitive.targets.is_empty() {
        written["targets"] = attributes::write_targets(primitive, data)?.into();
    }
    Ok(written)
}

/// The triangles as a file has them, before an import flips those that the rest pose flips.
fn triangles(character: &Character, primitive: &Primitive, rest: &[Affine3A]) -> Vec<u32> {
    // In `f64`, near-singular matrices keep the sign of their determinant.
    let linear = |affine: &Affine3A| Mat3::from(affine.matrix3).as_dmat3();
    let palette = &character.palette()[character.palette_range(primitive)];
    let at_rest = palette
        .iter()
        .map(|entry| linear(&rest[entry.joint.index()]) * linear(&entry.inverse_bind));
    let at_rest: Vec<DMat3> = at_rest.collect();
    let per_vertex = primitive.influences_per_vertex as usize;
    let is_flipped = |vertex: &u32| {
        let vertex = *vertex as usize;
        let mut blend = DMat3::ZERO;
        for (at, (joint, _)) in (vertex * per_vertex..).zip(primitive.influences(vertex)) {
            let weight = primitive.weights.get(at).copied().unwrap_or(u16::MAX);
            blend += at_rest[joint] * (f64::from(weight) / 65_535.0);
        }
        blend.determinant() < 0.0
    };
    let mut indices = primitive.indices.clone();
    for triangle in indices.as_chunks_mut::<3>().0 {
        if triangle.iter().filter(|vertex| is_flipped(vertex)).count() >= 2 {
            triangle.swap(1, 2);
        }
    }
    indices
}

/// Adds the joints and weights of all vertices, in sets of four.
fn put_influences(
    attributes: &mut Value,
    character: &Character,
    primitive: &Primitive,
    skin: &Skin,
    data: &mut Data,
) -> Result<()> {
    let palette = &character.palette()[character.palette_range(primitive)];
    let indices: Vec<u16> = palette
        .iter()
        .map(|entry| skin.index_of(entry) as u16)
        .collect();
    let sets = (primitive.influences_per_vertex as usize).div_ceil(4);
    let vertices = primitive.vertex_count();
    data.expect_space(vertices.saturating_mul(sets * 4 * size_of::<u16>()))?;
    let mut joints = vec![[0_u16; 4]; sets * vertices];
    let mut weights = vec![[0_u16; 4]; sets * vertices];
    let mut used: Vec<(u16, u16)> = Vec::new();
    for vertex in 0..vertices {
        used.clear();
        let per_vertex = primitive.influences_per_vertex as usize;
        for (at, (joint, _)) in (vertex * per_vertex..).zip(primitive.influences(vertex)) {
            let weight = primitive.weights.get(at).copied().unwrap_or(u16::MAX);
            let index = indices[joint];
            // glTF allows a joint only once in a vertex, and no joint without weight.
            match used.iter_mut().find(|(joint, _)| *joint == index) {
                _ if weight == 0 => {}
                Some((_, known)) => *known += weight,
                None => used.push((index, weight)),
            }
        }
        for (number, (joint, weight)) in used.iter().enumerate() {
            let at = number / 4 * vertices + vertex;
            joints[at][number % 4] = *joint;
            weights[at][number % 4] = *weight;
        }
    }
    for set in 0..sets {
        let own = set * vertices..(set + 1) * vertices;
        let index = if skin.len() <= 256 {
            let narrow: Vec<[u8; 4]> = joints[own.clone()]
                .iter()
                .map(|joints| joints.map(|joint| joint as u8))
                .collect();
            data.integers("VEC4", BYTE, &narrow)?
        } else {
            data.integers("VEC4", SHORT, &joints[own.clone()])?
        };
        attributes[format!("JOINTS_{set}")] = index.into();
        let index = data.integers("VEC4", SHORT, &weights[own])?;
        data.accessors[index]["normalized"] = true.into();
        attributes[format!("WEIGHTS_{set}")] = index.into();
    }
    Ok(())
}
