//! The handle of an actor: everything that can be read of it, and everything that changes it.

use super::actors::ActorState;
use super::library::{Library, check_fade};
use super::state::{Driver, Motion, OwnPose, Root, ground_velocity, no_blend};
use super::{
    ActorId, Animator, Change, IkReport, IkSolver, IkTarget, JointRef, NameOrId, Play, PlayRecord,
    Playing, RootMotionMode, ShowPose,
};
use crate::character::BlendAt;
use crate::clip::components;
use crate::error::{
    Error, MAX_EXTENT, Result, expect_extent, expect_finite, expect_in, expect_len,
    expect_transform,
};
use crate::id::Id;
use crate::mesh::{Expression, MorphWeight, Sphere};
use crate::motion::{BlendSpace, RootTransform};
use crate::skeleton::{Skeleton, Transform};
use crate::state_machine::{LayerStatus, ParameterDesc, StateMachine, Value};
use core::ops::{Deref, DerefMut};
use glam::{Affine3A, Vec3};

/// An actor of an animator, alive as long as this handle borrows the animator.
///
/// [`Animator::actor`] makes one that reads ([`ActorRef`]), [`Animator::actor_mut`] one that also
/// controls ([`ActorMut`]). The instances of a crowd dereference to this, so everything here works
/// for them, too.
///
/// ```
/// use throng::animator::{Animator, Play};
///
/// let character = throng::builtin::mannequin()?;
/// let mut animator = Animator::new(&character)?;
/// let id = animator.add("Walk")?;
/// animator.update(0.4)?;
/// let mut guard = animator.actor_mut(id)?;
/// guard.play(Play::new("Idle").fade_s(0.25))?;
/// guard.play(Play::new("Wave").layer(1).once().fade_s(0.2))?;
/// guard.pause();
/// assert!(guard.is_paused());
/// assert_eq!(guard.playing().filter(|clip| clip.layer == 1).count(), 1);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Actor<A> {
    pub(crate) animator: A,
    id: ActorId,
}

/// An actor, to read.
pub type ActorRef<'a> = Actor<&'a Animator>;

/// An actor, to read and control.
pub type ActorMut<'a> = Actor<&'a mut Animator>;

/// Reads the state of an actor.
impl<A: Deref<Target = Animator>> Actor<A> {
    /// The handle of an actor that is alive.
    pub(crate) fn new(animator: A, id: ActorId) -> Result<Self> {
        animator.actors.check(id)?;
        Ok(Self { animator, id })
    }

    fn state(&self) -> &ActorState {
        &self.animator.actors[self.id.index]
    }

    fn library(&self) -> &Library {
        &self.animator.library
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.id
    }

