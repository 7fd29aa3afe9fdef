//! Clips on layers above the base.

use throng::clip::Clip;
use throng::{Crowd, Id, InstanceId, Play, Result};

use super::state::{Base, Layer, Playback};

/// The most layers above the base.
pub(crate) const MAX_LAYERS: usize = 3;

impl Playback {
    /// Adds a layer, which plays this clip.
    pub(crate) fn add_layer(
        &mut self,
        clip: Id<Clip>,
        world: (&mut Crowd, &[InstanceId]),
    ) -> Result<()> {
        if self.layers.len() < MAX_LAYERS {
            self.layers.push(Layer {
                clip,
                mask: None,
                weight: 1.0,
                fade_s: 0.25,
                start_s: self.time_s,
            });
            let index = self.layers.len() - 1;
            self.play_layer(world, index, 0.25)?;
        }
        Ok(())
    }

    /// Replaces a layer.
    pub(crate) fn set_layer(
        &mut self,
        (index, layer): (usize, Layer),
        world: (&mut Crowd, &[InstanceId]),
    ) -> Result<()> {
        let Some(old) = self.layers.get_mut(index) else {
            return Ok(());
        };
        let other_clip = old.clip != layer.clip;
        *old = layer;
        if other_clip {
            old.start_s = self.time_s;
        }
        let fade_s = if other_clip { layer.fade_s } else { 0.0 };
        self.play_layer(world, index, fade_s)
    }

    /// Removes the last layer.
    pub(crate) fn remove_layer(&mut self, (crowd, ids): (&mut Crowd, &[InstanceId])) -> Result<()> {
        let Some(layer) = self.layers.pop() else {
            return Ok(());
        };
        self.stop_layer((crowd, ids), self.layers.len(), layer.fade_s)
    }

    pub(super) fn stop_layer(
        &self,
        (crowd, ids): (&mut Crowd, &[InstanceId]),
        index: usize,
        fade_s: f32,
    ) -> Result<()> {
        for id in ids {
            let number = self.number(crowd, *id, index)?;
            crowd.instance_mut(*id)?.stop(number, fade_s)?;
        }
        Ok(())
    }

    /// The number of a layer on an instance: above layer 0, or above those of the state machine.
    pub(super) fn number(&self, crowd: &Crowd, id: InstanceId, index: usize) -> Result<u8> {
        let below = match self.base {
            Base::StateMachine => {
                let character = crowd.character(crowd.instance(id)?.character())?;
                let machine = character.state_machine();
                machine.map_or(1, |machine| machine.desc().layers.len())
            }
            _ => 1,
        };
        Ok(u8::try_from(below + index).unwrap_or(u8::MAX))
    }

    pub(super) fn play_layer(
        &self,
        (crowd, ids): (&mut Crowd, &[InstanceId]),
        index: usize,
        fade_s: f32,
    ) -> Result<()> {
        let layer = self.layers[index];
        for id in ids {
            let play = Play {
                mask: layer.mask.map(Into::into),
                start_s: Some(layer.start_s),
                ..Play::new(layer.clip)
                    .layer(self.number(crowd, *id, index)?)
                    .weight(layer.weight)
                    .fade_s(fade_s)
            };
            crowd.instance_mut(*id)?.play(play)?;
        }
        Ok(())
    }
}
