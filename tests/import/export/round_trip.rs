//! An export that is imported again gives the same character.

use super::{again, exported, json, model_pose, posed};
use crate::reference::assets::files;
use crate::reference::poser::Poser;
use crate::reference::random;
use crate::reference::raws;
use crate::reference::rng::Rng;
use crate::reference::sweep::is_thorough;
use throng::Id;
use throng::character::{AnimationDesc, Character, ClipDesc, EventDesc};
use throng::glam::{Affine3A, Vec3};
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::Primitive;
use throng::retarget::{JointMap, Retarget, RetargetOptions};

/// The bound of packing for a character, as `ClipOptions::error_m` defines it, and the distance
/// from a joint at which it is measured.
fn bound_m(character: &Character) -> [f32; 2] {
    let scale = character.rest_bounds().size().max_element() / 1.8;
    [1e-4 * scale, 0.03 * scale]
}

/// The largest distance between two poses, at points beside each joint.
fn distance_m(a: &[Affine3A], b: &[Affine3A], beside_m: f32) -> f32 {
    let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * beside_m);
    let joints = a.iter().zip(b);
    let distances = joints.flat_map(|(a, b)| {
        axes.map(|axis| a.transform_point3(axis).distance(b.transform_point3(axis)))
    });
    distances.fold(0.0, f32::max)
}

/// The pose of a packed clip, on top of the rest pose if it is additive.
fn packed_pose(character: &Character, clip: usize, time_s: f64) -> Vec<Affine3A> {
    let clip = &character.clips()[clip];
    let mut local = character.skeleton().rest_pose();
    clip.sample(time_s, &mut local).unwrap();
    if clip.is_additive() {
        for (local, joint) in local.iter_mut().zip(character.skeleton().joints()) {
            *local = raws::transform(
                joint.rest.translation + local.translation,
                joint.rest.rotation * local.rotation,
                joint.rest.scale * local.scale,
            );
        }
    }
    model_pose(character, &local)
}

/// The palette entry and the weight of every influence of a vertex.
fn influences(
    character: &Character,
    primitive: &Primitive,
    vertex: usize,
) -> Vec<(u16, Affine3A, f32)> {
    let palette = &character.palette()[character.palette_range(primitive)];
    let all = primitive
        .influences(vertex)
        .filter(|(_, weight)| *weight > 0.0);
    let mut all: Vec<_> = all
        .map(|(at, weight)| (palette[at].joint.0, palette[at].inverse_bind, weight))
        .collect();
    all.sort_by_key(|of| of.0);
    all
}

/// The primitive of the other character with the same vertices.
fn counterpart<'a>(other: &'a Character, primitive: &Primitive) -> &'a Primitive {
    let same = |it: &&Primitive| {
        it.part == primitive.part
            && it.positions == primitive.positions
            && it.indices == primitive.indices
    };
    let found = other.primitives().iter().find(same);
    found.unwrap_or_else(|| panic!("{}: {} is lost", other.name(), primitive.name))
}

