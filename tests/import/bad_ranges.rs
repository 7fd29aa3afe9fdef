//! Invalid references, ranges, forms and counts.

use crate::builder::*;
use crate::help::*;
use crate::reference::cases;
use serde_json::json;

#[test]
fn dangling_references() {
    for (case, path, words) in cases![
        "/scene" => "f: file, scene: refers to scene 99, but there are 1";
        "/scenes/0/nodes/0" => "f: scene 0, nodes[0]: refers to node 99, but there are 4";
        "/nodes/1/children/0" => "f: node 1, children[0]: refers to node 99, but there are 4";
        "/nodes/0/mesh" => "f: node 0, mesh: refers to mesh 99, but there are 1";
        "/nodes/0/skin" => "f: node 0, skin: refers to skin 99, but there are 1";
        "/skins/0/joints/1" => "f: skin 0, joints[1]: refers to node 99, but there are 4";
        "/skins/0/skeleton" => "f: skin 0, skeleton: refers to node 99, but there are 4";
        "/skins/0/inverseBindMatrices"
            => "f: skin 0, inverseBindMatrices: refers to accessor 99, but there are 7";
        "/meshes/0/primitives/0/indices"
            => "f: mesh 0, primitives[0].indices: refers to accessor 99, but there are 7";
        "/meshes/0/primitives/0/material"
            => "f: mesh 0, primitives[0].material: refers to material 99, but there are 1";
        "/meshes/0/primitives/0/attributes/POSITION"
            => "f: mesh 0, primitives[0].attributes.POSITION: refers to accessor 99, but there \
                are 7";
        "/animations/0/channels/0/sampler"
            => "f: animation 0, channels[0].sampler: refers to sampler 99, but there are 1";
        "/animations/0/channels/0/target/node"
            => "f: animation 0, channels[0].target.node: refers to node 99, but there are 4";
        "/animations/0/samplers/0/input"
            => "f: animation 0, samplers[0].input: refers to accessor 99, but there are 7";
        "/animations/0/samplers/0/output"
            => "f: animation 0, samplers[0].output: refers to accessor 99, but there are 7";
        "/accessors/2/bufferView"
            => "f: accessor 2, bufferView: refers to bufferView 99, but there are 7";
        "/bufferViews/2/buffer" => "f: bufferView 2, buffer: refers to buffer 99, but there are 1";
    ] {
        with(&arm(), path, json!(99)).says_in(case, words);
    }
    let mut b = arm();
    b.json["textures"] = json!([{ "source": 0, "sampler": 0 }]);
    refused(&b.glb()).says("f: texture 0, source: refers to image 0, but there are 0");
    b.json["images"] = json!([{}]);
    refused(&b.glb()).says("f: texture 0, sampler: refers to sampler 0, but there are 0");
    let words = with(
        &arm(),
        "/materials/0/pbrMetallicRoughness/baseColorTexture",
        json!({ "index": 3 }),
    );
    words.says(
        "f: material 0, pbrMetallicRoughness.baseColorTexture.index: refers to texture 3, but \
         there are 0",
    );
}

#[test]
fn ranges_with_numbers_near_2_to_the_64() {
    let huge = u64::MAX;
    for (case, path, value, words) in cases![
        "/accessors/0/byteOffset", json!(4)
            => "f: accessor 0: needs bytes 4..76 of the bufferView, which has 72 bytes";
        "/accessors/0/byteOffset", json!(huge)
            => "f: accessor 0: needs bytes 18446744073709551615..18446744073709551615 of the \
                bufferView, which has 72 bytes";
        "/accessors/0/byteOffset", json!(huge - 71)
            => "f: accessor 0: needs bytes 18446744073709551544..18446744073709551615 of the \
                bufferView, which has 72 bytes";
        "/accessors/0/count", json!(7)
            => "f: accessor 0: needs bytes 0..84 of the bufferView, which has 72 bytes";
        "/accessors/0/count", json!(huge)
            => "f: accessor 0: needs bytes 0..18446744073709551615 of the bufferView, which has \
                72 bytes";
        "/accessors/0/count", json!(huge / 12 + 2)
            => "f: accessor 0: needs bytes 0..18446744073709551615 of the bufferView, which has \
                72 bytes";
        "/accessors/0/count", json!(0) => "f: accessor 0, count: must be at least 1";
        "/bufferViews/0/byteStride", json!(8)
            => "f: accessor 0: the view's stride is less than an element";
        "/bufferViews/0/byteStride", json!(3)
            => "f: bufferView 0, byteStride: the stride is 3, which is not allowed here (4 to 252)";
        "/bufferViews/0/byteStride", json!(huge)
            => "f: bufferView 0, byteStride: the stride is 18446744073709551615, which is not \
                allowed here (4 to 252)";
        "/bufferViews/0/byteStride", json!(16)
            => "f: accessor 0: needs bytes 0..92 of the bufferView, which has 72 bytes";
    ] {
        with(&arm(), path, value).says_in(case, words);
    }
    for (path, value) in [
        ("/bufferViews/0/byteOffset", huge),
        ("/bufferViews/0/byteOffset", 1_000_000),
        ("/bufferViews/0/byteLength", huge),
        ("/bufferViews/0/byteLength", huge - 3),
    ] {
        with(&arm(), path, json!(value)).says("f: bufferView 0: needs bytes …");
    }
    let mut b = arm();
    b.json["buffers"] = json!([{ "byteLength": b.bin.len() + 4 }]);
    refused(&b.glb()).says("f: buffer 0: needs bytes 0..…");
    b.json["buffers"] = json!([{ "byteLength": huge, "uri": "data:;base64,AAAA" }]);
    refused(&b.glb()).says("…exceeds the limit of 1073741824…");
    b.json["buffers"] = json!([{ "byteLength": b.bin.len() }]);
    let json = b.json.to_string();
    refused(&glb(json.as_bytes(), None))
        .says("f: buffer 0: missing the file's BIN chunk, which a buffer without uri refers to");
    refused(json.as_bytes()).says("f: buffer 0: missing uri");
    b.json["bufferViews"][0]["buffer"] = json!(1);
    b.add("buffers", json!({ "byteLength": b.bin.len() }));
    refused(&b.glb()).says("f: buffer 1: missing uri");
}

