//! The mannequin's file is the one that its model makes.

use crate::reference::mannequin::{RUN_M_S, WALK_M_S, file, shape};
use std::collections::BTreeMap;
use throng::character::LevelOptions;
use throng::glam::Vec3;
use throng::import::{ImportOptions, RawCharacter, RawLevel};
use throng::mesh::Primitive;

/// Is the level rigid, and the error in the mannequin's own clips, as a test measures it. The cage
/// comes after the first.
const LEVELS: [(bool, f32); 4] = [
    (false, 0.0134),
    (false, 0.0577),
    (true, 0.0939),
    (true, 0.2205),
];

/// The model with all of its levels of detail. What is not in the file is as in the library.
fn model() -> RawCharacter {
    let known = RawCharacter::mannequin();
    let mut model = RawCharacter {
        name: known.name,
        materials: known.materials,
        animation: known.animation,
        ..shape()
    };
    let mut plain = model.clone();
    plain.primitives[0].levels.clear();
    let plain = plain.build(&ImportOptions::default()).unwrap().character;
    let options = LevelOptions {
        errors_m: vec![0.0135, 0.058, 0.094, 0.2205],
        ..LevelOptions::default()
    };
    let (made, _) = plain.with_levels(&options).unwrap();
    let made = levels(&model, &made.primitives()[0]);
    let cage = model.primitives[0].levels.remove(0);
    let levels = &mut model.primitives[0].levels;
    levels.extend(made);
    levels.insert(1, cage);
    model
}

/// The simplifier's levels, over the vertices of the model.
fn levels(model: &RawCharacter, made: &Primitive) -> Vec<RawLevel> {
    let whole = &model.primitives[0];
    let place = |position: Vec3, color: [f32; 4]| {
        let all = position.to_array().into_iter().chain(color);
        all.map(f32::to_bits).collect::<Vec<u32>>()
    };
    let mut numbers: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for (number, (position, color)) in (0..).zip(whole.positions.iter().zip(&whole.colors)) {
        let here = numbers.entry(place(*position, *color)).or_default();
        here.push(number);
    }
    let number = |vertex: u32| {
        let at = vertex as usize;
        let here = &numbers[&place(made.positions[at], made.colors[at])];
        let turned = |other: &u32| whole.normals[*other as usize].dot(made.normals[at]);
        let same = here.iter().max_by(|a, b| turned(a).total_cmp(&turned(b)));
        *same.unwrap()
    };
    assert_eq!(made.levels.len(), LEVELS.len());
    let levels = made.levels.iter().zip(LEVELS);
    let levels = levels.map(|(level, (rigid, error_m))| {
        assert_eq!(level.rigid, rigid);
        let triangles = level.indices.as_chunks::<3>().0.iter();
        let mut triangles: Vec<_> = triangles.map(|t| first_least(t.map(number))).collect();
        triangles.sort_unstable();
        RawLevel {
            indices: triangles.into_flattened(),
            rigid,
            error_m: Some(error_m),
        }
    });
    levels.collect()
}

/// The same triangle, with its least corner first.
fn first_least(mut triangle: [u32; 3]) -> [u32; 3] {
    let least = (0..3).min_by_key(|at| triangle[*at]).unwrap();
    triangle.rotate_left(least);
    triangle
}

/// To accept a new file, set `THRONG_UPDATE_MANNEQUIN`.
#[test]
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    ignore = "other systems round sines otherwise"
)]
fn the_file_is_made_from_the_model() {
    let model = model();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/builtin/mannequin.bin");
    if std::env::var_os("THRONG_UPDATE_MANNEQUIN").is_some() {
        std::fs::write(path, file(&model)).unwrap();
        return;
    }
    let known = std::fs::read(path).unwrap();
    assert!(known == file(&model), "set THRONG_UPDATE_MANNEQUIN");
    assert!(RawCharacter::mannequin() == model);
}

/// Clips move as fast as their gaits say.
#[test]
fn gaits_are_those_of_the_model() {
    let animation = RawCharacter::mannequin().animation.unwrap();
    let gaits = animation.clips.iter();
    let gaits = gaits.map(|clip| (&*clip.name, clip.gait.unwrap().speed_m_s));
    assert!(gaits.eq([("Walk", WALK_M_S), ("Run", RUN_M_S)]));
}
