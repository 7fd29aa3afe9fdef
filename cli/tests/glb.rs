//! Tests of `throng pose --glb`: the file is imported again.

use crate::{folder, ok, run, text};
use std::path::Path;
use throng::character::Character;
use throng::import::{ImportOptions, Imported, RepairKind};
use throng::mesh::Primitive;

/// Poses a file, and imports the result.
fn posed(file: &str, pose: &[&str], out: &Path) -> Imported {
    ok(&[&["pose", file, "--glb", &text(out)], pose].concat());
    // Its vertices are compared with those of the original one by one.
    let options = ImportOptions {
        keep_order: true,
        ..ImportOptions::default()
    };
    let posed = throng_import::file(out, &options).unwrap();
    assert!(
        posed.repairs.iter().all(|it| it.kind == RepairKind::NoSkin),
        "{file}: {:?}",
        posed.repair_summary()
    );
    posed
}

/// The positions in the file of the OBJ, which has the same mesh.
fn obj_positions(file: &str, pose: &[&str]) -> Vec<[f32; 3]> {
    let text = ok(&[&["pose", file, "--obj", "-"], pose].concat());
    let lines = text.lines().filter_map(|line| line.strip_prefix("v "));
    let vector = |line: &str| {
        let numbers: Vec<f32> = line
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        numbers.try_into().unwrap()
    };
    lines.map(vector).collect()
}

fn with_triangles(character: &Character) -> Vec<&Primitive> {
    let primitives = character.primitives().iter();
    primitives.filter(|part| !part.indices.is_empty()).collect()
}

fn check(file: &str, pose: &[&str], out: &Path) {
    let original = throng_import::file(file, &ImportOptions::default());
    let original = original.unwrap_or_else(|_| throng::builtin::mannequin().unwrap());
    let again = posed(file, pose, out);
    let (before, after) = (with_triangles(&original), with_triangles(&again));
    assert_eq!(before.len(), after.len(), "{file}");
    let mut positions = obj_positions(file, pose).into_iter();
    let mut expected = original.primitives().iter().map(|part| {
        let list: Vec<[f32; 3]> = positions.by_ref().take(part.vertex_count()).collect();
        (part, list)
    });
    for (was, is) in before.iter().zip(&after) {
        let (_, expected) = expected
            .find(|(part, _)| std::ptr::eq(*part, *was))
            .unwrap();
        let positions = is.positions.iter().map(|position| position.to_array());
        // The OBJ has no negative zero.
        assert!(positions.map(|p| p.map(|x| x + 0.0)).eq(expected), "{file}");
        assert_eq!(was.indices.len(), is.indices.len());
        assert_eq!(was.normals.len(), is.normals.len());
        assert_eq!(was.tangents.len(), is.tangents.len());
        assert_eq!(was.uvs, is.uvs);
        assert_eq!(was.uvs1, is.uvs1);
        assert_eq!(was.colors.len(), is.colors.len());
        let material = |character: &Character, part: &Primitive| {
            let material = character.materials()[part.material as usize].clone();
            let textures = material.textures().map(|texture| {
                let texture = texture?;
                let image = &character.images()[texture.image as usize];
                Some((
                    image.width,
                    image.rgba().unwrap().into_owned(),
                    [texture.wrap_u, texture.wrap_v],
                    [texture.magnify, texture.minify],
                    texture.mip,
                    texture.uv_set,
                ))
            });
            (material, textures)
        };
        let (mut was, images) = material(&original, was);
        let (is, again) = material(&again, is);
        assert_eq!(images, again, "{file}");
        for (mine, other) in [
            (was.base_color_texture.as_mut(), is.base_color_texture),
            (
                was.metallic_roughness_texture.as_mut(),
                is.metallic_roughness_texture,
            ),
            (was.normal_texture.as_mut(), is.normal_texture),
            (was.occlusion_texture.as_mut(), is.occlusion_texture),
            (was.emissive_texture.as_mut(), is.emissive_texture),
        ] {
            if let (Some(mine), Some(other)) = (mine, other) {
                assert!(mine.transform.abs_diff_eq(other.transform, 1e-5));
                *mine = other;
            }
        }
        was.tint_by_alpha = is.tint_by_alpha;
        assert_eq!(was, is, "{file}");
    }
}

#[test]
fn the_file_has_the_posed_mesh() {
    let folder = folder("glb");
    let out = folder.join("out.glb");
    let made = text(&crate::made::write(&folder));
    check(&made, &["--clip", "all", "--time", "1.25"], &out);
    check("builtin", &["--clip", "Wave", "--time", "0.7"], &out);
    check("builtin", &[], &out);
    for file in crate::assets::files() {
        let file = text(&file);
        let clips = throng_import::file(&file, &ImportOptions::curves_only()).unwrap();
        let pose: &[&str] = match clips.curves() {
            [] => &[],
            _ => &["--clip", "0", "--time", "0.4"],
        };
        check(&file, pose, &out);
    }
}

