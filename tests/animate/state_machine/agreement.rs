//! Random machines under random inputs and frame times.

use super::made::{self, CLIPS, Change, Driven, Input, Sample};
use super::simulation::{self, Simulation};
use crate::reference::rng::Rng;
use throng::character::Character;
use throng::state_machine::StateMachineDesc;

/// The crate delivers at most 256 events in an update. The simulation has no limit.
const MAX_STEPS: usize = 250;
/// Both round at each of some hundred steps of numbers below 100: the worst seen is 2e-13.
const TIME_S: f64 = 1e-10;
/// `f32` weights, which are products of five that are rounded once each, blends' own, and fades
/// whose durations are `f32`.
const WEIGHT: f64 = 2e-6;

/// The distance of two times in a clip, around the loop if it loops.
fn apart(got_s: f64, want: &simulation::Sample) -> f64 {
    let straight = (got_s - want.time_s).abs();
    if want.looped {
        straight.min((CLIPS[want.clip].1 - straight).abs())
    } else {
        straight
    }
}

fn same_samples(got: &[Sample], want: &[simulation::Sample]) {
    let mut want: Vec<_> = want.iter().filter(|s| s.weight > WEIGHT).collect();
    let mut got: Vec<_> = got
        .iter()
        .filter(|s| f64::from(s.weight) > WEIGHT)
        .collect();
    // The clips of a blend may be in any order.
    let order = |time_s: f64, weight: f64| ((time_s * 1e6).round() as i64, (weight * 1e9) as i64);
    got.sort_by_key(|s| (s.layer, s.clip, order(s.time_s, s.weight.into())));
    want.sort_by_key(|s| (s.level, s.clip, order(s.time_s, s.weight)));
    assert_eq!(got.len(), want.len(), "{got:?}\n{want:?}");
    for (got, want) in got.iter().zip(want) {
        assert_eq!((got.clip, usize::from(got.layer)), (want.clip, want.level));
        assert!(
            (f64::from(got.weight) - want.weight).abs() <= WEIGHT,
            "{got:?} {want:?}"
        );
        assert!(apart(got.time_s, want) <= TIME_S, "{got:?} {want:?}");
    }
}

fn same_events(got: &[Change], want: &[(usize, bool, usize, f64)], seed: u64) {
    // Each layer on its own is in order.
    let (mut got, mut want) = (got.to_vec(), want.to_vec());
    got.sort_by_key(|change| change.layer);
    want.sort_by_key(|change| change.0);
    assert_eq!(got.len(), want.len(), "seed {seed}: {got:?}\n{want:?}");
    for (got, (layer, entered, state, time_s)) in got.iter().zip(want) {
        assert_eq!(
            (usize::from(got.layer), got.entered, got.state.index()),
            (layer, entered, state),
            "seed {seed}"
        );
        assert!(
            (got.time_s - time_s).abs() <= TIME_S,
            "seed {seed}: {got:?} {time_s}"
        );
    }
}

fn frame(rng: &mut Rng, now_s: f64) -> f64 {
    now_s
        + f64::from(match rng.below(12) {
            0 => 0.0,
            1 => rng.range(0.0, 1e-4),
            2 => rng.range(0.0, 2.0),
            _ => rng.range(0.001, 0.1),
        })
}

/// Returns true if a state is at the time of an exit, to within rounding.
///
/// A state of speed 0 that was entered in step can stand there. Rounding then decides whether it
/// has reached the exit.
fn stands_at_exit(desc: &StateMachineDesc, at: &Simulation<'_>) -> bool {
    let layers = desc.layers.iter().zip(at.status());
    layers.into_iter().any(|(layer, (_, phase, _))| {
        let exits = layer.transitions.iter().filter_map(|way| way.exit);
        let off = |exit: f32| (phase - f64::from(exit)).abs();
        exits.map(off).any(|off| off < 1e-12)
    })
}

