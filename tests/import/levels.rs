//! Levels of detail that files state: `MSFT_lod`, and names of nodes.

use crate::builder::*;
use crate::help::*;
use crate::level_files::*;
use crate::reference::raws;
use serde_json::json;
use throng::glam::Vec3;
use throng::import::{ImportOptions, Imported, RawCharacter, RawPrimitive, RepairKind};
use throng::mesh::MorphTarget;
use throng::skeleton::Transform;

/// The factor from the measured distance to the error of a level, see `MeshLevel::error_m`.
const MARGIN: f32 = 1.1;

/// Nodes with these names, each with a vault of this number of columns. All are in the scene.
fn vaults(nodes: &[(&str, usize)]) -> Builder {
    let mut b = Builder::default();
    for (number, (name, columns)) in nodes.iter().enumerate() {
        let primitive = primitive(&mut b, *columns);
        b.add("meshes", json!({ "primitives": [primitive] }));
        b.add("nodes", json!({ "name": name, "mesh": number }));
    }
    b.json["scenes"] = json!([{ "nodes": (0..nodes.len()).collect::<Vec<_>>() }]);
    b
}

/// Vaults whose first node is in the scene and lists the others as its levels.
fn listed(columns: &[usize]) -> Builder {
    let names: Vec<String> = (0..columns.len()).map(|at| format!("n{at}")).collect();
    let named = names.iter().zip(columns).map(|(name, of)| (&**name, *of));
    let mut b = vaults(&named.collect::<Vec<_>>());
    list(&mut b, 0, &(1..columns.len()).collect::<Vec<_>>());
    b.json["scenes"] = json!([{ "nodes": [0] }]);
    b
}

/// The triangles of each level, the full one first.
#[track_caller]
fn triangles(c: &Imported) -> Vec<usize> {
    check(c);
    let levels = c.levels().map(|level| level.triangles);
    [c.triangle_count()].into_iter().chain(levels).collect()
}

/// Each level uses a prefix of the vertices, and has been measured.
#[track_caller]
fn check(c: &Imported) {
    for primitive in c.primitives() {
        let mut before = primitive.vertex_count() as u32;
        assert_eq!(primitive.levels.len(), c.levels().len());
        for level in &primitive.levels {
            assert!(level.vertices <= before, "{level:?}");
            assert!(level.indices.iter().all(|index| *index < level.vertices));
            assert!(level.error_m.is_finite() && !level.rigid, "{level:?}");
            before = level.vertices.max(before);
        }
    }
}

fn parts(c: &Imported) -> Vec<String> {
    c.parts().map(|(_, name)| name.to_owned()).collect()
}

/// The errors of 2 columns and of 1, of a vault of 4 columns.
///
/// The point (0.25, 0.1875) is |0.25 - 2 · 0.1875| / √5 from the line through (0, 0) and (2, 1).
fn errors() -> [f32; 2] {
    [0.125 / 5_f32.sqrt() * MARGIN, 0.25 * MARGIN]
}

#[track_caller]
fn are_errors(c: &Imported) {
    let got: Vec<f32> = c.levels().map(|level| level.error_m).collect();
    for (got, expected) in got.iter().zip(errors()) {
        assert!((got - expected).abs() < 1e-6, "{got} is not {expected}");
    }
    assert_eq!(got.len(), 2);
}

#[test]
fn nodes_that_a_node_lists_are_its_levels() {
    let c = repaired(&listed(&[4, 2, 1]));
    told(&c, &[]);
    assert_eq!(triangles(&c), [8, 4, 2]);
    are_errors(&c);
    // Vertices that levels share are merged, and the name is that of the finest.
    assert_eq!(c.vertex_count(), 10);
    let counts: Vec<u32> = c.primitives()[0]
        .levels
        .iter()
        .map(|l| l.vertices)
        .collect();
    assert_eq!(counts, [6, 4]);
    assert_eq!(parts(&c), ["n0"]);
    // A still part follows the joint of the finest level.
    assert_eq!(c.skeleton().len(), 1);
    // The others may be in the scene, or listed one after the other.
    let mut all = listed(&[4, 2, 1]);
    all.json["scenes"] = json!([{ "nodes": [0, 1, 2] }]);
    assert_eq!(repaired(&all).primitives(), c.primitives());
    all.json["scenes"] = json!(null);
    assert_eq!(repaired(&all).primitives(), c.primitives());
    let mut chain = listed(&[4, 2, 1]);
    list(&mut chain, 0, &[1]);
    list(&mut chain, 1, &[2]);
    assert_eq!(repaired(&chain).primitives(), c.primitives());
}

