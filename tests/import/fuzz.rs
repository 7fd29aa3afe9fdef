//! Nothing panics, hangs or allocates without a bound, whatever the bytes: files are mutated in a
//! fixed sequence, and each mutant must give a character or an error.
#![cfg(feature = "gltf")]

use crate::builder::{self, Builder, F32, I8, U8, U16, arm, glb, grey_png, triangle};
use serde_json::{Value, json};
use throng::import::{ImportOptions, gltf};
use throng::mesh::{AlphaMode, Material};

/// Small caps, so that a mutant that asks for much is refused and the test stays quick.
fn options() -> ImportOptions {
    ImportOptions {
        max_decoded_bytes: 32 << 20,
        max_resource_bytes: 16 << 20,
        max_vertices: 1 << 18,
        max_indices: 1 << 20,
        max_keys: 1 << 20,
        max_image_texels: 1 << 20,
        ..ImportOptions::curves_only()
    }
}

/// How many times the usual number of mutants: the value of `THRONG_FUZZ`, else 1.
fn factor() -> usize {
    let text = std::env::var("THRONG_FUZZ").unwrap_or_default();
    text.parse().unwrap_or(1)
}

/// xorshift64*, so that every run is the same.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed << 32 | factor() as u64)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Imports and, where that works, plays all clips; neither may panic, and what comes out is finite.
fn digest(bytes: &[u8]) -> bool {
    use throng::mesh::PaletteJoint;
    use throng::palette::{Mat3x4, WriteOnly};
    use throng::skin::{MorphedVertices, PosedVertices, morph, posed_bounds, skin};
    let options = ImportOptions {
        smooth_normals: bytes.len().is_multiple_of(2),
        max_influences: [None, Some(1), Some(3)][bytes.len() % 3],
        ..options()
    };
    let imported = match gltf(bytes, &options) {
        Ok(imported) => imported,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    for repair in &imported.repairs {
        assert!(repair.count > 0 && !repair.to_string().is_empty());
    }
    common_invariants(&imported);
    let palette = imported.palette();
    let repeats = |at: &usize| {
        let same = |other: &PaletteJoint| {
            other.joint == palette[*at].joint && other.inverse_bind == palette[*at].inverse_bind
        };
        palette[..*at].iter().any(same)
    };
    let repeats = (0..palette.len()).filter(repeats).count();
    let told = imported
        .narrowing
        .as_ref()
        .map_or(0, |told| told.repeated_entries);
    assert_eq!(repeats, told);
    splits(&imported);
    if let Some(loss) = imported.influence_loss {
        assert!(loss.vertex < imported.primitives()[loss.primitive].vertex_count());
        assert!(loss.displacement_m >= 0.0);
    }
    let mut poser = crate::reference::poser::Poser::new();
    let mut palette = vec![Mat3x4::IDENTITY; imported.palette().len()];
    let weights: Vec<f32> = imported.morph_weights().iter().map(|w| w.rest).collect();
    let mut posed = PosedVertices::default();
    for clip in 0..imported.curves().len().min(3) {
        let time_s = imported.curves()[clip].duration_s() * 0.6;
        let out = WriteOnly::over(&mut palette);
        poser
            .palette(&imported, Some((clip, f64::from(time_s))), out)
            .unwrap();
        assert_eq!(poser.weights().len(), imported.morph_weights().len());
        // A spline may leave the range of 32-bit numbers between its keys.
        if poser.weights().iter().all(|weight| weight.is_finite()) {
            posed_bounds(&imported, &palette, Some(poser.weights())).unwrap();
            let mut morphed = MorphedVertices::default();
            for primitive in imported.primitives().iter().take(2) {
                morph(primitive, poser.weights(), &mut morphed).unwrap();
                assert_eq!(morphed.positions.len(), primitive.vertex_count());
            }
        }
        for primitive in imported.primitives().iter().take(2) {
            skin(
                &imported,
                primitive,
                (&*palette).into(),
                &weights,
                &mut posed,
            )
            .unwrap();
        }
    }
    true
}

/// Splitting works, or names a triangle, and keeps what `Character` promises.
fn splits(character: &throng::character::Character) {
    for primitive in character.primitives() {
        let triangles = primitive.indices.len() / 3;
        assert_eq!(character.flipping_triangles(primitive).len(), triangles);
        assert_eq!(primitive.rigid_triangles().len(), triangles);
    }
    for max in [1, 2, 5] {
        match character.split(max) {
            Ok((split, _)) => {
                assert_eq!(split.triangle_count(), character.triangle_count());
                common_invariants(&split);
            }
            Err(error) => assert!(
                matches!(error, throng::Error::TriangleJoints { cap, .. } if cap == max),
                "{error}"
            ),
        }
    }
}

/// What `Character` promises.
fn common_invariants(character: &throng::character::Character) {
    let skeleton = character.skeleton();
    for (index, joint) in skeleton.joints().iter().enumerate() {
        assert!(joint.parent.is_none_or(|parent| parent.index() < index));
        assert!((joint.rest.rotation.length() - 1.0).abs() < 1e-5);
    }
    let mut next = 0;
    for level in skeleton.levels() {
        assert_eq!(level.start, next);
        assert!(level.start < level.end);
        next = level.end;
    }
    assert_eq!(usize::from(next), skeleton.len());
    let mut used = vec![false; character.palette().len()];
    for primitive in character.primitives() {
        let vertices = primitive.vertex_count();
        let range = character.palette_range(primitive);
        assert!(range.end <= used.len() && !range.is_empty());
        assert!(vertices > 0 && !primitive.indices.is_empty());
        assert!(primitive.indices.iter().all(|i| (*i as usize) < vertices));
        assert!((primitive.material as usize) < character.materials().len());
        let influences = &primitive.influences;
        let k = influences.per_vertex as usize;
        assert!(k == 1 || k == 2 || k.is_multiple_of(4));
        assert_eq!(influences.joints.len(), vertices * k);
        assert_eq!(
            influences.weights.len(),
            if k == 1 { 0 } else { vertices * k }
        );
        for row in influences.weights.chunks_exact(k) {
            assert_eq!(row.iter().map(|w| u32::from(*w)).sum::<u32>(), 65_535);
            assert!(row.is_sorted_by(|a, b| a >= b));
        }
        for vertex in 0..vertices {
            assert!(primitive.positions[vertex].is_finite());
            for (joint, weight) in influences.of(vertex) {
                assert!(range.start + joint < range.end);
                used[range.start + joint] |= weight > 0.0;
            }
        }
        let weights = primitive.first_weight as usize + primitive.targets.len();
        assert!(primitive.targets.is_empty() || weights <= character.morph_weights().len());
        for target in &primitive.targets {
            let count = target.vertices.len();
            assert!(target.vertices.is_sorted_by(|a, b| a < b));
            assert!(
                target
                    .vertices
                    .last()
                    .is_none_or(|v| (*v as usize) < vertices)
            );
            assert_eq!(target.positions.len(), count);
            for list in [&target.positions, &target.normals, &target.tangents] {
                assert!(list.iter().all(|delta| delta.is_finite()));
                assert!(list.is_empty() || list.len() == count);
            }
        }
        for (stream, len) in [
            ("normals", primitive.normals.len()),
            ("tangents", primitive.tangents.len()),
            ("uvs", primitive.uvs.len()),
            ("uvs1", primitive.uvs1.len()),
            ("colors", primitive.colors.len()),
        ] {
            assert!(len == 0 || len == vertices, "{stream}");
        }
        assert!(primitive.tangents.is_empty() || !primitive.normals.is_empty());
        for tangent in &primitive.tangents {
            assert!((tangent.truncate().length() - 1.0).abs() < 1e-5 && tangent.w.abs() == 1.0);
        }
        let mut uvs = primitive.uvs.iter().chain(&primitive.uvs1);
        assert!(uvs.all(|uv| uv.is_finite()));
    }
    assert!(used.iter().all(|used| *used));
    for entry in character.palette() {
        assert!(usize::from(entry.joint) < skeleton.len());
        assert!(entry.inverse_bind.is_finite() && !entry.bounds.is_empty());
    }
    assert!(!character.materials().is_empty());
    for material in character.materials() {
        materials_invariants(material, character.images().len());
    }
    assert!(character.rest_bounds().size().is_finite() || character.primitives().is_empty());
}

/// What `Material` promises.
fn materials_invariants(material: &Material, images: usize) {
    for texture in material.textures().into_iter().flatten() {
        assert!((texture.image as usize) < images && texture.uv_set <= 1);
        assert!(texture.transform.is_finite());
    }
    let unit = [
        &material.base_color[..],
        &[material.metallic, material.roughness],
        &[material.occlusion_strength],
    ];
    assert!(unit.concat().iter().all(|v| (0.0..=1.0).contains(v)));
    let mut light = material.emissive.iter();
    assert!(light.all(|v| (0.0..=f32::MAX).contains(v)));
    assert!(material.normal_scale.is_finite());
    if let AlphaMode::Mask { cutoff } = material.alpha {
        assert!((0.0..=f32::MAX).contains(&cutoff));
    }
}

/// A file that uses most of what is read.
fn everything() -> Builder {
    let mut b = arm();
    let sparse_places = b.view(&[1_u8, 4]);
    let sparse_values = b.view(&[0.1_f32, 0.2, 0.3, 0.4, 0.5, 0.6]);
    let normals = b.add(
        "accessors",
        json!({
            "componentType": F32, "type": "VEC3", "count": 6,
            "sparse": { "count": 2,
                "indices": { "bufferView": sparse_places, "componentType": U8 },
                "values": { "bufferView": sparse_values } },
        }),
    );
    let uvs: Vec<u16> = (0..12).map(|v| v * 5000).collect();
    let uvs = b.normalized("VEC2", U16, &uvs);
    let second = b.accessor("VEC2", F32, &[0.25_f32; 12]);
    let tangents = b.accessor("VEC4", F32, &[0.0, 0.6, 0.8, -1.0_f32].repeat(6));
    let colors = b.normalized("VEC4", U8, &[200_u8; 24]);
    let joints = b.accessor("VEC4", U8, &[0_u8; 24]);
    let weights = b.normalized("VEC4", U8, &[0_u8; 24]);
    let view = b.view(&grey_png(4, 4));
    b.add(
        "images",
        json!({ "bufferView": view, "mimeType": "image/png" }),
    );
    b.add("samplers", json!({ "magFilter": 9728, "wrapS": 33071 }));
    b.add("textures", json!({ "source": 0, "sampler": 0 }));
    b.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = json!({
        "index": 0, "texCoord": 0,
        "extensions": { "KHR_texture_transform": { "offset": [0.5, 0.0], "rotation": 1.0 } } });
    let material = &mut b.json["materials"][0];
    material["doubleSided"] = json!(true);
    material["alphaMode"] = json!("MASK");
    material["alphaCutoff"] = json!(0.25);
    material["emissiveFactor"] = json!([0.5, 0.25, 1]);
    material["normalTexture"] = json!({ "index": 0, "texCoord": 3, "scale": 0.5 });
    material["occlusionTexture"] = json!({ "index": 0, "strength": 0.5 });
    material["extensions"] = json!({ "KHR_materials_clearcoat": {},
        "KHR_materials_emissive_strength": { "emissiveStrength": 2.5 } });
    let pbr = &mut material["pbrMetallicRoughness"];
    pbr["metallicFactor"] = json!(0.5);
    pbr["metallicRoughnessTexture"] = json!({ "index": 0, "texCoord": 3 });
    let attributes = &mut b.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["NORMAL"] = json!(normals);
    attributes["TANGENT"] = json!(tangents);
    attributes["TEXCOORD_0"] = json!(uvs);
    attributes["TEXCOORD_3"] = json!(second);
    attributes["COLOR_0"] = json!(colors);
    attributes["JOINTS_1"] = json!(joints);
    attributes["WEIGHTS_1"] = json!(weights);
    let times = b.accessor("SCALAR", F32, &[0.25_f32, 0.75]);
    let cubic: Vec<f32> = (0..18).map(|v| v as f32 * 0.1).collect();
    let cubic = b.accessor("VEC3", F32, &cubic);
    b.json["animations"].as_array_mut().unwrap().push(json!({
        "samplers": [{ "input": times, "output": cubic, "interpolation": "CUBICSPLINE" }],
        "channels": [{ "sampler": 0, "target": { "node": 1, "path": "translation" } },
                     { "sampler": 0, "target": { "node": 2, "path": "scale" } }],
    }));
    b.json["nodes"].as_array_mut().unwrap().push(json!({
        "name": "Sword", "mesh": 1, "matrix": [1,0,0,0, 0,2,0,0, 0,0,1,0, 3,4,5,1] }));
    b.json["nodes"][3]["children"] = json!([4]);
    b.json["meshes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "primitives": [
        { "attributes": { "POSITION": 0 }, "mode": 5, "targets": [{}] },
        { "attributes": { "POSITION": 0 }, "mode": 6, "targets": [{ "COLOR_0": 0 }] } ] }));
    b
}

