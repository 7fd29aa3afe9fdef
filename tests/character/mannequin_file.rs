//! The mannequin's file is the one that its model makes.

use crate::reference::mannequin::{RUN_M_S, WALK_M_S, file, shape};
use std::collections::BTreeMap;
use throng::character::LevelOptions;
use throng::clip::ClipOptions;
use throng::glam::Vec3;
use throng::import::{ImportOptions, RawCharacter, RawLevel, RawPrimitive};
use throng::mesh::{JointIndices, MeshLevel, Primitive};

/// The largest errors of the levels in metres.
const ERRORS_M: [f32; 7] = [0.0095, 0.0145, 0.022, 0.045, 0.065, 0.11, 0.24];
/// The numbers of triangles that are tried end here. Other ends give slightly other levels.
const FEWEST_TRIANGLES: usize = 23;

/// The model with all of its levels of detail. What is not in the file is as in the library.
fn model() -> RawCharacter {
    let known = RawCharacter::mannequin();
    let mut model = RawCharacter {
        name: known.name,
        materials: known.materials,
        animation: known.animation,
        ..shape()
    };
    // Levels do not depend on how clips are packed.
    let options = ImportOptions {
        packing: Some(ClipOptions {
            quantise: false,
            ..ClipOptions::default()
        }),
        ..ImportOptions::default()
    };
    let plain = model.clone().build(&options).unwrap().character;
    let options = LevelOptions {
        errors_m: ERRORS_M.into(),
        fewest_triangles: FEWEST_TRIANGLES,
        ..LevelOptions::default()
    };
    let (made, _) = plain.with_levels(&options).unwrap();
    let (first, far) = made.primitives().split_first().unwrap();
    let all = levels(&model, first);
    model.primitives[0].levels = all.clone();
    let far = far.iter().map(|of| {
        let JointIndices::U8(joints) = &of.joints else {
            panic!("few joints");
        };
        let start = of.palette.start as usize;
        // The skeleton has another order than the nodes.
        let node = |entry: &u8| {
            let joint = made.palette()[start + usize::from(*entry)].joint;
            let name = &made.skeleton().joints()[usize::from(joint)].name;
            let node = model.nodes.iter().position(|node| node.name == *name);
            node.unwrap() as u32
        };
        let drawn = of.levels.iter().position(|own| !own.indices.is_empty());
        let drawn = drawn.expect("a level");
        let levels = (0..).zip(&all).map(|(at, known)| match at == drawn {
            true => level(&of.levels[drawn]),
            false => RawLevel {
                error_m: Some(0.0),
                cover: known.cover,
                ..RawLevel::default()
            },
        });
        let levels = levels.collect();
        RawPrimitive {
            name: of.name.clone(),
            skin: Some(0),
            material: Some(0),
            positions: of.positions.clone(),
            normals: of.normals.clone(),
            colors: of.colors.clone(),
            influences_per_vertex: 1,
            joints: joints.iter().map(node).collect(),
            weights: vec![1.0; joints.len()],
            levels,
            ..RawPrimitive::default()
        }
    });
    let far: Vec<RawPrimitive> = far.collect();
    model.primitives.extend(far);
    model
}

/// A level over its own vertices. Its figures are rounded up, to a tenth of a millimetre and to a
/// hundredth.
fn level(made: &MeshLevel) -> RawLevel {
    RawLevel {
        indices: made.indices.clone(),
        rigid: made.rigid && !made.indices.is_empty(),
        error_m: Some((made.error_m * 1e4).ceil() / 1e4),
        cover: Some((made.cover * 1e2).ceil() / 1e2),
    }
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
    let levels = made.levels.iter().map(|made| {
        let triangles = made.indices.as_chunks::<3>().0.iter();
        let mut triangles: Vec<_> = triangles.map(|t| first_least(t.map(number))).collect();
        triangles.sort_unstable();
        RawLevel {
            indices: triangles.into_flattened(),
            ..level(made)
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
