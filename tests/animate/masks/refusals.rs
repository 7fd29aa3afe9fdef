//! Masks that are refused.

use crate::reference::words::Fails;
use throng::character::AnimationDesc;
use throng::state_machine::{MaskBranchDesc, MaskDesc};

#[test]
fn what_is_no_mask_is_refused() {
    let character = crate::models::mannequin();
    let with = |joint: &str, weight: f32| {
        let branch = MaskBranchDesc {
            joint: joint.into(),
            weight,
            feather: 0,
        };
        let desc = AnimationDesc {
            masks: vec![MaskDesc {
                name: "upper".into(),
                branches: vec![branch],
            }],
            ..AnimationDesc::default()
        };
        character.clone().with_animation(&desc)
    };
    let root = &character.skeleton().joints()[0].name;
    with("Tail", 1.0).fails(format!(
        "mask 0 \"upper\", branches[0].joint: joint \"Tail\" does not exist: there are …{root}…"
    ));
    for weight in [-0.1, 1.1, f32::NAN, f32::INFINITY, f32::MAX] {
        with(root, weight).fails("mask 0 \"upper\", branches[0].weight: …0..=1…");
    }
}
