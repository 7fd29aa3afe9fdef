//! Which transition fires, and when.

use super::played::{Played, desc, named, way};
use throng::motion::LoopMode;
use throng::state_machine::TransitionDesc;

#[test]
fn an_exit_below_1_is_met_once_a_loop_and_one_above_is_passed() {
    let exit = |exit| TransitionDesc {
        exit: Some(exit),
        ..way("a", "b", &["flag"])
    };
    for (at, want) in [(0.25, 2.25), (2.5, 2.5), (1.0, 1.6)] {
        let mut played = Played::of(&desc(vec![exit(at)]));
        assert_eq!(played.to(1.6), named(&[("a", 0.0)]));
        played.set("flag", 1.0);
        assert_eq!(played.to(9.0), named(&[("b", want)]), "exit {at}");
    }
    // A state that plays once also passes this once. Backwards, its end is its start.
    let mut once = desc(vec![exit(0.25)]);
    once.layers[0].states[0].loop_mode = LoopMode::Once;
    let mut played = Played::of(&once);
    played.to(0.7);
    played.set("flag", 1.0);
    assert_eq!(played.to(9.0), named(&[("b", 0.7)]));
    once.layers[0].states[0].speed = -0.5;
    once.layers[0].states[0].start = 1.0;
    let mut played = Played::of(&once);
    played.set("flag", 1.0);
    assert_eq!(played.to(9.0), named(&[("a", 0.0), ("b", 0.5)]));
    // Forth and back, a place is met twice.
    let mut back = desc(vec![exit(0.25)]);
    back.layers[0].states[0].loop_mode = LoopMode::PingPong;
    let mut played = Played::of(&back);
    played.to(1.1);
    played.set("flag", 1.0);
    assert_eq!(played.to(9.0), named(&[("b", 1.75)]));
}

#[test]
fn the_first_transition_goes_first_and_takes_its_triggers_back() {
    let ways = vec![
        way("a", "c", &["tap", "flag"]),
        way("a", "b", &["tap"]),
        way("b", "a", &["tap"]),
    ];
    let mut played = Played::of(&desc(ways));
    played.to(1.0);
    played.set("tap", 1.0);
    // Were the trigger still set, it would go on to `a`.
    assert_eq!(played.to(2.0), named(&[("b", 1.0)]));
    played.set("tap", 1.0);
    played.set("flag", 1.0);
    assert_eq!(played.to(3.0), named(&[("a", 2.0)]));
    played.set("tap", 1.0);
    assert_eq!(played.to(4.0), named(&[("c", 3.0)]));
    let id = played.0.parameter("tap");
    played.0.actor().set_parameter(id, true).unwrap();
    played.0.actor().set_parameter(id, false).unwrap();
    assert_eq!(played.to(5.0), named(&[]));
}

#[test]
fn the_entry_is_chosen_by_what_is_set_before() {
    let ways = vec![
        way("(entry)", "b", &["flag"]),
        way("(entry)", "c", &["count == 3"]),
    ];
    let desc = desc(ways);
    assert_eq!(Played::of(&desc).to(0.0), named(&[("a", 0.0)]));
    let mut played = Played::of(&desc);
    played.set("count", 3.0);
    assert_eq!(played.to(1.0), named(&[("c", 0.0)]));
    played.set("flag", 1.0);
    assert_eq!(played.to(2.0), named(&[]));
}

#[test]
fn any_state_leads_to_itself_only_if_it_says_so() {
    for to_self in [false, true] {
        let any = TransitionDesc {
            to_self,
            ..way("(any)", "b", &["tap"])
        };
        let mut played = Played::of(&desc(vec![any]));
        played.set("tap", 1.0);
        assert_eq!(played.to(0.5), named(&[("a", 0.0), ("b", 0.0)]));
        played.set("tap", 1.0);
        let want = if to_self {
            vec![("b", 0.5)]
        } else {
            Vec::new()
        };
        assert_eq!(played.to(1.0), named(&want));
    }
}

#[test]
fn rings_of_transitions_end() {
    let ways = vec![way("a", "b", &[]), way("b", "c", &[]), way("c", "a", &[])];
    let mut played = Played::of(&desc(ways));
    let round = named(&[("a", 0.0), ("b", 0.0), ("c", 0.0), ("a", 0.0)]);
    assert_eq!(played.to(0.0), round);
    // Nothing changed, so nothing is looked at: no matter how many frames.
    assert_eq!(played.to(5.0), named(&[]));
    played.set("x", 1.0);
    assert_eq!(played.to(6.0).len(), 3);
}
