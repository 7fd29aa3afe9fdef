//! Vertex attributes: their allowed formats, and their streams.

use super::accessor::Elements;
use super::component::Component;
use super::json::Primitive;
use super::mesh::{At, Reader};
use crate::fault::expect_count;
use throng::error::{AssetFault, Result};
use throng::glam::{Vec2, Vec3, Vec4};
use throng::import::{RawPrimitive, RepairKind};
use throng::mesh;

/// The component types that an attribute may have, in words and as a function.
struct Form(&'static str, fn(Component, bool) -> bool);

const FLOAT: Form = Form("5126; others with KHR_mesh_quantization", |component, _| {
    component == Component::F32
});
const QUANTIZED: Form = Form("5120 to 5123, 5126", |component, _| {
    component != Component::U32
});
const QUANTIZED_DIRECTION: Form = Form(
    "5126, or normalised 5120, 5122",
    |component, normalized| match component {
        Component::F32 => true,
        Component::I8 | Component::I16 => normalized,
        _ => false,
    },
);
const UNIT_RANGE: Form =
    Form(
        "5126, or normalised 5121, 5123",
        |component, normalized| match component {
            Component::F32 => true,
            Component::U8 | Component::U16 => normalized,
            _ => false,
        },
    );
const JOINTS: Form = Form("5121, 5123, not normalised", |component, normalized| {
    matches!(component, Component::U8 | Component::U16) && !normalized
});

impl<'a> Reader<'_, 'a> {
    /// The elements of an attribute, one per vertex, if the primitive has it.
    fn attribute(
        &mut self,
        at: &At,
        raw: &Primitive,
        (name, kind): (&str, &'static str),
        Form(allowed, allow): Form,
        decoded_size: usize,
    ) -> Result<Option<Elements<'a>>> {
        let Some(index) = raw.attributes.get(name) else {
            return Ok(None);
        };
        let object = || at.object(&format!("attributes.{name}"));
        let source = &mut *self.source;
        let (index, _) = source.typed(*index, kind, allowed, allow, object)?;
        let position = raw.attributes.get("POSITION").copied().unwrap_or_default();
        let (got, need) = (source.count(index), source.count(position as usize));
        expect_count(object, "the accessor", got, need)?;
        source.elements(index, usize::MAX, decoded_size).map(Some)
    }

    /// The values of an attribute. Empty if the primitive does not have it.
    fn values<T, const N: usize>(
        &mut self,
        at: &At,
        raw: &Primitive,
        name: (&str, &'static str),
        form: Form,
        value: impl Fn([f32; N]) -> T,
    ) -> Result<Vec<T>> {
        let elements = self.attribute(at, raw, name, form, size_of::<T>())?;
        Ok(elements.map_or_else(Vec::new, |elements| elements.all(value)))
    }

    pub(super) fn positions(&mut self, at: &At, raw: &Primitive) -> Result<Vec<Vec3>> {
        let form = if self.quantized { QUANTIZED } else { FLOAT };
        self.values(at, raw, ("POSITION", "VEC3"), form, Vec3::from_array)
    }

    pub(super) fn normals(&mut self, at: &At, raw: &Primitive) -> Result<Vec<Vec3>> {
        let form = self.directions();
        self.values(at, raw, ("NORMAL", "VEC3"), form, Vec3::from_array)
    }

    /// Tangents, unless there are no normals: the format then requires them to be ignored (glTF
    /// 2.0, 3.7.2.1).
    pub(super) fn tangents(&mut self, at: &At, raw: &Primitive) -> Result<Vec<Vec4>> {
        let has = |name| raw.attributes.contains_key(name);
        if has("TANGENT") && !has("NORMAL") {
            self.leave_out(at, "attributes.TANGENT", RepairKind::TangentsIgnored, 1);
            return Ok(Vec::new());
        }
        let form = self.directions();
        self.values(at, raw, ("TANGENT", "VEC4"), form, Vec4::from_array)
    }

    /// The allowed format of normals and tangents.
    fn directions(&self) -> Form {
        match self.quantized {
            true => QUANTIZED_DIRECTION,
            false => FLOAT,
        }
    }

    /// The sets of texture coordinates that the material's textures use, in its order. Set 0 if
    /// there are no textures.
    pub(super) fn texture_coordinates(
        &mut self,
        at: &At,
        raw: &Primitive,
    ) -> Result<[Vec<Vec2>; 2]> {
        let material = raw.material.map(|material| material as usize);
        let needs = material.and_then(|material| self.texture_needs.get(material));
        let sets = needs.map_or([None; 2], |needs| needs.uv_sets);
        let first = self.uvs(at, raw, sets[0].unwrap_or(0), sets[0].is_some())?;
        let second = match sets[1] {
            None => Vec::new(),
            Some(set) => self.uvs(at, raw, set, true)?,
        };
        Ok([first, second])
    }

    fn uvs(&mut self, at: &At, raw: &Primitive, set: u64, needed: bool) -> Result<Vec<Vec2>> {
        let name = format!("TEXCOORD_{set}");
        if needed && !raw.attributes.contains_key(&name) {
            let part = format!("attributes.{name}");
            self.leave_out(at, &part, RepairKind::NoTextureCoordinates, 1);
        }
        let form = match self.quantized {
            true => QUANTIZED,
            false => UNIT_RANGE,
        };
        self.values(at, raw, (&name, "VEC2"), form, Vec2::from_array)
    }

    pub(super) fn colors(&mut self, at: &At, raw: &Primitive) -> Result<Vec<[f32; 4]>> {
        let index = raw.attributes.get("COLOR_0");
        let accessor = index.map(|index| &self.source.doc.accessors[*index as usize]);
        if accessor.is_some_and(|accessor| accessor.kind == "VEC3") {
            let opaque = |[r, g, b]: [f32; 3]| [r, g, b, 1.0];
            return self.values(at, raw, ("COLOR_0", "VEC3"), UNIT_RANGE, opaque);
        }
        self.values(at, raw, ("COLOR_0", "VEC4"), UNIT_RANGE, |color| color)
    }

    /// Reads all sets of joints and weights side by side. Returns true if there are any.
    pub(super) fn influences(
        &mut self,
        at: &At,
        raw: &Primitive,
        out: &mut RawPrimitive,
    ) -> Result<bool> {
        let sets = influence_sets(at, raw)?;
        if sets == 0 {
            return Ok(false);
        }
        let per_vertex = sets * 4;
        let total = out.positions.len() as u64 * per_vertex as u64;
        self.source
            .charge(total.saturating_mul(8), || at.object(""))?;
        out.influences_per_vertex = per_vertex;
        out.joints = vec![0; out.positions.len() * per_vertex];
        out.weights = vec![0.0; out.positions.len() * per_vertex];
        for set in 0..sets {
            let [joints, weights] = ["JOINTS", "WEIGHTS"].map(|name| format!("{name}_{set}"));
            let joints = self.attribute(at, raw, (&joints, "VEC4"), JOINTS, 0)?;
            let weights = self.attribute(at, raw, (&weights, "VEC4"), UNIT_RANGE, 0)?;
            let (Some(joints), Some(weights)) = (joints, weights) else {
                continue;
            };
            let rows = out.joints.chunks_exact_mut(per_vertex);
            let rows = rows.zip(out.weights.chunks_exact_mut(per_vertex));
            for (vertex, (joint_row, weight_row)) in rows.enumerate() {
                for index in 0..4 {
                    joint_row[set * 4 + index] = joints.integer(vertex, index);
                    weight_row[set * 4 + index] = weights.number(vertex, index);
                }
            }
        }
        Ok(true)
    }
}

/// The number of sets of joints and weights. They must be numbered from 0 without gaps and come in
/// pairs.
fn influence_sets(at: &At, raw: &Primitive) -> Result<usize> {
    let numbered = |prefix: &str| {
        let numbers = raw.attributes.keys().filter_map(|name| {
            let digits = name.strip_prefix(prefix)?;
            digits
                .parse::<usize>()
                .ok()
                .filter(|n| n.to_string() == digits)
        });
        numbers.max().map_or(0, |last| last.saturating_add(1))
    };
    let sets = numbered("JOINTS_").max(numbered("WEIGHTS_"));
    let (asked, cap) = (
        (sets as u64).saturating_mul(4),
        mesh::Primitive::MAX_INFLUENCES as u64,
    );
    at.check_cap("influences", asked, cap)?;
    for set in 0..sets {
        for (prefix, what) in [
            ("JOINTS_", "the joints of a set (the node has a skin)"),
            ("WEIGHTS_", "the weights of a set (the node has a skin)"),
        ] {
            let name = format!("{prefix}{set}");
            if !raw.attributes.contains_key(&name) {
                return Err(at.fault(&format!("attributes.{name}"), AssetFault::Missing(what)));
            }
        }
    }
    Ok(sets)
}
