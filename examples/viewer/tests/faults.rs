//! Faults of files and of the command line, and what the viewer says about itself.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use throng::Stats;
use throng::glam::Vec3;
use throng::import::{ImportOptions, RawCharacter, RawKeys, RawPrimitive};
use throng::mesh::Material;

use super::{animated, args, file};
use crate::app::Action;
use crate::args::{Args, Look};
use crate::camera::Angle;
use crate::headless::{Studio, with_studio};
use crate::keys::Command;
use crate::panels::plots::drawn_text;
use crate::subject::list_names;

/// A file of clips that fails is named. The model is shown.
#[test]
fn a_file_of_clips_that_fails_is_named_and_the_model_is_shown() {
    let other = file("block.throng");
    let block = RawPrimitive::cuboid(Vec3::ONE);
    let block = RawCharacter::rigid("block", vec![block], Vec::new());
    let block = block.build(&ImportOptions::default());
    std::fs::write(&other, block.expect("a block").character.to_bytes()).expect("a file");
    for clips in [other, file("no_clips.glb")] {
        let name = clips.file_name().expect("a name").to_string_lossy();
        let text = clips.to_string_lossy();
        let ran = with_studio(&args(&["builtin", "--clips", &text]), |studio| {
            assert!(studio.app.subject.is_some());
            assert_eq!(studio.app.messages.len(), 1);
            let error = studio.shoot().unwrap_err().to_string();
            assert!(error.contains(&*name), "{error}");
            studio.act(Action::ClearMessages)?;
            studio.shoot()?;
            Ok(())
        });
        ran.expect("a viewer");
    }
}

#[test]
fn only_files_that_loaded_are_listed() {
    let ran = with_studio(&args(&["builtin"]), |studio| {
        studio.app.open(&file("missing.glb"));
        assert!(studio.load().is_err());
        assert_eq!(studio.app.files, [PathBuf::from("builtin")]);
        studio.app.open(&animated());
        studio.load()?;
        assert_eq!(studio.app.files, [PathBuf::from("builtin"), animated()]);
        Ok(())
    });
    ran.expect("a viewer");
}

#[test]
fn files_of_one_name_are_listed_with_their_folders() {
    let files = ["a/Fox.glb", "b/Fox.glb", "Fox.glb", "b/Knight.glb"];
    let files = files.map(PathBuf::from);
    let names = ["Fox.glb (a)", "Fox.glb (b)", "Fox.glb (.)", "Knight.glb"];
    assert_eq!(list_names(&files), names);
}

#[test]
fn escape_closes_the_help_first() {
    let ran = with_studio(&args(&["builtin"]), |studio| {
        studio.app.command(Command::ToggleHelp)?;
        studio.app.command(Command::Close)?;
        assert!(!studio.app.settings.help && !studio.app.closed);
        studio.app.command(Command::Close)?;
        assert!(studio.app.closed);
        Ok(())
    });
    ran.expect("a viewer");
}

