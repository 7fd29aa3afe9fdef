//! Primitives that Draco compresses.
//!
//! The files in `draco/` are the arm of `builder.rs`, compressed by Google's encoder: with
//! gltf-pipeline (`edgebreaker.glb`) and gltf-transform (`sequential.glb`), positions of 16 bits.

use crate::builder::*;
use crate::help::*;
use crate::reference::cases;
use serde_json::{Value, json};
#[cfg(feature = "draco")]
use throng::glam::Vec3;
use throng::import;

const FILES: [&[u8]; 2] = [
    include_bytes!("draco/edgebreaker.glb"),
    include_bytes!("draco/sequential.glb"),
];
const DRACO: &str = "KHR_draco_mesh_compression";

/// The JSON and the binary chunk of a `.glb`.
fn parts(file: &[u8]) -> Builder {
    let length = u32::from_le_bytes(*file[12..].first_chunk().unwrap()) as usize;
    let (json, bin) = file[20..].split_at(length);
    let mut json: Value = serde_json::from_slice(json).unwrap();
    // The builder's chunk may have padding.
    json["buffers"][0]["byteLength"] = json!(bin.len() - 8);
    Builder {
        json,
        bin: bin[8..].to_vec(),
    }
}

#[cfg(feature = "draco")]
#[test]
fn compressed_primitives_give_the_same_character() {
    let want = import(&arm());
    for file in FILES {
        let got = throng_import::bytes(file, &options()).unwrap();
        assert_eq!(got.repairs, []);
        assert_eq!(got.curves(), want.curves());
        let corners = |imported: &import::Imported| {
            let primitive = &imported.primitives()[0];
            let corner = |index: &u32| {
                let vertex = *index as usize;
                let influences: Vec<_> = primitive.influences(vertex).collect();
                (primitive.positions[vertex], influences)
            };
            primitive.indices.iter().map(corner).collect::<Vec<_>>()
        };
        let (got, want) = (corners(&got), corners(&want));
        assert_eq!(got.len(), want.len());
        // The order of triangles may differ, and which corner is first.
        for triangle in got.chunks(3) {
            let same = |other: &[(Vec3, Vec<(usize, f32)>)]| {
                (0..3).any(|turn| {
                    (0..3).all(|at| {
                        let (got, want) = (&triangle[at], &other[(at + turn) % 3]);
                        (got.0 - want.0).length() < 1e-4 && got.1 == want.1
                    })
                })
            };
            assert!(want.chunks(3).any(same), "{triangle:?}");
        }
    }
}

#[cfg(feature = "draco")]
#[test]
fn faults_name_the_primitive_and_the_rule() {
    use throng::import::{ImportLimits, ImportOptions};
    let b = parts(FILES[0]);
    let extension = format!("/meshes/0/primitives/0/extensions/{DRACO}");
    let whole = format!("extensions.{DRACO}");
    for (case, path, value, words) in cases![
        format!("{extension}/bufferView"), json!(77)
            => format!(
            "{whole}: refers to bufferView 77, but there are {}",
            b.json["bufferViews"].as_array().unwrap().len()
        );
        format!("{extension}/attributes/POSITION"), json!(9)
            => "attributes.POSITION: refers to Draco attribute 9, but there are 3".into();
        format!("{extension}/attributes/COLOR_0"), json!(0)
            => "attributes.COLOR_0: missing the accessor of an attribute that Draco data \
                has".into();
        "/meshes/0/primitives/0/mode".into(), json!(5)
            => format!("mode: the mode is 5, which is not allowed here (4 with {DRACO})");
        "/meshes/0/primitives/0/indices".into(), json!(null)
            => format!("missing indices, which {DRACO} needs");
    ] {
        let told = refused(&changed(&b, &path, value).glb());
        let start = "f: mesh 0, primitives[0]";
        let both = [format!("{start}.{words}"), format!("{start}: {words}")];
        assert!(both.contains(&told), "{case}: {told}");
    }
    let mut other = b.clone();
    let joints = &b.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"];
    let joints = joints.as_u64().unwrap() as usize;
    other.json["accessors"][joints]["type"] = json!("VEC2");
    let words = "f: mesh 0, primitives[0].attributes.JOINTS_0: the Draco attribute, in \
        components, has 4, needs 2";
    assert_eq!(refused(&other.glb()), words);
    for (max_decoded_bytes, max_indices, limit) in [
        (200, 1 << 20, "limit of"),
        (
            1 << 20,
            11,
            "decodes 4 faces, over the caller's ceiling of 3",
        ),
    ] {
        let small = ImportOptions {
            limits: ImportLimits {
                decoded_bytes: max_decoded_bytes,
                indices: max_indices,
                ..ImportLimits::default()
            },
            ..options()
        };
        throng_import::bytes(FILES[0], &small).fails(format!("…{limit}…"));
    }
}

