//! Meshes: the primitives of each group, with triangles and influences.

use super::attributes;
use super::data::{BYTE, Data, SHORT};
use super::groups::Group;
use super::materials::Materials;
use super::named;
use super::omissions::Omissions;
use super::skins::{Carrier, Skin, Skins};
use crate::character::Character;
use crate::error::Result;
use crate::mesh::{Primitive, flip_triangles, flipped_vertices, linear};
use crate::skeleton::rest_model_pose;
use glam::{Affine3A, DMat3};
use serde_json::{Value, json};

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
            let part = &character.primitives()[*number];
            let written = primitive(character, part, &rest, skin, materials, data, omissions);
            primitives.push(written.map_err(|why| why.at("primitive", *number))?);
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

fn primitive(
    character: &Character,
    part: &Primitive,
    rest: &[Affine3A],
    skin: Option<&Skin>,
    materials: &mut Materials<'_>,
    data: &mut Data,
    omissions: &mut Omissions,
) -> Result<Value> {
    let streams = attributes::Streams {
        positions: &part.positions,
        normals: &part.normals,
        tangents: &part.tangents,
    };
    let mut attributes = attributes::write(character, part, &streams, data, omissions)?;
    if let Some(skin) = skin {
        put_influences(&mut attributes, character, part, skin, data)?;
    }
    let triangles = triangles(character, part, rest);
    let mut primitive = json!({
        "attributes": attributes,
        "indices": data.indices(&triangles, part.vertex_count())?,
        "material": materials.index_of(part.material as usize),
    });
    if !part.targets.is_empty() {
        primitive["targets"] = attributes::write_targets(part, data)?.into();
    }
    Ok(primitive)
}

/// The triangles as a file has them, before an import turns those that the rest pose flips.
fn triangles(character: &Character, part: &Primitive, rest: &[Affine3A]) -> Vec<u32> {
    let palette = &character.palette()[character.palette_range(part)];
    let at_rest = palette
        .iter()
        .map(|entry| linear(&rest[entry.joint.index()]) * linear(&entry.inverse_bind));
    let at_rest: Vec<DMat3> = at_rest.collect();
    let weight = |at: usize| part.weights.get(at).copied().unwrap_or(u16::MAX);
    let influences = (0..part.joints.len()).map(|at| (part.joints.get(at), weight(at)));
    let per_vertex = part.influences_per_vertex as usize;
    let mut indices = part.indices.clone();
    flip_triangles(
        &mut indices,
        &flipped_vertices(&at_rest, influences, per_vertex),
    );
    indices
}

/// Adds the joints and weights of all vertices, in sets of four.
fn put_influences(
    attributes: &mut Value,
    character: &Character,
    part: &Primitive,
    skin: &Skin,
    data: &mut Data,
) -> Result<()> {
    let palette = &character.palette()[character.palette_range(part)];
    let slots: Vec<u16> = palette
        .iter()
        .map(|entry| skin.slot(entry) as u16)
        .collect();
    let sets = (part.influences_per_vertex as usize).div_ceil(4);
    let vertices = part.vertex_count();
    data.expect_space(vertices.saturating_mul(sets * 4 * size_of::<u16>()))?;
    let mut joints = vec![[0_u16; 4]; sets * vertices];
    let mut weights = vec![[0_u16; 4]; sets * vertices];
    let mut used: Vec<(u16, u16)> = Vec::new();
    for vertex in 0..vertices {
        used.clear();
        let per_vertex = part.influences_per_vertex as usize;
        for at in vertex * per_vertex..(vertex + 1) * per_vertex {
            let weight = part.weights.get(at).copied().unwrap_or(u16::MAX);
            let slot = slots[part.joints.get(at)];
            // glTF allows a joint only once in a vertex, and no joint without weight.
            match used.iter_mut().find(|(joint, _)| *joint == slot) {
                _ if weight == 0 => {}
                Some((_, known)) => *known += weight,
                None => used.push((slot, weight)),
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
