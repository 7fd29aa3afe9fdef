//! A small machine, and what it plays.

use crate::state_machine::made::{self, Driven, Input};
use throng::motion::Ease;
use throng::state_machine::{LayerDesc, Origin, StateDesc, StateMachineDesc, TransitionDesc};

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

pub(super) fn way(from: &str, to: &str, when: &[&str]) -> TransitionDesc {
    TransitionDesc {
        when: when.iter().map(|text| text.parse().unwrap()).collect(),
        ease: Ease::Linear,
        ..TransitionDesc::new(Origin::from(from.to_owned()), to)
    }
}

pub(super) struct Played(pub(super) Driven);

impl Played {
    pub(super) fn of(desc: &StateMachineDesc) -> Self {
        let character = made::with_machine(&made::character(&CLIPS), desc, Vec::new());
        Self(Driven::new(&character.unwrap(), 0.0))
    }

    pub(super) fn set(&mut self, name: &'static str, value: f32) {
        self.0.apply(match name {
            "flag" => Input::Flag(value != 0.0),
            "tap" | "hit" => Input::Trigger(name),
            "count" => Input::Count(value as i32),
            _ => Input::Float(name, value),
        });
    }

    /// The states entered up to then, and when.
    pub(super) fn to(&mut self, now_s: f64) -> Vec<(String, f64)> {
        let changes = self.0.update(now_s);
        let machine = self.0.animator.state_machine().unwrap();
        let entered = changes.iter().filter(|change| change.entered);
        entered
            .map(|change| {
                let name = machine.state_name(change.layer, change.state);
                // To the nanosecond.
                (name.to_owned(), (change.time_s * 1e9).round() / 1e9)
            })
            .collect()
    }

    pub(super) fn samples(&self) -> Vec<(usize, f64, f32)> {
        let rounded = |sample: &made::Sample| {
            let time_s = (sample.time_s * 1e9).round() / 1e9;
            (sample.clip, time_s, (sample.weight * 1e6).round() / 1e6)
        };
        self.0.samples().iter().map(rounded).collect()
    }
}

pub(super) fn named(all: &[(&str, f64)]) -> Vec<(String, f64)> {
    all.iter().map(|(name, at)| ((*name).into(), *at)).collect()
}
