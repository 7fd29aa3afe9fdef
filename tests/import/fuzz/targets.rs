//! The fuzz targets: one for each reader.
//!
//! `cargo test` runs them over the stored corpus and mutations of it (`readers.rs`). `scripts/fuzz`
//! runs the same functions under libFuzzer, which is guided by coverage (`fuzz/main.rs`).

use super::invariants::{digest, digest_by, options};
use super::seeds::seeds;
use crate::builder::arm;
use crate::reference::handles::Handles;
use crate::reference::signed::{HEADER, sign};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use throng::animator::{Animator, AnimatorSnapshot, Play, RootMotionMode};
use throng::character::Character;
use throng::glam::Vec3;
use throng::ik::{TwoBone, TwoBoneTarget};
use throng::import::{ImportOptions, RawCharacter};
use throng::skeleton::Transform;

/// A reader: its name, which is that of its folder in the corpus, and what it does with an input.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Returns true if the input was accepted.
    pub(crate) read: fn(&[u8]) -> bool,
    /// Inputs besides those of the corpus.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
}

pub(crate) static TARGETS: &[Target] = &[
    Target {
        name: "gltf",
        read: |bytes| digest(bytes) && packed(bytes),
        seeds,
    },
    #[cfg(feature = "fbx")]
    Target {
        name: "fbx",
        read: |bytes| digest_by(bytes, "fuzz.fbx", throng_import::bytes),
        seeds: fbx_seeds,
    },
    #[cfg(feature = "ezm")]
    Target {
        name: "ezm",
        read: ezm,
        seeds: || vec![crate::samples::ezm_text().into_bytes()],
    },
    #[cfg(feature = "wgl")]
    Target {
        name: "wgl",
        read: wgl,
        seeds: || vec![wgl_seed()],
    },
    #[cfg(feature = "wgl")]
    Target {
        name: "wgl_clip",
        read: wgl_clip,
        seeds: || vec![crate::samples::WGL_CLIP.as_bytes().to_vec()],
    },
    #[cfg(feature = "ktx2")]
    Target {
        name: "ktx2",
        read: ktx2,
        seeds: || KTX2_SEEDS.map(<[u8]>::to_vec).into(),
    },
    Target {
        name: "saved",
        read: saved,
        seeds: saved_seeds,
    },
    Target {
        name: "state_machine",
        read: state_machine,
        seeds: Vec::new,
    },
    Target {
        name: "animation",
        read: animation,
        seeds: Vec::new,
    },
    Target {
        name: "serde",
        read: serde,
        seeds: serde_seeds,
    },
    Target {
        name: "snapshot",
        read: snapshot,
        seeds: snapshot_seeds,
    },
];

/// The built-in character, for which descriptions are built.
fn character() -> &'static Character {
    static CHARACTER: LazyLock<Character> = LazyLock::new(|| {
        RawCharacter::mannequin()
            .build(&with_curves())
            .unwrap()
            .character
    });
    &CHARACTER
}

/// Imports a file again, with packed clips.
fn packed(bytes: &[u8]) -> bool {
    let options = ImportOptions {
        curves: false,
        packing: ImportOptions::default().packing,
        ..options("fuzz.gltf")
    };
    let imported = throng_import::bytes(bytes, &options);
    for clip in imported.iter().flat_map(|imported| imported.clips()) {
        let mut pose = vec![Transform::IDENTITY; imported.as_ref().unwrap().skeleton().len()];
        clip.sample(0.4, &mut pose).unwrap();
    }
    imported.is_ok()
}

/// The arm, and the arm with a second node for its mesh and a shape in between.
#[cfg(feature = "fbx")]
fn fbx_seeds() -> Vec<Vec<u8>> {
    use crate::ascii::{arm, list};
    let (one, numbers) = arm();
    let mut two = one.clone();
    let at = [("GeometricTranslation", [0.0, 0.0, 70.0])];
    let node = two.node("Second", "Mesh", 0, &at);
    two.connect(numbers.geometry, node);
    two.objects = two.objects.replace("*1 { a: 100 }", "*2 { a: 50,100 }");
    let body = format!("Indexes: {}\nVertices: {}", list(&[2]), list(&[0, 0, 40]));
    let shape = two.object("Geometry", "Geometry::full", "Shape", &body);
    two.connect(shape, numbers.channel);
    [one, two].map(|file| file.text().into_bytes()).into()
}

