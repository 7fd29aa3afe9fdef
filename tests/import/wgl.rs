//! Models and clips of the "Building the Game" WebGL format that are made here.

use crate::help::told;
use crate::reference::cases;
use crate::reference::words::{Fails, Says};
use crate::samples::{WGL_CLIP, WGL_MODEL, import_wgl, wgl_lumps, wgl_triangle, wgl_vertices};
use throng::clip::TrackValues;
use throng::glam::{Quat, Vec2, Vec3};
use throng::import::{ImportLimits, ImportOptions, Imported, RepairKind};

fn options() -> ImportOptions {
    ImportOptions {
        name: "f".into(),
        ..ImportOptions::curves_only()
    }
}

#[track_caller]
fn import(model: &str) -> Imported {
    import_wgl(model.as_bytes(), &wgl_triangle(), &options())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(model: &str, vertices: &[u8]) -> String {
    // Whatever is broken, the name says that it is a model.
    let options = ImportOptions {
        name: "f.wglmodel".into(),
        ..options()
    };
    match import_wgl(model.as_bytes(), vertices, &options) {
        Ok(_) => panic!("it was imported"),
        Err(error) => error.to_string(),
    }
}

fn replaced(from: &str, to: &str) -> String {
    assert!(WGL_MODEL.contains(from), "{from}");
    WGL_MODEL.replacen(from, to, 1)
}

#[track_caller]
fn near(a: Vec3, b: Vec3) {
    assert!(a.abs_diff_eq(b, 1e-6), "{a} {b}");
}

const TEXTURE: &str = "material 0, texture root/texture/Player.png: \
                       left out: cannot be decoded: it is not PNG, JPEG, WebP or KTX2 (1)";
const SUMS: &str = "mesh 0, primitives[0]: weights renormalised (1)";

/// The model, its vertices, and wherever its texture may be.
#[test]
fn the_files_of_a_model_are_listed() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("import_wgl_files");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("doll.wglmodel");
    std::fs::write(&path, WGL_MODEL).unwrap();
    std::fs::write(folder.join("doll.wglvert"), wgl_triangle()).unwrap();
    let options = ImportOptions {
        sidecar: false,
        ..ImportOptions::curves_only()
    };
    let imported = throng_import::file(&path, &options).unwrap();
    let real = folder.canonicalize().unwrap();
    // All files that could be the texture: its path, without its first folders, in each format.
    let folders = ["", "root/texture/", "texture/"];
    let textures = folders.iter().flat_map(|folder| {
        let formats = ["jpeg", "jpg", "ktx2", "png", "webp"];
        formats.map(|format| format!("{folder}Player.{format}"))
    });
    let own = ["doll.wglmodel", "doll.wglvert"].map(String::from);
    let mut files: Vec<_> = textures.chain(own).map(|name| real.join(name)).collect();
    files.sort();
    assert_eq!(imported.files, files);
}

#[test]
fn a_skinned_model_is_read_and_mirrored() {
    let imported = import(WGL_MODEL);
    told(&imported, &[TEXTURE, SUMS]);
    let joints = imported.skeleton().joints();
    let names: Vec<_> = joints.iter().map(|joint| &*joint.name).collect();
    assert_eq!(names, ["root", "hip", "knee"]);
    near(joints[1].rest.translation, Vec3::new(-1.0, 0.0, 0.0));
    assert_eq!(joints[1].rest.rotation, Quat::from_xyzw(0.6, 0.0, 0.0, 0.8));
    assert_eq!(
        joints[2].rest.rotation,
        Quat::from_xyzw(0.0, -0.6, 0.0, 0.8)
    );
    let part = &imported.primitives()[0];
    let at = part.uvs.iter().position(|uv| *uv == Vec2::X).unwrap();
    assert_eq!(part.positions[at], -Vec3::X);
    assert_eq!(part.normals[at], Vec3::Z);
    assert_eq!(part.tangents[at].to_array(), [-1.0, 0.0, 0.0, 1.0]);
    // The front still faces the normals.
    let corner = |index: usize| part.positions[part.indices[index] as usize];
    let facing = (corner(1) - corner(0)).cross(corner(2) - corner(0));
    assert!(facing.dot(Vec3::Z) > 0.0);
    // The bones of the sub-mesh start at the second.
    let entry = imported
        .palette()
        .iter()
        .find(|entry| entry.joint.index() == 1)
        .unwrap();
    near(
        entry.inverse_bind.translation.into(),
        Vec3::new(-3.0, 4.0, 5.0),
    );
    assert!(
        imported
            .palette()
            .iter()
            .all(|entry| entry.joint.index() != 0)
    );
    assert_eq!(&*imported.materials()[part.material as usize].name, "cloth");
}

