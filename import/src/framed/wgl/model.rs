//! Models: bones, and meshes of sub-meshes.

use super::json::{self, Bone, Model, Submesh};
use super::vertices::Vertices;
use crate::budget::Budget;
use crate::fault::{file_part, not_allowed};
use crate::framed::inverse_rest::{check_origin, inverse_rest, unusable_inverse};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::{Mat4, Quat, Vec3, Vec4};
use throng::import::{RawCharacter, RawNode, RawPrimitive, RawSkin, Repair, RepairKind};
use throng::mesh::Material;
use throng::skeleton::Transform;

pub(super) fn mirrored_position([x, y, z]: [f32; 3]) -> Vec3 {
    Vec3::new(-x, y, z)
}

/// A rotation (xyzw), mirrored in x.
pub(super) fn mirrored_rotation([x, y, z, w]: [f32; 4]) -> Quat {
    Quat::from_xyzw(x, -y, -z, w)
}

/// A matrix between two spaces that are both mirrored in x.
fn mirrored_matrix(columns: &[f32; 16]) -> Mat4 {
    let mirror = Mat4::from_diagonal(Vec4::new(-1.0, 1.0, 1.0, 1.0));
    mirror * Mat4::from_cols_array(columns) * mirror
}

pub(super) fn document(bytes: &[u8], budget: &Budget<'_>) -> Result<Model> {
    let model: Model = json::document(bytes, budget)?;
    json::check_version("wglmodel", "modelVersion", model.model_version)?;
    Ok(model)
}

/// The texture of each material, which is that of the mesh with its index.
pub(super) fn textures(model: &Model) -> Vec<(usize, &str)> {
    let names = model
        .meshes
        .0
        .iter()
        .map(|mesh| mesh.default_texture.as_deref());
    let names = names
        .enumerate()
        .map(|(index, name)| (index, name.unwrap_or_default()));
    names.filter(|(_, name)| !name.is_empty()).collect()
}

pub(super) fn read(
    model: &Model,
    vertices: &Vertices,
    budget: &mut Budget<'_>,
    repairs: &mut Vec<Repair>,
) -> Result<RawCharacter> {
    let bones = &model.bones.0;
    budget.nodes(bones.len() + 1)?;
    let mut raw = RawCharacter {
        nodes: nodes(bones)?,
        ..RawCharacter::default()
    };
    let inverse_bind = inverse_bind(bones, &raw.nodes, repairs)?;
    // Meshes without bones follow this node.
    let node = raw.nodes.len();
    raw.nodes.push(RawNode {
        name: model.name.as_str().into(),
        parent: None,
        transform: Transform::IDENTITY,
        matrix: None,
    });
    let mut skins = HashMap::new();
    for (index, mesh) in model.meshes.0.iter().enumerate() {
        raw.materials.push(Material {
            name: mesh.material.as_deref().unwrap_or_default().into(),
            ..Material::default()
        });
        for (number, submesh) in mesh.submeshes.0.iter().enumerate() {
            let at = Object::new(ObjectKind::Mesh, index, format!("primitives[{number}]"));
            budget.primitive(&at)?;
            budget.charge(model.name.len() as u64, &at)?;
            let indices = indices(submesh, vertices, budget, &at, repairs)?;
            let (streams, mut of_bones) = (&vertices.streams, None);
            let has_weights = !streams.weights.is_empty();
            if has_weights && bones.is_empty() {
                let mut at = at.clone();
                at.part = format!("{}, weights without bones", at.part).into();
                let count = streams.positions.len() as u64;
                Repair::note(repairs, &at, RepairKind::LeftOut, count);
            } else if has_weights {
                let range = bone_range(submesh, bones.len(), &at)?;
                of_bones = Some(match skins.entry(range) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        let each = size_of::<usize>() + size_of::<Mat4>();
                        let bytes = (range.1 - range.0) * each + model.name.len();
                        budget.charge(bytes as u64, &at)?;
                        raw.skins.push(RawSkin {
                            name: model.name.as_str().into(),
                            joints: (range.0..range.1).collect(),
                            inverse_bind: inverse_bind[range.0..range.1].to_vec(),
                        });
                        *new.insert(raw.skins.len() - 1)
                    }
                });
            }
            if indices.is_empty() {
                continue;
            }
            // Each sub-mesh gets a copy of all vertices. The first is counted where the file is
            // read.
            if !raw.primitives.is_empty() {
                budget.vertices(streams.positions.len() as u64, vertices.size, &at)?;
            }
            let mut primitive = RawPrimitive {
                name: model.name.as_str().into(),
                mesh: index,
                number,
                node,
                material: Some(index),
                skin: of_bones,
                indices,
                ..streams.clone()
            };
            if of_bones.is_none() {
                // There is no skin for them.
                primitive.influences_per_vertex = 0;
                (primitive.joints, primitive.weights) = Default::default();
            }
            raw.primitives.push(primitive);
        }
    }
    if let Some((bone, why)) = unusable_inverse(&raw) {
        if bones[bone].bind_pose_mat.0.is_empty() {
            check_origin(&raw.nodes, bone)?;
        } else {
            let at = Object::new(ObjectKind::Node, bone, "bindPoseMat");
            return Err(Error::asset(at, AssetFault::Invalid(why)));
        }
    }
    Ok(raw)
}

