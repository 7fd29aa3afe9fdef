//! Evaluation of actors' poses, in any form, by the batch kernel.

use super::actors::{ActorState, Actors};
use super::library::Library;
use super::record::PlayRecord;
use super::state::{OwnPose, Pools, SpringMode, Swinging};
use super::work::Swing;
use super::{ActorId, Animator};
use crate::animate::{PlanSource, Planner, Product, Starts};
use crate::error::{Result, expect_len, expect_transform};
use crate::palette::{PaletteEntry, PaletteFormat, WriteOnly};
use crate::skeleton::Transform;
use glam::Affine3A;

/// The clips that some actors play at the time that is shown. Only [`Animator::plan`] makes it.
struct Plan<'a> {
    library: &'a Library,
    actors: &'a Actors,
    pools: &'a Pools,
    list: &'a [u32],
    shown_s: f64,
}

// SAFETY: `Animator::plan` took everything from the animator whose poser evaluates it, so the
// playback of each actor fits that poser: see its own implementation.
unsafe impl PlanSource for Plan<'_> {
    fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    fn plan<'a>(&'a self, index: usize, planner: &mut Planner<'_, 'a>) {
        let actor = &self.actors[self.list[index]];
        let local_s = actor.clock.local_s(self.shown_s);
        let played = actor.playback(self.library, self.pools, local_s);
        played.samples().for_each(|sample| planner.push(sample));
    }
}

