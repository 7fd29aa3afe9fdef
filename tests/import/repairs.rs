//! The file names of repairs, and their summary.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use throng::import::ImportOptions;

/// The arm with this many clips, each with one key of the opposite sign.
fn flipped(clips: usize) -> Builder {
    let mut b = arm();
    let keys = [
        0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, -0.8, 0.0, 0.0, 0.0, 1.0_f32,
    ];
    let keys = b.accessor("VEC4", F32, &keys);
    b.json["animations"][0]["samplers"][0]["output"] = json!(keys);
    let animation = b.json["animations"][0].clone();
    b.json["animations"] = (0..clips).map(|_| animation.clone()).collect();
    b
}

#[test]
fn repairs_of_one_kind_are_one_line_of_the_summary() {
    let mut b = flipped(55);
    for animation in [3, 9] {
        let channels = &mut b.json["animations"][animation]["channels"];
        let channel = json!({ "sampler": 0, "target": { "path": "pointer" } });
        channels.as_array_mut().unwrap().push(channel);
    }
    let primitive = b.json["meshes"][0]["primitives"][0].clone();
    let primitives = b.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    for mode in [0, 1] {
        let mut left_out = primitive.clone();
        left_out["mode"] = json!(mode);
        primitives.push(left_out);
    }
    let c = repaired(&b);
    assert_eq!(c.repairs.len(), 55 + 2 + 2);
    assert_eq!(
        c.repair_summary(),
        [
            "f: mesh 0, primitives[1] and 1 more: left out, because it is not supported (2)",
            "f: animation 3, channels without a node and 1 more: left out, because it is not \
             supported (2)",
            "f: animation 0 and 54 more: rotation keys flipped onto the shortest arc (55)",
        ]
    );
    assert_eq!(repaired(&arm()).repair_summary(), [""; 0]);
}

#[test]
fn repairs_name_their_file() {
    let named = |name: &str| ImportOptions {
        name: name.into(),
        ..ImportOptions::curves_only()
    };
    let words = "animation 0: rotation keys flipped onto the shortest arc (1)";
    let b = flipped(1);
    let unnamed = throng_import::bytes(&b.glb(), &named("")).unwrap();
    assert_eq!(
        (&*unnamed.repairs[0].file, &*unnamed.repairs[0].to_string()),
        ("", words)
    );
    assert_eq!(unnamed.repair_summary(), [words]);
    let knight = throng_import::bytes(&b.glb(), &named("knight.glb")).unwrap();
    assert_eq!(
        knight.repairs[0].to_string(),
        format!("knight.glb: {words}")
    );
    let added = throng_import::add_clips_bytes(&knight, &b.glb(), &named("dance.glb")).unwrap();
    assert!(added.repairs.len() > 1);
    assert!(
        added
            .repairs
            .iter()
            .all(|repair| &*repair.file == "dance.glb")
    );
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("flipped.glb");
    std::fs::write(&path, b.glb()).unwrap();
    let read = throng_import::file(&path, &named("")).unwrap();
    assert_eq!(read.repair_summary(), [format!("flipped.glb: {words}")]);
}
