//! Characters as assets: formats, errors, dependencies and reloads.

use crate::support::{self, messages, model, run};
use bevy::asset::LoadState;
use bevy::prelude::*;
use bevy_throng::{AttachedTo, Character3d, CharacterAsset, HiddenParts, Instance, Plays, Throng};
use std::path::PathBuf;

fn load(app: &mut App, path: &str) -> (Handle<CharacterAsset>, LoadState) {
    let server = app.world().resource::<AssetServer>().clone();
    let handle = server.load(path.to_owned());
    for _ in 0..500 {
        app.update();
        std::thread::sleep(std::time::Duration::from_millis(2));
        match server.load_state(&handle) {
            LoadState::Loading | LoadState::NotLoaded => {}
            state => return (handle, state),
        }
    }
    panic!("{path} is never loaded");
}

/// An empty folder of this test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bevy_throng-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn files_and_what_they_refer_to_are_loaded() {
    let Some(folder) = model("") else { return };
    let mut app = support::with_assets(&folder);
    for name in [
        "CesiumMan.glb",
        "Fox.glb",
        "SimpleSkin.gltf",
        "AnimatedMorphCube/AnimatedMorphCube.gltf",
    ] {
        if !folder.join(name).exists() {
            continue;
        }
        let (handle, state) = load(&mut app, name);
        assert!(state.is_loaded(), "{name}: {state:?}");
        let assets = app.world().resource::<Assets<CharacterAsset>>();
        let asset = assets.get(&handle).unwrap();
        assert!(!asset.character().clips().is_empty(), "{name}");
    }
    messages::expect_none();
}

/// A triangle, whose vertices are in another file.
const TRIANGLE: &str = r#"{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
    "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
    "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3",
        "min":[0,0,0],"max":[1,1,0]}],
    "bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"uri":"gone.bin","byteLength":36}]}"#;