/// A file of morph targets: dense, sparse, sparse over a view, quantised, on two nodes, all three
/// kinds of curves.
fn morphs() -> Builder {
    let mut b = triangle();
    b.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    let normals = b.accessor("VEC3", F32, &[[0.0, 0.0, 1.0_f32]; 3].concat());
    let dense = b.accessor("VEC3", F32, &[0.5_f32; 9]);
    let bytes = b.normalized("VEC3", I8, &[0_i8, 1, 2, 3, -4, 5, 0, 0, 0]);
    let places = b.view(&[0_u8, 2]);
    let values = b.view(&[0.25_f32; 6]);
    let sparse = json!({ "count": 2,
        "indices": { "bufferView": places, "componentType": U8 },
        "values": { "bufferView": values } });
    let [thin, over] = [
        json!(null),
        b.json["accessors"][dense]["bufferView"].clone(),
    ]
    .map(|view| {
        b.add(
            "accessors",
            json!({ "bufferView": view, "componentType": F32, "type": "VEC3", "count": 3,
                "sparse": sparse }),
        )
    });
    let primitive = &mut b.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["NORMAL"] = json!(normals);
    primitive["targets"] = json!([
        { "POSITION": dense, "NORMAL": thin }, { "POSITION": bytes, "TEXCOORD_0": 0 },
        { "POSITION": over } ]);
    b.json["meshes"][0]["weights"] = json!([0.5, 0, -1]);
    b.json["meshes"][0]["extras"] = json!({ "targetNames": ["a", "b"] });
    b.json["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0, "weights": [1, 1, 1], "name": "n" }]);
    b.json["scenes"] = json!([{ "nodes": [0, 1] }]);
    let times = b.accessor("SCALAR", F32, &[0.25_f32, 0.75]);
    let values: Vec<f32> = (0..18).map(|v| v as f32 * 0.1).collect();
    let cubic = b.accessor("SCALAR", F32, &values);
    let linear = b.normalized("SCALAR", U8, &[0_u8, 50, 100, 150, 200, 250]);
    let sampler = |output: usize, kind: &str| json!({ "input": times, "output": output, "interpolation": kind });
    let channel = |sampler: usize, node: usize| json!({ "sampler": sampler, "target": { "node": node, "path": "weights" } });
    b.json["animations"] = json!([
        { "samplers": [sampler(cubic, "CUBICSPLINE"), sampler(linear, "LINEAR")],
          "channels": [channel(0, 0), channel(1, 1)] },
        { "samplers": [sampler(linear, "STEP")], "channels": [channel(0, 1)] } ]);
    b
}

/// Says something even where the test harness keeps the output of tests that pass.
fn loudly(words: &str) {
    use std::io::Write as _;
    drop(writeln!(std::io::stderr(), "{words}"));
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![
        everything().glb(),
        everything().gltf(),
        morphs().glb(),
        morphs().gltf(),
        arm().glb(),
        triangle().gltf(),
    ];
    match std::env::var_os("THRONG_ASSETS") {
        None => loudly("NOT TESTED: THRONG_ASSETS is not set; no published model is mutated"),
        Some(folder) => {
            let folder = std::path::PathBuf::from(folder);
            for name in [
                "CesiumMan.glb",
                "MorphStressTest.glb",
                "SimpleSkin.gltf",
                "quad_skin.glb",
                "RiggedSimple.glb",
                "Fox.glb",
            ] {
                seeds.extend(std::fs::read(folder.join(name)));
            }
        }
    }
    seeds
}

#[test]
fn seeds_import() {
    for seed in seeds() {
        assert!(digest(&seed), "{:?}", gltf(&seed, &options()).err());
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut random = Random::new(1);
    let (mut good, mut bad) = (0, 0);
    for seed in seeds() {
        let rounds = if seed.len() > 50_000 { 200 } else { 1500 };
        for _ in 0..rounds * factor() {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = match random.below(4) {
                    0 => bytes[at] ^ 1 << random.below(8),
                    1 => 0xFF,
                    2 => 0,
                    _ => random.next() as u8,
                };
            }
            *(if digest(&bytes) { &mut good } else { &mut bad }) += 1;
        }
    }
    assert!(good > 100 && bad > 100, "{good} imported, {bad} refused");
}

#[test]
fn truncations_never_panic() {
    for seed in seeds() {
        let step = (seed.len() / 400).max(1);
        for end in (0..seed.len()).step_by(step) {
            digest(&seed[..end]);
        }
    }
}

#[test]
fn random_bytes_after_a_header_never_panic() {
    let mut random = Random::new(2);
    for _ in 0..2000 * factor() {
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend((0..random.below(80)).map(|_| random.next() as u8));
        if random.below(2) == 0 && bytes.len() > 20 {
            let length = bytes.len() as u32;
            bytes[8..12].copy_from_slice(&length.to_le_bytes());
            bytes[12..16].copy_from_slice(&(length - 20).to_le_bytes());
            bytes[16..20].copy_from_slice(b"JSON");
        }
        digest(&bytes);
    }
}

/// What every value of the JSON is replaced with in turn.
fn substitutes() -> Vec<Value> {
    vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(2),
        json!(3),
        json!(255),
        json!(65_535),
        json!(4_294_967_295_u64),
        json!(4_000_000_000_u64),
        json!(u64::MAX),
        json!(u64::MAX - 3),
        json!(i64::MIN),
        json!(0.5),
        json!(-0.0),
        json!(1e39),
        json!(1e308),
        json!(-1e38),
        json!(1e-45),
        json!(null),
        json!(true),
        json!(""),
        json!("x"),
        json!("../x"),
        json!([]),
        json!({}),
        json!([0]),
        json!([0, 0, 0]),
        json!([0, 0, 0, 0]),
        json!([1e38, 1e38, 1e38]),
    ]
}

