//! The JSON of glTF 2.0, as far as it is used. Only its form is checked here.

use super::events::Events;
use super::json_material::{Image, Material, Sampler, Texture};
use super::json_morph::{MeshExtras, Target as MorphTarget, Weights};
use core::marker::PhantomData;
use core::ops::Deref;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use std::collections::BTreeMap;

/// The most elements of any list. Otherwise a file with a few bytes per element could take a
/// hundred times its size in memory.
pub(super) const MAX_LIST: usize = 1 << 18;

/// The most attributes of one primitive. They are visited once for each node that carries it.
pub(super) const MAX_ATTRIBUTES: usize = 1 << 12;

/// A list of at most [`MAX_LIST`] elements.
#[derive(Debug)]
pub(super) struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = seq.next_element()? {
                    if list.len() == MAX_LIST {
                        return Err(A::Error::custom("a list of more than 262144 elements"));
                    }
                    list.push(element);
                }
                Ok(List(list))
            }
        }
        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

/// An integer. JSON does not distinguish `24` from `24.0`, and some writers use the latter.
pub(super) struct Whole(pub(super) u64);

/// The largest number up to which 64-bit floats represent every integer.
const MAX_WHOLE_FLOAT: f64 = (1_u64 << 53) as f64;

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Whole;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a whole number from 0")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Whole, E> {
                Ok(Whole(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Whole, E> {
                match u64::try_from(value) {
                    Ok(value) => Ok(Whole(value)),
                    Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
                }
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Whole, E> {
                if value.fract() != 0.0 {
                    return Err(E::invalid_type(Unexpected::Float(value), &self));
                }
                if !(0.0..=MAX_WHOLE_FLOAT).contains(&value) {
                    return Err(E::invalid_value(Unexpected::Float(value), &self));
                }
                Ok(Whole(value as u64))
            }
        }
        deserializer.deserialize_u64(Number)
    }
}

pub(super) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Whole::deserialize(deserializer).map(|whole| whole.0)
}

pub(super) fn whole_if_any<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    let whole = Option::<Whole>::deserialize(deserializer)?;
    Ok(whole.map(|whole| whole.0))
}

/// A stride. Older formats and some writers use 0 for "no stride".
fn stride<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(whole_if_any(deserializer)?.filter(|stride| *stride != 0))
}

fn wholes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<u64>, D::Error> {
    let List(wholes) = List::<Whole>::deserialize(deserializer)?;
    Ok(List(wholes.into_iter().map(|whole| whole.0).collect()))
}

/// The accessors of a primitive's attributes by name, at most [`MAX_ATTRIBUTES`] of them.
#[derive(Debug)]
pub(super) struct Attributes(BTreeMap<String, u64>);

impl Deref for Attributes {
    type Target = BTreeMap<String, u64>;

    fn deref(&self) -> &BTreeMap<String, u64> {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Attributes;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attributes, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some((name, Whole(accessor))) = map.next_entry()? {
                    if entries.len() == MAX_ATTRIBUTES {
                        return Err(A::Error::custom("more than 4096 attributes"));
                    }
                    entries.insert(name, accessor);
                }
                Ok(Attributes(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) asset: Asset,
    #[serde(default)]
    pub(super) extensions_used: List<String>,
    #[serde(default)]
    pub(super) extensions_required: List<String>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) scene: Option<u64>,
    #[serde(default)]
    pub(super) scenes: List<Scene>,
    #[serde(default)]
    pub(super) nodes: List<Node>,
    #[serde(default)]
    pub(super) meshes: List<Mesh>,
    #[serde(default)]
    pub(super) skins: List<Skin>,
    #[serde(default)]
    pub(super) animations: List<Animation>,
    #[serde(default)]
    pub(super) materials: List<Material>,
    #[serde(default)]
    pub(super) textures: List<Texture>,
    #[serde(default)]
    pub(super) samplers: List<Sampler>,
    #[serde(default)]
    pub(super) images: List<Image>,
    #[serde(default)]
    pub(super) accessors: List<Accessor>,
    #[serde(default)]
    pub(super) buffer_views: List<BufferView>,
    #[serde(default)]
    pub(super) buffers: List<Buffer>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    pub(super) version: String,
    pub(super) min_version: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    #[serde(default, deserialize_with = "wholes")]
    pub(super) nodes: List<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "wholes")]
    pub(super) children: List<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) mesh: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) skin: Option<u64>,
    pub(super) matrix: Option<[f32; 16]>,
    pub(super) translation: Option<[f32; 3]>,
    pub(super) rotation: Option<[f32; 4]>,
    pub(super) scale: Option<[f32; 3]>,
    #[serde(default)]
    pub(super) weights: Weights,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) weights: Weights,
    #[serde(default)]
    pub(super) extras: MeshExtras,
    pub(super) primitives: List<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    pub(super) attributes: Attributes,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) indices: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) material: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) mode: Option<u64>,
    #[serde(default)]
    pub(super) targets: List<MorphTarget>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "wholes")]
    pub(super) joints: List<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) inverse_bind_matrices: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) skeleton: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Animation {
    pub(super) name: Option<String>,
    pub(super) channels: List<Channel>,
    pub(super) samplers: List<AnimationSampler>,
    #[serde(default)]
    pub(super) extras: Events,
}

#[derive(Debug, Deserialize)]
pub(super) struct Channel {
    #[serde(deserialize_with = "whole")]
    pub(super) sampler: u64,
    pub(super) target: Target,
}

#[derive(Debug, Deserialize)]
pub(super) struct Target {
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) node: Option<u64>,
    pub(super) path: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct AnimationSampler {
    #[serde(deserialize_with = "whole")]
    pub(super) input: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) output: u64,
    pub(super) interpolation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) buffer_view: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) component_type: u64,
    #[serde(default)]
    pub(super) normalized: bool,
    #[serde(deserialize_with = "whole")]
    pub(super) count: u64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    #[serde(deserialize_with = "whole")]
    pub(super) count: u64,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    #[serde(deserialize_with = "whole")]
    pub(super) buffer_view: u64,
    #[serde(default, deserialize_with = "whole")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) component_type: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    #[serde(deserialize_with = "whole")]
    pub(super) buffer_view: u64,
    #[serde(default, deserialize_with = "whole")]
    pub(super) byte_offset: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    #[serde(deserialize_with = "whole")]
    pub(super) buffer: u64,
    #[serde(default, deserialize_with = "whole")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) byte_length: u64,
    #[serde(default, deserialize_with = "stride")]
    pub(super) byte_stride: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) uri: Option<String>,
    #[serde(deserialize_with = "whole")]
    pub(super) byte_length: u64,
}
