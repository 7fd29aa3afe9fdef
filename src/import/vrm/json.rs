//! The JSON of the VRM extensions, as far as it is used. Only its form is checked here.

use crate::import::json_list;
use core::fmt::Formatter;
use core::marker::PhantomData;
use glam::Vec3;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// The most elements of a list.
const MAX_LIST: usize = 1 << 18;
/// The most entries of a map.
const MAX_NAMES: usize = 1 << 16;

/// A list, which may be `null`.
#[derive(Debug)]
pub(in crate::import) struct List<T>(pub(super) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Option::<json_list::List<T, MAX_LIST>>::deserialize(deserializer)?;
        Ok(Self(list.unwrap_or_default().0))
    }
}

/// A map in the order of the file.
#[derive(Debug)]
pub(in crate::import) struct Named<T>(pub(super) Vec<(Box<str>, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
                f.write_str("a map")
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Named::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    if entries.len() == MAX_NAMES {
                        return Err(A::Error::custom("a map of more than 65536 entries"));
                    }
                    entries.push(entry);
                }
                Ok(Named(entries))
            }
        }
        deserializer.deserialize_any(Entries(PhantomData))
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
    x: f32,
    y: f32,
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
    pub(super) humanoid: Humanoid1,
    pub(super) expressions: Expressions1,
}

/// `VRMC_vrm_animation`: a clip for any humanoid.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct VrmAnimation {
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
    pub(super) offset: [f32; 3],
    pub(super) radius: f32,
    pub(super) tail: [f32; 3],
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
    pub(super) gravity_dir: Option<[f32; 3]>,
    pub(super) drag_force: Option<f32>,
}

/// `VRM`, of version 0.x.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::import) struct Vrm0 {
    pub(super) humanoid: Humanoid0,
    pub(super) blend_shape_master: Expressions0,
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
    pub(super) offset: Xyz,
    pub(super) radius: f32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::import) struct Material0 {
    pub(super) shader: Option<Box<str>>,
}
