//! A small file cannot make the importer allocate much. Peaks are measured under the default caps.

use crate::builder::{Builder, F32, U8, U32, arm, glb, grey_png, triangle};
use crate::counting::{measure, peak_bytes};
use crate::reference::words::Fails;
use serde_json::json;
use throng::import::{ImportLimits, ImportOptions};

/// The peak of bytes of an import of `bytes`, and true if it succeeded.
fn peak(bytes: &[u8]) -> (usize, bool) {
    peak_bytes(|| throng_import::bytes(bytes, &ImportOptions::curves_only()).is_ok())
}

/// The arm model with one accessor that claims `count` elements and has no view.
fn claiming(accessor: usize, count: u64) -> Builder {
    let mut b = arm();
    let old = &b.json["accessors"][accessor];
    b.json["accessors"][accessor] = json!({
        "componentType": old["componentType"], "type": old["type"], "count": count });
    b
}

/// `targets` morph targets of a strip of `vertices` vertices. Each target moves ten of them.
///
/// They are stored in full if `dense`, otherwise sparsely.
fn many_targets(vertices: usize, targets: usize, dense: bool) -> Builder {
    let mut b = triangle();
    let corners = (0..vertices).flat_map(|v| [(v / 2) as f32, (v % 2) as f32, 0.0]);
    let position = b.accessor("VEC3", F32, &corners.collect::<Vec<f32>>());
    let list = (0..targets).map(|target| {
        let first = target * 7 % (vertices - 10);
        let accessor = if dense {
            let mut deltas = vec![0.0_f32; vertices * 3];
            deltas[first * 3..(first + 10) * 3].fill(0.5);
            b.accessor("VEC3", F32, &deltas)
        } else {
            let places: Vec<u32> = (first..first + 10).map(|v| v as u32).collect();
            let (places, values) = (b.view(&places), b.view(&[0.5_f32; 30]));
            b.add(
                "accessors",
                json!({ "componentType": F32, "type": "VEC3", "count": vertices,
                    "sparse": { "count": 10,
                        "indices": { "bufferView": places, "componentType": U32 },
                        "values": { "bufferView": values } } }),
            )
        };
        json!({ "POSITION": accessor })
    });
    let list = list.collect::<Vec<_>>();
    b.json["meshes"][0]["primitives"][0] = json!({
        "attributes": { "POSITION": position }, "mode": 5, "targets": list });
    b
}

/// A PNG that claims 65,535 × 65,535 texels.
fn bomb() -> Builder {
    let mut png = grey_png(8, 8);
    png[16..24].copy_from_slice(&[0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF]);
    // CRC-32 of the header's kind and content, so that the decoder accepts it.
    let mut crc = u32::MAX;
    for byte in &png[12..29] {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xEDB8_8320
            } else {
                crc >> 1
            };
        }
    }
    png[29..33].copy_from_slice(&(!crc).to_be_bytes());
    let mut b = triangle();
    let view = b.view(&png);
    b.json["images"] = json!([{ "bufferView": view }]);
    b.json["textures"] = json!([{ "source": 0 }]);
    b.json["materials"] =
        json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    b
}

