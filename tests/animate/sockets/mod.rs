//! Joints and sockets of actors, compared with the rule of blending in plain `f64` code.

mod exact;

use crate::reference::handles::Handles;
use crate::reference::maths::{self, M4};
use crate::reference::raws;
use crate::reference::rig;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use exact::loads;
use throng::Id;
use throng::animator::{Animator, Play, Pose, ShowPose};
use throng::glam::{Affine3A, Vec3};
use throng::skeleton::{Joint, Transform};

/// The largest difference of two matrices' elements.
fn apart(exact: &M4, got: &Affine3A) -> f64 {
    let got = got.to_cols_array();
    let difference = |at: usize| (exact[at % 3][at / 3] - f64::from(got[at])).abs();
    (0..12).map(difference).fold(0.0, f64::max)
}

/// At the present time and before and after it, with random samples.
#[test]
fn joints_are_where_the_rule_of_blending_has_them() {
    let mut worst: f64 = 0.0;
    for load in loads() {
        let rng = &mut Rng::new(12);
        let joints = load.character.skeleton().joints();
        for _ in 0..30 {
            let (animator, id) = load.actor(rng);
            for _ in 0..5 {
                let time_s = animator.now_s() + f64::from(rng.range(-0.5, 3.0));
                let samples = load.samples(&animator, id, time_s);
                let joint = rng.below(joints.len()) as u16;
                let poses = load.sampled(&samples);
                let mut exact = load.exact(&samples, &poses, joint);
                let mut above = joints[usize::from(joint)].parent;
                while let Some(at) = above {
                    exact = maths::mul(&load.exact(&samples, &poses, at.0), &exact);
                    above = joints[at.index()].parent;
                }
                let got = animator
                    .live(id)
                    .joint_model(Id::<Joint>::new(joint), time_s)
                    .unwrap();
                let rows = exact.iter().take(3).flatten();
                let size = rows.fold(1.0, |most: f64, v| most.max(v.abs()));
                // Rounding of the joints' transforms and of their product.
                let off = apart(&exact, &got) / size;
                assert!(off < 5e-6, "joint {joint} of {samples:?}: {off}");
                worst = worst.max(off);
            }
        }
    }
    println!("off by at most {worst}");
}

/// Joints at any depth, in a pose of the caller.
#[test]
fn joints_of_deep_skeletons() {
    let character = rig::chain(300);
    let skeleton = character.skeleton();
    let mut rng = Rng::new(14);
    let local: Vec<Transform> = (0..300)
        .map(|_| raws::transform(rng.direction(), rng.rotation(), Vec3::ONE))
        .collect();
    let mut model = vec![Affine3A::IDENTITY; 300];
    skeleton.model_pose(&local, &mut model).unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add(Play::REST).unwrap();
    let show = ShowPose {
        fade_s: 0.0,
        ..ShowPose::default()
    };
    animator
        .live_mut(id)
        .set_pose(Pose::Local(&local), &show)
        .unwrap();
    for joint in [0, 1, 63, 64, 65, 299_u16] {
        let got = animator
            .live(id)
            .joint_model(Id::<Joint>::new(joint), 7.0)
            .unwrap();
        let want = model[usize::from(joint)];
        let size = want.translation.length().max(1.0);
        let off = got.to_cols_array().into_iter().zip(want.to_cols_array());
        let off = off.fold(0.0_f32, |most, (got, want)| most.max((got - want).abs()));
        // Each product has ten roundings of 6e-8.
        assert!(off <= 6e-7 * f32::from(joint + 1) * size, "{joint}: {off}");
    }
}

#[test]
fn faults_are_named_and_odd_times_do_no_harm() {
    let load = &loads()[0];
    let mut animator = Animator::new(&load.character).unwrap();
    let id = animator.add("Walk").unwrap();
    animator
        .actor(id)
        .and_then(|it| it.joint_model(Id::<Joint>::new(57), 0.0))
        .fails("joint 57 does not exist: there are 57");
    for time_s in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        let model = animator
            .live(id)
            .joint_model(Id::<Joint>::new(30), time_s)
            .unwrap();
        assert!(model.is_finite(), "{time_s}");
    }
    animator.remove(id).unwrap();
    animator
        .actor(id)
        .and_then(|it| it.joint_model(Id::<Joint>::new(3), 0.0))
        .fails("…no longer exists…");
}

#[test]
fn sockets_and_joints_are_found_by_name() {
    let text =
        "[[socket]]\nname = \"sword\"\njoint = \"RightHand\"\ntranslation = [0.0, 0.1, 0.02]\n";
    let character = crate::models::packed_mannequin();
    let character = character.with_animation_toml("guard.toml", text).unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add("Walk").unwrap();
    animator.update(0.2).unwrap();
    let hand = animator.live(id).joint_model("RightHand", 0.4).unwrap();
    let sword = animator.live(id).joint_model("sword", 0.4).unwrap();
    let offset = Vec3::new(0.0, 0.1, 0.02);
    assert_eq!(sword, hand * Affine3A::from_translation(offset));
    let by_id = character.socket("sword").unwrap();
    assert_eq!(animator.live(id).joint_model(by_id, 0.4).unwrap(), sword);
    animator
        .actor(id)
        .and_then(|it| it.joint_model("tail", 0.4))
        .fails("…there are sword, Root, Hips…");
}

#[test]
fn text_that_does_not_fit_is_named_with_its_line() {
    let text = "[[socket]]\nname = \"sword\"\njoint = \"RightHnad\"\n";
    let character = crate::models::packed_mannequin();
    character
        .with_animation_toml("guard.toml", text)
        .fails("guard.toml:3: socket 0 \"sword\"…");
}
