//! Meshes: attributes and indices to streams and triangles.

use super::accessor::{Component, Elements, Source};
use super::json::Primitive;
use super::material::ReadMaterial;
use super::{cut, fault_of, lookup, not_allowed, object, uses};
use crate::character::MAX_INFLUENCES;
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::import::{RawPrimitive, Repair, RepairKind};
use glam::{Vec2, Vec3};

/// The primitives of the meshes that these nodes carry.
pub(super) fn read(
    source: &mut Source<'_>,
    carriers: &[usize],
    materials: &[ReadMaterial],
    repairs: &mut Vec<Repair>,
) -> Result<Vec<RawPrimitive>> {
    let doc = source.doc;
    let mut reader = Reader {
        quantized: uses(doc, "KHR_mesh_quantization"),
        source,
        materials,
        vertices: 0,
        indices: 0,
        repairs,
    };
    for (index, mesh) in doc.meshes.iter().enumerate() {
        for (number, primitive) in mesh.primitives.iter().enumerate() {
            reader.check_references(
                &At {
                    mesh: index,
                    number,
                },
                primitive,
            )?;
        }
    }
    let mut all: Vec<RawPrimitive> = Vec::new();
    for node in carriers {
        let carrier = &doc.nodes[*node];
        let Some(mesh) = carrier.mesh.map(|mesh| mesh as usize) else {
            continue;
        };
        let name = doc.meshes[mesh].name.as_deref().or(carrier.name.as_deref());
        let name = cut(name.unwrap_or_default());
        for (number, primitive) in doc.meshes[mesh].primitives.iter().enumerate() {
            let at = At { mesh, number };
            let skin = carrier.skin.map(|skin| skin as usize);
            let Some(mut raw) = reader.primitive(&at, primitive, skin)? else {
                continue;
            };
            raw.name = format!("{name}.{number}").into();
            raw.node = *node;
            let cap = reader.source.options.max_primitives;
            if all.len() == cap {
                return Err(at.cap("primitives", all.len() as u64 + 1, cap as u64));
            }
            all.push(raw);
        }
    }
    Ok(all)
}

/// A primitive of a mesh.
struct At {
    mesh: usize,
    number: usize,
}

impl At {
    fn object(&self, part: &str) -> Object {
        let dot = if part.is_empty() { "" } else { "." };
        let part = format!("primitives[{}]{dot}{part}", self.number);
        object(ObjectKind::Mesh, self.mesh, part)
    }

    fn fault(&self, part: &str, why: AssetFault) -> Error {
        fault_of(self.object(part), why)
    }

    fn cap(&self, what: &'static str, asked: u64, cap: u64) -> Error {
        self.fault("", AssetFault::Cap { what, asked, cap })
    }
}

/// Which components an attribute may have.
struct Form {
    kind: &'static str,
    allowed: &'static str,
    allow: fn(Component, bool) -> bool,
}

struct Reader<'r, 'a> {
    source: &'r mut Source<'a>,
    materials: &'r [ReadMaterial],
    quantized: bool,
    vertices: u64,
    indices: u64,
    repairs: &'r mut Vec<Repair>,
}

