//! Invalid input: extreme numbers, foreign states, and handles of other machines.

use super::made::{self, CLIPS};
use crate::reference::rng::Rng;
use throng::error::DescFault;
use throng::motion::SampleList;
use throng::skeleton::Skeleton;
use throng::state_machine::{
    LayerDesc, Origin, ParameterKind, StateDesc, StateMachine, StateMachineClip, StateMachineDesc,
    StateMachineInstance, StateMachineLog, TransitionDesc,
};
use throng::{Error, Id};

const NUMBERS: [f32; 9] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    -0.0,
    1e-30,
    3601.0,
];

/// Replaces a few numbers.
fn spoil(desc: &mut StateMachineDesc, rng: &mut Rng) {
    for _ in 0..1 + rng.below(3) {
        let number = NUMBERS[rng.below(NUMBERS.len())];
        let layer = rng.below(desc.layers.len());
        let layer = &mut desc.layers[layer];
        let state = rng.below(layer.states.len());
        let state = &mut layer.states[state];
        let way = rng.below(layer.transitions.len().max(1));
        let way = layer.transitions.get_mut(way);
        match (rng.below(7), way) {
            (0, _) => layer.weight = number,
            (1, _) => state.speed = number,
            (2, _) => state.start = number,
            (3, Some(way)) => way.fade_s = number,
            (4, Some(way)) => way.exit = Some(number),
            (5, Some(way)) => way.start = Some(number),
            _ => {
                desc.parameters[0].kind = ParameterKind::Float {
                    default: 0.0,
                    min: Some(number),
                    max: None,
                }
            }
        }
    }
}

#[test]
fn no_number_in_data_time_or_input_breaks_anything() {
    let times = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f32::MAX.into(),
        1e12,
        -1e12,
        2_592_000.0,
        -0.0,
        1e-300,
    ];
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..1500 {
        let mut rng = Rng::new(seed);
        let mut desc = made::desc(&mut rng);
        spoil(&mut desc, &mut rng);
        let machine = match StateMachine::new(&desc, &Skeleton::default(), &made::clips()) {
            Ok(machine) => machine,
            Err(error @ Error::Description { .. }) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
                continue;
            }
            Err(other) => panic!("{other}"),
        };
        taken += 1;
        let mut state = machine.start(times[rng.below(times.len())]);
        let (mut log, mut list) = (StateMachineLog::new(), SampleList::new());
        for _ in 0..40 {
            let name = made::FLOATS[rng.below(3)];
            let value = NUMBERS[rng.below(NUMBERS.len())];
            let id = machine.parameter(name).unwrap();
            let set = machine.set_float(&mut state, id, value);
            assert_eq!(set.is_ok(), value.is_finite());
            made::apply(&machine, &mut state, made::input(&mut rng));
            let now_s = if rng.chance(2) {
                times[rng.below(times.len())]
            } else {
                state.now_s() + f64::from(rng.range(-1.0, 1.0))
            };
            machine.update(now_s, &mut state, &mut log).unwrap();
            // The number of steps has a bound, so the log has one, too.
            assert!(log.events().len() <= 600 && log.passes().len() <= 100_000);
            for pass in log.passes() {
                assert!(pass.from_s.is_finite() && pass.to_s.is_finite());
                assert!(pass.weight.is_finite() && pass.weight > 0.0);
            }
            assert!(state.now_s().abs() <= 1e12);
            list.clear();
            machine.play(now_s, &state, &mut list).unwrap();
            for sample in list.samples(0) {
                let duration_s = CLIPS[sample.clip.index()].1;
                assert!((0.0..=duration_s).contains(&sample.time_s), "{sample:?}");
                assert!(
                    sample.weight.is_finite() && sample.weight > 0.0,
                    "{sample:?}"
                );
            }
            let levels = list.samples(0).iter().map(|sample| sample.level);
            assert!(levels.is_sorted());
        }
        // The resulting state can be saved and restored.
        let saved = toml::to_string(&state).unwrap();
        let mut restored = toml::from_str::<StateMachineInstance>(&saved).unwrap();
        machine
            .update(f64::NAN, &mut restored, &mut StateMachineLog::new())
            .unwrap();
    }
    println!("{taken} taken, {refused} refused");
    assert!(taken > 200 && refused > 200);
}

