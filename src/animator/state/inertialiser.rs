//! Starts inertialised transitions of actors: samples the motions before and after.

use super::playback::Playback;
use super::record_pool::MOST;
use crate::animate::{BatchPoser, Product, Starts};
use crate::animator::library::Library;
use crate::animator::record::PlayRecord;
use crate::clip::Clip;
use crate::motion::Inertialisation;
use crate::skeleton::Transform;
use crate::threads::Threads;

/// The time over which velocities are measured, in seconds.
///
/// A pose is rounded to `f32`, with an error of 6e-8 metres or radians. Over this time, that is an
/// error of 3e-5 per second.
const VELOCITY_S: f64 = 1.0 / 512.0;

/// Poses and morph weights around a transition.
///
/// They are those of the old motion a little before the transition and at it, and those of the new
/// motion at it and a little later.
#[derive(Debug, Default)]
pub(crate) struct MotionSamples {
    poses: [Vec<Transform>; 4],
    weights: [Vec<f32>; 4],
    /// Records of a state machine in the middle of an update.
    pub(super) records: Vec<PlayRecord>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Motion {
    Old,
    New,
}

/// Starts inertialised transitions of an actor.
pub(crate) struct Inertialiser<'a> {
    pub(crate) library: &'a Library,
    pub(crate) poser: &'a BatchPoser,
    pub(crate) threads: &'a Threads,
    pub(crate) own: Option<&'a Clip>,
    pub(crate) inertialisation: &'a mut Option<Box<Inertialisation>>,
    pub(crate) samples: &'a mut MotionSamples,
}

impl Inertialiser<'_> {
    /// Samples what plays, with the offsets of earlier transitions if it is the old motion.
    pub(crate) fn sample(&mut self, motion: Motion, records: &[PlayRecord], local_s: f64) {
        self.make_room();
        let (first, start_s) = match motion {
            Motion::Old => (0, local_s - VELOCITY_S),
            Motion::New => (2, local_s),
        };
        for (index, local_s) in [(first, start_s), (first + 1, start_s + VELOCITY_S)] {
            let (library, own) = (self.library, self.own);
            let played = Playback {
                library,
                own,
                records,
                local_s,
            };
            let pose = &mut self.samples.poses[index];
            let starts = Starts::Even(pose.as_mut_ptr().cast(), size_of_val(pose.as_slice()));
            // SAFETY: `played` is for this poser: every `Inertialiser` has library, poser and own
            // pose of the same animator, and `records` are the actor's or from `driven_record`.
            // `pose` is borrowed for writing, and `make_room` gave it one transform for each joint.
            unsafe {
                let samples = records.len() * 16;
                self.poser
                    .run_planned(&played, samples, Product::Local, starts, self.threads);
            }
            let weights = &mut self.samples.weights[index];
            played.morph_weights(weights);
            if let (Motion::Old, Some(earlier)) = (motion, self.inertialisation.as_deref()) {
                earlier.apply(local_s, pose);
                earlier.apply_weights(local_s, weights);
            }
        }
    }

    /// Allocates everything, so that transitions allocate nothing.
    pub(crate) fn make_room(&mut self) {
        let joints = self.library.skeleton.len();
        let weights = self.library.morph_weights.len();
        self.inertialisation
            .get_or_insert_with(|| Box::new(Inertialisation::with_capacity(joints, weights)));
        for pose in &mut self.samples.poses {
            pose.resize(joints, Transform::IDENTITY);
        }
        for own in &mut self.samples.weights {
            own.resize(weights, 0.0);
        }
        self.samples.records.reserve(2 * MOST as usize);
    }

    /// Starts the transition between the sampled motions.
    pub(crate) fn begin(&mut self, local_s: f64, duration_s: f64) {
        let MotionSamples { poses, weights, .. } = &*self.samples;
        if let Some(own) = self.inertialisation.as_deref_mut() {
            let poses = poses.each_ref().map(Vec::as_slice);
            let weights = weights.each_ref().map(Vec::as_slice);
            own.begin(poses, weights, VELOCITY_S, [local_s, duration_s]);
        }
    }
}
