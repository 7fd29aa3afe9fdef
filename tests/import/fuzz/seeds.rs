//! The files that are mutated.

use crate::builder::{Builder, F32, I8, U8, U16, arm, grey_png, triangle};
use crate::level_files::levels;
use crate::vrm::{vrm0, vrm1};
use serde_json::json;

/// A file that uses most features that the importer reads.
pub(crate) fn everything() -> Builder {
    let mut b = arm();
    let sparse_places = b.view(&[1_u8, 4]);
    let sparse_values = b.view(&[0.1_f32, 0.2, 0.3, 0.4, 0.5, 0.6]);
    let normals = b.add(
        "accessors",
        json!({
            "componentType": F32, "type": "VEC3", "count": 6,
            "sparse": { "count": 2,
                "indices": { "bufferView": sparse_places, "componentType": U8 },
                "values": { "bufferView": sparse_values } },
        }),
    );
    let uvs: Vec<u16> = (0..12).map(|v| v * 5000).collect();
    let uvs = b.normalized("VEC2", U16, &uvs);
    let second = b.accessor("VEC2", F32, &[0.25_f32; 12]);
    let tangents = b.accessor("VEC4", F32, &[0.0, 0.6, 0.8, -1.0_f32].repeat(6));
    let colors = b.normalized("VEC4", U8, &[200_u8; 24]);
    let joints = b.accessor("VEC4", U8, &[0_u8; 24]);
    let weights = b.normalized("VEC4", U8, &[0_u8; 24]);
    let view = b.view(&grey_png(4, 4));
    b.add(
        "images",
        json!({ "bufferView": view, "mimeType": "image/png" }),
    );
    b.add("samplers", json!({ "magFilter": 9728, "wrapS": 33071 }));
    b.add("textures", json!({ "source": 0, "sampler": 0 }));
    b.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = json!({
        "index": 0, "texCoord": 0,
        "extensions": { "KHR_texture_transform": { "offset": [0.5, 0.0], "rotation": 1.0 } } });
    let material = &mut b.json["materials"][0];
    material["doubleSided"] = json!(true);
    material["alphaMode"] = json!("MASK");
    material["alphaCutoff"] = json!(0.25);
    material["emissiveFactor"] = json!([0.5, 0.25, 1]);
    material["normalTexture"] = json!({ "index": 0, "texCoord": 3, "scale": 0.5 });
    material["occlusionTexture"] = json!({ "index": 0, "strength": 0.5 });
    material["extensions"] = json!({ "KHR_materials_clearcoat": {},
        "KHR_materials_emissive_strength": { "emissiveStrength": 2.5 } });
    let pbr = &mut material["pbrMetallicRoughness"];
    pbr["metallicFactor"] = json!(0.5);
    pbr["metallicRoughnessTexture"] = json!({ "index": 0, "texCoord": 3 });
    let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["NORMAL"] = json!(normals);
    attributes["TANGENT"] = json!(tangents);
    attributes["TEXCOORD_0"] = json!(uvs);
    attributes["TEXCOORD_3"] = json!(second);
    attributes["COLOR_0"] = json!(colors);
    attributes["JOINTS_1"] = json!(joints);
    attributes["WEIGHTS_1"] = json!(weights);
    let times = b.accessor("SCALAR", F32, &[0.25_f32, 0.75]);
    let cubic: Vec<f32> = (0..18).map(|v| v as f32 * 0.1).collect();
    let cubic = b.accessor("VEC3", F32, &cubic);
    b.json["animations"].as_array_mut().unwrap().push(json!({
        "samplers": [{ "input": times, "output": cubic, "interpolation": "CUBICSPLINE" }],
        "channels": [{ "sampler": 0, "target": { "node": 1, "path": "translation" } },
                     { "sampler": 0, "target": { "node": 2, "path": "scale" } }],
    }));
    b.json["nodes"].as_array_mut().unwrap().push(json!({
        "name": "Sword", "mesh": 1, "matrix": [1,0,0,0, 0,2,0,0, 0,0,1,0, 3,4,5,1] }));
    b.json["nodes"][3]["children"] = json!([4]);
    b.json["meshes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "primitives": [
        { "attributes": { "POSITION": 0 }, "mode": 5, "targets": [{}] },
        { "attributes": { "POSITION": 0 }, "mode": 6, "targets": [{ "COLOR_0": 0 }] } ] }));
    b
}

