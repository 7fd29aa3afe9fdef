//! Poses, compared with plain `f64` code that is independent of the crate.
//!
//! The tests cover every clip of every model in the folder that `THRONG_ASSETS` names, of files
//! that are built here, and of random characters.

use crate::reference::compare::{Worst, compare, in_file_order};
use crate::reference::raws;
use crate::reference::raws::{animation, linear};
use crate::reference::rng::Rng;
use crate::reference::{assets, gltf, made, random, raw};
use std::path::Path;
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{RawCharacter, RawKeys, RawPrimitive, RawSkin};
use throng::skeleton::Transform;

/// For the image of any vertex under any skinning matrix, as a fraction of the model's size.
const MATRIX_BOUND: f64 = 1e-5;
/// For skinned positions, as a fraction of the model's size: the same plus the error of 16-bit
/// weights.
const POSITION_BOUND: f64 = 5e-5;
/// For skinned normals, in radians.
const NORMAL_BOUND: f64 = 1e-3;
/// For morph weights, which are within about 3 in the tests.
///
/// A spline sums four products. Each is rounded a few times, by 6e-8 of up to 3.
const WEIGHT_BOUND: f64 = 3e-6;

fn show(name: &str, worst: &Worst) {
    println!(
        "{name:24} matrices {:7.1e}  positions {:7.1e}  normals {:7.1e} rad  weights {:7.1e}  \
         ({} vertices, {} poses, {} triangles turned over)",
        worst.matrix,
        worst.position,
        worst.normal,
        worst.weight,
        worst.vertices,
        worst.poses,
        worst.turned
    );
}

/// The errors that exceed their bounds, as text.
fn over(name: &str, worst: &Worst) -> Vec<String> {
    let bounds = [
        ("matrices", worst.matrix, MATRIX_BOUND),
        ("positions", worst.position, POSITION_BOUND),
        ("normals", worst.normal, NORMAL_BOUND),
        ("weights", worst.weight, WEIGHT_BOUND),
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
    let character =
        throng_import::file(path, &in_file_order()).unwrap_or_else(|error| panic!("{error}"));
    compare(&gltf::load(path), &character)
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
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
        let character = made.build(&in_file_order()).unwrap();
        let worst = compare(&scene, &character);
        let all = over(&format!("random character {seed}"), &worst);
        assert!(all.is_empty(), "{all:#?}");
        total.matrix = total.matrix.max(worst.matrix);
        total.position = total.position.max(worst.position);
        total.normal = total.normal.max(worst.normal);
        total.vertices += worst.vertices;
        total.poses += worst.poses;
        total.turned += worst.turned;
    }
    show("200 random characters", &total);
    assert!(total.turned > 20, "some triangles are flipped");
}

#[test]
fn random_characters_that_morph_agree_with_the_reference() {
    let mut total = Worst::default();
    let mut weights = 0;
    for seed in 0..150 {
        let made = random::morphing(seed);
        let scene = raw::scene(&made);
        let character = made.build(&in_file_order()).unwrap();
        weights += character.morph_weights().len();
        let worst = compare(&scene, &character);
        let all = over(&format!("random morphing character {seed}"), &worst);
        assert!(all.is_empty(), "{all:#?}");
        total.matrix = total.matrix.max(worst.matrix);
        total.position = total.position.max(worst.position);
        total.normal = total.normal.max(worst.normal);
        total.weight = total.weight.max(worst.weight);
        total.vertices += worst.vertices;
        total.poses += worst.poses;
    }
    show("150 that morph", &total);
    assert!(weights > 500, "{weights} weights");
}

#[test]
fn a_file_of_oddities_agrees_with_the_reference() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pose reference");
    let worst = compare_file(&made::write(&folder));
    let all = faults("made.gltf", &worst);
    assert!(all.is_empty(), "{all:#?}");
    assert!(worst.turned > 9, "triangles of flipped parts are reversed");
}

#[test]
fn the_built_in_character_agrees_with_the_reference() {
    let worst = compare(
        &raw::scene(&RawCharacter::mannequin()),
        &RawCharacter::mannequin().build(&in_file_order()).unwrap(),
    );
    let all = faults("built-in character", &worst);
    assert!(all.is_empty(), "{all:#?}");
}

/// A tentacle: a chain of joints along +Y, `step` metres apart, with two influences per vertex.
///
/// It is bound where it stands, with its root at `place` under a node of scale `unit`. All joints
/// keep bending.
fn tentacle(joints: usize, step: f32, place: Vec3, unit: f32) -> RawCharacter {
    let mut rng = Rng::new(joints as u64);
    let node = |name: &str, parent, translation, scale| {
        raws::node(
            name,
            parent,
            Transform {
                translation,
                scale: Vec3::splat(scale),
                ..Transform::IDENTITY
            },
        )
    };
    let mut nodes = vec![node("unit", None, Vec3::ZERO, unit)];
    nodes.push(node("root", Some(0), place, 1.0));
    nodes.extend((1..joints).map(|joint| node("joint", Some(joint), Vec3::Y * step, 1.0)));
    let at = |joint: usize| place + Vec3::Y * step * joint as f32;
    let channels = (1..=joints).map(|node| {
        linear(
            node,
            [0.0, 0.5, 1.0],
            RawKeys::Rotation(
                (0..3)
                    .map(|_| Quat::from_axis_angle(rng.direction(), 4.0 / joints as f32))
                    .collect(),
            ),
        )
    });
    RawCharacter {
        animations: vec![animation("bend", channels.collect())],
        nodes,
        skins: vec![RawSkin {
            name: "skin".into(),
            joints: (1..=joints).collect(),
            inverse_bind: (0..joints)
                .map(|joint| Mat4::from_translation(-at(joint)))
                .collect(),
        }],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..joints)
                .map(|joint| at(joint) + Vec3::new(0.7, 0.3, 0.2) * step)
                .collect(),
            influences_per_vertex: 2,
            joints: (0..joints as u32)
                .flat_map(|joint| [joint, (joint + 1).min(joints as u32 - 1)])
                .collect(),
            weights: [0.75, 0.25].repeat(joints),
            indices: (0..joints as u32 / 3 * 3).collect(),
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    }
}

/// Single precision keeps the bound up to ten times the model's size from the origin.
///
/// There, the last digit of a coordinate is about a millionth of the size.
#[test]
fn long_chains_and_far_places_agree_with_the_reference() {
    let mut all = Vec::new();
    for (name, joints, step, place, unit) in [
        ("30 joints", 30, 0.06, Vec3::ZERO, 1.0),
        ("300 joints", 300, 0.01, Vec3::ZERO, 1.0),
        ("centimetres", 30, 6.0, Vec3::ZERO, 0.01),
        ("10 sizes out", 30, 0.06, Vec3::new(18.0, 0.0, 18.0), 1.0),
    ] {
        let made = tentacle(joints, step, place, unit);
        let scene = raw::scene(&made);
        let character = made.build(&in_file_order()).unwrap();
        all.extend(faults(name, &compare(&scene, &character)));
    }
    assert!(all.is_empty(), "{all:#?}");
}
