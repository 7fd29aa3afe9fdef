//! Masks, layers and poses that are refused.

use throng::Error;
use throng::clip::difference;
use throng::error::ArgumentFault;
use throng::glam::Vec3;
use throng::motion::{PoseLayer, blend};
use throng::skeleton::{Mask, Transform};

#[test]
fn what_is_no_mask_is_refused() {
    let character = crate::models::mannequin();
    let skeleton = character.skeleton();
    let none = Mask::none(skeleton);
    let Err(Error::UnknownName {
        what: "joint",
        name,
        known,
    }) = none.clone().with_subtree(skeleton, "Tail", 1.0)
    else {
        panic!("no such joint");
    };
    assert_eq!(&*name, "Tail");
    assert!(known.contains(&*skeleton.joints()[0].name));
    let root = &skeleton.joints()[0].name;
    for weight in [-0.1, 1.1, f32::NAN, f32::INFINITY, f32::MAX] {
        for (row, result, wanted) in [
            (
                "joint",
                none.clone().with_joint(skeleton, root, weight),
                "mask weight",
            ),
            (
                "subtree",
                none.clone().with_subtree(skeleton, root, weight),
                "mask weight",
            ),
            (
                "weights",
                Mask::from_weights(vec![1.0, 0.0, weight]),
                "joint 2",
            ),
        ] {
            let text = result.unwrap_err().to_string();
            assert!(text.starts_with(wanted), "{row}, {weight}: {text}");
        }
    }
    let other = Mask::from_weights(vec![1.0; 2]).unwrap();
    let need = skeleton.len();
    let why = ArgumentFault::Length { got: 2, need };
    assert_eq!(
        other.with_joint(skeleton, root, 1.0),
        Err(Error::Argument { what: "mask", why })
    );
    assert!(matches!(
        Mask::from_weights(vec![0.0; 65_536]),
        Err(Error::Capacity { .. })
    ));
    assert!(Mask::from_weights(Vec::new()).unwrap().weights().is_empty());
}

#[test]
fn layers_are_refused_by_number() {
    let (two, three) = ([Transform::IDENTITY; 2], [Transform::IDENTITY; 3]);
    let (good, long) = (PoseLayer::new(&two), PoseLayer::new(&three));
    let mask = Mask::from_weights(vec![1.0]).unwrap();
    let mut out = [Transform {
        scale: Vec3::ZERO,
        ..Transform::IDENTITY
    }; 2];
    let before = out;
    let weights = [-1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let weights = weights.map(|weight| (vec![good, good.weighted(weight)], 1, "weight", None));
    let length = |got| Some(ArgumentFault::Length { got, need: 2 });
    let falling = vec![good.on_level(1), good.weighted(0.0), good];
    let rows = [
        (vec![good, long], 1, "pose", length(3)),
        (vec![good.masked(&mask)], 0, "mask", length(1)),
        (falling, 2, "level", None),
    ];
    for (layers, wanted, field, fault) in rows.into_iter().chain(weights) {
        let error = blend(&two, &layers, 0.1, &mut out).unwrap_err();
        let Error::At {
            what: "layer",
            index,
            why,
        } = error
        else {
            panic!("{field}: {error:?}");
        };
        let Error::Argument { what, why } = *why else {
            panic!("{field}: {why:?}");
        };
        assert_eq!((index, what), (wanted, field), "{why}");
        assert!(fault.is_none_or(|fault| fault == why), "{field}: {why}");
    }
    for threshold in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let result = blend(&two, &[good], threshold, &mut out);
        let text = result.unwrap_err().to_string();
        assert!(text.starts_with("threshold"), "{threshold}: {text}");
    }
    let result = blend(&three, &[], 0.1, &mut out);
    assert!(matches!(result, Err(Error::Argument { .. })));
    assert_eq!(out, before);
    assert_eq!(blend(&[], &[], 0.1, &mut []), Ok(()));
    assert_eq!(blend(&[], &[PoseLayer::new(&[])], 0.1, &mut []), Ok(()));
}

#[test]
fn differences_are_refused_by_joint() {
    let flat = Transform {
        scale: Vec3::new(1.0, 0.0, 1.0),
        ..Transform::IDENTITY
    };
    let far = |x: f32| Transform {
        translation: Vec3::X * x,
        ..Transform::IDENTITY
    };
    let mut out = [Transform::IDENTITY];
    for (row, reference, pose) in [
        ("flat", flat, far(0.0)),
        ("NaN", far(f32::NAN), far(0.0)),
        ("too far", far(f32::MIN), far(f32::MAX)),
    ] {
        let result = difference(&[reference], &[pose], &mut out);
        let at_joint = matches!(
            result,
            Err(Error::At {
                what: "joint",
                index: 0,
                ..
            })
        );
        assert!(at_joint, "{row}: {result:?}");
    }
    for result in [
        difference(&[flat], &[], &mut out),
        difference(&[flat], &[flat], &mut []),
    ] {
        assert!(matches!(result, Err(Error::Argument { .. })), "{result:?}");
    }
}
