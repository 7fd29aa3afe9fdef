//! Primitives that `KHR_draco_mesh_compression` compresses.

use super::component::{Component, shape};
use super::fault::{cut, lookup, message, not_allowed};
use super::json::{Accessor, Primitive};
use super::json_extensions::Draco;
use super::source::Source;
use crate::fault::expect_count;
use draco_core::{
    DataType, DecodeLimits, DecoderBuffer, Mesh, MeshDecoder, PointAttribute, PointIndex,
};
use throng::error::{AssetFault, Error, Object, Result};

/// The decoded elements of an accessor, tightly packed.
pub(super) struct Decoded {
    pub(super) accessor: usize,
    /// The number of elements, which may differ from what the accessor states.
    pub(super) count: u64,
    pub(super) bytes: Vec<u8>,
    /// The part of the primitive that refers to the accessor.
    pub(super) part: Box<str>,
}

/// Decodes the accessors of a primitive that the compressed data replaces. `at` names a part of the
/// primitive.
pub(super) fn decode(
    source: &mut Source<'_>,
    raw: &Primitive,
    draco: &Draco,
    at: &dyn Fn(&str) -> Object,
) -> Result<Vec<Decoded>> {
    let whole = || at("extensions.KHR_draco_mesh_compression");
    let doc = source.doc;
    if let Some(mode) = raw.mode.filter(|mode| *mode != 4) {
        let allowed = "4 with KHR_draco_mesh_compression";
        let why = not_allowed("the mode", &mode.to_string(), allowed);
        return Err(Error::asset(at("mode"), why));
    }
    let Some(indices) = raw.indices else {
        let why = AssetFault::Missing("indices, which KHR_draco_mesh_compression needs");
        return Err(Error::asset(at(""), why));
    };
    let (indices, list) = lookup(&doc.accessors, indices, "accessor", || at("indices"))?;
    let (bytes, start, length) = source.view(draco.buffer_view, &whole())?;
    source.charge(length as u64, whole)?;
    let limits = DecodeLimits::default()
        .with_max_faces(source.options.limits.indices as u64 / 3)
        .with_max_points(source.options.limits.vertices as u64)
        .with_max_decoded_bytes(source.budget.bytes_left());
    let encoded = bytes.as_ref().get(start..).and_then(|b| b.get(..length));
    let mut buffer = DecoderBuffer::new(encoded.unwrap_or_default()).with_limits(limits);
    let mut mesh = Mesh::new();
    MeshDecoder::new()
        .decode(&mut buffer, &mut mesh)
        .map_err(|error| {
            let why = AssetFault::Compressed {
                codec: "Draco",
                why: message(&error.to_string()),
            };
            Error::asset(whole(), why)
        })?;
    let mut decoded = vec![Decoded {
        accessor: indices,
        count: mesh.num_faces() as u64 * 3,
        bytes: list_of(source, &mesh, list, &at("indices"))?,
        part: "indices".into(),
    }];
    for (name, id) in draco.attributes.iter() {
        let object = || at(&format!("attributes.{}", cut(name)));
        let Some(accessor) = raw.attributes.get(name) else {
            let why = AssetFault::Missing("the accessor of an attribute that Draco data has");
            return Err(Error::asset(object(), why));
        };
        let (index, accessor) = lookup(&doc.accessors, *accessor, "accessor", object)?;
        let attribute = u32::try_from(*id)
            .ok()
            .and_then(|id| mesh.attribute_by_unique_id(id));
        let Some(attribute) = attribute else {
            let (what, index) = ("Draco attribute", *id);
            let count = mesh.num_attributes().max(0) as u64;
            return Err(Error::asset(
                object(),
                AssetFault::Dangling { what, index, count },
            ));
        };
        let count = mesh.num_points() as u32;
        decoded.push(Decoded {
            accessor: index,
            count: count.into(),
            bytes: elements_of(source, attribute, accessor, count, &object())?,
            part: format!("attributes.{}", cut(name)).into(),
        });
    }
    Ok(decoded)
}

