//! Any number of layers of an instance, and the cross-fades between them.

use super::layer::{Layer, LoopMode};
use super::ramp::{Ease, Ramp};
use super::sample_list::ClipSample;
use super::sync::SyncAnchor;

/// What an instance plays: layers, ascending in level, and for each level the phase of those that keep step.
///
/// Between changes it is closed-form in time, as its layers are: it may be copied, saved and asked for any time since
/// the last change. A change (a cross-fade, for one) writes new ramps and a new [`SyncAnchor`] that go on from the
/// values at its time, so nothing jumps, also where one cross-fade interrupts another. Keeps its memory: once it has
/// held as many layers as it will, nothing is allocated.
///
/// ```
/// use throng::pose::{Ease, Layer, LayerStack, SampleList};
///
/// let durations_s = [1.2, 0.8, 2.0]; // walk, run, wave
/// let mut layers = LayerStack::new();
/// layers.play(Layer::new(0, 0.0));
/// // At 10 s, from the walk to the run in step; the wave above them for the joints of mask 0.
/// layers.cross_fade_in_step(Layer::new(1, 10.0), 10.0, 0.5, Ease::Smooth, &durations_s);
/// layers.play(Layer::new(2, 10.0).on_level(1).with_mask(0).fade_in(10.0, 0.2));
///
/// let mut crowd = SampleList::new();
/// crowd.push(layers.samples(10.25, &durations_s));
/// let [walk, run, wave] = crowd.samples(0) else { unreachable!() };
/// assert_eq!((walk.weight, run.weight, wave.weight), (0.5, 0.5, 1.0));
/// assert!((walk.time_s / 1.2 - run.time_s / 0.8).abs() < 1e-12); // one phase
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LayerStack {
    entries: Vec<Entry>,
    /// By level, each at most once.
    anchors: Vec<(u8, SyncAnchor)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    layer: Layer,
    /// Whether its time is the phase of its level's anchor.
    in_step: bool,
}

