//! Control of instances: the methods of [`Animator`], addressed by instance.

use super::state::Crowd;
use super::{CharacterId, Frame, InstanceId};
use crate::animator::{
    ActorId, AnimationEvent, Animator, IkReport, IkSolver, IkTarget, Play, PlayRecord, Playing,
};
use crate::character::BlendAt;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::motion::BlendSpace;
use crate::state_machine::{LayerStatus, ParameterDesc, Value};

impl Crowd {
    pub(super) fn actor(&self, id: InstanceId) -> Result<(&Animator, ActorId)> {
        let instance = self.instances.get(id)?;
        let entry = self.entry(CharacterId(instance.record.character))?;
        Ok((&entry.animator, instance.actor))
    }

    pub(super) fn with_actor<R>(
        &mut self,
        id: InstanceId,
        change: impl FnOnce(&mut Animator, ActorId) -> Result<R>,
    ) -> Result<R> {
        let instance = self.instances.get(id)?;
        let (character, actor) = (instance.record.character, instance.actor);
        let count = self.characters.len() as u64;
        let entry = self.characters.get_mut(character as usize);
        let entry = entry.and_then(Option::as_mut).ok_or(Error::NotFound {
            what: "character",
            index: character.into(),
            count,
        })?;
        change(&mut entry.animator, actor)
    }