#[test]
fn forms_that_are_not_allowed() {
    let b = arm();
    for (case, path, value, words) in cases![
        "/accessors/0/componentType", json!(5124)
            => "f: accessor 0, componentType: the component type is 5124, which is not allowed \
                here (5120 to 5123, 5125, 5126)";
        "/accessors/0/type", json!("VEC5")
            => "f: accessor 0, type: the type is VEC5, which is not allowed here (SCALAR, VEC2, \
                VEC3, VEC4, MAT2, MAT3, MAT4)";
        "/accessors/0/type", json!("VEC2")
            => "f: mesh 0, primitives[0].attributes.POSITION: the type of the accessor is VEC2, \
                which is not allowed here (VEC3)";
        "/accessors/1/componentType", json!(5120)
            => "f: mesh 0, primitives[0].attributes.JOINTS_0: the component type of the accessor \
                is 5120 (not normalised), which is not allowed here (5121, 5123, not normalised)";
        "/accessors/1/normalized", json!(true)
            => "f: mesh 0, primitives[0].attributes.JOINTS_0: the component type of the accessor \
                is 5121 (normalised), which is not allowed here (5121, 5123, not normalised)";
        "/accessors/1/type", json!("VEC3")
            => "f: mesh 0, primitives[0].attributes.JOINTS_0: the type of the accessor is VEC3, \
                which is not allowed here (VEC4)";
        "/accessors/2/componentType", json!(5121)
            => "f: mesh 0, primitives[0].attributes.WEIGHTS_0: the component type of the accessor \
                is 5121 (not normalised), which is not allowed here (5126, or normalised 5121, \
                5123)";
        "/accessors/3/componentType", json!(5122)
            => "f: mesh 0, primitives[0].indices: the component type of the accessor is 5122 (not \
                normalised), which is not allowed here (5121, 5123, 5125, not normalised)";
        "/accessors/4/componentType", json!(5125)
            => "f: skin 0, inverseBindMatrices: the component type of the accessor is 5125 (not \
                normalised), which is not allowed here (5126)";
        "/accessors/5/componentType", json!(5125)
            => "f: animation 0, samplers[0].input: the component type of the accessor is 5125 \
                (not normalised), which is not allowed here (5126)";
        "/accessors/6/componentType", json!(5123)
            => "f: animation 0, samplers[0].output: the component type of the accessor is 5123 \
                (not normalised), which is not allowed here (5126, or normalised 5120 to 5123)";
        "/animations/0/channels/0/target/path", json!("scale")
            => "f: animation 0, samplers[0].output: the type of the accessor is VEC4, which is \
                not allowed here (VEC3)";
        "/animations/0/samplers/0/interpolation", json!("BEZIER")
            => "f: animation 0, samplers[0].interpolation: the interpolation is BEZIER, which is \
                not allowed here (LINEAR, STEP, CUBICSPLINE)";
        "/meshes/0/primitives/0/mode", json!(7)
            => "f: mesh 0, primitives[0].mode: the mode is 7, which is not allowed here (0 to 6)";
    ] {
        with(&b, path, value).says_in(case, words);
    }
}

