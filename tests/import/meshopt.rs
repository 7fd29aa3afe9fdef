//! Views that are compressed with meshopt give the same character as uncompressed ones.
#![cfg(feature = "meshopt")]

use crate::builder::*;
use crate::fuzz::everything;
use crate::help::*;
use crate::reference::cases;
use meshoptimizer_rs::Workspace;
use meshoptimizer_rs::codec::*;
use serde_json::{Value, json};
use throng::glam::Quat;
use throng::import::{ImportLimits, ImportOptions};

const EXT: &str = "EXT_meshopt_compression";
const KHR: &str = "KHR_meshopt_compression";

fn attributes(bytes: &[u8], stride: usize, version: u8) -> Vec<u8> {
    let encoding = VertexEncoding::new(version, 2).unwrap();
    let mut workspace = Workspace::default();
    let count = bytes.len() / stride;
    encode_vertex_buffer(bytes, count, stride, encoding, &mut workspace).unwrap()
}

fn numbers(bytes: &[u8], stride: usize) -> Vec<u32> {
    let number = |bytes: &[u8]| match bytes {
        [a, b] => u32::from(u16::from_le_bytes([*a, *b])),
        bytes => u32::from_le_bytes(bytes.try_into().unwrap()),
    };
    bytes.chunks_exact(stride).map(number).collect()
}

fn triangles(bytes: &[u8], stride: usize, version: u8) -> Vec<u8> {
    let encoding = IndexEncoding::new(version).unwrap();
    encode_index_buffer(&numbers(bytes, stride), encoding, &mut Workspace::default()).unwrap()
}

fn indices(bytes: &[u8], stride: usize, version: u8) -> Vec<u8> {
    let encoding = IndexEncoding::new(version).unwrap();
    encode_index_sequence(&numbers(bytes, stride), encoding, &mut Workspace::default()).unwrap()
}

/// Compresses all views of a file that accessors use. The file's own buffer becomes a fallback
/// without data, and the compressed bytes a second buffer.
pub(crate) fn compressed(b: &Builder, extension: &str, version: u8) -> Builder {
    let mut out = b.clone();
    out.bin.clear();
    let mut index_views = Vec::new();
    for mesh in b.json["meshes"].as_array().unwrap() {
        for primitive in mesh["primitives"].as_array().unwrap() {
            let accessor = primitive["indices"].as_u64();
            let view = accessor.map(|at| &b.json["accessors"][at as usize]["bufferView"]);
            index_views.extend(view.and_then(Value::as_u64));
        }
    }
    let size_of = |view: usize| {
        let used = b.json["accessors"].as_array().unwrap().iter();
        let mut used = used.filter(|a| a["bufferView"] == json!(view));
        used.next().map(|accessor| {
            let width = match accessor["type"].as_str().unwrap() {
                "SCALAR" => 1,
                "VEC2" => 2,
                "VEC3" => 3,
                "VEC4" => 4,
                _ => 16,
            };
            width * [1, 1, 2, 2, 0, 4, 4][accessor["componentType"].as_u64().unwrap() as usize % 10]
        })
    };
    for (at, view) in b.json["bufferViews"].as_array().unwrap().iter().enumerate() {
        let start = view["byteOffset"].as_u64().unwrap() as usize;
        let bytes = &b.bin[start..][..view["byteLength"].as_u64().unwrap() as usize];
        let size = size_of(at);
        let is_list = index_views.contains(&(at as u64));
        let (mode, stride, encoded) = match size {
            Some(size) if is_list && at % 2 == 0 => {
                ("INDICES", size, indices(bytes, size, version))
            }
            Some(size) if is_list => ("TRIANGLES", size, triangles(bytes, size, version)),
            Some(size) if size % 4 == 0 => ("ATTRIBUTES", size, attributes(bytes, size, version)),
            // Images, and elements of other sizes: as they are.
            _ => {
                out.json["bufferViews"][at]["buffer"] = json!(1);
                out.json["bufferViews"][at]["byteOffset"] = json!(append(&mut out.bin, bytes));
                continue;
            }
        };
        out.json["bufferViews"][at]["extensions"] = json!({ extension: {
            "buffer": 1, "byteOffset": append(&mut out.bin, &encoded),
            "byteLength": encoded.len(), "byteStride": stride, "mode": mode,
            "count": bytes.len() / stride,
        } });
    }
    out.json["extensionsUsed"] = json!([extension]);
    out.json["extensionsRequired"] = json!([extension]);
    let uri = format!("data:;base64,{}", base64(&out.bin));
    out.json["buffers"] = json!([
        { "byteLength": b.bin.len(), "extensions": { extension: { "fallback": true } } },
        { "byteLength": out.bin.len(), "uri": uri },
    ]);
    out.bin.clear();
    out
}