#[test]
fn other_names_of_the_lists_are_read() {
    let other = replaced("\"meshes\"", "\"models\"").replacen("\"submeshes\"", "\"meshes\"", 1);
    assert_eq!(import(&other).character, import(WGL_MODEL).character);
    let marked = format!("\u{feff}{WGL_MODEL}");
    assert_eq!(import(&marked).character, import(WGL_MODEL).character);
}

#[test]
fn models_without_bones_are_rigid() {
    let start = WGL_MODEL.find("\"bones\"").unwrap();
    let without = [format!("{}\"bones\": [] }}", &WGL_MODEL[..start]), {
        let before = WGL_MODEL[..start].trim_end();
        format!("{} }}", before.strip_suffix(',').unwrap())
    }];
    for model in without {
        let imported = import(&model);
        let weights = "mesh 0, primitives[0], weights without bones: \
                       left out, because it is not supported (3)";
        told(&imported, &[weights, TEXTURE]);
        assert_eq!(imported.skeleton().len(), 1);
    }
    // Without weights.
    let rows: [&[f32]; 3] = [&[0.0; 3], &[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]];
    let imported = import_wgl(WGL_MODEL.as_bytes(), &wgl_vertices(1, &rows), &options()).unwrap();
    told(&imported, &[TEXTURE]);
    assert_eq!(imported.skeleton().len(), 1);
}

#[test]
fn every_field_is_read() {
    let mut rows = vec![[0.0_f32; 23]; 3];
    for (index, row) in rows.iter_mut().enumerate() {
        row[index] = 1.0;
        row[5..7].copy_from_slice(&[0.25, 0.75]);
        row[9] = 1.0;
        row[10..14].copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        row[14] = f32::from_bits(u32::from_le_bytes([255, 0, 255, 128]));
        row[15] = 1.0;
    }
    // Two words of padding.
    let rows: Vec<&[f32]> = rows.iter().map(|row| &row[..]).collect();
    let imported =
        import_wgl(WGL_MODEL.as_bytes(), &wgl_vertices(0x7f, &rows), &options()).unwrap();
    let part = &imported.primitives()[0];
    assert_eq!(part.uvs1, [Vec2::new(0.25, 0.75); 3]);
    assert_eq!(part.colors[0], [1.0, 0.0, 1.0, 128.0 / 255.0]);
}

#[test]
fn a_skinned_bone_without_a_matrix_takes_that_of_the_rest_pose() {
    let imported = import(&replaced("[1,0,0,0, 0,1,0,0, 0,0,1,0, 3,4,5,1]", "[]"));
    let computed = "file, bones: \
                    missing inverse bind matrices computed from the rest pose (1)";
    told(&imported, &[computed, TEXTURE, SUMS]);
}

#[test]
fn clips_are_added_by_bone_name() {
    let model = import(WGL_MODEL);
    let added = throng_import::add_clips_bytes(&model, WGL_CLIP.as_bytes(), &options()).unwrap();
    let tail = "node, tail: tracks left out, because the skeleton does not have the joint (2)";
    let outside = "animation 0, channels on nodes that are not in the skeleton: \
 left out, because it is not supported (2)";
    told(&added, &[outside, tail]);
    let clip = &added.curves()[0];
    assert_eq!((clip.name(), clip.duration_s()), ("run", 1.0));
    let values = clip.tracks().iter().find_map(|track| match &track.values {
        TrackValues::Translation(keys) if track.joint.index() == 0 => Some(&keys.values),
        _ => None,
    });
    assert_eq!(values.unwrap()[1], Vec3::new(-1.0, 2.0, 3.0));
    // The frames decide about the duration.
    let longer = WGL_CLIP.replace("1500", "1900");
    let added = throng_import::add_clips_bytes(&model, longer.as_bytes(), &options()).unwrap();
    let ignored = "animation 0: stated duration ignored, because it contradicts the frames (1)";
    told(&added, &[ignored, outside, tail]);
    assert_eq!(added.curves()[0].duration_s(), 1.0);
}

#[test]
fn trailing_indices_are_dropped() {
    let row = [0.0; 3];
    let rows: [&[f32]; 3] = [&row, &[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]];
    let mut vert = [1_u32, 12].map(u32::to_le_bytes).concat();
    vert.extend(
        rows.iter()
            .flat_map(|row| row.iter().flat_map(|x| x.to_le_bytes())),
    );
    let indx = [0_u16, 1, 2, 0, 2].map(u16::to_le_bytes).concat();
    let vertices = wgl_lumps(&[(b"vert", vert), (b"indx", indx)]);
    for (count, trailing) in [(4, 1), (5, 2)] {
        let model = replaced("\"indexCount\": 3", &format!("\"indexCount\": {count}"));
        let imported = import_wgl(model.as_bytes(), &vertices, &options()).unwrap();
        let words = "mesh 0, primitives[0].indices: \
                     trailing indices that make no full triangle dropped";
        told(&imported, &[&format!("{words} ({trailing})"), TEXTURE]);
        assert_eq!(imported.primitives()[0].indices.len(), 3);
    }
    let none = replaced("\"indexCount\": 3", "\"indexCount\": 2");
    let imported = import_wgl(none.as_bytes(), &vertices, &options()).unwrap();
    assert_eq!(imported.primitives().len(), 0);
}

