//! The plays of an actor, and how its time passes.

use super::Actor;
use crate::animator::library::check_fade;
use crate::animator::state::{Clock, Motion, no_blend};
use crate::animator::{Animator, Play};
use crate::character::BlendAt;
use crate::error::{Result, expect_finite};
use core::ops::DerefMut;

/// Methods for the plays of an actor, and for its time.
impl<A: DerefMut<Target = Animator>> Actor<A> {
    /// Plays a clip or a blend space.
    ///
    /// `play` is a name, an id, or a [`Play`] with more options. It replaces what its layer plays,
    /// in a cross-fade of [`Play::fade_s`] seconds. A fade that interrupts another starts from the
    /// weights reached, so nothing jumps.
    ///
    /// The cost does not depend on the number of actors. Nothing is allocated, except by an
    /// inertialised transition ([`Play::inertial_s`]).
    ///
    /// # Errors
    /// If there is an error, the actor does not change.
    ///
    /// - [`Error::UnknownName`](crate::Error::UnknownName) or
    ///   [`Error::NotFound`](crate::Error::NotFound) for a clip, blend space or mask that the
    ///   character does not have.
    /// - [`Error::Argument`](crate::Error::Argument) for:
    ///   - a value that is not finite,
    ///   - a position that does not have as many coordinates as the blend space,
    ///   - a position for a single clip,
    ///   - a fade that is negative or longer than an hour,
    ///   - a negative weight,
    ///   - a layer that the actor's state machine drives.
    #[doc(alias = "crossfade")]
    pub fn play<'p>(&mut self, play: impl Into<Play<'p>>) -> Result<()> {
        let mut play = play.into();
        self.check_layer(play.layer)?;
        let resolved = self.library().resolve(&play)?;
        if play.inertial_s == 0.0 {
            self.change(|it| it.mix().play(&play, resolved));
            return Ok(());
        }
        play.fade_s = 0.0;
        self.animator.expect_special(self.id.index);
        self.change(|it| {
            let local_s = it.local_s;
            let (mut inertialiser, records) = it.inertialiser();
            inertialiser.sample(Motion::Old, records, local_s);
            it.mix().play(&play, resolved);
            let (mut inertialiser, records) = it.inertialiser();
            inertialiser.sample(Motion::New, records, local_s);
            inertialiser.begin(local_s, play.inertial_s.into());
        });
        Ok(())
    }

    /// Fades out what a layer plays, over `fade_s` seconds.
    ///
    /// The layers below show through; under layer 0 that is the rest pose.
    ///
    /// # Errors
    /// The same as [`Self::play`].
    pub fn stop(&mut self, layer: u8, fade_s: f32) -> Result<()> {
        self.play(Play::REST.layer(layer).fade_s(fade_s))
    }

    /// Sets the speed of what a layer plays.
    ///
    /// The unit is clip seconds per second. Negative plays backwards, 0 holds the pose. Each clip
    /// continues from its current time. Clips that keep step stay in step: the last of them gets
    /// this speed, and the others follow its rate.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a speed that is not finite, and for a layer
    /// that the actor's state machine drives.
    pub fn set_speed(&mut self, layer: u8, speed: f64) -> Result<()> {
        expect_finite("speed", speed)?;
        self.check_layer(layer)?;
        self.change(|it| it.mix().set_speed(layer, speed));
        Ok(())
    }

    /// Jumps to a time of the clip that a layer plays.
    ///
    /// The time is in seconds. For a blend space, it is a time of the blended cycle at the present
    /// position. Events between the old and the new time are not delivered, but an event exactly at
    /// the new time is. Clips that keep step jump to the same phase.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a time that is not finite, and for a layer
    /// that the actor's state machine drives.
    pub fn seek(&mut self, layer: u8, time_s: f64) -> Result<()> {
        expect_finite("time_s", time_s)?;
        self.check_layer(layer)?;
        self.change(|it| it.mix().seek(layer, time_s));
        Ok(())
    }

    /// Moves the blend space that a layer plays to another position.
    ///
    /// Give one number or two: as many as the blend space has coordinates. The move takes `over_s`
    /// seconds, in the steps of parameters that move ([`Self::set_parameter_over`]). With 0, it is
    /// immediate. The phase does not change.
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
    ///     ground_speed: true, // Positions are speeds over the ground, and feet do not slide.
    ///     ..BlendSpaceDesc::default()
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
    /// let mut guard = animator.actor_mut(guard)?;
    /// guard.set_blend_position(0, 2.0, 0.0)?;
    /// assert!((guard.ground_velocity().length() - 2.0).abs() < 1e-5);
    /// guard.set_blend_position(0, 0.0, 0.5)?;
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the layer plays no blend space or belongs to
    /// the state machine, for the wrong number of coordinates, for a coordinate that is not finite,
    /// or for a duration that is negative or longer than an hour.
    #[doc(alias = "damping")]
    pub fn set_blend_position(
        &mut self,
        layer: u8,
        at: impl Into<BlendAt>,
        over_s: f32,
    ) -> Result<()> {
        check_fade("over_s", over_s)?;
        self.check_layer(layer)?;
        let play = self.state().layers.blend_on(&self.animator.pools, layer);
        let space = play.ok_or(no_blend())?.space;
        let to = self.library().blend_position(space, at.into())?;
        self.change(|it| it.mix().move_blend(layer, to, over_s))
    }

    /// Stops its time, or lets it go on from where it stopped.
    ///
    /// Its clips, fades and state machine stop with it. A paused actor costs nothing.
    #[doc(alias("pause", "resume"))]
    pub fn set_paused(&mut self, paused: bool) {
        let now_s = self.animator.now_s;
        self.change(|it| it.actor.clock.pause(now_s, paused));
    }

    /// Sets the speed of its time. 1 is normal.
    ///
    /// It applies to clips, fades and state machines alike.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a scale that is not finite, negative, or
    /// above a million.
    pub fn set_time_scale(&mut self, scale: f32) -> Result<()> {
        Clock::check_scale(scale.into())?;
        let now_s = self.animator.now_s;
        self.change(|it| it.actor.clock.set_scale(now_s, scale.into()));
        Ok(())
    }

    /// Switches its events on or off. They are on at first.
    ///
    /// An actor whose events are off delivers none, neither those of its clips nor those of its
    /// state machine. Nothing wakes it for them, so a crowd that nobody hears costs less: see
    /// [`Animator::visits`]. Switched on again, it delivers what happens from then on.
    ///
    /// ```
    /// use throng::animator::Animator;
    ///
    /// let mut animator = Animator::new(&throng::builtin::mannequin()?.character)?;
    /// let far = animator.add("Walk")?;
    /// animator.actor_mut(far)?.set_events(false);
    /// animator.update(0.0)?;
    /// let before = animator.visits();
    /// animator.update(10.0)?;
    /// assert_eq!((animator.events().len(), animator.visits()), (0, before));
    /// # Ok::<(), throng::Error>(())
    /// ```
    pub fn set_events(&mut self, on: bool) {
        self.animator.touch(self.id.index);
        self.animator.parts(self.id.index).actor.is_silent = !on;
        self.animator.changed(self.id.index);
    }
}
