//! The caller's controls for blend spaces: play, and move to another position.

use super::blend::BlendPlay;
use super::control::check_fade;
use super::instances::Animator;
use super::step::Layer;
use super::{ActorId, Play, PlayRecord};
use crate::character::BlendAt;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::motion::{BlendSpace, Ease, Ramp};
use glam::Vec2;

impl Animator {
    /// Starts a blend space that fades in. The caller must write its records afterwards.
    pub(super) fn start_blend(
        &mut self,
        index: u32,
        play: &Play<'_>,
        (space, at): (u16, Vec2),
        mask: Option<u16>,
    ) {
        let Some(actor) = self.actors.list.get_mut(index as usize) else {
            return;
        };
        let local_s = actor.clock.local_s(self.now_s);
        let start_s = play.start_s.unwrap_or(local_s);
        let times = (start_s, play.offset_s, play.speed);
        let from = if play.fade_s > 0.0 { 0.0 } else { play.weight };
        let mut new = BlendPlay {
            layer: play.layer,
            mask: mask.unwrap_or(PlayRecord::NO_MASK),
            loop_mode: play.loop_mode,
            weight: Ramp::new(from, play.weight, local_s, play.fade_s.into(), play.ease),
            ..BlendPlay::new(&self.library, (space, at), times)
        };
        if play.in_step {
            let mut layer = Layer {
                library: &self.library,
                records: self.pool.get_mut(actor.block),
                blends: &mut self.blends,
                of_actor: actor.blends,
                layer: play.layer,
                now_s: local_s,
            };
            layer.join_blend(&mut new, play);
        }
        let number = self.blends.add(&mut actor.blends, new, local_s);
        // Remove the records of a blend space that was dropped to free this number.
        self.pool
            .retain(&mut actor.block, |record| record.blend() != number);
    }

    /// Moves the blend space that a layer plays to another position.
    ///
    /// The move is immediate. Give one number or two: as many as the blend space has coordinates.
    /// The phase does not change.
    ///
    /// ```
    /// use throng::animator::{Animator, Play};
    /// use throng::character::{AnimationDesc, BlendSpaceDesc};
    /// use throng::import::{ImportOptions, RawCharacter};
    /// use throng::state_machine::BlendPointDesc;
    ///
    /// let point = |at: f32, clip: &str| BlendPointDesc { at: at.into(), clip: clip.into() };
    /// let locomotion = BlendSpaceDesc {
    ///     name: "locomotion".into(),
    ///     points: vec![point(0.0, "Idle"), point(1.4, "Walk"), point(3.0, "Run")],
    /// };
    /// let animation = AnimationDesc {
    ///     blend_spaces: vec![locomotion],
    ///     ..AnimationDesc::default()
    /// };
    /// let options = ImportOptions { animation: Some(animation), ..ImportOptions::default() };
    /// let character = RawCharacter::mannequin().build(&options)?;
    /// let mut animator = Animator::new(&character)?;
    /// let guard = animator.add(Play::blend_space("locomotion").at(1.4))?;
    /// // Speed up at once, then slow to a stop over half a second.
    /// animator.set_blend_position(guard, 0, 2.0)?;
    /// animator.set_blend_position_over(guard, 0, 0.0, 0.5)?;
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::Argument`] if the layer plays no blend space or belongs to the state machine, for
    ///   the wrong number of coordinates, or for a coordinate that is not finite.
    pub fn set_blend_position(
        &mut self,
        id: ActorId,
        layer: u8,
        at: impl Into<BlendAt>,
    ) -> Result<()> {
        self.set_blend_position_over(id, layer, at, 0.0)
    }

    /// Moves the blend space that a layer plays to another position gradually.
    ///
    /// The movement is linear and takes `over_s` seconds. It advances once per update, as damped
    /// parameters do ([`Self::set_float_over`]).
    ///
    /// # Errors
    /// - The same as [`Self::set_blend_position`].
    /// - [`Error::Argument`] for a duration that is negative or longer than an hour.
    #[doc(alias = "damping")]
    pub fn set_blend_position_over(
        &mut self,
        id: ActorId,
        layer: u8,
        at: impl Into<BlendAt>,
        over_s: f32,
    ) -> Result<()> {
        check_fade("over_s", over_s)?;
        self.check_layer(id, layer)?;
        let space = self.blend_on(id, layer)?.space;
        let to = self.library.blend_place(space, at.into())?.to_array();
        self.touch(id.index);
        let number = self.blend_on(id, layer)?.number;
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            let local_s = actor.clock.local_s(self.now_s);
            self.blends.for_each(actor.blends, |play| {
                if play.number == number {
                    let from = play.at.to_array();
                    let ramp = |axis: usize| {
                        Ramp::new(from[axis], to[axis], local_s, over_s.into(), Ease::Linear)
                    };
                    play.place = [ramp(0), ramp(1)];
                }
            });
            self.blends
                .advance(&self.library, actor.blends, local_s, false);
        }
        self.write_blends(id.index);
        self.changed(id.index);
        Ok(())
    }

    /// The blend space that a layer plays, and its present position.
    ///
    /// `None` if the layer plays no blend space, or only one that fades out. For a blend space that
    /// a state machine plays, read the state machine's parameters instead.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    pub fn blend_position(
        &self,
        id: ActorId,
        layer: u8,
    ) -> Result<Option<(Id<BlendSpace>, BlendAt)>> {
        self.actors.check(id)?;
        let play = self.blend_on(id, layer).ok();
        Ok(play.map(|play| {
            let spaces = self.library.blend_spaces();
            let space = spaces.get(usize::from(play.space));
            let at = match space.map_or(1, |space| space.dimensions()) {
                1 => BlendAt::Line(play.at.x),
                _ => BlendAt::Plane(play.at.to_array()),
            };
            (Id::new(play.space), at)
        }))
    }

    /// The blend space that plays on a layer and is not fading out.
    fn blend_on(&self, id: ActorId, layer: u8) -> Result<&BlendPlay> {
        let actor = self.actors.get(id)?;
        let on_layer = |play: &&BlendPlay| play.layer == layer && play.weight.to > 0.0;
        let found = self.blends.iter(actor.blends).filter(on_layer).last();
        found.ok_or(Error::invalid("layer", "plays no blend space"))
    }
}
