//! The JSON of the VRM extensions, as far as it is used. Only its form is checked here.
//!
//! `null` means a value that is left out, everywhere.

use crate::json::{Kind, Map, Read, ReadFault, Value, file_structs, none};
use throng::glam::Vec3;

/// The most elements in all lists of an extension together.
///
/// So a file with a few bytes per element cannot take a hundred times its size in memory.
const MAX_ELEMENTS: usize = 1 << 17;

/// Reads an extension of the file, which may be `null`.
pub(crate) fn extension<T: Read>(from: &Map<'_>, name: &str) -> Result<Option<T>, ReadFault> {
    let values = from.entries.iter().filter(|(key, _)| key.is_text(name));
    let lists: usize = values.map(|(_, value)| value.element_count()).sum();
    if lists > MAX_ELEMENTS {
        return Err(from.value.fault(format!(
            "{name} has more than {MAX_ELEMENTS} elements in all lists"
        )));
    }
    from.required(&[name])
}

/// Reads a value, or its default for `null`.
fn or_default<T: Read + Default>(from: Value<'_>) -> Result<T, ReadFault> {
    match from.kind() {
        Kind::Null => Ok(T::default()),
        _ => T::read(from),
    }
}

/// A list, whose elements may be `null`.
#[derive(Debug, Default)]
pub(crate) struct List<T>(pub(super) Vec<T>);

impl<T: Read + Default> Read for List<T> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        if from.kind() != Kind::List {
            return Err(from.expected("an array"));
        }
        from.items()
            .map(or_default)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// A map in the order of the file, whose values may be `null`.
#[derive(Debug, Default)]
pub(crate) struct Named<T>(pub(super) Vec<(Box<str>, T)>);

impl<T: Read + Default> Read for Named<T> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let entries = from.map()?.entries.into_iter();
        let entries = entries.map(|(name, value)| Ok((Read::read(name)?, or_default(value)?)));
        entries.collect::<Result<_, _>>().map(Self)
    }
}

/// An element that only counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ignored;

impl Read for Ignored {
    fn read(_: Value<'_>) -> Result<Self, ReadFault> {
        Ok(Self)
    }
}

/// Three numbers. Each may be `null`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Three(pub(super) [f32; 3]);

impl Read for Three {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let three = <[OrZero; 3]>::read(from)?;
        Ok(Self(three.map(|OrZero(number)| number)))
    }
}

#[derive(Clone, Copy, Default)]
struct OrZero(f32);

impl Read for OrZero {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        or_default(from).map(Self)
    }
}

impl From<Three> for Vec3 {
    fn from(Three(three): Three) -> Self {
        Self::from_array(three)
    }
}

/// An index. Version 0.x writes -1 for "none".
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Index(pub(super) Option<usize>);

impl Read for Index {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let number = f64::read(from)?;
        let whole = number >= 0.0 && number.fract() == 0.0;
        Ok(Self(whole.then_some(number as usize)))
    }
}