/// Imports an EZMesh file, and adds its clips to itself.
#[cfg(feature = "ezm")]
fn ezm(bytes: &[u8]) -> bool {
    let name = "fuzz.ezm";
    if let Ok(imported) = throng_import::bytes(bytes, &options(name)) {
        let _ = throng_import::add_clips_bytes(&imported, bytes, &options(name));
    }
    digest_by(bytes, name, throng_import::bytes)
}

#[cfg(feature = "ktx2")]
const KTX2_SEEDS: [&[u8]; 4] = [
    include_bytes!("../pictures/astc.ktx2"),
    include_bytes!("../pictures/etc1s.ktx2"),
    include_bytes!("../pictures/etc1s_alpha.ktx2"),
    include_bytes!("../pictures/uastc.ktx2"),
];

/// Imports a triangle whose base colour is this image, in all targets, and decodes it.
#[cfg(feature = "ktx2")]
fn ktx2(bytes: &[u8]) -> bool {
    use serde_json::json;
    use throng::import::TextureTarget::{Astc, Bc, Etc2, Rgba8};
    let mut b = crate::builder::triangle();
    let view = b.view(bytes);
    b.json["images"] = json!([{ "bufferView": view }]);
    b.json["textures"] = json!([{ "source": 0 }]);
    b.json["materials"] =
        json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    b.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let read = [Bc, Astc, Etc2, Rgba8].map(|textures| {
        let options = ImportOptions {
            textures,
            ..options("fuzz.glb")
        };
        let imported = throng_import::bytes(&b.glb(), &options);
        imported.is_ok_and(|imported| {
            let image = &imported.images()[0];
            let texels = image.width as usize * image.height as usize;
            assert_eq!(image.rgba().unwrap().len(), texels * 4);
            &*image.name != "placeholder"
        })
    });
    read.contains(&true)
}

/// A model's length in two bytes, the model, and its vertices.
#[cfg(feature = "wgl")]
fn wgl_seed() -> Vec<u8> {
    let model = crate::samples::WGL_MODEL.as_bytes();
    let mut seed = (model.len() as u16).to_le_bytes().to_vec();
    seed.extend_from_slice(model);
    seed.extend(crate::samples::wgl_triangle());
    seed
}

#[cfg(feature = "wgl")]
fn wgl(bytes: &[u8]) -> bool {
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else {
        return false;
    };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (model, vertices) = rest.split_at(length);
    digest_by(bytes, "fuzz.wglmodel", |_, options| {
        crate::samples::import_wgl(model, vertices, options)
    })
}

#[cfg(feature = "wgl")]
fn wgl_clip(bytes: &[u8]) -> bool {
    use crate::samples::{WGL_MODEL, import_wgl, wgl_triangle};
    use throng::import::Imported;
    static MODEL: LazyLock<Imported> = LazyLock::new(|| {
        let options = options("fuzz.wglmodel");
        import_wgl(WGL_MODEL.as_bytes(), &wgl_triangle(), &options).unwrap()
    });
    let added = throng_import::add_clips_bytes(&MODEL, bytes, &options("fuzz.wglanim"));
    for clip in added.iter().flat_map(|added| added.curves()) {
        assert!(clip.duration_s() >= 0.0);
    }
    added.is_ok()
}

/// Reads a saved character, with the checksum that fits its bytes.
fn saved(bytes: &[u8]) -> bool {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= HEADER {
        sign(&mut bytes);
    }
    let read = Character::from_bytes(&bytes, &Default::default());
    if let Ok(character) = &read {
        let again = Character::from_bytes(&character.to_bytes(), &Default::default()).unwrap();
        assert_eq!(again.skeleton().len(), character.skeleton().len());
        let mut pose = vec![Transform::IDENTITY; character.skeleton().len()];
        for clip in character.clips() {
            clip.sample(0.4, &mut pose).unwrap();
        }
    }
    read.is_ok()
}

fn saved_seeds() -> Vec<Vec<u8>> {
    let files = [arm().glb()];
    let options = with_curves();
    let characters = files
        .iter()
        .map(|file| throng_import::bytes(file, &options).unwrap());
    characters.map(|one| one.character.to_bytes()).collect()
}

