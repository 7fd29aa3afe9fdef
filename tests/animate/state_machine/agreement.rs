//! Random machines under random inputs and frame times.

use super::made::{self, CLIPS, Input};
use super::simulation::{Sample, Simulation};
use crate::reference::rng::Rng;
use throng::Id;
use throng::motion::{ClipSample, SampleList};
use throng::state_machine::{StateDesc, StateMachine, StateMachineInstance, StateMachineLog};

/// The crate delivers at most 256 events in an update. The simulation has no limit.
const MAX_STEPS: usize = 250;
/// Both round at each of some hundred steps of numbers below 100: the worst seen is 2e-13.
const TIME_S: f64 = 1e-10;
/// `f32` weights, which are products of five that are rounded once each, and blends' own.
const WEIGHT: f64 = 1e-6;

fn samples(machine: &StateMachine, state: &StateMachineInstance) -> Vec<ClipSample> {
    let mut list = SampleList::new();
    let now_s = state.now_s();
    machine.play(now_s, state, &mut list).unwrap();
    list.samples(0).to_vec()
}

/// The distance of two times in a clip, around the loop if it loops.
fn apart(got_s: f64, want: &Sample) -> f64 {
    let straight = (got_s - want.time_s).abs();
    if want.looped {
        straight.min((CLIPS[want.clip].1 - straight).abs())
    } else {
        straight
    }
}

fn same_samples(got: &[ClipSample], want: &[Sample]) {
    let want: Vec<_> = want.iter().filter(|s| s.weight as f32 > 1e-9).collect();
    let got: Vec<_> = got.iter().filter(|s| s.weight > 1e-9).collect();
    assert_eq!(got.len(), want.len(), "{got:?}\n{want:?}");
    for (got, want) in got.iter().zip(want) {
        let got_place = (got.clip.index(), usize::from(got.level));
        assert_eq!(got_place, (want.clip, want.level));
        assert!(
            (f64::from(got.weight) - want.weight).abs() <= WEIGHT,
            "{got:?} {want:?}"
        );
        assert!(apart(got.time_s, want) <= TIME_S, "{got:?} {want:?}");
    }
}

fn same_events(log: &StateMachineLog, want: &[(usize, bool, usize, f64)], seed: u64) {
    let got: Vec<_> = log.events().iter().collect();
    assert_eq!(got.len(), want.len(), "seed {seed}: {got:?}\n{want:?}");
    for (got, (layer, entered, state, time_s)) in got.iter().zip(want) {
        assert_eq!(
            (usize::from(got.layer), got.entered, got.state.index()),
            (*layer, *entered, *state),
            "seed {seed}"
        );
        assert!(
            (got.time_s - time_s).abs() <= TIME_S,
            "seed {seed}: {got:?} {time_s}"
        );
    }
}

/// The time that passed, times the weight that it passed with.
fn same_passes(log: &StateMachineLog, want: &[f64]) {
    let mut got = [0.0; CLIPS.len()];
    for pass in log.passes() {
        got[pass.clip.index()] += (pass.to_s - pass.from_s) * f64::from(pass.weight);
        assert!(pass.weight > 0.0 && pass.weight.is_finite());
    }
    for (got, want) in got.iter().zip(want) {
        // Weights are rounded to `f32`.
        assert!((got - want).abs() <= 1e-5, "{got} {want}");
    }
}

fn frame(rng: &mut Rng, now_s: f64) -> f64 {
    now_s
        + f64::from(match rng.below(12) {
            0 => 0.0,
            1 => rng.range(0.0, 1e-4),
            2 => rng.range(0.0, 2.0),
            3 => rng.range(-3.0, 0.0),
            4 => return f64::NAN,
            _ => rng.range(0.001, 0.1),
        })
}