#[test]
fn random_machines_do_what_a_plain_simulation_does() {
    let (mut runs, mut events, mut busy, mut ties) = (0, 0, 0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let desc = made::desc(&mut rng);
        let character = made::driven(&desc).unwrap();
        let mut now_s = f64::from(rng.range(-100.0, 100.0));
        let mut actor = Driven::new(&character, now_s);
        let mut want = Simulation::new(&desc, now_s);
        for _ in 0..120 {
            while rng.chance(3) {
                let input = made::input(&mut rng);
                actor.apply(input);
                want.apply(input);
            }
            now_s = frame(&mut rng, now_s);
            let got = actor.update(now_s);
            want.update(now_s);
            if want.steps > MAX_STEPS {
                busy += 1;
                break;
            }
            if got.len() != want.events.len() && stands_at_exit(&desc, &want) {
                ties += 1;
                break;
            }
            same_events(&got, &want.events, seed);
            for (layer, (number, phase, weight)) in want.status().into_iter().enumerate() {
                let got = actor.status(layer as u8);
                assert_eq!(got.state.index(), number, "seed {seed}");
                assert!(
                    (got.phase - phase).abs() <= TIME_S,
                    "seed {seed}: {got:?} {phase}"
                );
                assert!(
                    (f64::from(got.weight) - weight).abs() <= WEIGHT,
                    "seed {seed}"
                );
            }
            same_samples(&actor.samples(), &want.samples());
            events += want.events.len();
        }
        runs += 1;
    }
    println!("{runs} machines, {events} states left and entered, {busy} too busy, {ties} ties");
    assert!(ties < 4, "{ties}");
    // The test is about machines that do something.
    assert!(events > 5_000 && busy < runs / 10);
}

/// Inputs at their times, and the time at the end.
fn script(rng: &mut Rng) -> (Vec<(f64, Input)>, f64) {
    let mut time_s = 0.0;
    let inputs = (0..30).map(|_| {
        time_s += f64::from(rng.range(0.0, 0.6));
        (time_s, made::input(rng))
    });
    let inputs = inputs.collect();
    (inputs, time_s + 1.0)
}

/// Plays a script. `parts` says at which parts of the time between two inputs to update.
fn played(
    character: &Character,
    script: &(Vec<(f64, Input)>, f64),
    mut parts: impl FnMut() -> Vec<f64>,
) -> (Driven, Vec<Change>) {
    let mut actor = Driven::new(character, 0.0);
    let mut changes = Vec::new();
    let inputs = script.0.iter();
    let ends = inputs.map(|(time_s, input)| (*time_s, Some(*input)));
    for (end_s, input) in ends.chain([(script.1, None)]) {
        let start_s = actor.animator.now_s();
        for part in parts().into_iter().chain([1.0]) {
            let now_s = if part == 1.0 {
                end_s
            } else {
                start_s + part * (end_s - start_s)
            };
            changes.extend(actor.update(now_s));
        }
        if let Some(input) = input {
            actor.apply(input);
        }
    }
    (actor, changes)
}

#[test]
fn the_same_time_in_any_steps_gives_the_same_states_at_the_same_times() {
    let (mut events, mut busy) = (0, 0);
    for seed in 1000..1600 {
        let mut rng = Rng::new(seed);
        let desc = made::desc(&mut rng);
        let character = made::driven(&desc).unwrap();
        let script = script(&mut rng);
        let (whole, mut want) = played(&character, &script, Vec::new);
        // Updates that end with events left are found by their length.
        let busiest = want
            .chunk_by(|a, b| b.time_s - a.time_s < 0.6)
            .map(<[_]>::len);
        if busiest.max().unwrap_or(0) > MAX_STEPS {
            busy += 1;
            continue;
        }
        let (fine, mut got) = played(&character, &script, || {
            let mut parts: Vec<_> = (0..20).map(|_| f64::from(rng.range(0.0, 1.0))).collect();
            parts.sort_by(f64::total_cmp);
            parts
        });
        assert_eq!(got.len(), want.len(), "seed {seed}\n{got:?}\n{want:?}");
        got.sort_by_key(|change| change.layer);
        want.sort_by_key(|change| change.layer);
        for (got, want) in got.iter().zip(&want) {
            assert_eq!(
                (got.layer, got.entered, got.state),
                (want.layer, want.entered, want.state),
                "seed {seed}"
            );
            // The times come out of the same anchors, not of sums over frames.
            assert!((got.time_s - want.time_s).abs() <= 1e-12, "seed {seed}");
        }
        events += want.len();
        let heavy = |actor: &Driven| {
            let mut samples = actor.samples();
            samples.retain(|sample| f64::from(sample.weight) > WEIGHT);
            samples
        };
        let (got, want) = (heavy(&fine), heavy(&whole));
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(&want) {
            assert_eq!((got.clip, got.layer), (want.clip, want.layer));
            assert!((got.weight - want.weight).abs() <= 1e-6);
            let off = (got.time_s - want.time_s).abs();
            assert!(
                off.min((CLIPS[got.clip].1 - off).abs()) <= 1e-11,
                "seed {seed}"
            );
        }
    }
    println!("{events} states left and entered, {busy} too busy");
    assert!(events > 3000 && busy < 60);
}
