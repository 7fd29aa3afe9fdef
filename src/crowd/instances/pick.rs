//! Picking: the hits of a ray on the instances of a crowd.

use crate::animate::Starts;
use crate::crowd::Crowd;
use crate::crowd::InstanceId;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::error::Result;
use crate::gpu::palettes::{self, Row};
use crate::mesh::PartId;
use crate::order;
use crate::skin::{CullMode, DRay, Hit, Posed, Ray};
use bytemuck::Zeroable;
use glam::Vec3;

/// The number of instances whose palettes are evaluated together.
const TOGETHER: usize = 16;

/// The hit of a ray on an instance of a crowd.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InstanceHit {
    /// The instance.
    pub instance: InstanceId,
    /// The smallest part of its character that has the primitive.
    ///
    /// `None` for a primitive past [`PartId::MAX_HIDEABLE`].
    pub part: Option<PartId>,
    /// The hit in world space, in metres.
    pub position: Vec3,
    /// Primitive, triangle and distance.
    pub hit: Hit,
}

impl Crowd {
    /// Finds the nearest hit of a ray, which is in world space.
    ///
    /// It sees what a view with the mask `view_mask` draws: visible instances without their hidden
    /// parts. The test itself is that of [`Posed::pick`]. For a view with a list of its own
    /// ([`View::list`](crate::View::list)), take the first of [`Self::pick_all`] that the list has.
    ///
    /// Only characters that were added with
    /// [`CharacterDesc::cpu_skinning`](crate::CharacterDesc::cpu_skinning) are hit. All others,
    /// and instances with a transform that has no inverse, are passed over.
    ///
    /// # Time
    /// Poses, morph weights, attachments and root motion are those of the last
    /// [`update`](Self::update) or of a frame begun since, with the changes that were made since.
    /// So before the next update, this is what the screen shows.
    ///
    /// # Cost
    /// An instance whose bounding sphere the ray misses costs a few nanoseconds. The others are
    /// posed, nearest sphere first, until none that is left can be nearer than the hit. If the GPU
    /// places attached instances that can be hit, the first call after a change or a new frame
    /// finds out where all of these are.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the ray is not finite or has no direction.
    #[doc(alias = "raycast")]
    pub fn pick(
        &mut self,
        ray: &Ray,
        cull: CullMode,
        view_mask: u32,
    ) -> Result<Option<InstanceHit>> {
        let (mut nearest, mut limit) = (None, f64::INFINITY);
        let ray = DRay::new(ray)?;
        self.each_posed(&ray, view_mask, |it, posed| {
            if let Some(hit) = posed.nearest(&ray, cull, limit)? {
                limit = hit.distance;
                nearest = Some(it.hit(hit));
            }
            Ok(limit)
        })?;
        Ok(nearest)
    }

    /// Finds all hits of a ray, nearest first.
    ///
    /// Each triangle that the ray hits counts, so an instance may have several hits, and a ray
    /// through an edge hits both triangles that share it. Otherwise as [`Self::pick`].
    ///
    /// # Errors
    /// As [`Self::pick`].
    pub fn pick_all(
        &mut self,
        ray: &Ray,
        cull: CullMode,
        view_mask: u32,
    ) -> Result<Vec<InstanceHit>> {
        let ray = DRay::new(ray)?;
        let mut hits = Vec::new();
        self.each_posed(&ray, view_mask, |it, posed| {
            posed.each_hit(&ray, cull, |hit| hits.push(it.hit(hit)))?;
            Ok(f64::INFINITY)
        })?;
        order::sort_by(&mut hits, |a: &InstanceHit, b| {
            a.hit.distance.total_cmp(&b.hit.distance)
        });
        Ok(hits)
    }

    /// Calls `each` with every shown instance that can be picked and whose bounding sphere the ray
    /// passes through, nearest sphere first for each character. It returns the distance beyond
    /// which no more are wanted.
    fn each_posed(
        &mut self,
        ray: &DRay,
        view_mask: u32,
        mut each: impl FnMut(&Target<'_>, &Posed<'_>) -> Result<f64>,
    ) -> Result<()> {
        self.scene.activate_changed(&mut self.animators);
        self.follow_all()?;
        self.update_gpu_worlds();
        let mut limit = f64::INFINITY;
        let Self {
            animators, scene, ..
        } = self;
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for (number, loaded) in scene.characters.iter() {
            let animator = &mut animators.untracked_mut()[number];
            let Some(cpu_skin) = &loaded.cpu_skin else {
                continue;
            };
            weights.resize(loaded.rig.morph_weights().len(), 0.0);
            let (format, each_rows) = (loaded.mesh.format(), loaded.palette_rows() as usize);
            let near = |index: &u32| {
                if !scene.visibility.mask_shows(view_mask, *index) {
                    return None;
                }
                let sphere = scene.instances[*index].sphere(animator);
                let near = ray.reaches(sphere.center, sphere.reach())?;
                Some((near, *index))
            };
            let mut shown: Vec<(f64, u32)> = loaded.members.iter().filter_map(near).collect();
            shown.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for shown in shown.chunks(TOGETHER) {
                if shown.first().is_some_and(|(near, _)| *near > limit) {
                    break;
                }
                let states = shown.iter().map(|(_, index)| &scene.instances[*index]);
                let actors: Vec<u32> = states.map(|state| state.actor.index).collect();
                rows.clear();
                rows.resize(each_rows * actors.len(), Row::zeroed());
                let starts = Starts::Even(rows.as_mut_ptr().cast(), each_rows * size_of::<Row>());
                // SAFETY: the actors of living instances are alive. There are rows of 16 bytes for
                // each of them, which nothing else uses.
                unsafe { animator.write_palettes(&actors, format, starts) };
                let palettes = (0..).map(|number| {
                    let rows = rows.get(number * each_rows..).unwrap_or_default();
                    rows.get(..each_rows).unwrap_or_default()
                });
                for (((near, index), actor), rows) in shown.iter().zip(actors).zip(palettes) {
                    if *near > limit {
                        break;
                    }
                    let instance = scene.instances.any_id(*index);
                    let world = scene.instances[instance.index].record.world_from_model;
                    let world = world.to_affine();
                    if !world.inverse().is_finite() {
                        continue;
                    }
                    animator.write_weights(actor, &mut weights);
                    let palette = palettes::as_ref(format, rows);
                    let posed = Posed::of((&loaded.rig, &cpu_skin.skinner), palette, &weights)
                        .at(world)
                        .hiding_bits(scene.visibility.look(*index).hidden);
                    let target = Target {
                        loaded,
                        instance,
                        world,
                    };
                    limit = each(&target, &posed)?;
                }
            }
        }
        Ok(())
    }
}

/// An instance that a ray may hit.
struct Target<'a> {
    loaded: &'a LoadedCharacter,
    instance: InstanceId,
    world: glam::Affine3A,
}

impl Target<'_> {
    fn hit(&self, hit: Hit) -> InstanceHit {
        let bit = self.loaded.bit(hit.primitive as u32);
        InstanceHit {
            instance: self.instance,
            part: self.loaded.rig.smallest_part(bit),
            position: self.world.transform_point3(hit.position),
            hit,
        }
    }
}
