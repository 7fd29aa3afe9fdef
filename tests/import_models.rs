//! The importer on published models, which lie in the folder that `THRONG_ASSETS` names.
#![cfg(feature = "gltf")]

use std::path::PathBuf;
use throng::import::{ImportOptions, gltf_file};

/// The folder of models; says loudly that these tests check nothing without it.
fn assets() -> Option<PathBuf> {
    let folder = std::env::var_os("THRONG_ASSETS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("NOT TESTED: THRONG_ASSETS is not set; tests on published models check nothing");
    }
    folder
}

#[test]
fn every_model_imports() {
    let Some(folder) = assets() else { return };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        let path = entry.path();
        let inner = path.join(path.file_name().unwrap()).with_extension("gltf");
        files.push(if path.is_dir() { inner } else { path });
    }
    files.retain(|p| p.extension().is_some_and(|e| e == "glb" || e == "gltf"));
    files.sort();
    assert!(!files.is_empty());
    for path in files {
        let imported = gltf_file(&path, &ImportOptions::default());
        let imported = imported.unwrap_or_else(|error| panic!("{error}"));
        println!(
            "{}: {} joints, {} levels, {} palette, {} primitives, {} vertices, {} triangles, {} clips, {} images, {:?}",
            imported.name(),
            imported.skeleton().len(),
            imported.skeleton().levels().len(),
            imported.palette().len(),
            imported.primitives().len(),
            imported.vertex_count(),
            imported.triangle_count(),
            imported.clips().len(),
            imported.images().len(),
            imported.rest_bounds(),
        );
        let mut ks: Vec<_> = imported
            .primitives()
            .iter()
            .map(|p| p.influences.per_vertex)
            .collect();
        ks.sort();
        ks.dedup();
        println!("    influences {ks:?}");
        for repair in imported.repairs.iter().take(8) {
            println!("    {repair}");
        }
        println!("    {} repairs", imported.repairs.len());
    }
}
