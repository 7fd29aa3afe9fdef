//! State machines allocate nothing from frame to frame.
//!
//! Parsing their text allocates at most in proportion to its length.

use crate::counting::{allocated_bytes, allocations, measure};
use throng::motion::SampleList;
use throng::state_machine::{StateMachine, StateMachineDesc, StateMachineLog};

#[test]
fn nothing_is_allocated_from_frame_to_frame() {
    let _measurement = measure();
    let character = throng::import::RawCharacter::mannequin()
        .build(&throng::import::ImportOptions::curves_only())
        .unwrap()
        .character;
    let text = include_str!("../../examples/machine/hero.toml");
    let machine = StateMachine::from_toml("hero.toml", text, &character).unwrap();
    let [speed, jump] = ["speed", "jump"].map(|name| machine.parameter(name).unwrap());
    let mut states = vec![machine.start(0.0); 100];
    let (mut log, mut list) = (StateMachineLog::new(), SampleList::new());
    let mut entered = 0;
    let mut frames = |from: u32, count: u32| {
        for frame in from..from + count {
            for (index, state) in states.iter_mut().enumerate() {
                // Repeats every 90 frames.
                match (frame as usize + index) % 90 {
                    0 => machine.set_float(state, speed, 3.0).unwrap(),
                    45 => machine.set_float(state, speed, 0.0).unwrap(),
                    10 | 12 => machine.set_trigger(state, jump).unwrap(),
                    _ => {}
                }
            }
            let now_s = f64::from(frame) / 30.0;
            list.clear();
            for state in &mut states {
                machine.update(now_s, state, &mut log).unwrap();
                machine.play(now_s, state, &mut list).unwrap();
                entered += log.events().len();
            }
        }
    };
    frames(0, 400);
    let before = allocations();
    frames(400, 400);
    assert_eq!(allocations() - before, 0);
    assert!(entered > 1000, "{entered}");
    text_with_long_keys();
}

/// An unknown key of any length, with a long list in it.
///
/// Writing out the path of each element would take 60 GB.
fn text_with_long_keys() {
    let (key, list) = ("k".repeat(400_000), "0,".repeat(300_000));
    let text = format!("[[layer]]\nname = \"body\"\nentry = \"stand\"\n{key} = [{list}]\n");
    let before = allocated_bytes();
    let error = StateMachineDesc::from_toml("long.toml", &text).unwrap_err();
    let bytes = allocated_bytes() - before;
    assert!(bytes < 1000 * text.len(), "{bytes}");
    assert!(
        error
            .to_string()
            .starts_with("long.toml:4: layer 0 \"body\""),
        "{error}"
    );
}
