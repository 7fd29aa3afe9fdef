//! The JSON of the VRM extensions, as far as it is used. Only its form is checked here.
//!
//! `null` stands for a value that is left out, in every place.

use core::cell::Cell;
use core::fmt::Formatter;
use core::marker::PhantomData;
use glam::Vec3;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The most elements in all lists and maps of an extension together.
///
/// So a file with a few bytes per element cannot take a hundred times its size in memory.
const MAX_ELEMENTS: usize = 1 << 17;

thread_local! {
    /// The number of elements that the extension being read may still have.
    static SPARE: Cell<usize> = const { Cell::new(MAX_ELEMENTS) };
}

/// Reads an extension, which may be `null`.
pub(in crate::import) fn extension<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    SPARE.set(MAX_ELEMENTS);
    Option::deserialize(deserializer)
}

/// Counts an element of the extension.
fn count<E: Error>() -> Result<(), E> {
    let too_many = || {
        E::custom(format_args!(
            "more than {MAX_ELEMENTS} elements in all lists"
        ))
    };
    SPARE.set(SPARE.get().checked_sub(1).ok_or_else(too_many)?);
    Ok(())
}

/// Reads a value, or its default for `null`.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A list. It and its elements may be `null`.
#[derive(Debug)]
pub(in crate::import) struct List<T>(pub(super) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for Elements<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
                f.write_str("a list")
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(List::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = from.next_element::<Option<T>>()? {
                    count()?;
                    list.push(element.unwrap_or_default());
                }
                Ok(List(list))
            }
        }
        deserializer.deserialize_any(Elements(PhantomData))
    }
}

/// A map in the order of the file. It and its values may be `null`.
#[derive(Debug)]
pub(in crate::import) struct Named<T>(pub(super) Vec<(Box<str>, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for Entries<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
                f.write_str("a map")
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Named::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((name, value)) = map.next_entry::<_, Option<T>>()? {
                    count()?;
                    entries.push((name, value.unwrap_or_default()));
                }
                Ok(Named(entries))
            }
        }
        deserializer.deserialize_any(Entries(PhantomData))
    }
}

/// Three numbers. Each may be `null`.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::import) struct Three(pub(super) [f32; 3]);

impl<'de> Deserialize<'de> for Three {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let three = <[Option<f32>; 3]>::deserialize(deserializer)?;
        Ok(Self(three.map(Option::unwrap_or_default)))
    }
}

impl From<Three> for Vec3 {
    fn from(Three(three): Three) -> Self {
        Self::from_array(three)
    }
}

/// An index. Version 0.x writes -1 for "none".
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::import) struct Index(pub(super) Option<usize>);

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Option::<f64>::deserialize(deserializer)?;
        let whole = number.filter(|number| *number >= 0.0 && number.fract() == 0.0);
        Ok(Self(whole.map(|number| number as usize)))
    }
}

/// A vector as an object.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct Xyz {
    #[serde(deserialize_with = "or_default")]
    x: f32,
    #[serde(deserialize_with = "or_default")]
    y: f32,
    #[serde(deserialize_with = "or_default")]
    z: f32,
}

impl From<Xyz> for Vec3 {
    fn from(Xyz { x, y, z }: Xyz) -> Self {
        Self::new(x, y, z)
    }
}

/// `VRMC_vrm`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct Vrm1 {
    #[serde(deserialize_with = "or_default")]
    pub(super) humanoid: Humanoid1,
    #[serde(deserialize_with = "or_default")]
    pub(super) expressions: Expressions1,
}