/// The paths to all values of a document.
fn paths(value: &Value, at: &str, out: &mut Vec<String>) {
    if !at.is_empty() {
        out.push(at.to_owned());
    }
    match value {
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                paths(value, &format!("{at}/{index}"), out);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                paths(value, &format!("{at}/{key}"), out);
            }
        }
        _ => {}
    }
}

/// Every value of the document replaced by every substitute, and removed.
fn substitute_all(b: &Builder) {
    let mut base = b.json.clone();
    base["buffers"] = json!([{ "byteLength": b.bin.len() }]);
    let mut all = Vec::new();
    paths(&base, "", &mut all);
    let (mut good, mut bad) = (0, 0);
    for path in &all {
        for substitute in substitutes() {
            let mut json = base.clone();
            *json.pointer_mut(path).unwrap() = substitute;
            let text = json.to_string();
            *(if digest(&glb(text.as_bytes(), Some(&b.bin))) {
                &mut good
            } else {
                &mut bad
            }) += 1;
        }
        let (parent, key) = path.rsplit_once('/').unwrap();
        let mut json = base.clone();
        match json.pointer_mut(parent).unwrap() {
            Value::Object(map) => drop(map.remove(key)),
            Value::Array(list) => drop(list.remove(key.parse::<usize>().unwrap())),
            _ => unreachable!(),
        }
        digest(&glb(json.to_string().as_bytes(), Some(&b.bin)));
    }
    assert!(good > 100 && bad > 100, "{good} imported, {bad} refused");
}