#[test]
fn random_machines_do_what_a_plain_simulation_does() {
    let (mut runs, mut events, mut busy) = (0, 0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let desc = made::desc(&mut rng);
        let machine = made::machine(&desc);
        let start_s = f64::from(rng.range(-100.0, 100.0));
        let mut state = machine.start(start_s);
        let mut want = Simulation::new(&desc, start_s);
        let (mut log, mut now_s) = (StateMachineLog::new(), start_s);
        for _ in 0..120 {
            while rng.chance(3) {
                let input = made::input(&mut rng);
                made::apply(&machine, &mut state, input);
                want.apply(input);
            }
            let next_s = frame(&mut rng, now_s);
            machine.update(next_s, &mut state, &mut log).unwrap();
            want.update(next_s);
            if want.steps > MAX_STEPS {
                busy += 1;
                break;
            }
            now_s = state.now_s();
            same_events(&log, &want.events, seed);
            same_passes(&log, &want.passed);
            for (layer, (number, phase, weight)) in want.status().into_iter().enumerate() {
                let got = machine.status(&state, layer as u8, now_s).unwrap();
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
            same_samples(&samples(&machine, &state), &want.samples());
            events += want.events.len();
        }
        runs += 1;
    }
    println!("{runs} machines, {events} states left and entered, {busy} too busy");
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

/// The layer, whether the state was entered, the state, and the time in seconds.
type Passed = (u8, bool, Id<StateDesc>, f64);

/// Plays a script, with so many updates between one input and the next.
fn played(
    machine: &StateMachine,
    script: &(Vec<(f64, Input)>, f64),
    mut parts: impl FnMut() -> Vec<f64>,
) -> (StateMachineInstance, Vec<Passed>) {
    let (mut state, mut log) = (machine.start(0.0), StateMachineLog::new());
    let mut events = Vec::new();
    let ends = script
        .0
        .iter()
        .map(|(time_s, input)| (*time_s, Some(*input)));
    for (end_s, input) in ends.chain([(script.1, None)]) {
        let start_s = state.now_s();
        for part in parts().into_iter().chain([1.0]) {
            let now_s = if part == 1.0 {
                end_s
            } else {
                start_s + part * (end_s - start_s)
            };
            machine.update(now_s, &mut state, &mut log).unwrap();
            events.extend(
                log.events()
                    .iter()
                    .map(|e| (e.layer, e.entered, e.state, e.time_s)),
            );
        }
        if let Some(input) = input {
            made::apply(machine, &mut state, input);
        }
    }
    (state, events)
}

#[test]
fn the_same_time_in_any_steps_gives_the_same_states_at_the_same_times() {
    let (mut events, mut busy) = (0, 0);
    for seed in 1000..1600 {
        let mut rng = Rng::new(seed);
        let desc = made::desc(&mut rng);
        let machine = made::machine(&desc);
        let script = script(&mut rng);
        let (whole, want) = played(&machine, &script, Vec::new);
        // Updates that come to their end with events left are told by their length.
        let busiest = want.chunk_by(|a, b| b.3 - a.3 < 0.6).map(<[_]>::len);
        if busiest.max().unwrap_or(0) > MAX_STEPS {
            busy += 1;
            continue;
        }
        let (fine, got) = played(&machine, &script, || {
            let mut parts: Vec<_> = (0..20).map(|_| f64::from(rng.range(0.0, 1.0))).collect();
            parts.sort_by(f64::total_cmp);
            parts
        });
        assert_eq!(got.len(), want.len(), "seed {seed}\n{got:?}\n{want:?}");
        for (got, want) in got.iter().zip(&want) {
            assert_eq!(
                (got.0, got.1, got.2),
                (want.0, want.1, want.2),
                "seed {seed}"
            );
            // The times come out of the same anchors, not of sums over frames.
            assert!((got.3 - want.3).abs() <= 1e-12, "seed {seed}");
        }
        events += want.len();
        let [got, want] = [fine, whole].map(|state| samples(&machine, &state));
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(&want) {
            assert_eq!((got.clip, got.level), (want.clip, want.level));
            assert!((got.weight - want.weight).abs() <= 1e-6);
            let off = (got.time_s - want.time_s).abs();
            assert!(
                off.min((CLIPS[got.clip.index()].1 - off).abs()) <= 1e-11,
                "seed {seed}"
            );
        }
    }
    println!("{events} states left and entered, {busy} too busy");
    assert!(events > 3000 && busy < 60);
}

#[test]
fn a_saved_state_goes_on_as_if_nothing_had_been() {
    for seed in 2000..2080 {
        let mut rng = Rng::new(seed);
        let desc = made::desc(&mut rng);
        let machine = made::machine(&desc);
        let mut state = machine.start(0.0);
        let mut now_s = 0.0;
        for _ in 0..40 {
            made::apply(&machine, &mut state, made::input(&mut rng));
            now_s += f64::from(rng.range(0.0, 0.2));
            machine
                .update(now_s, &mut state, &mut StateMachineLog::new())
                .unwrap();
        }
        let saved = toml::to_string(&state).unwrap();
        let mut restored: StateMachineInstance = toml::from_str(&saved).unwrap();
        assert_eq!(restored, state);
        // A machine made anew from the data takes it too.
        let again = made::machine(&desc);
        for _ in 0..20 {
            let input = made::input(&mut rng);
            made::apply(&machine, &mut state, input);
            made::apply(&again, &mut restored, input);
            now_s += f64::from(rng.range(0.0, 0.2));
            machine
                .update(now_s, &mut state, &mut StateMachineLog::new())
                .unwrap();
            again
                .update(now_s, &mut restored, &mut StateMachineLog::new())
                .unwrap();
            assert_eq!(samples(&machine, &state), samples(&again, &restored));
        }
        assert_eq!(state, restored);
    }
}