fn append(bin: &mut Vec<u8>, bytes: &[u8]) -> usize {
    let start = bin.len();
    bin.extend_from_slice(bytes);
    start
}

/// The indices, with the least of each triangle first: the encoder may rotate corners.
fn turned(indices: &[u32]) -> Vec<[u32; 3]> {
    let turned = |corners: &[u32]| {
        let least = (0..3).min_by_key(|at| corners[*at]).unwrap();
        [0, 1, 2].map(|at| corners[(least + at) % 3])
    };
    indices.chunks_exact(3).map(turned).collect()
}

#[test]
fn compressed_views_give_the_same_character() {
    for original in [arm(), triangle(), everything()] {
        let expected = import(&original);
        for (extension, version) in [(EXT, 0), (KHR, 0), (KHR, 1)] {
            let packed = compressed(&original, extension, version);
            let imported = throng_import::bytes(&packed.gltf(), &options()).unwrap();
            assert_eq!(imported.primitives().len(), expected.primitives().len());
            for (got, want) in imported.primitives().iter().zip(expected.primitives()) {
                assert_eq!(turned(&got.indices), turned(&want.indices));
                let mut got = got.clone();
                got.indices = want.indices.clone();
                assert_eq!(got, *want, "{extension} {version}");
            }
            assert_eq!(imported.curves(), expected.curves());
            assert_eq!(imported.palette(), expected.palette());
            assert_eq!(imported.images(), expected.images());
        }
    }
}

/// Adds a compressed view, whose bytes are in buffer 1.
fn add_view(b: &mut Builder, bytes: &[u8], count: usize, stride: usize, filter: &str) -> usize {
    let encoded = attributes(bytes, stride, 0);
    let start = append(&mut b.bin, &encoded);
    b.add(
        "bufferViews",
        json!({ "buffer": 1, "byteLength": count * stride, "extensions": { KHR: {
            "buffer": 0, "byteOffset": start, "byteLength": encoded.len(),
            "byteStride": stride, "mode": "ATTRIBUTES", "count": count, "filter": filter,
        } } }),
    )
}

