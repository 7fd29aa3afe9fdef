//! Files beside a model: the file that is read, and its contents.

use super::folder::{Folder, MODEL};
use crate::reference::words::{Fails, Says};
use throng::Id;
use throng::character::{AnimationDesc, Character, SocketDesc};
use throng::clip::Clip;
#[cfg(unix)]
use throng::error::AssetFault;
use throng::error::Error;
use throng::glam::{Vec2, Vec3};
use throng::import::{ImportOptions, RepairKind, ResourceReader};
use throng::state_machine::StateMachineDesc;

pub(super) const WHOLE: &str = r#"
[[mask]]
name = "upper"
branches = [{ joint = "Hips" }, { joint = "Hand", weight = 0.5 }]

[[clip]]
name = "Walk"
events = [{ name = "step", time_s = 0.5 }, { name = "left", time_s = 1 }]
root_motion = {}
gait = { speed_m_s = 1.5 }

[[clip]]
name = "Run add"
events = [{ name = "step", time_s = 0 }]

[[additive]]
name = "Run add"
clip = "Run"
reference = { frame = { clip = "Idle", time_s = 0.5 } }

[[additive]]
clip = "Idle"
reference = "rest"

[[blend_space]]
name = "speed"
points = [{ at = 0, clip = "Run" }, { at = 1.5, clip = "Walk" }]

[[blend_space]]
name = "velocity"
points = [{ at = [0, 0], clip = "Run" }, { at = [1.5, 0.0], clip = "Walk" }, { at = [0, 1], clip = "Run" }]

[[socket]]
name = "sword"
joint = "Hand"
translation = [0, 0.1, 0]
rotation = [0, 0, 0, 2]

[state_machine]
[[state_machine.parameter]]
name = "speed"
kind = "float"

[[state_machine.mask]]
name = "hand"
branches = [{ joint = "Hand" }]

[[state_machine.layer]]
name = "body"
entry = "go"
state = [{ name = "go", motion = { clip = "Walk" } }]

[[state_machine.layer]]
name = "arms"
entry = "shake"
mask = "upper"
additive = true
state = [{ name = "shake", motion = { clip = "Run add" } }]
"#;

/// Checks everything that [`WHOLE`] states about the model.
pub(super) fn check_whole(character: &Character) {
    let [idle, walk, run, add] =
        ["Idle", "Walk", "Run", "Run add"].map(|n| character.clip(n).unwrap());
    assert_eq!([idle, walk, run, add], [0, 1, 2, 3].map(Id::new));
    // Masks: that of the description, then that which only the machine has.
    let upper = character.mask("upper").unwrap();
    assert_eq!(character.masks()[upper.index()].weights, [0.0, 1.0, 0.5]);
    assert_eq!(
        &*character.masks()[character.mask("hand").unwrap().index()].name,
        "hand"
    );
    let machine = character.state_machine().unwrap();
    assert!(machine.parameter("speed").is_ok());
    // Events: the file's and the description's, in the order of their times.
    let events: Vec<_> = character.events(walk).collect();
    assert_eq!(
        events,
        [
            ("left", 0.25),
            ("step", 0.5),
            ("right", 0.75),
            ("left", 1.0)
        ]
    );
    assert_eq!(character.events(add).collect::<Vec<_>>(), [("step", 0.0)]);
    assert!(character.events(idle).len() == 0 && character.events(Id::new(9)).len() == 0);
    for clip in [walk, add] {
        for (name, _) in character.events(clip) {
            let event = character.event(name).unwrap();
            assert_eq!(&*character.event_names()[event.index()], name);
        }
    }
    // Root motion: the walk stays in place now.
    let motion = character.root_motion(walk).unwrap();
    let pass = motion.pass();
    assert!((pass.translation.z - 1.0).abs() < 1e-6, "{pass:?}");
    assert!(character.root_motion(run).is_none());
    let at = |clip: Id<Clip>, time_s| {
        character.clips()[clip.index()]
            .sample_joint(Id::new(1), time_s)
            .translation
    };
    assert_eq!(at(walk, 1.0), Vec3::ZERO);
    assert!(at(run, 1.0).distance(Vec3::Z) < 1e-3);
    assert_eq!(character.gait(walk).unwrap().speed_m_s, 1.5);
    // Additive clips.
    let additive = |clip: Id<Clip>| character.clips()[clip.index()].is_additive();
    assert_eq!(
        [idle, walk, run, add].map(additive),
        [true, false, false, true]
    );
    // Blend spaces and sockets.
    let speed = &character.blend_spaces()[character.blend_space("speed").unwrap().index()];
    assert!(speed.dimensions() == 1 && speed.clips() == [run, walk]);
    let mut weights = [0.0; 3];
    speed
        .weights(Vec2::new(0.75, 9.0), &mut weights[..2])
        .unwrap();
    assert_eq!(weights[..2], [0.5, 0.5]);
    let velocity = &character.blend_spaces()[character.blend_space("velocity").unwrap().index()];
    velocity.weights(Vec2::new(0.0, 1.0), &mut weights).unwrap();
    assert_eq!((velocity.dimensions(), weights), (2, [0.0, 0.0, 1.0]));
    let (_, sword) = &character.sockets()[character.socket("sword").unwrap().index()];
    assert_eq!(sword.joint, character.skeleton().joint("Hand").unwrap());
    assert_eq!(sword.offset.transform_point3(Vec3::ZERO), Vec3::Y * 0.1);
    character
        .socket("shield")
        .fails("socket \"shield\" does not exist: there are sword");
}

