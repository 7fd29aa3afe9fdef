//! Inertialised transitions of actors: offsets after a cut, which decay.

use super::driver::driven_record;
use super::playback::Playback;
use super::record_pool::MOST;
use crate::Threads;
use crate::animate::{BatchPoser, Product, Starts};
use crate::animator::library::Library;
use crate::animator::record::PlayRecord;
use crate::clip::Clip;
use crate::clone::clone_fields;
use crate::error::{Result, expect_finite, expect_in, expect_len};
use crate::id::Id;
use crate::motion::{Inertia, Moving, decayed_by};
use crate::skeleton::{Joint, Transform};
use crate::state_machine::{StateMachine, StateMachineInstance};

/// The time over which velocities are measured, in seconds.
///
/// A pose is rounded to `f32`, with an error of 6e-8 metres or radians. Over this time, that is an
/// error of 3e-5 per second.
pub(crate) const VELOCITY_S: f64 = 1.0 / 512.0;

/// Differences to the motion before a cut: decaying offsets of joints and morph weights.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Carry {
    joints: Inertia,
    /// For each morph weight, its offset and the change of the offset per second.
    weights: Vec<[f32; 2]>,
    start_s: f64,
    duration_s: f64,
}

clone_fields! {
    Carry { joints, weights, start_s, duration_s }
}

impl Carry {
    /// An instance without offsets, with memory reserved for this many.
    pub(crate) fn with_room(joints: usize, weights: usize) -> Self {
        Self {
            joints: Inertia::with_capacity(joints),
            weights: Vec::with_capacity(weights),
            start_s: f64::MIN,
            ..Self::default()
        }
    }

    /// The time from which no offset remains.
    pub(crate) fn end_s(&self) -> f64 {
        self.start_s + self.duration_s
    }

    pub(crate) fn is_over(&self, local_s: f64) -> bool {
        local_s >= self.end_s()
    }

    /// Checks data that was saved.
    pub(crate) fn check(&self, library: &Library) -> Result<()> {
        let most = Inertia::MAX_DURATION_S;
        expect_in("inertialised transition", self.duration_s, 0.0, most)?;
        self.joints.check(library.skeleton.len())?;
        if !self.weights.is_empty() {
            let weights = library.morph_weights.len();
            expect_len("inertialised morph weights", self.weights.len(), weights)?;
        }
        let mut numbers = self.weights.iter().flatten();
        numbers.try_for_each(|number| expect_finite("inertialised morph weight", *number))
    }

    /// Adds the remaining offsets to a local pose.
    pub(crate) fn apply(&self, local_s: f64, local: &mut [Transform]) {
        if !self.is_over(local_s) {
            // The lengths match, so there is no error.
            let _ = self.joints.apply(local_s, local);
        }
    }

    /// Adds the remaining offset to a single joint.
    pub(crate) fn apply_joint(&self, local_s: f64, joint: Id<Joint>, local: &mut Transform) {
        if !self.is_over(local_s) {
            self.joints.apply_joint(local_s, joint.index(), local);
        }
    }

    /// Adds the remaining offsets to morph weights.
    pub(crate) fn apply_weights(&self, local_s: f64, out: &mut [f32]) {
        if self.is_over(local_s) {
            return;
        }
        let since_s = (local_s - self.start_s).max(0.0);
        for (out, [value, velocity]) in out.iter_mut().zip(&self.weights) {
            let left = decayed_by(
                (*value).into(),
                (*velocity).into(),
                since_s,
                self.duration_s,
            );
            *out = (f64::from(*out) + left) as f32;
        }
    }

    /// Starts the offsets, from the motion before and after the cut.
    fn begin(&mut self, work: &mut CutWork, now_s: f64, duration_s: f64) {
        let [before, at, new, after] = &mut work.poses;
        // The velocity of the new motion is measured after the cut. `Inertia` expects an earlier
        // pose, so this extrapolates back: it is the pose from which the motion would have arrived
        // at that velocity.
        for (after, new) in after.iter_mut().zip(new.iter()) {
            after.translation = new.translation * 2.0 - after.translation;
            after.scale = new.scale * 2.0 - after.scale;
            after.rotation = new.rotation * after.rotation.conjugate() * new.rotation;
        }
        let old = Moving {
            earlier: before,
            now: at,
        };
        let moving = Moving {
            earlier: after,
            now: new,
        };
        // The lengths are equal, so there is no error.
        let _ = self
            .joints
            .begin(&old, &moving, VELOCITY_S, now_s, duration_s);
        let [before, at, new, after] = &work.weights;
        self.weights.clear();
        let (old, new) = (before.iter().zip(at), new.iter().zip(after));
        self.weights
            .extend(old.zip(new).map(|((before, at), (new, after))| {
                let velocity = f64::from(at - before) - f64::from(after - new);
                [at - new, (velocity / VELOCITY_S) as f32]
            }));
        (self.start_s, self.duration_s) = (now_s, duration_s);
    }
}