#[test]
fn filters_give_what_was_encoded() {
    let mut workspace = Workspace::default();
    let directions = [
        [0.0, 0.6, 0.8, 1.0],
        [0.0, -1.0, 0.0, 1.0],
        [-0.36, 0.48, 0.8, 1.0_f32],
    ];
    let flat = directions.concat();
    let colors = [
        [1.0, 0.5, 0.25, 1.0],
        [0.0, 1.0, 0.0, 0.5],
        [0.2, 0.4, 0.6, 0.8_f32],
    ];
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turns = [
        [0.0, 0.0, 0.0, 1.0],
        [half, 0.0, 0.0, half],
        [0.0, half, half, 0.0_f32],
    ];
    let moves = [[0.0, 1.0, -2.5], [100.0, 0.001, 3.0], [-1e6, 1e-6, 7.0_f32]];
    for (stride, code, most) in [(4, I8, U8), (8, I16, U16)] {
        let mut b = triangle();
        b.json["extensionsUsed"] = json!([KHR, "KHR_mesh_quantization"]);
        let bits = if stride == 4 { 8 } else { 16 };
        let oct = encode_filter_oct(3, stride, bits, &flat, &mut workspace).unwrap();
        let color = encode_filter_color(3, stride, bits, &colors.concat(), &mut workspace).unwrap();
        let quat = encode_filter_quat(3, 8, 16, &turns.concat(), &mut workspace).unwrap();
        let all = ExpMode::Separate;
        let exp = encode_filter_exp(3, 12, 24, &moves.concat(), all, &mut workspace).unwrap();
        let times = b.accessor("SCALAR", F32, &[0.0_f32, 1.0, 2.0]);
        let views = [
            add_view(&mut b, &oct, 3, stride, "OCTAHEDRAL"),
            add_view(&mut b, &color, 3, stride, "COLOR"),
            add_view(&mut b, &quat, 3, 8, "QUATERNION"),
            add_view(&mut b, &exp, 3, 12, "EXPONENTIAL"),
        ];
        let forms = [(code, "VEC3"), (most, "VEC4"), (I16, "VEC4"), (F32, "VEC3")];
        let [normal, color, turn, place] = std::array::from_fn(|at| {
            let (component, kind) = forms[at];
            b.add(
                "accessors",
                json!({ "bufferView": views[at], "componentType": component,
                "normalized": component != F32, "type": kind, "count": 3 }),
            )
        });
        b.json["bufferViews"][views[0]]["byteStride"] = json!(stride);
        let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
        attributes["NORMAL"] = json!(normal);
        attributes["COLOR_0"] = json!(color);
        b.json["animations"] = json!([{
            "samplers": [{ "input": times, "output": turn }, { "input": times, "output": place }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "rotation" } },
                         { "sampler": 1, "target": { "node": 0, "path": "translation" } }] }]);
        b.json["buffers"] = json!([{ "byteLength": b.bin.len() },
            { "byteLength": 64, "extensions": { KHR: { "fallback": true } } }]);
        let imported = throng_import::bytes(&b.glb(), &options()).unwrap();
        let near = |got: &[f32], want: &[f32], by: f32| {
            let far = got
                .iter()
                .zip(want)
                .any(|(got, want)| (got - want).abs() > by);
            assert!(!far && got.len() == want.len(), "{got:?} {want:?}");
        };
        let primitive = &imported.primitives()[0];
        let vertices = primitive.indices.iter().map(|at| *at as usize);
        for (vertex, want) in vertices.zip(0..3) {
            near(
                &primitive.normals[vertex].to_array(),
                &directions[want][..3],
                0.02,
            );
            near(&primitive.colors[vertex], &colors[want], 0.01);
        }
        let curves = imported.curves();
        for key in 0..3 {
            let mut pose = imported.skeleton().rest_pose().to_vec();
            curves[0].sample(key as f64, &mut pose).unwrap();
            let turn = Quat::from_array(turns[key]);
            assert!(pose[0].rotation.dot(turn).abs() > 0.9999);
            for (got, want) in pose[0].translation.to_array().iter().zip(moves[key]) {
                assert!((got - want).abs() <= want.abs() * 1e-6, "{got} {want}");
            }
        }
    }
}

#[test]
fn faults_name_the_view_and_the_rule() {
    let b = compressed(&arm(), EXT, 0);
    let of = |mode: &str| {
        let views = b.json["bufferViews"].as_array().unwrap().iter();
        let mut modes = views.map(|view| &view["extensions"][EXT]["mode"]);
        modes.position(|found| found == mode).unwrap()
    };
    let (first, list) = (of("ATTRIBUTES"), of("TRIANGLES"));
    let stride = "byteStride: the stride is";
    for (case, view, name, value, words) in cases![
        first, "buffer", json!(7) => "buffer: refers to buffer 7, but there are 2";
        first, "mode", json!("LINES")
            => "mode: the mode is LINES, which is not allowed here (ATTRIBUTES, TRIANGLES, \
                INDICES)";
        first, "filter", json!("SHINY")
            => "filter: the filter is SHINY, which is not allowed here (NONE, OCTAHEDRAL, \
                QUATERNION, EXPONENTIAL, COLOR)";
        list, "filter", json!("COLOR")
            => "filter: the filter is COLOR, which is not allowed here (NONE, unless the mode is \
                ATTRIBUTES)";
        first, "filter", json!("QUATERNION")
            => &format!("{stride} 12, which is not allowed here (8 for QUATERNION)");
        first, "filter", json!("OCTAHEDRAL")
            => &format!("{stride} 12, which is not allowed here (4 or 8 for OCTAHEDRAL)");
        first, "byteStride", json!(260)
            => &format!("{stride} 260, which is not allowed here (a multiple of 4, 4 to 256)");
        first, "byteStride", json!(0)
            => &format!("{stride} 0, which is not allowed here (a multiple of 4, 4 to 256)");
        list, "byteStride", json!(8)
            => &format!("{stride} 8, which is not allowed here (2 or 4 for TRIANGLES)");
        list, "count", json!(11) => "count: must be a multiple of 3 for TRIANGLES";
        first, "count", json!(0) => "count: must be at least 1";
        first, "count", json!(7)
            => "the decoded data (count × byteStride) in bytes has 84, needs 72";
        first, "count", json!(u64::MAX)
            => &format!(
            "the decoded data (count × byteStride) in bytes has {}, needs 72",
            u64::MAX
        );
        first, "byteLength", json!(99999)
            => &format!(
            "needs bytes 0..99999 of the buffer, which has {} bytes",
            b.json["buffers"][1]["byteLength"]
        );
        first, "byteLength", json!(0)
            => "cannot be decoded as meshopt data: invalid encoded stream";
        first, "byteLength", json!(20)
            => "cannot be decoded as meshopt data: invalid encoded stream";
    ] {
        let path = format!("/bufferViews/{view}/extensions/{EXT}/{name}");
        let dot = if words.split(':').next().unwrap().contains(' ') {
            ": "
        } else {
            "."
        };
        let words = format!("f: bufferView {view}, extensions.{EXT}{dot}{words}");
        refused(&changed(&b, &path, value).gltf()).says_in(case, words);
    }
    let other = changed(&b, &format!("/bufferViews/{first}/byteStride"), json!(16));
    refused(&other.gltf()).says("…differs from the view's own byteStride");
    let mut inner = b.clone();
    inner.json["bufferViews"][first]["extensions"][EXT]["buffer"] = json!(0);
    inner.json["bufferViews"][first]["extensions"][EXT]["byteOffset"] = json!(0);
    inner.json["bufferViews"][first]["extensions"][EXT]["byteLength"] = json!(4);
    let words = "f: buffer 0: missing uri; the buffer is a fallback for compressed views";
    assert_eq!(refused(&inner.gltf()), words);
}

