//! Characters: what is skinned stays the same, bit for bit.

use super::made::{built, tube};
use super::primitives::{Whole, check};
use crate::reference::assets;
use crate::reference::poser::Poser;
use std::collections::BTreeSet;
use throng::character::Character;
use throng::glam::Vec3;
use throng::import::ImportOptions;
use throng::mesh::{JointIndices, Primitive};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skin::PosedVertices;

/// The skinned triangles of all primitives together, as sorted bits.
fn skinned(character: &Character, clip: Option<(usize, f64)>) -> Vec<Vec<u32>> {
    let mut palette = vec![Mat3x4::IDENTITY; character.palette().len()];
    let mut poser = Poser::new();
    poser
        .palette(character, clip, WriteOnly::from(&mut palette))
        .unwrap();
    let mut all = Vec::new();
    let weights = poser.weights().to_vec();
    let mut posed = PosedVertices::default();
    for primitive in character.primitives() {
        let palette = &palette;
        character
            .skin_primitive(primitive, palette, &weights, &mut posed)
            .unwrap();
        for corners in primitive.indices.chunks(3) {
            let mut words = Vec::new();
            for vertex in corners {
                let vertex = *vertex as usize;
                words.extend(posed.positions[vertex].to_array().map(f32::to_bits));
                let normal = posed.normals.get(vertex).map(Vec3::to_array);
                words.extend(normal.into_iter().flatten().map(f32::to_bits));
            }
            all.push(words);
        }
    }
    all.sort_unstable();
    all
}

/// Checks the invariants that a split could break.
fn is_sound(character: &Character, max: usize) {
    let mut used = vec![false; character.palette().len()];
    for p in character.primitives() {
        assert!(p.palette.len() <= max && p.palette.end as usize <= used.len());
        for vertex in 0..p.vertex_count() {
            for (joint, weight) in p.influences(vertex).filter(|i| i.1 > 0.0) {
                assert!(joint < p.palette.len() && weight > 0.0);
                let entry = p.palette.start as usize + joint;
                used[entry] = true;
                let bounds = character.palette()[entry].bounds;
                assert_eq!(bounds.with_point(p.positions[vertex]), bounds);
            }
        }
    }
    assert!(used.iter().all(|used| *used), "an entry moves no vertex");
}

/// A clip and a time, or the rest pose, and the skinned triangles in it.
type Pose = (Option<(usize, f64)>, Vec<Vec<u32>>);

/// The rest pose and one pose of each clip.
fn poses(character: &Character) -> Vec<Pose> {
    let clips = character.curves().iter().enumerate();
    let times = clips.map(|(clip, curves)| Some((clip, f64::from(curves.duration_s()) * 0.37)));
    let poses = times.chain([None]);
    poses.map(|pose| (pose, skinned(character, pose))).collect()
}

fn check_character(
    name: &str,
    (character, whole): (&Character, &Whole<'_>),
    poses: &[Pose],
    max: usize,
) {
    let split = check(name, whole, max);
    is_sound(&split, max);
    let key = |c: &Character| -> BTreeSet<Vec<u32>> {
        let key = |e: &throng::mesh::PaletteJoint| {
            let bind = e.inverse_bind.to_cols_array().map(f32::to_bits);
            let flags = [u32::from(e.joint.0), e.flipped.into(), e.may_flip.into()];
            bind.into_iter().chain(flags).collect()
        };
        c.palette().iter().map(key).collect()
    };
    assert_eq!(key(&split), key(character));
    for (pose, whole) in poses {
        assert!(skinned(&split, *pose) == *whole, "{name} at {pose:?}");
    }
    let [vertices, entries] = [
        split.vertex_count() - character.vertex_count(),
        split.palette().len() - character.palette().len(),
    ];
    println!("{name}: at most {max}: {vertices} vertices and {entries} entries more");
    let (again, _) = split.split(max).unwrap();
    assert_eq!(again, split, "{name}: a second split changes the first");
}

#[test]
fn characters_split() {
    for joints in [24, 300, 700] {
        let parts = vec![
            tube(joints, 2, 8, None),
            tube(8, 1, 3, None),
            tube(joints, 1, 6, Some(5)),
        ];
        let imported = built(joints, parts);
        let (poses, whole) = (poses(&imported), Whole::new(&imported));
        for max in [16, 64, 256] {
            let name = format!("{joints} joints");
            check_character(&name, (&imported, &whole), &poses, max);
        }
    }
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn every_asset_splits() {
    for path in assets::files() {
        let name = path.file_name().unwrap().to_string_lossy();
        let imported = throng_import::file(&path, &ImportOptions::curves_only()).unwrap();
        let (poses, whole) = (poses(&imported), Whole::new(&imported));
        for max in [12, 16, 24] {
            check_character(&name, (&imported, &whole), &poses, max);
        }
    }
}

#[test]
fn joint_indices_become_narrow() {
    let whole = built(700, vec![tube(700, 3, 16, None)]);
    assert!(matches!(whole.primitives()[0].joints, JointIndices::U16(_)));
    let (split, origins) = whole.split(256).unwrap();
    assert!((3..=4).contains(&origins.len()), "{origins:?}");
    assert!(origins.iter().all(|origin| *origin == 0));
    assert_eq!(split.palette().len(), whole.palette().len());
    // Seams take 36 bytes per vertex, far less than four narrow indices of every vertex save.
    let seams = split.vertex_count() - whole.vertex_count();
    assert!(seams * 36 < whole.vertex_count(), "{seams}");
    let narrow = |p: &Primitive| matches!(p.joints, JointIndices::U8(_));
    assert!(split.primitives().iter().all(narrow));
}

/// Joints at both ends of a long chain need no cut, only a range of their own.
#[test]
fn few_joints_far_apart_get_a_range_of_their_own() {
    let mut ends = tube(300, 8, 8, None);
    let far = |joint: &mut u32| {
        *joint = if *joint < 100 {
            *joint
        } else {
            299 - *joint % 50
        }
    };
    ends.joints.iter_mut().for_each(far);
    // A primitive between them needs the range, so their own entries follow it.
    let mut middle = tube(300, 1, 3, None);
    middle
        .joints
        .iter_mut()
        .for_each(|joint| *joint = 100 + *joint % 150);
    let both = built(300, vec![ends, middle]);
    let (split, origins) = both.split(256).unwrap();
    assert_eq!(origins, [0, 1]);
    assert_eq!(split.vertex_count(), both.vertex_count());
    assert_eq!(split.palette().len(), 300);
    is_sound(&split, 256);
    assert_eq!(skinned(&split, None), skinned(&both, None));
}