    /// The animator of a character, which knows everything that its instances play.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn animator(&self, character: CharacterId) -> Result<&Animator> {
        Ok(&self.entry(character)?.animator)
    }

    /// Plays a clip on an instance.
    ///
    /// `play` is a name, an index, or a [`Play`] with more options. The clip replaces what its
    /// layer plays, with a cross-fade of [`Play::fade_s`] seconds.
    ///
    /// ```no_run
    /// # use throng::{Crowd, InstanceId, Play};
    /// # fn stop(crowd: &mut Crowd, id: InstanceId) -> throng::Result<()> {
    /// crowd.play(id, Play::new("Idle").fade_s(0.25))?;
    /// crowd.play(id, Play::new("Wave").layer(1).once().fade_s(0.2))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Animator::play`]. The instance is then unchanged.
    #[doc(alias = "crossfade")]
    pub fn play<'a>(&mut self, id: InstanceId, play: impl Into<Play<'a>>) -> Result<()> {
        let play = play.into();
        self.with_actor(id, |animator, actor| animator.play(actor, play))
    }

    /// Fades out what a layer of an instance plays.
    ///
    /// The layers below it show through. Below layer 0, the rest pose does.
    ///
    /// # Errors
    /// As [`Animator::stop`].
    pub fn stop(&mut self, id: InstanceId, layer: u8, fade_s: f32) -> Result<()> {
        self.with_actor(id, |animator, actor| animator.stop(actor, layer, fade_s))
    }

    /// Sets the playback speed of a layer, in clip seconds per second.
    ///
    /// # Errors
    /// As [`Animator::set_speed`].
    pub fn set_speed(&mut self, id: InstanceId, layer: u8, speed: f64) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_speed(actor, layer, speed)
        })
    }

    /// Jumps to a time in a layer's clip, in seconds.
    ///
    /// # Errors
    /// As [`Animator::seek`].
    pub fn seek(&mut self, id: InstanceId, layer: u8, time_s: f64) -> Result<()> {
        self.with_actor(id, |animator, actor| animator.seek(actor, layer, time_s))
    }

    /// Sets the position in a layer's blend space, at once.
    ///
    /// The position has one or two coordinates, as many as the blend space.
    ///
    /// # Errors
    /// As [`Animator::set_blend_position`].
    pub fn set_blend_position(
        &mut self,
        id: InstanceId,
        layer: u8,
        at: impl Into<BlendAt>,
    ) -> Result<()> {
        self.set_blend_position_over(id, layer, at, 0.0)
    }

    /// Moves the position in a layer's blend space linearly, within `over_s` seconds.
    ///
    /// # Errors
    /// As [`Animator::set_blend_position_over`].
    #[doc(alias = "damping")]
    pub fn set_blend_position_over(
        &mut self,
        id: InstanceId,
        layer: u8,
        at: impl Into<BlendAt>,
        over_s: f32,
    ) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_blend_position_over(actor, layer, at, over_s)
        })
    }

    /// A layer's blend space and the present position in it.
    ///
    /// # Errors
    /// As [`Animator::blend_position`].
    pub fn blend_position(
        &self,
        id: InstanceId,
        layer: u8,
    ) -> Result<Option<(Id<BlendSpace>, BlendAt)>> {
        let (animator, actor) = self.actor(id)?;
        animator.blend_position(actor, layer)
    }

    /// Pauses an instance: its clips, fades, state machine and timers.
    ///
    /// # Errors
    /// As [`Animator::pause`].
    pub fn pause(&mut self, id: InstanceId) -> Result<()> {
        self.with_actor(id, Animator::pause)
    }

    /// Resumes a paused instance from the time at which it was paused.
    ///
    /// # Errors
    /// As [`Animator::resume`].
    pub fn resume(&mut self, id: InstanceId) -> Result<()> {
        self.with_actor(id, Animator::resume)
    }

    /// Returns true if the instance is paused.
    ///
    /// # Errors
    /// As [`Animator::is_paused`].
    pub fn is_paused(&self, id: InstanceId) -> Result<bool> {
        let (animator, actor) = self.actor(id)?;
        animator.is_paused(actor)
    }

    /// Sets the time scale of an instance: of its clips, fades and state machine.
    ///
    /// # Errors
    /// As [`Animator::set_time_scale`].
    pub fn set_time_scale(&mut self, id: InstanceId, scale: f32) -> Result<()> {
        self.with_actor(id, |animator, actor| animator.set_time_scale(actor, scale))
    }

    /// The time scale of an instance.
    ///
    /// It applies while the instance is not paused.
    ///
    /// # Errors
    /// As [`Animator::time_scale`].
    pub fn time_scale(&self, id: InstanceId) -> Result<f32> {
        let (animator, actor) = self.actor(id)?;
        animator.time_scale(actor)
    }

    /// Everything that an instance plays now, in ascending order of layers.
    ///
    /// This includes what its state machine plays.
    ///
    /// # Errors
    /// As [`Animator::playing`].
    pub fn playing(&self, id: InstanceId) -> Result<impl Iterator<Item = Playing> + '_> {
        let (animator, actor) = self.actor(id)?;
        animator.playing(actor)
    }

    /// The play records of an instance, in ascending order of layers.
    ///
    /// # Errors
    /// As [`Animator::records`].
    pub fn play_records(&self, id: InstanceId) -> Result<&[PlayRecord]> {
        let (animator, actor) = self.actor(id)?;
        animator.records(actor)
    }

    /// Lets the character's state machine drive an instance from now on.
    ///
    /// # Errors
    /// As [`Animator::drive`].
    pub fn drive(&mut self, id: InstanceId) -> Result<()> {
        self.with_actor(id, Animator::drive)
    }

    /// Stops driving an instance by its state machine.
    ///
    /// What the state machine played fades out within `fade_s` seconds.
    ///
    /// # Errors
    /// As [`Animator::undrive`].
    pub fn undrive(&mut self, id: InstanceId, fade_s: f32) -> Result<()> {
        self.with_actor(id, |animator, actor| animator.undrive(actor, fade_s))
    }

    /// Sets a float parameter of an instance's state machine.
    ///
    /// The value is clamped to the parameter's range.
    ///
    /// # Errors
    /// As [`Animator::set_float`].
    pub fn set_float(
        &mut self,
        id: InstanceId,
        parameter: Id<ParameterDesc>,
        value: f32,
    ) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_float(actor, parameter, value)
        })
    }

    /// Moves a float parameter linearly to a value, within `over_s` seconds.
    ///
    /// # Errors
    /// As [`Animator::set_float_over`].
    pub fn set_float_over(
        &mut self,
        id: InstanceId,
        parameter: Id<ParameterDesc>,
        value: f32,
        over_s: f32,
    ) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_float_over(actor, parameter, value, over_s)
        })
    }

    /// Sets an int parameter of an instance's state machine.
    ///
    /// The value is clamped to the parameter's range.
    ///
    /// # Errors
    /// As [`Animator::set_float`].
    pub fn set_int(
        &mut self,
        id: InstanceId,
        parameter: Id<ParameterDesc>,
        value: i32,
    ) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_int(actor, parameter, value)
        })
    }

    /// Sets a bool parameter of an instance's state machine.
    ///
    /// # Errors
    /// As [`Animator::set_float`].
    pub fn set_bool(
        &mut self,
        id: InstanceId,
        parameter: Id<ParameterDesc>,
        value: bool,
    ) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_bool(actor, parameter, value)
        })
    }

    /// Sets a trigger of an instance's state machine.
    ///
    /// # Errors
    /// As [`Animator::set_float`].
    pub fn set_trigger(&mut self, id: InstanceId, parameter: Id<ParameterDesc>) -> Result<()> {
        self.with_actor(id, |animator, actor| animator.set_trigger(actor, parameter))
    }

    /// Resets a trigger of an instance's state machine.
    ///
    /// # Errors
    /// As [`Animator::set_float`].
    pub fn reset_trigger(&mut self, id: InstanceId, parameter: Id<ParameterDesc>) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.reset_trigger(actor, parameter)
        })
    }

    /// The value of a parameter of an instance's state machine.
    ///
    /// # Errors
    /// As [`Animator::parameter`].
    pub fn parameter(&self, id: InstanceId, parameter: Id<ParameterDesc>) -> Result<Value> {
        let (animator, actor) = self.actor(id)?;
        animator.parameter(actor, parameter)
    }

    /// The present state and transition of a state machine's layer.
    ///
    /// # Errors
    /// As [`Animator::layer_status`].
    pub fn layer_status(&self, id: InstanceId, layer: u8) -> Result<LayerStatus> {
        let (animator, actor) = self.actor(id)?;
        animator.layer_status(actor, layer)
    }

    /// Adds an inverse kinematics solver to a character.
    ///
    /// Its instances can then be given targets for it.
    ///
    /// # Errors
    /// - As [`Animator::add_solver`].
    /// - [`Error::NotFound`] if the character does not exist.
    pub fn add_solver(
        &mut self,
        character: CharacterId,
        solver: impl Into<IkSolver>,
    ) -> Result<Id<IkSolver>> {
        self.entry(character)?;
        let entry = self.characters.get_mut(character.0 as usize);
        let entry = entry.and_then(Option::as_mut).ok_or(Error::NotFound {
            what: "character",
            index: character.0.into(),
            count: 0,
        })?;
        entry.animator.add_solver(solver)
    }

    /// Sets an instance's target for a solver, in character space.
    ///
    /// From now on its pose reaches for the target. The target's weight is faded in within `fade_s`
    /// seconds.
    ///
    /// # Errors
    /// As [`Animator::set_target`].
    pub fn set_target(
        &mut self,
        id: InstanceId,
        solver: Id<IkSolver>,
        target: impl Into<IkTarget>,
        fade_s: f32,
    ) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.set_target(actor, solver, target, fade_s)
        })
    }

    /// Removes an instance's target for a solver, faded out within `fade_s` seconds.
    ///
    /// # Errors
    /// As [`Animator::clear_target`].
    pub fn clear_target(
        &mut self,
        id: InstanceId,
        solver: Id<IkSolver>,
        fade_s: f32,
    ) -> Result<()> {
        self.with_actor(id, |animator, actor| {
            animator.clear_target(actor, solver, fade_s)
        })
    }

    /// The solver's report on an instance's target in the last prepared frame.
    ///
    /// # Errors
    /// As [`Animator::target_report`].
    pub fn target_report(&self, id: InstanceId, solver: Id<IkSolver>) -> Result<Option<IkReport>> {
        let (animator, actor) = self.actor(id)?;
        animator.target_report(actor, solver)
    }

    /// The events of the frame begun last.
    ///
    /// They are grouped by character. Each instance's events are in order of time. Events of
    /// instances that have been despawned since are left out.
    pub fn events(&self) -> impl Iterator<Item = AnimationEvent<InstanceId>> + '_ {
        let characters = (0..).zip(&self.characters);
        characters.flat_map(move |(character, entry)| {
            let events = entry.iter().flat_map(|entry| entry.animator.events());
            events.filter_map(move |event| {
                let entry = entry.as_ref()?;
                let instance = entry.instance(&self.instances, event.id.index)?;
                let state = self.instances.get(instance).ok()?;
                let same = state.record.character == character && state.actor == event.id;
                same.then(|| event.of_instance(instance, character))
            })
        })
    }

    /// The name of an event: a clip event's name, a finished clip's or a state's.
    ///
    /// It is empty if the character has been removed.
    #[must_use]
    pub fn event_name(&self, event: &AnimationEvent<InstanceId>) -> &str {
        let entry = self.entry(CharacterId(event.character));
        entry.map_or("", |entry| entry.animator.event_name(event))
    }
}

impl Frame<'_> {
    /// The events since the frame before. See [`Crowd::events`].
    pub fn events(&self) -> impl Iterator<Item = AnimationEvent<InstanceId>> + '_ {
        self.crowd.events()
    }
}