fn nodes(bones: &[Bone]) -> Result<Vec<RawNode>> {
    let node = |(index, bone): (usize, &Bone)| {
        let parent = match bone.parent {
            -1 => None,
            parent => Some(usize::try_from(parent).map_err(|_| {
                let why = not_allowed("the index", &parent.to_string(), "-1 or an index");
                Error::asset(Object::new(ObjectKind::Node, index, "parent"), why)
            })?),
        };
        Ok(RawNode {
            name: bone.name.as_str().into(),
            parent,
            transform: Transform {
                translation: mirrored_position(bone.pos),
                rotation: mirrored_rotation(bone.rot),
                scale: Vec3::ONE,
            },
            matrix: None,
        })
    };
    bones.iter().enumerate().map(node).collect()
}

/// The inverse bind matrix of each bone. Those that are empty come from the rest pose.
fn inverse_bind(bones: &[Bone], nodes: &[RawNode], repairs: &mut Vec<Repair>) -> Result<Vec<Mat4>> {
    let mut of_rest = None;
    let mut all = Vec::with_capacity(bones.len());
    let mut computed = 0;
    for (index, bone) in bones.iter().enumerate() {
        let columns = bone.bind_pose_mat.0.as_slice();
        all.push(match columns.try_into() {
            Ok(columns) => mirrored_matrix(columns),
            Err(_) if columns.is_empty() => {
                computed += u64::from(bone.skinned);
                of_rest.get_or_insert_with(|| inverse_rest(nodes))[index]
            }
            Err(_) => {
                let at = Object::new(ObjectKind::Node, index, "bindPoseMat");
                let (what, got) = ("the matrix", columns.len() as u64);
                let why = AssetFault::Count {
                    what,
                    got,
                    need: 16,
                };
                return Err(Error::asset(at, why));
            }
        });
    }
    let kind = RepairKind::InverseBindComputed;
    Repair::note(repairs, &file_part("bones"), kind, computed);
    Ok(all)
}

/// The indices of a sub-mesh, without those at its end that make no full triangle.
///
/// Mirroring swaps the order of each triangle's corners.
fn indices(
    submesh: &Submesh,
    vertices: &Vertices,
    budget: &mut Budget<'_>,
    at: &Object,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<u32>> {
    let (start, count) = (submesh.index_offset, submesh.index_count);
    let (end, len) = (start.saturating_add(count), vertices.indices.len() as u64);
    if end > len {
        let what = "index";
        let (index, count) = (end - 1, len);
        return Err(Error::asset(
            at.clone(),
            AssetFault::Dangling { what, index, count },
        ));
    }
    let trailing = count % 3;
    let mut of_indices = at.clone();
    of_indices.part = format!("{}.indices", at.part).into();
    Repair::note(repairs, &of_indices, RepairKind::TrailingIndices, trailing);
    budget.indices(count - trailing, at)?;
    // The range was checked against a list in memory.
    let mut indices = vertices.indices[start as usize..(end - trailing) as usize].to_vec();
    for triangle in indices.as_chunks_mut::<3>().0 {
        triangle.swap(1, 2);
    }
    Ok(indices)
}

/// The bones that a sub-mesh uses. Its vertices refer to them from the first on.
fn bone_range(submesh: &Submesh, bones: usize, at: &Object) -> Result<(usize, usize)> {
    let bones = bones as u64;
    let start = submesh.bone_offset;
    let end = match submesh.bone_count {
        0 => bones,
        count => start.saturating_add(count),
    };
    if start >= bones || end > bones {
        let why = AssetFault::Dangling {
            what: "bone",
            index: end.max(start.saturating_add(1)) - 1,
            count: bones,
        };
        return Err(Error::asset(at.clone(), why));
    }
    Ok((start as usize, end as usize))
}
