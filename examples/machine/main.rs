//! A character that walks, runs, jumps and waves under a script of inputs: prints what its state machine
//! plays. No Vulkan.
//!
//! `cargo run --example machine`

use std::error::Error;
use throng::builtin;
use throng::pose::SampleList;
use throng::pose::state_machine::{
    StateMachine, StateMachineEventKind, StateMachineInstance, StateMachineLog, StateMachineText,
};

const TEXT: &str = include_str!("hero.toml");
const FRAME_S: f64 = 1.0 / 60.0;

/// What the player does, and when.
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

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let character = builtin::mannequin()?.character;
    let machine = StateMachineText::parse("hero.toml", TEXT)?.build(&character)?;
    let mut hero = [machine.start(0.0)];
    let (mut log, mut list) = (StateMachineLog::new(), SampleList::new());
    let mut script = SCRIPT.iter().peekable();
    for frame in 0..=390 {
        let now_s = f64::from(frame) * FRAME_S;
        machine.update_logged(now_s, &mut hero, &mut log)?;
        for event in log.events() {
            let word = match event.kind {
                StateMachineEventKind::Left => "leaves",
                StateMachineEventKind::Entered => "enters",
            };
            let name = machine.state_name(event.layer, event.state);
            println!(
                "{:8.4} s  layer {} {word} \"{name}\"",
                event.time_s, event.layer
            );
        }
        if frame % 15 == 0 {
            list.clear();
            machine.play(now_s, &hero, &mut list)?;
            let samples = list.samples(0).iter().map(|sample| {
                let name = character.clips()[sample.clip].name();
                let part = 100.0 * sample.weight;
                format!(
                    "{}:{name} {part:.0} % at {:.2} s",
                    sample.level, sample.time_s
                )
            });
            println!("{now_s:8.4} s  {}", samples.collect::<Vec<_>>().join(", "));
        }
        while let Some((_, input)) = script.next_if(|(time_s, _)| *time_s <= now_s) {
            println!("{now_s:8.4} s  input: {input:?}");
            apply(&machine, &mut hero[0], *input)?;
        }
    }
    Ok(())
}

/// What is set counts from the update before.
fn apply(
    machine: &StateMachine,
    hero: &mut StateMachineInstance,
    input: Input,
) -> throng::Result<()> {
    match input {
        Input::Speed(speed) => machine.set_float(hero, machine.parameter("speed")?, speed),
        Input::Wave => machine.set_trigger(hero, machine.parameter("wave")?),
        Input::Jump => machine.set_trigger(hero, machine.parameter("jump")?),
        Input::Ground(is) => machine.set_bool(hero, machine.parameter("grounded")?, is),
    }
}