/// Buffers for a cut, at four moments.
///
/// They hold poses and morph weights a little before the cut, just before it, just after it, and a
/// little later.
#[derive(Debug, Default)]
pub(crate) struct CutWork {
    poses: [Vec<Transform>; 4],
    weights: [Vec<f32>; 4],
    /// Records of a state machine in the middle of an update.
    records: Vec<PlayRecord>,
}

/// Selects the motion before or after a cut.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    Old,
    New,
}

impl CutWork {
    /// Allocates the buffers, so that a cut allocates nothing.
    pub(crate) fn make_room(&mut self, library: &Library) {
        for pose in &mut self.poses {
            pose.resize(library.skeleton.len(), Transform::IDENTITY);
        }
        for weights in &mut self.weights {
            weights.resize(library.morph_weights.len(), 0.0);
        }
        let most = MOST as usize;
        self.records.reserve(2 * most);
    }
}

/// Everything that is needed to cut an actor.
pub(crate) struct Cut<'a> {
    pub(crate) library: &'a Library,
    pub(crate) poser: &'a BatchPoser,
    pub(crate) threads: &'a Threads,
    pub(crate) own: Option<&'a Clip>,
    pub(crate) carry: &'a mut Option<Box<Carry>>,
    pub(crate) work: &'a mut CutWork,
}

impl Cut<'_> {
    /// Samples the actor's motion at a cut: before it, with offsets of earlier cuts, or after it.
    pub(crate) fn note(&mut self, moment: Moment, records: &[PlayRecord], local_s: f64) {
        self.work.make_room(self.library);
        let times_s = match moment {
            Moment::Old => [local_s - VELOCITY_S, local_s],
            Moment::New => [local_s, local_s + VELOCITY_S],
        };
        let first = match moment {
            Moment::Old => 0,
            Moment::New => 2,
        };
        for (index, local_s) in (first..).zip(times_s) {
            let (library, own) = (self.library, self.own);
            let played = Playback {
                library,
                own,
                records,
                local_s,
            };
            let pose = &mut self.work.poses[index];
            let starts = Starts::Even(pose.as_mut_ptr().cast(), size_of_val(pose.as_slice()));
            // SAFETY: `played` is for this poser: every `Cut` has library, poser and own pose of the
            // same animator, and `records` are the actor's or from `driven_record`. `pose` is
            // borrowed for writing, and `make_room` gave it one transform for each joint.
            unsafe {
                let samples = records.len() * 16;
                self.poser
                    .run_planned(&played, samples, Product::Local, starts, self.threads);
            }
            let weights = &mut self.work.weights[index];
            played.morph_weights(weights);
            if let (Moment::Old, Some(carry)) = (moment, self.carry.as_deref()) {
                carry.apply(local_s, pose);
                carry.apply_weights(local_s, weights);
            }
        }
    }

    /// Allocates everything, so that later cuts allocate nothing.
    pub(crate) fn make_room(&mut self) {
        let joints = self.library.skeleton.len();
        let weights = self.library.morph_weights.len();
        let carry = || Box::new(Carry::with_room(joints, weights));
        self.carry.get_or_insert_with(carry);
        self.work.make_room(self.library);
    }

    /// Starts the decay of the offsets between the sampled motions.
    pub(crate) fn begin(&mut self, local_s: f64, duration_s: f64) {
        let (joints, weights) = (
            self.library.skeleton.len(),
            self.library.morph_weights.len(),
        );
        let carry = self
            .carry
            .get_or_insert_with(|| Box::new(Carry::with_room(joints, weights)));
        carry.begin(self.work, local_s, duration_s);
    }

    /// Samples a state machine in the middle of an update, and everything else that plays.
    ///
    /// See [`Self::note`].
    pub(crate) fn note_machine(
        &mut self,
        moment: Moment,
        (machine, state): (&StateMachine, &StateMachineInstance),
        others: &[PlayRecord],
        time_s: f64,
    ) {
        let mut records = core::mem::take(&mut self.work.records);
        records.clear();
        let others = others.iter();
        records.extend(others.filter(|record| !record.has(PlayRecord::FLAG_STATE_MACHINE)));
        machine.driven(state, |clip| {
            let record = driven_record(self.library, clip);
            let at = records.partition_point(|other| other.layer <= record.layer);
            if records.len() < 2 * MOST as usize {
                records.insert(at, record);
            }
        });
        self.note(moment, &records, time_s);
        self.work.records = records;
    }
}
