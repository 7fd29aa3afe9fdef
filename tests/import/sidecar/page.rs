//! The example of the page about file formats is complete: it drives the mannequin.

use crate::reference::handles::Handles;
use throng::animator::Animator;
use throng::builtin;

const PAGE: &str = include_str!("../../../import/README.md");

#[test]
fn the_example_of_the_page_drives_a_character() {
    let (_, text) = PAGE.split_once("```toml\n").unwrap();
    let (text, rest) = text.split_once("```").unwrap();
    assert!(!rest.contains("```toml"), "another example is not tested");
    let mannequin = builtin::mannequin().unwrap().character;
    let character = mannequin.with_animation_toml("formats.md", text).unwrap();
    assert!(character.socket("sword").is_ok());
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add_with_state_machine().unwrap();
    animator.update(0.1).unwrap();
    let state = |animator: &Animator, layer| {
        let status = animator.live(id).layer_status(layer).unwrap();
        let machine = animator.state_machine().unwrap();
        machine.state_name(layer, status.state).to_owned()
    };
    assert_eq!(
        [state(&animator, 0), state(&animator, 1)],
        ["stand", "nothing"]
    );
    let mut actor = animator.live_mut(id);
    actor.set_parameter("speed", 1.5).unwrap();
    actor.set_parameter("wave", true).unwrap();
    animator.update(0.6).unwrap();
    assert_eq!([state(&animator, 0), state(&animator, 1)], ["move", "wave"]);
    // Back at the end of the clip.
    let wave = character.clip("Wave").unwrap();
    let end_s = 0.1 + character.clips()[wave.index()].duration_s();
    animator.update(end_s - 0.05).unwrap();
    assert_eq!(state(&animator, 1), "wave");
    animator.update(end_s + 0.05).unwrap();
    assert_eq!(state(&animator, 1), "nothing");
}
