//! The state machine of an actor.

use super::{Actor, parameter_id, undriven};
use crate::animator::library::check_fade;
use crate::animator::state::Driver;
use crate::animator::{ActorId, Animator, NameOrId};
use crate::error::Result;
use crate::id::Id;
use crate::state_machine::{ParameterDesc, StateMachine, Value};
use core::ops::DerefMut;

impl Animator {
    /// Adds an actor that the character's state machine drives.
    ///
    /// It enters its initial states with the next update, so parameters that are set before can
    /// choose them.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the character has no state machine.
    pub fn add_with_state_machine(&mut self) -> Result<ActorId> {
        self.library.expect_state_machine()?;
        let id = self.add_actor();
        self.actor_mut(id)?.start_state_machine()?;
        Ok(id)
    }
}

/// The state machine of the actor.
impl<A: DerefMut<Target = Animator>> Actor<A> {
    /// Starts the character's state machine, from its initial states.
    ///
    /// Everything that the caller played on the layers of the state machine ends.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the character has no state machine.
    #[doc(alias = "drive")]
    pub fn start_state_machine(&mut self) -> Result<()> {
        let has_inertialisation = self.library().expect_state_machine()?.has_inertialisation();
        if has_inertialisation {
            self.animator.expect_special(self.id.index);
        }
        self.change(|it| {
            if let Some(machine) = it.library.state_machine() {
                it.mix().clear_below(machine.layer_count());
                it.actor.driver = Some(Box::new(Driver::new(machine, it.local_s)));
                if machine.has_inertialisation() {
                    // Allocate now, so that no transition does.
                    it.inertialiser().0.make_room();
                }
            }
        });
        Ok(())
    }

    /// Stops the state machine. What it played fades out over `fade_s` seconds.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a fade that is negative or longer than an
    /// hour.
    pub fn stop_state_machine(&mut self, fade_s: f32) -> Result<()> {
        check_fade("fade_s", fade_s)?;
        self.change(|it| {
            it.actor.driver = None;
            it.mix().release_machine(fade_s);
        });
        Ok(())
    }

    /// Sets a parameter. It takes effect from the last update on.
    ///
    /// `parameter` is a name or an id. [`StateMachine::parameter`] looks an id up once, so that a
    /// call for many actors searches for no name. `value` is an `f32`, an `i32`, a `bool` or a
    /// [`Value`], as the parameter is. Numbers are clamped to its range. `true` sets a trigger,
    /// until a transition consumes it, and `false` clears it.
    ///
    /// ```
    /// use throng::Result;
    /// use throng::animator::{Actor, Animator};
    ///
    /// fn jump(mut guard: Actor<&mut Animator>) -> Result<()> {
    ///     guard.set_parameter("speed", 1.4)?;
    ///     guard.set_parameter("jump", true)
    /// }
    /// ```
    ///
    /// # Errors
    /// - [`Error::UnknownName`](crate::Error::UnknownName) or
    ///   [`Error::NotFound`](crate::Error::NotFound) for a parameter that the state machine does
    ///   not have.
    /// - [`Error::At`](crate::Error::At) with the parameter, if it is of another kind, or the value
    ///   is not finite.
    /// - [`Error::Argument`](crate::Error::Argument) if no state machine drives the actor.
    #[doc(alias = "trigger")]
    pub fn set_parameter<'n>(
        &mut self,
        parameter: impl Into<NameOrId<'n, Id<ParameterDesc>>>,
        value: impl Into<Value>,
    ) -> Result<()> {
        let (parameter, value) = (parameter.into(), value.into());
        self.with_driver(|machine, driver, _| {
            driver.set(machine, parameter_id(machine, parameter)?, value)
        })
    }

    /// Moves a float parameter linearly to a value, over `over_s` seconds.
    ///
    /// It moves in steps of 1/128 s of the actor's time, or in at most 256 steps if it takes longer
    /// than 2 s. So states, phases and events are the same whatever the times of updates.
    ///
    /// # Errors
    /// - The same as [`Self::set_parameter`].
    /// - [`Error::Argument`](crate::Error::Argument) for a duration that is negative or longer than
    ///   an hour.
    #[doc(alias = "damping")]
    pub fn set_parameter_over<'n>(
        &mut self,
        parameter: impl Into<NameOrId<'n, Id<ParameterDesc>>>,
        value: f32,
        over_s: f32,
    ) -> Result<()> {
        check_fade("over_s", over_s)?;
        let parameter = parameter.into();
        self.with_driver(|machine, driver, local_s| {
            let id = parameter_id(machine, parameter)?;
            driver.set_over(machine, id, value, [local_s, over_s.into()])
        })
    }

    fn with_driver(
        &mut self,
        change: impl FnOnce(&StateMachine, &mut Driver, f64) -> Result<()>,
    ) -> Result<()> {
        self.driver()?;
        self.animator.touch(self.id.index);
        let it = self.animator.parts(self.id.index);
        let machine = it.library.expect_state_machine()?;
        let driver = it.actor.driver.as_deref_mut().ok_or(undriven())?;
        change(machine, driver, it.local_s)?;
        self.animator.changed(self.id.index);
        Ok(())
    }
}
