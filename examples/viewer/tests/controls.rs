//! The effects of panels and keys, without a window.

use super::{animated, args, file, with};
use crate::app::Action;
use crate::args::Look;
use crate::figures::level_figures;
use crate::headless::with_studio;
use crate::keys::{Command, command};
use crate::panels::clips::found;
use crate::playback::Base;
use throng::character::LevelInfo;
use throng::import::{ImportOptions, RawAnimation, RawCharacter};
use throng::palette::SkinningMethod;
use throng::{Id, SkinningStage};
use winit::keyboard::{Key, NamedKey, SmolStr};

#[test]
fn keys_have_commands() {
    let text = |text: &str| command(&Key::Character(SmolStr::new(text)));
    assert_eq!(text(","), Some(Command::Step(-1)));
    assert_eq!(text("."), Some(Command::Step(1)));
    assert_eq!(text("l"), Some(Command::ToggleLoop));
    assert_eq!(text("1"), Some(Command::Clip(0)));
    assert_eq!(text("9"), Some(Command::Clip(8)));
    assert_eq!(text("0"), None);
    assert_eq!(text("10"), None);
    let space = command(&Key::Named(NamedKey::Space));
    assert_eq!(space, Some(Command::PlayOrPause));
}

#[test]
fn every_stage_and_method_draws_and_is_close_to_the_reference() {
    with(&["--clip", "Run", "--time", "0.2"], |studio| {
        for stage in [
            SkinningStage::Vertex,
            SkinningStage::Compute,
            SkinningStage::Cpu,
        ] {
            for method in [
                SkinningMethod::Linear,
                SkinningMethod::DualQuat,
                SkinningMethod::QuatOffset,
            ] {
                studio.app.settings.stage = stage;
                studio.app.settings.method = method;
                studio.act(Action::Rebuild).expect("instances");
                studio.shoot().expect("a picture");
                studio.shoot().expect("a picture");
                // The picture is paused, so it was measured after some frames.
                let measured = studio.app.accuracy.expect("figures");
                assert_eq!(measured.device_mm.is_some(), stage != SkinningStage::Vertex);
                // Rounding only: the GPU and the SIMD code sum in another order than plain code.
                assert!(measured.device_mm.unwrap_or(0.0) < 1e-3, "{measured:?}");
                // The default bound of packing, for a character of 1.8 m.
                assert!(measured.clip_mm.expect("one clip") < 0.1, "{measured:?}");
                match method {
                    SkinningMethod::Linear => assert_eq!(measured.method_mm, 0.0),
                    // These blend rotations in another way, so bent limbs differ by up to
                    // centimetres.
                    _ => assert!(measured.method_mm < 50.0, "{measured:?}"),
                }
            }
        }
    });
}

/// A chosen level is drawn in every view and at any size, and has the figures of the panel.
#[test]
fn levels_of_detail_are_chosen() {
    with(&["--time", "0.2", "--panels"], |studio| {
        let character = &studio.app.subject.as_ref().expect("a file").character;
        let figures: Vec<_> = (0..=character.levels().len() as u32)
            .map(|level| level_figures(character, level))
            .collect();
        let full = character.triangle_count();
        assert_eq!((figures[0].triangles, figures[0].error_m), (full, 0.0));
        let coarser = |a: &LevelInfo, b: &LevelInfo| {
            a.triangles > b.triangles && a.error_m < b.error_m && (b.cover - 1.0).abs() < 0.06
        };
        assert!(figures.len() > 2 && figures.is_sorted_by(coarser));
        // The default is full detail.
        for look in [Look::Levels, Look::Normals] {
            studio.app.settings.look = look;
            let mut before = studio.shoot().expect("a picture");
            assert_eq!(studio.app.scene.shown.levels[0], 1);
            let shadow_and_ground = studio.app.scene.stats.triangles - 2 * full as u64;
            for (level, of) in figures.iter().enumerate().skip(1) {
                let triangles = &of.triangles;
                studio.app.settings.level = Some(level as u32);
                let coarser = studio.shoot().expect("a picture");
                assert_ne!(coarser, before, "{look:?} at {level}");
                before = coarser;
                let shown = studio.app.scene.shown;
                assert_eq!(shown.levels[level], 1, "{shown:?}");
                assert_eq!(shown.triangles, *triangles as u64);
                let drawn = studio.app.scene.stats.triangles;
                assert_eq!(drawn, shadow_and_ground + 2 * *triangles as u64, "{look:?}");
            }
            studio.app.settings.level = Some(0);
        }
        // More levels than there are mean the last one.
        studio.app.settings.level = Some(99);
        studio.shoot().expect("a picture");
        assert_eq!(studio.app.scene.shown.levels[figures.len() - 1], 1);
        // A body of about 150 pixels allows errors of about a centimetre.
        studio.app.settings.level = None;
        studio.shoot().expect("a picture");
        let shown = studio.app.scene.shown;
        assert!(shown.shown == 1 && shown.levels[0] == 0, "{shown:?}");
    });
}

