//! The components of characters.

use crate::asset::CharacterAsset;
use bevy::asset::Handle;
use bevy::color::{Color, ColorToComponents, LinearRgba};
use bevy::ecs::prelude::*;
use bevy::prelude::{Reflect, ReflectComponent, ReflectDefault, Transform, Visibility};
use std::borrow::Cow;
use throng::state_machine::Value;
use throng::{InstanceId, Play};

/// A character in the world.
///
/// [`Transform`], [`Visibility`] and [`RenderLayers`](bevy::camera::visibility::RenderLayers) (the
/// first 16 layers) are Bevy's. Models face +Z, as glTF demands, and −Z is forward in Bevy.
///
/// While its asset loads, nothing is drawn. From then on, the entity has an [`Instance`], unless it
/// is [`Disabled`](bevy::ecs::entity_disabling::Disabled), or the log says why it has none.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_throng::{Character3d, Plays};
///
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let knight = assets.load("knight.glb");
///     let place = Transform::from_xyz(2.0, 0.0, 0.0);
///     commands.spawn((Character3d(knight), Plays::new("Walk"), place));
/// }
/// # let _ = spawn;
/// ```
#[derive(Component, Reflect, Debug, Clone, PartialEq, Eq)]
#[reflect(Component, Debug, Clone, PartialEq)]
#[require(Transform, Visibility)]
pub struct Character3d(pub Handle<CharacterAsset>);

/// The instance of an entity in the crowd.
///
/// It is there once the [`Character3d`] is loaded and drawn, with an
/// [`Aabb`](bevy::camera::primitives::Aabb) of its rest pose.
/// A clone of the entity gets an instance of its own.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
#[component(clone_behavior = Ignore)]
pub struct Instance(pub(crate) InstanceId);

impl Instance {
    /// Its id, for [`Throng::lock`](crate::Throng::lock).
    #[must_use]
    pub fn id(&self) -> InstanceId {
        self.0
    }
}

/// The plays of a character, apart from its state machine: a clip or blend space for each layer.
///
/// A change of this component is a request: all plays that it has are played, with their fades.
/// Layers that it no longer has fade out within 0.2 seconds. So set it when it changes
/// ([`set_if_neq`](DetectChangesMut::set_if_neq)): one that is set in each frame begins in each
/// frame. A blend space is steered by a state machine, or through
/// [`Throng::lock`](crate::Throng::lock) with `set_blend_position`.
///
/// A name that is only known at run time becomes an id: `asset.character().clip(name)?`.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_throng::{Play, Plays};
///
/// fn run(mut people: Query<&mut Plays>) {
///     for mut plays in &mut people {
///         *plays = Plays::new(Play::new("Run").fade_s(0.3))
///             .with(Play::new("Wave").layer(1).mask("upper body").once());
///     }
/// }
/// # let _ = run;
/// ```
#[derive(Component, Debug, Clone, PartialEq, Default)]
pub struct Plays(pub Vec<Play<'static>>);

impl Plays {
    /// One clip or blend space.
    #[must_use]
    pub fn new(play: impl Into<Play<'static>>) -> Self {
        Self(vec![play.into()])
    }

    /// Another one, on a further [layer](Play::layer).
    #[must_use]
    pub fn with(mut self, play: impl Into<Play<'static>>) -> Self {
        self.0.push(play.into());
        self
    }
}

/// The parameters of a character's state machine, which drives it from then on.
///
/// The state machine is in the animation data beside the file: `knight.toml` for `knight.glb`. The
/// character appears with the first step of the game, in which the machine enters its first states.
///
/// Values that are set are handed to the machine once, before the next step. A trigger is therefore
/// one request. A new instance, of another [`Character3d`], gets the last values again.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_throng::Parameters;
///
/// fn attack(mut people: Query<&mut Parameters>) {
///     for mut parameters in &mut people {
///         parameters.set("speed", 1.4);
///         parameters.trigger("attack");
///     }
/// }
/// # let _ = attack;
/// ```
#[derive(Component, Debug, PartialEq, Default)]
pub struct Parameters {
    values: Vec<Parameter>,
}

/// A clone hands over all values.
impl Clone for Parameters {
    fn clone(&self) -> Self {
        let mut values = self.values.clone();
        values.iter_mut().for_each(|it| it.is_new = true);
        Self { values }
    }
}

/// A parameter that was set.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: Cow<'static, str>,
    pub(crate) value: Value,
    /// True if the state machine does not have the value yet.
    pub(crate) is_new: bool,
}

impl PartialEq for Parameter {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.value) == (&other.name, other.value)
    }
}

impl Parameters {
    /// No values: those of the state machine's description.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a value.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a parameter: an `f32`, an `i32` or a `bool`.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        let old = self.values.iter_mut().find(|it| it.name == name);
        let set = Parameter {
            name,
            value,
            is_new: true,
        };
        match old {
            Some(old) => *old = set,
            None => self.values.push(set),
        }
    }

    /// Sets a trigger.
    pub fn trigger(&mut self, name: impl Into<Cow<'static, str>>) {
        self.set(name, Value::Trigger(true));
    }

    /// Hands values over to a state machine: all of them, or new ones. Triggers are used up.
    pub(crate) fn hand_over(&mut self, all: bool, mut set: impl FnMut(&str, Value)) {
        self.values.retain_mut(|it| {
            if all || it.is_new {
                set(&it.name, it.value);
            }
            it.is_new = false;
            !matches!(it.value, Value::Trigger(_))
        });
    }
}

