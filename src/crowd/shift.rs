//! Shifts of the origin of world space, for large worlds.

#[cfg(doc)]
use crate::character::Character;
use crate::crowd::Crowd;
use crate::crowd::animators::Animators;
use crate::crowd::origin::check_offset;
use crate::crowd::scene::Scene;
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, expect_extent};
use crate::palette::Mat3x4;
use crate::skeleton::Shift;
use glam::DVec3;

impl Crowd {
    /// Moves the origin of world space, so that a large world stays near it.
    ///
    /// `offset` goes from the old origin to the new one, in metres: a point at `p` is at
    /// `p - offset` from now on. All that the crowd keeps in world space moves: transforms, root
    /// motion, spring bones, bounding spheres, and what pictures show of them. Events, poses and
    /// offsets of attachments stay. The engine moves its own objects and cameras.
    ///
    /// It can be called at any time between frames, and needs no GPU. The next prepared frame moves
    /// the GPU's copies in one dispatch. Nothing is uploaded for it, however many instances there
    /// are. Several shifts before a frame add up. Frames in flight are drawn as they were recorded.
    ///
    /// # Motion vectors
    /// They are as if nothing had happened. A view's history stays in the world space of its frame,
    /// with the clip space that the view had then, so no number of it is rounded again. An engine
    /// leaves previous matrices of its own as they are, too: see `docs/engines.md`.
    ///
    /// # Rounding
    /// A position is the nearest `f32` to `p - offset`, if the offset's numbers are `f32`s, too.
    /// With offsets that are multiples of 1,024 m, for example, no bit of a position is lost unless
    /// it moves away from the origin, to where `f32`s are further apart. Root motion adds up in
    /// `f64`.
    ///
    /// # Snapshots
    /// A snapshot keeps the [origin](Self::origin) of its time. [`Self::restore`] takes positions
    /// from there to the present origin, which stays.
    ///
    /// ```no_run
    /// use throng::glam::Vec3;
    /// use throng::{Crowd, Result};
    ///
    /// /// Cells of the world. Multiples of a power of two lose no bits.
    /// const CELL_M: f32 = 1024.0;
    ///
    /// /// Keeps the camera near the origin. Returns the offset for the engine's own objects.
    /// fn rebase(crowd: &mut Crowd, camera: &mut Vec3) -> Result<Vec3> {
    ///     if camera.abs().max_element() < CELL_M {
    ///         return Ok(Vec3::ZERO);
    ///     }
    ///     let offset = (*camera / CELL_M).round() * CELL_M;
    ///     crowd.shift_origin(offset.as_dvec3())?;
    ///     *camera -= offset;
    ///     Ok(offset)
    /// }
    /// ```
    ///
    /// # Errors
    /// Nothing changes then.
    ///
    /// - [`Error::Argument`] for an offset that is not finite or beyond
    ///   [`Character::MAX_EXTENT`].
    /// - [`Error::At`] with the [index](crate::Instance::table_index) of an instance that would be
    ///   beyond it.
    #[doc(alias("rebase", "floating origin", "large world"))]
    pub fn shift_origin(&mut self, offset: DVec3) -> Result<()> {
        check_offset("offset", offset)?;
        let shift = Shift::new(offset);
        for id in self.scene.instances.ids() {
            let state = &self.scene.instances[id.index];
            let actor = self.animators[state.character].actor(state.actor)?;
            let record = state.record.world_from_model.to_affine();
            for world in [actor.transform(), record] {
                let at = shift.point(world.translation.into()).to_array();
                let checked = expect_extent("position", at);
                checked.map_err(|why| why.at("instance", id.index as usize))?;
            }
        }
        self.scene.shift(&self.animators, &shift);
        // The CPU still knows where the GPU places instances.
        for (_, animator) in self.animators.untracked_mut().iter_mut() {
            animator.shift_origin(&shift);
        }
        self.frame.histories.shift(offset);
        Ok(())
    }

    /// The sum of all [shifts](Self::shift_origin) of the origin, in metres.
    #[must_use]
    pub fn origin(&self) -> DVec3 {
        self.scene.origin.at
    }
}

impl Scene {
    /// Takes records and bounding spheres to another origin.
    fn shift(&mut self, animators: &Animators, shift: &Shift) {
        self.origin.shift(shift.offset);
        for index in 0..self.instances.table_len() as u32 {
            let instance = &mut self.instances[index];
            if !instance.alive {
                continue;
            }
            let animator = &animators[instance.character];
            let before = instance.sphere(animator);
            let mut world = instance.record.world_from_model.to_affine();
            shift.place(&mut world);
            instance.record.world_from_model = Mat3x4::from_affine(&world);
            let now = instance.sphere(animator);
            // Otherwise, it plays something else or moved, so the next frame sets it in any case.
            if self.visibility.sphere(index) == before {
                self.visibility.set_sphere(index, &now);
            }
        }
    }
}
