//! A thousand characters on a server: state machines, root motion and events, without Vulkan.
//!
//! `cargo run --release -p throng --example server`

#[path = "../common/say.rs"]
mod say;

use say::{Words, say};
use std::time::Instant;
use throng::animator::{ActorId, AnimationEventKind, Animator, RootMotionMode};
use throng::character::Character;
use throng::clip::{CurveClip, TrackValues};
use throng::import::{ImportOptions, RawCharacter};

const CHARACTERS: usize = 1000;
const TICK_S: f64 = 1.0 / 30.0;
const TICKS: u32 = 300;

fn main() -> Result<(), Words> {
    let character = stroller()?.with_animation_toml("crowd.toml", include_str!("crowd.toml"))?;
    let mut animator = Animator::new(&character)?;
    let speed = animator.state_machine()?.parameter("speed")?;
    let mut walkers = Vec::new();
    for _ in 0..CHARACTERS {
        let walker = animator.add_with_state_machine()?;
        animator
            .actor_mut(walker)?
            .set_root_motion(RootMotionMode::Apply);
        walkers.push(walker);
    }

    let (mut steps, mut stops, started) = (0, 0, Instant::now());
    for tick in 1..=TICKS {
        // A few of them start or stop on every tick.
        for walker in walkers.iter().skip(tick as usize % 50).step_by(50) {
            let goes = (tick / 50) % 2 == 0;
            animator
                .actor_mut(*walker)?
                .set_parameter(speed, if goes { 1.4 } else { 0.0 })?;
        }
        animator.update(f64::from(tick) * TICK_S)?;
        for event in animator.events() {
            match (event.kind, animator.event_name(event)) {
                (AnimationEventKind::Clip { .. }, _) if event.weight > 0.5 => steps += 1,
                (AnimationEventKind::Entered { .. }, "stand") => stops += 1,
                _ => {}
            }
        }
    }
    let ms = started.elapsed().as_secs_f64() * 1e3 / f64::from(TICKS);
    let way = |id| {
        animator
            .actor(id)
            .map(|it| it.root_transform())
            .map(|place| place.translation.length())
    };
    let farthest_m = walkers.iter().flat_map(|id| way(*id)).fold(0.0, f64::max);
    say(&format!(
        "{CHARACTERS} characters, {TICKS} ticks: {ms:.3} ms a tick"
    ));
    say(&format!(
        "{steps} steps, {stops} times someone stood still, at most {farthest_m:.1} m walked"
    ));

    // Another server takes over. With the feature `serde`, a snapshot can also go to a file.
    let saved = animator.snapshot();
    let mut other = Animator::new(&character)?;
    other.restore(&saved)?;
    for server in [&mut animator, &mut other] {
        server.update(f64::from(TICKS + 30) * TICK_S)?;
    }
    let position = |server: &Animator, id| server.actor(id).map(|it| it.root_transform());
    let same = |id: &&ActorId| position(&animator, **id) == position(&other, **id);
    let same = walkers.iter().filter(same).count();
    say(&format!(
        "{same} of them are at the same position on a server that goes on from a snapshot"
    ));
    Ok(())
}

/// The built-in character, which walks on the spot, with root motion added to its walk.
fn stroller() -> throng::Result<Character> {
    let options = ImportOptions {
        curves: true,
        ..ImportOptions::default()
    };
    let character = RawCharacter::mannequin().build(&options)?.character;
    let walk = character.clip("Walk")?;
    let gait = character.gait(walk).copied().unwrap_or_default();
    let walk = &character.curves()[walk.index()];
    let hips = character.skeleton().joint("Hips")?;
    let mut tracks = walk.tracks().to_vec();
    for track in tracks.iter_mut().filter(|track| track.joint == hips) {
        if let TrackValues::Translation(keys) = &mut track.values {
            for (time_s, at) in keys.times_s.iter().zip(&mut keys.values) {
                at.z += gait.speed_m_s * time_s;
            }
        }
    }
    let stroll = CurveClip::new("Stroll", tracks, character.skeleton())?;
    character.with_clips(vec![stroll])
}