impl Animator {
    /// Writes the palettes of actors at the time that is shown: see [`Self::show_at`].
    ///
    /// There is one palette for each actor, one after the other. The elements of `out` decide the
    /// format. A palette holds skinning matrices in character space, one for each entry of
    /// [`Character::palette`](crate::character::Character::palette).
    ///
    /// Each palette is written in ascending order and nothing is read, so `out` may be mapped
    /// device memory. Parts of a matrix that the format cannot represent are dropped: see
    /// [`PaletteEntry::project`].
    ///
    /// # Errors
    /// If there is an error, nothing is written.
    ///
    /// - [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) for
    ///   an actor that is not alive.
    /// - [`Error::Argument`](crate::Error::Argument) if the length of `out` is not that of all
    ///   palettes together, or if it is not aligned for its elements.
    pub fn palettes<'o, E: PaletteEntry>(
        &mut self,
        actors: &[ActorId],
        out: impl Into<WriteOnly<'o, E>>,
    ) -> Result<()> {
        span!("palettes");
        let mut out = out.into();
        let entries = self.poser.entries();
        expect_len("palettes", out.len(), entries.saturating_mul(actors.len()))?;
        out.expect_aligned("palettes")?;
        let list = self.take_list(actors)?;
        let starts = Starts::Even(out.as_mut_ptr().cast(), entries * size_of::<E>());
        // SAFETY: `out` is borrowed for writing. `expect_len` and `expect_aligned` checked that all
        // palettes fit, one after the other, and that the first is aligned. Elements have a
        // multiple of 16 bytes, so the others are aligned, too.
        unsafe { self.write_palettes(&list, E::FORMAT, starts) };
        self.work.buffers.list = list;
        Ok(())
    }

    /// Writes the local poses of actors at the time that is shown: see [`Self::show_at`].
    ///
    /// The poses are written one after the other. There is one transform for each joint.
    ///
    /// # Errors
    /// The same as [`Self::palettes`].
    pub fn local_poses(&mut self, actors: &[ActorId], out: &mut [Transform]) -> Result<()> {
        let joints = self.library.skeleton.len();
        let need = joints.saturating_mul(actors.len());
        expect_len("local poses", out.len(), need)?;
        let list = self.take_list(actors)?;
        let mut model = core::mem::take(&mut self.work.buffers.model);
        self.pose(&list, Swinging::Picture, out, &mut model);
        (self.work.buffers.model, self.work.buffers.list) = (model, list);
        Ok(())
    }

    /// Writes the model poses of actors at the time that is shown: see [`Self::show_at`].
    ///
    /// The poses are written one after the other. There is one matrix for each joint, from the
    /// joint's space to character space.
    ///
    /// # Errors
    /// The same as [`Self::palettes`].
    pub fn model_poses(&mut self, actors: &[ActorId], out: &mut [Affine3A]) -> Result<()> {
        let joints = self.library.skeleton.len();
        let need = joints.saturating_mul(actors.len());
        expect_len("model poses", out.len(), need)?;
        let list = self.take_list(actors)?;
        let mut work = core::mem::take(&mut self.work.buffers);
        work.local.resize(out.len(), Transform::IDENTITY);
        self.pose(&list, Swinging::Picture, &mut work.local, &mut work.model);
        out.copy_from_slice(&work.model[..out.len()]);
        work.list = list;
        self.work.buffers = work;
        Ok(())
    }

    fn take_list(&mut self, actors: &[ActorId]) -> Result<Vec<u32>> {
        for id in actors {
            self.actors.check(*id)?;
        }
        let mut list = core::mem::take(&mut self.work.buffers.list);
        list.clear();
        list.extend(actors.iter().map(|id| id.index));
        Ok(list)
    }

    fn plan<'a>(&'a self, list: &'a [u32]) -> Plan<'a> {
        Plan {
            library: &self.library,
            actors: &self.actors,
            pools: &self.pools,
            list,
            shown_s: self.shown_s,
        }
    }

    /// Evaluates local and model poses, with inverse kinematics and spring bones.
    ///
    /// `model` is resized as needed.
    fn pose(
        &mut self,
        list: &[u32],
        swinging: Swinging,
        local: &mut [Transform],
        model: &mut Vec<Affine3A>,
    ) {
        let joints = self.library.skeleton.len();
        let starts = Starts::Even(local.as_mut_ptr().cast(), joints * size_of::<Transform>());
        // SAFETY: `local` is borrowed for writing. Its length is the number of joints times that of
        // `list`, as `local_poses` checked, or as `model_poses` and `write_palettes` resized it. So
        // there is a start for each actor, and no two poses overlap.
        unsafe { self.run(list, Product::Local, starts) };
        model.resize(local.len(), Affine3A::IDENTITY);
        let skeleton = &self.library.skeleton;
        let mut swings = core::mem::take(&mut self.work.swings);
        swings.clear();
        let poses = local
            .chunks_exact_mut(joints.max(1))
            .zip(model.chunks_exact_mut(joints.max(1)));
        for (index, (local, model)) in list.iter().zip(poses) {
            let actor = &mut self.actors[*index];
            let local_s = actor.clock.local_s(self.shown_s);
            if let Some(transition) = actor.inertialised_at(local_s) {
                transition.apply(local_s, local);
            }
            // The lengths match, so there is no error.
            let _ = skeleton.model_pose(local, model);
            if actor.goals.is_empty()
                && let Some(own) = alone(actor, &self.pools, local_s)
            {
                model.copy_from_slice(own);
            }
            let pose = (&mut *local, &mut *model);
            actor.goals.solve((&self.solvers, skeleton), local_s, pose);
            if !self.library.springs.is_empty() {
                swings.push((actor.springs.take(swinging), local_s));
            }
        }
        self.swing((list, swinging), &mut swings, (local, model));
        self.work.swings = swings;
    }

    /// Takes the spring bones that swing with updates to the time of the last one.
    pub(crate) fn swing_all(&mut self) {
        if self.swinging == 0 {
            return;
        }
        span!("springs");
        let mut work = core::mem::take(&mut self.work.buffers);
        work.list.clear();
        let all = (0..).zip(&self.actors.list);
        let swinging = all.filter(|(_, actor)| actor.springs.mode() == SpringMode::Game);
        work.list.extend(swinging.map(|(index, _)| index));
        work.list.iter().for_each(|index| self.touched(*index));
        let length = work.list.len() * self.library.skeleton.len();
        work.local.resize(length, Transform::IDENTITY);
        self.pose(&work.list, Swinging::Game, &mut work.local, &mut work.model);
        self.work.buffers = work;
    }

    /// Takes the spring bones of actors to the time that is shown, and puts them back.
    fn swing(
        &mut self,
        (list, swinging): (&[u32], Swinging),
        swings: &mut [Swing],
        (local, model): (&mut [Transform], &mut [Affine3A]),
    ) {
        let rig = &self.library.springs;
        if rig.is_empty() {
            return;
        }
        let joints = self.library.skeleton.len();
        let advance = |swing: &mut Swing, local: &mut [Transform], model: &mut [Affine3A]| {
            if let (Some(state), local_s) = swing {
                state.advance(rig, *local_s, (local, model));
            }
        };
        self.threads
            .for_each_pose(joints, swings, (local, model), advance);
        let mut twice = false;
        for (index, (state, local_s)) in list.iter().zip(&mut *swings) {
            if let Some(state) = state.take() {
                self.actors[*index].springs.put_back(swinging, state);
                *local_s = f64::NAN;
            } else {
                twice = true;
            }
        }
        if !twice {
            return;
        }
        // Actors that are listed twice, whose state was taken the first time.
        let poses = local
            .chunks_exact_mut(joints)
            .zip(model.chunks_exact_mut(joints));
        for ((index, (_, local_s)), pose) in list.iter().zip(&*swings).zip(poses) {
            if !local_s.is_nan() {
                let springs = &mut self.actors[*index].springs;
                springs.advance(swinging, rig, *local_s, pose);
            }
        }
    }

    /// Evaluates the records of actors. One that is not alive plays nothing.
    ///
    /// # Safety
    /// There is a start for each actor, as
    /// [`BatchPoser::run_planned`](crate::animate::BatchPoser) says.
    unsafe fn run(&self, list: &[u32], product: Product, starts: Starts<'_>) {
        let plan = self.plan(list);
        let samples = self.pools.most_records() * 16;
        // SAFETY: `plan` is one for this animator's poser, see there. The caller guarantees the
        // starts.
        unsafe {
            self.poser
                .run_planned(&plan, samples, product, starts, &self.threads);
        }
    }

    /// Writes the palettes of living actors.
    ///
    /// # Safety
    /// There must be a start for each actor. It must be aligned to 16 bytes, and valid for writing
    /// a palette of the format by any thread during the call. The palettes must not overlap.
    pub(crate) unsafe fn write_palettes(
        &mut self,
        list: &[u32],
        format: PaletteFormat,
        starts: Starts<'_>,
    ) {
        let special = |index: &u32| {
            let actor = &self.actors[*index];
            actor.may_be_special && actor.is_special(self.shown_s)
        };
        if self.work.specials == 0 || !list.iter().any(special) {
            // SAFETY: the caller guarantees a start for each actor, valid for a palette of the
            // format, which is what `run` writes.
            unsafe { self.run(list, Product::Palette(format), starts) };
            return;
        }
        let mut work = core::mem::take(&mut self.work.buffers);
        work.split(list, &starts, special);
        // SAFETY: the caller guarantees a start for each actor, valid for a palette of the format.
        // `split` put each actor and its start into exactly one pair of lists, so both pairs have
        // equal lengths and no palettes overlap. `length` is that of all special actors' poses, to
        // which `pose` resizes `model`, and `finish_to` writes one palette for each.
        unsafe {
            let starts = Starts::Each(&work.plain_starts.0);
            self.run(&work.plain, Product::Palette(format), starts);
            let joints = self.library.skeleton.len();
            let length = work.special.len().saturating_mul(joints);
            work.local.resize(length, Transform::IDENTITY);
            let (local, model) = (&mut work.local, &mut work.model);
            self.pose(&work.special, Swinging::Picture, local, model);
            let starts = Starts::Each(&work.special_starts.0);
            let models = &work.model[..length];
            self.poser.finish_to(models, format, starts, &self.threads);
        }
        self.work.buffers = work;
    }

    /// Writes the morph weights of a living actor. The length of `out` must be correct.
    pub(crate) fn write_weights(&self, index: u32, out: &mut [f32]) {
        let actor = &self.actors[index];
        let local_s = actor.clock.local_s(self.shown_s);
        let played = actor.playback(&self.library, &self.pools, local_s);
        played.morph_weights(out);
        if let Some(transition) = actor.inertialised_at(local_s) {
            transition.apply_weights(local_s, out);
        }
        if let Some(weights) = &actor.weights {
            weights.apply(&self.library, out);
        }
    }

    /// Checks that a model pose is within [`Character::MAX_EXTENT`], and that the palette format of
    /// a crowd's character can represent it.
    pub(super) fn check_fit(&self, model: &[Affine3A]) -> Result<()> {
        for (joint, transform) in model.iter().enumerate() {
            let checked = expect_transform("model pose", transform);
            checked.map_err(|why| why.at("joint", joint))?;
        }
        let fits = self.fits.as_ref();
        fits.map_or(Ok(()), |(rig, format)| rig.check_palette(model, *format))
    }

    /// The same as [`Self::check_fit`], for a local pose of the right length.
    pub(super) fn check_fit_of_local(&mut self, local: &[Transform]) -> Result<()> {
        let mut model = core::mem::take(&mut self.work.buffers.model);
        model.resize(local.len().max(model.len()), Affine3A::IDENTITY);
        let pose = &mut model[..local.len()];
        let checked = self.library.skeleton.model_pose(local, pose);
        let checked = checked.and_then(|()| self.check_fit(pose));
        self.work.buffers.model = model;
        checked
    }
}

/// The model pose that the caller set for an actor, if it is the only visible one.
pub(super) fn alone<'a>(
    actor: &'a ActorState,
    pools: &Pools,
    local_s: f64,
) -> Option<&'a [Affine3A]> {
    let model = actor.own_pose.as_deref().and_then(OwnPose::model)?;
    let seen = |record: &&PlayRecord| record.weight_at(local_s) > 0.0;
    let mut seen = actor.layers.records(pools).iter().filter(seen);
    let is_alone = actor.inertialised_at(local_s).is_none()
        && seen.next().is_some_and(|record| {
            record.has(PlayRecord::FLAG_POSE)
                && record.mask().is_none()
                && record.weight_at(local_s) >= 1.0
        })
        && seen.next().is_none();
    is_alone.then_some(model)
}