    /// Lists what it plays now, ascending in layer, whatever drives it.
    ///
    /// Each clip of a blend space that has a weight is listed. Within one layer, clips that fade
    /// out come before the clips that replace them.
    pub fn playing(&self) -> impl Iterator<Item = Playing> + '_ {
        let layers = self.state().layers;
        layers.playing(self.library(), &self.animator.pools, self.time_s())
    }

    /// Its play records, ascending in layer.
    ///
    /// For code that evaluates them itself.
    #[must_use]
    pub fn records(&self) -> &[PlayRecord] {
        self.state().layers.records(&self.animator.pools)
    }

    /// The blend space that a layer plays, and its present position.
    ///
    /// `None` if the layer plays no blend space, or only one that fades out. For a blend space that
    /// a state machine plays, read the state machine's parameters instead.
    #[must_use]
    pub fn blend_position(&self, layer: u8) -> Option<(Id<BlendSpace>, BlendAt)> {
        let play = self.state().layers.blend_on(&self.animator.pools, layer)?;
        let spaces = self.library().blend_spaces();
        let space = spaces.get(usize::from(play.space));
        let at = match space.map_or(1, BlendSpace::dimensions) {
            1 => BlendAt::Line(play.at.x),
            _ => BlendAt::Plane(play.at.to_array()),
        };
        Some((Id::new(play.space), at))
    }

    /// Returns true if it is in the rest pose, and stays there until it is changed.
    #[must_use]
    pub fn is_resting(&self) -> bool {
        self.state().is_resting(self.animator.now_s)
    }

    /// The version of its pose: while it stays the same, so does the pose.
    ///
    /// `None` if the pose may be different at any later time. Otherwise an engine that writes
    /// palettes needs to write this actor's only when the version changes.
    #[must_use]
    pub fn pose_version(&self) -> Option<u32> {
        self.state().still_version(self.animator.now_s)
    }

    /// Returns true if its time is stopped.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.state().clock.is_paused()
    }

    /// The speed of its time while it is not paused. 1 is normal.
    #[must_use]
    pub fn time_scale(&self) -> f32 {
        self.state().clock.scale() as f32
    }

    /// Its own time, in seconds.
    ///
    /// It is the animator's time, unless it was paused or has a time scale.
    #[must_use]
    pub fn time_s(&self) -> f64 {
        self.state().clock.local_s(self.animator.now_s)
    }

    /// Returns true if the character's state machine drives it.
    #[must_use]
    pub fn has_state_machine(&self) -> bool {
        self.state().driver.is_some()
    }

    /// The value of a parameter of its state machine, by name or id.
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn parameter<'n>(
        &self,
        parameter: impl Into<NameOrId<'n, Id<ParameterDesc>>>,
    ) -> Result<Value> {
        let (machine, driver) = self.driver()?;
        driver.value(machine, parameter_id(machine, parameter.into())?)
    }

    /// The current state and transition of a layer of its state machine.
    ///
    /// # Errors
    /// - [`Error::Argument`] if no state machine drives it.
    /// - [`Error::NotFound`] for a layer that the state machine does not have.
    pub fn layer_status(&self, layer: u8) -> Result<LayerStatus> {
        let (machine, driver) = self.driver()?;
        driver.status(machine, layer, self.time_s())
    }

    fn driver(&self) -> Result<(&StateMachine, &Driver)> {
        let machine = self.library().expect_state_machine()?;
        let driver = self.state().driver.as_deref();
        driver.map(|driver| (machine, driver)).ok_or(undriven())
    }

    /// Its target for a solver. `None` if it has none.
    #[must_use]
    pub fn target(&self, solver: Id<IkSolver>) -> Option<IkTarget> {
        let goal = self.state().goals.get(solver);
        goal.map(|goal| goal.target())
    }

    /// The result of a solver when its pose was last evaluated.
    ///
    /// `None` if it has no target for the solver, or its pose has not been evaluated since.
    #[must_use]
    pub fn target_report(&self, solver: Id<IkSolver>) -> Option<IkReport> {
        let goal = self.state().goals.get(solver);
        goal.and_then(|goal| goal.report())
    }

    /// The use of the root motion of its clips.
    #[must_use]
    pub fn root_motion(&self) -> RootMotionMode {
        let root = self.state().root.as_ref();
        root.map_or(RootMotionMode::Ignore, |root| root.mode)
    }

    /// Its movement in the last update.
    ///
    /// It is relative to its transform before that update. It is the identity if root motion is
    /// ignored, or if nothing moved it.
    #[must_use]
    pub fn root_delta(&self) -> RootTransform {
        let root = self.state().root.as_ref();
        root.map_or(RootTransform::IDENTITY, |root| root.delta)
    }

    /// The position and heading that root motion has moved it to.
    ///
    /// It is exact for months, at any frame rate. It is the origin if root motion is ignored.
    #[must_use]
    pub fn root_transform(&self) -> RootTransform {
        let root = self.state().root.as_ref();
        root.map_or(RootTransform::IDENTITY, |root| root.transform)
    }

    /// Its velocity over the ground in what it plays, in metres of character space per second.
    ///
    /// It counts whether root motion is used or not, for clips with root motion and for clips with
    /// a [gait](crate::character::Character::gait), as the mean over a cycle. The weights and
    /// speeds of the present time are included, and so are pause and time scale. Only layer 0 moves
    /// an actor.
    #[must_use]
    pub fn ground_velocity(&self) -> Vec3 {
        let state = self.state();
        let velocity = ground_velocity(self.library(), self.records(), self.time_s());
        (velocity * state.clock.rate()).as_vec3()
    }

    /// The length of [`Self::ground_velocity`], in metres of character space per second.
    ///
    /// A character that keeps up with a moving target divides the target's speed by this one:
    ///
    /// ```
    /// use throng::animator::Animator;
    ///
    /// let mut animator = Animator::new(&throng::builtin::mannequin()?.character)?;
    /// let guard = animator.add("Walk")?;
    /// let mut guard = animator.actor_mut(guard)?;
    /// guard.set_speed(0, 1.5 / f64::from(guard.ground_speed()))?;
    /// assert!((guard.ground_speed() - 1.5).abs() < 1e-6);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn ground_speed(&self) -> f32 {
        self.ground_velocity().length()
    }

    /// The size that root motion is scaled by: metres of the world per metre of the character.
    ///
    /// It is 1 if root motion is ignored.
    #[must_use]
    pub fn root_scale(&self) -> f64 {
        self.state().root.as_ref().map_or(1.0, |root| root.scale)
    }

    /// Returns true if it shows a pose set by the caller.
    ///
    /// A pose that is fading out does not count.
    #[must_use]
    pub fn shows_pose(&self) -> bool {
        let shows = |record: &PlayRecord| record.to_weight > 0.0;
        self.records()
            .iter()
            .any(|r| r.has(PlayRecord::FLAG_POSE) && shows(r))
    }

    /// The local pose that the caller set. `None` if it shows none.
    #[must_use]
    pub fn shown_pose(&self) -> Option<&[Transform]> {
        self.own_pose().map(OwnPose::local)
    }

    /// The model pose that the caller set. `None` if it shows none, or one given as a local pose.
    #[must_use]
    pub fn shown_model_pose(&self) -> Option<&[Affine3A]> {
        self.own_pose().and_then(OwnPose::model)
    }

    fn own_pose(&self) -> Option<&OwnPose> {
        let own = self.state().own_pose.as_deref();
        own.filter(|_| self.records().iter().any(|r| r.has(PlayRecord::FLAG_POSE)))
    }

    /// The weight at which it shows an expression.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::UnknownName`] for an expression that the character does not
    /// have.
    pub fn expression<'n>(
        &self,
        expression: impl Into<NameOrId<'n, Id<Expression>>>,
    ) -> Result<f32> {
        let index = self.library().expression(expression.into())?;
        let weights = self.state().weights.as_ref();
        Ok(weights.map_or(0.0, |weights| weights.expression(index)))
    }

    /// Writes its morph weights at the present time.
    ///
    /// There is one for each of its character's
    /// [`morph_weights`](crate::character::Character::morph_weights). Weights from clips are
    /// blended as joints are. [Expressions](Self::set_expression) are added. Weights that the
    /// caller set override all of this.
    ///
    /// # Errors
    /// [`Error::Argument`] if the length of `out` is not the number of weights.
    pub fn morph_weights(&self, out: &mut [f32]) -> Result<()> {
        expect_len(
            "morph weights",
            out.len(),
            self.library().morph_weights.len(),
        )?;
        self.animator.write_weights(self.id.index, out);
        Ok(())
    }

    /// The overrides of its morph weights.
    ///
    /// There is one entry for each weight of its character. `None` stands for a weight that the
    /// clips and the rest pose decide.
    pub fn morph_overrides(&self) -> impl ExactSizeIterator<Item = Option<f32>> + '_ {
        let weights = self.state().weights.as_ref();
        let overridden = move |index| weights?.overridden(index);
        (0..self.library().morph_weights.len()).map(overridden)
    }

    /// A sphere that contains it in every pose of what it plays, in character space.
    ///
    /// It holds from the last update on, as long as nothing but time changes what it plays:
    /// whatever the times of its clips are, while fades, targets of inverse kinematics and
    /// inertialised transitions go on, and however spring bones swing. It is computed when that
    /// changes, and [`Animator::take_changed`] lists the actor then. Reading it costs nothing.
    /// Parts count even if they are hidden. It is empty if the character has no vertices.
    ///
    /// It is computed from lengths, because a box or sphere around the poses of each clip does not
    /// contain the blends of clips. So it is larger than the sphere around one pose, usually by a
    /// fifth to two thirds. For the exact box at a time, a crowd has `Instance::bounds`.
    ///
    /// - It is for the animator's [skinning method](Animator::set_skinning_method). The character
    ///   must fit the method, see [`PaletteFormat::of`](crate::palette::PaletteFormat::of).
    /// - Dual quaternions blend a vertex to a place outside its images under single joints. Its
    ///   distance from the joint at which the chains of these joints meet is at most
    ///   Σ wᵢ dᵢ / |r̄|. Here dᵢ are the distances of the images, and r̄ is the blended real part.
    ///   If the weights descend, |r̄|² ≥ w₁² + max(0, w₂ − w₃ − …)².
    /// - A pose with rotations that are not of unit length, and numbers so large that they leave
    ///   the range of `f32`, are not covered.
    ///
    /// ```
    /// use throng::animator::{Animator, Play};
    ///
    /// let mut animator = Animator::new(&throng::builtin::mannequin()?.character)?;
    /// let guard = animator.add("Walk")?;
    /// let mut guard = animator.actor_mut(guard)?;
    /// let walking = guard.bounding_sphere();
    /// assert!(walking.radius > 0.9 && walking.radius < 1.5);
    /// // The sphere for a cross-fade is that for both clips.
    /// guard.play(Play::new("Wave").fade_s(0.3))?;
    /// assert!(guard.bounding_sphere().radius >= walking.radius);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    #[doc(alias("bounds", "culling"))]
    pub fn bounding_sphere(&self) -> Sphere {
        self.state().sphere
    }

    /// World space from character space.
    ///
    /// That of an instance of a crowd which is attached to another may be older: use
    /// [`Instance::transform`](crate::Instance::transform).
    #[must_use]
    pub fn transform(&self) -> Affine3A {
        self.state().world.into()
    }

    /// Returns true if it has spring bones that are on.
    #[must_use]
    pub fn has_springs(&self) -> bool {
        self.state().springs.is_on()
    }

    /// The transform from a joint's or socket's space to character space.
    ///
    /// For a number, name its type: `Id::<Joint>::new(3)` or `Id::<Socket>::new(3)`.
    ///
    /// The result is that at the animator's `time_s`, which may lie before or after the last
    /// update. It is evaluated from what the actor plays now. The clips of a state machine are
    /// evaluated at that time too, but no transition fires. Only the joint and its ancestors are
    /// evaluated, unless inverse kinematics or spring bones move the joint. If the actor shows a
    /// pose that the caller set, `time_s` has no effect.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::UnknownName`] for a joint or socket that the character does
    /// not have.
    #[doc(alias = "socket")]
    #[doc(alias = "bone")]
    pub fn joint_model<'j>(&self, joint: impl Into<JointRef<'j>>, time_s: f64) -> Result<Affine3A> {
        let library = self.library();
        let socket = joint.into().find(&library.skeleton, &library.set)?;
        let joint = socket.joint.index();
        let local_s = self.state().clock.local_s(time_s);
        let model = self.animator.model_of(self.state(), joint, local_s)?;
        Ok(model * socket.offset)
    }

    /// Writes its model pose: one matrix for each joint, from the joint's space to character space.
    ///
    /// The pose is that at the animator's `time_s`, as for [`Self::joint_model`]. Nothing is
    /// allocated, except with inverse kinematics or spring bones. For many actors at the time of
    /// the last update, [`Animator::model_poses`] is faster.
    ///
    /// ```
    /// use throng::animator::Animator;
    /// use throng::glam::Affine3A;
    ///
    /// let character = throng::builtin::mannequin()?;
    /// let mut animator = Animator::new(&character)?;
    /// let guard = animator.add("Walk")?;
    /// let mut model = vec![Affine3A::IDENTITY; character.skeleton().len()];
    /// let guard = animator.actor(guard)?;
    /// guard.model_pose(0.3, &mut model)?;
    /// let hand = character.skeleton().joint("RightHand")?;
    /// assert!(model[hand.index()].abs_diff_eq(guard.joint_model(hand, 0.3)?, 1e-5));
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the length of `out` is not the number of joints.
    pub fn model_pose(&self, time_s: f64, out: &mut [Affine3A]) -> Result<()> {
        expect_len("model pose", out.len(), self.skeleton().len())?;
        let local_s = self.state().clock.local_s(time_s);
        self.animator.model_pose_of(self.state(), local_s, out)
    }

    /// Checks that the caller may play on the layer.
    fn check_layer(&self, layer: u8) -> Result<()> {
        match self.driver() {
            Ok((machine, _)) if usize::from(layer) < machine.layer_count() => {
                let why = "drives this layer: use a layer above its own, or stop_state_machine";
                let why = Error::invalid("state machine", why);
                Err(why.at_named("layer", layer, machine.layer_name(layer)))
            }
            _ => Ok(()),
        }
    }

    fn check_shows(&self) -> Result<()> {
        let shows = self.own_pose().map(|_| ());
        shows.ok_or(Error::invalid("actor", "shows no pose set by the caller"))
    }

    fn check_show(&self, show: &ShowPose<'_>) -> Result<Option<u16>> {
        self.check_layer(show.layer)?;
        check_fade("ShowPose::fade_s", show.fade_s)?;
        expect_in("ShowPose::weight", show.weight, 0.0, f32::MAX)?;
        self.library().mask(show.mask)
    }

    fn skeleton(&self) -> &Skeleton {
        &self.library().skeleton
    }
}