fn simple() -> StateMachineDesc {
    let end = TransitionDesc {
        exit: Some(1.0),
        ..TransitionDesc::new(Origin::State("b".into()), "a")
    };
    let start = TransitionDesc {
        exit: Some(1.0),
        fade_s: 0.25,
        ..TransitionDesc::new(Origin::State("a".into()), "b")
    };
    StateMachineDesc {
        parameters: made::parameters(),
        masks: Vec::new(),
        layers: vec![LayerDesc {
            states: vec![StateDesc::clip("a", "a"), StateDesc::clip("b", "b")],
            transitions: vec![start, end],
            ..LayerDesc::new("body", "a")
        }],
    }
}

#[test]
fn a_month_in_one_update_is_bounded_and_what_follows_goes_on() {
    let machine = made::machine(&simple());
    let (mut state, mut log) = (machine.start(0.0), StateMachineLog::new());
    let month_s = 30.0 * 86_400.0;
    machine.update(month_s, &mut state, &mut log).unwrap();
    assert!(log.events().len() <= 2 * 256 + 1);
    assert_eq!(state.now_s(), month_s);
    machine.update(month_s, &mut state, &mut log).unwrap();
    // It passed its exit long ago.
    assert!(!log.events().is_empty());
    machine.update(month_s + 3.0, &mut state, &mut log).unwrap();
    let events: Vec<_> = log.events().iter().collect();
    assert!(
        events
            .iter()
            .all(|e| (month_s..=month_s + 3.0).contains(&e.time_s))
    );
    assert!((2..12).contains(&events.len()), "{}", events.len());
}

#[test]
fn a_clock_that_goes_back_stops_nothing_and_repeats_nothing() {
    let machine = made::machine(&simple());
    let (mut state, mut log) = (machine.start(10.0), StateMachineLog::new());
    machine
        .update(11.3, &mut state, &mut StateMachineLog::new())
        .unwrap();
    let before = machine.status(&state, 0, 11.3).unwrap();
    machine.update(2.0, &mut state, &mut log).unwrap();
    let after = machine.status(&state, 0, 2.0).unwrap();
    assert_eq!(log.events().len() + log.passes().len(), 0);
    assert_eq!(before.state, after.state);
    assert!((before.phase - after.phase).abs() < 1e-12);
    assert!((before.weight - after.weight).abs() < 1e-6 && before.weight < 1.0);
    machine
        .update(2.5, &mut state, &mut StateMachineLog::new())
        .unwrap();
    assert_eq!(machine.status(&state, 0, 2.5).unwrap().weight, 1.0);
}

#[test]
fn states_and_handles_of_other_machines_are_refused() {
    let machine = made::machine(&simple());
    let mut other = simple();
    other.layers[0].states[1].name = "c".into();
    other.layers[0].transitions.clear();
    other.parameters.pop();
    let other = made::machine(&other);
    let mut states = [machine.start(0.0), other.start(0.0)];
    let kept = states.clone();
    let mut log = StateMachineLog::new();
    let error = machine.update(1.0, &mut states[1], &mut log).unwrap_err();
    assert_eq!(
        error.to_string(),
        "state machine instance: belongs to another state machine"
    );
    assert_eq!(states, kept);
    let mut list = SampleList::new();
    assert!(machine.play(1.0, &states[1], &mut list).is_err() && list.is_empty());
    assert!(machine.status(&states[1], 0, 0.0).is_err());
    assert!(machine.status(&states[0], 1, 0.0).is_err());
    let [own, foreign] = ["hit", "x"].map(|name| machine.parameter(name).unwrap());
    assert!(matches!(
        other.set_trigger(&mut states[1], own),
        Err(Error::NotFound {
            what: "parameter",
            index: 6,
            count: 6
        })
    ));
    assert!(machine.set_int(&mut states[0], foreign, 1).is_err());
    assert!(machine.set_trigger(&mut states[0], foreign).is_err());
    assert!(machine.parameter("nothing").is_err() && machine.layer("legs").is_err());
    assert_eq!(machine.layer("body"), Ok(0));
    assert_eq!(machine.state(0, "b"), Ok(Id::new(1)));
    assert!(machine.state(0, "x").is_err() && machine.state(1, "a").is_err());
    // Speeds and fades may change under a saved game.
    let mut faster = simple();
    faster.layers[0].states[0].speed = 2.0;
    faster.layers[0].transitions[0].fade_s = 1.0;
    made::machine(&faster)
        .update(1.0, &mut states[0], &mut log)
        .unwrap();
}

