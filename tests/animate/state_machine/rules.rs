//! The rules one by one.

use super::made;
use throng::ids::{ClipId, MaskId};
use throng::motion::{ClipEvents, ClipSample, Ease, LoopMode, SampleList};
use throng::skeleton::Skeleton;
use throng::state_machine::{
    BlendPointDesc, Interruption, LayerDesc, MotionDesc, Origin, StateDesc, StateMachine,
    StateMachineClip, StateMachineDesc, StateMachineInstance, StateMachineLog, TransitionDesc,
};

/// Lasts a second each, but `c`, which lasts two.
const CLIPS: [(&str, f64); 3] = [("a", 1.0), ("b", 1.0), ("c", 2.0)];

fn desc(transitions: Vec<TransitionDesc>) -> StateMachineDesc {
    StateMachineDesc {
        parameters: made::parameters(),
        masks: Vec::new(),
        layers: vec![LayerDesc {
            states: CLIPS.map(|(name, _)| StateDesc::clip(name, name)).into(),
            transitions,
            ..LayerDesc::new("body", "a")
        }],
    }
}

fn machine(desc: &StateMachineDesc) -> StateMachine {
    let clips = CLIPS.map(|(name, duration_s)| StateMachineClip {
        name,
        duration_s,
        additive: None,
    });
    StateMachine::new(desc, &Skeleton::default(), &clips).unwrap()
}

fn way(from: &str, to: &str, when: &[&str]) -> TransitionDesc {
    TransitionDesc {
        when: when.iter().map(|text| text.parse().unwrap()).collect(),
        ease: Ease::Linear,
        ..TransitionDesc::new(Origin::from(from.to_owned()), to)
    }
}

struct Played {
    machine: StateMachine,
    state: StateMachineInstance,
    log: StateMachineLog,
}

impl Played {
    fn of(desc: &StateMachineDesc) -> Self {
        let machine = machine(desc);
        let state = machine.start(0.0);
        Self {
            machine,
            state,
            log: StateMachineLog::new(),
        }
    }

    fn set(&mut self, name: &str, value: f32) {
        let id = self.machine.parameter(name).unwrap();
        let state = &mut self.state;
        match name {
            "flag" => self.machine.set_bool(state, id, value != 0.0),
            "tap" | "hit" => self.machine.set_trigger(state, id),
            "count" => self.machine.set_int(state, id, value as i32),
            _ => self.machine.set_float(state, id, value),
        }
        .unwrap();
    }

    /// The states entered up to then, and when.
    fn to(&mut self, now_s: f64) -> Vec<(String, f64)> {
        let Self {
            machine,
            state,
            log,
        } = self;
        machine.update(now_s, state, log).unwrap();
        let entered = log.events().iter().filter(|e| e.entered);
        entered
            .map(|event| {
                let name = machine.state_name(event.layer, event.state);
                // To the nanosecond.
                (name.to_owned(), (event.time_s * 1e9).round() / 1e9)
            })
            .collect()
    }

    fn samples(&self) -> Vec<(usize, f64, f32)> {
        let mut list = SampleList::new();
        let now_s = self.state.now_s();
        self.machine.play(now_s, &self.state, &mut list).unwrap();
        let rounded = |sample: &ClipSample| {
            let time_s = (sample.time_s * 1e9).round() / 1e9;
            (
                sample.clip.index(),
                time_s,
                (sample.weight * 1e6).round() / 1e6,
            )
        };
        list.samples(0).iter().map(rounded).collect()
    }
}

fn named(all: &[(&str, f64)]) -> Vec<(String, f64)> {
    all.iter().map(|(name, at)| ((*name).into(), *at)).collect()
}

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
    let id = played.machine.parameter("tap").unwrap();
    played.machine.set_trigger(&mut played.state, id).unwrap();
    played.machine.reset_trigger(&mut played.state, id).unwrap();
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
    let entered = |mut played: Played, sets: &[&str]| {
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
        in_step: true,
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
        in_step: true,
        ..way(from, to, &[])
    };
    // Each leads on where the other one was left: once a loop, and not both at once.
    let mut played = Played::of(&desc(vec![way("a", "b", 0.3), way("b", "a", 0.3)]));
    played.to(1e6 / 3.0);
    let start_s = played.state.now_s();
    let entered = played.to(start_s + 50.0);
    assert_eq!(entered.len(), 50, "{entered:?}");
    assert!(
        entered
            .windows(2)
            .all(|pair| (pair[1].1 - pair[0].1 - 1.0).abs() < 1e-6)
    );
}

#[test]
fn a_blend_plays_at_one_phase_and_a_change_goes_on_from_it() {
    let mut desc = desc(Vec::new());
    desc.layers[0].states[0].motion = MotionDesc::Blend1 {
        parameter: "x".into(),
        points: [(0.0, "a"), (1.0, "c")]
            .map(|(at, clip)| BlendPointDesc {
                at,
                clip: clip.into(),
            })
            .into(),
    };
    desc.layers[0].states[0].speed_parameter = Some("y".into());
    let mut played = Played::of(&desc);
    played.set("x", 0.0);
    played.set("y", 1.0);
    played.to(0.5);
    assert_eq!(played.samples(), [(0, 0.5, 1.0)]);
    played.set("x", 0.5);
    // The loop now lasts 1.5 s: a fifth of it.
    played.to(0.8);
    assert_eq!(played.samples(), [(0, 0.7, 0.5), (2, 1.4, 0.5)]);
    played.set("y", -1.0);
    played.to(1.1);
    assert_eq!(played.samples(), [(0, 0.5, 0.5), (2, 1.0, 0.5)]);
}

