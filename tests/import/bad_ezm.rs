//! EZMesh files with faults.

use crate::ezm::options;
use crate::reference::cases;
use crate::reference::words::{Fails, Says};
use crate::samples::ezm_text;
use throng::import::ImportOptions;

/// The error text after a replacement in the complete file.
#[track_caller]
fn refused(from: &str, to: &str) -> String {
    let text = ezm_text();
    assert!(text.contains(from), "{from}");
    match throng_import::bytes(text.replacen(from, to, 1).as_bytes(), &options()) {
        Ok(_) => panic!("it was imported"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn wrong_counts_are_refused() {
    for (case, from, to, words) in cases![
        "Skeleton name=\"rig\" count=\"3\"", "Skeleton name=\"rig\" count=\"4\""
            => "f: skin 0: count has 3, needs 4";
        "Skeletons count=\"1\"", "Skeletons count=\"2\""
            => "f: file, Skeletons: count has 1, needs 2";
        "Animations count=\"1\"", "Animations count=\"0\""
            => "f: file, Animations: count has 1, needs 0";
        "Meshes count=\"1\"", "Meshes count=\"9\"" => "f: file, Meshes: count has 1, needs 9";
        "submesh_count=\"1\"", "submesh_count=\"2\"" => "f: mesh 0: submesh_count has 1, needs 2";
        "trackcount=\"2\"", "trackcount=\"3\"" => "f: animation 0: trackcount has 2, needs 3";
        "framecount=\"3\"", "framecount=\"4\""
            => "f: animation 0, AnimTrack[0]: count has 3, needs 4";
        "AnimTrack name=\"arm\" count=\"3\"", "AnimTrack name=\"arm\" count=\"2\""
            => "f: animation 0, AnimTrack[1]: count has 2, needs 3";
        "0 2 0  0 0 0 1\n", "0 2 0  0 0 0\n"
            => "f: animation 0, AnimTrack[1]: the list of numbers has 20, needs 21";
        "vertexbuffer count=\"3\"", "vertexbuffer count=\"4\""
            => "f: mesh 0, primitives[0].vertexbuffer: the list of numbers has 48, needs 64";
        "vertexbuffer count=\"3\"", "vertexbuffer count=\"18446744073709551615\""
            => "f: mesh 0, primitives[0].vertexbuffer: the list of numbers has 48, needs \
                18446744073709551615";
        "indexbuffer count=\"1\"", "indexbuffer count=\"2\""
            => "f: mesh 0, primitives[0].indexbuffer: the list of indices has 3, needs 6";
        "texcoord blendweights", "blendweights"
            => "f: mesh 0, primitives[0].vertexbuffer: semantic has 4, needs 5";
        "ffff hhhh", "fffff hhh"
            => "f: mesh 0, primitives[0].vertexbuffer: the list of blendweights has 5, needs 3";
        "framecount=\"3\"", "framecount=\"-3\""
            => "f: animation 0: framecount is -3, which is not allowed here (a whole number)";
        "position=\"1 0 0\"", "position=\"1 0\"" => "f: node 1, position: position has 2, needs 3";
    ] {
        refused(from, to).says_in(case, words);
    }
}

#[test]
fn wrong_values_are_refused() {
    for (case, from, to, words) in cases![
        "parent=\"arm\"", "parent=\"leg\""
            => "f: node 0, parent: names a parent that is no bone of the skeleton";
        "<Bone name=\"root\"", "<Bone name=\"root\" parent=\"arm\"" => "is its own ancestor";
        "position=\"1 0 0\"", "position=\"1 x 0\""
            => "f: node 1, position, number 1: the text is x, which is not allowed here (a number)";
        "position=\"1 0 0\"", "position=\"nan 0 0\""
            => "f: node 1, translation: component 0 is NaN, must be finite";
        "scale=\"1 1 1\"", "scale=\"0 1 1\""
            => "f: node 0: has a rest transform without a finite inverse";
        // The bones below have none either.
        "<Bone name=\"arm\"", "<Bone scale=\"0 0 0\" name=\"arm\""
            => "f: node 2: has a rest transform without a finite inverse";
        "1 0 0   0 0 1   1 0", "inf 0 0   0 0 1   1 0" => "vertex 1 is inf, must be finite";
        "1 0 0   0 0 1   1 0", "1.#INF 0 0   0 0 1   1 0"
            => "f: mesh 0, primitives[0].vertexbuffer, number 16: the text is 1.#INF, which is \
                not allowed here (a number)";
        "1 2 0 0,", "1 2.5 0 0,"
            => "f: mesh 0, primitives[0].vertexbuffer: number 29 is 2.5, must be a whole number \
                of at most 32 bits";
        "1 2 0 0,", "1 7 0 0," => "vertex 1: refers to joint 7, but there are 3";
        " 0 1 2, <", " 0 1 3, <" => "indices[2]: refers to vertex 3, but there are 3";
        " 0 1 2, <", " 0 1 -2, <"
            => "f: mesh 0, primitives[0].indexbuffer, number 2: the text is -2, which is not \
                allowed here (a number)";
        "dtime=\"0.5\"", "dtime=\"0\""
            => "f: animation 0, dtime: frame time 0 is 0, must be finite and greater than 0";
        "duration=\"1.5\" dtime=\"0.5\"", "" => "f: animation 0, dtime: missing dtime";
        "ctype=\"fff fff", "ctype=\"fff ffz"
            => "ctype is ffz, which is not allowed here (f, d, h, b, c, p, x1, x2 and x4)";
        "ctype=\"fff fff", "ctype=\"ff ffff"
            => "f: mesh 0, primitives[0].vertexbuffer, position: ctype is ff, which is not \
                allowed here (fff)";
        "position normal", "position position"
            => "semantic is position, which is not allowed here (each semantic once)";
        "position normal", "interp1 normal"
            => "f: mesh 0, primitives[0].vertexbuffer: missing position";
        "<MeshSystem asset_name=\"a\"", "<Other" => "expected";
    ] {
        refused(from, to).says_in(case, format!("…{words}…"));
    }
    throng_import::bytes(b"<Scene/>", &options()).fails(
        "f: file: the root element is Scene, which is not allowed here \
         (MeshSystem, SceneGraph or Mesh)",
    );
}

#[test]
fn xml_bombs_are_refused() {
    let bomb = r#"<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]><Mesh name="&c;"/>"#;
    let refused = |text: &str| {
        throng_import::bytes(text.as_bytes(), &options())
            .unwrap_err()
            .to_string()
    };
    assert!(refused(bomb).contains("DTD"), "{}", refused(bomb));
    refused("<!DOCTYPE Mesh SYSTEM \"file:///etc/passwd\"><Mesh/>").says("…DTD…");
    refused("<Mesh name='&c;'/>").says("…line 1, column…");
    let long = format!("<Mesh {}/>", "a='' ".repeat(2000));
    refused(&long).says("f: file: bytes of one tag: 10007 exceeds the limit of 8192");
    let wide: String = (0..101).map(|number| format!(" a{number}=''")).collect();
    refused(&format!("<Mesh{wide}/>"))
        .says("f: file: attributes of one tag: 101 exceeds the limit of 100");
    let many = format!("<Mesh>{}</Mesh>", "<a xmlns='b'/>".repeat(65));
    refused(&many).says("f: file: namespaces: 65 exceeds the limit of 64");
    let nodes = format!("<Mesh>{}</Mesh>", "<a/>".repeat(1 << 20));
    refused(&nodes).says("f: file: XML nodes: 1048577 exceeds the limit of 1048576");
    let deep = "<Mesh>".repeat(100_000);
    refused(&deep).says("f: file: …");
    let deep = "<Mesh>".repeat(20_000) + &"</Mesh>".repeat(20_000);
    refused(&deep).says("f: file: contains nothing to draw or pose");
    throng_import::bytes(b"<Mesh\xff/>", &options()).fails("…UTF-8…");
}

#[test]
fn caps_are_checked_before_allocation() {
    let text = ezm_text();
    type Set = fn(&mut ImportOptions);
    let cases: [(Set, &str); 7] = [
        (
            |o| o.limits.vertices = 2,
            "vertices: 3 exceeds the limit of 2",
        ),
        (
            |o| o.limits.indices = 2,
            "indices: 3 exceeds the limit of 2",
        ),
        (|o| o.limits.keys = 14, "keys: 15 exceeds the limit of 14"),
        (|o| o.limits.nodes = 2, "nodes: 3 exceeds the limit of 2"),
        (
            |o| o.limits.primitives = 0,
            "drawable parts: 1 exceeds the limit of 0",
        ),
        (|o| o.limits.text_bytes = 99, "exceeds the limit of 99"),
        (|o| o.limits.decoded_bytes = 400, "bytes of decoded data"),
    ];
    for (set, words) in cases {
        let mut options = options();
        set(&mut options);
        throng_import::bytes(text.as_bytes(), &options).fails(format!("…{words}…"));
    }
}

#[test]
fn truncated_files_are_refused() {
    let text = ezm_text();
    for end in 0..text.len() - 1 {
        assert!(
            throng_import::bytes(&text.as_bytes()[..end], &options()).is_err(),
            "{end}"
        );
    }
}

#[test]
fn errors_in_the_xml_have_their_place_or_none() {
    let refused = |text: &str| {
        throng_import::bytes(text.as_bytes(), &options())
            .unwrap_err()
            .to_string()
    };
    let dtd = "<?xml version=\"1.0\"?><!-- <!DOCTYPE b> --><!DOCTYPE a [<!ENTITY b \"b\">]><a/>";
    let words = "a DTD, which is not supported, starts at byte";
    let at = dtd.rfind("<!DOCTYPE").unwrap();
    refused(dtd).says(format!("f: file: {words} {at}"));
    let marked = format!("\u{feff}{dtd}");
    assert_eq!(refused(&marked), format!("f: file: {words} {}", at + 3));
    let open = "\u{feff}<MeshSystem>\n<Meshes>\n";
    for text in [
        open,
        "<MeshSystem",
        "<MeshSystem a='",
        "<Mesh>\n<!-- a",
        "<!-- a -->\n",
    ] {
        let told = refused(text);
        let end = format!(" at byte {}", text.len());
        let is_placed = told.contains("(line ") && !told.contains("(line 1, column 1)");
        assert!(told.ends_with(&end) || is_placed, "{told}");
    }
    refused(open).says(format!(
        "f: file: the XML ends before its root element at byte {}",
        open.len()
    ));
    refused("<Mesh>\n <a></b></Mesh>").says("…(line 2, column …");
}

#[test]
fn sections_before_the_vertices_of_their_mesh_take_no_longer() {
    let buffer = "<vertexbuffer count='3' ctype='fff' semantic='position'>\
                  0 0 0, 1 0 0, 0 1 0</vertexbuffer>";
    let section = "<MeshSection><indexbuffer count='0'/></MeshSection>";
    let time = |before: usize, after: usize| {
        let (before, after) = (section.repeat(before), section.repeat(after));
        let text = format!("<Mesh>{before}{buffer}{after}</Mesh>");
        let start = std::time::Instant::now();
        let imported = throng_import::bytes(text.as_bytes(), &options());
        assert!(imported.is_ok(), "{}", imported.unwrap_err());
        start.elapsed()
    };
    let first = time(0, 30_000);
    let last = time(30_000, 0);
    // A search for each section would take 60 times as long. The second covers a busy machine.
    assert!(
        last < 4 * first + std::time::Duration::from_secs(1),
        "{last:?}, but {first:?} if the vertices come first"
    );
}
