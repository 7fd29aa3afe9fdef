//! Characters: what is skinned stays the same, bit for bit.

use super::made::{built, tube};
use super::primitives::{Whole, check};
use crate::reference::assets;
use crate::reference::poser::Poser;
use std::collections::BTreeSet;
use throng::character::Character;
use throng::glam::Vec3;
use throng::import::{self, ImportOptions};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skin::PosedVertices;

/// The skinned triangles of all primitives together, as sorted bits.
pub(super) fn skinned(character: &Character, clip: Option<(usize, f64)>) -> Vec<Vec<u32>> {
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
pub(super) fn is_sound(character: &Character, max: usize) {
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

fn check_character(name: &str, character: &Character, poses: &[Pose], max: usize) {
    let (split, report) = character.split(max).unwrap();
    is_sound(&split, max);
    assert_eq!(report.origins.len(), split.primitives().len());
    for (part, origin) in split.primitives().iter().zip(&report.origins) {
        assert_eq!(part.name, character.primitives()[*origin].name);
    }
    let count = |c: &Character| c.vertex_count();
    assert_eq!(report.repeated_vertices, count(&split) - count(character));
    assert_eq!(
        split.palette().len(),
        character.palette().len() + report.repeated_entries
    );
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
    println!("{name}: at most {max}: {report:?}");
    let (again, nothing) = split.split(max).unwrap();
    assert_eq!(
        (again, nothing.primitives),
        (split, 0),
        "{name}: a second split changes the first"
    );
}

#[test]
fn characters_split() {
    for joints in [24, 300, 700] {
        let parts = vec![
            tube(joints, 2, 8, None),
            tube(8, 1, 3, None),
            tube(joints, 1, 6, Some(5)),
        ];
        let imported = built(joints, parts, None);
        let poses = poses(&imported);
        for max in [16, 64, 256] {
            check_character(&format!("{joints} joints"), &imported, &poses, max);
        }
    }
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn every_asset_splits() {
    for path in assets::files() {
        let name = path.file_name().unwrap().to_string_lossy();
        let imported = import::file(&path, &ImportOptions::curves_only()).unwrap();
        let poses = poses(&imported);
        let wholes: Vec<_> = imported.primitives().iter().map(Whole::new).collect();
        for max in [12, 16, 24] {
            for whole in &wholes {
                check(&name, whole, max);
            }
            check_character(&name, &imported, &poses, max);
        }
    }
}