#[test]
fn clip_time_that_passed_is_told_without_a_gap() {
    let sync = TransitionDesc {
        exit: Some(0.5),
        fade_s: 0.25,
        ..way("a", "b", &["flag"])
    };
    let mut played = Played::of(&desc(vec![sync]));
    played.to(2.75);
    played.set("flag", 1.0);
    let mut passes = Vec::new();
    for now_s in [3.0, 3.625, 4.0] {
        played.to(now_s);
        let got = played.log.passes();
        passes.extend(got.iter().map(|p| {
            (
                p.clip.index(),
                p.from_s,
                p.to_s,
                (p.weight * 1e4).round() / 1e4,
            )
        }));
    }
    let want = [
        (0, 2.75, 3.0, 1.0),
        (0, 3.0, 3.5, 1.0),
        (0, 3.5, 3.625, 0.75),
        (1, 0.0, 0.125, 0.25),
        (0, 3.625, 3.75, 0.25),
        (1, 0.125, 0.25, 0.75),
        (1, 0.25, 0.5, 1.0),
    ];
    assert_eq!(passes, want);
    let starts: Vec<_> = {
        let mut played = Played::of(&desc(Vec::new()));
        let mut starts = |now_s: f64| {
            played.to(now_s);
            played
                .log
                .passes()
                .iter()
                .map(|pass| pass.starts)
                .collect::<Vec<_>>()
        };
        [0.0, 0.5, 0.75].map(&mut starts).into()
    };
    assert_eq!(starts, [vec![], vec![true], vec![false]]);
}

/// The names of the events that passes go over: sorted, as those of a frame come by layer and by
/// state.
fn heard(desc: &StateMachineDesc, steps: usize) -> Vec<(usize, i64, u32)> {
    let events = CLIPS.map(|(_, duration_s)| {
        ClipEvents::new(duration_s, [("start", 0.0), ("foot", 0.37 * duration_s)]).unwrap()
    });
    let mut played = Played::of(desc);
    let mut heard = Vec::new();
    for (end, input) in [("tap", 1.0), ("tap", 3.3), ("hit", 4.75), ("none", 9.1)] {
        let start_s = played.state.now_s();
        for step in 1..=steps {
            let part = step as f64 / steps as f64;
            played.to(start_s + part * (input - start_s));
            for pass in played.log.passes() {
                let events = &events[pass.clip.index()];
                let hits = if pass.starts {
                    events.passed_from_start(pass.from_s, pass.to_s, pass.loop_mode)
                } else {
                    events.passed(pass.from_s, pass.to_s, pass.loop_mode)
                };
                heard.extend(hits.map(|hit| (pass.clip.index(), hit.pass, hit.name_id)));
            }
        }
        if end != "none" {
            played.set(end, 1.0);
        }
    }
    heard.sort_unstable();
    heard
}

#[test]
fn events_of_clips_are_heard_once_in_any_steps() {
    let fade = |from, to, when: &[&str]| TransitionDesc {
        fade_s: 0.6,
        interruption: Interruption::Target,
        ..way(from, to, when)
    };
    let ways = vec![
        fade("a", "b", &["tap"]),
        fade("b", "c", &["tap"]),
        fade("c", "a", &["hit"]),
    ];
    for wrap in [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong] {
        let mut desc = desc(ways.clone());
        desc.layers[0].states[1].loop_mode = wrap;
        let whole = heard(&desc, 1);
        assert!(whole.len() > 15, "{whole:?}");
        for steps in [2, 7, 100] {
            assert_eq!(heard(&desc, steps), whole, "{wrap:?} {steps}");
        }
    }
}

#[test]
fn masks_and_levels_reach_the_samples() {
    let character = crate::models::mannequin();
    let machine = StateMachine::from_toml("hero.toml", super::text::HERO, character).unwrap();
    let mut state = machine.start(0.0);
    let wave = machine.parameter("wave").unwrap();
    machine.set_trigger(&mut state, wave).unwrap();
    machine
        .update(0.5, &mut state, &mut StateMachineLog::new())
        .unwrap();
    let mut list = SampleList::new();
    machine.play(0.5, &state, &mut list).unwrap();
    let [idle, waving] = list.samples(0) else {
        panic!("{list:?}");
    };
    assert_eq!((idle.clip, idle.mask, idle.level), (ClipId(0), None, 0));
    assert_eq!(
        (waving.clip, waving.mask, waving.level),
        (ClipId(3), Some(MaskId(0)), 1)
    );
    let weights = machine.masks()[0].weights();
    let of = |name| weights[usize::from(character.skeleton().joint(name).unwrap().0)];
    assert_eq!(
        [of("Hips"), of("LeftFoot"), of("Head"), of("RightHand")],
        [0.0, 0.0, 1.0, 1.0]
    );
    assert!((0.3..0.4).contains(&of("Spine")), "feathered");
}
