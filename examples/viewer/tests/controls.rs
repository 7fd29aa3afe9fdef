//! The effects of panels and keys, without a window.

use super::{animated, args, file};
use crate::app::Action;
use crate::args::Look;
use crate::figures::level_figures;
use crate::headless::{Studio, with_studio};
use crate::keys::{Command, command};
use crate::panels::clips::found;
use crate::panels::timeline::time_text;
use crate::playback::Base;
use throng::character::LevelInfo;
use throng::glam::Vec2;
use throng::import::{ImportOptions, RawAnimation, RawCharacter, RawPrimitive};
use throng::palette::SkinningMethod;
use throng::state_machine::Value;
use throng::{Id, SkinningStage};
use winit::keyboard::{Key, NamedKey, SmolStr};

/// Runs a test with the animated character, and fails for any message of the validation layer.
fn with(more: &[&str], test: impl FnOnce(&mut Studio<'_>)) {
    let path = animated();
    let path = path.to_string_lossy();
    let mut all = vec![&*path];
    all.extend(more);
    let ran = with_studio(&args(&all), |studio| {
        test(studio);
        Ok(())
    });
    let (_, messages) = ran.expect("a viewer");
    messages.check().unwrap();
}

fn clip_time_s(studio: &Studio<'_>) -> f64 {
    let (playback, subject) = (studio.app.playback.as_ref(), studio.app.subject.as_ref());
    let character = &subject.expect("a file").character;
    playback.expect("a clip").clip_time_s(character)
}

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
fn steps_by_frames_around_the_loop_and_stops_at_the_end() {
    with(&["--clip", "Run", "--time", "0"], |studio| {
        let subject = studio.app.subject.as_ref().expect("a file");
        let run = subject.character.clip("Run").expect("a clip");
        let clip = &subject.character.clips()[run.index()];
        let (rate_hz, duration_s) = (clip.report().rate_hz, clip.duration_s());
        let frames = (duration_s * rate_hz).round();
        for _ in 0..3 {
            studio.app.command(Command::Step(1)).expect("a step");
        }
        assert!((clip_time_s(studio) - 3.0 / rate_hz).abs() < 1e-9);
        for _ in 0..4 {
            studio.app.command(Command::Step(-1)).expect("a step");
        }
        assert!((clip_time_s(studio) - (frames - 1.0) / rate_hz).abs() < 1e-9);
        // Without the loop, it ends at the last frame.
        studio.app.command(Command::ToggleLoop).expect("no loop");
        for _ in 0..3 {
            studio.app.command(Command::Step(1)).expect("a step");
        }
        assert!((clip_time_s(studio) - duration_s).abs() < 1e-9);
        studio.app.command(Command::PlayOrPause).expect("play");
        let playback = studio.app.playback.as_ref().expect("a clip");
        assert!(playback.playing, "it plays from the start again");
        assert_eq!(clip_time_s(studio), 0.0);
        // A clip that is chosen after another has ended plays.
        let playback = studio.app.playback.as_mut().expect("a clip");
        let character = &studio.app.subject.as_ref().expect("a file").character;
        playback.advance(10.0, character);
        assert!(!playback.playing);
        studio.app.command(Command::Clip(0)).expect("another clip");
        assert!(studio.app.playback.as_ref().expect("a clip").playing);
    });
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

#[test]
fn layers_masks_morphs_blend_spaces_and_the_state_machine() {
    with(&["--clip", "Walk", "--time", "0.2"], |studio| {
        let before = studio.shoot().expect("a picture");
        let wave = {
            let character = &studio.app.subject.as_ref().expect("a file").character;
            assert!(!character.masks().is_empty());
            character.clip("Wave").expect("a clip")
        };
        studio.act(Action::AddLayer(wave)).expect("a layer");
        studio.app.playback.as_mut().expect("a clip").seek(0.9);
        let waving = studio.shoot().expect("a picture");
        assert_ne!(waving, before);
        let mut layer = studio.app.playback.as_ref().expect("a clip").layers[0];
        layer.mask = Some(Id::new(0));
        layer.weight = 0.5;
        studio.act(Action::SetLayer(0, layer)).expect("a layer");
        assert_ne!(studio.shoot().expect("a picture"), waving);
        studio.act(Action::RemoveLayer).expect("no layer");
        let space = Base::BlendSpace(Id::new(0), Vec2::new(0.5, 0.0));
        studio.act(Action::Play(space)).expect("a blend space");
        studio.shoot().expect("a picture");
        let space = Base::BlendSpace(Id::new(0), Vec2::new(1.5, 0.0));
        studio.act(Action::Play(space)).expect("another position");
        studio.shoot().expect("a picture");
        studio
            .act(Action::Play(Base::StateMachine))
            .expect("a state machine");
        studio.shoot().expect("a picture");
        let parameters: Vec<_> = {
            let character = &studio.app.subject.as_ref().expect("a file").character;
            let machine = character.state_machine().expect("a machine");
            let desc = machine.desc();
            assert!(desc.layers[0].states.len() > 1 && desc.layers[0].transitions.len() > 1);
            (0..desc.parameters.len() as u16).map(Id::new).collect()
        };
        let id = studio.app.scene.first().expect("an instance");
        for parameter in parameters {
            let value = studio
                .app
                .scene
                .crowd()
                .instance(id)
                .and_then(|it| it.parameter(parameter));
            let value = match value.expect("a value") {
                Value::Float(_) => Value::Float(1.0),
                Value::Trigger(_) => Value::Trigger(true),
                other => other,
            };
            studio
                .act(Action::Parameter(parameter, value))
                .expect("a value");
        }
        studio.shoot().expect("a picture");
        studio
            .act(Action::Play(Base::Clip(Id::new(0))))
            .expect("a clip");
        studio.shoot().expect("a picture");
    });
}

#[test]
fn faults_are_messages_and_the_old_file_stays() {
    with(&[], |studio| {
        let broken = file("broken.glb");
        std::fs::write(&broken, b"glTF and nothing else").expect("a file");
        for (path, said) in [
            (broken, "broken.glb"),
            (file("missing.glb"), "missing.glb"),
            (std::env::temp_dir(), "directory"),
        ] {
            studio.app.open(&path);
            let error = studio.load().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert!(studio.app.subject.is_some());
            studio.shoot().expect("a picture");
        }
    });
}

/// A file that the device refuses leaves everything as it was.
#[test]
fn a_refused_file_changes_nothing() {
    with(&["--clip", "Run", "--time", "0.2"], |studio| {
        studio.app.settings.method = SkinningMethod::DualQuat;
        studio.app.settings.instances = 3;
        studio.act(Action::Rebuild).expect("instances");
        let before = studio.shoot().expect("a picture");
        // Dual quaternions cannot represent it.
        let flipped = file("flipped.throng");
        std::fs::write(&flipped, flipped_character().to_bytes()).expect("a file");
        studio.app.open(&flipped);
        let error = studio.load().unwrap_err().to_string();
        assert!(error.contains("flipped.throng"), "{error}");
        assert_eq!(studio.shoot().expect("a picture"), before);
    });
}

/// A block whose transform is flipped.
fn flipped_character() -> throng::character::Character {
    let scaled = RawPrimitive::cuboid(throng::glam::Vec3::ONE);
    let mut raw = RawCharacter::rigid("flipped", vec![scaled], Vec::new());
    for node in &mut raw.nodes {
        let flip = throng::glam::Mat4::from_scale(throng::glam::Vec3::new(1.0, -2.0, 1.0));
        node.matrix = Some(flip);
    }
    let built = raw.build(&ImportOptions::default());
    built.expect("a character").character
}

/// A file that was exported again with less in it.
#[test]
fn a_changed_file_keeps_what_it_still_has() {
    let path = file("changed.throng");
    let full = RawCharacter::mannequin().build(&with_curves());
    let full = full.expect("a character").character;
    std::fs::write(&path, full.to_bytes()).expect("a file");
    let text = path.to_string_lossy().into_owned();
    let ran = with_studio(&args(&[&text, "--clip", "Wave"]), |studio| {
        studio.act(Action::AddLayer(Id::new(3)))?;
        let mut raw = RawCharacter::mannequin();
        raw.animations.truncate(1);
        raw.animation = None;
        let fewer = raw.build(&with_curves())?;
        std::fs::write(&path, fewer.character.to_bytes())?;
        studio.app.open(&path);
        studio.load()?;
        let playback = studio.app.playback.as_ref().expect("a clip");
        assert_eq!(playback.clip(), Some(Id::new(0)));
        assert!(playback.layers.is_empty());
        Ok(())
    });
    ran.expect("a viewer");
}

#[test]
fn layers_lie_above_the_state_machine() {
    with(&["--time", "0.2"], |studio| {
        studio.act(Action::AddLayer(Id::new(3))).expect("a layer");
        studio
            .act(Action::Play(Base::StateMachine))
            .expect("a machine");
        studio.shoot().expect("a picture");
        studio
            .act(Action::AddLayer(Id::new(2)))
            .expect("another layer");
        studio.app.settings.stage = SkinningStage::Compute;
        studio.act(Action::Rebuild).expect("instances");
        assert_eq!(studio.app.settings.stage, SkinningStage::Compute);
        studio.shoot().expect("a picture");
        studio
            .act(Action::Play(Base::Clip(Id::new(1))))
            .expect("a clip");
        studio.act(Action::RemoveLayer).expect("one layer");
        studio.shoot().expect("a picture");
        assert_eq!(
            studio.app.playback.as_ref().expect("a clip").layers.len(),
            1
        );
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

#[test]
fn packs_again_with_another_bound() {
    let ran = with_studio(&args(&["builtin", "--clip", "Run"]), |studio| {
        let bytes = |studio: &Studio<'_>| -> usize {
            let clips = studio
                .app
                .subject
                .as_ref()
                .expect("a file")
                .character
                .clips();
            clips.iter().map(|clip| clip.report().bytes).sum()
        };
        let before = bytes(studio);
        studio.act(Action::Repack(throng::clip::ClipOptions {
            error_m: Some(0.005),
            ..Default::default()
        }))?;
        studio.load()?;
        assert!(bytes(studio) < before);
        let playback = studio.app.playback.as_ref().expect("a clip");
        assert_eq!(playback.clip(), Some(Id::new(2)), "it goes on");
        Ok(())
    });
    ran.expect("a viewer");
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

/// The start of a clip that faded in shows that clip, not the one before.
#[test]
fn a_jump_of_the_clock_ends_the_fade() {
    with(&["--clip", "Run"], |studio| {
        studio.app.command(Command::PlayOrPause).expect("a pause");
        let start = studio.shoot().expect("a picture");
        let faded = |studio: &mut Studio<'_>| {
            let playback = studio.app.playback.as_mut().expect("a clip");
            playback.playing = true;
            studio.app.command(Command::Clip(0)).expect("a clip");
            studio.app.playback.as_mut().expect("a clip").time_s += 1.0;
            studio.shoot().expect("a picture");
            studio.app.command(Command::Clip(2)).expect("a clip");
            studio.app.playback.as_mut().expect("a clip").time_s += 1.0;
            studio.shoot().expect("a picture");
            studio.app.command(Command::PlayOrPause).expect("a pause");
        };
        faded(studio);
        studio.app.command(Command::Restart).expect("the start");
        assert!(studio.shoot().expect("a picture") == start, "Home");
        faded(studio);
        studio.act(Action::Seek(0.0)).expect("the start");
        assert!(studio.shoot().expect("a picture") == start, "the bar");
    });
}

/// A clip that is packed with one frame, or with few, still has steps.
#[test]
fn clips_of_few_frames_have_steps() {
    let ran = with_studio(
        &args(&["builtin", "--clip", "Run", "--time", "0"]),
        |studio| {
            // So large a bound leaves hardly any frames.
            studio.act(Action::Repack(throng::clip::ClipOptions {
                error_m: Some(10.0),
                ..Default::default()
            }))?;
            studio.load()?;
            let text = |studio: &Studio<'_>| {
                let (playback, subject) =
                    (studio.app.playback.as_ref(), studio.app.subject.as_ref());
                let character = &subject.expect("a file").character;
                time_text(playback.expect("a clip"), character)
            };
            let character = &studio.app.subject.as_ref().expect("a file").character;
            let report = character.clips()[2].report();
            assert!(report.rate_hz < 10.0, "{}", report.rate_hz);
            assert!(text(studio).ends_with("frame 0 of 21"), "{}", text(studio));
            studio.app.command(Command::Step(1))?;
            assert!((clip_time_s(studio) - 1.0 / 30.0).abs() < 1e-9);
            assert!(text(studio).ends_with("frame 1 of 21"), "{}", text(studio));
            studio.app.command(Command::Step(-2))?;
            assert!(text(studio).ends_with("frame 20 of 21"), "{}", text(studio));
            Ok(())
        },
    );
    ran.expect("a viewer");
}

/// The title and the bar show one time, also if no clip plays.
#[test]
fn the_time_of_what_has_no_clip_begins_at_its_start() {
    with(&["--time", "0.5"], |studio| {
        studio.act(Action::Play(Base::RestPose)).expect("a pose");
        studio.app.command(Command::Step(3)).expect("a step");
        assert!(studio.app.title().contains("paused at 0.100 s"));
        for _ in 0..5 {
            studio.app.command(Command::Step(-1)).expect("a step");
        }
        assert!(studio.app.title().contains("paused at 0.000 s"));
    });
}

/// Home starts a state machine again, with the parameters that were set.
#[test]
fn home_starts_the_state_machine_again() {
    let path = animated();
    let path = path.to_string_lossy();
    let ran = with_studio(&args(&[&path]), |studio| {
        studio.act(Action::Play(Base::StateMachine))?;
        let machine = studio
            .app
            .subject
            .as_ref()
            .expect("a file")
            .character
            .clone();
        let machine = machine.state_machine().expect("a state machine");
        let speed = machine.parameter("speed")?;
        let status = |studio: &Studio<'_>| {
            let id = studio.app.scene.first().expect("an instance");
            studio
                .app
                .scene
                .crowd()
                .instance(id)
                .and_then(|it| it.layer_status(0))
        };
        studio.shoot()?;
        let start = status(studio)?;
        studio.act(Action::Parameter(speed, Value::Float(1.4)))?;
        for _ in 0..8 {
            studio.app.playback.as_mut().expect("a clip").time_s += 0.25;
            studio.shoot()?;
        }
        assert_ne!(status(studio)?.state, start.state);
        studio.app.command(Command::Restart)?;
        let again = status(studio)?;
        assert_eq!((again.state, again.phase), (start.state, start.phase));
        let id = studio.app.scene.first().expect("an instance");
        let kept = studio.app.scene.crowd().instance(id)?.parameter(speed)?;
        assert_eq!(kept, Value::Float(1.4));
        let playback = studio.app.playback.as_ref().expect("a machine");
        let character = &studio.app.subject.as_ref().expect("a file").character;
        assert_eq!(playback.shown_time_s(character), 0.0);
        Ok(())
    });
    ran.expect("a viewer");
}

/// A VRM file: a face with an expression, and hair that swings.
fn doll() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doll.vrm");
    path.to_owned()
}

#[test]
fn expressions_are_shown() {
    let path = doll();
    let ran = with_studio(&args(&[&path, "--time", "0.5", "--no-springs"]), |studio| {
        let before = studio.shoot()?;
        studio.act(Action::Expressions(vec![1.0]))?;
        let happy = studio.shoot()?;
        assert_ne!(happy, before);
        // New instances show it, too.
        studio.app.settings.stage = SkinningStage::Compute;
        studio.act(Action::Rebuild)?;
        assert_eq!(
            studio.app.playback.as_ref().expect("a clip").expressions,
            [1.0]
        );
        let id = studio.app.scene.first().expect("an instance");
        let mut weights = [0.0];
        studio.shoot()?;
        let crowd = studio.app.scene.crowd();
        crowd.instance(id)?.morph_weights(&mut weights)?;
        assert_eq!(weights, [1.0]);
        assert!(studio.act(Action::Expressions(vec![2.0])).is_err());
        assert_eq!(
            studio.app.playback.as_ref().expect("a clip").expressions,
            [1.0]
        );
        studio.act(Action::Expressions(vec![0.0]))?;
        studio.app.settings.stage = SkinningStage::Vertex;
        studio.act(Action::Rebuild)?;
        assert!(studio.shoot()? == before);
        Ok(())
    });
    ran.expect("a viewer");
}

/// Hair hangs down in the first picture already, as after a while in the window.
#[test]
fn springs_swing_and_can_be_switched_off() {
    let path = doll();
    for (more, swings) in [(&[][..], true), (&["--no-springs"], false)] {
        let ran = with_studio(
            &args(&[&[&*path, "--time", "0.5"], more].concat()),
            |studio| {
                let tip = |studio: &mut Studio<'_>| {
                    studio.shoot().expect("a picture");
                    let now_s = studio.app.playback.as_ref().expect("a clip").time_s;
                    let id = studio.app.scene.first().expect("an instance");
                    let crowd = studio.app.scene.crowd();
                    let instance = crowd.instance(id).expect("a live instance");
                    instance
                        .joint_model("hair3", now_s)
                        .expect("a joint")
                        .translation
                        .y
                };
                // As modelled, the tip is at 1.2 m. It hangs from there on 0.6 m of hair.
                let hanging = |y: f32| y < 0.75;
                assert_eq!(hanging(tip(studio)), swings);
                studio.act(Action::Springs(!swings))?;
                for _ in 0..20 {
                    studio.app.playback.as_mut().expect("a clip").time_s += 0.1;
                    studio.shoot()?;
                }
                let y = tip(studio);
                assert_eq!(hanging(y), !swings, "{y}");
                let title = studio.app.title();
                assert!(title.contains("paused at 0.500 s"), "{title}");
                Ok(())
            },
        );
        ran.expect("a viewer");
    }
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

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