impl LayerStack {
    /// Of no layers: the rest pose.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many layers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The layers, ascending in level, in the order in which they came. What keeps step has its phase of its level's
    /// [`Self::anchor`], and not its own start and speed.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.entries.iter().map(|entry| &entry.layer)
    }

    /// The phase of what keeps step on a level, if there was ever anything.
    #[must_use]
    pub fn anchor(&self, level: u8) -> Option<&SyncAnchor> {
        let mut anchors = self.anchors.iter();
        anchors
            .find(|(of, _)| *of == level)
            .map(|(_, anchor)| anchor)
    }

    /// Forgets all layers, and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.anchors.clear();
    }

    /// Adds a layer after those of its level, with the weight that it has.
    pub fn play(&mut self, layer: Layer) {
        self.insert(layer, false);
    }

    /// Fades from all layers of `to`'s level to it, in `seconds`; it comes with its own time. The weight that it leads to
    /// is that of its own ramp's end. What had faded out is forgotten.
    pub fn cross_fade(&mut self, to: Layer, now_s: f64, seconds: f64, ease: Ease) {
        self.prune(now_s);
        self.fade_out(to.level, now_s, seconds, ease);
        let weight = Ramp::new(0.0, to.weight.to, now_s, seconds, ease);
        self.insert(to.with_weight(weight), false);
    }

    /// As [`Self::cross_fade`], with both clips in step, such as a walk and a run: `to` takes over the phase of the
    /// layer that has the most weight on its level, and the rate goes from that one's to its own (its speed over its
    /// duration) with the weights. So no foot slides. Its start does not matter; its offset shifts it against the
    /// others.
    ///
    /// Only loops keep step: if one of the two does not loop, this is [`Self::cross_fade`].
    ///
    /// Where the same clip is in step already, for the same joints, as after going back and forth quickly, that layer
    /// is faded in again. `durations_s` has the duration of each clip, in seconds; those that it lacks are 0.
    pub fn cross_fade_in_step(
        &mut self,
        to: Layer,
        now_s: f64,
        seconds: f64,
        ease: Ease,
        durations_s: &[f64],
    ) {
        self.prune(now_s);
        let leader = self.leader(to.level, now_s);
        let loops = |layer: &Layer| layer.loop_mode == LoopMode::Loop;
        if !loops(&to) || leader.is_some_and(|index| !loops(&self.entries[index].layer)) {
            return self.cross_fade(to, now_s, seconds, ease);
        }
        match leader {
            Some(index) => self.lead(index, now_s, durations_s),
            // Nothing to keep step with.
            None => self.anchors.retain(|(level, _)| *level != to.level),
        }
        let rate_hz = rate_hz(&to, durations_s);
        let begin = SyncAnchor::new(0.0, now_s, rate_hz);
        match self
            .anchors
            .iter_mut()
            .find(|(level, _)| *level == to.level)
        {
            Some((_, anchor)) => *anchor = anchor.re_anchored_over(now_s, rate_hz, seconds, ease),
            None => self.anchors.push((to.level, begin)),
        }
        self.fade_out(to.level, now_s, seconds, ease);
        let same = |entry: &&mut Entry| {
            let Layer {
                clip, mask, level, ..
            } = entry.layer;
            entry.in_step && (clip, mask, level) == (to.clip, to.mask, to.level)
        };
        match self.entries.iter_mut().find(same) {
            Some(Entry { layer, .. }) => {
                let weight = layer.weight.turned(now_s, to.weight.to, seconds, ease);
                *layer = Layer {
                    weight,
                    offset_s: layer.offset_s,
                    ..to
                };
            }
            None => {
                let weight = Ramp::new(0.0, to.weight.to, now_s, seconds, ease);
                self.insert(to.with_weight(weight), true);
            }
        }
    }

    /// Fades all layers of a level out, in `seconds`.
    pub fn fade_out(&mut self, level: u8, now_s: f64, seconds: f64, ease: Ease) {
        let entries = self.entries.iter_mut();
        for Entry { layer, .. } in entries.filter(|entry| entry.layer.level == level) {
            layer.weight = layer.weight.turned(now_s, 0.0, seconds, ease);
        }
    }

    /// Forgets what has faded out by `now_s`. A clock that is put back before that does not bring it back.
    pub fn prune(&mut self, now_s: f64) {
        self.entries.retain(|Entry { layer, .. }| {
            let weight = &layer.weight;
            weight.to != 0.0 || !weight.has_ended(now_s)
        });
    }

    /// What each layer plays at `now_s` that has any weight then; for [`SampleList::push`](super::SampleList::push).
    /// `durations_s` has the duration of each clip, in seconds; those that it lacks are 0.
    pub fn samples<'a>(
        &'a self,
        now_s: f64,
        durations_s: &'a [f64],
    ) -> impl Iterator<Item = ClipSample> + 'a {
        let all = self.entries.iter().map(move |entry| {
            let duration_s = duration_s(&entry.layer, durations_s);
            match self.anchor(entry.layer.level) {
                Some(anchor) if entry.in_step => {
                    stepped(&entry.layer, anchor, now_s, duration_s).sample(now_s, duration_s)
                }
                _ => entry.layer.sample(now_s, duration_s),
            }
        });
        all.filter(|sample| sample.weight != 0.0)
    }

    fn insert(&mut self, layer: Layer, in_step: bool) {
        let before = |entry: &Entry| entry.layer.level <= layer.level;
        let at = self.entries.partition_point(before);
        self.entries.insert(at, Entry { layer, in_step });
    }

    /// The layer with the most weight on a level; of several, the last.
    fn leader(&self, level: u8, now_s: f64) -> Option<usize> {
        let mine = self.entries.iter().enumerate();
        let mine = mine.filter(|(_, entry)| entry.layer.level == level);
        let weights = mine.map(|(index, entry)| (index, entry.layer.weight_at(now_s)));
        weights
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(index, _)| index)
    }

    /// Makes the anchor of a level that of this layer of it. Others that kept step go on by themselves.
    fn lead(&mut self, leader: usize, now_s: f64, durations_s: &[f64]) {
        let Entry {
            layer,
            in_step: led,
        } = self.entries[leader];
        if led {
            return;
        }
        let level = layer.level;
        let duration = duration_s(&layer, durations_s);
        let cycle = layer.clip_time_s(now_s, duration) / duration;
        let phase = if cycle.is_finite() { cycle } else { 0.0 };
        let leads = SyncAnchor::new(phase, now_s, rate_hz(&layer, durations_s));
        let old = self.anchor(level).copied();
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let duration = duration_s(&entry.layer, durations_s);
            if index == leader {
                entry.in_step = true;
                entry.layer.offset_s = 0.0;
            } else if let Some(old) = old
                && entry.in_step
                && entry.layer.level == level
            {
                let speed = old.rate_hz(now_s) * duration;
                entry.layer = stepped(&entry.layer, &old, now_s, duration).with_speed(speed);
                entry.in_step = false;
            }
        }
        match self.anchors.iter_mut().find(|(of, _)| *of == level) {
            Some((_, anchor)) => *anchor = leads,
            None => self.anchors.push((level, leads)),
        }
    }
}

/// The layer as it stands at `now_s` by its anchor's phase.
fn stepped(layer: &Layer, anchor: &SyncAnchor, now_s: f64, duration_s: f64) -> Layer {
    Layer {
        start_s: now_s,
        offset_s: anchor.phase(now_s) * duration_s + layer.offset_s,
        speed: 0.0,
        ..*layer
    }
}

fn duration_s(layer: &Layer, durations_s: &[f64]) -> f64 {
    durations_s.get(layer.clip).copied().unwrap_or(0.0)
}

/// Cycles a second of a layer on its own; 0 for a clip that has no positive duration.
fn rate_hz(layer: &Layer, durations_s: &[f64]) -> f64 {
    let rate = layer.speed / duration_s(layer, durations_s);
    if rate.is_finite() { rate } else { 0.0 }
}