/// An encoder drops degenerate triangles and merges vertices, and a tool may keep the old counts.
#[cfg(feature = "draco")]
#[test]
fn counts_that_differ_from_the_accessor_are_repaired() {
    use throng::import::RepairKind;
    for file in FILES {
        let want = throng_import::bytes(file, &options()).unwrap();
        let b = parts(file);
        let primitive = &b.json["meshes"][0]["primitives"][0];
        let attributes = primitive["attributes"].as_object().unwrap();
        let named = attributes
            .iter()
            .map(|(name, accessor)| (format!("attributes.{name}"), accessor));
        let all = named.chain([("indices".to_owned(), &primitive["indices"])]);
        for (part, accessor) in all {
            let path = format!("/accessors/{accessor}/count");
            let count = b.json.pointer(&path).unwrap().as_u64().unwrap();
            for stated in [count - 3, count + 3, count + 12, 1 << 40] {
                let got = import(&changed(&b, &path, json!(stated)));
                assert_eq!(got.primitives(), want.primitives());
                let [repair] = &got.repairs[..] else {
                    panic!("{:?}", got.repairs);
                };
                repair.object.says(format!("mesh 0, primitives[0].{part}"));
                assert_eq!(repair.kind, RepairKind::DracoCount { stated });
                assert_eq!(repair.count, count);
            }
        }
        // An attribute beside the compressed data has no order that is known.
        let mut other = b.clone();
        let uvs = other.accessor("VEC2", F32, &[0.5_f32; 20]);
        other.json["buffers"][0]["byteLength"] = json!(other.bin.len());
        other.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(uvs);
        let words = "f: mesh 0, primitives[0].attributes.TEXCOORD_0: the accessor has 10, needs 6";
        assert_eq!(refused(&other.glb()), words);
    }
}

#[cfg(feature = "draco")]
#[test]
fn mutants_never_panic() {
    use crate::fuzz::{Random, digest, factor};
    use crate::reference::sweep::rounds;
    let mut random = Random::new(11);
    let (mut good, mut bad) = (0, 0);
    for file in FILES {
        let b = parts(file);
        let primitive = &b.json["meshes"][0]["primitives"][0]["extensions"][DRACO];
        let view = primitive["bufferView"].as_u64().unwrap() as usize;
        let view = &b.json["bufferViews"][view];
        let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
        let length = view["byteLength"].as_u64().unwrap() as usize;
        for _ in 0..rounds(2000) * factor() {
            let mut mutant = b.clone();
            for _ in 0..=random.below(3) {
                let at = start + random.below(length);
                mutant.bin[at] = match random.below(3) {
                    0 => mutant.bin[at] ^ 1 << random.below(8),
                    1 => 0xFF,
                    _ => random.next() as u8,
                };
            }
            *(if digest(&mutant.glb()) {
                &mut good
            } else {
                &mut bad
            }) += 1;
        }
    }
    assert!(good > 100 && bad > 100, "{good} imported, {bad} refused");
}

#[cfg(not(feature = "draco"))]
#[test]
fn without_the_decoder_the_error_names_the_feature() {
    let needs = format!("requires {DRACO}, which needs the Cargo feature `draco` of throng-import");
    for file in FILES {
        let b = parts(file);
        let words = format!("f: file, extensionsRequired: {needs}");
        assert_eq!(refused(&b.glb()), words);
        // Not declared as required, but without other data.
        let b = changed(&b, "/extensionsRequired", json!([]));
        let words = format!("f: mesh 0, primitives[0].extensions.{DRACO}: {needs}");
        assert_eq!(refused(&b.glb()), words);
    }
    // The uncompressed data is read.
    let mut b = arm();
    b.json["meshes"][0]["primitives"][0]["extensions"] =
        json!({ DRACO: { "bufferView": 0, "attributes": { "POSITION": 0 } } });
    assert_eq!(import(&b).primitives(), import(&arm()).primitives());
    assert!(throng_import::bytes(&b.glb(), &options()).is_ok());
}

/// The clips of a file need no decoder for its meshes.
#[test]
fn clips_of_compressed_files_are_added() {
    let arm = import(&arm());
    for file in FILES {
        let both = throng_import::add_clips_bytes(&arm, file, &options()).unwrap();
        assert_eq!(both.curves().len(), 2);
        assert_eq!(both.curves()[0].tracks(), both.curves()[1].tracks());
    }
}
