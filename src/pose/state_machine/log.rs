//! What happened in an update: states left and entered, and the clip time that passed.

use super::drive::{DrivenClip, Watch};
use super::fire::Taken;
use crate::pose::LoopMode;

/// A state that an instance left or entered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateMachineEvent {
    /// Its index in the batch.
    pub instance: usize,
    /// The layer's index.
    pub layer: usize,
    /// Whether it was left or entered.
    pub kind: StateMachineEventKind,
    /// The state's index in the layer.
    pub state: usize,
    /// The transition by which, as an index in the layer; `None` for the first state.
    pub transition: Option<usize>,
    /// When, in seconds of the engine's clock: to the instant, not to the frame.
    pub time_s: f64,
}

/// What a [`StateMachineEvent`] tells. Both happen when a transition fires: what is left goes on to be seen while it fades out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateMachineEventKind {
    /// A state was left.
    Left,
    /// A state was entered.
    Entered,
}

/// A stretch of a clip's time that passed for an instance: what [`ClipEvents`](crate::pose::ClipEvents) and
/// [`RootMotion`](crate::pose::RootMotion) ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipPass {
    /// The instance's index in the batch.
    pub instance: usize,
    /// The layer's index.
    pub layer: usize,
    /// The state's index in the layer.
    pub state: usize,
    /// Index into the clips that the machine was made with.
    pub clip: usize,
    /// From here, in seconds of unwrapped clip time (see [`LoopMode`]); backwards, it is more than `to_s`.
    pub from_s: f64,
    /// To here.
    pub to_s: f64,
    /// What the clip does past its end.
    pub loop_mode: LoopMode,
    /// Whether it begins here: the state was just entered, so what lies on `from_s` was not passed yet.
    pub starts: bool,
    /// The weight that it had, layer and blend and fade together: the mean over the time.
    pub weight: f32,
}

/// What happened in an update, for all instances. Kept from frame to frame, so that nothing is allocated.
#[derive(Debug, Clone, Default)]
pub struct StateMachineLog {
    parts: Vec<Part>,
    used: usize,
    without_passes: bool,
}

/// What happened to some instances that lie together.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    events: Vec<StateMachineEvent>,
    passes: Vec<ClipPass>,
    instance: usize,
    without_passes: bool,
}

impl StateMachineLog {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One that notes states and no clip time.
    #[must_use]
    pub fn events_only() -> Self {
        Self {
            without_passes: true,
            ..Self::default()
        }
    }

    /// States that were left and entered: by instance, in the order in which it happened.
    pub fn events(&self) -> impl Iterator<Item = &StateMachineEvent> {
        self.live().flat_map(|part| &part.events)
    }

    /// Clip time that passed: by instance; for each layer in the order of time.
    pub fn passes(&self) -> impl Iterator<Item = &ClipPass> {
        self.live().flat_map(|part| &part.passes)
    }

    fn live(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().take(self.used)
    }

    /// So many empty parts.
    pub(super) fn parts(&mut self, count: usize) -> &mut [Part] {
        if self.parts.len() < count {
            self.parts.resize_with(count, Part::default);
        }
        self.used = count;
        let parts = self.parts.get_mut(..count).unwrap_or(&mut []);
        for part in parts.iter_mut() {
            part.events.clear();
            part.passes.clear();
            part.without_passes = self.without_passes;
        }
        parts
    }
}

impl Part {
    pub(super) fn set_instance(&mut self, instance: usize) {
        self.instance = instance;
    }
}

impl Watch for Part {
    fn entered(&mut self, layer: usize, state: u16, time_s: f64) {
        self.events.push(StateMachineEvent {
            instance: self.instance,
            layer,
            kind: StateMachineEventKind::Entered,
            state: state.into(),
            transition: None,
            time_s,
        });
    }

    fn taken(&mut self, layer: usize, taken: Taken, time_s: f64) {
        let event = |kind, state: u16| StateMachineEvent {
            instance: self.instance,
            layer,
            kind,
            state: state.into(),
            transition: Some(taken.transition.into()),
            time_s,
        };
        let left = event(StateMachineEventKind::Left, taken.from);
        let entered = event(StateMachineEventKind::Entered, taken.to);
        self.events.extend([left, entered]);
    }

    fn passed(&mut self, clip: &DrivenClip, [from_s, to_s]: [f64; 2]) {
        if self.without_passes {
            return;
        }
        // Simpson's rule, which is exact for cubic curves.
        let at = |time_s| f64::from(clip.weight.at(time_s));
        let middle_s = from_s + 0.5 * (to_s - from_s);
        let weight = ((at(from_s) + 4.0 * at(middle_s) + at(to_s)) / 6.0) as f32;
        let [from, to] = [from_s, to_s].map(|time_s| clip.unwrapped_s(time_s));
        if weight > 0.0 && clip.speed != 0.0 {
            self.passes.push(ClipPass {
                instance: self.instance,
                layer: clip.layer,
                state: clip.state.into(),
                clip: clip.clip,
                from_s: from,
                to_s: to,
                loop_mode: clip.loop_mode,
                starts: !clip.begun,
                weight,
            });
        }
    }
}