#[test]
fn a_level_outside_the_scene_stands_in_for_the_finest() {
    let mut b = listed(&[4, 1]);
    b.add(
        "nodes",
        json!({ "name": "up", "translation": [0, 5, 0], "children": [0] }),
    );
    b.json["scenes"] = json!([{ "nodes": [2] }]);
    let c = repaired(&b);
    told(&c, &[]);
    assert_eq!((triangles(&c), c.skeleton().len()), (vec![8, 2], 2));
    assert!((c.levels().next().unwrap().error_m - errors()[1]).abs() < 1e-6);
    // An animation of the finest level moves the other.
    let times = b.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
    let values = b.accessor("VEC3", F32, &[0.0, 0.0, 0.0, 9.0, 0.0, 0.0_f32]);
    b.json["animations"] = json!([{
        "samplers": [{ "input": times, "output": values }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] }]);
    let c = repaired(&b);
    assert!((c.levels().next().unwrap().error_m - errors()[1]).abs() < 1e-4);
    // One that is moved is where it is.
    b.json["nodes"][1]["translation"] = json!([0, 0, 3]);
    let c = repaired(&b);
    assert!(c.levels().next().unwrap().error_m > 3.0);
    assert_eq!(c.skeleton().len(), 3);
}

#[test]
fn lists_that_make_no_sense_are_reported() {
    let words = "node 0, extensions.MSFT_lod.ids[1]: coarser level of detail left out: the node \
                 is a level of something already (1)";
    let mut b = listed(&[4, 2]);
    for twice in [[1, 1], [1, 0]] {
        list(&mut b, 0, &twice);
        let c = repaired(&b);
        told(&c, &[words]);
        assert_eq!(triangles(&c), [8, 4]);
    }
    // A cycle.
    list(&mut b, 0, &[1]);
    list(&mut b, 1, &[0]);
    let c = repaired(&b);
    told(
        &c,
        &[&words.replace("node 0", "node 1").replace("[1]", "[0]")],
    );
    assert_eq!(triangles(&c), [8, 4]);
    // Two nodes list one.
    let mut b = listed(&[4, 4, 1]);
    b.json["scenes"] = json!([{ "nodes": [0, 1] }]);
    list(&mut b, 0, &[2]);
    list(&mut b, 1, &[2]);
    let c = repaired(&b);
    told(
        &c,
        &[&words.replace("node 0", "node 1").replace("[1]", "[0]")],
    );
    assert_eq!(triangles(&c), [16, 10]);
    // A level above its finest.
    let mut b = listed(&[4, 1]);
    b.json["nodes"][1]["children"] = json!([0]);
    assert_eq!(triangles(&repaired(&b)), [8, 2]);
    let path = "/nodes/0/extensions/MSFT_lod/ids/0";
    with(&b, path, json!(7))
        .says("f: node 0, extensions.MSFT_lod.ids[0]: refers to node 7, but there are 2");
    with(&b, path, json!(-1)).says("…MSFT_lod…");
}

#[test]
fn levels_of_materials_are_reported() {
    let mut b = triangle();
    b.json["materials"] = json!([
        { "name": "near", "extensions": { "MSFT_lod": { "ids": [1] } } }, { "name": "far" }]);
    b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let c = repaired(&b);
    told(
        &c,
        &["material 0, extensions.MSFT_lod: left out, because it is not supported (1)"],
    );
    assert_eq!(
        &*c.materials()[c.primitives()[0].material as usize].name,
        "near"
    );
}