fn form_of(accessor: &Accessor, at: &Object) -> Result<(Component, usize)> {
    let component = Component::from_code(accessor.component_type);
    let is_plain = !accessor.kind.starts_with("MAT");
    let form = component.and_then(|c| Some((c, shape(&accessor.kind, c)?.0)));
    form.filter(|_| is_plain).ok_or_else(|| {
        let allowed = "SCALAR, VEC2, VEC3, VEC4";
        let why = not_allowed("the type of the accessor", &accessor.kind, allowed);
        Error::asset(at.clone(), why)
    })
}

fn list_of(
    source: &mut Source<'_>,
    mesh: &Mesh,
    accessor: &Accessor,
    at: &Object,
) -> Result<Vec<u8>> {
    let (component, width) = form_of(accessor, at)?;
    expect_count(|| at.clone(), "the accessor", width as u64, 1)?;
    let count = mesh.num_faces() as u64 * 3;
    let size = count.saturating_mul(component.size() as u64);
    source.charge(size, || at.clone())?;
    let mut bytes = Vec::with_capacity(size as usize);
    for corner in mesh.faces().iter().flatten() {
        put(&mut bytes, component, f64::from(corner.0), at)?;
    }
    Ok(bytes)
}

fn elements_of(
    source: &mut Source<'_>,
    attribute: &PointAttribute,
    accessor: &Accessor,
    count: u32,
    at: &Object,
) -> Result<Vec<u8>> {
    let (component, width) = form_of(accessor, at)?;
    let (what, stored) = (
        "the Draco attribute, in components,",
        attribute.num_components(),
    );
    expect_count(|| at.clone(), what, stored.into(), width as u64)?;
    let size = u64::from(count).saturating_mul((width * component.size()) as u64);
    source.charge(size, || at.clone())?;
    let mut bytes = Vec::with_capacity(size as usize);
    let stride = attribute.byte_stride();
    let data = attribute.buffer().data();
    let kind = attribute.data_type();
    for point in 0..count {
        let value = attribute.mapped_index(PointIndex(point)).0;
        let start = i64::from(value).saturating_mul(stride);
        for component_index in 0..width {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            let start = start.saturating_add(component_index * kind.byte_length());
            let number = data.get(start..).and_then(|from| number(from, kind));
            let Some(number) = number else {
                let why = AssetFault::Invalid("has a value outside the Draco data");
                return Err(Error::asset(at.clone(), why));
            };
            put(&mut bytes, component, number, at)?;
        }
    }
    Ok(bytes)
}

/// The first number of some bytes.
fn number(bytes: &[u8], kind: DataType) -> Option<f64> {
    Some(match kind {
        DataType::Int8 => i8::from_le_bytes(*bytes.first_chunk()?).into(),
        DataType::Uint8 | DataType::Bool => u8::from_le_bytes(*bytes.first_chunk()?).into(),
        DataType::Int16 => i16::from_le_bytes(*bytes.first_chunk()?).into(),
        DataType::Uint16 => u16::from_le_bytes(*bytes.first_chunk()?).into(),
        DataType::Int32 => i32::from_le_bytes(*bytes.first_chunk()?).into(),
        DataType::Uint32 => u32::from_le_bytes(*bytes.first_chunk()?).into(),
        DataType::Float32 => f32::from_le_bytes(*bytes.first_chunk()?).into(),
        _ => return None,
    })
}

/// Appends a number as the component type of an accessor, which must be able to hold it.
fn put(bytes: &mut Vec<u8>, component: Component, number: f64, at: &Object) -> Result<()> {
    macro_rules! integer {
        ($t:ty) => {{
            let rounded = number as $t;
            bytes.extend(rounded.to_le_bytes());
            f64::from(rounded) == number
        }};
    }
    let fits = match component {
        Component::I8 => integer!(i8),
        Component::U8 => integer!(u8),
        Component::I16 => integer!(i16),
        Component::U16 => integer!(u16),
        Component::U32 => integer!(u32),
        Component::F32 => {
            bytes.extend((number as f32).to_le_bytes());
            true
        }
    };
    if fits {
        return Ok(());
    }
    let (index, allowed) = (
        bytes.len() / component.size() - 1,
        "a value of the accessor's component type",
    );
    Err(Error::asset(
        at.clone(),
        AssetFault::value("component", index, number, allowed),
    ))
}
