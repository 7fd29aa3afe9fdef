//! Tests of the command line: they run the program as a user does.
//!
//! Files are written by the tests, and those of `THRONG_ASSETS` are read if it is set. Tests that
//! need some of these run with `--include-ignored`. `bench`, `--on gpu` and `--picture` need a
//! Vulkan device.

// Not the package `throng-reference`: all examples would wait for it.
#[path = "../../tests/reference/assets.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use more of it")]
mod assets;
mod bake;
mod check;
mod export;
mod general;
mod glb;
mod inspect;
#[path = "../../tests/reference/made.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use more of it")]
mod made;
mod pose;
mod retarget;
#[path = "../../tests/reference/rng.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use more of it")]
mod rng;
#[path = "../../tests/import/samples.rs"]
#[allow(dead_code, reason = "the tests of the readers use more of it")]
mod samples;
mod words;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The result of a run.
#[derive(Debug)]
struct Ran {
    status: i32,
    out: String,
    err: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command.args(args);
    command
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            status: output.status.code().expect("no signal"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

/// Runs the program. It must not panic, whatever happens.
fn run(args: &[&str]) -> Ran {
    let ran: Ran = command(args).output().expect("a process").into();
    assert!(!ran.err.contains("panicked"), "{args:?}: {}", ran.err);
    ran
}

/// Runs the program, which must succeed, and returns its output.
fn ok(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.status, 0, "{args:?}: {}", ran.err);
    ran.out
}

/// Runs the program, which must end with this status, and returns the words of the error.
fn fails(status: i32, args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.status, status, "{args:?}: {}{}", ran.out, ran.err);
    ran.err
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("cli")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a file, and returns its path as text.
fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    text(&path)
}

/// The document that a subcommand prints.
fn document(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().into()
}

/// The models of `THRONG_ASSETS`, and one that is written into an empty folder of this name.
fn models(name: &str) -> Vec<PathBuf> {
    let mut files = assets::files();
    files.push(made::write(&folder(name)));
    files
}

/// A glTF file of four points: one triangle, and an index that makes none.
fn odd_gltf() -> String {
    serde_json::json!({
        "asset": { "version": "2.0" },
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4 }],
        "bufferViews": [{ "buffer": 0, "byteLength": 48 }],
        "buffers": [{ "uri": format!("data:;base64,{}", "A".repeat(64)), "byteLength": 48 }],
    })
    .to_string()
}

/// The repair of [`odd_gltf`], if the file is called `odd.gltf`.
const ODD: &str = "odd.gltf: mesh 0, primitives[0].indices: trailing indices that make no full \
                   triangle dropped (1)\n";
