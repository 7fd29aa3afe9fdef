//! A folder with a small model of the joints Root, Hips and Hand.
//!
//! Its clips Idle, Walk and Run take one second. In them, the hips move a metre along z.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use throng::error::Result;
use throng::import::{ImportOptions, Imported};

/// A fresh folder, removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("throng-sidecar-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// With the model and this description beside it.
    pub(crate) fn with(toml: &str) -> Self {
        let folder = Self::new();
        folder.write("doll.gltf", MODEL);
        folder.write("doll.toml", toml);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn import(&self, options: &ImportOptions) -> Result<Imported> {
        throng_import::file(self.0.join("doll.gltf"), options)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Times 0 and 1, then the translations 0, 0, 0 and 0, 0, 1. The walk has events of its own: the
/// last lies outside of it, and what follows is of another form.
pub(crate) const MODEL: &str = r#"{
  "asset": {"version": "2.0"},
  "scene": 0, "scenes": [{"nodes": [0]}],
  "nodes": [
    {"name": "Root", "children": [1]}, {"name": "Hips", "children": [2]}, {"name": "Hand"}
  ],
  "buffers": [{"byteLength": 32,
    "uri": "data:application/octet-stream;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAgD8="}],
  "bufferViews": [{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 24}],
  "accessors": [
    {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1]},
    {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC3"}
  ],
  "animations": [
    {"name": "Idle", "samplers": [{"input": 0, "output": 1}],
      "channels": [{"sampler": 0, "target": {"node": 2, "path": "translation"}}],
      "extras": {"events": {"name": "a", "time": 1}}},
    {"name": "Walk", "samplers": [{"input": 0, "output": 1}],
      "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
      "extras": {"more": {}, "events": [{"name": "right", "time": 0.75}, {"name": "left", "time": 0.25},
        {"name": "late", "time": 1.5}, {"name": "never", "time": -1e300}, 1, "a", null, {"name": 3, "time": 1},
        {"name": "x"}, {"time": 1}, []]}},
    {"name": "Run", "samplers": [{"input": 0, "output": 1}],
      "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
      "extras": [{"events": []}]}
  ]
}"#;
