//! Poses that the engine makes itself.

use super::{CharacterId, Crowd, InstanceId};
use crate::character::Affine;
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::palettes;

impl Crowd {
    /// Puts an instance into a pose of the engine's own making: character space from each joint's space, one for each
    /// joint of its character's skeleton. It holds until it is set again or [`Self::play`] is called.
    ///
    /// Whatever the pose level can do reaches the screen this way: layers, blend spaces, state machines and inverse kinematics
    /// end in model poses ([`BatchPoser::model_poses`](crate::pose::BatchPoser::model_poses)). Morph weights are those of the
    /// rest pose, or what [`Self::set_morph_weights`] says. Front faces are told from the rest pose and the clips, as
    /// [`PaletteJoint::may_flip`](crate::character::PaletteJoint::may_flip) says: a pose that mirrors where no
    /// clip does shows its back faces.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive; [`Error::Argument`] for another number of joints;
    /// [`Error::Each`] with the first joint whose matrix is not finite; [`Error::Unheld`] if the character's method can't hold
    /// the pose. The instance stays as it was then.
    pub fn set_model_pose(&mut self, id: InstanceId, model: &[Affine]) -> Result<()> {
        let character = CharacterId(self.instances.get(id)?.record.character);
        let Self {
            characters,
            instances,
            scratch,
            ..
        } = self;
        let missing = Error::NotFound {
            what: "character",
            index: character.0.into(),
            count: characters.len() as u64,
        };
        let entry = characters
            .get(character.0 as usize)
            .and_then(Option::as_ref);
        let entry = entry.ok_or(missing)?;
        let (got, need) = (model.len(), entry.rig.skeleton().len());
        if got != need {
            let why = ArgumentFault::Length { got, need };
            return Err(Error::Argument {
                what: "model pose",
                why,
            });
        }
        if let Some(joint) = model.iter().position(|matrix| !matrix.is_finite()) {
            let why = ArgumentFault::Invalid("must be finite");
            return Err(Error::Each {
                what: "joint",
                index: joint as u64,
                why: Box::new(Error::Argument {
                    what: "model pose",
                    why,
                }),
            });
        }
        palettes::check(&entry.rig, entry.mesh.method(), model, scratch)?;
        let Some(slot) = instances.slots.get_mut(id.index as usize) else {
            return Ok(());
        };
        let was_moving = slot.moves();
        slot.layer = None;
        slot.model.clear();
        slot.model.extend_from_slice(model);
        slot.posed = true;
        // The record changes only when the palette moves between ring and rest.
        if was_moving {
            return Ok(());
        }
        instances.change(id, |slot| slot.place_shares())
    }
}
