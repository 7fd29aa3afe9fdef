//! Characters of version 0.x are turned so that they face +Z.

use super::files::{FACE, NODES, doll, import, vrm0, vrm1};
use crate::builder::F32;
use serde_json::json;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{ImportOptions, Imported};

fn model(imported: &Imported) -> Vec<Affine3A> {
    let skeleton = imported.skeleton();
    let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    skeleton
        .model_pose(&skeleton.rest_pose(), &mut model)
        .unwrap();
    model
}

#[test]
fn the_rest_pose_turns_by_half_a_turn() {
    let [old, new] = [vrm0(), vrm1()].map(|file| import(&file));
    let turn = Affine3A::from_rotation_y(std::f32::consts::PI);
    let pairs = model(&old).into_iter().zip(model(&new));
    for (joint, (old, new)) in pairs.enumerate() {
        assert!(
            old.abs_diff_eq(turn * new, 1e-5),
            "joint {joint}: {old} {new}"
        );
    }
    // Below the roots, nothing changes.
    let root = old.skeleton().joint("pelvis").unwrap().index();
    assert_eq!(
        old.skeleton().joints()[root].rest.translation,
        Vec3::from(NODES[1].2)
    );
    let [old, new] = [old.rest_bounds(), new.rest_bounds()];
    assert!((old.min.x + new.max.x).abs() < 1e-5);
    assert!((old.min.z + new.max.z).abs() < 1e-5);
}

#[test]
fn roots_with_a_matrix_turn_too() {
    let mut b = vrm0();
    b.json["nodes"][0] = json!({ "name": "Root", "children": b.json["nodes"][0]["children"],
        "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0.25, 1] });
    let [matrix, plain] = [b, vrm0()].map(|file| model(&import(&file)));
    for (matrix, plain) in matrix.iter().zip(&plain) {
        assert!(matrix.abs_diff_eq(*plain, 1e-6));
    }
}

#[test]
fn spawn_points_turn_too() {
    let [old, new] = [vrm0(), vrm1()].map(|mut b| {
        let places = b.accessor("VEC3", F32, &[1.0, 2.0, 3.0, -4.0, 0.0, 5.0_f32]);
        let turns = [0.6, 0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0_f32];
        let turns = b.accessor("VEC4", F32, &turns);
        let used = b.json["extensionsUsed"].as_array_mut().unwrap();
        used.push(json!("EXT_mesh_gpu_instancing"));
        b.json["nodes"][FACE]["extensions"] = json!({ "EXT_mesh_gpu_instancing": {
            "attributes": { "TRANSLATION": places, "ROTATION": turns } } });
        import(&b)
    });
    let turn = Affine3A::from_rotation_y(std::f32::consts::PI);
    assert_eq!(old.spawn_points.len(), 2);
    for (old, new) in old.spawn_points.iter().zip(&new.spawn_points) {
        let turned = turn * new.world_from_model * turn.inverse();
        assert!(old.world_from_model.abs_diff_eq(turned, 1e-5));
    }
}

#[test]
fn clips_that_drive_the_root_turn_too() {
    let mut files = [vrm0(), vrm1()];
    for b in &mut files {
        let times = b.accessor("SCALAR", F32, &[0.0_f32, 1.0]);
        let ways = b.accessor("VEC3", F32, &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0_f32]);
        let turns = b.accessor("VEC4", F32, &[0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8_f32]);
        b.json["animations"] = json!([{ "name": "go", "samplers": [
            { "input": times, "output": ways }, { "input": times, "output": turns } ],
            "channels": [
                { "sampler": 0, "target": { "node": 0, "path": "translation" } },
                { "sampler": 1, "target": { "node": 0, "path": "rotation" } },
            ] }]);
    }
    let options = ImportOptions::curves_only();
    let [old, new] = files
        .clone()
        .map(|b| throng_import::bytes(&b.glb(), &options).unwrap());
    let turn = Affine3A::from_rotation_y(std::f32::consts::PI);
    let root = |imported: &Imported| {
        let mut pose = imported.skeleton().rest_pose();
        imported.curves()[0].sample(0.7, &mut pose).unwrap();
        pose[imported.skeleton().joint("Root").unwrap().index()].to_affine()
    };
    assert!(root(&old).abs_diff_eq(turn * root(&new), 1e-5));
    // Clips that are added from another file of version 0.x as well.
    let bare = import(&vrm0()).character;
    let options = ImportOptions::default();
    let added = throng_import::add_clips_bytes(&bare, &files[0].glb(), &options).unwrap();
    let bare = added.character;
    let mut pose = bare.skeleton().rest_pose();
    let clip = bare.clip("go").unwrap();
    bare.clips()[clip.index()].sample(0.7, &mut pose).unwrap();
    let found = pose[bare.skeleton().joint("Root").unwrap().index()].to_affine();
    assert!(
        found.abs_diff_eq(root(&old), 1e-2),
        "{found} {}",
        root(&old)
    );
}

#[test]
fn other_files_stay() {
    let plain = import(&doll());
    let root = plain.skeleton().joint("Root").unwrap().index();
    assert_eq!(
        plain.skeleton().joints()[root].rest.rotation,
        Quat::IDENTITY
    );
}