#[test]
fn files_without_a_clip_are_named() {
    let model = import(WGL_MODEL);
    let refused = |bytes: &[u8]| match throng_import::add_clips_bytes(&model, bytes, &options()) {
        Ok(_) => panic!("it was added"),
        Err(error) => error.to_string(),
    };
    let start = WGL_CLIP.find("\"bones\"").unwrap();
    let none = format!(
        "{}\"bones\": [], \"keyframes\": [[], [], []] }}",
        &WGL_CLIP[..start]
    );
    refused(none.as_bytes()).says("f: file: has no animation with tracks");
    refused(WGL_MODEL.as_bytes()).says("f: file: missing animations");
    refused(&wgl_triangle()).says("f: file: missing animations");
}

#[test]
fn wrong_models_are_refused() {
    for (case, from, to, words) in cases![
        "\"indexCount\": 3", "\"indexCount\": 6"
            => "mesh 0, primitives[0]: refers to index 5, but there are 3";
        "\"indexOffset\": 0", "\"indexOffset\": 18446744073709551615" => "refers to index";
        "\"boneOffset\": 1", "\"boneOffset\": 2"
            => "mesh 0, primitives[0]: refers to bone 3, but there are 3";
        "\"boneOffset\": 1", "\"boneOffset\": 9" => "refers to bone 10, but there are 3";
        "\"boneCount\": 2", "\"boneCount\": 1" => "vertex 1: refers to joint 1, but there are 1";
        "\"parent\": 1", "\"parent\": 9" => "node 2, parent: refers to node 9, but there are 4";
        "\"parent\": 1", "\"parent\": -2"
            => "node 2, parent: the index is -2, which is not allowed here (-1 or an index)";
        "\"parent\": 0", "\"parent\": 2" => "is its own ancestor";
        "3,4,5,1]", "3,4,5]" => "node 1, bindPoseMat: the matrix has 15, needs 16";
        "3,4,5,1]", "1e39,4,5,1]"
            => "node 1, bindPoseMat: has a component that is not finite";
        "\"modelVersion\": 1", "\"modelVersion\": 2" => "requires wglmodel version 2";
        "[0.6, 0, 0, 0.8]", "[0.6, 0, 0]" => "bones[1].rot: ";
        "[0.6, 0, 0, 0.8]", "[1e999, 0, 0, 1]" => "a number is too large";
        "\"bones\": [", "\"bones\": 7, \"b\": [" => "bones: must be an array, but is 7";
    ] {
        refused(&replaced(from, to), &wgl_triangle())
            .says_in(case, format!("f.wglmodel: …{words}…"));
    }
    for end in 0..WGL_MODEL.len() {
        refused(&WGL_MODEL[..end], &wgl_triangle());
    }
    let many = ["{\"submeshes\":[]}"; 65_537].join(",");
    let many = format!("{{\"meshes\":[{many}]}}");
    refused(&many, &wgl_triangle()).says("…more than 65536 elements…");
}

#[test]
fn wrong_vertices_are_refused() {
    let whole = wgl_triangle();
    for end in 0..whole.len() {
        refused(WGL_MODEL, &whole[..end]);
    }
    let with = |at: usize, word: u32| {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        refused(WGL_MODEL, &bytes)
    };
    with(0, 7).says("f.wglmodel: file: the signature wglv is missing at byte 0");
    with(4, 2).says("f.wglmodel: file: requires wglv version 2, which is not supported");
    assert!(with(8, u32::MAX).contains("lump"), "{}", with(8, u32::MAX));
    with(8, 1).says("f.wglmodel: file: missing the lump indx");
    let end = u64::from(u32::MAX) + 224;
    with(16, u32::MAX).says(
        format!(
            "f.wglmodel: buffer 0, vert: needs bytes {}..{end} of the file, which has 266 bytes",
            u32::MAX
        )
        .replace(", vert", ""),
    );
    with(36, 0xdb).says(
        "f.wglmodel: buffer 0, vert: the vertex format is 0xdb, which is not allowed here \
         (0x1 for positions, with flags up to 0x40)",
    );
    with(40, 0).says("f.wglmodel: buffer 0, vert: the stride in bytes has 0, needs 72");
    with(40, 73).says("f.wglmodel: buffer 0, vert: has part of a vertex at its end");
    with(44 + 60, 0.5_f32.to_bits()).says(
        "f.wglmodel: buffer 0, vert: the joint of vertex 0 is 0.5, \
         must be a whole number from 0 to 65535",
    );
    with(44 + 60, f32::NAN.to_bits()).says("…the joint of vertex 0 is NaN…");
    with(44, f32::INFINITY.to_bits()).says("…vertex 0 is -inf, must be finite…");
    with(44 + 48, f32::NAN.to_bits()).says("f.wglmodel: mesh 0, primitives[0], vertex 0…");
    let twice = wgl_lumps(&[(b"vert", vec![0; 8]), (b"vert", vec![0; 8])]);
    refused(WGL_MODEL, &twice).says("f.wglmodel: buffer 1: has the name of an earlier lump");
    let limited = ImportOptions {
        limits: ImportLimits {
            vertices: 2,
            ..ImportLimits::default()
        },
        ..options()
    };
    import_wgl(WGL_MODEL.as_bytes(), &whole, &limited)
        .fails("f: buffer 0, vert: vertices: 3 exceeds the limit of 2");
}