/// Negative numbers are values that are out of range, not unknown options.
#[test]
fn the_command_line_says_what_it_expects() {
    let refused = |more: &[&str]| -> String {
        let all = ["viewer", "--screenshot", "unused.png"];
        let parsed = Args::try_parse_from(all.iter().chain(more)).and_then(Args::checked);
        parsed.expect_err("a mistake").to_string()
    };
    for (more, said) in [
        (["--time", "-1"], "expected seconds, from 0 to 1e9"),
        (["--fps", "-1"], "expected frames per second, from 1 to 100"),
        (["--instances", "-1"], "-1 is not in 1..=10000"),
        (["--camera", "-90"], "expected YAW,PITCH"),
        (["--camera", "0,91"], "a pitch from -90 to 90"),
        (["--camera", "0,0,0"], "expected a distance in metres"),
        (["--camera", "nan,0"], "expected YAW,PITCH"),
        (["--light", "-1"], "a strength from 0 to 100"),
        (["--light", "1,2,3,4"], "expected STRENGTH"),
        (["--fov", "0"], "expected degrees, from 1 to 150"),
        (
            ["--level", "-1"],
            "expected a level of detail, from 0, or auto",
        ),
        (["--level", "full"], "expected a level of detail"),
        (["--background", "+12345"], "six hexadecimal digits"),
        (["a.glb", "b.glb"], "take one FILE, but 2 were given"),
    ] {
        let text = refused(&more);
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn clips_are_found_by_number() {
    let ran = with_studio(&args(&["builtin", "--clip", "2"]), |studio| {
        assert!(studio.app.title().contains("| Run |"));
        Ok(())
    });
    ran.expect("a viewer");
    let ran = with_studio(&args(&["builtin", "--clip", "99"]), |studio| {
        assert!(studio.shoot().is_err());
        Ok(())
    });
    ran.expect("a viewer");
}

#[test]
fn every_view_counts_its_draws() {
    let ran = with_studio(&args(&["builtin"]), |studio| {
        let mut counts = Vec::new();
        for look in Look::ALL {
            studio.app.settings.look = look;
            studio.shoot()?;
            let stats = &studio.app.scene.stats;
            counts.push((stats.draws, stats.triangles));
        }
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
        Ok(())
    });
    ran.expect("a viewer");
    let stats = Stats {
        draws: 1,
        triangles: 12,
        ..Stats::default()
    };
    let text = drawn_text(1, &stats);
    assert!(
        text.starts_with("1 instance, 1 draw, 12 triangles,"),
        "{text}"
    );
}

/// A slow driver loses the shadow with a message, but not for frames after a change.
#[test]
fn the_shadow_goes_off_with_a_message() {
    let ran = with_studio(&args(&["builtin"]), |studio| {
        studio.app.drawn_by_cpu = true;
        studio.shoot()?;
        for _ in 0..3 {
            studio.took(200.0);
        }
        for _ in 0..3 {
            assert!(studio.app.settings.shadow && studio.app.messages.is_empty());
            studio.took(200.0);
        }
        studio.took(200.0);
        assert!(!studio.app.settings.shadow);
        let message = "a frame takes this driver 200 ms: the shadow is off";
        assert_eq!(studio.app.messages, [message]);
        Ok(())
    });
    ran.expect("a viewer");
}

/// The key `f` brings all poses of the clip into view.
#[test]
fn the_whole_clip_is_framed() {
    let ran = with_studio(&args(&["builtin", "--clip", "Run"]), |studio| {
        let rest = studio.app.scene.bounds;
        let framed = studio.app.framed();
        // A stride is longer than the rest pose is deep.
        assert!(framed.size().z > 1.2 * rest.size().z, "{framed:?}");
        assert!(framed.size().max_element() < 3.0 * rest.size().max_element());
        assert_eq!(studio.app.first_framed(), rest);
        studio.app.command(Command::Frame)?;
        studio.shoot()?;
        Ok(())
    });
    ran.expect("a viewer");
}

/// A clip far away from the rest pose is in view from the start.
#[test]
fn a_clip_that_is_elsewhere_is_framed_at_first() {
    let mut raw = RawCharacter::mannequin();
    for channel in &mut raw.animations[0].channels {
        match &mut channel.values {
            RawKeys::Translation(keys) if &*raw.nodes[channel.node].name == "Hips" => {
                keys.iter_mut().for_each(|key| key.x += 50.0);
            }
            _ => {}
        }
    }
    let character = raw.build(&ImportOptions::default()).expect("a character");
    let path = file("elsewhere.throng");
    std::fs::write(&path, character.to_bytes()).expect("a file");
    let name = character.clips()[0].name().to_owned();
    for (time, clip) in [("0", &*name), ("0.3", "Walk")] {
        let all = [&*path.to_string_lossy(), "--clip", clip, "--time", time];
        let ran = with_studio(&args(&all), |studio| {
            let rgba = studio.shoot()?;
            let center = 4 * (120 * 320 + 160);
            assert_ne!(rgba[center..center + 3], rgba[..3], "{clip}");
            let at = studio.app.camera.target();
            assert_eq!(at.x > 45.0, clip == name, "{at}");
            Ok(())
        });
        ran.expect("a viewer");
    }
}

/// A character whose first clip moves 40 m along z, and up.
fn traveller() -> PathBuf {
    let mut raw = RawCharacter::mannequin();
    for channel in &mut raw.animations[0].channels {
        match &mut channel.values {
            RawKeys::Translation(keys) if &*raw.nodes[channel.node].name == "Hips" => {
                let last = keys.len() as f32 - 1.0;
                for (number, key) in keys.iter_mut().enumerate() {
                    *key += Vec3::new(0.0, 8.0, 40.0) * (number as f32 / last);
                }
            }
            _ => {}
        }
    }
    let character = raw.build(&ImportOptions::default()).expect("a character");
    let path = file("traveller.throng");
    std::fs::write(&path, character.to_bytes()).expect("a file");
    path
}

/// The rows and columns of a picture that differ from another one: top, bottom, left, right.
fn differing(a: &[u8], b: &[u8]) -> Option<[usize; 4]> {
    let texels = a.chunks_exact(4).zip(b.chunks_exact(4)).enumerate();
    let differ = texels.filter(|(_, (a, b))| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 8));
    differ
        .map(|(at, _)| (at / 320, at % 320))
        .fold(None, |all, (y, x)| {
            let [top, bottom, left, right] = all.unwrap_or([y, y, x, x]);
            Some([top.min(y), bottom.max(y), left.min(x), right.max(x)])
        })
}

/// The camera follows a clip that travels, so the character is as large as in a clip on the spot.
#[test]
fn the_camera_follows_a_clip_that_travels() {
    let path = traveller();
    let path = path.to_string_lossy();
    let clean = ["--clip", "0", "--no-ground", "--background", "white"];
    let all = [&[&*path, "--time", "0"], &clean[..]].concat();
    let (_, messages) = with_studio(&args(&all), |studio| {
        let height = |studio: &mut Studio<'_>| {
            let rgba = studio.shoot().expect("a picture");
            let white = vec![255; rgba.len()];
            let [top, bottom, ..] = differing(&rgba, &white).expect("a character");
            bottom - top
        };
        for part in [0.0, 0.4, 0.99] {
            let character = &studio.app.subject.as_ref().expect("a file").character;
            let time_s = part * character.clips()[0].duration_s();
            studio.app.playback.as_mut().expect("a clip").seek(time_s);
            // Of 240 rows.
            let rows = height(studio);
            assert!(rows > 100, "{rows} rows at {part}");
            // The camera lags behind by as much as a character sways.
            let at = studio.app.camera.target();
            assert!((at.z - 40.0 * part as f32).abs() < 0.6, "{at} at {part}");
            studio.app.command(Command::ToggleFollow)?;
            let rows = height(studio);
            assert!(rows < 30, "{rows} rows at {part}");
            studio.app.command(Command::ToggleFollow)?;
        }
        Ok(())
    })
    .expect("a viewer");
    messages.check().unwrap();
}

