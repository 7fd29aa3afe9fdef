//! Joint transforms of instances equal those of the whole pose.

use crate::reference::handles::Handles;
use crate::reference::ribbon::{built, rest_model, ribbon};
use crate::reference::words::Fails;
use crate::support::{SMALL, Setup, each, placed};
use throng::animator::Animator;
use throng::character::Character;
use throng::clip::Clip;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::skeleton::{Joint, Transform};
use throng::{Id, Play};
use throng::{Pose, ShowPose};

/// The model pose of a clip, joint by joint.
fn exact(character: &Character, clip: &Clip, time_s: f64) -> Vec<Affine3A> {
    let mut local = vec![Transform::IDENTITY; character.skeleton().len()];
    clip.sample(time_s, &mut local).unwrap();
    let mut model = vec![Affine3A::IDENTITY; local.len()];
    character.skeleton().model_pose(&local, &mut model).unwrap();
    model
}

/// Returns true if two matrices differ by rounding only.
///
/// The chain has 4 joints and is 3 m long. Each product rounds a sum of 4 terms of at most 3 m,
/// and each rotation rounds a few numbers of at most 1, to 6e-8. Both matrices come from such a
/// chain: 2 × 4 × (4 × 3 + 4) × 6e-8.
fn near(a: &Affine3A, b: &Affine3A) -> bool {
    a.abs_diff_eq(*b, 8e-6)
}

#[test]
fn joints_are_where_the_pose_has_them() {
    each(|setup: &mut Setup| {
        let mut crowd = setup.crowd(2, SMALL);
        let character = built(ribbon(4)).character;
        let joints = character.skeleton().len() as u16;
        let kind = setup.add(&mut crowd, &character);
        let turn = Quat::from_rotation_y(1.0);
        let world_from_model = Affine3A::from_rotation_translation(turn, Vec3::new(3.0, 1.0, -2.0));
        let play = Play::new("sway").start_s(10.0);
        let id = crowd.spawn(kind, &placed(world_from_model, play)).unwrap();
        let clip = &character.clips()[character.clip("sway").unwrap().index()];
        let mut animator = Animator::new(&character).unwrap();
        let actor = animator.add(play).unwrap();
        let mut model = vec![Affine3A::IDENTITY; usize::from(joints)];
        for time_s in [10.0, 10.3, 9.8, 1e6 + 0.2] {
            animator.update(time_s).unwrap();
            animator.model_poses(&[actor], &mut model).unwrap();
            let record = crowd.live(id).records()[0];
            let at = record.clip_time_s(time_s, clip.duration_s());
            let exact = exact(&character, clip, at);
            for joint in 0..joints {
                let one = crowd
                    .live(id)
                    .joint_model(Id::<Joint>::new(joint), time_s)
                    .unwrap();
                for of_all in [model[usize::from(joint)], exact[usize::from(joint)]] {
                    assert!(near(&one, &of_all), "{one} {of_all}");
                }
                let world = crowd
                    .live(id)
                    .joint_transform(Id::<Joint>::new(joint), time_s)
                    .unwrap();
                assert_eq!(world, world_from_model * one);
            }
        }
        // By name, at rest, and in a pose of the caller.
        let name = character.skeleton().joints()[1].name.clone();
        let named = crowd.live(id).joint_model(&*name, 10.3).unwrap();
        assert_eq!(
            named,
            crowd
                .live(id)
                .joint_model(Id::<Joint>::new(1), 10.3)
                .unwrap()
        );
        crowd.live_mut(id).play(Play::REST).unwrap();
        let rest = rest_model(&character);
        assert_eq!(
            crowd
                .live(id)
                .joint_model(Id::<Joint>::new(2), 10.3)
                .unwrap(),
            rest[2]
        );
        let own = vec![world_from_model; usize::from(joints)];
        let show = ShowPose::default();
        crowd
            .live_mut(id)
            .set_pose(Pose::Model(&own), &show)
            .unwrap();
        assert_eq!(
            crowd
                .live(id)
                .joint_model(Id::<Joint>::new(2), f64::NAN)
                .unwrap(),
            world_from_model
        );
        // Joints and instances that do not exist.
        crowd
            .instance(id)
            .and_then(|it| it.joint_transform(Id::<Joint>::new(joints), 0.0))
            .fails("joint … does not exist: there are …");
        crowd
            .instance(id)
            .and_then(|it| it.joint_transform("no such joint", 0.0))
            .fails("joint or socket \"…\" does not exist: there are …");
        crowd.despawn(id).unwrap();
        crowd
            .instance(id)
            .and_then(|it| it.joint_transform(Id::<Joint>::new(0), 0.0))
            .fails("instance … no longer exists…");
        setup.destroy(crowd);
    });
}
