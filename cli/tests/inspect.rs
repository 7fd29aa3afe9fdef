//! Tests of `throng inspect`.

use crate::{ODD, fails, folder, odd_gltf, ok, samples, text, write};
use serde_json::Value;
use throng::builtin;
use throng::character::AnimationDesc;
use throng::mesh::{Expression, ExpressionOverride};
use throng::spring::{SpringBones, SpringChain, SpringCollider, SpringJoint};

fn json(file: &str) -> Value {
    serde_json::from_str(&ok(&["inspect", "--json", file])).unwrap()
}

#[test]
fn lists_the_built_in_character() {
    let listing = ok(&["inspect", "builtin"]);
    for line in [
        "\nSkins (1)\n",
        "\nJoints (57)\n",
        "\nClips (4)\n",
        "\nPrimitives (4)\n",
        "\nMaterials (1)\n",
        "\nImages: none\n",
        "\nMorph weights: none\n",
        "\nLevels of detail (7)\n",
        "  7     22 triangles     17 vertices  error 227.9 mm  from 213.2 m  covers 101 %\n",
        "\nDrawing\n",
        "  shaded vertices per vertex     1.149 1.279 in the file's order\n",
        "  draws of a group of instances      2\n",
        "  equal vertices merged              0\n",
        "\nMemory on the GPU\n",
        "\nRepairs: none\n",
    ] {
        assert!(listing.contains(line), "{line:?} is not in:\n{listing}");
    }
    assert!(listing.lines().all(|line| line == line.trim_end()));
}

/// Names have no limit of their own. Rust's formatting stops at widths of 65,535.
#[test]
fn lists_names_of_any_length() {
    let (long, rows) = ("n".repeat(70_000), 200);
    let node = |row| match row {
        3 => serde_json::json!({ "name": long }),
        _ => serde_json::json!({ "name": row.to_string() }),
    };
    let json = serde_json::json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": (0..rows).collect::<Vec<_>>() }],
        "nodes": (0..rows).map(node).collect::<Vec<_>>(),
    });
    let file = write(&folder("long names"), "long.gltf", json.to_string());
    let listing = ok(&["inspect", &file]);
    assert!(listing.contains(&format!("\"{long}\"")));
    // The long name pads no other row.
    assert!(listing.len() < 2 * long.len(), "{}", listing.len());
}

#[test]
fn repairs_are_listed() {
    let file = write(&folder("inspect repairs"), "odd.gltf", odd_gltf());
    assert!(ok(&["inspect", &file]).contains(ODD));
    let repair = &json(&file)["repairs"][0];
    assert_eq!(repair["file"], "odd.gltf");
    assert_eq!(repair["object"], "mesh 0, primitives[0].indices");
    assert_eq!(repair["count"], 1);
}

