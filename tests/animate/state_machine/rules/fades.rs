//! Interrupted fades, and states in sync.

use super::played::{Played, desc, named, way};
use throng::state_machine::{Interruption, TransitionDesc};

#[test]
fn interruptions_are_those_of_source_and_target_in_order() {
    // A fade of one second from `a` to `b`, with inputs at half of it.
    let fade = |interruption, ordered| TransitionDesc {
        fade_s: 1.0,
        interruption,
        ordered,
        ..way("a", "b", &["tap"])
    };
    let run = |before: &str, interruption, ordered, after: &str| {
        let ways = vec![
            way("a", before, &["hit"]),
            fade(interruption, ordered),
            way("a", after, &["count == 2"]),
            way("b", "a", &["flag"]),
        ];
        let mut played = Played::of(&desc(ways));
        played.set("tap", 1.0);
        played.to(0.5);
        played
    };
    let entered = |mut played: Played, sets: &[&'static str]| {
        for set in sets {
            played.set(set, 2.0);
        }
        played.to(0.75)
    };
    use Interruption::{None, Source, SourceThenTarget, Target, TargetThenSource};
    for (interruption, sets, want) in [
        (None, &["hit", "flag"][..], &[][..]),
        (Source, &["flag"], &[]),
        (Source, &["hit", "flag"], &[("c", 0.5)]),
        (Target, &["hit"], &[]),
        // In `a` again, what was set may fire.
        (Target, &["hit", "flag"], &[("a", 0.5), ("c", 0.5)]),
        (SourceThenTarget, &["hit", "flag"], &[("c", 0.5)]),
        (TargetThenSource, &["flag"], &[("a", 0.5)]),
    ] {
        let got = entered(run("c", interruption, true, "c"), sets);
        assert_eq!(got, named(want), "{interruption:?} {sets:?}");
    }
    // Listed after the one under way: only if that is not ordered.
    assert_eq!(entered(run("c", Source, true, "c"), &["count"]), named(&[]));
    assert_eq!(
        entered(run("c", Source, false, "c"), &["count"]),
        named(&[("c", 0.5)])
    );
    // A transition that may not interrupt waits for the end.
    let mut played = run("c", None, true, "c");
    played.set("flag", 1.0);
    assert_eq!(played.to(3.0), named(&[("a", 1.0)]));
}

#[test]
fn an_interrupted_fade_goes_on_from_the_weights_it_had() {
    let fade = |from, to, when: &[&str]| TransitionDesc {
        fade_s: 1.0,
        interruption: Interruption::Target,
        ..way(from, to, when)
    };
    let ways = vec![
        fade("a", "b", &["tap"]),
        fade("b", "c", &["hit"]),
        fade("c", "a", &["tap"]),
    ];
    let mut played = Played::of(&desc(ways));
    played.set("tap", 1.0);
    played.to(0.25);
    let before = [(0, 0.25, 0.75), (1, 0.25, 0.25)];
    assert_eq!(played.samples(), before);
    played.set("hit", 1.0);
    played.to(0.25);
    assert_eq!(played.samples(), before);
    played.to(0.75);
    assert_eq!(
        played.samples(),
        [(0, 0.75, 0.375), (1, 0.75, 0.125), (2, 0.5, 0.5)]
    );
    played.to(1.5);
    assert_eq!(played.samples(), [(2, 1.25, 1.0)]);
}

#[test]
fn no_weight_jumps_however_often_fades_are_interrupted() {
    let fade = |to| TransitionDesc {
        fade_s: 1.0,
        interruption: Interruption::Target,
        ..way("(any)", to, &["tap"])
    };
    let mut desc = desc(vec![fade("a"), fade("b")]);
    desc.layers[0].transitions[1].when.clear();
    desc.layers[0].transitions[1]
        .when
        .push("hit".parse().unwrap());
    let mut played = Played::of(&desc);
    let mut last = [1.0, 0.0];
    let mut entered = 0;
    for frame in 0..400 {
        if frame % 10 == 5 {
            played.set(if frame % 20 == 5 { "hit" } else { "tap" }, 1.0);
        }
        entered += played.to(0.01 * f64::from(frame)).len();
        let mut weights = [0.0; 2];
        for (clip, _, weight) in played.samples() {
            weights[clip] += weight;
        }
        assert!((weights[0] + weights[1] - 1.0).abs() < 1e-5);
        // A hundredth of a second of a second, either way.
        assert!(
            (weights[0] - last[0]).abs() < 0.0101,
            "frame {frame}: {last:?} {weights:?}"
        );
        last = weights;
    }
    // Four fade out, then the next waits for the end of the fade: fewer than were asked for, and
    // many.
    assert!((15..40).contains(&entered), "{entered}");
}

#[test]
fn states_in_step_take_over_the_phase_and_keep_it() {
    let sync = TransitionDesc {
        fade_s: 1.0,
        synced: true,
        ..way("a", "c", &["tap"])
    };
    let mut played = Played::of(&desc(vec![sync]));
    played.to(2.25);
    played.set("tap", 1.0);
    played.to(2.75);
    // Half a second is a quarter of `c`: both are at the half.
    assert_eq!(played.samples(), [(0, 0.5, 0.5), (2, 1.0, 0.5)]);
}

#[test]
fn a_phase_that_is_taken_over_at_an_exit_is_not_met_again() {
    let way = |from, to, exit| TransitionDesc {
        exit: Some(exit),
        synced: true,
        ..way(from, to, &[])
    };
    // Each leads on where the other one was left: once a loop, and not both at once.
    let mut played = Played::of(&desc(vec![way("a", "b", 0.3), way("b", "a", 0.3)]));
    played.to(1e6 / 3.0);
    let start_s = played.0.animator.now_s();
    let entered = played.to(start_s + 50.0);
    assert_eq!(entered.len(), 50, "{entered:?}");
    assert!(
        entered
            .windows(2)
            .all(|pair| (pair[1].1 - pair[0].1 - 1.0).abs() < 1e-6)
    );
}
