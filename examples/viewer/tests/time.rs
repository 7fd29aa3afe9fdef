//! The clock: steps, jumps and ends.

use super::{args, with};
use crate::app::Action;
use crate::headless::{Studio, with_studio};
use crate::keys::Command;
use crate::panels::timeline::time_text;
use crate::playback::Base;

fn clip_time_s(studio: &Studio<'_>) -> f64 {
    let (playback, subject) = (studio.app.playback.as_ref(), studio.app.subject.as_ref());
    let character = &subject.expect("a file").character;
    playback.expect("a clip").clip_time_s(character)
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
