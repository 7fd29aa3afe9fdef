//! Published models, from the folder that `THRONG_ASSETS` names.
use std::path::{Path, PathBuf};
use throng::clip::TrackValues;
use throng::error::{AssetFault, Error};
use throng::glam::{Quat, Vec2};
use throng::import::{ImportOptions, Imported, RepairKind};
use throng::mesh::JointIndices;

/// Says something even where the test harness keeps the output of tests that pass.
fn loudly(words: &str) {
    use std::io::Write as _;
    drop(writeln!(std::io::stderr(), "{words}"));
}

/// The folder of models.
fn assets() -> PathBuf {
    std::env::var_os("THRONG_ASSETS")
        .expect("THRONG_ASSETS")
        .into()
}

/// A model of the folder.
fn model(file: &str) -> Imported {
    let imported = throng_import::file(assets().join(file), &ImportOptions::curves_only());
    imported.unwrap_or_else(|error| panic!("{error}"))
}

/// All `.glb` and `.gltf` files of the folder and the folders in it.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "glb" || e == "gltf") {
            out.push(path);
        }
    }
    out.sort();
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn every_model_imports() {
    let folder = assets();
    let mut all = Vec::new();
    files(&folder, &mut all);
    assert!(!all.is_empty(), "no model in {}", folder.display());
    for path in all {
        let imported = throng_import::file(&path, &ImportOptions::curves_only());
        if let Err(Error::Asset {
            why: AssetFault::Requires(what),
            ..
        }) = &imported
        {
            loudly(&format!("NOT TESTED: {} requires {what}", path.display()));
            continue;
        }
        let c = imported.unwrap_or_else(|error| panic!("{error}"));
        println!(
            "{}: {} joints, {} levels, {} palette, {} primitives, {} vertices, {} triangles, {} \
             clips, {} images, {} repairs",
            c.name(),
            c.skeleton().len(),
            c.skeleton().levels().len(),
            c.palette().len(),
            c.primitives().len(),
            c.vertex_count(),
            c.triangle_count(),
            c.curves().len(),
            c.images().len(),
            c.repairs.len(),
        );
        for repair in &c.repairs {
            println!("    {repair}");
        }
        for clip in c.curves() {
            for track in clip.tracks() {
                if let TrackValues::Rotation(keys) = &track.values {
                    let unit = |q: &Quat| (q.length() - 1.0).abs() < 1e-5;
                    let cubic = keys.values.len() > keys.times_s.len();
                    assert!(cubic || keys.values.iter().all(unit));
                }
            }
        }
    }
}

