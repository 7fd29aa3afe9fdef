//! The caller's controls for state machines of actors: start, parameters, triggers, states.

use super::ActorId;
use super::carry::Carry;
use super::control::check_fade;
use super::drive::Driver;
use super::instances::Animator;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::motion::{Ease, Ramp};
use crate::state_machine::{LayerStatus, ParameterDesc, StateMachine, Value};

impl Animator {
    /// The state machine of the character.
    ///
    /// # Errors
    /// [`Error::Argument`] if the character has none.
    pub fn state_machine(&self) -> Result<&StateMachine> {
        let machine = self.library.state_machine();
        machine.ok_or(Error::invalid("state machine", "the character has none"))
    }

    /// Adds an actor that the character's state machine drives.
    ///
    /// It enters its initial states with the next update, so parameters that are set before can
    /// choose them.
    ///
    /// # Errors
    /// [`Error::Argument`] if the character has no state machine.
    pub fn add_driven(&mut self) -> Result<ActorId> {
        self.state_machine()?;
        let id = self.actors.add(self.now_s);
        self.start_springs(id.index);
        self.drive(id)?;
        Ok(id)
    }

    /// Starts the state machine on an actor, from its initial states.
    ///
    /// Everything that the caller played on the layers of the state machine ends.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::Argument`] if the character has no state machine.
    pub fn drive(&mut self, id: ActorId) -> Result<()> {
        self.actors.check(id)?;
        self.state_machine()?;
        self.touch(id.index);
        if self.state_machine()?.has_inertia() {
            self.expect_special(id.index);
        }
        let layers = self.library.machine_layers();
        let machine = self.library.state_machine();
        if let (Some(actor), Some(machine)) = (self.actors.list.get_mut(id.index as usize), machine)
        {
            let local_s = actor.clock.local_s(self.now_s);
            self.pool.retain(&mut actor.block, |record| {
                usize::from(record.layer) >= layers
            });
            self.blends
                .retain(&mut actor.blends, |play| usize::from(play.layer) >= layers);
            actor.driver = Some(Box::new(Driver::new(machine, local_s)));
            if machine.has_inertia() && actor.carry.is_none() {
                // Allocate now, so that no transition does.
                let joints = self.library.skeleton.len();
                let weights = self.library.morph_weights.len();
                actor.carry = Some(Box::new(Carry::with_room(joints, weights)));
                self.cut_work.make_room(&self.library);
            }
        }
        self.changed(id.index);
        Ok(())
    }

    /// Detaches an actor from its state machine.
    ///
    /// What the state machine played fades out over `fade_s` seconds.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::Argument`] for a fade that is negative or longer than an hour.
    pub fn undrive(&mut self, id: ActorId, fade_s: f32) -> Result<()> {
        check_fade("fade_s", fade_s)?;
        self.actors.check(id)?;
        self.touch(id.index);
        if let Some(actor) = self.actors.list.get_mut(id.index as usize) {
            let local_s = actor.clock.local_s(self.now_s);
            actor.driver = None;
            for record in self.pool.get_mut(actor.block) {
                if record.has(super::PlayRecord::FLAG_STATE_MACHINE) {
                    record.flags &= !super::PlayRecord::FLAG_STATE_MACHINE;
                    // Clips of states report no event at their end.
                    record.flags |= super::PlayRecord::FLAG_FINISHED;
                    record.fade_to(0.0, local_s, fade_s, Ease::Smooth);
                }
            }
            self.pool
                .retain(&mut actor.block, |record| !record.is_over(local_s));
        }
        self.changed(id.index);
        Ok(())
    }

    /// Sets a float parameter, clamped to its range. It takes effect from the last update on.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::Stale`] if the actor is not alive.
    /// - [`Error::Argument`] if no state machine drives the actor, the parameter is of another
    ///   kind, or the value is not finite.
    pub fn set_float(
        &mut self,
        id: ActorId,
        parameter: Id<ParameterDesc>,
        value: f32,
    ) -> Result<()> {
        self.with_driver(id, |machine, driver, _| {
            machine.set_float(&mut driver.state, parameter, value)?;
            driver.damped.retain(|(other, _)| *other != parameter);
            Ok(())
        })
    }

