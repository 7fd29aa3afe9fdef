//! Invalid input: extreme numbers, times and names.

use super::made::{self, CLIPS, Driven};
use super::text;
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::reference::words::{Fails, Says};
use throng::animator::AnimationEventKind;
use throng::character::{AdditiveDesc, AnimationDesc, PoseReference};
use throng::error::DescFault;
use throng::state_machine::{
    LayerDesc, Origin, ParameterKind, StateDesc, StateMachineDesc, TransitionDesc,
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
    let times = [f32::MAX.into(), 1e12, -1e12, 2_592_000.0, -0.0, 1e-300];
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..1500 {
        let mut rng = Rng::new(seed);
        let mut desc = made::desc(&mut rng);
        spoil(&mut desc, &mut rng);
        let character = match made::driven(&desc) {
            Ok(character) => character,
            Err(error @ Error::Description { .. }) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
                continue;
            }
            Err(other) => panic!("{other}"),
        };
        taken += 1;
        let start_s = times[1 + rng.below(times.len() - 1)];
        let mut actor = Driven::new(&character, start_s);
        for _ in 0..40 {
            let name = made::FLOATS[rng.below(3)];
            let value = NUMBERS[rng.below(NUMBERS.len())];
            let id = actor.parameter(name);
            let set = actor.actor().set_parameter(id, value);
            assert_eq!(set.is_ok(), value.is_finite());
            actor.apply(made::input(&mut rng));
            let now_s = if rng.chance(2) {
                times[rng.below(times.len())]
            } else {
                actor.animator.now_s() + f64::from(rng.range(-1.0, 1.0))
            };
            let updated = actor.animator.update(now_s);
            assert_eq!(updated.is_ok(), now_s.abs() <= 1e12);
            // The number of steps has a bound, so the list has one, too.
            let events = actor.animator.events().iter();
            let states =
                events.filter(|event| !matches!(event.kind, AnimationEventKind::Clip { .. }));
            assert!(states.count() <= 1200);
            let samples = actor.samples();
            for sample in &samples {
                let duration_s = CLIPS[sample.clip].1;
                assert!((0.0..=duration_s).contains(&sample.time_s), "{sample:?}");
                assert!(sample.weight.is_finite(), "{sample:?}");
            }
            assert!(samples.is_sorted_by_key(|sample| sample.layer));
        }
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

fn simple_actor(now_s: f64) -> Driven {
    Driven::new(&made::driven(&simple()).unwrap(), now_s)
}

#[test]
fn a_month_in_one_update_is_bounded_and_what_follows_goes_on() {
    let mut actor = simple_actor(0.0);
    let month_s = 30.0 * 86_400.0;
    assert!(actor.update(month_s).len() <= 2 * 256 + 1);
    // It passed its exit long ago.
    assert!(!actor.update(month_s).is_empty());
    let changes = actor.update(month_s + 3.0);
    let mut times_s = changes.iter().map(|change| change.time_s);
    assert!(times_s.all(|time_s| (month_s..=month_s + 3.0).contains(&time_s)));
    assert!((2..12).contains(&changes.len()), "{}", changes.len());
}

#[test]
fn a_clock_that_goes_back_stops_nothing_and_repeats_nothing() {
    let mut actor = simple_actor(10.0);
    actor.update(11.3);
    let before = actor.status(0);
    assert_eq!(actor.update(2.0), []);
    let after = actor.status(0);
    assert_eq!(before.state, after.state);
    assert!((before.phase - after.phase).abs() < 1e-12);
    assert!((before.weight - after.weight).abs() < 1e-6 && before.weight < 1.0);
    actor.update(2.5);
    assert_eq!(actor.status(0).weight, 1.0);
}

#[test]
fn names_and_kinds_that_do_not_exist_are_refused() {
    let mut actor = simple_actor(0.0);
    let foreign = actor.parameter("x");
    assert!(actor.actor().set_parameter(foreign, 1).is_err());
    assert!(actor.actor().set_parameter(foreign, true).is_err());
    actor
        .actor()
        .set_parameter(Id::new(7), true)
        .fails("parameter 7 does not exist: there are 7");
    let handle = actor.animator.live(actor.id);
    assert!(handle.layer_status(1).is_err());
    let machine = actor.animator.state_machine().unwrap();
    assert!(machine.parameter("nothing").is_err() && machine.layer("legs").is_err());
    assert_eq!(machine.layer("body"), Ok(0));
    assert_eq!(machine.state(0, "b"), Ok(Id::new(1)));
    assert!(machine.state(0, "x").is_err() && machine.state(1, "a").is_err());
}

#[test]
fn too_much_is_refused_with_its_cap() {
    let cap = |desc: &StateMachineDesc| match text::animated(made::bare(), desc).unwrap_err() {
        Error::Description { why, .. } => match *why {
            DescFault::Cap { what, asked, cap } => (what, asked, cap),
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
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
    let mut actor = Driven::new(&made::driven(&desc).unwrap(), 0.0);
    for frame in 0..5 {
        actor.update(f64::from(frame));
    }
}

#[test]
fn clips_are_checked() {
    let additive = AdditiveDesc {
        name: None,
        clip: "a".into(),
        reference: PoseReference::Start,
    };
    let desc = AnimationDesc {
        additive: vec![additive],
        state_machine: Some(simple()),
        ..AnimationDesc::default()
    };
    let refused = made::bare().clone().with_animation(&desc).unwrap_err();
    let message = refused.to_string();
    let wanted = "motion.clip: clip \"a\" is additive, unlike the layer";
    message.says(format!("…{wanted}"));
}
