//! Masks are built by name and subtree.

use throng::skeleton::Mask;

#[test]
fn masks_are_built_by_name_and_subtree() {
    let character = crate::models::mannequin();
    let skeleton = character.skeleton();
    let joints = skeleton.joints();
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
        let one = Mask::none(skeleton)
            .with_joint(skeleton, &joint.name, 0.75)
            .unwrap();
        let many = Mask::all(skeleton)
            .with_subtree(skeleton, &joint.name, 0.25)
            .unwrap();
        let soft = Mask::none(skeleton)
            .with_feathered_subtree(skeleton, &joint.name, 1.0, 3)
            .unwrap();
        for index in 0..joints.len() {
            assert_eq!(
                one.weights()[index],
                if index == found { 0.75 } else { 0.0 }
            );
            let inside = below(found, index);
            assert_eq!(
                many.weights()[index],
                if inside.is_some() { 0.25 } else { 1.0 },
                "{top} {index}"
            );
            let want = inside.map_or(0.0, |steps| (steps as f32 + 1.0).min(4.0) / 4.0);
            assert!((soft.weights()[index] - want).abs() < 1e-7);
            assert_eq!(
                many.clone().inverted().weights()[index],
                1.0 - many.weights()[index]
            );
        }
    }
    let given = vec![0.5; joints.len()];
    assert_eq!(Mask::from_weights(given.clone()).unwrap().weights(), given);
}
