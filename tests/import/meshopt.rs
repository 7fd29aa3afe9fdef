//! Views that are compressed with meshopt give the same character as uncompressed ones.
#![cfg(feature = "meshopt")]

use crate::builder::*;
use crate::help::*;
use meshoptimizer_rs::codec::*;
use meshoptimizer_rs::{Error, Workspace};
use serde_json::{Value, json};
use throng::import::{ImportOptions, gltf};

const EXT: &str = "EXT_meshopt_compression";
const KHR: &str = "KHR_meshopt_compression";

type Encoded = Result<Vec<u8>, Error>;

fn attributes(bytes: &[u8], stride: usize, version: u8) -> Vec<u8> {
    let encoding = VertexEncoding { version, level: 2 };
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
    let encoding = IndexEncoding { version };
    encode_index_buffer(&numbers(bytes, stride), encoding, &mut Workspace::default()).unwrap()
}

fn indices(bytes: &[u8], stride: usize, version: u8) -> Vec<u8> {
    let encoding = IndexEncoding { version };
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
            Some(size) if is_list && at % 2 == 0 => ("INDICES", size, indices(bytes, size, version)),
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

/// The arm, whose only view of indices has an odd number, so that its mode is TRIANGLES.
fn packed_arm() -> Builder {
    compressed(&arm(), EXT, 0)
}

#[test]
fn compressed_views_give_the_same_character() {
    for original in [arm(), triangle(), crate::fuzz::everything()] {
        let expected = import(&original);
        for (extension, version) in [(EXT, 0), (KHR, 0), (KHR, 1)] {
            let packed = compressed(&original, extension, version);
            let imported = gltf(&packed.gltf(), &options()).unwrap();
            assert_eq!(imported.primitives(), expected.primitives(), "{extension}");
            assert_eq!(imported.curves(), expected.curves());
            assert_eq!(imported.palette(), expected.palette());
        }
    }
}