/// A character far from where it rests has its shadow.
#[test]
fn a_clip_far_away_casts_a_shadow() {
    let path = traveller();
    let path = path.to_string_lossy();
    for more in [&["--stay"][..], &[], &["--instances", "3"]] {
        let all = [
            &[&*path, "--clip", "0", "--time", "0.2", "--camera", "90,40"],
            more,
        ]
        .concat();
        let ran = with_studio(&args(&all), |studio| {
            studio.app.settings.ground = true;
            let shaded = studio.shoot()?;
            studio.app.settings.shadow = false;
            let lit = studio.shoot()?;
            assert!(differing(&shaded, &lit).is_some(), "{more:?}");
            Ok(())
        });
        ran.expect("a viewer");
    }
}

/// A matt white surface is below the brightest white, from every side.
#[test]
fn white_keeps_its_shape() {
    let mut raw = RawCharacter::rigid(
        "ball",
        vec![RawPrimitive::sphere(1.0, 32)],
        vec![Material::flat([1.0; 4])],
    );
    raw.materials[0].roughness = 1.0;
    let ball = raw.build(&ImportOptions::default()).expect("a ball");
    let path = file("white.throng");
    std::fs::write(&path, ball.character.to_bytes()).expect("a file");
    let path = path.to_string_lossy();
    let all = [&*path, "--no-ground", "--background", "black"];
    let ran = with_studio(&args(&all), |studio| {
        // From the side of the sun, and from the usual one.
        let mut brightest = 0;
        for yaw in [36.9, 0.0] {
            studio.app.camera.look_from(Angle {
                yaw,
                pitch: 48.6,
                distance_m: None,
            });
            let rgba = studio.shoot()?;
            let white = rgba.chunks_exact(4).filter(|texel| texel[..3] == [255; 3]);
            assert_eq!(white.count(), 0);
            brightest = rgba
                .chunks_exact(4)
                .map(|texel| texel[1])
                .max()
                .unwrap_or(0);
            assert!(brightest > 220, "{brightest}: it still looks white");
        }
        studio.app.settings.light.strength = 0.5;
        let darker = studio.shoot()?;
        let darkest = darker.chunks_exact(4).map(|texel| texel[1]).max();
        assert!(darkest < Some(brightest - 30), "{darkest:?}");
        Ok(())
    });
    ran.expect("a viewer");
}

/// Camera, field of view, background and light of the command line.
#[test]
fn the_command_line_decides_on_camera_and_light() {
    let more = ["--camera=-90,0,5", "--fov", "60", "--background", "#ff8000"];
    let light = ["--light", "10,80,1.5", "--no-ground"];
    let all = [&["builtin", "--time", "0"], &more[..], &light].concat();
    let ran = with_studio(&args(&all), |studio| {
        let rgba = studio.shoot()?;
        assert_eq!(rgba[..3], [0xff, 0x80, 0x00]);
        let (camera, settings) = (&studio.app.camera, &studio.app.settings);
        let view = camera.view(studio.app.scene.extent(), settings.light.lighting());
        let away = view.eye.position - camera.target();
        assert!(away.distance(Vec3::new(-5.0, 0.0, 0.0)) < 1e-3, "{away}");
        // 5 m tan 30° above the target is the upper edge.
        let top = camera.target() + Vec3::Y * 5.0 * 30_f32.to_radians().tan();
        let clip = view.eye.clip_from_world * top.extend(1.0);
        assert!((clip.y / clip.w + 1.0).abs() < 1e-4, "{clip}");
        assert_eq!(
            (settings.light.strength, settings.light.direction),
            (1.5, [10.0, 80.0])
        );
        Ok(())
    });
    ran.expect("a viewer");
}