#[test]
fn levels_draw_no_more_spawn_points() {
    let mut b = listed(&[4, 1]);
    let at = b.accessor("VEC3", F32, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0_f32]);
    for node in [0, 1] {
        b.json["nodes"][node]["extensions"]["EXT_mesh_gpu_instancing"] =
            json!({ "attributes": { "TRANSLATION": at } });
    }
    let c = repaired(&b);
    assert_eq!((triangles(&c), c.spawn_points.len()), (vec![8, 2], 2));
}

#[test]
fn names_tell_levels() {
    let expected = repaired(&listed(&[4, 2, 1]));
    for names in [
        ["Body_LOD0", "Body_LOD1", "Body_LOD2"],
        ["body_lod_0", "Body_Lod_1", "BODY_LOD_3"],
        ["a.b LOD 1", "a.b LOD 2", "a.b LOD 10"],
        ["LOD0", "LOD1", "LOD2"],
        ["Ärmel-LOD0", "ärmel-LOD1", "ÄRMEL-LOD2"],
    ] {
        let numbered: Vec<(&str, usize)> = names.into_iter().zip([4, 2, 1]).collect();
        let c = repaired(&vaults(&numbered));
        told(&c, &[]);
        assert_eq!(triangles(&c), [8, 4, 2], "{names:?}");
        are_errors(&c);
        let (got, expected) = (&c.primitives()[0], &expected.primitives()[0]);
        assert_eq!(got.positions, expected.positions);
        assert_eq!(parts(&c), [names[0]]);
    }
    // Any order.
    let c = repaired(&vaults(&[("x_LOD2", 1), ("x_LOD0", 4), ("x_LOD1", 2)]));
    assert_eq!(
        (triangles(&c), parts(&c)),
        (vec![8, 4, 2], vec!["x_LOD0".into()])
    );
    // Other names are no levels.
    for names in [
        ["Explod0", "Explod1"],
        ["Body0", "Body1"],
        ["Body_LOD", "Body_LODx"],
        ["Body_LOD0", "Body_LOD0"],
        ["Body_LOD1", "Hand_LOD1"],
        ["Body_LOD0", "Body"],
        ["_LOD99999999999999999999", "_LOD1"],
    ] {
        let c = repaired(&vaults(&[(names[0], 4), (names[1], 2)]));
        told(&c, &[]);
        assert_eq!(triangles(&c), [12], "{names:?}");
    }
}

#[test]
fn names_are_matched_below_one_parent() {
    // Levels below nodes for each level, whose own mesh is in one level alone.
    let mut b = vaults(&[("Body_LOD0", 4), ("Hat", 8), ("Body_LOD1", 1)]);
    b.add("nodes", json!({ "name": "LOD0", "children": [0, 1] }));
    b.add("nodes", json!({ "name": "LOD1", "children": [2] }));
    b.json["scenes"] = json!([{ "nodes": [3, 4] }]);
    let c = repaired(&b);
    told(&c, &[]);
    // The hat is at all levels.
    assert_eq!(triangles(&c), [24, 18]);
    assert_eq!(parts(&c), ["Body_LOD0", "Hat"]);
    // A level below the finest.
    let mut b = vaults(&[("Body_LOD0", 4), ("Body_LOD1", 1)]);
    b.json["nodes"][0]["children"] = json!([1]);
    b.json["scenes"] = json!([{ "nodes": [0] }]);
    assert_eq!(triangles(&repaired(&b)), [8, 2]);
    // Copies stay apart.
    let mut b = vaults(&[("a_LOD0", 4), ("a_LOD1", 1), ("a_LOD0", 8), ("a_LOD1", 2)]);
    b.add("nodes", json!({ "name": "left", "children": [0, 1] }));
    b.add("nodes", json!({ "name": "right", "children": [2, 3] }));
    b.json["scenes"] = json!([{ "nodes": [4, 5] }]);
    let c = repaired(&b);
    told(&c, &[]);
    let counts = |p: &throng::mesh::Primitive| (p.indices.len(), p.levels[0].indices.len());
    let counts: Vec<_> = c.primitives().iter().map(counts).collect();
    assert_eq!(counts, [(24, 6), (48, 12)]);
    // The list of the file counts.
    let mut b = vaults(&[("a_LOD0", 1), ("a_LOD1", 4)]);
    list(&mut b, 1, &[0]);
    let c = repaired(&b);
    assert_eq!(
        (triangles(&c), parts(&c)),
        (vec![8, 2], vec!["a_LOD1".into()])
    );
}