#[test]
fn everything_is_read_from_the_file_beside_the_model() {
    let imported = Folder::with(WHOLE)
        .import(&ImportOptions::default())
        .unwrap();
    check_whole(&imported);
    // Two events of the file lie outside of their clip.
    let outside = imported
        .repairs
        .iter()
        .filter(|r| r.kind == RepairKind::EventOutside);
    assert_eq!(outside.map(|repair| repair.count).collect::<Vec<_>>(), [2]);
}

/// The clips are those of the file's own curves with the same description.
#[test]
fn clips_are_those_of_a_description_given_later() {
    let folder = Folder::with(WHOLE);
    let plain = ImportOptions {
        sidecar: false,
        curves: true,
        ..ImportOptions::default()
    };
    let plain = folder.import(&plain).unwrap();
    let whole = folder.import(&ImportOptions::default()).unwrap();
    let plain = plain.character.clone();
    let described = plain.with_animation_toml("doll.toml", WHOLE).unwrap();
    assert_eq!(whole.clips(), described.clips());
    let motion = |character: &Character| character.root_motion(Id::new(1)).cloned();
    assert!(motion(&whole).is_some());
    assert_eq!(motion(&whole), motion(&described));
}

#[test]
fn nothing_beside_the_model_is_nothing_wrong() {
    let folder = Folder::new();
    folder.write("doll.gltf", MODEL);
    let imported = folder.import(&ImportOptions::default()).unwrap();
    assert!(
        imported.masks().is_empty()
            && imported.sockets().is_empty()
            && imported.state_machine().is_none()
    );
    // The events of the file come by the same call.
    assert_eq!(imported.events(Id::new(1)).len(), 2);
    assert_eq!(imported.event_names(), ["right".into(), "left".into()]);
}

#[test]
fn options_go_before_what_lies_beside() {
    let folder = Folder::with("this is no description");
    let off = ImportOptions {
        sidecar: false,
        ..ImportOptions::default()
    };
    assert!(folder.import(&off).unwrap().sockets().is_empty());
    let said = ImportOptions {
        animation: Some(AnimationDesc {
            sockets: vec![SocketDesc::new("own", "Hips")],
            ..AnimationDesc::default()
        }),
        ..ImportOptions::default()
    };
    assert!(folder.import(&said).unwrap().socket("own").is_ok());
    assert!(folder.import(&ImportOptions::default()).is_err());
}

const MACHINE: &str =
    "[[layer]]\nname = 'body'\nentry = 'go'\nstate = [{ name = 'go', motion = { clip = 'Walk' } }]";

