//! The simulation state of one instance.

use super::bones::SpringBones;
use super::rig::{NONE, SpringRig};
use super::step::{Motion, SpringScratch, Step, mix};
use crate::clone::clone_fields;
use crate::error::{Result, expect_all_finite, expect_finite, expect_in, expect_len};
use crate::skeleton::{Shift, Transform};
use glam::{Affine3A, Vec3};

/// The time without evaluation after which chains start anew, in seconds. It is the same for a
/// clock that goes back.
const FORGET_S: f64 = 1.0;

/// More steps than any clock can take.
const MAX_STEPS: f64 = 1e18;

/// The simulation state of one instance.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SpringState {
    /// World space from character space, from the next evaluation on.
    world: Affine3A,
    /// World space from character space at the last evaluation.
    placed: Affine3A,
    /// For each link, its tail in center space after the last step, and after the one before.
    pub(super) now: Vec<Vec3>,
    pub(super) before: Vec<Vec3>,
    /// For each anchor, its world matrix at the last evaluation.
    anchors: Vec<Affine3A>,
    /// For each collider slot that swings, its world matrix after the last step.
    ///
    /// A joint that comes before the collider in the order of simulation collides with this.
    late: Vec<Affine3A>,
    /// The time of the last evaluation.
    time_s: f64,
    /// Steps are counted from this time.
    start_s: f64,
    /// The number of steps since then.
    steps: u64,
    /// False until the first evaluation.
    is_ready: bool,
}

clone_fields! {
    SpringState {
        world, placed, now, before, anchors, late, time_s, start_s, steps, is_ready,
    }
}

impl SpringState {
    /// A state that starts in the pose of the first evaluation.
    pub(crate) fn new(rig: &SpringRig) -> Self {
        Self {
            world: Affine3A::IDENTITY,
            placed: Affine3A::IDENTITY,
            now: vec![Vec3::ZERO; rig.links.len()],
            before: vec![Vec3::ZERO; rig.links.len()],
            anchors: vec![Affine3A::IDENTITY; rig.anchors.len()],
            late: vec![Affine3A::IDENTITY; rig.late.len()],
            time_s: 0.0,
            start_s: 0.0,
            steps: 0,
            is_ready: false,
        }
    }

    /// Checks data that was saved.
    pub(crate) fn check(&self, rig: &SpringRig) -> Result<()> {
        let tails = [
            ("spring tails", &self.now),
            ("earlier spring tails", &self.before),
        ];
        for (what, tails) in tails {
            expect_len(what, tails.len(), rig.links.len())?;
            expect_all_finite(what, tails.iter().flat_map(|tail| tail.to_array()))?;
        }
        expect_len("spring anchors", self.anchors.len(), rig.anchors.len())?;
        expect_len("spring colliders", self.late.len(), rig.late.len())?;
        let matrices = [&self.world, &self.placed].into_iter();
        for matrix in matrices.chain(&self.anchors).chain(&self.late) {
            expect_all_finite("matrix of a spring", matrix.to_cols_array())?;
        }
        expect_finite("time of springs", self.time_s)?;
        expect_finite("start of springs", self.start_s)?;
        expect_in("steps of springs", self.steps as f64, 0.0, MAX_STEPS)
    }

    /// Becomes a copy of another state, at the place in the world where this one is now.
    pub(crate) fn continue_from(&mut self, from: &Self) {
        let world = self.world;
        self.clone_from(from);
        self.world = world;
    }

    /// Moves the character through the world.
    pub(crate) fn set_world(&mut self, world: &Affine3A) {
        self.world = *world;
    }

    /// Moves the character to another place in the world, and its chains with it.
    pub(crate) fn teleport(&mut self, rig: &SpringRig, world: &Affine3A) {
        let to_from = *world * self.world.inverse();
        self.world = *world;
        self.carry(rig, &to_from);
    }

    /// Moves all tails and matrices through the world.
    fn carry(&mut self, rig: &SpringRig, to_from: &Affine3A) {
        if !to_from.is_finite() {
            self.is_ready = false;
            return;
        }
        self.placed = *to_from * self.placed;
        for place in self.anchors.iter_mut().chain(&mut self.late) {
            *place = *to_from * *place;
        }
        for (link, tails) in rig
            .links
            .iter()
            .zip(self.now.iter_mut().zip(&mut self.before))
        {
            if link.center == NONE {
                *tails.0 = to_from.transform_point3(*tails.0);
                *tails.1 = to_from.transform_point3(*tails.1);
            }
        }
    }