#[test]
fn the_container_is_well_formed() {
    let folder = folder("glb container");
    let out = folder.join("out.glb");
    posed("builtin", &[], &out);
    let bytes = std::fs::read(&out).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&bytes[..4], b"glTF");
    assert_eq!((word(4), word(8)), (2, bytes.len()));
    let json = word(12);
    assert_eq!((json % 4, &bytes[16..20]), (0, &b"JSON"[..]));
    let root: serde_json::Value = serde_json::from_slice(&bytes[20..20 + json]).unwrap();
    assert_eq!(root["asset"]["version"], "2.0");
    for (position, of) in [("min", 0.0), ("max", 0.0)] {
        assert_ne!(root["accessors"][0][position][1].as_f64(), Some(of));
    }
    let bin = 20 + json;
    assert_eq!(
        (word(bin) % 4, &bytes[bin + 4..bin + 8]),
        (0, &b"BIN\0"[..])
    );
    assert_eq!(bin + 8 + word(bin), bytes.len());
    // Both formats at once, one of them to the standard output.
    let ran = run(&["pose", "builtin", "--obj", "-", "--glb", &text(&out)]);
    assert!(ran.out.contains("\nf 1"));
    assert_eq!(std::fs::read(&out).unwrap(), bytes);
    assert_eq!(
        run(&["pose", "builtin", "--obj", "-", "--glb", "-"]).status,
        2
    );
}

/// A triangle, with these attributes beside its positions, and a texture of one material.
fn textured(attributes: &serde_json::Value, texture: &serde_json::Value) -> String {
    let mut gltf: serde_json::Value = serde_json::from_str(&crate::odd_gltf()).unwrap();
    let primitive = &mut gltf["meshes"][0]["primitives"][0];
    primitive["attributes"] = attributes.clone();
    primitive["material"] = 0.into();
    gltf["accessors"][0]["count"] = 3.into();
    let mut uvs = gltf["accessors"][0].clone();
    uvs["type"] = "VEC2".into();
    gltf["accessors"].as_array_mut().unwrap().push(uvs);
    // A picture that does not exist is replaced.
    gltf["images"] = serde_json::json!([{ "uri": "missing.png" }]);
    gltf["textures"] = serde_json::json!([{ "source": 0 }]);
    let base_color = serde_json::json!({ "baseColorTexture": texture });
    gltf["materials"] = serde_json::json!([{ "pbrMetallicRoughness": base_color }]);
    gltf["extensionsUsed"] = serde_json::json!(["KHR_texture_transform"]);
    gltf.to_string()
}

/// The JSON of a container.
fn json(glb: &Path) -> serde_json::Value {
    let bytes = std::fs::read(glb).unwrap();
    let end = 20 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[20..end]).unwrap()
}

#[test]
fn textured_primitives_have_all_texture_coordinates() {
    let folder = folder("glb uvs");
    let out = folder.join("out.glb");
    for (attributes, set) in [
        (serde_json::json!({ "POSITION": 0 }), 0),
        (serde_json::json!({ "POSITION": 0 }), 1),
        (serde_json::json!({ "POSITION": 0, "TEXCOORD_0": 1 }), 1),
    ] {
        let texture = serde_json::json!({ "index": 0, "texCoord": set });
        let file = crate::write(&folder, "in.gltf", textured(&attributes, &texture));
        posed(&file, &[], &out);
        let written = json(&out)["meshes"][0]["primitives"][0]["attributes"].clone();
        assert!(written["TEXCOORD_0"].is_u64(), "{attributes}: {written}");
    }
    // The second set alone, which glTF does not allow.
    let model = r#"{
        "modelVersion": 1,
        "meshes": [{ "submeshes": [{ "indexOffset": 0, "indexCount": 3 }] }]
    }"#;
    let rows: [&[f32]; 3] = [
        &[0.0, 0.0, 0.0, 0.5, 0.25],
        &[1.0, 0.0, 0.0, 0.75, 1.0],
        &[0.0, 1.0, 0.0, 0.0, 0.125],
    ];
    crate::write(
        &folder,
        "in.wglvert",
        crate::samples::wgl_vertices(0x05, &rows),
    );
    let file = crate::write(&folder, "in.wglmodel", model);
    posed(&file, &[], &out);
    let written = json(&out)["meshes"][0]["primitives"][0]["attributes"].clone();
    for name in ["TEXCOORD_0", "TEXCOORD_1"] {
        assert!(written[name].is_u64(), "{name}: {written}");
    }
}

#[test]
fn extreme_texture_transforms_are_kept() {
    let folder = folder("glb transforms");
    let out = folder.join("out.glb");
    let attributes = serde_json::json!({ "POSITION": 0, "TEXCOORD_0": 1 });
    for (scale, rotation) in [
        ([1e20, 1e-20], 0.0),
        ([1e20, 1e20], 0.4),
        ([1e-25, 1e-25], 0.4),
        ([0.0, 3.0], 0.4),
        ([2.0, 0.0], -0.4),
        ([2.0, -3.0], 1.5),
        ([0.0, 0.0], 0.0),
    ] {
        let transform = serde_json::json!({ "scale": scale, "rotation": rotation });
        let texture = serde_json::json!({
            "index": 0,
            "extensions": { "KHR_texture_transform": transform },
        });
        let file = crate::write(&folder, "in.gltf", textured(&attributes, &texture));
        posed(&file, &[], &out);
        let written = json(&out)["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]
            ["extensions"]["KHR_texture_transform"]
            .clone();
        let near = |value: &serde_json::Value, expected: f64| {
            let value = value.as_f64().unwrap_or(f64::NAN);
            (value - expected).abs() <= 1e-5 * expected.abs()
        };
        assert!(
            near(&written["scale"][0], scale[0]),
            "{transform}: {written}"
        );
        assert!(
            near(&written["scale"][1], scale[1]),
            "{transform}: {written}"
        );
        assert!(
            near(&written["rotation"], rotation),
            "{transform}: {written}"
        );
    }
}