#[test]
fn instances_change_and_too_many_are_refused_without_harm() {
    with(&["--time", "0.2"], |studio| {
        for count in [50, 3, 200, 1] {
            // A new shadow map that is never used is no fault either.
            studio.app.settings.shadow = count != 3;
            studio.app.settings.instances = count;
            studio.act(Action::Rebuild).expect("instances");
            studio.shoot().expect("a picture");
            assert_eq!(studio.app.scene.instances(), count as usize);
        }
        // More than fits into a storage buffer. What was shown stays.
        studio.app.settings.instances = 5;
        studio.app.settings.method = SkinningMethod::DualQuat;
        studio.act(Action::Rebuild).expect("instances");
        studio
            .act(Action::Play(Base::Clip(Id::new(2))))
            .expect("a clip");
        studio.app.settings.instances = 10_000;
        studio.app.settings.stage = SkinningStage::Cpu;
        let error = studio.act(Action::Rebuild).unwrap_err().to_string();
        assert!(
            error.contains("deformed vertices") || error.contains("MiB"),
            "{error}"
        );
        let settings = &studio.app.settings;
        assert_eq!(settings.instances, 5);
        assert_eq!(settings.stage, SkinningStage::Vertex);
        assert_eq!(settings.method, SkinningMethod::DualQuat);
        assert_eq!(studio.app.scene.instances(), 5);
        let playback = studio.app.playback.as_ref().expect("a clip");
        assert_eq!(playback.clip(), Some(Id::new(2)));
        studio.shoot().expect("a picture");
    });
}

/// Values that a slider takes when they are typed.
#[test]
fn typed_values_that_are_no_numbers_do_no_harm() {
    with(&["--time", "0.2"], |studio| {
        for speed in [f64::NAN, f64::INFINITY, 1e300, -3.0, 0.0] {
            let playback = studio.app.playback.as_mut().expect("a clip");
            playback.speed = speed;
            playback.playing = true;
            studio.shoot().expect("a picture");
            let speed = studio.app.playback.as_ref().expect("a clip").speed;
            assert!((1.0 / 64.0..=16.0).contains(&speed), "{speed}");
        }
        let mut layer = {
            studio.act(Action::AddLayer(Id::new(1))).expect("a layer");
            studio.app.playback.as_ref().expect("a clip").layers[0]
        };
        layer.weight = f32::NAN;
        assert!(studio.act(Action::SetLayer(0, layer)).is_err());
        let kept = studio.app.playback.as_ref().expect("a clip").layers[0];
        assert_eq!(kept.weight, 1.0);
        studio.act(Action::Rebuild).expect("instances");
        studio.shoot().expect("a picture");
    });
}

/// All panels open, so that each is laid out with a character that has everything.
#[test]
fn every_panel_is_laid_out() {
    let path = animated();
    let path = path.to_string_lossy();
    let more = [&*path, "--panels", "--size", "1280x900"];
    let all = ["viewer", "--validate", "--screenshot", "unused.png"];
    let args = <crate::args::Args as clap::Parser>::parse_from(all.iter().chain(&more));
    let (_, messages) = with_studio(&args, |studio| {
        studio.app.settings.help = true;
        studio.act(Action::Play(Base::StateMachine))?;
        let without = studio.shoot()?;
        studio.app.command(Command::TogglePanels)?;
        assert_ne!(studio.shoot()?, without);
        Ok(())
    })
    .expect("a picture");
    messages.check().unwrap();
}

#[test]
fn clips_are_searched() {
    let found = |text: &str| found(["Walk", "Run", "Walk back"].into_iter(), text);
    assert_eq!(found(""), [0, 1, 2]);
    assert_eq!(found(" wALk"), [0, 2]);
    assert_eq!(found("jump"), Vec::<usize>::new());
    // A short list has no field.
    let more = ["builtin", "--panels", "--time", "0"];
    let ran = with_studio(&args(&more), |studio| {
        let before = studio.shoot()?;
        studio.app.search = "Run".to_owned();
        assert!(studio.shoot()? == before);
        Ok(())
    });
    ran.expect("a viewer");
    // A long one has, and lists what is found.
    let mut raw = RawCharacter::mannequin();
    for number in 0..20 {
        let clip = RawAnimation {
            name: format!("Copy {number}").into(),
            ..raw.animations[0].clone()
        };
        raw.animations.push(clip);
    }
    let long = raw.build(&ImportOptions::default()).expect("a character");
    let path = file("long.throng");
    std::fs::write(&path, long.character.to_bytes()).expect("a file");
    let more = [&*path.to_string_lossy(), "--panels", "--time", "0"];
    let ran = with_studio(&args(&more), |studio| {
        let before = studio.shoot()?;
        studio.app.search = "19".to_owned();
        assert!(studio.shoot()? != before);
        Ok(())
    });
    ran.expect("a viewer");
}
