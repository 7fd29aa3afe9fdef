//! A small machine, and what it plays.

use crate::state_machine::made;
use throng::motion::{ClipSample, Ease, SampleList};
use throng::skeleton::Skeleton;
use throng::state_machine::{
    LayerDesc, Origin, StateDesc, StateMachine, StateMachineClip, StateMachineDesc,
    StateMachineInstance, StateMachineLog, TransitionDesc,
};

/// Lasts a second each, but `c`, which lasts two.
pub(super) const CLIPS: [(&str, f64); 3] = [("a", 1.0), ("b", 1.0), ("c", 2.0)];

pub(super) fn desc(transitions: Vec<TransitionDesc>) -> StateMachineDesc {
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

pub(super) fn machine(desc: &StateMachineDesc) -> StateMachine {
    let clips = CLIPS.map(|(name, duration_s)| StateMachineClip {
        name,
        duration_s,
        additive: None,
    });
    StateMachine::new(desc, &Skeleton::default(), &clips).unwrap()
}

pub(super) fn way(from: &str, to: &str, when: &[&str]) -> TransitionDesc {
    TransitionDesc {
        when: when.iter().map(|text| text.parse().unwrap()).collect(),
        ease: Ease::Linear,
        ..TransitionDesc::new(Origin::from(from.to_owned()), to)
    }
}

pub(super) struct Played {
    pub(super) machine: StateMachine,
    pub(super) state: StateMachineInstance,
    pub(super) log: StateMachineLog,
}

impl Played {
    pub(super) fn of(desc: &StateMachineDesc) -> Self {
        let machine = machine(desc);
        let state = machine.start(0.0);
        Self {
            machine,
            state,
            log: StateMachineLog::new(),
        }
    }

    pub(super) fn set(&mut self, name: &str, value: f32) {
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
    pub(super) fn to(&mut self, now_s: f64) -> Vec<(String, f64)> {
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

    pub(super) fn samples(&self) -> Vec<(usize, f64, f32)> {
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

pub(super) fn named(all: &[(&str, f64)]) -> Vec<(String, f64)> {
    all.iter().map(|(name, at)| ((*name).into(), *at)).collect()
}
