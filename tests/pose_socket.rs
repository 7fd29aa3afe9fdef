//! Sockets: single joints against the whole skeleton, bit by bit, and against plain `f64` code.

#[path = "socket/load.rs"]
mod load;
mod reference;

use crate::reference::poser::Poser;
use load::loads;
use reference::maths::{self, M4};
use reference::raw::scene;
use reference::rig::keys;
use reference::rng::Rng;
use reference::scene::Scene;
use reference::{assets, compare, gltf, random, rig};
use throng::Error;
use throng::character::{
    Affine, Character, Interpolation, JointId, NO_PARENT, TrackValues, Transform,
};
use throng::glam::Vec3;
use throng::import::{ImportOptions, gltf_file};
use throng::pose::{
    Clip, ClipOptions, ClipSample, Playing, SampleList, Samples, Socket, Sockets, joint_model,
    model_pose,
};

/// The largest difference of two matrices' elements.
fn apart(exact: &M4, got: &Affine) -> f64 {
    let got = got.to_cols_array();
    let difference = |at: usize| (exact[at % 3][at / 3] - f64::from(got[at])).abs();
    (0..12).map(difference).fold(0.0, f64::max)
}

/// Against the scene in `f64` and against the whole skeleton, at a few times of each clip.
fn check_raw(character: &Character, scene: &Scene) {
    let nodes = compare::joint_nodes(scene);
    let skeleton = character.skeleton();
    let mut poser = Poser::new();
    for (index, clip) in character.curves().iter().enumerate() {
        let times = scene.clips[index].times();
        for time_s in times
            .iter()
            .copied()
            .step_by(times.len() / 3 + 1)
            .chain([-1.0, 1e9])
        {
            let model = poser.pose(character, Some((index, time_s))).unwrap();
            let exact = scene.globals(Some((index, time_s)));
            for joint in 0..skeleton.len() as u16 {
                let playing = Playing::Raw(clip, time_s);
                let got = joint_model(skeleton, &playing, JointId(joint)).unwrap();
                assert_eq!(got, model[usize::from(joint)], "joint {joint} at {time_s}");
                let exact = &exact[nodes[usize::from(joint)]];
                let size = exact
                    .iter()
                    .take(3)
                    .flatten()
                    .fold(1.0, |a: f64, v| a.max(v.abs()));
                // Rounding, of up to twenty products; more where curves are steep. Measured: 7.4e-7.
                let off = apart(exact, &got) / size;
                assert!(off < 1e-5, "joint {joint} at {time_s}: {off}");
            }
        }
    }
    for joint in 0..skeleton.len() as u16 {
        let got = joint_model(skeleton, &Playing::Rest, JointId(joint)).unwrap();
        assert_eq!(
            got,
            poser.pose(character, None).unwrap()[usize::from(joint)]
        );
    }
}

#[test]
fn exact_curves_of_random_characters() {
    for seed in 0..40 {
        let raw = random::character(seed);
        let character = raw
            .clone()
            .build(&ImportOptions::curves_only())
            .unwrap()
            .character;
        check_raw(&character, &scene(&raw));
    }
}

#[test]
fn exact_curves_of_all_models() {
    for file in assets::files() {
        let character = gltf_file(&file, &ImportOptions::curves_only())
            .unwrap()
            .character;
        check_raw(&character, &gltf::load(&file));
    }
}

#[test]
fn samples_have_the_bits_of_the_whole_skeleton() {
    for load in loads() {
        let rng = &mut Rng::new(11);
        for _ in 0..20 {
            let samples = load.samples(rng);
            let whole = load.whole(&samples);
            for joint in 0..whole.len() as u16 {
                let playing = Playing::Samples(load.of(&samples));
                let got = joint_model(load.character.skeleton(), &playing, JointId(joint)).unwrap();
                assert_eq!(
                    got,
                    whole[usize::from(joint)],
                    "joint {joint} of {samples:?}"
                );
            }
        }
    }
}

