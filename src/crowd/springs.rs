//! Spring bones of instances.

use super::InstanceId;
use super::state::Crowd;
use crate::error::Result;
use glam::Affine3A;

impl Crowd {
    /// Switches the spring bones of an instance on or off.
    ///
    /// They are on at first, if the character has any. Switched on again, they start in the
    /// animated pose. Instances far away cost less without them.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) or [`Error::Stale`](crate::Error::Stale) if it
    /// is not alive.
    pub fn set_springs(&mut self, id: InstanceId, on: bool) -> Result<()> {
        let world: Affine3A = self.instances.get(id)?.record.world_from_model.to_affine();
        self.with_actor(id, |animator, actor| {
            animator.set_springs(actor, on)?;
            animator.set_world(actor, &world)
        })
    }
}