impl<'a> Reader<'_, 'a> {
    fn check_references(&self, at: &At, primitive: &Primitive) -> Result<()> {
        let doc = self.source.doc;
        for (name, accessor) in &primitive.attributes {
            let referrer = || at.object(&format!("attributes.{}", cut(name)));
            lookup(&doc.accessors, *accessor, "accessor", referrer)?;
        }
        if let Some(accessor) = primitive.indices {
            lookup(&doc.accessors, accessor, "accessor", || {
                at.object("indices")
            })?;
        }
        if let Some(material) = primitive.material {
            lookup(&doc.materials, material, "material", || {
                at.object("material")
            })?;
        }
        match primitive.mode.unwrap_or(4) {
            0..=6 => Ok(()),
            mode => {
                let why = not_allowed("the mode", &mode.to_string(), "0 to 6");
                Err(at.fault("mode", why))
            }
        }
    }

    fn leave_out(&mut self, at: &At, part: &str, kind: RepairKind, count: usize) {
        if count > 0 {
            self.repairs.push(Repair {
                object: at.object(part),
                kind,
                count: count as u64,
            });
        }
    }

    /// The primitive, unless nothing of it can be drawn.
    fn primitive(
        &mut self,
        at: &At,
        raw: &Primitive,
        skin: Option<usize>,
    ) -> Result<Option<RawPrimitive>> {
        let mode = raw.mode.unwrap_or(4);
        let Some(position) = raw.attributes.get("POSITION").filter(|_| mode >= 4) else {
            self.leave_out(at, "", RepairKind::LeftOut, 1);
            return Ok(None);
        };
        let count = self.source.doc.accessors[*position as usize].count;
        let cap = self.source.options.max_vertices as u64;
        self.vertices = self.vertices.saturating_add(count);
        if self.vertices > cap {
            return Err(at.cap("vertices", self.vertices, cap));
        }
        let has_tangents = raw.attributes.contains_key("TANGENT");
        if has_tangents && !raw.attributes.contains_key("NORMAL") {
            self.leave_out(at, "attributes.TANGENT", RepairKind::TangentsIgnored, 1);
        }
        self.leave_out(at, "targets", RepairKind::LeftOut, raw.targets.len());
        let mut primitive = RawPrimitive {
            mesh: at.mesh,
            number: at.number,
            skin,
            material: raw.material.map(|material| material as usize),
            positions: self.positions(at, raw)?,
            normals: self.normals(at, raw)?,
            uvs: self.uvs(at, raw)?,
            colors: self.colors(at, raw)?,
            indices: self.triangles(at, raw, mode, count)?,
            ..RawPrimitive::default()
        };
        if skin.is_some() {
            self.influences(at, raw, &mut primitive)?;
        }
        Ok(Some(primitive))
    }

    /// The elements of an attribute, one a vertex, if the primitive has it.
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
        let (index, accessor) =
            source.typed(*index, form.kind, form.allowed, form.allow, object)?;
        let position = raw.attributes.get("POSITION").copied().unwrap_or_default();
        let need = source.doc.accessors[position as usize].count;
        if accessor.count != need {
            let why = AssetFault::Count {
                what: "the accessor",
                got: accessor.count,
                need,
            };
            return Err(fault_of(object(), why));
        }
        source.elements(index, usize::MAX, decoded_size).map(Some)
    }

    fn positions(&mut self, at: &At, raw: &Primitive) -> Result<Vec<Vec3>> {
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

    fn normals(&mut self, at: &At, raw: &Primitive) -> Result<Vec<Vec3>> {
        let form = if self.quantized {
            Form {
                kind: "VEC3",
                allowed: "5126, or normalised 5120, 5122",
                allow: |component, normalized| match component {
                    Component::F32 => true,
                    Component::I8 | Component::I16 => normalized,
                    _ => false,
                },
            }
        } else {
            Form {
                kind: "VEC3",
                allowed: "5126; others with KHR_mesh_quantization",
                allow: |component, _| component == Component::F32,
            }
        };
        let elements = self.attribute(at, raw, "NORMAL", &form, size_of::<Vec3>())?;
        Ok(elements.map_or_else(Vec::new, |e| vectors(&e)))
    }

    fn uvs(&mut self, at: &At, raw: &Primitive) -> Result<Vec<Vec2>> {
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
        let material = raw.material.and_then(|m| self.materials.get(m as usize));
        let set = material.map_or(0, |material| material.tex_coord);
        let name = format!("TEXCOORD_{set}");
        let Some(elements) = self.attribute(at, raw, &name, &form, size_of::<Vec2>())? else {
            return Ok(Vec::new());
        };
        let uv = |vertex| Vec2::from_array(elements.numbers(vertex));
        let uvs = (0..elements.count).map(uv);
        Ok(match material.and_then(|material| material.uv_transform) {
            None => uvs.collect(),
            Some(transform) => uvs.map(|uv| transform.transform_point2(uv)).collect(),
        })
    }

    fn colors(&mut self, at: &At, raw: &Primitive) -> Result<Vec<[f32; 4]>> {
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

    /// All sets of joints and weights, side by side.
    fn influences(&mut self, at: &At, raw: &Primitive, out: &mut RawPrimitive) -> Result<()> {
        let sets = influence_sets(at, raw)?;
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
        Ok(())
    }

    /// Triangles as a list, whatever the mode.
    fn triangles(
        &mut self,
        at: &At,
        raw: &Primitive,
        mode: u64,
        vertices: u64,
    ) -> Result<Vec<u32>> {
        let count = match raw.indices {
            None => vertices,
            Some(index) => self.source.doc.accessors[index as usize].count,
        };
        let fits = if mode == 4 {
            count.is_multiple_of(3)
        } else {
            count >= 3
        };
        if !fits {
            let why = if mode == 4 {
                "the number of indices is no multiple of 3"
            } else {
                "a strip or fan has less than three indices"
            };
            return Err(at.fault("indices", AssetFault::Invalid(why)));
        }
        let total = if mode == 4 {
            count
        } else {
            (count - 2).saturating_mul(3)
        };
        let cap = self.source.options.max_indices as u64;
        self.indices = self.indices.saturating_add(total);
        if self.indices > cap {
            return Err(at.cap("triangle indices", self.indices, cap));
        }
        self.source
            .charge(total.saturating_mul(4), || at.object("indices"))?;
        let corners = match raw.indices {
            None => (0..vertices).map(|index| index as u32).collect(),
            Some(index) => self.indices(at, index, vertices)?,
        };
        Ok(match mode {
            5 => strip(&corners),
            6 => fan(&corners),
            _ => corners,
        })
    }

    fn indices(&mut self, at: &At, index: u64, vertices: u64) -> Result<Vec<u32>> {
        let allow = |component, normalized: bool| {
            let unsigned = matches!(component, Component::U8 | Component::U16 | Component::U32);
            unsigned && !normalized
        };
        let object = || at.object("indices");
        let allowed = "5121, 5123, 5125, not normalised";
        let (index, _) = self.source.typed(index, "SCALAR", allowed, allow, object)?;
        let elements = self.source.elements(index, usize::MAX, 4)?;
        let restart = match elements.component {
            Component::U8 => u8::MAX.into(),
            Component::U16 => u16::MAX.into(),
            _ => u32::MAX,
        };
        let mut indices = Vec::with_capacity(elements.count);
        for element in 0..elements.count {
            let value = elements.integer(element, 0);
            let part = || format!("indices[{element}]");
            if value == restart {
                let why = AssetFault::Invalid("is the primitive restart value");
                return Err(at.fault(&part(), why));
            }
            if u64::from(value) >= vertices {
                let why = AssetFault::Dangling {
                    what: "vertex",
                    index: value.into(),
                    count: vertices,
                };
                return Err(at.fault(&part(), why));
            }
            indices.push(value);
        }
        Ok(indices)
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

/// How many sets of joints and weights there are: numbered from 0 without gaps, both of each.
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
    if sets > MAX_INFLUENCES / 4 {
        let cap = MAX_INFLUENCES as u64;
        return Err(at.cap("influences", (sets as u64).saturating_mul(4), cap));
    }
    for set in 0..sets.max(1) {
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

/// The triangles of a strip (glTF 2.0, 3.7.2.1), without those that are a line or point.
fn strip(corners: &[u32]) -> Vec<u32> {
    let turned = |(number, c): (usize, &[u32])| match number % 2 {
        0 => [c[0], c[1], c[2]],
        _ => [c[0], c[2], c[1]],
    };
    proper(corners.windows(3).enumerate().map(turned))
}

/// The triangles of a fan (glTF 2.0, 3.7.2.1), without those that are a line or point.
fn fan(corners: &[u32]) -> Vec<u32> {
    let Some((hub, rim)) = corners.split_first() else {
        return Vec::new();
    };
    proper(rim.windows(2).map(|edge| [edge[0], edge[1], *hub]))
}

fn proper(triangles: impl Iterator<Item = [u32; 3]>) -> Vec<u32> {
    triangles
        .filter(|[a, b, c]| a != b && b != c && a != c)
        .flatten()
        .collect()
}
