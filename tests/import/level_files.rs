//! Files with levels of detail.

use crate::builder::{Builder, F32, U8, U16, arm, at_height};
use serde_json::{Value, json};

/// A vault over the unit square: at x, it is x (1 - x) high.
pub(crate) fn vault(columns: usize) -> (Vec<[f32; 3]>, Vec<u16>) {
    let row = |at: usize| {
        let x = at as f32 / columns as f32;
        [[x, 0.0, x * (1.0 - x)], [x, 1.0, x * (1.0 - x)]]
    };
    let indices = (0..columns as u16).map(|at| at * 2);
    let quad = |at: u16| [at, at + 2, at + 3, at, at + 3, at + 1];
    (
        (0..=columns).flat_map(row).collect(),
        indices.flat_map(quad).collect(),
    )
}

/// A primitive that draws the vault.
pub(crate) fn primitive(b: &mut Builder, columns: usize) -> Value {
    let (positions, indices) = vault(columns);
    let position = b.accessor("VEC3", F32, positions.as_flattened());
    let indices = b.accessor("SCALAR", U16, &indices);
    json!({ "attributes": { "POSITION": position }, "indices": indices })
}

/// A file with levels by name and by list, with skins and morph targets.
pub(crate) fn levels() -> Builder {
    let mut b = skinned_level();
    for (name, columns) in [("hat_LOD0", 4), ("hat_LOD1", 2), ("LOD_2", 1)] {
        let mut primitive = primitive(&mut b, columns);
        let lift = b.accessor("VEC3", F32, &[0.0, 0.0, 1.0_f32].repeat(columns * 2 + 2));
        primitive["targets"] = json!([{ "POSITION": lift }]);
        let mesh = b.add("meshes", json!({ "primitives": [primitive] }));
        let node = b.add("nodes", json!({ "name": name, "mesh": mesh }));
        b.json["scenes"][0]["nodes"]
            .as_array_mut()
            .unwrap()
            .push(json!(node));
    }
    b
}

/// The arm, and a level of one column (two triangles) on skin 1, whose joints are turned around.
pub(crate) fn skinned_level() -> Builder {
    let mut b = arm();
    let corners = [
        -0.5, 0.0, 0.0, 0.5, 0.0, 0.0, -0.5, 2.0, 0.0, 0.5, 2.0, 0.0_f32,
    ];
    let position = b.accessor("VEC3", F32, &corners);
    // Joint 1 is the upper one now. The second of two sets of influences is unused.
    let joints = b.accessor("VEC4", U8, &[1_u8, 0, 0, 0].repeat(4));
    let weights = [1.0, 0.0, 0.0, 0.0_f32].repeat(2);
    let weights = [weights, [0.0, 1.0, 0.0, 0.0].repeat(2)].concat();
    let weights = b.accessor("VEC4", F32, &weights);
    let none = b.accessor("VEC4", F32, &[0.0_f32; 16]);
    let indices = b.accessor("SCALAR", U16, &[0_u16, 1, 3, 0, 3, 2]);
    b.add(
        "meshes",
        json!({ "name": "Plank", "primitives": [{
        "attributes": { "POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights,
            "JOINTS_1": joints, "WEIGHTS_1": none },
        "indices": indices, "material": 0 }]}),
    );
    let binds: Vec<f32> = [1.0, 0.0_f32].iter().flat_map(|y| at_height(-y)).collect();
    let binds = b.accessor("MAT4", F32, &binds);
    b.add(
        "skins",
        json!({ "joints": [3, 2], "inverseBindMatrices": binds }),
    );
    let level = b.add("nodes", json!({ "name": "Plank", "mesh": 1, "skin": 1 }));
    list(&mut b, 0, &[level]);
    b
}

/// Lists nodes as the levels of another.
pub(crate) fn list(b: &mut Builder, node: usize, ids: &[usize]) {
    b.json["nodes"][node]["extensions"] = json!({ "MSFT_lod": { "ids": ids } });
}