/// A saved character keeps its packing, even if it has curves.
#[test]
fn only_what_has_curves_can_be_packed_again() {
    let saved = animated();
    for (path, packable) in [(Path::new("builtin"), true), (&*saved, false)] {
        let ran = with_studio(&args(&[&path.to_string_lossy()]), |studio| {
            let subject = studio.app.subject.as_ref().expect("a file");
            assert_eq!(subject.unpackable().is_none(), packable);
            Ok(())
        });
        ran.expect("a viewer");
    }
}

/// A disk that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_recording_that_cannot_be_written_names_its_file() {
    for name in ["full.gif", "full.apng"] {
        let path = file(name);
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink("/dev/full", &path).expect("a link");
        let out = path.to_string_lossy();
        let args = args(&["builtin", "--clip", "Run", "--fps", "3", "--record", &out]);
        let args = Args {
            screenshot: None,
            ..args
        };
        let error = crate::headless::run(&args).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

/// No picture or recording replaces a file of the model, or of a file whose clips are added. The
/// two are different files.
#[test]
fn files_that_are_read_are_not_overwritten() {
    let folder = file("read");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("more")).expect("a folder");
    let model = folder.join("doll.gltf");
    std::fs::write(&model, DOLL).expect("a file");
    let skin = folder.join("skin.png");
    let wall = folder.join("wall.png");
    for picture in [&skin, &wall] {
        crate::picture::write_rgba(picture, &[200; 4], 1, 1).expect("a picture");
    }
    let link = folder.join("more/link.png");
    std::fs::hard_link(&skin, &link).expect("a link");
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let refused = |args: &[&str], said: &str| {
        let args = Args::try_parse_from(["viewer"].iter().chain(args)).expect("arguments");
        let error = crate::headless::run(&args).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    let before = std::fs::read(&skin).expect("a picture");
    let own = text(&model);
    for option in ["--screenshot", "--record"] {
        for out in [&skin, &wall, &link, &folder.join("none.png")] {
            refused(&[&own, option, &text(out)], "it belongs to");
            let clips = ["builtin", "--clips", &own, option, &text(out)];
            refused(&clips, "it belongs to");
        }
    }
    assert_eq!(std::fs::read(&skin).expect("a picture"), before);
    assert!(!folder.join("none.png").exists());
    let twice = text(&folder.join("twice.png"));
    let both = ["builtin", "--screenshot", &twice, "--record", &twice];
    refused(&both, "is given for two outputs");
    // A recording that ends early leaves what was there, and nothing else.
    let kept = folder.join("kept.gif");
    std::fs::write(&kept, b"before").expect("a file");
    refused(&[&own, "--clip", "none", "--record", &text(&kept)], "none");
    assert_eq!(std::fs::read(&kept).expect("a file"), b"before");
    let names = std::fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(names, 5, "doll.gltf, skin.png, wall.png, kept.gif, more");
    // Its own picture is replaced.
    let out = text(&folder.join("doll.png"));
    for _ in 0..2 {
        let args = Args::parse_from(["viewer", &*own, "--size", "64x64", "--screenshot", &*out]);
        crate::headless::run(&args).expect("a picture");
    }
}

/// A triangle with a texture, one that nothing uses, one that is missing, and a clip for joints of
/// the built-in character.
const DOLL: &str = r#"{
    "asset": { "version": "2.0" },
    "scenes": [{ "nodes": [0] }],
    "nodes": [{ "mesh": 0, "name": "Hips" }],
    "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "material": 0 }] }],
    "materials": [{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }],
    "textures": [{ "source": 0 }],
    "images": [{ "uri": "skin.png" }, { "uri": "wall.png" }, { "uri": "none.png" }],
    "animations": [{ "samplers": [{ "input": 1, "output": 2 }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }] }],
    "accessors": [
        { "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3 },
        { "bufferView": 1, "componentType": 5126, "type": "SCALAR", "count": 1,
            "min": [0], "max": [0] },
        { "bufferView": 1, "componentType": 5126, "type": "VEC3", "count": 1 }
    ],
    "bufferViews": [{ "buffer": 0, "byteLength": 36 },
        { "buffer": 0, "byteOffset": 36, "byteLength": 12 }],
    "buffers": [{ "byteLength": 48, "uri": "data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAAAA" }]
}"#;