fn state_machine(bytes: &[u8]) -> bool {
    use throng::state_machine::StateMachine;
    let text = String::from_utf8_lossy(bytes);
    StateMachine::from_toml("fuzz.toml", &text, character()).is_ok()
}

fn animation(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let character = character().clone();
    character.with_animation_toml("fuzz.toml", &text).is_ok()
}

/// Reads a state machine by serde, from JSON, and writes and reads it as TOML.
fn serde(bytes: &[u8]) -> bool {
    use throng::character::AnimationDesc;
    use throng::state_machine::StateMachineDesc;
    let Ok(desc) = serde_json::from_slice::<StateMachineDesc>(bytes) else {
        return false;
    };
    if let Ok(text) = desc.to_toml() {
        let _ = StateMachineDesc::from_toml("fuzz.toml", &text);
    }
    let animation = AnimationDesc {
        state_machine: Some(desc),
        ..AnimationDesc::default()
    };
    character().clone().with_animation(&animation).is_ok()
}

fn serde_seeds() -> Vec<Vec<u8>> {
    use throng::state_machine::StateMachineDesc;
    let folder = corpus("state_machine");
    let texts = folder.iter().map(|bytes| String::from_utf8_lossy(bytes));
    let descs = texts.map(|text| StateMachineDesc::from_toml("seed.toml", &text).unwrap());
    descs
        .map(|desc| serde_json::to_vec(&desc).unwrap())
        .collect()
}

/// Three actors of the built-in character, of which one fades, one reaches and one was removed.
fn actors() -> Animator {
    let mut animator = Animator::new(character()).unwrap();
    let joint = |name| character().skeleton().joint(name).unwrap();
    let arm = TwoBone {
        start: joint("LeftUpperArm"),
        mid: joint("LeftLowerArm"),
        end: joint("LeftHand"),
        hinge: None,
        soften: 1.0,
    };
    let solver = animator.add_solver(arm).unwrap();
    let ids = [0.0, 0.3, 0.6].map(|offset_s| animator.add(Play::new("Walk").offset_s(offset_s)));
    let ids = ids.map(Result::unwrap);
    animator.update(0.5).unwrap();
    let mut play = |id, play| animator.live_mut(id).play(play).unwrap();
    play(ids[0], Play::new("Run").fade_s(0.5));
    play(ids[1], Play::new("Wave").inertial_s(0.5));
    let target = TwoBoneTarget::at(Vec3::ONE);
    let mut reaching = animator.live_mut(ids[0]);
    reaching.set_target(solver, target, 0.3).unwrap();
    reaching.set_root_motion(RootMotionMode::Apply);
    animator.remove(ids[2]).unwrap();
    animator
}

/// Reads a snapshot from JSON, and goes on with it.
fn snapshot(bytes: &[u8]) -> bool {
    let Ok(snapshot) = serde_json::from_slice::<AnimatorSnapshot>(bytes) else {
        return false;
    };
    let mut animator = actors();
    let saved = |animator: &Animator| serde_json::to_string(&animator.snapshot()).unwrap();
    let before = saved(&animator);
    if animator.restore(&snapshot).is_err() {
        assert_eq!(saved(&animator), before);
        return false;
    }
    let ids: Vec<_> = animator.actors().collect();
    let mut pose = vec![Transform::IDENTITY; ids.len() * character().skeleton().len()];
    for _ in 0..3 {
        let _ = animator.update(animator.now_s() + 0.1);
        animator.local_poses(&ids, &mut pose).unwrap();
    }
    for id in ids {
        animator
            .live_mut(id)
            .play(Play::new("Idle").inertial_s(0.2))
            .unwrap();
        animator.remove(id).unwrap();
    }
    animator.add("Walk").unwrap();
    true
}

fn snapshot_seeds() -> Vec<Vec<u8>> {
    vec![serde_json::to_vec(&actors().snapshot()).unwrap()]
}

/// The stored inputs of a target, ordered by their names.
pub(super) fn corpus(name: &str) -> Vec<Vec<u8>> {
    // The crate in `fuzz` has a manifest of its own, one folder below.
    let roots = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folder = roots
        .map(|root| root.join("tests/import/fuzz/corpus"))
        .find(|folder| folder.is_dir())
        .expect("the corpus");
    let Ok(entries) = std::fs::read_dir(folder.join(name)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
