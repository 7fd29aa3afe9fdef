//! Picking: the nearest instance that a ray hits.

use super::state::Crowd;
use super::{Frame, InstanceId, ViewId};
use crate::animate::Starts;
use crate::error::Result;
use crate::gpu::palettes;
use crate::gpu::palettes::Row;
use crate::skin::{DRay, Faces, Hit, Posed, Ray};
use bytemuck::Zeroable;

/// The number of instances whose palettes are evaluated together.
const TOGETHER: usize = 64;

impl Crowd {
    /// Finds the instance that a ray hits first, and the hit.
    ///
    /// It sees what a view with the mask `view_mask` draws: visible instances without their hidden
    /// parts. Poses, morph weights, attachments and root motion are those at the time of the frame
    /// begun last, so between frames this is what the screen shows, with the changes that were made
    /// since. [`Frame::pick`] sees the frame that is about to be drawn, and respects a view's list.
    ///
    /// Only characters that were added with
    /// [`CharacterDesc::cpu_skinning`](super::CharacterDesc::cpu_skinning) are hit. All others,
    /// and instances with a transform that has no inverse, are passed over. The test itself is that
    /// of [`Posed::pick`].
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the ray is not finite or has no direction.
    #[doc(alias = "raycast")]
    pub fn pick(
        &mut self,
        ray: &Ray,
        faces: Faces,
        view_mask: u32,
    ) -> Result<Option<(InstanceId, Hit)>> {
        self.follow_all()?;
        self.nearest(ray, faces, |crowd, index| {
            crowd.scene.visibility.mask_shows(view_mask, index)
        })
    }

    /// Finds the nearest hit on the instances that are shown.
    fn nearest(
        &mut self,
        ray: &Ray,
        faces: Faces,
        is_shown: impl Fn(&Self, u32) -> bool,
    ) -> Result<Option<(InstanceId, Hit)>> {
        let ray = DRay::new(ray)?;
        let mut nearest: Option<(u32, Hit)> = None;
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for character in 0..self.scene.characters.len() {
            let Some(Some(entry)) = self.scene.characters.get(character) else {
                continue;
            };
            if entry.cpu_skin.is_none() {
                continue;
            }
            let mut shown = entry.members.clone();
            shown.retain(|index| is_shown(self, *index));
            shown.sort_unstable();
            for shown in shown.chunks(TOGETHER) {
                self.palettes(character, shown, &mut rows);
                self.nearest_of(character, shown, (&rows, &mut weights), |index, posed| {
                    let limit = nearest.map_or(f64::INFINITY, |(_, hit)| hit.distance);
                    let hit = posed.nearest(&ray, faces, limit)?;
                    nearest = hit.map(|hit| (index, hit)).or(nearest);
                    Ok(())
                })?;
            }
        }
        Ok(nearest.map(|(index, hit)| (self.scene.instances.any_id(index), hit)))
    }

    /// Evaluates the palettes of living instances of a character, one after the other.
    fn palettes(&mut self, character: usize, list: &[u32], rows: &mut Vec<Row>) {
        let instances = &self.scene.instances;
        let entry = self.scene.characters.get(character);
        let animator = self.animators.get_mut(character);
        let (Some(Some(entry)), Some(Some(animator))) = (entry, animator) else {
            return;
        };
        let actors = list.iter().filter_map(|index| instances.state(*index));
        let actors: Vec<u32> = actors.map(|instance| instance.actor.index).collect();
        let each = entry.rig.palette().len() * entry.mesh.entry_rows() as usize;
        rows.clear();
        rows.resize(each * actors.len(), Row::zeroed());
        let starts = Starts::Even(rows.as_mut_ptr().cast(), each * size_of::<Row>());
        // SAFETY: the actors of living instances are alive. There are rows of 16 bytes for each of
        // them, which nothing else uses.
        unsafe { animator.write_palettes(&actors, entry.mesh.format(), starts) };
    }

    /// Calls `each` with instances of a character whose palettes were evaluated.
    fn nearest_of(
        &self,
        character: usize,
        list: &[u32],
        (rows, weights): (&[Row], &mut Vec<f32>),
        mut each: impl FnMut(u32, &Posed<'_>) -> Result<()>,
    ) -> Result<()> {
        let entry = self.scene.characters.get(character);
        let animator = self.animators.get(character);
        let (Some(Some(entry)), Some(Some(animator))) = (entry, animator) else {
            return Ok(());
        };
        let Some(cpu_skin) = &entry.cpu_skin else {
            return Ok(());
        };
        weights.resize(entry.rig.morph_weights().len(), 0.0);
        let each_rows = rows.len() / list.len().max(1);
        for (number, index) in list.iter().enumerate() {
            let Some(instance) = self.scene.instances.state(*index) else {
                continue;
            };
            let world = instance.record.world_from_model.to_affine();
            if !world.inverse().is_finite() {
                continue;
            }
            animator.write_weights(instance.actor.index, weights);
            let rows = rows.get(number * each_rows..).unwrap_or_default();
            let rows = rows.get(..each_rows).unwrap_or_default();
            let palette = palettes::as_ref(entry.mesh.format(), rows);
            let posed = Posed::of((&entry.rig, &cpu_skin.skinner), palette, weights)
                .at(world)
                .hiding_bits(self.scene.visibility.hidden(*index));
            each(*index, &posed)?;
        }
        Ok(())
    }
}

impl Frame<'_> {
    /// Finds the instance that a ray hits first, among those that a prepared view shows.
    ///
    /// Otherwise as [`Crowd::pick`].
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the view was not prepared in this frame, if
    /// the ray is not finite or has no direction.
    pub fn pick(
        &mut self,
        view: ViewId,
        ray: &Ray,
        faces: Faces,
    ) -> Result<Option<(InstanceId, Hit)>> {
        self.prepared_view(view)?;
        self.crowd.nearest(ray, faces, |crowd, index| {
            crowd.scene.visibility.view_shows(view.index, index)
        })
    }
}