#[test]
fn what_only_coarser_levels_draw_is_left_out() {
    let c = repaired(&vaults(&[("a_LOD0", 4), ("a_LOD1", 2), ("all_LOD2", 1)]));
    told(
        &c,
        &[
            "node 2, all_LOD2: coarser level of detail left out: there is no finer level with this \
           name (1)",
        ],
    );
    assert_eq!(triangles(&c), [8, 4]);
    let c = repaired(&vaults(&[("a_LOD0", 4), ("all_LOD1", 1)]));
    assert_eq!((c.repairs.len(), triangles(&c)), (1, vec![8]));
    // The file may have no level 0.
    let c = repaired(&vaults(&[("a_LOD1", 4), ("a_LOD2", 2), ("b_LOD1", 8)]));
    told(&c, &[]);
    assert_eq!(triangles(&c), [24, 20]);
    // More than are drawn.
    let names: Vec<String> = (0..12).map(|at| format!("a_LOD{at}")).collect();
    let many: Vec<(&str, usize)> = names
        .iter()
        .map(|name| &**name)
        .zip((1..13).rev())
        .collect();
    let c = repaired(&vaults(&many));
    assert_eq!(c.levels().len(), 7);
    let words = |node| {
        format!(
            "node {node}, a_LOD{node}: coarser level of detail left out: there are more than are \
             drawn (1)"
        )
    };
    let expected = [8, 9, 10, 11].map(words);
    told(&c, &expected.each_ref().map(|words| &**words));
}

/// Two levels: each mesh has these materials, one for each primitive.
fn with_materials(fine: &[usize], coarse: &[usize]) -> Builder {
    let mut b = listed(&[4, 2]);
    b.json["materials"] = json!([{}, {}, {}]);
    for (mesh, (materials, columns)) in [(fine, 4), (coarse, 2)].into_iter().enumerate() {
        let mut all = Vec::new();
        for material in materials {
            let mut primitive = primitive(&mut b, columns);
            primitive["material"] = json!(material);
            all.push(primitive);
        }
        b.json["meshes"][mesh]["primitives"] = json!(all);
    }
    b
}

#[test]
fn parts_are_matched_by_material() {
    let c = repaired(&with_materials(&[0, 1, 0], &[1, 0]));
    told(&c, &[]);
    let counts = |p: &throng::mesh::Primitive| (p.material, p.levels[0].indices.len());
    let counts: Vec<_> = c.primitives().iter().map(counts).collect();
    assert_eq!(counts, [(0, 12), (1, 12), (0, 0)]);
    check(&c);
    // The error of what is not drawn is its size.
    let size = Vec3::new(1.0, 1.0, 0.25).length() * MARGIN;
    let [first, _, last] = c.primitives() else {
        panic!("{}", c.primitives().len());
    };
    assert!((first.levels[0].error_m - errors()[0]).abs() < 1e-6);
    assert!((last.levels[0].error_m - size).abs() < 1e-5);
    let words = "node 1, n1: coarser level of detail left out: has a material that the finest \
                 level does not have, or more parts with it (COUNT)";
    for (fine, coarse) in [(&[0, 1][..], &[2][..]), (&[0], &[0, 0]), (&[0], &[0, 1])] {
        let c = repaired(&with_materials(fine, coarse));
        told(&c, &[&words.replace("COUNT", &coarse.len().to_string())]);
        assert_eq!(triangles(&c), [8 * fine.len()]);
    }
}

