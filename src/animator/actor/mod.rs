//! The handle of an actor. Here is what can be read of it, and in other files what changes it.

mod machine;
mod plays;
mod poses;
mod world;

use crate::animator::actors::ActorState;
use crate::animator::library::Library;
use crate::animator::state::{Driver, OwnPose, Swinging, ground_velocity};
use crate::animator::{
    ActorId, Animator, Change, IkSolver, IkTarget, JointRef, NameOrId, PlayRecord, Playing, Pose,
    RootMotionMode, SpringMode,
};
use crate::character::BlendAt;
use crate::error::{Error, Result, expect_len};
use crate::id::Id;
use crate::ik::IkReport;
use crate::mesh::{Expression, Sphere};
use crate::motion::{BlendSpace, RootTransform};
use crate::skeleton::Skeleton;
use crate::state_machine::{LayerStatus, ParameterDesc, StateMachine, Value};
use core::ops::{Deref, DerefMut};
use glam::{Affine3A, Vec3};

/// An actor of an animator, alive as long as this handle borrows the animator.
///
/// [`Animator::actor`] makes an `Actor<&Animator>`, which reads. [`Animator::actor_mut`] makes an
/// `Actor<&mut Animator>`, which also controls. The [instances](crate::Instance) of a crowd
/// dereference to actors, so everything here works for them, too.
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
/// guard.set_paused(true);
/// assert!(guard.is_paused());
/// assert_eq!(guard.playing().filter(|clip| clip.layer == 1).count(), 1);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Actor<A> {
    pub(crate) animator: A,
    id: ActorId,
}

/// Handles of actors.
impl Animator {
    /// An actor, to read.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn actor(&self, id: ActorId) -> Result<Actor<&Self>> {
        Actor::new(self, id)
    }

    /// An actor, to read and control.
    ///
    /// ```
    /// use throng::animator::{Animator, Play};
    ///
    /// let character = throng::builtin::mannequin()?;
    /// let mut animator = Animator::new(&character)?;
    /// let guard = animator.add("Idle")?;
    /// let mut guard = animator.actor_mut(guard)?;
    /// guard.play(Play::new("Walk").fade_s(0.25))?;
    /// guard.set_time_scale(0.5)?;
    /// assert_eq!(guard.playing().count(), 2);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::Stale`] if it is not alive.
    pub fn actor_mut(&mut self, id: ActorId) -> Result<Actor<&mut Self>> {
        Actor::new(self, id)
    }
}

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
    #[cfg(feature = "vulkan")]
    pub(crate) fn is_resting(&self) -> bool {
        self.state().is_resting(self.animator.now_s)
    }

    /// The version of its pose: while it stays the same, so do the pose and the morph weights.
    ///
    /// `None` if either may be different at any later time. Otherwise an engine that writes
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
    /// The same as [`Self::set_parameter`].
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

    /// The result of a solver when its pose was last evaluated, for a picture or by an update.
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
    ///
    /// A character that keeps up with a moving target divides the target's speed by the length of
    /// this velocity. Blend spaces and states can do so by themselves:
    /// [`BlendSpaceDesc::ground_speed`](crate::character::BlendSpaceDesc::ground_speed),
    /// [`StateDesc::ground_speed`](crate::state_machine::StateDesc::ground_speed).
    ///
    /// ```
    /// use throng::animator::Animator;
    ///
    /// let mut animator = Animator::new(&throng::builtin::mannequin()?.character)?;
    /// let guard = animator.add("Walk")?;
    /// let mut guard = animator.actor_mut(guard)?;
    /// guard.set_speed(0, 1.5 / f64::from(guard.ground_velocity().length()))?;
    /// assert!((guard.ground_velocity().length() - 1.5).abs() < 1e-6);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn ground_velocity(&self) -> Vec3 {
        let state = self.state();
        let velocity = ground_velocity(self.library(), self.records(), self.time_s());
        (velocity * state.clock.rate()).as_vec3()
    }

    /// The pose that the caller set, as it was given, with rotations of unit length.
    ///
    /// `None` if it shows none. One that is fading out still counts.
    #[must_use]
    pub fn pose(&self) -> Option<Pose<'_>> {
        let own = self.state().own_pose.as_deref();
        let shows = |record: &PlayRecord| record.has(PlayRecord::FLAG_POSE);
        let own = own.filter(|_| self.records().iter().any(shows));
        own.map(OwnPose::get)
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
        let need = self.library().morph_weights.len();
        expect_len("morph weights", out.len(), need)?;
        self.animator.write_weights(self.id.index, out);
        Ok(())
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
    /// assert!(walking.radius > 0.9 && walking.radius < 1.6);
    /// // The sphere for a cross-fade is that for both clips.
    /// guard.play(Play::new("Wave").fade_s(0.3))?;
    /// assert!(guard.bounding_sphere().radius >= walking.radius);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    #[doc(alias("bounds", "culling"))]
    pub fn bounding_sphere(&self) -> Sphere {
        self.animator.actors.spheres[self.id.index as usize]
    }

    /// World space from character space.
    ///
    /// That of an instance of a crowd which is attached to another may be older: use
    /// [`Instance::transform`](crate::Instance::transform).
    #[must_use]
    pub fn transform(&self) -> Affine3A {
        self.state().world.into()
    }

    /// The clock that its spring bones swing by. Without any, it is [`SpringMode::Off`].
    #[must_use]
    pub fn springs(&self) -> SpringMode {
        self.state().springs.mode()
    }

    /// The transform from a joint's or socket's space to character space.
    ///
    /// For a number, name its type: `Id::<Joint>::new(3)` or `Id::<Socket>::new(3)`.
    ///
    /// The result is that at the animator's `time_s`, which may lie before or after the last
    /// update. It is evaluated from what the actor plays now. The clips of a state machine are
    /// evaluated at that time too, but no transition fires. Only the joint and its ancestors are
    /// evaluated, unless inverse kinematics or spring bones move the joint. If the actor shows a
    /// pose that the caller set, `time_s` has no effect. Spring bones that swing with pictures are
    /// stiff here: see [`SpringMode`].
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
        let at = (local_s, Swinging::Game);
        let model = self.animator.model_of(self.state(), joint, at)?;
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
        let at = (local_s, Swinging::Game);
        self.animator.model_pose_of(self.state(), at, out)
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

    fn skeleton(&self) -> &Skeleton {
        &self.library().skeleton
    }
}

impl<A: DerefMut<Target = Animator>> Actor<A> {
    /// Takes the actor to the present, changes it, and wakes it with the next update.
    fn change<R>(&mut self, change: impl FnOnce(&mut Change<'_>) -> R) -> R {
        self.animator.change(self.id.index, change)
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