#[test]
fn samples_are_blended_as_the_rule_says() {
    for load in loads() {
        let rng = &mut Rng::new(12);
        let joints = load.character.skeleton().joints();
        for _ in 0..10 {
            let samples = load.samples(rng);
            let joint = rng.below(joints.len()) as u16;
            let mut exact = load.exact(&samples, joint);
            let mut above = joints[usize::from(joint)].parent;
            while above != NO_PARENT {
                exact = maths::mul(&load.exact(&samples, above), &exact);
                above = joints[usize::from(above)].parent;
            }
            let playing = Playing::Samples(load.of(&samples));
            let got = joint_model(load.character.skeleton(), &playing, JointId(joint)).unwrap();
            let size = exact
                .iter()
                .take(3)
                .flatten()
                .fold(1.0, |a: f64, v| a.max(v.abs()));
            // Rounding of the joints' transforms and of their product; measured 4.6e-7.
            let off = apart(&exact, &got) / size;
            assert!(off < 5e-6, "joint {joint} of {samples:?}: {off}");
        }
    }
}

#[test]
fn sockets_share_their_ancestors() {
    for load in loads() {
        let skeleton = load.character.skeleton();
        let rng = &mut Rng::new(13);
        let sockets: Vec<Socket> = (0..5)
            .map(|_| Socket {
                joint: JointId(rng.below(skeleton.len()) as u16),
                offset: Affine::from_rotation_translation(rng.rotation(), rng.vector(-1.0, 1.0)),
            })
            .collect();
        let mut set = Sockets::new(skeleton, &sockets).unwrap();
        assert!(set.joints() <= skeleton.len() && set.len() == 5 && !set.is_empty());
        let mut list = SampleList::new();
        let mut places = Vec::new();
        for _ in 0..7 {
            list.push(load.samples(rng));
            places.push(Affine::from_rotation_translation(
                rng.rotation(),
                rng.vector(-9.0, 9.0),
            ));
        }
        let mut all = vec![Affine::IDENTITY; 35];
        let shared = load.of(&[]);
        set.worlds_of(&shared, &list, &places, &mut all).unwrap();
        for (instance, place) in places.iter().enumerate() {
            let playing = Playing::Samples(load.of(list.samples(instance)));
            let (mut model, mut world) = ([Affine::IDENTITY; 5], [Affine::IDENTITY; 5]);
            set.models(&playing, &mut model).unwrap();
            set.worlds(&playing, place, &mut world).unwrap();
            assert_eq!(world, all[5 * instance..][..5]);
            for (number, socket) in sockets.iter().enumerate() {
                let joint = joint_model(skeleton, &playing, socket.joint).unwrap();
                assert_eq!(model[number], joint * socket.offset);
                assert_eq!(world[number], socket.world(place, &joint));
            }
        }
    }
}

#[test]
fn local_poses_and_deep_skeletons() {
    let character = rig::chain(300);
    let skeleton = character.skeleton();
    let mut rng = Rng::new(14);
    let local: Vec<Transform> = (0..300)
        .map(|_| Transform {
            translation: rng.direction(),
            rotation: rng.rotation(),
            scale: Vec3::ONE,
        })
        .collect();
    let mut model = vec![Affine::IDENTITY; 300];
    model_pose(skeleton, &local, &mut model).unwrap();
    let mut set = Sockets::new(
        skeleton,
        &[Socket::at(JointId(299)), Socket::at(JointId(70))],
    )
    .unwrap();
    let mut out = [Affine::IDENTITY; 2];
    set.models(&Playing::Local(&local), &mut out).unwrap();
    assert_eq!(set.joints(), 300);
    for joint in [0, 1, 63, 64, 65, 299_u16] {
        let got = joint_model(skeleton, &Playing::Local(&local), JointId(joint)).unwrap();
        assert_eq!(got, model[usize::from(joint)], "{joint}");
    }
    assert_eq!(out, [model[299], model[70]]);
}