file_structs! {
    /// A vector as an object.
    #[derive(Clone, Copy)]
    pub(crate) struct Xyz {
        "x" => x: f32 = 0.0,
        "y" => y: f32 = 0.0,
        "z" => z: f32 = 0.0,
    }

    /// `VRMC_vrm`.
    pub(crate) struct Vrm1 {
        "humanoid" => humanoid: Humanoid1 = none(),
        "expressions" => expressions: Expressions1 = none(),
    }

    /// `VRMC_vrm_animation`: a clip for any humanoid.
    pub(crate) struct VrmAnimation {
        "humanoid" => humanoid: Humanoid1 = none(),
    }

    pub(crate) struct Humanoid1 {
        "humanBones" => human_bones: Named<HumanBone1> = none(),
    }

    pub(crate) struct HumanBone1 {
        "node" => node: Index = none(),
    }

    pub(crate) struct Expressions1 {
        "preset" => preset: Named<Expression1> = none(),
        "custom" => custom: Named<Expression1> = none(),
    }

    pub(crate) struct Expression1 {
        "morphTargetBinds" => morph_target_binds: List<MorphBind1> = none(),
        "materialColorBinds" => material_color_binds: List<Ignored> = none(),
        "textureTransformBinds" => texture_transform_binds: List<Ignored> = none(),
        "isBinary" => is_binary: bool = false,
        "overrideBlink" => override_blink: Option<Box<str>>,
        "overrideLookAt" => override_look_at: Option<Box<str>>,
        "overrideMouth" => override_mouth: Option<Box<str>>,
    }

    pub(crate) struct MorphBind1 {
        "node" => node: Index = none(),
        "index" => index: Index = none(),
        "weight" => weight: f32 = 0.0,
    }

    /// `VRMC_springBone`.
    pub(crate) struct SpringBone1 {
        "colliders" => colliders: List<Collider1> = none(),
        "colliderGroups" => collider_groups: List<ColliderGroup1> = none(),
        "springs" => springs: List<Spring1> = none(),
    }

    pub(crate) struct Collider1 {
        "node" => node: Index = none(),
        "shape" => shape: Shape1 = none(),
    }

    pub(crate) struct Shape1 {
        "sphere" => sphere: Option<Round1>,
        "capsule" => capsule: Option<Round1>,
    }

    /// A sphere, or a capsule.
    pub(crate) struct Round1 {
        "offset" => offset: Three = none(),
        "radius" => radius: f32 = 0.0,
        "tail" => tail: Three = none(),
    }

    pub(crate) struct ColliderGroup1 {
        "colliders" => colliders: List<Index> = none(),
    }

    pub(crate) struct Spring1 {
        "name" => name: Option<Box<str>>,
        "joints" => joints: List<Joint1> = none(),
        "colliderGroups" => collider_groups: List<Index> = none(),
        "center" => center: Index = none(),
    }

    pub(crate) struct Joint1 {
        "node" => node: Index = none(),
        "hitRadius" => hit_radius: Option<f32>,
        "stiffness" => stiffness: Option<f32>,
        "gravityPower" => gravity_power: Option<f32>,
        "gravityDir" => gravity_dir: Option<Three>,
        "dragForce" => drag_force: Option<f32>,
    }

    /// `VRM`, of version 0.x.
    pub(crate) struct Vrm0 {
        "humanoid" => humanoid: Humanoid0 = none(),
        "blendShapeMaster" => blend_shape_master: Expressions0 = none(),
        "secondaryAnimation" => secondary_animation: Springs0 = none(),
        "materialProperties" => material_properties: List<Material0> = none(),
    }

    pub(crate) struct Humanoid0 {
        "humanBones" => human_bones: List<HumanBone0> = none(),
    }

    pub(crate) struct HumanBone0 {
        "bone" => bone: Option<Box<str>>,
        "node" => node: Index = none(),
    }

    pub(crate) struct Expressions0 {
        "blendShapeGroups" => blend_shape_groups: List<Expression0> = none(),
    }

    pub(crate) struct Expression0 {
        "name" => name: Option<Box<str>>,
        "presetName" => preset_name: Option<Box<str>>,
        "binds" => binds: List<MorphBind0> = none(),
        "materialValues" => material_values: List<Ignored> = none(),
        "isBinary" => is_binary: Option<bool>,
    }

    pub(crate) struct MorphBind0 {
        "mesh" => mesh: Index = none(),
        "index" => index: Index = none(),
        /// 0 to 100.
        "weight" => weight: f32 = 0.0,
    }

    pub(crate) struct Springs0 {
        "boneGroups" => bone_groups: List<Spring0> = none(),
        "colliderGroups" => collider_groups: List<ColliderGroup0> = none(),
    }

    pub(crate) struct Spring0 {
        "comment" => comment: Option<Box<str>>,
        /// The format spells it so.
        "stiffiness" => stiffness: Option<f32>,
        "gravityPower" => gravity_power: Option<f32>,
        "gravityDir" => gravity_dir: Option<Xyz>,
        "dragForce" => drag_force: Option<f32>,
        "center" => center: Index = none(),
        "hitRadius" => hit_radius: Option<f32>,
        "bones" => bones: List<Index> = none(),
        "colliderGroups" => collider_groups: List<Index> = none(),
    }

    pub(crate) struct ColliderGroup0 {
        "node" => node: Index = none(),
        "colliders" => colliders: List<Collider0> = none(),
    }

    pub(crate) struct Collider0 {
        "offset" => offset: Xyz = none(),
        "radius" => radius: f32 = 0.0,
    }

    pub(crate) struct Material0 {
        "shader" => shader: Option<Box<str>>,
    }
}

impl From<Xyz> for Vec3 {
    fn from(Xyz { x, y, z }: Xyz) -> Self {
        Self::new(x, y, z)
    }
}
