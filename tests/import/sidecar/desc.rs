//! Descriptions as data: at import, and given to a character later.

use super::beside::{WHOLE, check_whole};
use super::folder::{Folder, MODEL};
use throng::builtin;
use throng::character::{AdditiveDesc, AnimationDesc, ClipDesc, RootMotionDesc, SocketDesc};
use throng::error::Error;
use throng::import::ImportOptions;

fn whole() -> AnimationDesc {
    AnimationDesc::from_toml("doll.toml", WHOLE).unwrap()
}

fn model(options: &ImportOptions) -> throng::import::Imported {
    let folder = Folder::new();
    folder.write("doll.gltf", MODEL);
    folder.import(options).unwrap()
}

#[test]
fn data_says_the_same_as_text() {
    let options = ImportOptions {
        animation: Some(whole()),
        ..ImportOptions::default()
    };
    let imported = model(&options);
    check_whole(&imported);
    let of_text = Folder::with(WHOLE)
        .import(&ImportOptions::default())
        .unwrap();
    assert_eq!(imported.character, of_text.character);
}

#[test]
fn a_character_with_curves_takes_everything_later() {
    let later = model(&ImportOptions::with_curves()).character;
    check_whole(&later.with_animation(&whole()).unwrap());
}

#[test]
fn without_curves_what_needs_them_is_refused() {
    let packed = || model(&ImportOptions::default()).character;
    let clip = |root_motion| ClipDesc {
        name: "Walk".into(),
        root_motion,
        ..ClipDesc::default()
    };
    let desc = AnimationDesc {
        clips: vec![clip(Some(RootMotionDesc::default()))],
        ..AnimationDesc::default()
    };
    let error = packed().with_animation(&desc).unwrap_err();
    assert!(matches!(error, Error::Description { .. }));
    let text = error.to_string();
    assert!(
        text.starts_with("clip 0 \"Walk\", root_motion: needs the file's curves"),
        "{text}"
    );
    let desc = AnimationDesc {
        additive: vec![AdditiveDesc {
            clip: "Run".into(),
            ..AdditiveDesc::default()
        }],
        ..AnimationDesc::default()
    };
    let text = packed().with_animation(&desc).unwrap_err().to_string();
    assert!(
        text.starts_with("additive clip 0 \"Run\", clip: needs the file's curves"),
        "{text}"
    );
    // All else is said later as well, and the clips stay as they are.
    let desc = AnimationDesc {
        clips: vec![clip(None)],
        sockets: vec![SocketDesc::new("hand", "Hand")],
        ..AnimationDesc::default()
    };
    let before = packed();
    let after = before.clone().with_animation(&desc).unwrap();
    assert_eq!(before.clips(), after.clips());
    assert!(after.animations().socket("hand").is_ok());
    let walk = after.clip("Walk").unwrap();
    assert_eq!(after.animations().events(walk).len(), 2);
    let desc = AnimationDesc {
        state_machine_file: Some("machine.toml".into()),
        ..AnimationDesc::default()
    };
    let text = packed().with_animation(&desc).unwrap_err().to_string();
    assert!(
        text.starts_with("animation, state_machine_file: names a file"),
        "{text}"
    );
}

#[test]
fn the_mannequin_brings_its_own() {
    let mannequin = builtin::mannequin().unwrap();
    let set = mannequin.animations();
    for name in ["left hand", "right hand", "head"] {
        assert!(set.socket(name).is_ok());
    }
    let walk = set.gait(mannequin.clip("Walk").unwrap()).unwrap();
    assert_eq!(walk.speed_m_s, 1.2);
    assert!(set.gait(mannequin.clip("Wave").unwrap()).is_none());
    let upper = &set.masks()[set.mask("upper body").unwrap().index()];
    let weight = |name| upper.weights()[mannequin.skeleton().joint(name).unwrap().index()];
    assert_eq!((weight("Head"), weight("Hips")), (1.0, 0.0));
    assert!(weight("Spine") > 0.0 && weight("Spine") < 1.0);
}
