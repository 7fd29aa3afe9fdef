//! Updates of many actors whose events are heard, or that walk, and the same after a rollback.

use crate::Outcome;
use std::time::Instant;
use throng::animator::{Animator, AnimatorSnapshot, Play, RootMotionMode};
use throng::character::{AnimationDesc, ClipDesc, EventDesc};
use throng::import::{ImportOptions, RawCharacter};

const ACTORS: u32 = 100_000;
const TEST: u32 = 100;
const FRAME_S: f64 = 1.0 / 60.0;
/// Frames that a rollback goes back.
const BACK: usize = 8;
/// Frames before those that are timed.
const WARM_UP: u32 = 30;

/// The loads: name, events in clips, root motion of the actors.
const LOADS: [(&str, bool, RootMotionMode); 4] = [
    ("nothing", false, RootMotionMode::Ignore),
    ("two events in each cycle", true, RootMotionMode::Ignore),
    ("root motion", false, RootMotionMode::Apply),
    ("both", true, RootMotionMode::Apply),
];

/// Prints the times of `Animator::update`. A test has few actors and frames.
pub(crate) fn print(test: bool, rounds: usize) -> Outcome {
    let event = |name: &str, time_s| EventDesc {
        name: name.into(),
        time_s,
    };
    let walk = ClipDesc {
        name: "Walk".into(),
        events: vec![event("left", 0.1), event("right", 0.6)],
        ..ClipDesc::default()
    };
    let options = ImportOptions {
        animation: Some(AnimationDesc {
            gait_motion: true,
            clips: vec![walk],
            ..AnimationDesc::default()
        }),
        ..ImportOptions::default()
    };
    let character = RawCharacter::mannequin().build(&options)?.character;
    let (actors, frames) = match test {
        true => (TEST, 1),
        false => (ACTORS, 4 * rounds as u32),
    };
    println!(
        "\nMilliseconds of `Animator::update`, {actors} actors at 60 Hz, median (minimum) of {frames} frames:\n"
    );
    println!(
        "| what happens | update | ns an actor | events a frame | rollback / {BACK} updates |"
    );
    println!("|---|---:|---:|---:|---:|");
    for (name, hears, mode) in LOADS {
        let mut animator = Animator::new(&character)?;
        for number in 0..actors {
            let offset_s = f64::from(number) * 0.137;
            let id = animator.add(Play::new("Walk").offset_s(offset_s))?;
            let mut actor = animator.actor_mut(id)?;
            actor.set_events(hears);
            actor.set_root_motion(mode);
        }
        let (mut times, mut heard) = (Vec::new(), 0);
        for frame in 0..WARM_UP + frames {
            let start = Instant::now();
            animator.update(f64::from(frame) * FRAME_S)?;
            if frame >= WARM_UP {
                times.push(start.elapsed().as_secs_f64() * 1e3);
                heard += animator.events().len();
            }
        }
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        println!(
            "| {name} | {median:.3} ({:.3}) | {:.1} | {:.0} | {:.2} |",
            times[0],
            median * 1e6 / f64::from(actors),
            heard as f64 / f64::from(frames),
            rollback(&mut animator, if test { 1 } else { rounds })?
        );
    }
    Ok(())
}

/// The time of a rollback by some frames and the updates of these, over that of the updates alone:
/// a median.
fn rollback(animator: &mut Animator, rounds: usize) -> Outcome<f64> {
    let mut saved = AnimatorSnapshot::default();
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        animator.snapshot_into(&mut saved);
        let updates = |animator: &mut Animator| -> Outcome<f64> {
            let start = Instant::now();
            for _ in 0..BACK {
                animator.update(animator.now_s() + FRAME_S)?;
            }
            Ok(start.elapsed().as_secs_f64())
        };
        let straight_s = updates(animator)?;
        let start = Instant::now();
        animator.restore(&saved)?;
        let restore_s = start.elapsed().as_secs_f64();
        ratios.push((restore_s + updates(animator)?) / straight_s);
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios[ratios.len() / 2])
}
