//! What each instance of a crowd plays in a frame: lists of clips at times, with weights.

use crate::ids::{ClipId, MaskId};

/// A clip at a time, with a weight: one of those that an instance plays.
///
/// Samples of one level are blended with each other; each level is laid over the one below it, the
/// first over the rest pose. For a joint with the weights `w` (of the sample, times the mask's for
/// that joint):
///
/// - Clips that are not additive: where their weights sum to the level's threshold or more (0.1 on
///   the first level, 1 on those above), the level shows their weighted mean; where they sum to
///   less, what lies below has the weight that is missing.
/// - Then additive clips, in their order: each adds its difference from its reference pose, times
///   `w`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipSample {
    /// The clip: an index into the clips that the batch is given, which may be the character's.
    pub clip: ClipId,
    /// The clip's own time in seconds, clamped to it. Not a number counts as 0.
    pub time_s: f64,
    /// Its part in the blend: finite, not negative. With 0 it takes no part and is not looked at.
    pub weight: f32,
    /// An index into the masks that the batch is given: how much of the weight counts for each
    /// joint. `None`: all of it, for all.
    pub mask: Option<MaskId>,
    /// Which level it belongs to; an instance's samples ascend in it.
    pub level: u8,
}

impl ClipSample {
    /// `clip` at `time_s`, on the first level with weight 1 for all joints.
    #[must_use]
    pub const fn new(clip: ClipId, time_s: f64) -> Self {
        Self {
            clip,
            time_s,
            weight: 1.0,
            mask: None,
            level: 0,
        }
    }

    /// The same with this weight.
    #[must_use]
    pub const fn weighted(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// The same for the joints of a mask.
    #[must_use]
    pub const fn masked(self, mask: MaskId) -> Self {
        Self {
            mask: Some(mask),
            ..self
        }
    }

    /// The same on another level.
    #[must_use]
    pub const fn on_level(self, level: u8) -> Self {
        Self { level, ..self }
    }
}

/// What the instances of a frame play: a list of [`ClipSample`]s for each, one list after the
/// other. Kept from frame to frame, so that nothing is allocated.
///
/// ```
/// use throng::ids::ClipId;
/// use throng::motion::{ClipSample, SampleList};
///
/// let mut crowd = SampleList::new();
/// let [walk, run] = [0, 1].map(ClipId);
/// crowd.push([ClipSample::new(walk, 1.25)]);
/// crowd.push([
///     ClipSample::new(walk, 1.25).weighted(0.75),
///     ClipSample::new(run, 0.5).weighted(0.25),
/// ]);
/// crowd.push([]); // in the rest pose
/// assert_eq!(crowd.len(), 3);
/// assert_eq!(crowd.samples(1)[1].clip, run);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleList {
    samples: Vec<ClipSample>,
    /// For each instance, where its samples end.
    ends: Vec<usize>,
}

impl SampleList {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all instances, and keeps the memory.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.ends.clear();
    }

    /// One instance more, with what it plays: ascending in level.
    pub fn push(&mut self, samples: impl IntoIterator<Item = ClipSample>) {
        self.samples.extend(samples);
        self.ends.push(self.samples.len());
    }

    /// [`Self::push`], of what `write` appends.
    pub(crate) fn push_with(&mut self, write: impl FnOnce(&mut Vec<ClipSample>)) {
        write(&mut self.samples);
        self.ends.push(self.samples.len());
    }

    /// How many instances there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no instance.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What an instance plays; nothing for one that does not exist.
    #[must_use]
    pub fn samples(&self, instance: usize) -> &[ClipSample] {
        let Some(end) = self.ends.get(instance) else {
            return &[];
        };
        let before = instance
            .checked_sub(1)
            .and_then(|index| self.ends.get(index));
        self.samples
            .get(before.copied().unwrap_or(0)..*end)
            .unwrap_or(&[])
    }
}