/// Blend spaces and states that follow a speed over the ground.
#[test]
fn ground_speeds_are_listed() {
    let folder = folder("ground speeds");
    let file = folder.join("man.glb").display().to_string();
    ok(&["export", "builtin", &file]);
    let points = r#"[{ at = 0.0, clip = "Idle" }, { at = 1.4, clip = "Walk" }]"#;
    let description = format!(
        "[[blend_space]]
        name = \"gaits\"
        points = {points}
        ground_speed = true
        [state_machine]
        parameter = [{{ name = \"speed\", kind = \"float\" }}]
        [[state_machine.layer]]
        name = \"body\"
        entry = \"go\"
        [[state_machine.layer.state]]
        name = \"go\"
        ground_speed = \"speed\"
        motion = {{ blend_1d = {{ parameter = \"speed\", points = {points} }} }}
        "
    );
    write(&folder, "man.toml", description);
    let listing = ok(&["inspect", &file]);
    for line in [
        "\"gaits\"    2 points, 1D, follows the ground speed, played at 0.5 to 2\n",
        "ground speed   \"go\"       of layer \"body\", follows \"speed\"\n",
    ] {
        assert!(listing.contains(line), "{line:?} is not in:\n{listing}");
    }
    let all = json(&file);
    let limits = &all["blend_spaces"][0]["speed_limits"];
    assert_eq!(*limits, serde_json::json!([0.5, 2.0]));
    let state = serde_json::json!({ "layer": "body", "state": "go", "parameter": "speed" });
    assert_eq!(all["ground_speeds"], serde_json::json!([state]));
}

/// The keys that the documentation promises.
#[test]
fn json_has_the_documented_keys() {
    let page = include_str!("../../docs/command-line.md");
    let all = json("builtin");
    for (list, of) in [
        ("joints", &all["joints"][0]),
        ("skins", &all["skins"][0]),
        ("clips", &all["clips"][0]),
        ("primitives", &all["primitives"][0]),
        ("materials", &all["materials"][0]),
        ("gpu_bytes", &all["gpu_bytes"]),
        ("geometry", &all["geometry"]),
        ("top", &all),
    ] {
        for key in of.as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{key}`")), "{list}: {key}");
        }
    }
    assert_eq!(all["format"], 1);
    assert_eq!(all["joints"].as_array().unwrap().len(), 57);
    assert_eq!(all["clips"][1]["name"], "Walk");
    assert_eq!(all["geometry"]["shaded_vertices"], 4729);
    assert_eq!(all["geometry"]["merged_vertices"], 0);
    assert_eq!(all["geometry"]["unused_vertices"], 0);
    assert_eq!(all["geometry"]["draws"], 2);
    for (key, shaded) in [
        ("shaded_per_vertex", 4729.0),
        ("shaded_per_vertex_in_file_order", 5266.0),
    ] {
        assert_eq!(all["geometry"][key], shaded / 4117.0, "{key}");
    }
    assert!(all["clips"][1]["ratio"].as_f64().unwrap() > 2.0);
    let error_m = all["clips"][1]["error_m"].as_f64().unwrap();
    assert!(error_m > 0.0 && error_m < 2e-4, "{error_m}");
    let vertex = &all["clips"][1]["vertex_error"];
    assert!(vertex["error_m"].as_f64().unwrap() <= error_m, "{vertex}");
    let primitive = vertex["primitive"].as_u64().unwrap() as usize;
    let vertices = all["primitives"][primitive]["vertices"].as_u64().unwrap();
    assert!(vertex["vertex"].as_u64().unwrap() < vertices, "{vertex}");
    assert!(vertex["time_s"].as_f64().unwrap() <= all["clips"][1]["duration_s"].as_f64().unwrap());
}

/// The parts of VRM files, and characters that were given the same.
#[test]
fn lists_expressions_springs_and_roles() {
    let character = builtin::mannequin().unwrap().character;
    let joint = |name: &str| character.skeleton().joint(name).unwrap();
    let (hand, head) = (joint("RightHand"), joint("Head"));
    let springs = SpringBones {
        colliders: vec![SpringCollider {
            joint: head,
            offset_m: [0.0, 0.1, 0.0].into(),
            tail_m: None,
            radius_m: 0.125,
        }],
        chains: vec![SpringChain {
            name: "glove".into(),
            tail_m: Some([0.0, 0.1, 0.0].into()),
            colliders: vec![0],
            ..SpringChain::new(vec![SpringJoint::new(hand)])
        }],
    };
    let smile = Expression {
        blink: ExpressionOverride::Block,
        ..Expression::new("happy", Vec::new())
    };
    let character = character.clone().with_springs(springs).unwrap();
    let character = character.with_expressions(vec![smile]).unwrap();
    let humanoid = AnimationDesc {
        humanoid: [("head".into(), "Head".into())].into(),
        ..character.animation_desc().clone()
    };
    let character = character.with_animation(&humanoid).unwrap();
    let file = folder("inspect extras").join("extras.throng");
    character.save_file(&file).unwrap();
    let file = text(&file);
    let listing = ok(&["inspect", &file]);
    for words in [
        "\nExpressions (1)\n  0  \"happy\"  0 morph weights  blocks blinking\n",
        "\nJoints of the humanoid (1)\n  head  \"Head\"\n",
        "\nSpring chains (1)\n  0  \"glove\"  1 joint  1 collider  from \"RightHand\"\n",
        "\nSpring colliders (1)\n  0  sphere  radius 0.1250 m  on \"Head\"\n",
    ] {
        assert!(listing.contains(words), "{words:?} is not in:\n{listing}");
    }
    let all = json(&file);
    assert_eq!(all["expressions"][0]["blink"], "block");
    assert_eq!(all["humanoid"][0]["role"], "head");
    assert_eq!(all["humanoid"][0]["joint"], head.0);
    assert_eq!(all["spring_chains"][0]["joints"][0]["joint"], hand.0);
    assert_eq!(all["spring_colliders"][0]["radius_m"], 0.125);
    assert_eq!(all["spawn_points"], serde_json::json!([]));
    let page = include_str!("../../docs/command-line.md");
    for list in ["expressions", "spring_chains", "spring_colliders"] {
        for key in all[list][0].as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{key}`")), "{list}: {key}");
        }
    }
}

#[test]
fn every_model_is_listed() {
    for file in crate::models("inspect models") {
        let file = text(&file);
        let all = json(&file);
        let listing = ok(&["inspect", &file]);
        for (list, title) in [
            ("joints", "Joints"),
            ("clips", "Clips"),
            ("images", "Images"),
        ] {
            let count = all[list].as_array().unwrap().len();
            let line = match count {
                0 => format!("\n{title}: none\n"),
                count => format!("\n{title} ({count})\n"),
            };
            assert!(listing.contains(&line), "{file}: {line}");
        }
    }
}

#[test]
fn other_formats_are_recognised() {
    let folder = folder("formats");
    // Whatever the name says.
    let file = write(&folder, "rig.glb", samples::ezm_text());
    let all = json(&file);
    assert_eq!(all["joints"].as_array().unwrap().len(), 3);
    assert_eq!(all["clips"][0]["name"], "walk");
    write(&folder, "rig.wglvert", samples::wgl_triangle());
    let file = write(&folder, "rig.wglmodel", samples::WGL_MODEL);
    assert!(!json(&file)["joints"].as_array().unwrap().is_empty());
}

#[test]
fn says_what_it_cannot_read() {
    let words = fails(1, &["inspect", "no such file.glb"]);
    assert_eq!(
        words,
        "error: no such file.glb cannot be read: it does not exist\n"
    );
    let folder = folder("inspect faults");
    let words = fails(1, &["inspect", &text(&folder)]);
    assert!(
        words.ends_with("inspect faults cannot be read: is a directory\n"),
        "{words}"
    );
    let file = write(&folder, "cut.glb", b"glTF");
    let words = fails(1, &["inspect", &file]);
    assert!(words.starts_with(&format!("error: {file}: ")), "{words}");
}

#[test]
fn the_help_promises_what_the_document_does() {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let promise = "New versions may add keys. `format` changes if a key is removed or changes its \
                   meaning.";
    assert!(plain(include_str!("../../docs/command-line.md")).contains(promise));
    let help = plain(&ok(&["inspect", "--help"]));
    assert!(help.contains(promise), "{help}");
}