#[test]
fn the_state_machine_may_lie_in_a_file_of_its_own() {
    let folder = Folder::with("state_machine_file = 'more/doll.machine.toml'");
    folder.write("more/doll.machine.toml", MACHINE);
    let imported = folder.import(&ImportOptions::default()).unwrap();
    assert!(imported.state_machine().is_some());
    // Errors there name the file and the line.
    folder.write("more/doll.machine.toml", MACHINE.replace("Walk", "Wlak"));
    let error = folder.import(&ImportOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Description { .. }));
    error.says(
        "more/doll.machine.toml:4: layer \"body\", state 0 \"go\", motion.clip: clip \"Wlak\" \
         does not exist: there are Walk, Idle, Run",
    );
    // Descriptions that are given as data may name files, too, where there is a folder.
    let read = |path: &str| {
        assert_eq!(path, "machine.toml");
        Ok(MACHINE.as_bytes().to_vec())
    };
    let options = ImportOptions {
        animation: Some(AnimationDesc {
            state_machine_file: Some("machine.toml".into()),
            ..AnimationDesc::default()
        }),
        resources: Some(ResourceReader::new(read)),
        ..ImportOptions::default()
    };
    let imported = throng_import::bytes(MODEL.as_bytes(), &options).unwrap();
    assert!(imported.state_machine().is_some());
}

/// The rules of all other files that a model refers to.
#[test]
fn nothing_outside_of_the_folder_is_read() {
    for path in [
        "../machine.toml",
        "/machine.toml",
        "c:machine.toml",
        "a\\b.toml",
        "",
        "a/../../b",
        "\\u0007",
    ] {
        let folder = Folder::with(&format!(
            "\nstate_machine_file = \"{}\"",
            path.replace("\\b", "\\\\b")
        ));
        println!("{path}");
        folder
            .import(&ImportOptions::default())
            .fails("doll.toml:2: animation, state_machine_file: …");
    }
    Folder::with("state_machine_file = 'none.toml'")
        .import(&ImportOptions::default())
        .fails("doll.toml:1: animation, state_machine_file: …cannot be read…");
    #[cfg(unix)]
    {
        let (other, folder) = (Folder::with(""), Folder::with(""));
        std::fs::remove_file(folder.path().join("doll.toml")).unwrap();
        let link = folder.path().join("doll.toml");
        std::os::unix::fs::symlink(other.path().join("doll.toml"), link).unwrap();
        let error = folder.import(&ImportOptions::default()).unwrap_err();
        assert!(
            matches!(&error, Error::Asset { file, why: AssetFault::Resource { .. }, .. } if &**file == "doll.toml"),
            "{error}"
        );
    }
}

#[test]
fn large_and_broken_files_are_refused() {
    let large = "#".repeat(StateMachineDesc::MAX_TOML_BYTES + 1);
    Folder::with(&large)
        .import(&ImportOptions::default())
        .fails("doll.toml: animation: has 1048577 bytes…");
    let huge = "#".repeat(2 * StateMachineDesc::MAX_TOML_BYTES);
    Folder::with(&huge)
        .import(&ImportOptions::default())
        .fails("…exceeds the limit of…");
    let folder = Folder::with("");
    folder.write("doll.toml", b"# one\n[[mask]]\nname = '\xFF'");
    folder
        .import(&ImportOptions::default())
        .fails("doll.toml:3: animation: is not UTF-8");
}

/// Clips that join later bring their events, and the ids of those that there were stay.
#[test]
fn added_clips_bring_their_events() {
    let imported = Folder::with(WHOLE)
        .import(&ImportOptions::default())
        .unwrap();
    let other = MODEL.replace("\"left\"", "\"jump\"");
    let added =
        throng_import::add_clips_bytes(&imported, other.as_bytes(), &ImportOptions::default())
            .unwrap();
    let (before, after) = (&imported.character, &added.character);
    let walk = added.character.clip("Walk (2)").unwrap();
    let events: Vec<_> = after.events(walk).collect();
    assert_eq!(events, [("jump", 0.25), ("right", 0.75)]);
    for name in before.event_names() {
        assert_eq!(before.event(name).unwrap(), after.event(name).unwrap());
    }
    assert!(before.event("jump").is_err() && after.event("jump").is_ok());
    assert!(after.root_motion(Id::new(1)).is_some() && after.root_motion(walk).is_none());
}