#[test]
fn faults_of_files_are_bevys_errors() {
    let folder = folder("faults");
    std::fs::write(folder.join("empty.glb"), b"").unwrap();
    std::fs::write(folder.join("cut.throng"), b"throng").unwrap();
    std::fs::write(folder.join("gone.gltf"), TRIANGLE).unwrap();
    let out = TRIANGLE.replace("gone.bin", "../gone.bin");
    std::fs::write(folder.join("out.gltf"), out).unwrap();
    let mut app = support::with_assets(&folder);
    for (name, says) in [
        ("empty.glb", "empty.glb"),
        ("cut.throng", "cut.throng"),
        ("gone.gltf", "gone.bin"),
        ("out.gltf", "../gone.bin"),
        ("none.glb", "none.glb"),
    ] {
        let (_, state) = load(&mut app, name);
        let LoadState::Failed(why) = &state else {
            panic!("{name}: {state:?}")
        };
        let why = why.to_string();
        assert!(why.contains(says), "{name}: {why}");
    }
    messages::expect_none();
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_reload_replaces_the_character_in_place() {
    let folder = folder("reload");
    let whole = throng::builtin::mannequin().unwrap().character;
    std::fs::write(folder.join("person.throng"), whole.to_bytes()).unwrap();
    let mut app = support::with_assets(&folder);
    let (handle, state) = load(&mut app, "person.throng");
    assert!(state.is_loaded(), "{state:?}");
    let parts = (Character3d(handle.clone()), Plays::new("Walk"));
    let person = app.world_mut().spawn(parts).id();
    run(&mut app, 4);
    let before = app.world().get::<Instance>(person).copied().unwrap();
    let levels = |app: &App| {
        let lock = app.world().resource::<Throng>().clone();
        let lock = lock.lock().unwrap();
        let character = lock.character(&handle).unwrap();
        throng::Crowd::character(&lock, character)
            .unwrap()
            .levels()
            .len()
    };
    assert!(levels(&app) > 1);
    std::fs::write(
        folder.join("person.throng"),
        whole.without_levels().to_bytes(),
    )
    .unwrap();
    app.world()
        .resource::<AssetServer>()
        .reload("person.throng");
    for _ in 0..300 {
        app.update();
        std::thread::sleep(std::time::Duration::from_millis(2));
        if levels(&app) == 0 {
            break;
        }
    }
    assert_eq!(levels(&app), 0);
    assert_eq!(app.world().get::<Instance>(person), Some(&before));
    // The last handle is gone: so is the character, once nobody has it.
    app.world_mut().despawn(person);
    drop(handle);
    run(&mut app, 6);
    let throng = app.world().resource::<Throng>().clone();
    assert_eq!(throng.lock().unwrap().characters().count(), 0);
    messages::expect_none();
    std::fs::remove_dir_all(folder).unwrap();
}

/// An asset that was removed while people have it may come back, and stays then.
#[test]
fn a_removed_asset_can_come_back() {
    let mut app = support::app();
    let id = bevy::asset::uuid::Uuid::from_u128(7);
    let handle = Handle::<CharacterAsset>::from(id);
    let put = |app: &mut App| {
        let mut assets = app.world_mut().resource_mut::<Assets<CharacterAsset>>();
        let asset = CharacterAsset::mannequin().unwrap();
        assets.insert(&handle, asset).unwrap();
    };
    let spawn = |app: &mut App| {
        let parts = (Character3d(handle.clone()), Plays::new("Walk"));
        app.world_mut().spawn(parts).id()
    };
    put(&mut app);
    let first = spawn(&mut app);
    run(&mut app, 4);
    assert!(app.world().get::<Instance>(first).is_some());
    app.world_mut()
        .resource_mut::<Assets<CharacterAsset>>()
        .remove(&handle);
    run(&mut app, 3);
    put(&mut app);
    run(&mut app, 3);
    app.world_mut().despawn(first);
    run(&mut app, 4);
    let second = spawn(&mut app);
    run(&mut app, 4);
    assert!(app.world().get::<Instance>(second).is_some());
    messages::expect_none();
}

/// A version of a file may lack a clip, a part or a joint that entities name. The next version has
/// them again, and so have the entities.
#[test]
fn a_later_version_gives_back_what_one_lacked() {
    let folder = folder("versions");
    let whole = throng::builtin::mannequin().unwrap().character;
    let file = folder.join("person.throng");
    std::fs::write(&file, whole.to_bytes()).unwrap();
    let bare = throng::import::RawPrimitive::cuboid(throng::glam::Vec3::ONE);
    let bare = bare.build_rigid(Default::default()).unwrap().character;
    let mut app = support::with_assets(&folder);
    let (handle, state) = load(&mut app, "person.throng");
    assert!(state.is_loaded(), "{state:?}");
    let part = whole.parts().next().unwrap().1.to_owned();
    let parts = (
        Name::new("Proteus"),
        Character3d(handle.clone()),
        Plays::new("Walk"),
        HiddenParts(vec![part.clone().into()]),
    );
    let person = app.world_mut().spawn(parts).id();
    let to = AttachedTo::new(person, support::last_joint());
    let rider = app
        .world_mut()
        .spawn((
            Name::new("Proteus"),
            Character3d(handle.clone()),
            Plays::new("Idle"),
            to,
        ))
        .id();
    run(&mut app, 6);
    let looks = |app: &App| {
        let lock = app.world().resource::<Throng>().lock().unwrap();
        let it = lock.instance(support::id(app, person)).unwrap();
        let rider = lock.instance(support::id(app, rider)).unwrap();
        let hides = it.is_part_visible(&*part).map(|seen| !seen);
        (
            it.playing().count() + rider.playing().count(),
            hides.unwrap_or(false),
            rider.attachment().is_some(),
        )
    };
    assert_eq!(looks(&app), (2, true, true));
    messages::wait_for("person.throng was replaced");
    messages::wait_for("Proteus: ");
    for (bytes, wanted) in [
        (bare.to_bytes(), (0, false, false)),
        (whole.to_bytes(), (2, true, true)),
    ] {
        std::fs::write(&file, bytes).unwrap();
        app.world()
            .resource::<AssetServer>()
            .reload("person.throng");
        for _ in 0..200 {
            run(&mut app, 2);
            std::thread::sleep(std::time::Duration::from_millis(2));
            if looks(&app) == wanted {
                break;
            }
        }
        assert_eq!(looks(&app), wanted);
    }
    for text in ["person.throng was replaced", "Proteus: "] {
        assert!(!messages::awaited(text).is_empty(), "{text}");
    }
    messages::expect_none();
    std::fs::remove_dir_all(folder).unwrap();
}

/// A version whose instances need more room than the crowd has.
#[test]
fn a_later_version_may_be_larger() {
    let mut app = support::app();
    let small = throng::import::RawPrimitive::cuboid(throng::glam::Vec3::ONE);
    let small = small.build_rigid(Default::default()).unwrap().character;
    let large = throng::builtin::mannequin().unwrap().character;
    let handle = support::asset(&mut app, small);
    // The crowd has room for 65,536 palette entries.
    let count = 65_536 / large.skeleton().len() + 1;
    let people = (0..count).map(|_| Character3d(handle.clone()));
    app.world_mut().spawn_batch(people.collect::<Vec<_>>());
    run(&mut app, 8);
    let joints = |app: &App| {
        let lock = app.world().resource::<Throng>().lock().unwrap();
        assert_eq!(lock.instances().len(), count);
        let id = lock.character(&handle).unwrap();
        let character = throng::Crowd::character(&lock, id).unwrap();
        character.skeleton().len()
    };
    assert_eq!(joints(&app), 1);
    let wanted = large.skeleton().len();
    let mut assets = app.world_mut().resource_mut::<Assets<CharacterAsset>>();
    assets.insert(&handle, CharacterAsset::new(large)).unwrap();
    run(&mut app, 3);
    assert_eq!(joints(&app), wanted);
    messages::expect_none();
}