/// The controls of an actor.
impl<A: DerefMut<Target = Animator>> Actor<A> {
    /// Takes the actor to the present, changes it, and wakes it with the next update.
    fn change<R>(&mut self, change: impl FnOnce(&mut Change<'_>) -> R) -> R {
        self.animator.change(self.id.index, change)
    }

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
    /// - [`Error::UnknownName`] or [`Error::NotFound`] for a clip, blend space or mask that the
    ///   character does not have.
    /// - [`Error::Argument`] for:
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
    /// [`Error::Argument`] for a speed that is not finite, and for a layer that the actor's state
    /// machine drives.
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
    /// [`Error::Argument`] for a time that is not finite, and for a layer that the actor's state
    /// machine drives.
    pub fn seek(&mut self, layer: u8, time_s: f64) -> Result<()> {
        expect_finite("time_s", time_s)?;
        self.check_layer(layer)?;
        self.change(|it| it.mix().seek(layer, time_s));
        Ok(())
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
    /// let mut guard = animator.actor_mut(guard)?;
    /// guard.set_blend_position(0, 2.0)?;
    /// guard.set_blend_position_over(0, 0.0, 0.5)?;
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the layer plays no blend space or belongs to the state machine, for
    /// the wrong number of coordinates, or for a coordinate that is not finite.
    pub fn set_blend_position(&mut self, layer: u8, at: impl Into<BlendAt>) -> Result<()> {
        self.set_blend_position_over(layer, at, 0.0)
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

    /// Stops its time.
    ///
    /// Its clips, fades and state machine stop with it. A paused actor costs nothing until
    /// [`Self::resume`].
    pub fn pause(&mut self) {
        let now_s = self.animator.now_s;
        self.change(|it| it.actor.clock.pause(now_s, true));
    }

    /// Resumes its time from where it stopped.
    pub fn resume(&mut self) {
        let now_s = self.animator.now_s;
        self.change(|it| it.actor.clock.pause(now_s, false));
    }

    /// Sets the speed of its time. 1 is normal.
    ///
    /// It applies to clips, fades and state machines alike.
    ///
    /// # Errors
    /// [`Error::Argument`] for a scale that is negative or not finite.
    pub fn set_time_scale(&mut self, scale: f32) -> Result<()> {
        expect_in("time scale", scale, 0.0, f32::MAX)?;
        let now_s = self.animator.now_s;
        self.change(|it| it.actor.clock.set_scale(now_s, scale.into()));
        Ok(())
    }

    /// Starts the character's state machine, from its initial states.
    ///
    /// Everything that the caller played on the layers of the state machine ends.
    ///
    /// # Errors
    /// [`Error::Argument`] if the character has no state machine.
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
    /// [`Error::Argument`] for a fade that is negative or longer than an hour.
    pub fn stop_state_machine(&mut self, fade_s: f32) -> Result<()> {
        check_fade("fade_s", fade_s)?;
        self.change(|it| {
            it.actor.driver = None;
            it.mix().release_machine(fade_s);
        });
        Ok(())
    }

    /// Sets a float parameter, clamped to its range. It takes effect from the last update on.
    ///
    /// `parameter` is a name or an id. [`StateMachine::parameter`] looks an id up once, so that a
    /// call for many actors searches for no name.
    ///
    /// # Errors
    /// - [`Error::UnknownName`] or [`Error::NotFound`] for a parameter that the state machine does
    ///   not have.
    /// - [`Error::At`] with the parameter, if it is of another kind, or the value is not finite.
    /// - [`Error::Argument`] if no state machine drives the actor.
    pub fn set_float<'n>(
        &mut self,
        parameter: impl Into<NameOrId<'n, Id<ParameterDesc>>>,
        value: f32,
    ) -> Result<()> {
        self.set_parameter(parameter, Value::Float(value))
    }

    /// Moves a float parameter linearly to a value, over `over_s` seconds.
    ///
    /// It changes once per update.
    ///
    /// # Errors
    /// - The same as [`Self::set_float`].
    /// - [`Error::Argument`] for a duration that is negative or longer than an hour.
    #[doc(alias = "damping")]
    pub fn set_float_over<'n>(
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

    /// Sets an int parameter, clamped to its range. Otherwise works like [`Self::set_float`].
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn set_int<'n>(
        &mut self,
        parameter: impl Into<NameOrId<'n, Id<ParameterDesc>>>,
        value: i32,
    ) -> Result<()> {
        self.set_parameter(parameter, Value::Int(value))
    }

    /// Sets a bool parameter. Otherwise works like [`Self::set_float`].
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn set_bool<'n>(
        &mut self,
        parameter: impl Into<NameOrId<'n, Id<ParameterDesc>>>,
        value: bool,
    ) -> Result<()> {
        self.set_parameter(parameter, Value::Bool(value))
    }

