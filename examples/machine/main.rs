//! A character that walks, runs, jumps and waves, driven by a script of inputs.
//!
//! Prints what its state machine plays. Needs no Vulkan.
//!
//! `cargo run -p throng --example machine`

#[path = "../common/say.rs"]
mod say;

use say::{Words, say};
use throng::animator::{ActorId, AnimationEventKind, Animator};
use throng::builtin;
use throng::character::AnimationDesc;
use throng::state_machine::StateMachineDesc;

const TEXT: &str = include_str!("hero.toml");
const FRAME_S: f64 = 1.0 / 60.0;

/// The player's inputs and their times.
const SCRIPT: [(f64, Input); 9] = [
    (0.5, Input::Speed(1.4)),
    (1.5, Input::Wave),
    (2.0, Input::Speed(3.6)),
    (3.0, Input::Jump),
    (3.1, Input::Ground(false)),
    (3.6, Input::Ground(true)),
    (4.5, Input::Speed(0.0)),
    (4.6, Input::Speed(2.5)), // before it stands: the fade is interrupted
    (5.5, Input::Speed(0.0)),
];

#[derive(Debug, Clone, Copy)]
enum Input {
    Speed(f32),
    Wave,
    Jump,
    Ground(bool),
}

fn main() -> Result<(), Words> {
    let animation = AnimationDesc {
        state_machine: Some(StateMachineDesc::from_toml("hero.toml", TEXT)?),
        ..AnimationDesc::default()
    };
    let character = builtin::mannequin()?.character.with_animation(&animation)?;
    let mut animator = Animator::new(&character)?;
    let hero = animator.add_with_state_machine()?;
    let mut script = SCRIPT.iter().peekable();
    for frame in 0..=390 {
        let now_s = f64::from(frame) * FRAME_S;
        animator.update(now_s)?;
        for event in animator.events() {
            let word = match event.kind {
                AnimationEventKind::Finished { .. } => "has played",
                AnimationEventKind::Left { .. } => "leaves",
                AnimationEventKind::Entered { .. } => "enters",
                _ => continue,
            };
            let (time_s, name) = (event.time_s, animator.event_name(event));
            say(&format!(
                "{time_s:8.4} s  layer {} {word} \"{name}\"",
                event.layer
            ));
        }
        if frame % 15 == 0 {
            let actor = animator.actor(hero)?;
            let clips = actor.playing().map(|playing| {
                let clip = playing.clip.map(|clip| &character.clips()[clip.index()]);
                let name = clip.map_or("", |clip| clip.name());
                let (layer, time_s) = (playing.layer, playing.time_s);
                let part = 100.0 * playing.weight;
                format!("{layer}:{name} {part:.0} % at {time_s:.2} s")
            });
            say(&format!(
                "{now_s:8.4} s  {}",
                clips.collect::<Vec<_>>().join(", ")
            ));
        }
        while let Some((_, input)) = script.next_if(|(time_s, _)| *time_s <= now_s) {
            say(&format!("{now_s:8.4} s  input: {input:?}"));
            apply(&mut animator, hero, *input)?;
        }
    }
    Ok(())
}

/// Applies an input. Values that are set take effect in the next update.
fn apply(animator: &mut Animator, hero: ActorId, input: Input) -> throng::Result<()> {
    let mut hero = animator.actor_mut(hero)?;
    match input {
        Input::Speed(speed) => hero.set_parameter("speed", speed),
        Input::Wave => hero.set_parameter("wave", true),
        Input::Jump => hero.set_parameter("jump", true),
        Input::Ground(is) => hero.set_parameter("grounded", is),
    }
}