/// The parts of a character that are hidden, by name: those of
/// [`Character::parts`](throng::character::Character::parts).
#[derive(Component, Reflect, Debug, Clone, PartialEq, Eq, Default)]
#[reflect(Component, Debug, Clone, PartialEq, Default)]
pub struct HiddenParts(pub Vec<Cow<'static, str>>);

/// The material variant of a character, by name: one of
/// [`Character::variants`](throng::character::Character::variants).
#[derive(Component, Reflect, Debug, Clone, PartialEq, Eq, Default)]
#[reflect(Component, Debug, Clone, PartialEq, Default)]
pub struct MaterialVariant(pub Cow<'static, str>);

/// The colour that multiplies the base colour of a character. Its alpha counts for materials that
/// blend.
#[derive(Component, Reflect, Debug, Clone, Copy, PartialEq)]
#[reflect(Component, Debug, Clone, PartialEq)]
pub struct Tint(pub Color);

impl Tint {
    /// Colours that sRGB does not have are clamped, as for pictures.
    pub(crate) fn linear(self) -> [f32; 4] {
        LinearRgba::from(self.0)
            .to_f32_array()
            .map(|part| part.max(0.0))
    }
}

/// The second colour of a character, for materials with a second weight in
/// [`Material::tint_weights`](throng::mesh::Material::tint_weights). Its alpha does nothing.
#[derive(Component, Reflect, Debug, Clone, Copy, PartialEq)]
#[reflect(Component, Debug, Clone, PartialEq)]
pub struct SecondTint(pub Color);

impl SecondTint {
    pub(crate) fn linear(self) -> [f32; 3] {
        let [r, g, b, _] = Tint(self.0).linear();
        [r, g, b]
    }
}

/// A word of a character for the program's own [shading](crate::Shading): `in.user`.
#[derive(Component, Reflect, Debug, Clone, Copy, PartialEq, Eq)]
#[reflect(Component, Debug, Clone, PartialEq)]
pub struct UserData(pub u32);

/// The speed of a character's time: 1 is normal, 0 stops it, and a million is the most.
#[derive(Component, Reflect, Debug, Clone, Copy, PartialEq)]
#[reflect(Component, Debug, Clone, PartialEq)]
pub struct TimeScale(pub f32);

/// Lets a character walk by the root motion of its clips.
///
/// Its [`Transform`] follows in each step, and can be set at any time, to turn it for example.
/// Pictures show it between steps, so a camera or a name at its side uses [`Follows`]. One
/// with a parent does not walk. The clips need root motion, which most files do not mark: in the
/// animation data beside the file, `gait_motion = true` takes it from the feet of clips that walk
/// in place.
#[derive(Component, Reflect, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[reflect(Component, Debug, Clone, PartialEq, Default)]
#[require(Walked)]
pub struct RootMotion;

/// The transform that the last step gave to a character with [`RootMotion`].
#[derive(Component, Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Walked(pub(crate) Option<Transform>);

/// Attaches a character to a socket or joint of another one, such as a rider to a saddle.
///
/// Its own [`Transform`] means nothing until this component is removed, and places it again then.
/// If its carrier is despawned, it stays where it is. If the carrier gets another [`Character3d`],
/// it is carried on. Characters cannot carry each other: that is refused, and logged. Those that
/// are spawned so wait until one of them is let go.
///
/// Entities that are Bevy's children of it stay at its `Transform`. [`Follows`] is for what it
/// carries itself.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_throng::{AttachedTo, Character3d};
///
/// fn mount(commands: &mut Commands, rider: Character3d, horse: Entity) {
///     commands.spawn((rider, AttachedTo::new(horse, "saddle")));
/// }
/// # let _ = mount;
/// ```
#[derive(Component, Reflect, Debug, Clone, PartialEq)]
#[reflect(Component, Debug, Clone, PartialEq)]
pub struct AttachedTo {
    /// The character that carries it.
    #[entities]
    pub character: Entity,
    /// The name of the socket or joint.
    pub socket: Cow<'static, str>,
    /// From its own space to that of the socket.
    pub at: Transform,
}

/// Lets any entity follow a socket or joint of a character, such as a light or a camera.
///
/// Its [`Transform`] is set before transforms are propagated, to where the picture shows the joint.
/// Each costs the evaluation of a joint and its ancestors.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_throng::Follows;
///
/// fn torch(commands: &mut Commands, knight: Entity) {
///     commands.spawn((PointLight::default(), Follows::new(knight, "hand.R")));
/// }
/// # let _ = torch;
/// ```
#[derive(Component, Reflect, Debug, Clone, PartialEq)]
#[reflect(Component, Debug, Clone, PartialEq)]
#[require(Transform)]
pub struct Follows {
    /// The character.
    #[entities]
    pub character: Entity,
    /// The name of the socket or joint.
    pub socket: Cow<'static, str>,
    /// From its own space to that of the socket.
    pub at: Transform,
}

macro_rules! at_socket {
    ($($name:ident)+) => {$(
        impl $name {
            /// At a socket or joint of a character.
            #[must_use]
            pub fn new(character: Entity, socket: impl Into<Cow<'static, str>>) -> Self {
                Self { character, socket: socket.into(), at: Transform::IDENTITY }
            }
        }
    )+};
}

at_socket!(AttachedTo Follows);
