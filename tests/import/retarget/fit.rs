//! The numbers that tell how well two skeletons fit.

use crate::reference::words::Says;
use throng::glam::Quat;
use throng::import::{ImportOptions, RawCharacter};
use throng::retarget::{JointMap, Retarget, RetargetFit};
use throng::skeleton::Skeleton;

fn skeleton(change: impl Fn(&mut RawCharacter)) -> Skeleton {
    let mut raw = RawCharacter::mannequin();
    raw.primitives.clear();
    raw.animations.clear();
    raw.animation = None;
    change(&mut raw);
    let built = raw.build(&ImportOptions::curves_only()).unwrap();
    built.character.skeleton().clone()
}

fn bend(raw: &mut RawCharacter, angle_rad: f32) {
    let mut nodes = raw.nodes.iter_mut();
    let spine = nodes.find(|node| &*node.name == "Spine").unwrap();
    spine.transform.rotation = Quat::from_rotation_x(angle_rad) * spine.transform.rotation;
}

#[track_caller]
fn fit(source: &Skeleton, target: &Skeleton, map: &JointMap) -> RetargetFit {
    *Retarget::new(source, target, map, &Default::default())
        .unwrap()
        .fit()
}

#[test]
fn the_same_skeleton_fits() {
    let one = skeleton(|_| {});
    let fit = fit(&one, &one, &JointMap::humanoid(&one, &one).unwrap());
    assert!(fit.is_good() && fit.whole_body);
    assert_eq!(fit.source_joints, one.len());
    assert_eq!(fit.source_matched, fit.target_matched);
    assert!(2 * fit.source_matched > fit.source_joints);
    assert!(fit.source_matched <= fit.source_joints);
    assert!(fit.source_posture_rad.unwrap() < 0.35);
}

#[test]
fn a_horizontal_spine_is_another_build() {
    let one = skeleton(|_| {});
    // A little bent is still a biped.
    for (angle, is_good) in [(0.3, true), (1.4, false), (-1.4, false)] {
        let other = skeleton(|raw| bend(raw, angle));
        for [from, to] in [[&one, &other], [&other, &one]] {
            let fit = fit(from, to, &JointMap::humanoid(from, to).unwrap());
            assert_eq!(fit.is_good(), is_good, "{angle}: {fit}");
            let words = fit.to_string();
            assert_eq!(
                words.contains("the source's spine is at"),
                !is_good,
                "{words}"
            );
            words.says("…found a partner…");
        }
        let fit = fit(&other, &other, &JointMap::humanoid(&other, &other).unwrap());
        assert!(fit.is_good(), "both are bent");
    }
}

#[test]
fn few_partners_are_told_with_their_share() {
    let one = skeleton(|_| {});
    // Only the hips, the spine and the head have names that the other knows.
    let other = skeleton(|raw| {
        for (index, node) in raw.nodes.iter_mut().enumerate() {
            if !["Hips", "Spine", "Head"].contains(&&*node.name) {
                node.name = format!("x{index}").into();
            }
        }
    });
    let fit = fit(&one, &other, &JointMap::by_names(&one, &other).unwrap());
    assert_eq!((fit.source_matched, fit.target_matched), (3, 3));
    assert!(!fit.is_good() && !fit.whole_body);
    let joints = one.len();
    let percent = (300.0 / joints as f64).round();
    fit.says(format!(
        "3 of {joints} joints of the source ({percent} %) and 3 of {joints} joints of the \
             target ({percent} %) found a partner"
    ));
}