/// A view of `count` elements of four bytes, in ten compressed bytes.
#[cfg(feature = "meshopt")]
fn compressed(mode: &str, count: u64) -> Builder {
    let extension = "EXT_meshopt_compression";
    let mut b = triangle();
    let view = b.view(&[0xA0_u8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let start = b.json["bufferViews"][view]["byteOffset"].clone();
    b.json["bufferViews"][view] = json!({ "buffer": 1, "byteLength": count * 4,
        "extensions": { extension: { "buffer": 0, "byteOffset": start, "byteLength": 10,
            "byteStride": 4, "mode": mode, "count": count } } });
    b.json["buffers"] = json!([{ "byteLength": b.bin.len() },
        { "byteLength": u64::MAX, "extensions": { extension: { "fallback": true } } }]);
    b.json["accessors"][0] = json!({ "bufferView": view, "componentType": U32,
        "type": "SCALAR", "count": 3 });
    let position = b.add(
        "accessors",
        json!({ "componentType": F32, "type": "VEC3", "count": 3 }),
    );
    let primitive = &mut b.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["POSITION"] = json!(position);
    primitive["indices"] = json!(0);
    b
}

#[cfg(feature = "meshopt")]
#[test]
fn compressed_views_are_not_allocated_for_a_few_bytes() {
    let _measurement = measure();
    for mode in ["ATTRIBUTES", "TRIANGLES", "INDICES"] {
        let file = compressed(mode, 3_000_000).glb();
        throng_import::bytes(&file, &ImportOptions::curves_only())
            .fails("…as meshopt data: invalid encoded stream");
        for count in [30_000_000, 300_000_000, 3_000_000_000, 3 << 60] {
            let (peak, worked) = peak(&compressed(mode, count).glb());
            assert!(!worked && peak < 512 << 10, "{mode} {count}: {peak} bytes");
        }
    }
}

#[test]
fn what_is_claimed_is_not_allocated() {
    const SMALL: usize = 512 << 10;
    let _measurement = measure();
    for accessor in 0..7 {
        for count in [4_000_000_000, u64::from(u32::MAX), u64::MAX] {
            let file = claiming(accessor, count);
            let kind = &file.json["accessors"][accessor]["type"];
            // One inverse bind matrix is read for each joint, however many there are.
            let may_work = kind == "MAT4";
            let (peak, worked) = peak(&file.glb());
            assert_eq!(worked, may_work, "accessor {accessor}: {count}");
            assert!(peak < SMALL, "accessor {accessor}: {peak} bytes");
        }
    }
    let (bytes, worked) = peak(&bomb().glb());
    assert!(!worked && bytes < SMALL, "{bytes} bytes");

    let mut sparse = triangle();
    let places = sparse.view(&[1_u8]);
    let values = sparse.view(&[1.0_f32; 3]);
    sparse.json["accessors"][0] = json!({ "componentType": F32, "type": "VEC3",
        "count": 4_000_000_000_u64, "sparse": { "count": 1,
            "indices": { "bufferView": places, "componentType": U8 },
            "values": { "bufferView": values } } });
    let (bytes, worked) = peak(&sparse.glb());
    assert!(!worked && bytes < SMALL, "{bytes} bytes");

    let mut chunk = glb(b"{}", None);
    chunk[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(peak(&chunk).0 < SMALL);

    // Text of 3 bytes per object: the peak is at most 200 times its size, and no more than the
    // longest list.
    let many = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{}{{}}]}}"#,
        "{},".repeat(1 << 20)
    );
    let (bytes, worked) = peak(many.as_bytes());
    assert!(!worked && bytes < 160 << 20, "{bytes} bytes");

    // As many empty materials as a list may have. Each is read in full, even if nothing uses it.
    let most = 1 << 18;
    let many = format!(
        r#"{{"asset":{{"version":"2.0"}},"nodes":[{{}}],"skins":[{{"joints":[0]}}],"materials":[{}{{}}]}}"#,
        "{},".repeat(most - 1)
    );
    let (bytes, worked) = peak(many.as_bytes());
    println!("{} bytes for each of {most} materials", bytes / most);
    assert!(worked && bytes < 200 * many.len(), "{bytes} bytes");
    // Hundreds of targets need memory for the vertices that they move, not for all vertices. 430
    // KiB were measured. With a delta for every vertex, the targets alone would need 94 MiB.
    let (vertices, targets) = (20_000, 400);
    let without = peak(&many_targets(vertices, 0, true).glb()).0;
    for dense in [false, true] {
        let (bytes, worked) = peak(&many_targets(vertices, targets, dense).glb());
        let bytes = bytes.saturating_sub(without);
        println!("{} KiB for {targets} targets", bytes >> 10);
        assert!(worked && bytes < 1 << 20, "{bytes} bytes");
    }

    // Text of 3 bytes per target, and as many targets as there may be.
    let mut b = triangle();
    for (count, may_work) in [(1 << 16, true), ((1 << 16) + 1, false)] {
        b.json["meshes"][0]["primitives"][0]["targets"] = json!(vec![json!({}); count]);
        let (bytes, worked) = peak(&b.glb());
        println!("{} MiB for {count} empty targets", bytes >> 20);
        assert_eq!(worked, may_work);
        assert!(bytes < 40 << 20, "{bytes} bytes");
    }

    // Many nodes with as many weights each.
    let nodes: Vec<_> = (0..60_000).map(|_| json!({ "mesh": 0 })).collect();
    b.json["nodes"] = json!(nodes);
    let (bytes, worked) = peak(&b.glb());
    println!("{} MiB for the weights of 60,000 nodes", bytes >> 20);
    assert!(!worked && bytes < 512 << 20, "{bytes} bytes");

    // Many nodes that share a mesh with many targets.
    let mut b = triangle();
    b.json["meshes"][0]["primitives"][0]["targets"] = json!(vec![json!({}); 2000]);
    let nodes: Vec<_> = (0..2000).map(|_| json!({ "mesh": 0 })).collect();
    b.json["nodes"] = json!(nodes);
    b.json["scenes"] = json!([{ "nodes": (0..2000).collect::<Vec<u32>>() }]);
    let (bytes, worked) = peak(&b.glb());
    println!("{} MiB for the shared targets of 2,000 nodes", bytes >> 20);
    assert!(!worked && bytes < 32 << 20, "{bytes} bytes");

    // Many primitives on a node with a long name, which each of them keeps.
    let mut b = triangle();
    let primitive = b.json["meshes"][0]["primitives"][0].clone();
    b.json["meshes"][0]["primitives"] = json!(vec![primitive; 60_000]);
    b.json["nodes"][0]["name"] = json!("n".repeat(1 << 16));
    let small = ImportOptions {
        limits: ImportLimits {
            decoded_bytes: 64 << 20,
            ..ImportLimits::default()
        },
        ..ImportOptions::curves_only()
    };
    let (bytes, words) = peak_bytes(|| {
        throng_import::bytes(&b.glb(), &small)
            .unwrap_err()
            .to_string()
    });
    assert!(
        bytes < 256 << 20 && words.contains("bytes of decoded data"),
        "{bytes} {words}"
    );

    // The most vertices that a small file can claim.
    let most = ImportOptions::curves_only().limits.vertices as u64 / 3 * 3;
    let mut b = triangle();
    b.json["accessors"][0] = json!({ "componentType": F32, "type": "VEC3", "count": most });
    let (bytes, worked) = peak(&b.glb());
    println!("{} MiB for {most} vertices", bytes >> 20);
    assert!(worked && bytes < 1 << 30, "{bytes} bytes");
}
