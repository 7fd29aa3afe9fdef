//! Finds the models that tests need, so that tests without theirs are reported as ignored.
//!
//! - `cfg(assets)`: the environment variable `THRONG_ASSETS` names a folder of models.
//! - `cfg(models)`: the folder has all models that tests name.
//!
//! If `THRONG_REQUIRE_ASSETS` is set, a missing model ends the build.

use std::path::PathBuf;

/// The models that tests name.
const MODELS: [&str; 12] = [
    "AnimatedMorphCube/AnimatedMorphCube.gltf",
    "BrainStem.glb",
    "CesiumMan.glb",
    "Fox.glb",
    "Fox_quantized.glb",
    "InterpolationTest/InterpolationTest.gltf",
    "Knight.glb",
    "MorphStressTest.glb",
    "RiggedFigure.glb",
    "RiggedSimple.glb",
    "SimpleSkin.gltf",
    "quad_skin.glb",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["THRONG_ASSETS", "THRONG_REQUIRE_ASSETS"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rustc-check-cfg=cfg(assets)");
    println!("cargo::rustc-check-cfg=cfg(models)");
    let required = std::env::var_os("THRONG_REQUIRE_ASSETS").is_some();
    let Some(folder) = std::env::var_os("THRONG_ASSETS").map(PathBuf::from) else {
        assert!(!required, "THRONG_ASSETS is not set");
        return;
    };
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rustc-cfg=assets");
    let missing: Vec<&str> = MODELS
        .into_iter()
        .filter(|name| !folder.join(name).is_file())
        .collect();
    if missing.is_empty() {
        println!("cargo::rustc-cfg=models");
    }
    assert!(
        missing.is_empty() || !required,
        "THRONG_ASSETS lacks {missing:?}"
    );
}
