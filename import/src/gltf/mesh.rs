//! Conversion of meshes from attributes and indices to streams and triangles.

use super::fault::{cut, lookup, not_allowed};
use super::json::Primitive;
use super::json_extensions::VariantMapping;
use super::material::TextureNeeds;
use super::source::Source;
use crate::fault::check_cap;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::import::{RawPrimitive, Repair, RepairKind};

/// The primitives of the meshes that these nodes carry.
pub(super) fn read(
    source: &mut Source<'_>,
    carriers: &[usize],
    texture_needs: &[TextureNeeds],
    repairs: &mut Vec<Repair>,
) -> Result<Vec<RawPrimitive>> {
    let doc = source.doc;
    let mut reader = Reader {
        quantized: doc.uses("KHR_mesh_quantization"),
        source,
        texture_needs,
        vertices: 0,
        indices: 0,
        morph_targets: 0,
        morph_elements: 0,
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
    let mut visited = 0;
    for node in carriers {
        let carrier = &doc.nodes[*node];
        let Some(mesh) = carrier.mesh.map(|mesh| mesh as usize) else {
            continue;
        };
        let names = [&doc.meshes[mesh].name, &carrier.name];
        let mut given = names.into_iter().flatten().filter(|name| !name.is_empty());
        let name = given
            .next()
            .map_or_else(|| format!("mesh {mesh}").into(), |name| cut(name));
        let own = carrier.name.as_deref().filter(|name| !name.is_empty());
        let part: Box<str> = own.map_or_else(|| name.clone(), Into::into);
        for (number, primitive) in doc.meshes[mesh].primitives.iter().enumerate() {
            let at = At { mesh, number };
            let skin = carrier.skin.map(|skin| skin as usize);
            visited += 1;
            let cap = reader.source.options.limits.primitives as u64;
            at.check_cap("primitives", visited, cap)?;
            if let Some(mut raw) = reader.primitive(&at, primitive, skin)? {
                let names = (name.len() + part.len()) as u64;
                reader.source.charge(names, || at.object(""))?;
                raw.name = format!("{name}.{number}").into();
                raw.part.clone_from(&part);
                raw.node = *node;
                all.push(raw);
            }
        }
    }
    Ok(all)
}

/// The mappings from variants to materials of a primitive.
fn mappings(primitive: &Primitive) -> &[VariantMapping] {
    let extensions = primitive.extensions.as_ref();
    let of = extensions.and_then(|all| all.variants.as_ref());
    of.map_or(&[], |of| &of.mappings)
}

pub(super) struct At {
    mesh: usize,
    number: usize,
}

impl At {
    pub(super) fn object(&self, part: &str) -> Object {
        let dot = if part.is_empty() { "" } else { "." };
        let part = format!("primitives[{}]{dot}{part}", self.number);
        Object::new(ObjectKind::Mesh, self.mesh, part)
    }

    pub(super) fn fault(&self, part: &str, why: AssetFault) -> Error {
        Error::asset(self.object(part), why)
    }

    /// Fails if a count of the whole file exceeds its cap.
    pub(super) fn check_cap(&self, what: &'static str, asked: u64, cap: u64) -> Result<()> {
        check_cap(|| self.object(""), what, asked, cap)
    }
}

/// Reads meshes and counts what it has read.
pub(super) struct Reader<'r, 'a> {
    pub(super) source: &'r mut Source<'a>,
    /// One per material.
    pub(super) texture_needs: &'r [TextureNeeds],
    /// True if the file declares `KHR_mesh_quantization`.
    pub(super) quantized: bool,
    vertices: u64,
    pub(super) indices: u64,
    /// The number of morph targets read so far, and of their elements.
    pub(super) morph_targets: u64,
    pub(super) morph_elements: u64,
    repairs: &'r mut Vec<Repair>,
}

impl Reader<'_, '_> {
    fn check_references(&self, at: &At, primitive: &Primitive) -> Result<()> {
        let doc = self.source.doc;
        for (name, accessor) in primitive.attributes.iter() {
            let referrer = || at.object(&format!("attributes.{}", cut(name)));
            lookup(&doc.accessors, *accessor, "accessor", referrer)?;
        }
        if let Some(accessor) = primitive.indices {
            let referrer = || at.object("indices");
            lookup(&doc.accessors, accessor, "accessor", referrer)?;
        }
        if let Some(material) = primitive.material {
            let referrer = || at.object("material");
            lookup(&doc.materials, material, "material", referrer)?;
        }
        let variants = doc.extensions.variants.as_ref();
        let variants = variants.map_or(&[][..], |of| &of.variants);
        for (number, mapping) in mappings(primitive).iter().enumerate() {
            let part = format!("extensions.KHR_materials_variants.mappings[{number}]");
            let referrer = |of: &str| at.object(&format!("{part}.{of}"));
            lookup(&doc.materials, mapping.material, "material", || {
                referrer("material")
            })?;
            for variant in mapping.variants.iter() {
                lookup(variants, *variant, "variant", || referrer("variants"))?;
            }
        }
        match primitive.mode.unwrap_or(4) {
            0..=6 => Ok(()),
            mode => {
                let why = not_allowed("the mode", &mode.to_string(), "0 to 6");
                Err(at.fault("mode", why))
            }
        }
    }

    pub(super) fn leave_out(&mut self, at: &At, part: &str, kind: RepairKind, count: u64) {
        Repair::note(self.repairs, &at.object(part), kind, count);
    }

    /// The primitive, or `None` if nothing of it can be drawn.
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
        self.decompress(at, raw)?;
        let count = self.source.count(*position as usize);
        let cap = self.source.options.limits.vertices as u64;
        self.vertices = self.vertices.saturating_add(count);
        at.check_cap("vertices", self.vertices, cap)?;
        let mut primitive = RawPrimitive {
            mesh: at.mesh,
            number: at.number,
            skin,
            material: raw.material.map(|material| material as usize),
            positions: self.positions(at, raw)?,
            normals: self.normals(at, raw)?,
            tangents: self.tangents(at, raw)?,
            colors: self.colors(at, raw)?,
            indices: self.triangles(at, raw, mode, count)?,
            targets: self.targets(at, raw)?,
            ..RawPrimitive::default()
        };
        [primitive.uvs, primitive.uvs1] = self.texture_coordinates(at, raw)?;
        primitive.variants = self.variants(at, raw)?;
        if skin.is_some() && !self.influences(at, raw, &mut primitive)? {
            primitive.skin = None;
            self.leave_out(at, "", RepairKind::SkinWithoutInfluences, 1);
        }
        #[cfg(feature = "draco")]
        self.source.decoded.clear();
        Ok(Some(primitive))
    }

    /// The other materials that variants choose.
    ///
    /// Materials whose textures use other sets of texture coordinates than the primitive's own
    /// material are left out, because the primitive has only those of its material.
    fn variants(&mut self, at: &At, raw: &Primitive) -> Result<Vec<(usize, usize)>> {
        let needs = |material: usize| self.texture_needs.get(material);
        let sets = |material: usize| needs(material).map_or([None; 2], |needs| needs.uv_sets);
        let own = raw.material.map_or([None; 2], |of| sets(of as usize));
        let own = [own[0].or(Some(0)), own[1]];
        let mut all = Vec::new();
        let mut left_out = 0;
        for mapping in mappings(raw) {
            let material = mapping.material as usize;
            let fits = sets(material)
                .iter()
                .zip(own)
                .all(|(set, own)| set.is_none() || *set == own);
            if fits {
                all.extend(
                    mapping
                        .variants
                        .iter()
                        .map(|variant| (*variant as usize, material)),
                );
            } else {
                left_out += 1;
            }
        }
        self.source
            .charge(all.len() as u64 * 16, || at.object(""))?;
        let part = "extensions.KHR_materials_variants.mappings";
        self.leave_out(at, part, RepairKind::LeftOut, left_out);
        Ok(all)
    }

    /// Decodes the accessors that are compressed, for the reading of this primitive.
    #[cfg(feature = "draco")]
    fn decompress(&mut self, at: &At, raw: &Primitive) -> Result<()> {
        let extensions = raw.extensions.as_ref();
        if let Some(draco) = extensions.and_then(|all| all.draco.as_ref()) {
            let object = |part: &str| at.object(part);
            let decoded = super::draco::decode(self.source, raw, draco, &object)?;
            for one in decoded {
                let stated = self.source.doc.accessors[one.accessor].count;
                if one.count != stated {
                    let kind = RepairKind::DracoCount { stated };
                    self.leave_out(at, &one.part, kind, one.count);
                }
                let elements = (one.count, one.bytes.into());
                self.source.decoded.insert(one.accessor, elements);
            }
        }
        Ok(())
    }

    /// Rejects a primitive that is compressed, unless its accessors have uncompressed data too.
    #[cfg(not(feature = "draco"))]
    fn decompress(&mut self, at: &At, raw: &Primitive) -> Result<()> {
        let extensions = raw.extensions.as_ref();
        let Some(draco) = extensions.and_then(|all| all.draco.as_ref()) else {
            return Ok(());
        };
        let compressed = draco.attributes.keys();
        let compressed = compressed.filter_map(|name| raw.attributes.get(name));
        let mut compressed = compressed.chain(&raw.indices);
        let accessors = &self.source.doc.accessors;
        let is_absent = |accessor: &u64| {
            let accessor = accessors.get(*accessor as usize);
            accessor.is_some_and(|a| a.buffer_view.is_none() && a.sparse.is_none())
        };
        if compressed.any(is_absent) {
            let part = "extensions.KHR_draco_mesh_compression";
            let (extension, feature) = ("KHR_draco_mesh_compression", "draco");
            return Err(at.fault(part, AssetFault::NoDecoder { extension, feature }));
        }
        Ok(())
    }
}