#[test]
fn counts_that_must_match() {
    let b = arm();
    for (case, path, value, words) in cases![
        "/accessors/1/count", json!(5)
            => "f: mesh 0, primitives[0].attributes.JOINTS_0: the accessor has 5, needs 6";
        "/accessors/2/count", json!(5)
            => "f: mesh 0, primitives[0].attributes.WEIGHTS_0: the accessor has 5, needs 6";
        "/accessors/4/count", json!(1)
            => "f: skin 0, inverseBindMatrices: the accessor has 1, needs 2";
        "/accessors/6/count", json!(2)
            => "f: animation 0, samplers[0].output: the accessor has 2, needs 3";
        "/animations/0/samplers/0/interpolation", json!("CUBICSPLINE")
            => "f: animation 0, samplers[0].output: the accessor has 3, needs 9";
        "/skins/0/joints", json!([]) => "f: skin 0: missing joints";
        "/meshes/0/primitives/0/attributes/WEIGHTS_0", json!(null)
            => "f: mesh 0, primitives[0].attributes.WEIGHTS_0: missing the weights of a set (the \
                node has a skin)";
        "/meshes/0/primitives/0/attributes/JOINTS_0", json!(null)
            => "f: mesh 0, primitives[0].attributes.JOINTS_0: missing the joints of a set (the \
                node has a skin)";
        "/meshes/0/primitives/0/attributes/JOINTS_1", json!(1)
            => "f: mesh 0, primitives[0].attributes.WEIGHTS_1: missing the weights of a set (the \
                node has a skin)";
        "/meshes/0/primitives/0/attributes/JOINTS_2", json!(1)
            => "f: mesh 0, primitives[0].attributes.JOINTS_1: missing the joints of a set (the \
                node has a skin)";
        "/meshes/0/primitives/0/attributes/JOINTS_9999999", json!(1)
            => "f: mesh 0, primitives[0]: influences: 40000000 exceeds the limit of 256";
    ] {
        with(&b, path, value).says_in(case, words);
    }
}

#[test]
fn sparse_parts_are_checked() {
    let sparse = |places: [u8; 2], count: u32, component: u32| {
        let mut b = triangle();
        let places = b.view(&places);
        let values = b.view(&[0.0_f32; 6]);
        b.json["accessors"][0]["sparse"] = json!({ "count": count,
            "indices": { "bufferView": places, "componentType": component },
            "values": { "bufferView": values } });
        b
    };
    assert!(throng_import::bytes(&sparse([0, 2], 2, U8).glb(), &options()).is_ok());
    for (case, b, words) in cases![
        sparse([0, 3], 2, U8)
            => "f: accessor 0, sparse.indices: index 1 is 3, must be greater than the one before \
                it and less than the accessor's count";
        sparse([1, 1], 2, U8)
            => "f: accessor 0, sparse.indices: index 1 is 1, must be greater than the one before \
                it and less than the accessor's count";
        sparse([2, 1], 2, U8)
            => "f: accessor 0, sparse.indices: index 1 is 1, must be greater than the one before \
                it and less than the accessor's count";
        sparse([0, 1], 0, U8) => "f: accessor 0, sparse.count: the sparse part has 0, needs 3";
        sparse([0, 1], 4, U8) => "f: accessor 0, sparse.count: the sparse part has 4, needs 3";
        sparse([0, 1], 3, U8)
            => "f: accessor 0, sparse.indices: needs bytes 0..3 of the bufferView, which has 2 \
                bytes";
        sparse([0, 1], 2, U32)
            => "f: accessor 0, sparse.indices: needs bytes 0..8 of the bufferView, which has 2 \
                bytes";
        sparse([0, 1], 2, F32)
            => "f: accessor 0, sparse.indices.componentType: the component type is 5126, which is \
                not allowed here (5121, 5123, 5125)";
    ] {
        refused(&b.glb()).says_in(case, words);
    }
    let mut b = sparse([0, 1], 2, U8);
    b.json["accessors"][0]["sparse"]["values"]["byteOffset"] = json!(u64::MAX);
    refused(&b.glb()).says("f: accessor 0, sparse.values: needs bytes…");
}

#[test]
fn a_stride_of_0_is_none() {
    let mut b = arm();
    for view in b.json["bufferViews"].as_array_mut().unwrap() {
        view["byteStride"] = json!(0);
    }
    assert_eq!(repaired(&b), repaired(&arm()));
    b.json["bufferViews"][0]["byteStride"] = json!(0.0);
    assert_eq!(repaired(&b), repaired(&arm()));
    let places = b.view(&[1_u8]);
    let values = b.view(&[-0.5, 0.0, 0.0_f32]);
    b.json["accessors"][0]["sparse"] = json!({ "count": 1,
        "indices": { "bufferView": places, "componentType": U8 },
        "values": { "bufferView": values } });
    let expected = repaired(&b);
    b.json["bufferViews"][places]["byteStride"] = json!(0);
    b.json["bufferViews"][values]["byteStride"] = json!(0);
    assert_eq!(repaired(&b), expected);
}
