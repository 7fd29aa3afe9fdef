//! Poses against plain `f64` code that shares nothing with the crate: every clip of every model in
//! the folder that `THRONG_ASSETS` names, of files that are built here, and of random characters.

mod reference;

use reference::compare::{Worst, compare};
use reference::{assets, gltf, made, random, raw};
use std::path::Path;
use throng::builtin;
use throng::import::{self, ImportOptions};

/// Of the model's size, for the image of any vertex under any skinning matrix.
const MATRIX_BOUND: f64 = 1e-5;
/// Of the model's size, for skinned positions: the same, and what 16-bit weights add.
const POSITION_BOUND: f64 = 5e-5;
/// In radians, for skinned normals.
const NORMAL_BOUND: f64 = 1e-3;

fn show(name: &str, worst: &Worst) {
    println!(
        "{name:24} matrices {:7.1e}  positions {:7.1e}  normals {:7.1e} rad  ({} vertices, {} poses, {} parts turned over)",
        worst.matrix, worst.position, worst.normal, worst.vertices, worst.poses, worst.flipped
    );
}

/// What exceeds its bound, in words.
fn over(name: &str, worst: &Worst) -> Vec<String> {
    let bounds = [
        ("matrices", worst.matrix, MATRIX_BOUND),
        ("positions", worst.position, POSITION_BOUND),
        ("normals", worst.normal, NORMAL_BOUND),
    ];
    let over = bounds.into_iter().filter(|(_, got, bound)| got > bound);
    let words = |(what, got, bound)| {
        let at = worst.at;
        format!(
            "{name}: {what} are off by {got:.2e}, {bound:.0e} allowed (matrices worst at {at:?})"
        )
    };
    over.map(words).collect()
}

fn faults(name: &str, worst: &Worst) -> Vec<String> {
    show(name, worst);
    over(name, worst)
}

fn compare_file(path: &Path) -> Worst {
    let character = import::gltf_file(path, &ImportOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    compare(&gltf::load(path), &character)
}

#[test]
fn every_asset_agrees_with_the_reference() {
    let mut all = Vec::new();
    for path in assets::files() {
        let name = path.file_name().unwrap().to_string_lossy();
        all.extend(faults(&name, &compare_file(&path)));
    }
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn random_characters_agree_with_the_reference() {
    let mut total = Worst::default();
    for seed in 0..200 {
        let made = random::character(seed);
        let scene = raw::scene(&made);
        let character = made.build(&ImportOptions::default()).unwrap();
        let worst = compare(&scene, &character);
        let all = over(&format!("random character {seed}"), &worst);
        assert!(all.is_empty(), "{all:#?}");
        total.matrix = total.matrix.max(worst.matrix);
        total.position = total.position.max(worst.position);
        total.normal = total.normal.max(worst.normal);
        total.vertices += worst.vertices;
        total.poses += worst.poses;
        total.flipped += worst.flipped;
    }
    show("200 random characters", &total);
    assert!(total.flipped > 20, "some parts lie under mirrors");
}

#[test]
fn a_file_of_oddities_agrees_with_the_reference() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pose reference");
    let worst = compare_file(&made::write(&folder));
    let all = faults("made.gltf", &worst);
    assert!(all.is_empty(), "{all:#?}");
    assert_eq!(worst.flipped, 2, "the parts under a mirror are turned over");
}

#[test]
fn the_built_in_character_agrees_with_the_reference() {
    let worst = compare(&raw::scene(&builtin::raw()), &builtin::mannequin().unwrap());
    let all = faults("built-in character", &worst);
    assert!(all.is_empty(), "{all:#?}");
}
