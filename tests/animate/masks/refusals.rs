//! Masks that are refused.

use crate::reference::words::Fails;
use throng::Error;
use throng::error::ArgumentFault;
use throng::skeleton::Mask;

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
    Mask::from_weights(vec![0.0; 65_536]).fails("…: … requested, at most … allowed");
    assert!(Mask::from_weights(Vec::new()).unwrap().weights().is_empty());
}
