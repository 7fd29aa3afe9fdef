//! Lists of clip samples with weights, which say what each instance plays in a frame.

use crate::clip::Clip;
use crate::id::Id;
use crate::skeleton::Mask;

/// A clip at a time, with a weight: one of the samples that an instance plays.
///
/// Samples of one level are blended with each other. Each level is applied over the one below it,
/// the first over the rest pose. For each joint, the weight `w` is the sample's weight times the
/// mask's weight of that joint.
///
/// 1. First come clips that are not additive. If their weights sum to the threshold of the level or
///    more, the level gives their weighted mean. If they sum to less, the pose below gets the
///    missing weight. The threshold is 0.1 on the first level and 1 on the levels above.
/// 2. Then come additive clips, in their order. Each adds its difference from its reference pose,
///    times `w`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipSample {
    /// The clip, as an index into the clips of the batch.
    ///
    /// The clips may be those of the character.
    pub clip: Id<Clip>,
    /// The clip's own time in seconds, clamped to the clip. NaN counts as 0.
    pub time_s: f64,
    /// Its weight in the blend: finite and not negative. With weight 0, the sample is ignored.
    pub weight: f32,
    /// The mask, as an index into the masks given to the batch.
    ///
    /// It scales the weight for each joint. `None` means the full weight for all joints.
    pub mask: Option<Id<Mask>>,
    /// The level that it belongs to. The samples of an instance must ascend in level.
    pub level: u8,
}

impl ClipSample {
    /// Creates a sample with weight 1 on the first level.
    ///
    /// It affects all joints.
    #[must_use]
    pub const fn new(clip: Id<Clip>, time_s: f64) -> Self {
        Self {
            clip,
            time_s,
            weight: 1.0,
            mask: None,
            level: 0,
        }
    }

    /// Sets the weight.
    #[must_use]
    pub const fn weighted(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Restricts it to the joints of a mask.
    #[must_use]
    pub const fn masked(self, mask: Id<Mask>) -> Self {
        Self {
            mask: Some(mask),
            ..self
        }
    }

    /// Sets the level.
    #[must_use]
    pub const fn on_level(self, level: u8) -> Self {
        Self { level, ..self }
    }
}

/// The samples that all instances play in a frame.
///
/// It holds a list of [`ClipSample`]s for each instance, one list after the other. Keep it from
/// frame to frame, so that nothing is allocated.
///
/// ```
/// use throng::Id;
/// use throng::motion::{ClipSample, SampleList};
///
/// let mut crowd = SampleList::new();
/// let [walk, run] = [0, 1].map(Id::new);
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
    /// For each instance, the end of its samples in `samples`.
    ends: Vec<usize>,
}

impl SampleList {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all instances, and keeps the memory.
    pub fn clear(&mut self) {
        self.samples.clear();
        self.ends.clear();
    }

    /// Adds an instance with its samples, which must ascend in level.
    pub fn push(&mut self, samples: impl IntoIterator<Item = ClipSample>) {
        self.samples.extend(samples);
        self.ends.push(self.samples.len());
    }

    /// Adds an instance with the samples that `write` appends.
    pub(crate) fn push_with(&mut self, write: impl FnOnce(&mut Vec<ClipSample>)) {
        write(&mut self.samples);
        self.ends.push(self.samples.len());
    }

    /// The number of instances.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no instances.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The samples of an instance. Empty if the instance does not exist.
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
