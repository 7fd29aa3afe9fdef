//! EZMesh files that are made here: every variant of the format.

use crate::help::told;
use crate::reference::words::Fails;
use crate::samples::{BONES, SECTION, WALK, ezm_text};
use throng::clip::TrackValues;
use throng::glam::{Quat, Vec2, Vec3};
use throng::import::{self, ImportLimits, ImportOptions, Imported, RepairKind};
use throng::mesh::JointIndices;

pub(crate) fn options() -> ImportOptions {
    ImportOptions {
        name: "f".into(),
        ..ImportOptions::curves_only()
    }
}

#[track_caller]
fn import(text: &str) -> Imported {
    throng_import::bytes(text.as_bytes(), &options()).unwrap_or_else(|error| panic!("{error}"))
}

/// A static mesh with this layout and these numbers.
fn mesh(ctype: &str, semantic: &str, numbers: &str) -> String {
    format!(
        r#"<Mesh name="m"><MeshSection>
<vertexbuffer count="3" ctype="{ctype}" semantic="{semantic}">{numbers}</vertexbuffer>
<indexbuffer triangle_count="1">0 1 2</indexbuffer></MeshSection></Mesh>"#
    )
}

/// Only glTF has several scenes.
#[test]
fn a_scene_that_does_not_exist_is_refused() {
    let with = |scene| ImportOptions {
        scene: Some(scene),
        ..options()
    };
    let import = |scene| throng_import::bytes(ezm_text().as_bytes(), &with(scene));
    assert!(import(0).is_ok());
    import(1).fails("f: scene 1 does not exist: there are 1");
}

#[test]
fn a_complete_file_is_read() {
    let imported = import(&ezm_text());
    told(&imported, &[]);
    let names: Vec<_> = imported
        .skeleton()
        .joints()
        .iter()
        .map(|j| &*j.name)
        .collect();
    assert_eq!(names, ["root", "arm", "hand"]);
    let body = &imported.primitives()[0];
    assert_eq!((&*body.name, body.vertex_count()), ("body", 3));
    assert_eq!(body.uvs[1], Vec2::X);
    assert_eq!(body.normals, [Vec3::Z; 3]);
    assert_eq!(&*imported.materials()[body.material as usize].name, "skin");
    let JointIndices::U8(_) = &body.joints else {
        panic!("few joints need 8 bits")
    };
    // The mesh is bound in the rest pose.
    let moved = |joint: usize| {
        let of = |entry: &&throng::mesh::PaletteJoint| entry.joint.index() == joint;
        let entry = imported.palette().iter().find(of).unwrap();
        Vec3::from(entry.inverse_bind.translation)
    };
    assert!(moved(0).abs_diff_eq(Vec3::Y, 1e-6), "{}", moved(0));
    assert!(moved(1).abs_diff_eq(-Vec3::Y, 1e-6), "{}", moved(1));
    let clip = &imported.curves()[0];
    assert_eq!((clip.name(), clip.duration_s()), ("walk", 1.0));
    let kinds = clip
        .tracks()
        .iter()
        .map(|track| (track.joint.index(), &track.values));
    let kinds: Vec<_> = kinds.collect();
    let TrackValues::Scale(scale) = &kinds
        .iter()
        .find(|k| matches!(k.1, TrackValues::Scale(_)))
        .unwrap()
        .1
    else {
        unreachable!()
    };
    assert_eq!(scale.values[1], Vec3::splat(2.0));
    assert_eq!(scale.times_s, [0.0, 0.5, 1.0]);
    let turned = kinds.iter().any(|kind| match kind {
        (1, TrackValues::Rotation(keys)) => keys.values[1] == Quat::from_xyzw(0.0, 0.0, 1.0, 0.0),
        _ => false,
    });
    assert!(turned);
}

#[test]
fn every_root_is_read_in_any_case() {
    for (open, close) in [
        ("<MeshSystem>", "</MeshSystem>"),
        ("<SceneGraph name='x'>", "</SceneGraph>"),
        ("<Mesh name='x'>", "</Mesh>"),
        ("<MESHSYSTEM>", "</MESHSYSTEM>"),
    ] {
        let mesh = format!("<Mesh name='body'>{SECTION}</Mesh>");
        let content = if open.starts_with("<Mesh ") {
            SECTION
        } else {
            &mesh
        };
        let text = format!("\u{feff}{open}{BONES}{content}{WALK}{close}");
        let imported = import(&text);
        assert_eq!(imported.skeleton().len(), 3, "{open}");
        assert_eq!(imported.curves().len(), 1);
        let lower = text
            .replace("vertexbuffer", "VertexBuffer")
            .replace("count=", "Count=");
        assert_eq!(import(&lower).primitives()[0].vertex_count(), 3);
    }
}