    /// Takes the chains to another origin of world space.
    pub(crate) fn shift(&mut self, rig: &SpringRig, shift: &Shift) {
        let places = [&mut self.world, &mut self.placed].into_iter();
        for place in places.chain(&mut self.anchors).chain(&mut self.late) {
            shift.place(place);
        }
        let tails = self.now.iter_mut().zip(&mut self.before);
        for (_, (now, before)) in rig.links.iter().zip(tails).filter(|it| it.0.center == NONE) {
            (*now, *before) = (shift.point(*now), shift.point(*before));
        }
    }

    /// Takes the chains to a time, and changes the pose.
    ///
    /// The pose is given as local and model transforms of all joints.
    pub(crate) fn advance(
        &mut self,
        rig: &SpringRig,
        time_s: f64,
        (local, model): (&mut [Transform], &mut [Affine3A]),
    ) {
        SpringScratch::with(|scratch| self.advance_with(rig, time_s, (local, model), scratch));
    }

    fn advance_with(
        &mut self,
        rig: &SpringRig,
        time_s: f64,
        (local, model): (&mut [Transform], &mut [Affine3A]),
        scratch: &mut SpringScratch,
    ) {
        let gain = self.world.matrix3.determinant().abs().cbrt();
        if rig.is_empty() || !gain.is_finite() {
            return;
        }
        let passed_s = time_s - self.time_s;
        if passed_s == 0.0 && self.placed != self.world {
            // Moved in no time, such as a paused character on a lift.
            let to_from = self.world * self.placed.inverse();
            self.carry(rig, &to_from);
        }
        self.placed = self.world;
        scratch.take(rig, &self.world, (local, model));
        let mut from_s = self.time_s;
        if !self.is_ready || passed_s.abs() > FORGET_S {
            self.begin(rig, time_s, gain, scratch);
            from_s = time_s;
        } else if passed_s < 0.0 {
            // Time went back. Steps are counted from here, and the tails stay.
            (self.start_s, self.steps, from_s) = (time_s, 0, time_s);
        }
        let due = ((time_s - self.start_s) / SpringBones::STEP_S).max(0.0);
        let all = due.floor() as u64;
        let most = u64::from(SpringBones::MAX_STEPS);
        if all > self.steps.saturating_add(most) {
            // The steps that are left take the whole movement.
            self.steps = all - most;
            from_s = self.start_s + self.steps as f64 * SpringBones::STEP_S;
        }
        for (slot, place) in rig.late.iter().zip(&self.late) {
            scratch.slots[*slot as usize] = *place;
        }
        let anchors = rig.anchors.len();
        while self.steps < all {
            self.steps += 1;
            let at_s = self.start_s + self.steps as f64 * SpringBones::STEP_S;
            let part = ((at_s - from_s) / (time_s - from_s)).clamp(0.0, 1.0) as f32;
            // Times so large that a step is below their precision are equal.
            let part = if part.is_nan() { 1.0 } else { part };
            let slots = scratch.slots[..anchors].iter_mut();
            for (slot, (from, to)) in slots.zip(self.anchors.iter().zip(&scratch.targets)) {
                *slot = mix(from, to, part);
            }
            let motion = Motion::Whole;
            let step = Step { rig, gain, motion };
            step.run([&mut self.now, &mut self.before], scratch);
        }
        self.keep_late(rig, scratch);
        scratch.slots[..anchors].copy_from_slice(&scratch.targets);
        self.anchors.copy_from_slice(&scratch.targets);
        self.time_s = time_s;
        let motion = Motion::Part((due - due.floor()) as f32);
        let step = Step { rig, gain, motion };
        step.show([&self.now, &self.before], (local, model), scratch);
    }

    /// Puts all tails where the animated pose has them, but out of colliders.
    fn begin(&mut self, rig: &SpringRig, time_s: f64, gain: f32, scratch: &mut SpringScratch) {
        scratch.rest(rig);
        let motion = Motion::Start;
        let step = Step { rig, gain, motion };
        step.run([&mut self.now, &mut self.before], scratch);
        self.before.copy_from_slice(&self.now);
        self.keep_late(rig, scratch);
        self.anchors.copy_from_slice(&scratch.targets);
        (self.start_s, self.steps, self.time_s) = (time_s, 0, time_s);
        self.is_ready = true;
    }

    /// Keeps the places of colliders that swing for the next step.
    fn keep_late(&mut self, rig: &SpringRig, scratch: &SpringScratch) {
        for (slot, place) in rig.late.iter().zip(&mut self.late) {
            *place = scratch.slots[*slot as usize];
        }
    }
}