#[test]
fn mutants_never_panic() {
    use crate::fuzz::{Random, digest, factor};
    use crate::reference::sweep::rounds;
    let mut random = Random::new(12);
    let (mut good, mut bad) = (0, 0);
    for (extension, version) in [(EXT, 0), (KHR, 1)] {
        let packed = compressed(&everything(), extension, version);
        let uri = packed.json["buffers"][1]["uri"].as_str().unwrap();
        let start = uri.find(',').unwrap() + 1;
        for _ in 0..rounds(2000) * factor() {
            // Digits of base64, so that the mutants are compressed bytes.
            let mut uri = uri.to_owned().into_bytes();
            for _ in 0..=random.below(3) {
                let at = start + random.below(uri.len() - start - 2);
                uri[at] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ/+0123456789"[random.below(38)];
            }
            let uri = String::from_utf8(uri).unwrap();
            let mutant = changed(&packed, "/buffers/1/uri", json!(uri));
            *(if digest(&mutant.gltf()) {
                &mut good
            } else {
                &mut bad
            }) += 1;
        }
    }
    assert!(good > 100 && bad > 100, "{good} imported, {bad} refused");
}

#[test]
fn decoded_bytes_count_against_the_cap() {
    // Zeros compress to almost nothing.
    let bytes = vec![0; 256 * 60_000];
    let encoded = attributes(&bytes, 256, 0);
    assert!(encoded.len() < bytes.len() / 20);
    let mut b = triangle();
    let start = append(&mut b.bin, &encoded);
    let view = b.add(
        "bufferViews",
        json!({ "buffer": 1, "byteLength": bytes.len(),
        "extensions": { EXT: { "buffer": 0, "byteOffset": start, "byteLength": encoded.len(),
        "byteStride": 256, "mode": "ATTRIBUTES", "count": 60_000 } } }),
    );
    b.json["accessors"][0]["bufferView"] = json!(view);
    b.json["buffers"] = json!([{ "byteLength": b.bin.len() },
        { "byteLength": bytes.len(), "extensions": { EXT: { "fallback": true } } }]);
    assert!(throng_import::bytes(&b.glb(), &options()).is_ok());
    let small = ImportOptions {
        limits: ImportLimits {
            decoded_bytes: 1 << 20,
            ..ImportLimits::default()
        },
        ..options()
    };
    let words = throng_import::bytes(&b.glb(), &small)
        .unwrap_err()
        .to_string();
    let start = format!("f: bufferView {view}, extensions.{EXT}: bytes of decoded data: ");
    words.says(format!("{start}…"));
}
