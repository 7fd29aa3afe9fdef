//! Descriptions as data: at import, and given to a character later.

use super::beside::{WHOLE, check_whole};
use super::folder::{Folder, MODEL};
use crate::reference::words::{Fails, Says};
use throng::builtin;
use throng::character::{
    AdditiveDesc, AnimationDesc, Character, ClipDesc, RootMotionDesc, SocketDesc,
};
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
    let later = model(&with_curves()).character;
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
    error
        .to_string()
        .says("clip 0 \"Walk\", root_motion: needs the file's curves…");
    let desc = AnimationDesc {
        additive: vec![AdditiveDesc {
            clip: "Run".into(),
            ..AdditiveDesc::default()
        }],
        ..AnimationDesc::default()
    };
    packed()
        .with_animation(&desc)
        .fails("additive clip 0 \"Run\", clip: needs the file's curves…");
    // All else is said later as well, and the clips stay as they are.
    let desc = AnimationDesc {
        clips: vec![clip(None)],
        sockets: vec![SocketDesc::new("hand", "Hand")],
        ..AnimationDesc::default()
    };
    let before = packed();
    let after = before.clone().with_animation(&desc).unwrap();
    assert_eq!(before.clips(), after.clips());
    assert!(after.socket("hand").is_ok());
    let walk = after.clip("Walk").unwrap();
    assert_eq!(after.events(walk).len(), 2);
    let desc = AnimationDesc {
        state_machine_file: Some("machine.toml".into()),
        ..AnimationDesc::default()
    };
    packed()
        .with_animation(&desc)
        .fails("animation, state_machine_file: names a file…");
}

/// Root motion is measured from the pose of another clip as it is in the file, although that clip
/// was made to stay in place before.
#[test]
fn root_motion_may_start_from_a_frame_of_another_clip() {
    let text = "
[[clip]]
name = 'Run'
root_motion = {}

[[clip]]
name = 'Walk'
root_motion = { reference = { frame = { clip = 'Run', time_s = 0.75 } } }
";
    let desc = AnimationDesc::from_toml("doll.toml", text).unwrap();
    let plain = model(&with_curves()).character;
    let hips = plain.skeleton().joint("Hips").unwrap();
    let z_m = |character: &Character, name: &str, time_s| {
        let clip = &character.clips()[character.clip(name).unwrap().index()];
        clip.sample_joint(hips, time_s).translation.z
    };
    let held_m = z_m(&plain, "Run", 0.75);
    assert!(held_m > 0.5);
    let split = plain.clone().with_animation(&desc).unwrap();
    let motion = split.root_motion(split.clip("Walk").unwrap()).unwrap();
    for time_s in [0.0, 0.3, 1.0] {
        assert_eq!(z_m(&split, "Run", time_s), 0.0);
        assert!((z_m(&split, "Walk", time_s) - held_m).abs() < 1e-3);
        let sum_m = motion.at(time_s).translation.z + f64::from(held_m);
        assert!((sum_m - f64::from(z_m(&plain, "Walk", time_s))).abs() < 2e-3);
    }
    // A clip that is not kept as curves has no pose to take.
    let packed = model(&ImportOptions::default()).character;
    packed
        .with_animation(&desc)
        .fails("…needs the file's curves…");
    // Neither has a clip of differences.
    let additive = AnimationDesc::from_toml("doll.toml", "[[additive]]\nclip = 'Run'").unwrap();
    let differences = plain.with_animation(&additive).unwrap();
    let text = "
[[additive]]
clip = 'Walk'
reference = { frame = { clip = 'Run', time_s = 0.0 } }
";
    let desc = AnimationDesc::from_toml("doll.toml", text).unwrap();
    let error = differences.with_animation(&desc).unwrap_err().to_string();
    let expected = "additive clip 0 \"Walk\", reference.frame.clip: is additive";
    error.says(format!("…{expected}…"));
}

/// It has what a new description would replace. Without a part of it, all else stays.
#[test]
fn the_description_of_a_character_is_its_own() {
    let options = ImportOptions {
        animation: Some(whole()),
        ..ImportOptions::default()
    };
    let imported = model(&options).character;
    let loaded = Character::from_bytes(&imported.to_bytes(), &Default::default()).unwrap();
    for character in [imported, loaded] {
        let desc = character.animation_desc().clone();
        assert_eq!(desc.masks, whole().masks);
        assert_eq!(desc.sockets, whole().sockets);
        assert_eq!(desc.blend_spaces, whole().blend_spaces);
        assert_eq!(desc.state_machine, whole().state_machine);
        let same = character.clone().with_animation(&desc).unwrap();
        check_whole(&same);
        assert_eq!(same.animation_desc(), &desc);
        // A mask that a layer of the state machine names can change.
        let mut other = desc.clone();
        other.masks[0].branches[0].weight = 0.25;
        let other = character.clone().with_animation(&other).unwrap();
        assert_eq!(other.masks()[0].weights[1], 0.25);
        let less = AnimationDesc {
            state_machine: None,
            ..desc
        };
        let less = character.clone().with_animation(&less).unwrap();
        assert!(less.state_machine().is_none() && less.mask("upper").is_ok());
        assert!(less.mask("hand").is_err(), "only the state machine had it");
        let walk = less.clip("Walk").unwrap();
        assert_eq!(less.root_motion(walk), character.root_motion(walk));
        assert_eq!(less.gait(walk), character.gait(walk));
        assert!(less.events(walk).eq(character.events(walk)));
    }
}

#[test]
fn the_mannequin_brings_its_own() {
    let mannequin = builtin::mannequin().unwrap();
    for name in ["left hand", "right hand", "head"] {
        assert!(mannequin.socket(name).is_ok());
    }
    let walk = mannequin.gait(mannequin.clip("Walk").unwrap()).unwrap();
    assert_eq!(walk.speed_m_s, 1.2);
    assert!(mannequin.gait(mannequin.clip("Wave").unwrap()).is_none());
    let upper = &mannequin.masks()[mannequin.mask("upper body").unwrap().index()];
    let weight = |name| upper.weights[mannequin.skeleton().joint(name).unwrap().index()];
    assert_eq!((weight("Head"), weight("Hips")), (1.0, 0.0));
    assert!(weight("Spine") > 0.0 && weight("Spine") < 1.0);
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