/// The text of a description reads back as the same data.
#[test]
fn text_and_data_are_the_same() {
    let desc = AnimationDesc::from_toml("doll.toml", WHOLE).unwrap();
    let text = desc.to_toml().unwrap();
    let again = AnimationDesc::from_toml("again.toml", &text).unwrap();
    assert_eq!(again, desc, "{text}");
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn an_asset_takes_a_description() {
    let assets = std::env::var_os("THRONG_ASSETS").expect("THRONG_ASSETS");
    let folder = Folder::new();
    let fox = std::path::Path::new(&assets).join("Fox.glb");
    folder.write("fox.glb", std::fs::read(fox).unwrap());
    let text = r#"
[[mask]]
name = "head"
branches = [{ joint = "b_Neck_04", feather = 1 }]
[[clip]]
name = "Walk"
events = [{ name = "paw", time_s = 0.2 }]
root_motion = { joint = "b_Hip_01", axes = "xz", yaw = false, reference = "rest" }
[[additive]]
name = "Look"
clip = "Survey"
[[blend_space]]
name = "speed"
points = [{ at = 0.0, clip = "Survey" }, { at = 80.0, clip = "Walk" }, { at = 200.0, clip = "Run" }]
[[socket]]
name = "saddle"
joint = "b_Spine02_03"
[state_machine]
parameter = [{ name = "speed", kind = "float", min = 0.0 }]
[[state_machine.layer]]
name = "body"
entry = "move"
[[state_machine.layer.state]]
name = "move"
[state_machine.layer.state.motion.blend_1d]
parameter = "speed"
points = [{ at = 0.0, clip = "Survey" }, { at = 80.0, clip = "Walk" }, { at = 200.0, clip = "Run" }]
[[state_machine.layer]]
name = "look"
entry = "look"
additive = true
mask = "head"
state = [{ name = "look", motion = { clip = "Look" } }]
"#;
    folder.write("fox.toml", text);
    let options = ImportOptions::default();
    let fox = throng_import::file(folder.path().join("fox.glb"), &options).unwrap();
    assert!(fox.state_machine().is_some() && fox.root_motion(fox.clip("Walk").unwrap()).is_some());
    assert!(fox.clips()[fox.clip("Look").unwrap().index()].is_additive());
    assert_eq!(fox.blend_spaces()[0].clips().len(), 3);
    // Walk and Run have gaits, and Survey has none.
    let speed = |name| fox.gait(fox.clip(name).unwrap()).map(|gait| gait.speed_m_s);
    assert_eq!(speed("Survey"), None);
    assert!(speed("Run").unwrap() > speed("Walk").unwrap());
}

/// A motion that names a blend space of the character is the one that spells it out.
#[test]
fn a_motion_may_name_a_blend_space() {
    const POINTS: &str = "points = [{ at = 0, clip = 'Idle' }, { at = 1.5, clip = 'Walk' }]";
    let machine = |motion: &str| {
        let text = format!(
            "[[blend_space]]\nname = 'go'\n{POINTS}\n[[state_machine.parameter]]\nname = 'speed'\n\
             kind = 'float'\n[[state_machine.layer]]\nname = 'body'\nentry = 'a'\n\
             [[state_machine.layer.state]]\nname = 'a'\n[state_machine.layer.state.motion.{motion}"
        );
        Folder::with(&text)
            .import(&ImportOptions::default())
            .unwrap()
    };
    let named = machine("blend_space]\nname = 'go'\nparameters = ['speed']");
    let spelt = machine(&format!("blend_1d]\nparameter = 'speed'\n{POINTS}"));
    let of = |character: &Character| character.state_machine().cloned().unwrap();
    assert_eq!(of(&named), of(&spelt));
    let saved = named.character.to_bytes();
    let loaded = Character::from_bytes(&saved, &Default::default()).unwrap();
    assert_eq!(loaded, named.character);
}
