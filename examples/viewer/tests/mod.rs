//! The viewer: its pictures, its controls, and its window with real keys.
//!
//! The pictures are compared as those of `tests/golden` are. After an intended change, run
//! `THRONG_UPDATE_GOLDEN=1 scripts/with-vulkan cargo test -p throng-viewer --lib`, and look at the
//! changes that git shows.

mod controls;
mod faults;
mod files;
#[allow(dead_code, unreachable_pub, reason = "shared with other tests")]
#[path = "../../../tests/reference/golden.rs"]
mod golden;
mod keys;
#[allow(dead_code, unreachable_pub, reason = "shared with other tests")]
#[path = "../../../tests/reference/picture.rs"]
mod picture;
mod pictures;
mod plays;
mod time;

use crate::args::Args;
use crate::headless::{Studio, with_studio};
use clap::Parser as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use throng::character::AnimationDesc;
use throng::import::{ImportOptions, RawCharacter};
use throng::state_machine::StateMachineDesc;

/// Compares a picture with the golden one.
fn check(name: &str, actual: &picture::Picture) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    golden::check(folder, name, actual);
}

/// The arguments of a small picture.
fn args(more: &[&str]) -> Args {
    let all = ["viewer", "--validate", "--size", "320x240"];
    let headless = ["--screenshot", "unused.png"];
    Args::parse_from(all.iter().chain(&headless).chain(more))
}

/// A file for a test to write.
fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/viewer");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name)
}

/// Adds to the built-in character's own description.
const MORE: &str = r#"
[[clip]]
name = "Walk"
events = [{ name = "left", time_s = 0.1 }, { name = "right", time_s = 0.6 }]


[[blend_space]]
name = "gaits"
points = [{ at = 0, clip = "Idle" }, { at = 1.4, clip = "Walk" }, { at = 3.6, clip = "Run" }]

[[blend_space]]
name = "ways"
points = [
    { at = [0, 0], clip = "Idle" },
    { at = [0, 1], clip = "Walk" },
    { at = [1, 0], clip = "Run" },
]
"#;

/// The built-in character with masks, blend spaces and the state machine of the example `machine`,
/// as a file.
fn animated() -> PathBuf {
    static WRITTEN: OnceLock<PathBuf> = OnceLock::new();
    WRITTEN.get_or_init(write_animated).clone()
}

fn write_animated() -> PathBuf {
    let more = AnimationDesc::from_toml("more.toml", MORE).expect("a description");
    let hero = include_str!("../../machine/hero.toml");
    let machine = StateMachineDesc::from_toml("hero.toml", hero).expect("a state machine");
    let options = ImportOptions {
        curves: true,
        ..ImportOptions::default()
    };
    let mannequin = RawCharacter::mannequin()
        .build(&options)
        .expect("a character");
    let own = mannequin.animation_desc().clone();
    let animation = AnimationDesc {
        masks: own.masks,
        sockets: own.sockets,
        state_machine: Some(machine),
        ..more
    };
    let character = mannequin.character.with_animation(&animation);
    let character = character.expect("a character");
    let path = file("animated.throng");
    std::fs::write(&path, character.to_bytes()).expect("a file");
    path
}

/// Runs a test with the animated character, and fails for any message of the validation layer.
fn with(more: &[&str], test: impl FnOnce(&mut Studio<'_>)) {
    let path = animated();
    let path = path.to_string_lossy();
    let mut all = vec![&*path];
    all.extend(more);
    let ran = with_studio(&args(&all), |studio| {
        test(studio);
        Ok(())
    });
    let (_, messages) = ran.expect("a viewer");
    messages.check().unwrap();
}
