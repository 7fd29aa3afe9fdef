//! Where joints of instances are: as the whole pose has them.

use crate::support::made::{built, ribbon};
use crate::support::{SMALL, Setup, each};
use throng::character::Affine;
use throng::character::JointId;
use throng::glam::{Quat, Vec3};
use throng::pose::Poser;
use throng::{Error, Play, Spawn};

#[test]
fn joints_are_where_the_pose_has_them() {
    each(|setup: &mut Setup| {
        let mut crowd = setup.crowd(2, SMALL);
        let character = built(ribbon(4)).character;
        let joints = character.skeleton().len() as u16;
        let allocator = &mut setup.context.allocator;
        let kind = crowd.add_character(allocator, &character).unwrap();
        let turn = Quat::from_rotation_y(1.0);
        let world_from_model = Affine::from_rotation_translation(turn, Vec3::new(3.0, 1.0, -2.0));
        let play = Play {
            start_s: Some(10.0),
            ..Play::from("sway")
        };
        let spawn = Spawn {
            world_from_model,
            play,
            ..Spawn::default()
        };
        let id = crowd.spawn(kind, &spawn).unwrap();
        let (clip, mut poser) = (character.clip("sway").unwrap().index(), Poser::new());
        let duration_s = character.curves()[clip].duration_s();
        for time_s in [10.0, 10.3, 9.8, 1e6 + 0.2] {
            let layer = crowd.playing(id).unwrap().unwrap();
            let at = layer.clip_time_s(time_s, duration_s);
            let model = poser.pose(&character, Some((clip, at))).unwrap();
            for joint in 0..joints {
                let whole = model[usize::from(joint)];
                assert_eq!(
                    crowd.joint_model(id, JointId(joint), time_s).unwrap(),
                    whole
                );
                let world = crowd.joint_transform(id, JointId(joint), time_s).unwrap();
                assert_eq!(world, world_from_model * whole);
            }
        }
        // By name; at rest; in a pose of the caller's.
        let name = character.skeleton().joints()[1].name.clone();
        let named = crowd.joint_model(id, &*name, 10.3).unwrap();
        assert_eq!(named, crowd.joint_model(id, JointId(1), 10.3).unwrap());
        crowd.play(id, Play::REST).unwrap();
        let rest = poser.pose(&character, None).unwrap();
        assert_eq!(crowd.joint_model(id, JointId(2), 10.3).unwrap(), rest[2]);
        let own = vec![world_from_model; usize::from(joints)];
        crowd.set_model_pose(id, &own).unwrap();
        assert_eq!(
            crowd.joint_model(id, JointId(2), f64::NAN).unwrap(),
            world_from_model
        );
        // What there is not.
        let fault = crowd.joint_transform(id, JointId(joints), 0.0);
        assert!(matches!(fault, Err(Error::NotFound { what: "joint", .. })));
        let fault = crowd.joint_transform(id, "no such joint", 0.0);
        assert!(matches!(
            fault,
            Err(Error::UnknownName { what: "joint", .. })
        ));
        crowd.despawn(id).unwrap();
        let fault = crowd.joint_transform(id, JointId(0), 0.0);
        assert!(matches!(
            fault,
            Err(Error::Stale {
                what: "instance",
                ..
            })
        ));
        setup.destroy(crowd);
    });
}