    /// Sets a trigger, until a transition consumes it or [`Self::reset_trigger`] clears it.
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn set_trigger<'n>(
        &mut self,
        parameter: impl Into<NameOrId<'n, Id<ParameterDesc>>>,
    ) -> Result<()> {
        self.set_parameter(parameter, Value::Trigger(true))
    }

    /// Clears a trigger.
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn reset_trigger<'n>(
        &mut self,
        parameter: impl Into<NameOrId<'n, Id<ParameterDesc>>>,
    ) -> Result<()> {
        self.set_parameter(parameter, Value::Trigger(false))
    }

    /// Sets a parameter of any kind. `Trigger(false)` clears a trigger.
    ///
    /// # Errors
    /// The same as [`Self::set_float`].
    pub fn set_parameter<'n>(
        &mut self,
        parameter: impl Into<NameOrId<'n, Id<ParameterDesc>>>,
        value: Value,
    ) -> Result<()> {
        let parameter = parameter.into();
        self.with_driver(|machine, driver, _| {
            driver.set(machine, parameter_id(machine, parameter)?, value)
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

    /// Sets its target for an inverse kinematics solver.
    ///
    /// From now on, its pose reaches for the target, which is in character space. The target
    /// reaches its full weight in `fade_s` seconds. If the actor already has a target for this
    /// solver, the new target replaces it and starts with its present weight.
    ///
    /// # Errors
    /// - [`Error::NotFound`] for a solver of another animator.
    /// - [`Error::At`] with the solver, for a target of another kind or an invalid target.
    /// - [`Error::Argument`] for a fade that is negative or longer than an hour.
    pub fn set_target(
        &mut self,
        solver: Id<IkSolver>,
        target: impl Into<IkTarget>,
        fade_s: f32,
    ) -> Result<()> {
        let target = target.into();
        check_fade("fade_s", fade_s)?;
        self.animator.solvers.check(solver, &target)?;
        self.animator.expect_special(self.id.index);
        self.change(|it| it.actor.goals.set(solver, target, fade_s, it.local_s));
        Ok(())
    }

    /// Removes its target for a solver, over `fade_s` seconds.
    ///
    /// # Errors
    /// [`Error::Argument`] for a fade that is negative or longer than an hour.
    pub fn clear_target(&mut self, solver: Id<IkSolver>, fade_s: f32) -> Result<()> {
        check_fade("fade_s", fade_s)?;
        self.change(|it| it.actor.goals.clear(solver, fade_s, it.local_s));
        Ok(())
    }

    /// Sets how the root motion of its clips is used.
    ///
    /// The motion of a clip is the motion that was extracted from it at import, or that of its
    /// [gait](crate::character::AnimationDesc::gait_motion). It continues from the actor's
    /// transform in the world, which is the origin at first. With [`RootMotionMode::Apply`], the
    /// instance of a crowd moves with it.
    pub fn set_root_motion(&mut self, mode: RootMotionMode) {
        let was = self.state().is_rooted();
        self.change(|it| {
            let (root, world) = (&mut it.actor.root, it.actor.world.into());
            match (mode, root) {
                (RootMotionMode::Ignore, root) => *root = None,
                (mode, Some(root)) => root.mode = mode,
                (mode, root) => *root = Some(Box::new(Root::new(mode, &world))),
            }
        });
        let is = self.state().is_rooted();
        let rooted = &mut self.animator.rooted;
        *rooted = *rooted + usize::from(is) - usize::from(was);
    }

    /// Shows a local pose given by the caller.
    ///
    /// It has one transform per joint. It replaces what the layer plays, in a cross-fade. It stays
    /// until it is set again ([`Self::set_pose`]), or until something else is played on the layer.
    /// An actor has only one such pose.
    ///
    /// # Errors
    /// If there is an error, the actor does not change.
    ///
    /// - [`Error::NotFound`] or [`Error::UnknownName`] for a mask that the character does not have.
    /// - [`Error::Argument`] for the wrong number of joints, an invalid fade or weight, or a layer
    ///   that the actor's state machine drives.
    /// - [`Error::At`] with the index of the first joint that is not finite.
    /// - [`Error::Unrepresentable`] in a crowd, if the palette format of the character's skinning
    ///   method cannot represent the pose.
    #[doc(alias = "ragdoll")]
    pub fn show_pose(&mut self, local: &[Transform], show: &ShowPose<'_>) -> Result<()> {
        let mask = self.check_show(show)?;
        self.check_local(local)?;
        self.show(show, mask, |own, _| own.set_local(local));
        Ok(())
    }

    /// Shows a model pose given by the caller.
    ///
    /// It has one matrix per joint. Each matrix transforms from the joint's space to character
    /// space. Otherwise this works like [`Self::show_pose`].
    ///
    /// If nothing else plays and there is no inverse kinematics, the matrices are used unchanged.
    /// If not, they are converted to translation, rotation and scale, and the rest, such as shear,
    /// is lost.
    ///
    /// In a crowd, front faces depend on the rest pose and the clips, as
    /// [`PaletteJoint::may_flip`](crate::mesh::PaletteJoint::may_flip) says. A pose that flips a
    /// joint that no clip flips shows its back faces.
    ///
    /// # Errors
    /// The same as [`Self::show_pose`].
    #[doc(alias = "ragdoll")]
    pub fn show_model_pose(&mut self, model: &[Affine3A], show: &ShowPose<'_>) -> Result<()> {
        let mask = self.check_show(show)?;
        self.check_model(model)?;
        self.show(show, mask, |own, skeleton| own.set_model(skeleton, model));
        Ok(())
    }

    /// Changes the pose that it shows, whatever its weight is now.
    ///
    /// # Errors
    /// - [`Error::Argument`] if it shows no pose: see [`Self::show_pose`].
    /// - The same as [`Self::show_pose`].
    pub fn set_pose(&mut self, local: &[Transform]) -> Result<()> {
        self.check_shows()?;
        self.check_local(local)?;
        self.keep(|own, _| own.set_local(local));
        self.animator.changed(self.id.index);
        Ok(())
    }

    /// Changes the pose that it shows, given as a model pose.
    ///
    /// See [`Self::show_model_pose`].
    ///
    /// # Errors
    /// The same as [`Self::set_pose`].
    pub fn set_model_pose(&mut self, model: &[Affine3A]) -> Result<()> {
        self.check_shows()?;
        self.check_model(model)?;
        self.keep(|own, skeleton| own.set_model(skeleton, model));
        self.animator.changed(self.id.index);
        Ok(())
    }

    /// Stores a pose that was already checked.
    fn keep(&mut self, set: impl FnOnce(&mut OwnPose, &Skeleton)) {
        self.animator.expect_special(self.id.index);
        let Change {
            actor,
            library,
            poser,
            ..
        } = self.animator.parts(self.id.index);
        set(actor.own_pose.get_or_insert_default(), &library.skeleton);
        actor.update_own_clip(poser);
    }

    fn show(
        &mut self,
        show: &ShowPose<'_>,
        mask: Option<u16>,
        set: impl FnOnce(&mut OwnPose, &Skeleton),
    ) {
        self.animator.touch(self.id.index);
        self.keep(set);
        self.change(|it| OwnPose::show(&mut it.mix(), show, mask));
    }

    fn check_local(&mut self, local: &[Transform]) -> Result<()> {
        expect_len("local pose", local.len(), self.skeleton().len())?;
        for (joint, transform) in local.iter().enumerate() {
            let checked = expect_extent("local pose", components(transform));
            checked.map_err(|why| why.at("joint", joint))?;
        }
        self.animator.check_fit_of_local(local)
    }

    fn check_model(&self, model: &[Affine3A]) -> Result<()> {
        expect_len("model pose", model.len(), self.skeleton().len())?;
        self.animator.check_fit(model)
    }

    /// Sets the weight at which it shows an expression, such as a smile.
    ///
    /// Expressions that are shown together are added, as far as they do not
    /// [override](crate::mesh::ExpressionOverride) each other. The weights of all expressions are 0
    /// at first.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::UnknownName`] for an expression that the character does
    ///   not have.
    /// - [`Error::Argument`] for a weight outside 0..=1.
    #[doc(alias = "blend shape")]
    #[doc(alias = "face")]
    pub fn set_expression<'n>(
        &mut self,
        expression: impl Into<NameOrId<'n, Id<Expression>>>,
        weight: f32,
    ) -> Result<()> {
        let index = self.library().expression(expression.into())?;
        expect_in("weight", weight, 0.0, 1.0)?;
        let it = self.animator.parts(self.id.index);
        let count = it.library.expressions.len();
        let weights = it.actor.weights.get_or_insert_default();
        weights.set_expression(count, index, weight);
        self.animator.note(self.id.index);
        Ok(())
    }

    /// Overrides its morph weights.
    ///
    /// There is one entry for each weight of its character. `None` leaves a weight to the clips and
    /// the rest pose.
    ///
    /// # Errors
    /// [`Error::Argument`] for the wrong number of weights, or a weight that is not finite or
    /// beyond [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    pub fn set_morph_weights(&mut self, weights: &[Option<f32>]) -> Result<()> {
        let need = self.library().morph_weights.len();
        expect_len("morph weights", weights.len(), need)?;
        let mut set = weights.iter().flatten();
        set.try_for_each(|weight| expect_extent("morph weight", [*weight]))?;
        let it = self.animator.parts(self.id.index);
        it.actor.weights.get_or_insert_default().set_all(weights);
        self.animator.note(self.id.index);
        Ok(())
    }

    /// Overrides one of its morph weights, by name or id.
    ///
    /// Of several weights with the same name, the first is meant. `None` removes the override, so
    /// that the clips and the rest pose decide again.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::UnknownName`] for a weight that the character does not
    ///   have.
    /// - [`Error::Argument`] for a value that is not finite or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    pub fn set_morph_weight<'n>(
        &mut self,
        weight: impl Into<NameOrId<'n, Id<MorphWeight>>>,
        value: Option<f32>,
    ) -> Result<()> {
        let index = self.library().morph_weight(weight.into())?;
        value.map_or(Ok(()), |value| expect_extent("morph weight", [value]))?;
        let it = self.animator.parts(self.id.index);
        let count = it.library.morph_weights.len();
        let weights = it.actor.weights.get_or_insert_default();
        weights.set(count, index, value);
        self.animator.note(self.id.index);
        Ok(())
    }

    /// Switches its spring bones on or off.
    ///
    /// They are on at first, if the character has any. Switched on again, they start in the
    /// animated pose. Actors far away cost less without them.
    pub fn set_springs(&mut self, on: bool) {
        if on {
            self.animator.start_springs(self.id.index);
        } else {
            self.animator.parts(self.id.index).actor.springs.stop();
        }
        self.animator.changed(self.id.index);
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

    /// Lets its spring bones start anew, in its animated pose.
    pub fn reset_springs(&mut self) {
        self.animator.parts(self.id.index).actor.springs.reset();
    }
}