fn check_meshes(was: &Character, is: &Character) {
    // Files have the full level alone.
    let was = &was.clone().without_levels();
    assert_eq!(was.primitives().len(), is.primitives().len());
    for before in was.primitives() {
        let after = counterpart(is, before);
        assert_eq!(before.normals, after.normals, "{}", before.name);
        assert_eq!(before.tangents, after.tangents, "{}", before.name);
        assert_eq!(before.uvs, after.uvs, "{}", before.name);
        assert_eq!(before.uvs1, after.uvs1, "{}", before.name);
        assert_eq!(before.colors, after.colors, "{}", before.name);
        assert_eq!(before.targets, after.targets, "{}", before.name);
        for vertex in 0..before.vertex_count() {
            assert_eq!(
                influences(was, before, vertex),
                influences(is, after, vertex),
                "{}, vertex {vertex}",
                before.name
            );
        }
        let material = |of: &Character, part: &Primitive| {
            let mut material = of.materials()[part.material as usize].clone();
            // glTF has no place for it.
            material.tint_by_alpha = false;
            material
        };
        let [mut a, b] = [material(was, before), material(is, after)];
        let images = |of: &Character, material: &throng::mesh::Material| {
            let textures = material.textures().into_iter().flatten();
            let images = textures.map(|texture| of.images()[texture.image as usize].clone());
            images.collect::<Vec<_>>()
        };
        assert!(images(was, &a) == images(is, &b), "{}", before.name);
        for (mine, other) in [
            (&mut a.base_color_texture, b.base_color_texture),
            (
                &mut a.metallic_roughness_texture,
                b.metallic_roughness_texture,
            ),
            (&mut a.normal_texture, b.normal_texture),
            (&mut a.occlusion_texture, b.occlusion_texture),
            (&mut a.emissive_texture, b.emissive_texture),
        ] {
            if let (Some(mine), Some(other)) = (mine, other) {
                // Transforms are written as offset, rotation and scale.
                assert!(mine.transform.abs_diff_eq(other.transform, 1e-5));
                (mine.transform, mine.image) = (other.transform, other.image);
            }
        }
        assert_eq!(a, b, "{}", before.name);
        for (target, _) in before.targets.iter().enumerate() {
            let weight = |of: &Character, part: &Primitive| {
                let weight = &of.morph_weights()[part.first_weight.index() + target];
                (weight.name.clone(), weight.rest)
            };
            assert_eq!(weight(was, before), weight(is, after));
        }
    }
}

/// Checks everything but the poses of clips. `is` was imported with its description.
fn check_rest(was: &Character, is: &Character) {
    assert_eq!(was.skeleton(), is.skeleton(), "{}", was.name());
    check_meshes(was, is);
    assert_eq!(was.clips().len(), is.clips().len());
    for (index, (before, after)) in (0..).zip(was.clips().iter().zip(is.clips())) {
        assert_eq!(before.name(), after.name());
        assert_eq!(before.duration_s(), after.duration_s(), "{}", before.name());
        assert_eq!(before.is_additive(), after.is_additive());
        let events = |of: &Character| -> Vec<(String, f64)> {
            let events = of.events(Id::new(index));
            events.map(|(name, time_s)| (name.into(), time_s)).collect()
        };
        assert_eq!(events(was), events(is), "{}", before.name());
    }
    let sockets = |of: &Character| {
        let sockets = of.sockets().iter().cloned();
        sockets.collect::<Vec<_>>()
    };
    assert_eq!(sockets(was), sockets(is));
    assert_eq!(was.masks(), is.masks());
    assert_eq!(was.state_machine(), is.state_machine());
}

/// Times between the keys, and the ends.
fn times(rng: &mut Rng, duration_s: f64) -> Vec<f64> {
    let between = (0..20).map(|_| f64::from(rng.range(0.0, 1.0)) * duration_s);
    let between: Vec<f64> = between.collect();
    [vec![0.0, duration_s], between].concat()
}

/// The largest ratio of a difference between two packed clips to the bound, over all clips.
fn worst(was: &Character, is: &Character) -> f32 {
    let [bound_m, beside_m] = bound_m(was);
    let mut rng = Rng::new(7);
    let mut worst = 0.0_f32;
    for (clip, before) in was.clips().iter().enumerate() {
        for time_s in times(&mut rng, before.duration_s()) {
            let poses = [was, is].map(|of| packed_pose(of, clip, time_s));
            let far_m = distance_m(&poses[0], &poses[1], beside_m);
            worst = worst.max(far_m / bound_m);
            let weights = [was, is].map(|of| {
                let mut weights = vec![0.0; of.morph_weights().len()];
                let clip = &of.clips()[clip];
                clip.sample_weights(time_s, |id, weight| weights[id.index()] = weight);
                weights
            });
            for (a, b) in weights[0].iter().zip(&weights[1]) {
                // A weight is off by at most 1e-3.
                assert!((a - b).abs() <= 1e-3, "{}: {a} {b}", before.name());
            }
        }
    }
    worst
}