/// A file of morph targets on two nodes, with all three kinds of curves.
///
/// The targets are dense, sparse, sparse over a view, and quantised.
fn morphs() -> Builder {
    let mut b = triangle();
    b.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    let normals = b.accessor("VEC3", F32, &[[0.0, 0.0, 1.0_f32]; 3].concat());
    let dense = b.accessor("VEC3", F32, &[0.5_f32; 9]);
    let bytes = b.normalized("VEC3", I8, &[0_i8, 1, 2, 3, -4, 5, 0, 0, 0]);
    let places = b.view(&[0_u8, 2]);
    let values = b.view(&[0.25_f32; 6]);
    let sparse = json!({ "count": 2,
        "indices": { "bufferView": places, "componentType": U8 },
        "values": { "bufferView": values } });
    let [thin, over] = [
        json!(null),
        b.json["accessors"][dense]["bufferView"].clone(),
    ]
    .map(|view| {
        b.add(
            "accessors",
            json!({ "bufferView": view, "componentType": F32, "type": "VEC3", "count": 3,
                "sparse": sparse }),
        )
    });
    let primitive = &mut b.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["NORMAL"] = json!(normals);
    primitive["targets"] = json!([
        { "POSITION": dense, "NORMAL": thin }, { "POSITION": bytes, "TEXCOORD_0": 0 },
        { "POSITION": over } ]);
    b.json["meshes"][0]["weights"] = json!([0.5, 0, -1]);
    b.json["meshes"][0]["extras"] = json!({ "targetNames": ["a", "b"] });
    b.json["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0, "weights": [1, 1, 1], "name": "n" }]);
    b.json["scenes"] = json!([{ "nodes": [0, 1] }]);
    let times = b.accessor("SCALAR", F32, &[0.25_f32, 0.75]);
    let values: Vec<f32> = (0..18).map(|v| v as f32 * 0.1).collect();
    let cubic = b.accessor("SCALAR", F32, &values);
    let linear = b.normalized("SCALAR", U8, &[0_u8, 50, 100, 150, 200, 250]);
    let sampler = |output: usize, kind: &str| json!({ "input": times, "output": output, "interpolation": kind });
    let channel = |sampler: usize, node: usize| json!({ "sampler": sampler, "target": { "node": node, "path": "weights" } });
    b.json["animations"] = json!([
        { "samplers": [sampler(cubic, "CUBICSPLINE"), sampler(linear, "LINEAR")],
          "channels": [channel(0, 0), channel(1, 1)] },
        { "samplers": [sampler(linear, "STEP")], "channels": [channel(0, 1)] } ]);
    b
}

/// Prints a line that is visible even if the test passes.
fn loudly(words: &str) {
    use std::io::Write as _;
    drop(writeln!(std::io::stderr(), "{words}"));
}

/// The files that are mutated.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![
        everything().glb(),
        everything().gltf(),
        morphs().glb(),
        morphs().gltf(),
        arm().glb(),
        levels().gltf(),
        triangle().gltf(),
        vrm0().glb(),
        vrm1().glb(),
    ];
    match std::env::var_os("THRONG_ASSETS") {
        None => loudly("NOT TESTED: THRONG_ASSETS is not set; no published model is mutated"),
        Some(folder) => {
            let folder = std::path::PathBuf::from(folder);
            for name in [
                "CesiumMan.glb",
                "MorphStressTest.glb",
                "SimpleSkin.gltf",
                "quad_skin.glb",
                "RiggedSimple.glb",
                "Fox.glb",
            ] {
                seeds.extend(std::fs::read(folder.join(name)));
            }
        }
    }
    seeds
}