/// File, joints, palette entries, primitives, vertices, triangles, clips, images.
type Row = (&'static str, [usize; 7]);

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn known_models_give_known_numbers() {
    let rows: [Row; 12] = [
        (
            "AnimatedMorphCube/AnimatedMorphCube.gltf",
            [1, 1, 1, 24, 12, 1, 0],
        ),
        ("BrainStem.glb", [21, 18, 59, 34_090, 61_666, 1, 0]),
        ("CesiumMan.glb", [21, 19, 1, 3_273, 4_672, 1, 1]),
        // The file has 1,728 vertices and no indices.
        ("Fox.glb", [25, 22, 1, 434, 576, 3, 1]),
        ("Fox_quantized.glb", [25, 22, 1, 434, 576, 3, 1]),
        (
            "InterpolationTest/InterpolationTest.gltf",
            [10, 10, 10, 220, 110, 9, 1],
        ),
        ("Knight.glb", [51, 29, 15, 7_024, 6_952, 76, 1]),
        ("MorphStressTest.glb", [1, 1, 2, 1_528, 2_412, 3, 3]),
        ("RiggedFigure.glb", [21, 19, 1, 365, 256, 1, 0]),
        ("RiggedSimple.glb", [5, 4, 1, 960, 892, 1, 0]),
        ("SimpleSkin.gltf", [3, 2, 1, 10, 8, 1, 0]),
        // Ten of the joints are the ends of the others, which have names.
        ("quad_skin.glb", [22, 10, 1, 4, 2, 0, 0]),
    ];
    for (file, expected) in rows {
        let c = model(file);
        let numbers = [
            c.skeleton().len(),
            c.palette().len(),
            c.primitives().len(),
            c.vertex_count(),
            c.triangle_count(),
            c.curves().len(),
            c.images().len(),
        ];
        assert_eq!(numbers, expected, "{file}");
    }
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn quantised_and_plain_fox_agree() {
    let plain = model("Fox.glb");
    let quantised = model("Fox_quantized.glb");
    let size = plain.rest_bounds().size().max_element();
    let [a, b] = [plain.rest_bounds(), quantised.rest_bounds()];
    assert!(a.min.abs_diff_eq(b.min, size * 1e-4) && a.max.abs_diff_eq(b.max, size * 1e-4));
    let names = |c: &Imported| {
        c.curves()
            .iter()
            .map(|clip| clip.name().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&plain), names(&quantised));
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn materials_of_known_models() {
    let fox = model("Fox_quantized.glb");
    let material = &fox.materials()[0];
    assert_eq!((material.metallic, material.roughness), (0.0, 0.58));
    let texture = material.base_color_texture.unwrap();
    let scale = texture.transform.matrix2.to_cols_array();
    assert_eq!(scale, [15.405_014, 0.0, 0.0, 15.447_296]);
    // Coordinates in 16 bits, and the model uses the lowest fifteenth of them.
    let uvs = &fox.primitives()[0].uvs;
    assert!(uvs.iter().all(|uv| uv.max_element() < 1.0 / 15.0));
    let plain = model("Fox.glb").primitives()[0].uvs.clone();
    let bounds = |uvs: &mut dyn Iterator<Item = Vec2>| {
        uvs.fold((Vec2::MAX, Vec2::MIN), |(a, b), uv| (a.min(uv), b.max(uv)))
    };
    let moved = uvs.iter().map(|uv| texture.transform.transform_point2(*uv));
    let (least, most) = bounds(&mut { moved });
    let (plain_least, plain_most) = bounds(&mut plain.iter().copied());
    // A step of the quantisation is 15.4 / 65,535.
    let step = 15.447_296 / 65_535.0;
    assert!(
        least.abs_diff_eq(plain_least, step),
        "{least} {plain_least}"
    );
    assert!(most.abs_diff_eq(plain_most, step), "{most} {plain_most}");
    let stress = model("MorphStressTest.glb");
    let base = &stress.materials()[0];
    let (occlusion, color) = (base.occlusion_texture, base.base_color_texture);
    assert_eq!((color.unwrap().uv_set, occlusion.unwrap().uv_set), (0, 1));
    for part in stress.primitives() {
        let both = [part.uvs.len(), part.uvs1.len()];
        let expected = if part.material == 0 { both[0] } else { 0 };
        assert_eq!(both, [part.vertex_count(), expected]);
    }
    let simple = model("RiggedSimple.glb");
    let material = &simple.materials()[simple.primitives()[0].material as usize];
    assert_eq!((material.metallic, material.roughness), (1.0, 1.0));
    let cube = model("AnimatedMorphCube/AnimatedMorphCube.gltf");
    let part = &cube.primitives()[0];
    assert_eq!(part.tangents.len(), 24);
    // Some of them lie along the normal in the file, and are left so.
    for tangent in &part.tangents {
        assert!(tangent.truncate().is_normalized() && tangent.w.abs() == 1.0);
    }
    assert!(
        cube.repairs
            .iter()
            .all(|r| r.kind != RepairKind::TangentNormalised)
    );
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn the_knight_carries_its_weapons() {
    let knight = model("Knight.glb");
    let rigid = knight
        .primitives()
        .iter()
        .filter(|p| p.influences_per_vertex == 1);
    assert!(rigid.clone().count() >= 5, "weapons, shields and a helmet");
    for part in rigid {
        assert!(matches!(part.joints, JointIndices::U8(_)));
        assert!(part.weights.is_empty());
    }
    assert!(knight.clip("Walking_A").is_ok());
}