    /// Moves a float parameter linearly to a value, over `over_s` seconds.
    ///
    /// It changes once per update.
    ///
    /// # Errors
    /// - The same as [`Self::set_float`].
    /// - [`Error::Argument`] for a duration that is negative or longer than an hour.
    #[doc(alias = "damping")]
    pub fn set_float_over(
        &mut self,
        id: ActorId,
        parameter: Id<ParameterDesc>,
        value: f32,
        over_s: f32,
    ) -> Result<()> {
        check_fade("over_s", over_s)?;
        self.with_driver(id, |machine, driver, local_s| {
            let from = match machine.value(&driver.state, parameter)? {
                Value::Float(from) => from,
                // This call fails, with an error that says which kind the parameter is.
                _ => return machine.set_float(&mut driver.state, parameter, value),
            };
            // Set it once and back, so that an invalid value is rejected at once.
            machine.set_float(&mut driver.state, parameter, value)?;
            machine.set_float(&mut driver.state, parameter, from)?;
            driver.damped.retain(|(other, _)| *other != parameter);
            let ramp = Ramp::new(from, value, local_s, over_s.into(), Ease::Linear);
            driver.damped.push((parameter, ramp));
            Ok(())
        })
    }

    /// Sets an int parameter, clamped to its range. Otherwise works like [`Self::set_float`].
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn set_int(&mut self, id: ActorId, parameter: Id<ParameterDesc>, value: i32) -> Result<()> {
        self.with_driver(id, |machine, driver, _| {
            machine.set_int(&mut driver.state, parameter, value)
        })
    }

    /// Sets a bool parameter. Otherwise works like [`Self::set_float`].
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn set_bool(
        &mut self,
        id: ActorId,
        parameter: Id<ParameterDesc>,
        value: bool,
    ) -> Result<()> {
        self.with_driver(id, |machine, driver, _| {
            machine.set_bool(&mut driver.state, parameter, value)
        })
    }

    /// Sets a trigger, until a transition consumes it or [`Self::reset_trigger`] clears it.
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn set_trigger(&mut self, id: ActorId, parameter: Id<ParameterDesc>) -> Result<()> {
        self.with_driver(id, |machine, driver, _| {
            machine.set_trigger(&mut driver.state, parameter)
        })
    }

    /// Clears a trigger.
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn reset_trigger(&mut self, id: ActorId, parameter: Id<ParameterDesc>) -> Result<()> {
        self.with_driver(id, |machine, driver, _| {
            machine.reset_trigger(&mut driver.state, parameter)
        })
    }

    /// The value of a parameter.
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn parameter(&self, id: ActorId, parameter: Id<ParameterDesc>) -> Result<Value> {
        let (machine, driver) = self.driver(id)?;
        machine.value(&driver.state, parameter)
    }

    /// The current state and transition of a layer of the state machine.
    ///
    /// # Errors
    /// - The same as [`Self::set_float`].
    /// - [`Error::NotFound`] for a layer that the state machine does not have.
    pub fn layer_status(&self, id: ActorId, layer: u8) -> Result<LayerStatus> {
        let (machine, driver) = self.driver(id)?;
        let local_s = self.actors.get(id)?.clock.local_s(self.now_s);
        machine.status(&driver.state, layer, local_s)
    }

    fn driver(&self, id: ActorId) -> Result<(&StateMachine, &Driver)> {
        let driver = self.actors.get(id)?.driver.as_deref();
        let machine = self.state_machine()?;
        driver.map(|driver| (machine, driver)).ok_or(undriven())
    }

    fn with_driver(
        &mut self,
        id: ActorId,
        change: impl FnOnce(&StateMachine, &mut Driver, f64) -> Result<()>,
    ) -> Result<()> {
        self.driver(id)?;
        self.touch(id.index);
        let machine = self.library.state_machine();
        let actor = self.actors.list.get_mut(id.index as usize);
        if let (Some(machine), Some(actor)) = (machine, actor) {
            let local_s = actor.clock.local_s(self.now_s);
            let driver = actor.driver.as_deref_mut().ok_or(undriven())?;
            change(machine, driver, local_s)?;
        }
        self.changed(id.index);
        Ok(())
    }
}

fn undriven() -> Error {
    Error::invalid("actor", "is not driven by a state machine")
}