/// A character without curves, which is written from its packed clips.
fn check_packed(was: &Character) {
    assert!(was.curves().is_empty());
    let exported = exported(was);
    // The curves in the file are those of the packed clips: only rounding is between them.
    let curves = again(&exported, ImportOptions::curves_only());
    let [bound_m, beside_m] = bound_m(was);
    let mut rng = Rng::new(3);
    let mut poser = Poser::new();
    let mut off = 0.0_f32;
    for (clip, before) in was.clips().iter().enumerate() {
        for time_s in times(&mut rng, before.duration_s()) {
            let pose = packed_pose(was, clip, time_s);
            if !before.is_additive() {
                let after = poser.pose(&curves, Some((clip, time_s))).unwrap();
                off = off.max(distance_m(&pose, after, beside_m) / bound_m);
            }
        }
    }
    let is = again(&exported, ImportOptions::default());
    check_rest(was, &is);
    let packed = worst(was, &is);
    println!(
        "{}: curves {off:.4}, packed again {packed:.4} of the bound",
        was.name()
    );
    // Measured: up to 0.05.
    assert!(off < 0.1, "{}: {off}", was.name());
    assert!(packed <= 1.0, "{}: {packed}", was.name());
}

/// A character with curves, which is written from them.
fn check_curves(was: &Character) {
    assert_eq!(was.curves().len(), was.clips().len());
    let exported = exported(was);
    let is = again(&exported, with_curves());
    check_rest(was, &is);
    for (before, after) in was.curves().iter().zip(is.curves()) {
        assert_eq!(before.start_s(), after.start_s(), "{}", before.name());
        let mut rng = Rng::new(5);
        for time_s in times(&mut rng, before.duration_s().into()) {
            let locals = [(was, before), (&*is, after)].map(|(of, curves)| {
                let mut local = of.skeleton().rest_pose();
                curves.sample(time_s, &mut local).unwrap();
                model_pose(of, &local)
            });
            let [bound_m, beside_m] = bound_m(was);
            let far_m = distance_m(&locals[0], &locals[1], beside_m);
            // Nothing but the rounding of quaternions.
            assert!(far_m <= bound_m * 0.05, "{}: {far_m} m", before.name());
        }
    }
    let ratio = worst(was, &is);
    println!("{}: packed again {ratio:.4} of the bound", was.name());
    assert!(ratio <= 2.0, "{}: {ratio}", was.name());
}

#[test]
fn the_built_in_character_survives() {
    check_packed(&throng::builtin::mannequin().unwrap());
    let with_curves = RawCharacter::mannequin().build(&with_curves());
    check_curves(&with_curves.unwrap());
}

#[test]
fn published_models_survive() {
    for (number, file) in files().iter().enumerate() {
        if is_thorough() || number % 2 == 0 {
            check_packed(&throng_import::file(file, &ImportOptions::default()).unwrap());
        }
        if is_thorough() || number % 2 == 1 {
            check_curves(&throng_import::file(file, &with_curves()).unwrap());
        }
    }
}

#[test]
fn retargeted_clips_survive() {
    let from = RawCharacter::mannequin().build(&with_curves());
    let from = from.unwrap().character;
    let onto = throng::builtin::mannequin().unwrap().character;
    let map = JointMap::humanoid(from.skeleton(), onto.skeleton()).unwrap();
    let options = RetargetOptions::default();
    let mut retarget = Retarget::new(from.skeleton(), onto.skeleton(), &map, &options).unwrap();
    let step = EventDesc {
        name: "step".into(),
        time_s: 0.25,
    };
    let curves = from.curves().iter().map(|clip| {
        let (made, _) = retarget.clip(clip).unwrap();
        made.with_name(&format!("{} again", clip.name()))
    });
    let curves: Vec<_> = curves.collect();
    let events = curves.iter().map(|clip| ClipDesc {
        name: clip.name().into(),
        events: vec![step.clone()],
        ..ClipDesc::default()
    });
    let desc = AnimationDesc {
        clips: events.collect(),
        ..onto.animation_desc().clone()
    };
    let more = onto.with_clips(curves).unwrap();
    check_packed(&more.with_animation(&desc).unwrap());
}

