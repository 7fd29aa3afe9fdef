//! Masks are built of branches by name.

use throng::character::{AnimationDesc, Character};
use throng::skeleton::Mask;
use throng::state_machine::{MaskBranchDesc, MaskDesc};

/// The mask of these branches: joint, weight, feather.
fn mask(character: &Character, branches: &[(&str, f32, u16)]) -> Mask {
    let branch = |(joint, weight, feather): &(&str, f32, u16)| MaskBranchDesc {
        joint: (*joint).into(),
        weight: *weight,
        feather: *feather,
    };
    let desc = AnimationDesc {
        masks: vec![MaskDesc {
            name: "of branches".into(),
            branches: branches.iter().map(branch).collect(),
        }],
        ..AnimationDesc::default()
    };
    let made = character.clone().with_animation(&desc).unwrap();
    made.masks()[made.mask("of branches").unwrap().index()].clone()
}

#[test]
fn masks_are_built_by_name_and_subtree() {
    let character = crate::models::mannequin();
    let skeleton = character.skeleton();
    let joints = skeleton.joints();
    let root: &str = &joints[0].name;
    let below = |top: usize, mut joint: usize| {
        let mut steps = 0;
        while joint != top {
            joint = joints[joint].parent?.index();
            steps += 1;
        }
        Some(steps)
    };
    for (top, joint) in joints.iter().enumerate() {
        let found = joints
            .iter()
            .position(|other| other.name == joint.name)
            .unwrap();
        let many = mask(character, &[(root, 1.0, 0), (&joint.name, 0.25, 0)]);
        let soft = mask(character, &[(&joint.name, 1.0, 3)]);
        assert_eq!(
            (&*many.name, many.weights.len()),
            ("of branches", joints.len())
        );
        for index in 0..joints.len() {
            let inside = below(found, index);
            assert_eq!(
                many.weights[index],
                if inside.is_some() { 0.25 } else { 1.0 },
                "{top} {index}"
            );
            let want = inside.map_or(0.0, |steps| (steps as f32 + 1.0).min(4.0) / 4.0);
            assert!((soft.weights[index] - want).abs() < 1e-7);
        }
    }
    assert_eq!(mask(character, &[]).weights, vec![0.0; joints.len()]);
}
