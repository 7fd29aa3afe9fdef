//! Runs one fuzz target of `tests/import/fuzz/targets.rs` under libFuzzer: see `scripts/fuzz`.
//!
//! `THRONG_FUZZ_TARGET` names the target. Its inputs besides those of the corpus are written to the
//! folder `THRONG_FUZZ_SEEDS`.
#![no_main]

#[path = "../tests/fbx/ascii.rs"]
#[allow(dead_code, reason = "only its arm is used here")]
mod ascii;
#[path = "../tests/import/builder.rs"]
mod builder;
#[path = "../tests/import/level_files.rs"]
mod level_files;
#[path = "../tests/import/samples.rs"]
mod samples;

/// The part of the tests that the targets need.
#[path = "../tests/import/fuzz"]
mod import {
    mod invariants;
    mod seeds;
    pub(super) mod targets;
}

/// The part of the tests that the seeds need.
#[path = "../tests/import/vrm"]
mod vrm {
    #[allow(dead_code, reason = "only its files are used here")]
    mod files;
    pub(crate) use files::{vrm0, vrm1};
}

use import::targets::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;
use throng_reference as reference;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("THRONG_FUZZ_TARGET").unwrap_or_default();
    let target = TARGETS.iter().find(|target| target.name == name);
    target.unwrap_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("no target is named '{name}'; targets: {}", names.join(" "));
        std::process::exit(2)
    })
});

fn write_seeds() {
    let Some(folder) = std::env::var_os("THRONG_FUZZ_SEEDS") else {
        return;
    };
    for (index, seed) in (TARGET.seeds)().iter().enumerate() {
        std::fs::write(Path::new(&folder).join(format!("seed-{index}")), seed).unwrap();
    }
}

fuzz_target!(init: write_seeds(), |bytes: &[u8]| {
    (TARGET.read)(bytes);
});