#[test]
fn wrong_clips_are_refused() {
    let model = import(WGL_MODEL);
    let options = || ImportOptions {
        name: "f.wglanim".into(),
        ..options()
    };
    let refused =
        |text: &str| match throng_import::add_clips_bytes(&model, text.as_bytes(), &options()) {
            Ok(_) => panic!("it was added"),
            Err(error) => error.to_string(),
        };
    let with = |from: &str, to: &str| {
        assert!(WGL_CLIP.contains(from), "{from}");
        refused(&WGL_CLIP.replacen(from, to, 1))
    };
    with("\"frameCount\": 3", "\"frameCount\": 4")
        .says("f.wglanim: animation 0, keyframes: the list of keyframes has 3, needs 4");
    with(", \"tail\"", "")
        .says("f.wglanim: animation 0, keyframes[0]: the list of bones has 3, needs 2");
    with("\"frameRate\": 2", "\"frameRate\": 0").says(
        "f.wglanim: animation 0, frameRate: frame rate 0 is 0, must be finite and greater \
             than 0",
    );
    with("\"animVersion\": 1", "\"animVersion\": 3").says("…wglanim version 3…");
    with("\"knee\"", "\"root\"").says("…another channel already drives…");
    let limited = ImportOptions {
        limits: ImportLimits {
            keys: 17,
            ..ImportLimits::default()
        },
        ..options()
    };
    throng_import::add_clips_bytes(&model, WGL_CLIP.as_bytes(), &limited)
        .fails("f.wglanim: animation 0: keys: 18 exceeds the limit of 17");
    for end in 0..WGL_CLIP.len() {
        refused(&WGL_CLIP[..end]);
    }
}

#[test]
fn wrong_last_rows_of_bind_poses_are_repaired() {
    let model = replaced("3,4,5,1]", "3,4,5,2]");
    let repaired = import_wgl(model.as_bytes(), &wgl_triangle(), &options()).unwrap();
    let sound = import_wgl(WGL_MODEL.as_bytes(), &wgl_triangle(), &options()).unwrap();
    let kinds = repaired.repairs.iter().map(|repair| &repair.kind);
    assert!(
        kinds
            .into_iter()
            .any(|kind| *kind == RepairKind::InverseBindLastRow)
    );
    assert_eq!(repaired.palette(), sound.palette());
}

#[test]
fn ranges_of_bones_and_names_are_charged() {
    // Each sub-mesh has a range of its own, and a copy of the model's name.
    let bone = r#"{ "name": "b", "parent": -1, "pos": [0, 0, 0], "rot": [0, 0, 0, 1] }"#;
    let bones = vec![bone; 2000].join(",");
    let submesh = |count: usize| {
        format!(r#"{{ "indexOffset": 0, "indexCount": 3, "boneOffset": 0, "boneCount": {count} }}"#)
    };
    let submeshes: Vec<String> = (2..1800).map(submesh).collect();
    let model = |name: &str| {
        let submeshes = submeshes.join(",");
        format!(
            r#"{{ "modelVersion": 1, "name": "{name}", "vertexFormat": 0, "bones": [{bones}],
            "meshes": [{{ "material": "m", "submeshes": [{submeshes}] }}] }}"#
        )
    };
    let small = ImportOptions {
        limits: ImportLimits {
            decoded_bytes: 8 << 20,
            ..ImportLimits::default()
        },
        ..options()
    };
    for name in ["short", &"long".repeat(1 << 18)] {
        let told = import_wgl(model(name).as_bytes(), &wgl_triangle(), &small);
        let words = told.unwrap_err().to_string();
        words.says("…bytes of decoded data: …");
        words.says("…exceeds the limit of 8388608");
    }
}