#[test]
fn saved_states_that_were_tampered_with_are_refused_or_harmless() {
    let mut rng = Rng::new(9);
    let desc = made::desc(&mut rng);
    let machine = made::machine(&desc);
    let mut state = machine.start(0.0);
    for frame in 0..30 {
        made::apply(&machine, &mut state, made::input(&mut rng));
        machine
            .update(
                0.05 * f64::from(frame),
                &mut state,
                &mut StateMachineLog::new(),
            )
            .unwrap();
    }
    let saved = serde_json::to_string(&state).unwrap();
    let (mut unread, mut refused, mut taken) = (0, 0, 0);
    for _ in 0..4000 {
        let mut bytes = saved.clone().into_bytes();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(bytes.len());
            bytes[at] = b"0123456789-.e,[]{}\""[rng.below(19)];
        }
        let text = String::from_utf8(bytes).unwrap();
        let Ok(mut read) = serde_json::from_str::<StateMachineInstance>(&text) else {
            unread += 1;
            continue;
        };
        if machine
            .update(10.0, &mut read, &mut StateMachineLog::new())
            .is_err()
        {
            refused += 1;
            continue;
        }
        let mut list = SampleList::new();
        machine.play(10.0, &read, &mut list).unwrap();
        for sample in list.samples(0) {
            assert!(sample.time_s.is_finite() && sample.weight.is_finite());
        }
        taken += 1;
    }
    println!("{unread} not read, {refused} refused, {taken} taken");
    assert!(unread > 100 && refused > 10 && taken > 100);
}

#[test]
fn too_much_is_refused_with_its_cap() {
    let cap = |desc: &StateMachineDesc| {
        let error = StateMachine::new(desc, &Skeleton::default(), &made::clips()).unwrap_err();
        match error {
            Error::Description { why, .. } => match *why {
                DescFault::Cap { what, asked, cap } => (what, asked, cap),
                other => panic!("{other}"),
            },
            other => panic!("{other}"),
        }
    };
    type Change = fn(&mut StateMachineDesc);
    let changes: [(&str, usize, Change); 4] = [
        ("transitions", 1024, |desc| {
            let transitions = &mut desc.layers[0].transitions;
            *transitions = vec![transitions[0].clone(); 1025];
        }),
        ("layers", 16, |desc| {
            desc.layers = vec![desc.layers[0].clone(); 17];
        }),
        ("parameters", 256, |desc| {
            desc.parameters = vec![desc.parameters[0].clone(); 257];
        }),
        ("conditions", 16, |desc| {
            let when = &mut desc.layers[0].transitions[0].when;
            *when = vec!["flag".parse().unwrap(); 17];
        }),
    ];
    for (what, most, change) in changes {
        let mut desc = simple();
        change(&mut desc);
        assert_eq!(cap(&desc), (what, most + 1, most));
    }
    // As many states and transitions as are allowed. Each leads to another: updates end.
    let mut desc = simple();
    let states = (0..256).map(|index| StateDesc::clip(&format!("s{index}"), "a"));
    desc.layers[0].states = states.collect();
    desc.layers[0].entry = "s0".into();
    let ways = (0..1024).map(|index| {
        let to = format!("s{}", index * 7 % 256);
        TransitionDesc::new(Origin::Any, &to)
    });
    desc.layers[0].transitions = ways.collect();
    desc.layers = vec![desc.layers[0].clone(); 16];
    for (index, layer) in desc.layers.iter_mut().enumerate() {
        layer.name = format!("{index}");
    }
    let machine = made::machine(&desc);
    let mut state = machine.start(0.0);
    for frame in 0..5 {
        machine
            .update(f64::from(frame), &mut state, &mut StateMachineLog::new())
            .unwrap();
    }
}

#[test]
fn clips_are_checked() {
    let desc = simple();
    let with = |duration_s, additive| {
        let clip = |name| StateMachineClip {
            name,
            duration_s,
            additive,
        };
        StateMachine::new(&desc, &Skeleton::default(), &["a", "b"].map(clip))
    };
    assert!(with(1.0, Some(false)).is_ok());
    let message = with(1.0, Some(true)).unwrap_err().to_string();
    assert_eq!(
        message,
        "layer \"body\", state 0 \"a\", motion.clip: clip \"a\" is additive, unlike the layer"
    );
    for duration_s in [f64::NAN, -1.0, f64::INFINITY] {
        let message = with(duration_s, None).unwrap_err().to_string();
        assert!(
            message.starts_with("state machine, clip 0 \"a\": is "),
            "{message}"
        );
    }
}