/// The controls of an actor that is not an instance of a crowd: where it is in the world.
///
/// An instance is moved by the controls of its crowd, which move its actor, too.
impl ActorMut<'_> {
    /// Moves the actor through the world.
    ///
    /// `world_from_model` is the transform from character space to world space. At first it is the
    /// identity. Spring bones follow it from the next evaluation on, and root motion that is
    /// switched on later starts there.
    ///
    /// # Errors
    /// [`Error::Argument`] if the transform is not finite or beyond
    /// [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT).
    #[doc(alias = "set_world")]
    pub fn set_transform(&mut self, world_from_model: &Affine3A) -> Result<()> {
        self.put(world_from_model, false)
    }

    /// Moves the actor elsewhere in the world. Its spring bones move along without a swing.
    ///
    /// # Errors
    /// As [`Self::set_transform`].
    pub fn teleport(&mut self, world_from_model: &Affine3A) -> Result<()> {
        self.put(world_from_model, true)
    }

    fn put(&mut self, world_from_model: &Affine3A, jump: bool) -> Result<()> {
        expect_transform("world_from_model", world_from_model)?;
        let it = self.animator.parts(self.id.index);
        it.actor.put(it.library, world_from_model, jump);
        Ok(())
    }

    /// Sets the position and heading from which root motion continues.
    ///
    /// `scale` is the actor's size: metres of the world per metre of the character.
    ///
    /// # Errors
    /// [`Error::Argument`] for values that are not finite or beyond
    /// [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT), and if root motion is
    /// ignored.
    #[doc(alias = "teleport")]
    pub fn set_root_transform(&mut self, transform: RootTransform, scale: f64) -> Result<()> {
        let RootTransform {
            translation,
            yaw_rad,
        } = transform;
        let most = f64::from(MAX_EXTENT);
        for value in translation.to_array() {
            expect_in("RootTransform::translation", value, -most, most)?;
        }
        expect_in("scale", scale, -most, most)?;
        expect_finite("RootTransform::yaw_rad", yaw_rad)?;
        let it = self.animator.parts(self.id.index);
        let root = it.actor.root.as_mut();
        let root = root.ok_or(Error::invalid("actor", "ignores root motion"))?;
        (root.transform, root.scale) = (transform, scale);
        Ok(())
    }
}

fn parameter_id(
    machine: &StateMachine,
    parameter: NameOrId<'_, Id<ParameterDesc>>,
) -> Result<Id<ParameterDesc>> {
    match parameter {
        NameOrId::Name(name) => machine.parameter(name),
        NameOrId::Id(id) => Ok(id),
    }
}

fn undriven() -> Error {
    let why = "is not driven by a state machine: start it with start_state_machine";
    Error::invalid("actor", why)
}