#[test]
fn every_type_of_number_is_read() {
    let text = mesh(
        "fff x4 FF ff ff fff fff f x1 p d",
        "POSITION color texcoord1 texcoord2 texcoord3 normal tangent radius interp1 a b",
        "0 0 0 FFFF0000 0 0 .5 .5 9 9 0 0 1 1 0 0 7 AB foo 3,
         1e0 0 $00000000 80FFFFFF 1 0 .5 .5 9 9 0 0 1 1 0 0 7 AB foo 3,
         0 +1 -0 FF00FF00 0 1 .5 .5 9 9 0 0 1 1 0 0 7 AB foo 3",
    );
    let imported = import(&text);
    let part = &imported.primitives()[0];
    assert_eq!(part.colors[0], [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(part.colors[1][3], 128.0 / 255.0);
    assert_eq!(part.colors[2], [0.0, 1.0, 0.0, 1.0]);
    assert_eq!((part.uvs[1], part.uvs1.len()), (Vec2::X, 3));
    assert_eq!(part.tangents[0].to_array(), [1.0, 0.0, 0.0, 1.0]);
    let left_out = |repair: &&import::Repair| repair.kind == RepairKind::LeftOut;
    let left_out = imported.repairs.iter().filter(left_out);
    let left_out: Vec<_> = left_out.map(|repair| &*repair.object.part).collect();
    assert_eq!(left_out.len(), 5, "{left_out:?}");
    assert_eq!(left_out[0], "primitives[0].vertexbuffer, texcoord3");
}

#[test]
fn binormals_give_the_sign_of_tangents() {
    let text = mesh(
        "fff fff fff fff",
        "position normal tangent binormal",
        "0 0 0 0 0 1 1 0 0 0 1 0, 1 0 0 0 0 1 1 0 0 0 -1 0, 0 1 0 0 0 1 1 0 0 0 1 0",
    );
    let signs = import(&text);
    let signs: Vec<f32> = signs.primitives()[0].tangents.iter().map(|t| t.w).collect();
    assert_eq!(signs, [1.0, -1.0, 1.0]);
}

#[test]
fn sections_share_the_vertices_of_their_mesh() {
    let text = r#"<MeshSystem><Meshes count="1"><Mesh name="m" submesh_count="2">
<vertexbuffer count="4" ctype="fff" semantic="position">0 0 0, 1 0 0, 0 1 0, 1 1 0</vertexbuffer>
<MeshSection material="a"><indexbuffer triangle_count="1">0 1 2</indexbuffer></MeshSection>
<MeshSection material="b"><indexbuffer triangle_count="1">1 3 2</indexbuffer></MeshSection>
</Mesh></Meshes></MeshSystem>"#;
    let imported = import(text);
    assert_eq!(imported.primitives().len(), 2);
    assert_eq!(imported.materials().len(), 2);
    let limited = ImportOptions {
        limits: ImportLimits {
            vertices: 7,
            ..ImportLimits::default()
        },
        ..options()
    };
    throng_import::bytes(text.as_bytes(), &limited)
        .fails("f: mesh 0, primitives[1].vertexbuffer: vertices: 8 exceeds the limit of 7");
}

#[test]
fn a_skeleton_needs_no_clip_and_no_mesh() {
    let imported = import(&format!("<MeshSystem>{BONES}</MeshSystem>"));
    assert_eq!((imported.skeleton().len(), imported.curves().len()), (3, 0));
    let imported = import(
        &ezm_text()
            .replace(WALK, "")
            .replace("Animations count=\"1\"", "Animations"),
    );
    assert_eq!(
        (imported.primitives().len(), imported.curves().len()),
        (1, 0)
    );
}

#[test]
fn weights_without_a_skeleton_are_left_out() {
    let imported = import(&format!("<Mesh name='m'>{SECTION}</Mesh>"));
    told(
        &imported,
        &["mesh 0, primitives[0], weights without a skeleton: \
           left out, because it is not supported (3)"],
    );
    assert_eq!(imported.skeleton().len(), 1);
}

#[test]
fn parts_that_are_not_read_are_reported() {
    let text = ezm_text()
        .replace("material=\"skin\"", "material=\"skin.tga\"")
        .replace(
            "<Meshes",
            "<TetraMesh count='0'/><NodeInstance name='x'/><Meshes",
        )
        .replace("AnimTrack name=\"arm\"", "AnimTrack name=\"tail\"")
        .replace("duration=\"1.5\"", "duration=\"3\"");
    told(
        &import(&text),
        &[
            "file, TetraMesh: left out, because it is not supported (1)",
            "file, NodeInstance: left out, because it is not supported (1)",
            "animation 0, track of tail: \
             tracks left out, because the skeleton does not have the joint (1)",
            "animation 0: stated duration ignored, because it contradicts the frames (1)",
            "material 1, texture skin.tga: left out: refers to \"skin.tga\", which is not available: \
             only bytes were given (1)",
        ],
    );
}

#[test]
fn clips_of_other_files_are_added_by_joint_name() {
    let character = import(
        &ezm_text()
            .replace(WALK, "")
            .replace("Animations count=\"1\"", "Animations"),
    );
    let clips = format!(
        "<MeshSystem>{}</MeshSystem>",
        WALK.replace("\"arm\"", "\"tail\"")
    );
    let added = throng_import::add_clips_bytes(&character, clips.as_bytes(), &options()).unwrap();
    assert_eq!(added.curves().len(), 1);
    told(
        &added,
        &[
            "animation 0, channels on nodes that are not in the skeleton: \
 left out, because it is not supported (2)",
            "node, tail: tracks left out, because the skeleton does not have the joint (2)",
        ],
    );
    // With a skeleton of its own.
    let added =
        throng_import::add_clips_bytes(&character, ezm_text().as_bytes(), &options()).unwrap();
    told(&added, &[]);
    assert_eq!(added.curves()[0].tracks().len(), 5);
    // Alone, the clips have joints without a hierarchy.
    assert_eq!(import(&clips).skeleton().len(), 2);
}
