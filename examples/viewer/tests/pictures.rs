//! A picture of every view, and animations.

use super::golden::say;
use super::picture::Picture;
use super::{animated, args, check, file};
use crate::args::Look;
use crate::headless::{Studio, with_studio};
use crate::settings::Overlays;

fn picture(studio: &mut Studio<'_>) -> Picture {
    Picture::new(320, 240, &studio.shoot().expect("a picture"))
}

#[test]
fn every_view_and_overlay() {
    let path = animated();
    let path = path.to_string_lossy();
    let args = args(&[&path, "--clip", "Walk", "--time", "0.3"]);
    let (_, messages) = with_studio(&args, |studio| {
        for (look, name) in [
            (Look::Shaded, "shaded"),
            (Look::Normals, "normals"),
            (Look::Weights, "weights"),
            (Look::Influences, "influences"),
            (Look::Levels, "levels"),
        ] {
            studio.app.settings.look = look;
            // At full detail, everything would be white.
            studio.app.settings.level = Some(if look == Look::Levels { 3 } else { 0 });
            check(name, &picture(studio));
        }
        studio.app.settings.look = Look::Shaded;
        studio.app.settings.level = Some(0);
        type Change = fn(&mut Overlays);
        let overlays: [(&str, Change); 6] = [
            ("skeleton", |shown| shown.skeleton = true),
            ("names", |shown| shown.names = true),
            ("axes", |shown| shown.axes = true),
            ("bounds", |shown| shown.bounds = true),
            ("trail", |shown| shown.trail = true),
            ("sockets", |shown| shown.sockets = true),
        ];
        for (name, change) in overlays {
            let mut shown = Overlays::default();
            change(&mut shown);
            studio.app.settings.overlays = shown;
            check(name, &picture(studio));
        }
        Ok(())
    })
    .expect("pictures");
    messages.check().unwrap();
}

/// Every view and overlay of every real model is drawn, without a message of any kind.
#[test]
fn real_models() {
    let Some(folder) = std::env::var_os("THRONG_ASSETS") else {
        say("*** THRONG_ASSETS is not set: the viewer is NOT TESTED with real models. ***");
        return;
    };
    let files = [
        "BrainStem.glb",
        "CesiumMan.glb",
        "Fox.glb",
        "Knight.glb",
        "MorphStressTest.glb",
        "RiggedFigure.glb",
        "SimpleSkin.gltf",
    ];
    for file in files {
        let path = std::path::Path::new(&folder).join(file);
        let path = path.to_string_lossy();
        let all = "skeleton,names,axes,bounds,trail,sockets";
        let args = args(&[&path, "--time", "0.4", "--overlay", all]);
        let (_, messages) = with_studio(&args, |studio| {
            for look in Look::ALL {
                studio.app.settings.look = look;
                let rgba = studio.shoot()?;
                let first = &rgba[..4];
                assert!(rgba.chunks_exact(4).any(|texel| texel != first), "{file}");
            }
            let keys = &studio.app.key_times.1;
            assert!(!keys.is_empty() && keys.is_sorted(), "{file}: {keys:?}");
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{file}: {error}"));
        messages.check().unwrap();
    }
}

/// Recordings draw each picture once.
#[test]
fn a_picture_after_a_jump_needs_one_frame() {
    for more in [
        &["--clip", "Run"][..],
        &["--clip", "Run", "--instances", "5"],
    ] {
        let all = [&["builtin", "--time", "0"], more].concat();
        let ran = with_studio(&args(&all), |studio| {
            let start = studio.shoot()?;
            for time_s in [0.1, 0.4, 0.0] {
                studio.app.playback.as_mut().expect("a clip").seek(time_s);
                let once = studio.picture(1)?;
                assert!(once == studio.shoot()?, "{time_s} s");
                assert_eq!(once == start, time_s == 0.0);
            }
            Ok(())
        });
        ran.expect("a viewer");
    }
}

#[test]
fn records_one_cycle_as_gif_and_as_apng() {
    for name in ["cycle.gif", "cycle.apng"] {
        let path = file(name);
        let out = path.to_string_lossy();
        let all = ["builtin", "--clip", "Run", "--fps", "10", "--record", &out];
        let args = args(&all);
        let args = crate::args::Args {
            screenshot: None,
            ..args
        };
        crate::headless::run(&args).expect("a moving picture");
        // The clip takes 0.7 s.
        assert_eq!(frames(&path), 7, "{name}");
    }
}

/// The number of frames of an animation.
fn frames(path: &std::path::Path) -> u32 {
    let bytes = std::fs::read(path).expect("a file");
    if path.extension().is_some_and(|extension| extension == "gif") {
        let mut decoder = gif::DecodeOptions::new()
            .read_info(&bytes[..])
            .expect("a GIF");
        let mut count = 0;
        while decoder.read_next_frame().expect("a frame").is_some() {
            count += 1;
        }
        return count;
    }
    let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    let reader = decoder.read_info().expect("a PNG");
    let control = reader.info().animation_control.expect("an animation");
    control.num_frames
}