/// `VRMC_vrm_animation`: a clip for any humanoid.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct VrmAnimation {
    #[serde(deserialize_with = "or_default")]
    pub(super) humanoid: Humanoid1,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Humanoid1 {
    pub(super) human_bones: Named<HumanBone1>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct HumanBone1 {
    pub(super) node: Index,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct Expressions1 {
    pub(super) preset: Named<Expression1>,
    pub(super) custom: Named<Expression1>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Expression1 {
    pub(super) morph_target_binds: List<MorphBind1>,
    pub(super) material_color_binds: List<IgnoredAny>,
    pub(super) texture_transform_binds: List<IgnoredAny>,
    #[serde(deserialize_with = "or_default")]
    pub(super) is_binary: bool,
    pub(super) override_blink: Option<Box<str>>,
    pub(super) override_look_at: Option<Box<str>>,
    pub(super) override_mouth: Option<Box<str>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct MorphBind1 {
    pub(super) node: Index,
    pub(super) index: Index,
    #[serde(deserialize_with = "or_default")]
    pub(super) weight: f32,
}

/// `VRMC_springBone`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct SpringBone1 {
    pub(super) colliders: List<Collider1>,
    pub(super) collider_groups: List<ColliderGroup1>,
    pub(super) springs: List<Spring1>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct Collider1 {
    pub(super) node: Index,
    #[serde(deserialize_with = "or_default")]
    pub(super) shape: Shape1,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct Shape1 {
    pub(super) sphere: Option<Round1>,
    pub(super) capsule: Option<Round1>,
}

/// A sphere, or a capsule.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct Round1 {
    #[serde(deserialize_with = "or_default")]
    pub(super) offset: Three,
    #[serde(deserialize_with = "or_default")]
    pub(super) radius: f32,
    #[serde(deserialize_with = "or_default")]
    pub(super) tail: Three,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct ColliderGroup1 {
    pub(super) colliders: List<Index>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Spring1 {
    pub(super) name: Option<Box<str>>,
    pub(super) joints: List<Joint1>,
    pub(super) collider_groups: List<Index>,
    pub(super) center: Index,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Joint1 {
    pub(super) node: Index,
    pub(super) hit_radius: Option<f32>,
    pub(super) stiffness: Option<f32>,
    pub(super) gravity_power: Option<f32>,
    pub(super) gravity_dir: Option<Three>,
    pub(super) drag_force: Option<f32>,
}

/// `VRM`, of version 0.x.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Vrm0 {
    #[serde(deserialize_with = "or_default")]
    pub(super) humanoid: Humanoid0,
    #[serde(deserialize_with = "or_default")]
    pub(super) blend_shape_master: Expressions0,
    #[serde(deserialize_with = "or_default")]
    pub(super) secondary_animation: Springs0,
    pub(super) material_properties: List<Material0>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Humanoid0 {
    pub(super) human_bones: List<HumanBone0>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct HumanBone0 {
    pub(super) bone: Option<Box<str>>,
    pub(super) node: Index,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Expressions0 {
    pub(super) blend_shape_groups: List<Expression0>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Expression0 {
    pub(super) name: Option<Box<str>>,
    pub(super) preset_name: Option<Box<str>>,
    pub(super) binds: List<MorphBind0>,
    pub(super) material_values: List<IgnoredAny>,
    pub(super) is_binary: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct MorphBind0 {
    pub(super) mesh: Index,
    pub(super) index: Index,
    /// 0 to 100.
    #[serde(deserialize_with = "or_default")]
    pub(super) weight: f32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Springs0 {
    pub(super) bone_groups: List<Spring0>,
    pub(super) collider_groups: List<ColliderGroup0>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Spring0 {
    pub(super) comment: Option<Box<str>>,
    /// The format spells it so.
    #[serde(rename = "stiffiness")]
    pub(super) stiffness: Option<f32>,
    pub(super) gravity_power: Option<f32>,
    pub(super) gravity_dir: Option<Xyz>,
    pub(super) drag_force: Option<f32>,
    pub(super) center: Index,
    pub(super) hit_radius: Option<f32>,
    pub(super) bones: List<Index>,
    pub(super) collider_groups: List<Index>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct ColliderGroup0 {
    pub(super) node: Index,
    pub(super) colliders: List<Collider0>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct Collider0 {
    #[serde(deserialize_with = "or_default")]
    pub(super) offset: Xyz,
    #[serde(deserialize_with = "or_default")]
    pub(super) radius: f32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct Material0 {
    pub(super) shader: Option<Box<str>>,
}
