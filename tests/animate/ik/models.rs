//! The legs and arms of every model, in its own clips.

use super::bodies::{Body, Solve, added, narrow, scaled, wide};
use crate::reference::assets;
use crate::reference::maths::{distance, sub};
use crate::reference::poser::Poser;
use crate::reference::rng::Rng;
use throng::Id;
use throng::character::Character;
use throng::ik::{ChainTarget, IkChain, TwoBone, TwoBoneTarget};
use throng::import::ImportOptions;

const LIMBS: &[[&str; 3]] = &[
    // CesiumMan, whose file has `_joint_L__3_` above `_joint_L__2_`.
    [
        "Skeleton_arm_joint_L__4_",
        "Skeleton_arm_joint_L__3_",
        "Skeleton_arm_joint_L__2_",
    ],
    [
        "Skeleton_arm_joint_R",
        "Skeleton_arm_joint_R__2_",
        "Skeleton_arm_joint_R__3_",
    ],
    // CesiumMan and RiggedFigure.
    ["leg_joint_L_1", "leg_joint_L_2", "leg_joint_L_3"],
    ["leg_joint_R_1", "leg_joint_R_2", "leg_joint_R_3"],
    ["arm_joint_L_1", "arm_joint_L_2", "arm_joint_L_3"],
    ["arm_joint_R_1", "arm_joint_R_2", "arm_joint_R_3"],
    // Knight: between knee and foot, and elbow and hand, there may be more joints.
    ["upperleg.l", "lowerleg.l", "foot.l"],
    ["upperleg.r", "lowerleg.r", "foot.r"],
    ["upperarm.l", "lowerarm.l", "hand.l"],
    ["upperarm.r", "lowerarm.r", "hand.r"],
    // The built-in character.
    ["LeftUpperLeg", "LeftLowerLeg", "LeftFoot"],
    ["RightUpperLeg", "RightLowerLeg", "RightFoot"],
    ["LeftUpperArm", "LeftLowerArm", "LeftHand"],
    ["RightUpperArm", "RightLowerArm", "RightHand"],
];

/// Checks all limbs of the character, and returns their number.
fn check(character: &Character) -> usize {
    let mut found = 0;
    for names in LIMBS {
        let joints = names.map(|name| character.skeleton().joint(name).ok().map(u16::from));
        let [Some(start), Some(mid), Some(end)] = joints else {
            continue;
        };
        found += 1;
        let mut poser = Poser::new();
        let rng = &mut Rng::new(found as u64);
        for pose in 0..20 {
            let clip = (!character.curves().is_empty()).then(|| {
                let clip = rng.below(character.curves().len());
                (clip, f64::from(rng.range(0.0, 3.0)))
            });
            poser.pose(character, clip).unwrap();
            let mut body = Body::of(character.clone(), vec![start, mid, end]);
            body.local = poser.local().to_vec();
            body.compose();
            let (rig, limb, places) = (body.rig.clone(), body.limb_m(), body.places());
            let [upper, lower] = [0, 1].map(|at| distance(places[at], places[at + 1]));
            // Within reach, whichever way.
            let least = (upper - lower).abs() / limb;
            let part = f64::from(rng.range(0.0, 1.0)) * (0.98 - least) + least + 0.01;
            let target = added(places[0], scaled(wide(rng.direction()), part * limb));
            let before = body.local.clone();
            let report = TwoBone::new(Id::new(start), Id::new(mid), Id::new(end))
                .solve(&rig, &TwoBoneTarget::at(narrow(target)), body.pose())
                .unwrap();
            body.assert_only_turned(&before);
            let off = distance(body.places()[2], target) / limb;
            assert!(report.reached && off < 2e-5, "{names:?} {pose}: {off}");
            // The bones kept their lengths.
            let now = body.places();
            for (at, length) in [upper, lower].into_iter().enumerate() {
                let same = distance(now[at], now[at + 1]) / length;
                assert!((same - 1.0).abs() < 1e-5, "{names:?}: {same}");
            }
            // The same by a chain of all joints, from the animated pose.
            body.local.clone_from(&before);
            body.compose();
            let mut chain =
                IkChain::between(body.character.skeleton(), Id::new(start), Id::new(end)).unwrap();
            chain.tolerance_m = 1e-3 * limb as f32;
            let report = chain.solve(&rig, &ChainTarget::at(narrow(target)), body.pose());
            assert!(report.unwrap().reached, "{names:?} {pose}");
            assert!(distance(body.places()[2], target) < 1.1e-3 * limb);
            assert!(
                sub(body.places()[0], places[0])
                    .iter()
                    .all(|v| v.abs() < 1e-9)
            );
        }
    }
    found
}

#[test]
fn limbs_of_the_built_in_character() {
    assert_eq!(check(crate::models::mannequin()), 4);
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn limbs_of_all_models() {
    let files = assets::files();
    for file in &files {
        let character = throng_import::file(file, &ImportOptions::curves_only())
            .unwrap()
            .character;
        let limbs = check(&character);
        let name = file.file_stem().and_then(|name| name.to_str()).unwrap();
        if ["CesiumMan", "RiggedFigure", "Knight"].contains(&name) {
            assert_eq!(limbs, 4, "{name}");
        }
    }
}