#[test]
fn faults_are_named() {
    let load = &loads()[0];
    let skeleton = load.character.skeleton();
    let missing = joint_model(skeleton, &Playing::Rest, JointId(57));
    assert!(matches!(
        missing,
        Err(Error::NotFound {
            what: "joint",
            index: 57,
            count: 57
        })
    ));
    let mut set = Sockets::new(skeleton, &[Socket::at(JointId(3))]).unwrap();
    let mut out = [Affine::IDENTITY];
    let good = ClipSample::new(0, 0.0);
    let track = keys(Interpolation::Step, &[0.0], &[Vec3::X]);
    let raw = rig::clip(TrackValues::Translation(track));
    let other = Clip::new(&rig::chain(2), &raw, &ClipOptions::default()).unwrap();
    let clips = [load.clips[0].clone(), other];
    for (at, samples) in [
        vec![good, ClipSample::new(9, 0.0)],
        vec![good, ClipSample::new(1, 0.0)],
        vec![good, good.masked(2)],
        vec![good, good.weighted(f32::NAN)],
        vec![good, good.weighted(-1.0)],
        vec![good, good.weighted(f32::INFINITY)],
        vec![good.on_level(2), good.on_level(1)],
    ]
    .iter()
    .enumerate()
    {
        let samples = Samples {
            clips: &clips,
            ..load.of(samples)
        };
        let playing = Playing::Samples(samples);
        for fault in [
            joint_model(skeleton, &playing, JointId(3)).map(drop),
            set.models(&playing, &mut out),
        ] {
            let is = matches!(
                &fault,
                Err(Error::Each {
                    what: "sample",
                    index: 1,
                    ..
                })
            );
            assert!(is, "{at}: {fault:?}");
        }
    }
    // A sample of weight 0 is not looked at; a threshold of 0 is none.
    let nothing = [ClipSample::new(9, f64::NAN).weighted(0.0)];
    let playing = Playing::Samples(load.of(&nothing));
    let rest = joint_model(skeleton, &Playing::Rest, JointId(3)).unwrap();
    assert_eq!(joint_model(skeleton, &playing, JointId(3)).unwrap(), rest);
    let none = Samples {
        threshold: 0.0,
        ..load.of(&nothing)
    };
    assert!(joint_model(skeleton, &Playing::Samples(none), JointId(3)).is_err());
    assert!(joint_model(skeleton, &Playing::Local(&[]), JointId(3)).is_err());
    assert!(set.models(&Playing::Rest, &mut []).is_err());
    let crooked = Socket {
        offset: Affine::from_translation(Vec3::NAN),
        ..Socket::at(JointId(1))
    };
    let fault = Sockets::new(skeleton, &[Socket::at(JointId(0)), crooked]);
    assert!(matches!(
        fault,
        Err(Error::Each {
            what: "socket",
            index: 1,
            ..
        })
    ));
    let fault = Sockets::new(skeleton, &[Socket::at(JointId(u16::MAX))]);
    assert!(matches!(
        fault,
        Err(Error::Each {
            what: "socket",
            index: 0,
            ..
        })
    ));
    // Odd times are clamped.
    for time_s in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        let raw = Playing::Raw(&load.character.curves()[0], time_s);
        assert!(
            joint_model(skeleton, &raw, JointId(30))
                .unwrap()
                .is_finite()
        );
        let samples = [ClipSample::new(0, time_s)];
        let playing = Playing::Samples(load.of(&samples));
        assert!(
            joint_model(skeleton, &playing, JointId(30))
                .unwrap()
                .is_finite()
        );
    }
    // No sockets, no instances.
    let mut none = Sockets::new(skeleton, &[]).unwrap();
    let list = SampleList::new();
    none.worlds_of(&load.of(&[]), &list, &[], &mut []).unwrap();
    assert_eq!(none.joints(), 0);
}