#[cfg(feature = "ezm")]
#[test]
fn an_ezm_file_survives() {
    let options = |options: ImportOptions| ImportOptions {
        name: "girl.ezm".into(),
        ..options
    };
    let text = crate::samples::ezm_text();
    let read = |of| throng_import::bytes(text.as_bytes(), &options(of)).unwrap();
    check_packed(&read(ImportOptions::default()));
    check_curves(&read(with_curves()));
}

#[cfg(feature = "wgl")]
#[test]
fn a_webgl_model_survives() {
    use crate::samples::{WGL_CLIP, WGL_MODEL, import_wgl, wgl_triangle};
    let options = ImportOptions {
        name: "player".into(),
        ..ImportOptions::default()
    };
    let player = import_wgl(WGL_MODEL.as_bytes(), &wgl_triangle(), &options).unwrap();
    let options = ImportOptions {
        name: "run.wglanim".into(),
        ..ImportOptions::default()
    };
    let player = throng_import::add_clips_bytes(&player, WGL_CLIP.as_bytes(), &options).unwrap();
    assert!(!player.clips().is_empty());
    check_packed(&player);
}

#[cfg(feature = "fbx")]
#[test]
fn an_fbx_file_survives() {
    let text = crate::ascii::arm().0.text();
    let read = |of| throng_import::bytes(text.as_bytes(), &of).unwrap();
    check_packed(&read(ImportOptions::default()));
    check_curves(&read(with_curves()));
}

/// Joints that occur in one skin several times, several hierarchies, flipped and flat scales,
/// splines and steps: every vertex stays where it is.
#[test]
fn vertices_of_odd_characters_stay() {
    let mut nodes_added = 0;
    for seed in 0..60 {
        let raw = match seed % 2 {
            0 => random::character(seed),
            _ => random::morphing(seed),
        };
        let was = raw.build(&ImportOptions::curves_only()).unwrap().character;
        let exported = exported(&was);
        let root = json(&exported);
        nodes_added += usize::from(!exported.omissions.is_empty());
        let is = again(&exported, ImportOptions::curves_only());
        let drawn = |of: &Character| {
            of.primitives()
                .iter()
                .map(|p| p.indices.len())
                .sum::<usize>()
        };
        assert_eq!(drawn(&was), drawn(&is), "seed {seed}");
        let size_m = was.rest_bounds().size().max_element();
        for clip in [None, Some(0), Some(1)] {
            for time_s in [0.0, 0.37, 1.9] {
                let poses = [&was, &is.character].map(|of| {
                    let mut poser = Poser::new();
                    poser.pose(of, clip.map(|clip| (clip, time_s))).unwrap();
                    posed(of, poser.local(), poser.weights())
                });
                for (primitive, points) in was.primitives().iter().zip(&poses[0]) {
                    let same = |it: &&Primitive| {
                        it.positions == primitive.positions && it.indices == primitive.indices
                    };
                    let found = is.primitives().iter().position(|it| same(&it));
                    let found = found.unwrap_or_else(|| panic!("seed {seed}: {}", primitive.name));
                    for (a, b) in points.iter().zip(&poses[1][found]) {
                        let far_m = a.distance(*b);
                        assert!(
                            far_m <= 1e-4 * size_m,
                            "seed {seed}, {}, clip {clip:?} at {time_s}: {far_m} m\n{:#}",
                            primitive.name,
                            root["skins"]
                        );
                    }
                }
            }
        }
    }
    assert!(
        nodes_added > 10,
        "{nodes_added}: the characters are not odd"
    );
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
