//! The files to test on: every `.glb` and `.gltf` in the folder that `THRONG_ASSETS` names.

use std::path::{Path, PathBuf};

/// All test files, sorted. Prints a visible warning if there are none.
pub fn files() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("THRONG_ASSETS") else {
        // Bypasses the test harness's capture, so that the warning is visible even if all tests
        // pass.
        use std::io::Write;
        let _ = writeln!(
            std::io::stderr(),
            "\n*** THRONG_ASSETS is not set: no model files are tested, only what the tests build. \
             ***\n*** Set it to a folder of .glb and .gltf files. ***\n"
        );
        return Vec::new();
    };
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files);
    files.sort();
    assert!(
        !files.is_empty(),
        "THRONG_ASSETS={} holds no .glb or .gltf file",
        folder.display()
    );
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("THRONG_ASSETS: {}: {e}", folder.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            collect(&path, files);
        } else if extension.eq_ignore_ascii_case("glb") || extension.eq_ignore_ascii_case("gltf") {
            files.push(path);
        }
    }
}
