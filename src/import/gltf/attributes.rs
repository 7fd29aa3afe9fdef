//! Vertex attributes: their allowed formats, and their streams.

use super::accessor::Elements;
use super::component::Component;
use super::json::Primitive;
use super::mesh::{At, Reader};
use crate::error::{AssetFault, Result};
use crate::import::RawPrimitive;
use crate::import::fault::fault_of;
use crate::import::repair::RepairKind;
use crate::mesh;
use glam::{Vec2, Vec3, Vec4};

/// The component types that an attribute may have.
struct Form {
    kind: &'static str,
    allowed: &'static str,
    allow: fn(Component, bool) -> bool,
}

impl<'a> Reader<'_, 'a> {
    /// The elements of an attribute, one per vertex, if the primitive has it.
    fn attribute(
        &mut self,
        at: &At,
        raw: &Primitive,
        name: &str,
        form: &Form,
        decoded_size: usize,
    ) -> Result<Option<Elements<'a>>> {
        let Some(index) = raw.attributes.get(name) else {
            return Ok(None);
        };
        let object = || at.object(&format!("attributes.{name}"));
        let source = &mut *self.source;
        let (index, _) = source.typed(*index, form.kind, form.allowed, form.allow, object)?;
        let position = raw.attributes.get("POSITION").copied().unwrap_or_default();
        let (got, need) = (source.count(index), source.count(position as usize));
        if got != need {
            let what = "the accessor";
            let why = AssetFault::Count { what, got, need };
            return Err(fault_of(object(), why));
        }
        source.elements(index, usize::MAX, decoded_size).map(Some)
    }

    pub(super) fn positions(&mut self, at: &At, raw: &Primitive) -> Result<Vec<Vec3>> {
        let form = if self.quantized {
            Form {
                kind: "VEC3",
                allowed: "5120 to 5123, 5126",
                allow: |component, _| component != Component::U32,
            }
        } else {
            Form {
                kind: "VEC3",
                allowed: "5126; others with KHR_mesh_quantization",
                allow: |component, _| component == Component::F32,
            }
        };
        let elements = self.attribute(at, raw, "POSITION", &form, size_of::<Vec3>())?;
        Ok(elements.map_or_else(Vec::new, |e| vectors(&e)))
    }

    pub(super) fn normals(&mut self, at: &At, raw: &Primitive) -> Result<Vec<Vec3>> {
        let form = self.directions("VEC3");
        let elements = self.attribute(at, raw, "NORMAL", &form, size_of::<Vec3>())?;
        Ok(elements.map_or_else(Vec::new, |e| vectors(&e)))
    }

    /// Tangents, unless there are no normals: the format then requires them to be ignored (glTF
    /// 2.0, 3.7.2.1).
    pub(super) fn tangents(&mut self, at: &At, raw: &Primitive) -> Result<Vec<Vec4>> {
        if !raw.attributes.contains_key("TANGENT") {
            return Ok(Vec::new());
        }
        if !raw.attributes.contains_key("NORMAL") {
            self.leave_out(at, "attributes.TANGENT", RepairKind::TangentsIgnored, 1);
            return Ok(Vec::new());
        }
        let form = self.directions("VEC4");
        let elements = self.attribute(at, raw, "TANGENT", &form, size_of::<Vec4>())?;
        let tangent = |e: &Elements<'_>, vertex| Vec4::from_array(e.numbers(vertex));
        Ok(elements.map_or_else(Vec::new, |e| {
            (0..e.count).map(|vertex| tangent(&e, vertex)).collect()
        }))
    }

    /// The allowed format of normals and tangents.
    fn directions(&self, kind: &'static str) -> Form {
        if self.quantized {
            Form {
                kind,
                allowed: "5126, or normalised 5120, 5122",
                allow: |component, normalized| match component {
                    Component::F32 => true,
                    Component::I8 | Component::I16 => normalized,
                    _ => false,
                },
            }
        } else {
            Form {
                kind,
                allowed: "5126; others with KHR_mesh_quantization",
                allow: |component, _| component == Component::F32,
            }
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
        let form = if self.quantized {
            Form {
                kind: "VEC2",
                allowed: "5120 to 5123, 5126",
                allow: |component, _| component != Component::U32,
            }
        } else {
            Form {
                kind: "VEC2",
                allowed: "5126, or normalised 5121, 5123",
                allow: unit_range,
            }
        };
        let name = format!("TEXCOORD_{set}");
        let Some(elements) = self.attribute(at, raw, &name, &form, size_of::<Vec2>())? else {
            let part = format!("attributes.{name}");
            let kind = RepairKind::NoTextureCoordinates;
            self.leave_out(at, &part, kind, needed.into());
            return Ok(Vec::new());
        };
        let uv = |vertex| Vec2::from_array(elements.numbers(vertex));
        Ok((0..elements.count).map(uv).collect())
    }

    pub(super) fn colors(&mut self, at: &At, raw: &Primitive) -> Result<Vec<[f32; 4]>> {
        let index = raw.attributes.get("COLOR_0");
        let accessor = index.map(|index| &self.source.doc.accessors[*index as usize]);
        let opaque = accessor.is_some_and(|accessor| accessor.kind == "VEC3");
        let form = Form {
            kind: if opaque { "VEC3" } else { "VEC4" },
            allowed: "5126, or normalised 5121, 5123",
            allow: unit_range,
        };
        let Some(elements) = self.attribute(at, raw, "COLOR_0", &form, size_of::<[f32; 4]>())?
        else {
            return Ok(Vec::new());
        };
        let color = |vertex| {
            let [r, g, b] = elements.numbers(vertex);
            let alpha = if opaque {
                1.0
            } else {
                elements.number(vertex, 3)
            };
            [r, g, b, alpha]
        };
        Ok((0..elements.count).map(color).collect())
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
        let joint_form = Form {
            kind: "VEC4",
            allowed: "5121, 5123, not normalised",
            allow: |component, normalized| {
                matches!(component, Component::U8 | Component::U16) && !normalized
            },
        };
        let weight_form = Form {
            kind: "VEC4",
            allowed: "5126, or normalised 5121, 5123",
            allow: unit_range,
        };
        for set in 0..sets {
            let joints = self.attribute(at, raw, &format!("JOINTS_{set}"), &joint_form, 0)?;
            let weights = self.attribute(at, raw, &format!("WEIGHTS_{set}"), &weight_form, 0)?;
            let (Some(joints), Some(weights)) = (joints, weights) else {
                continue;
            };
            let rows = out.joints.chunks_exact_mut(per_vertex);
            let rows = rows.zip(out.weights.chunks_exact_mut(per_vertex));
            for (vertex, (joint_row, weight_row)) in rows.enumerate() {
                for slot in 0..4 {
                    joint_row[set * 4 + slot] = joints.integer(vertex, slot);
                    weight_row[set * 4 + slot] = weights.number(vertex, slot);
                }
            }
        }
        Ok(true)
    }
}

fn unit_range(component: Component, normalized: bool) -> bool {
    match component {
        Component::F32 => true,
        Component::U8 | Component::U16 => normalized,
        _ => false,
    }
}

fn vectors(elements: &Elements<'_>) -> Vec<Vec3> {
    let vector = |vertex| Vec3::from_array(elements.numbers(vertex));
    (0..elements.count).map(vector).collect()
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
    if sets > mesh::Primitive::MAX_INFLUENCES / 4 {
        let cap = mesh::Primitive::MAX_INFLUENCES as u64;
        return Err(at.cap("influences", (sets as u64).saturating_mul(4), cap));
    }
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