#[test]
fn attributes_are_those_of_the_finest() {
    let mut b = listed(&[4, 1]);
    let normals = b.accessor("VEC3", F32, &[0.0, 0.0, 1.0_f32].repeat(10));
    let tangents = b.accessor("VEC4", F32, &[1.0, 0.0, 0.0, 1.0_f32].repeat(10));
    let uvs = b.accessor("VEC2", F32, &[0.5_f32; 20]);
    let colors = b.accessor("VEC4", F32, &[0.5_f32; 40]);
    b.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(normals);
    b.json["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] = json!(tangents);
    let fine = b.clone();
    b.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(colors);
    let words = "mesh 1, primitives[0]: attributes of a coarser level of detail left out or made \
                 up, as the finest has others (4)";
    let c = repaired(&b);
    told(&c, &[words]);
    assert_eq!(triangles(&c), [8, 2]);
    let p = &c.primitives()[0];
    assert_eq!(p.vertex_count(), 14, "colours differ");
    let of_level = 0..p.levels[0].vertices as usize;
    for at in of_level {
        let (normal, tangent) = (p.normals[at], p.tangents[at]);
        assert!(normal.abs_diff_eq(Vec3::Z, 1e-6), "smooth: {normal}");
        assert!(tangent.truncate().dot(normal).abs() < 1e-6, "{tangent}");
        assert_eq!(p.colors[at], [1.0; 4]);
    }
    // The coarser has more.
    let mut b = fine;
    for name in ["NORMAL", "TANGENT"] {
        let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
        attributes.as_object_mut().unwrap().remove(name);
    }
    let four = json!({ "bufferView": b.json["accessors"][uvs]["bufferView"],
        "componentType": F32, "type": "VEC2", "count": 4 });
    let four = b.add("accessors", four);
    b.json["meshes"][1]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(four);
    b.json["materials"] = json!([{}]);
    let c = repaired(&b);
    assert_eq!(triangles(&c), [8, 2]);
    assert!(c.primitives()[0].uvs.is_empty());
}

#[test]
fn levels_have_skins_of_their_own() {
    let c = repaired(&skinned_level());
    told(&c, &[]);
    assert_eq!(triangles(&c), [4, 2]);
    assert_eq!(c.palette().len(), 2, "the joints are the same");
    let p = &c.primitives()[0];
    // The corners are those of the ladder, and merged with them.
    assert_eq!((p.vertex_count(), p.levels[0].vertices), (6, 4));
    assert_eq!(&*p.part, "Body");
    for vertex in 0..4 {
        let strongest = p.influences(vertex).next().unwrap();
        let joint = c.palette()[c.palette_range(p)][strongest.0].joint;
        let name = &c.skeleton().joints()[joint.index()].name;
        let expected = if p.positions[vertex].y > 1.0 {
            "Lower"
        } else {
            "Upper"
        };
        assert_eq!((&**name, strongest.1), (expected, 1.0));
    }
    // At 90°, the middle of the ladder is off the plank.
    assert!(c.levels().next().unwrap().error_m > 0.2);
    // A level without a skin follows its node.
    let mut b = skinned_level();
    b.json["nodes"][4].as_object_mut().unwrap().remove("skin");
    let c = repaired(&b);
    assert_eq!((triangles(&c), c.palette().len()), (vec![4, 2], 3));
    // Influences are checked with the skin of the level.
    let mut b = skinned_level();
    let joints = b.accessor("VEC4", U8, &[2_u8, 0, 0, 0].repeat(4));
    b.json["meshes"][1]["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
    refused(&b.glb())
        .says("f: mesh 1, primitives[0], vertex 0: refers to joint 2, but there are 2");
}

/// The vault of 4 columns and a level of 1, with these numbers of morph targets.
fn morphed(fine: usize, coarse: usize) -> Builder {
    let mut b = listed(&[4, 1]);
    for (mesh, (count, vertices)) in [(fine, 10), (coarse, 4)].into_iter().enumerate() {
        let lift = b.accessor("VEC3", F32, &[0.0, 0.0, 1.0_f32].repeat(vertices));
        let targets = vec![json!({ "POSITION": lift }); count];
        if count > 0 {
            b.json["meshes"][mesh]["primitives"][0]["targets"] = json!(targets);
        }
    }
    b
}

#[test]
fn morph_targets_move_levels() {
    let c = repaired(&morphed(2, 2));
    told(&c, &[]);
    assert_eq!((triangles(&c), c.morph_weights().len()), (vec![8, 2], 2));
    let p = &c.primitives()[0];
    for target in &p.targets {
        assert_eq!(target.vertices.len(), p.vertex_count());
    }
    // Both move alike.
    let error_m = c.levels().next().unwrap().error_m;
    assert!((error_m - errors()[1]).abs() < 1e-5, "{error_m}");
    // A level without targets stays.
    let c = repaired(&morphed(1, 0));
    told(&c, &[]);
    assert_eq!((triangles(&c), c.morph_weights().len()), (vec![8, 2], 1));
    assert_eq!(c.primitives()[0].targets[0].vertices.len(), 10);
    assert!(c.levels().next().unwrap().error_m > 0.9);
    for (fine, coarse) in [(2, 1), (0, 1)] {
        let c = repaired(&morphed(fine, coarse));
        let words = format!(
            "node 1, n1: coarser level of detail left out: the list of morph targets has {coarse}, \
             needs {fine} (1)"
        );
        told(&c, &[&words]);
        assert_eq!((triangles(&c), c.morph_weights().len()), (vec![8], fine));
    }
}

#[test]
fn invisible_and_left_out_levels() {
    let hidden = |node: usize| {
        let mut b = vaults(&[("a_LOD0", 4), ("a_LOD1", 1)]);
        b.json["nodes"][node]["extensions"] =
            json!({ "KHR_node_visibility": { "visible": false } });
        repaired(&b)
    };
    assert_eq!(triangles(&hidden(1)), [8]);
    // The next level is the finest that draws something, or is alone.
    assert_eq!(triangles(&hidden(0)), [2]);
    let options = ImportOptions {
        leave_out: vec!["n1".into()],
        ..options()
    };
    let c = throng_import::bytes(&listed(&[4, 2, 1]).glb(), &options).unwrap();
    assert_eq!(triangles(&c), [8, 2]);
}

/// A group of two nodes, each with a vault.
fn raw() -> RawCharacter {
    let node = raws::node("vault", None, Transform::IDENTITY);
    let primitive = |node: usize, columns| {
        let (positions, indices) = vault(columns);
        RawPrimitive {
            mesh: node,
            node,
            positions: positions.into_iter().map(Vec3::from_array).collect(),
            indices: indices.into_iter().map(u32::from).collect(),
            ..RawPrimitive::default()
        }
    };
    RawCharacter {
        nodes: vec![node.clone(), node],
        primitives: vec![primitive(0, 4), primitive(1, 1)],
        level_groups: vec![vec![vec![0], vec![1]]],
        ..RawCharacter::default()
    }
}

#[test]
fn raw_groups_are_checked() {
    let built = |raw: RawCharacter| raw.build(&options());
    assert_eq!(triangles(&built(raw()).unwrap()), [8, 2]);
    let mut wrong = raw();
    wrong.level_groups[0][1][0] = 2;
    built(wrong).fails("f: file, level_groups[0][1]: refers to node 2, but there are 2");
    let mut twice = raw();
    twice.level_groups.push(twice.level_groups[0].clone());
    let c = built(twice).unwrap();
    assert_eq!(triangles(&c), [8, 2]);
    let left_out = |c: &Imported| {
        let kinds = c.repairs.iter().map(|repair| &repair.kind);
        kinds
            .filter(|kind| matches!(kind, RepairKind::LevelLeftOut(_)))
            .count()
    };
    assert_eq!(left_out(&c), 2);
    let mut own = raw();
    own.primitives[1].levels.push(Default::default());
    let c = built(own).unwrap();
    assert_eq!((triangles(&c), left_out(&c)), (vec![8], 1));
    // A level is checked as any primitive.
    let mut wrong = raw();
    wrong.primitives[1].indices[0] = 4;
    built(wrong).fails("f: mesh 1, primitives[0], indices[0]: refers to vertex 4, but there are 4");
    let mut wrong = raw();
    wrong.primitives[1].targets.push(MorphTarget::default());
    let c = built(wrong).unwrap();
    assert_eq!((triangles(&c), left_out(&c)), (vec![8], 1));
}