#[test]
fn substituted_values_never_panic() {
    substitute_all(&everything());
    substitute_all(&arm());
}

#[test]
fn pairs_of_substituted_values_never_panic() {
    let b = everything();
    let mut base = b.json.clone();
    base["buffers"] = json!([{ "byteLength": b.bin.len() }]);
    let mut all = Vec::new();
    paths(&base, "", &mut all);
    let substitutes = substitutes();
    let mut random = Random::new(3);
    for _ in 0..6000 * factor() {
        let mut json = base.clone();
        for _ in 0..2 + random.below(2) {
            let path = &all[random.below(all.len())];
            let value = match random.below(3) {
                // Another value of the same document: keeps the form, changes the meaning.
                0 => base
                    .pointer(&all[random.below(all.len())])
                    .cloned()
                    .unwrap(),
                1 => json!(random.below(12)),
                _ => substitutes[random.below(substitutes.len())].clone(),
            };
            if let Some(place) = json.pointer_mut(path) {
                *place = value;
            }
        }
        digest(&glb(json.to_string().as_bytes(), Some(&b.bin)));
    }
}

#[test]
fn images_of_any_bytes_never_panic() {
    let mut random = Random::new(4);
    let gradient = (0..17_usize).flat_map(|y| (0..23).map(move |x| (x, y)));
    let gradient = gradient.flat_map(|(x, y)| [x * 11, y * 15, x * y].map(|value| value as u8));
    let gradient: Vec<u8> = gradient.collect();
    let (color, depth) = (png::ColorType::Rgb, png::BitDepth::Eight);
    let seeds = [
        builder::png((23, 17), color, depth, &gradient),
        include_bytes!("pictures/baseline.jpg").to_vec(),
        include_bytes!("pictures/progressive.jpg").to_vec(),
    ];
    for seed in seeds {
        for _ in 0..2000 * factor() {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(6) {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
            bytes.truncate(bytes.len() - random.below(3) * random.below(bytes.len()) / 4);
            let mut b = triangle();
            let view = b.view(&bytes);
            b.add("images", json!({ "bufferView": view }));
            b.add("textures", json!({ "source": 0 }));
            b.add(
                "materials",
                json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }),
            );
            b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
            digest(&b.glb());
        }
    }
}

#[test]
fn deep_and_long_json_is_refused_or_skipped() {
    let deep = "[".repeat(1_000_000);
    assert!(!digest(deep.as_bytes()));
    let skipped = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut file = String::from_utf8(triangle().gltf()).unwrap();
    file.insert_str(1, &format!("\"extras\":{skipped},"));
    digest(file.as_bytes());
    let file = String::from_utf8(triangle().gltf()).unwrap();
    let targets = format!("\"primitives\":[{{\"targets\":{skipped},");
    let file = file.replace("\"primitives\":[{", &targets);
    assert!(file.len() > 200_000);
    digest(file.as_bytes());
    let many = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{}{{}}]}}",
        "{},".repeat(300_000)
    );
    assert!(!digest(many.as_bytes()));
}

#[test]
fn floats_of_every_kind_never_panic() {
    let odd = [
        f32::NAN,
        f32::INFINITY,
        -f32::INFINITY,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
        -0.0,
        -1.0,
    ];
    for seed in [everything(), arm()] {
        for at in (0..seed.bin.len() - 4).step_by(4) {
            for value in odd {
                let mut b = seed.clone();
                b.bin[at..at + 4].copy_from_slice(&value.to_le_bytes());
                digest(&b.glb());
            }
        }
    }
}
