//! Morph targets.

use super::data::Data;
use crate::error::Result;
use crate::mesh::{MorphTarget, Primitive};
use serde_json::{Value, json};

/// The targets of a primitive. All have the same attributes, because readers expect that.
pub(super) fn write(part: &Primitive, data: &mut Data) -> Result<Vec<Value>> {
    let has = |stream: fn(&MorphTarget) -> bool| part.targets.iter().any(stream);
    let normals = !part.normals.is_empty() && has(|target| !target.normals.is_empty());
    let tangents = !part.normals.is_empty()
        && !part.tangents.is_empty()
        && has(|target| !target.tangents.is_empty());
    let count = part.vertex_count();
    let mut targets = Vec::with_capacity(part.targets.len());
    for target in &part.targets {
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
