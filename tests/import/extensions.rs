//! The extensions that a file may require, as `import/README.md` lists them.

use crate::builder::*;
use crate::help::*;
use serde_json::json;
use std::collections::BTreeSet;

/// The page's list of extensions: what happens, and the names.
fn rows() -> Vec<(String, Vec<String>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/README.md");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .skip_while(|line| *line != "## glTF extensions");
    let lines = lines.skip(1).take_while(|line| !line.starts_with("## "));
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines {
        if let Some(what) = line.strip_prefix("### ") {
            rows.push((what.into(), Vec::new()));
        }
        let Some((_, names)) = rows.last_mut() else {
            continue;
        };
        let quoted = line.split('`').skip(1).step_by(2);
        let is_name = |word: &&str| {
            let prefix = word.split('_').next().unwrap();
            word.contains('_') && prefix.bytes().all(|byte| byte.is_ascii_uppercase())
        };
        names.extend(quoted.filter(is_name).map(String::from));
    }
    rows
}

#[test]
fn the_page_of_formats_tells_what_happens_to_required_extensions() {
    let mut seen = BTreeSet::new();
    for (what, names) in rows() {
        for name in names {
            assert!(seen.insert(name.clone()), "{name} is listed twice");
            let mut b = triangle();
            b.json["extensionsRequired"] = json!([name]);
            let has_decoder = (!name.contains("draco") || cfg!(feature = "draco"))
                && (!name.contains("meshopt") || cfg!(feature = "meshopt"));
            let expected = what != "Refused" && has_decoder;
            assert_eq!(
                throng_import::bytes(&b.glb(), &options()).is_ok(),
                expected,
                "{what}: {name}"
            );
            // Optional ones never matter.
            b.json["extensionsUsed"] = json!([name]);
            b.json["extensionsRequired"] = json!([]);
            assert!(throng_import::bytes(&b.glb(), &options()).is_ok(), "{name}");
        }
    }
    assert!(seen.len() > 80, "{seen:?}");
    let mut b = triangle();
    b.json["extensionsRequired"] = json!(["ACME_unheard_of"]);
    let words = "f: file, extensionsRequired: requires ACME_unheard_of, which is not supported";
    assert_eq!(refused(&b.glb()), words);
}

/// A triangle on each of three nodes. The second is below the first.
fn three() -> Builder {
    let mut b = triangle();
    b.json["nodes"] = json!([
        { "name": "a", "mesh": 0, "children": [1] },
        { "name": "b", "mesh": 0 },
        { "name": "c", "mesh": 0 },
    ]);
    b.json["scenes"] = json!([{ "nodes": [0, 2] }]);
    b
}

#[test]
fn meshes_of_invisible_nodes_are_left_out() {
    let mut b = three();
    let mut hide = |node: usize, visible: bool| {
        b.json["nodes"][node]["extensions"] =
            json!({ "KHR_node_visibility": { "visible": visible } });
        repaired(&b)
    };
    let words = |node| format!("node {node}, mesh: left out, because the node is invisible (1)");
    let c = hide(1, false);
    told(&c, &[&words(1)]);
    assert_eq!(
        c.parts().map(|(_, name)| name).collect::<Vec<_>>(),
        ["a", "c"]
    );
    let c = hide(0, false);
    told(&c, &[&words(0), &words(1)]);
    // A visible node below an invisible one is invisible.
    let c = hide(1, true);
    told(&c, &[&words(0), &words(1)]);
    // If nothing is visible, everything is shown.
    let c = hide(2, false);
    let shown = |node| {
        format!(
            "node {node}, mesh: imported although the node is invisible, because all meshes are (1)"
        )
    };
    told(&c, &[&shown(0), &shown(1), &shown(2)]);
    assert_eq!(c.primitives().len(), 3);
}
