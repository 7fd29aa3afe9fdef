//! Merges parts of another character into one.

use super::entries::{Entries, Entry};
use super::options::OutfitOptions;
use super::report::{AddedPart, LeftOutPart, OutfitIssue, OutfitReport};
use crate::character::Character;
use crate::error::Result;
use crate::id::Id;
use crate::mesh::{
    Aabb, Image, JointIndices, Model, MorphWeight, PaletteJoint, PartId, Parts, Primitive,
    VariantId, bound_entries, hub_reaches, morph_reaches,
};
use crate::palette::rest_palette;
use crate::skin::{PosedVertices, skin_linear};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The most entries of a palette that any primitive can address, because indices have 16 bits.
const MAX_ENTRIES: usize = 1 << 16;

impl Character {
    /// The same character with parts of another one, which follow its joints.
    ///
    /// Several bodies and garments become one character: one skeleton, one palette and one set of
    /// draws. Skeleton, clips and animation data are those of this character. Its parts, primitives
    /// and palette entries keep their order, and new ones follow. [`crate::outfit`] says how joints
    /// are matched and how parts of similar skeletons are fitted.
    ///
    /// Materials, material variants, images and morph targets come along. Equal materials and
    /// images are shared, and so are variants of the same name. Parts that do not fit are left out
    /// as a whole, with the reason in the report. Ids of parts are those of one character, so find
    /// them again in the new one. An instance begins with every part: pass the [ids of the added
    /// ones](OutfitReport::added) to [`Spawn::hidden_parts`](crate::Spawn::hidden_parts) to hide
    /// them.
    ///
    /// - Expressions, spring bones, sockets and clips of the other character are left out.
    /// - Levels of detail are left out, because they show the characters as they were. Make new
    ///   ones afterwards, with `with_levels`. An instance that hides parts keeps to those that are
    ///   not one mesh of the whole character.
    /// - Clips stay as they were packed, so [their errors](crate::clip::ClipReport::error_m) do not
    ///   cover the new vertices. A tip far from its joint errs in proportion to the distance.
    /// - Each instance has palette entries for all parts, also for those that it hides.
    ///
    /// ```
    /// use throng::glam::Vec3;
    /// use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
    /// use throng::outfit::OutfitOptions;
    ///
    /// // Another file with the same skeleton: its only mesh is a box around the head.
    /// let mut hat = RawCharacter::mannequin();
    /// let head = hat.nodes.iter().position(|node| &*node.name == "Head").unwrap();
    /// hat.primitives = vec![RawPrimitive {
    ///     part: "hat".into(),
    ///     node: head,
    ///     ..RawPrimitive::cuboid(Vec3::splat(0.3))
    /// }];
    /// let hat = hat.build(&ImportOptions::curves_only())?.character;
    ///
    /// let body = throng::builtin::mannequin()?.character;
    /// let (dressed, report) = body.with_parts_of(&hat, &OutfitOptions::default())?;
    /// assert!(report.left_out.is_empty());
    /// assert_eq!(dressed.part("hat")?, report.added[0].part);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::UnknownName`](crate::Error::UnknownName) for a part of the options that the other
    ///   character does not have.
    /// - [`Error::NoCommonJoints`](crate::Error::NoCommonJoints) if no joint matches.
    /// - [`Error::Argument`](crate::Error::Argument) for an option outside of its range, or a map
    ///   of other skeletons.
    /// - [`Error::At`](crate::Error::At) with the index of a primitive or palette entry that can
    ///   exceed [`Self::MAX_EXTENT`].
    #[doc(alias = "modular character")]
    #[doc(alias = "garment")]
    #[doc(alias = "skeletal mesh merge")]
    pub fn with_parts_of(
        &self,
        other: &Self,
        options: &OutfitOptions,
    ) -> Result<(Self, OutfitReport)> {
        let (own, other) = (self.clone(), other.clone().without_levels());
        let own = own.without_levels();
        let entries = Entries::new(self, &other, options)?;
        let mut report = OutfitReport {
            levels_left_out: self.level_count(),
            scale: entries.scale as f32,
            ..OutfitReport::default()
        };
        let mut merged = Merged::new(&own, &other, options);
        let mut added = Vec::new();
        for part in chosen(&other, options)? {
            let original = part[0].part.clone();
            match merged.fitted(&part, &entries) {
                Ok(fitted) => {
                    merged.add(&part, &fitted, &mut report);
                    let distances = fitted.values().map(|one| one.distance_m);
                    let distance_m = distances.fold(0.0, f32::max);
                    added.push((merged.renamed(&part[0].part), original, distance_m));
                }
                Err(why) => report.left_out.push(LeftOutPart {
                    name: original,
                    why,
                }),
            }
        }
        report.held.sort();
        report.held.dedup();
        let dressed = own.with_meshes_of(merged.finish(own.primitives().len())?)?;
        for (name, original, distance_m) in added {
            report.added.push(AddedPart {
                part: dressed.part(&name)?,
                name,
                original,
                distance_m,
            });
        }
        Ok((dressed, report))
    }
}

/// The primitives of each part that the options name, at least one.
fn chosen<'a>(other: &'a Character, options: &OutfitOptions) -> Result<Vec<Vec<&'a Primitive>>> {
    let all = other.primitives();
    let mut is_chosen = vec![options.parts.is_empty(); all.len()];
    for name in &options.parts {
        other.part(name)?;
        let is_node = all.iter().any(|one| one.part == *name);
        for (one, is_chosen) in all.iter().zip(&mut is_chosen) {
            *is_chosen |= one.part == *name || !is_node && one.name == *name;
        }
    }
    let (mut parts, mut known) = (Vec::new(), HashMap::new());
    for (primitive, _) in all.iter().zip(is_chosen).filter(|(_, chosen)| *chosen) {
        let index = *known.entry(&primitive.part).or_insert(parts.len());
        if index == parts.len() {
            parts.push(Vec::new());
        }
        parts[index].push(primitive);
    }
    Ok(parts)
}

/// The number of primitives with names of their own.
fn count<'a>(primitives: impl IntoIterator<Item = &'a Primitive>) -> usize {
    let names = primitives.into_iter().map(|one| (&one.part, &one.name));
    names.collect::<HashSet<_>>().len()
}

/// The entries of a part, by their index in the palette of the other character.
type Fitted = BTreeMap<u32, Entry>;

/// The model of this character, with parts of the other.
struct Merged<'a> {
    model: Model,
    other: &'a Character,
    options: &'a OutfitOptions,
    /// The number of primitives that can be hidden.
    hideable: usize,
    /// The names of parts, and the new name for each old one.
    taken: HashSet<String>,
    names: HashMap<&'a str, Box<str>>,
    /// The first position of each joint and matrix in the palette.
    positions: HashMap<(u16, [u32; 12]), u32>,
    /// The new index of each material of the other character that is used.
    materials: HashMap<u32, u32>,
    /// The new first weight, by the old one and the number of weights.
    weights: HashMap<(u16, usize), Id<MorphWeight>>,
}

/// A joint and a matrix. Adding 0 makes −0 and 0 the same.
fn key(entry: &PaletteJoint) -> (u16, [u32; 12]) {
    let columns = entry.inverse_bind.to_cols_array();
    (entry.joint.0, columns.map(|value| (value + 0.0).to_bits()))
}

impl<'a> Merged<'a> {
    fn new(own: &Character, other: &'a Character, options: &'a OutfitOptions) -> Self {
        let mut positions = HashMap::new();
        for (position, entry) in (0..).zip(own.palette()) {
            positions.entry(key(entry)).or_insert(position);
        }
        Self {
            model: own.model().clone(),
            other,
            options,
            hideable: count(own.primitives()),
            taken: own.parts().map(|(_, name)| name.to_owned()).collect(),
            names: HashMap::new(),
            positions,
            materials: HashMap::new(),
            weights: HashMap::new(),
        }
    }

    /// The entries of a part. Fails if one does not fit, or if the part exceeds a limit.
    fn fitted(&self, part: &[&Primitive], entries: &Entries<'_>) -> Result<Fitted, OutfitIssue> {
        let mut fitted = Fitted::new();
        for primitive in part {
            let joints = (0..primitive.joints.len()).map(|at| primitive.joints.get(at) as u32);
            let used: BTreeSet<u32> = joints.map(|at| primitive.palette.start + at).collect();
            let may_hold = self.options.hold_joints || used.len() == 1;
            for index in used {
                let entry = &self.other.palette()[index as usize];
                fitted.insert(index, entries.fit(entry, may_hold)?);
            }
        }
        let weights = part.iter().map(|one| one.targets.len()).sum::<usize>();
        let limits = [
            (
                "primitives that can be hidden",
                self.hideable + count(part.iter().copied()),
                PartId::MAX_HIDEABLE,
            ),
            (
                "morph weights",
                self.model.morph_weights.len() + weights,
                MorphWeight::MAX_COUNT,
            ),
            (
                "material variants",
                self.model.variants.len() + self.other.variants().len(),
                u16::MAX.into(),
            ),
            (
                "palette entries",
                self.model.palette.len() + fitted.len(),
                MAX_ENTRIES,
            ),
        ];
        match limits.into_iter().find(|(_, asked, cap)| asked > cap) {
            None => Ok(fitted),
            Some((what, asked, cap)) => Err(OutfitIssue::Limit { what, asked, cap }),
        }
    }

    fn add(&mut self, part: &[&'a Primitive], fitted: &Fitted, report: &mut OutfitReport) {
        self.hideable += count(part.iter().copied());
        for primitive in part {
            let mut new = Primitive {
                name: self.renamed(&primitive.name),
                part: self.renamed(&primitive.part),
                material: self.material(primitive.material),
                variants: self.variants(primitive),
                first_weight: self.first_weight(primitive, report),
                ..(*primitive).clone()
            };
            let joints = (0..new.joints.len()).map(|at| new.joints.get(at) as u32);
            let entries = joints.filter_map(|at| fitted.get(&(primitive.palette.start + at)));
            let positions: Vec<u32> = entries.map(|one| self.position(&one.entry)).collect();
            let first = positions.iter().copied().min().unwrap_or(0);
            new.palette = first..positions.iter().max().map_or(first, |last| last + 1);
            new.joints = JointIndices::packed(&positions, &new.palette);
            self.model.primitives.push(new);
        }
        let held = fitted.values().filter_map(|one| one.held.clone());
        report.held.extend(held);
    }

    /// The prefix and the old name, and the first free number after it if another part has it.
    fn renamed(&mut self, old: &'a str) -> Box<str> {
        let (prefix, taken) = (&self.options.prefix, &mut self.taken);
        let new = self.names.entry(old).or_insert_with(|| {
            let name = format!("{prefix}{old}");
            let numbered = (2..).map(|number| format!("{name} ({number})"));
            let mut names = core::iter::once(name.clone()).chain(numbered);
            // There are fewer names than numbers.
            let free = names.find(|name| taken.insert(name.clone()));
            free.unwrap_or_default().into()
        });
        new.clone()
    }

    /// The position of an entry in the palette, which it is appended to if it is new.
    fn position(&mut self, entry: &PaletteJoint) -> u32 {
        let next = self.model.palette.len() as u32;
        let position = *self.positions.entry(key(entry)).or_insert(next);
        if position == next {
            self.model.palette.push(*entry);
        }
        position
    }

    /// The weight that drives the first target of a primitive of the other character.
    fn first_weight(&mut self, of: &Primitive, report: &mut OutfitReport) -> Id<MorphWeight> {
        let run = (of.first_weight.0, of.targets.len());
        if run.1 == 0 {
            return Id::default();
        }
        let (all, options) = (&mut self.model.morph_weights, self.options);
        *self.weights.entry(run).or_insert_with(|| {
            // The number of weights is checked.
            let new = Id::new(all.len() as u16);
            let known: HashSet<Box<str>> = all.iter().map(|own| own.name.clone()).collect();
            let weights = self.other.morph_weights().iter();
            for weight in weights.skip(usize::from(run.0)).take(run.1) {
                if !weight.name.is_empty() && known.contains(&weight.name) {
                    report.same_morphs.push(weight.name.clone());
                }
                all.push(MorphWeight {
                    owner: format!("{}{}", options.prefix, weight.owner).into(),
                    ..weight.clone()
                });
            }
            new
        })
    }

    /// The materials of a primitive of the other character in the variants of the same names, which
    /// are added unless there are some.
    fn variants(&mut self, of: &Primitive) -> Vec<(VariantId, u32)> {
        let mut materials = BTreeMap::new();
        for (variant, material) in &of.variants {
            let Some(variant) = self.other.variants().get(variant.index()) else {
                continue;
            };
            let variant = index_of(&mut self.model.variants, variant, PartialEq::eq);
            // The number of variants is checked. Of several with one name, the first counts.
            let (variant, material) = (Id::new(variant as u16), self.material(*material));
            materials.entry(variant).or_insert(material);
        }
        materials.into_iter().collect()
    }

    /// The index of a material of the other character, which is added unless there is an equal one.
    fn material(&mut self, index: u32) -> u32 {
        let (model, other) = (&mut self.model, self.other);
        *self.materials.entry(index).or_insert_with(|| {
            let mut material = other.materials()[index as usize].clone();
            for texture in material.textures_mut().into_iter().flatten() {
                let image = &other.images()[texture.image as usize];
                texture.image = index_of(&mut model.images, image, Image::same_texels);
            }
            index_of(&mut model.materials, &material, PartialEq::eq)
        })
    }

    /// The model, of which so many primitives are this character's own.
    fn finish(self, own: usize) -> Result<Model> {
        let mut model = self.model;
        bound_entries(&mut model.palette, &model.primitives[own..]);
        model.hub_reaches = hub_reaches(&model.skeleton, &model.palette, &model.primitives);
        model.morph_reaches = morph_reaches(&model.primitives);
        model.parts = Parts::new(&model.primitives);
        if own == 0 {
            model.rest_bounds = Aabb::EMPTY;
        }
        let rest = rest_palette(&model)?;
        let weights: Vec<f32> = model.morph_weights.iter().map(|one| one.rest).collect();
        let mut posed = PosedVertices::default();
        for primitive in &model.primitives[own..] {
            skin_linear(primitive, &rest, &weights, &mut posed)?;
            let points = posed.positions.iter();
            model.rest_bounds = points.fold(model.rest_bounds, |all, at| all.with_point(*at));
        }
        Ok(model)
    }
}

/// The index of an element that is the same, or of a copy that is appended.
fn index_of<T: Clone>(list: &mut Vec<T>, new: &T, same: impl Fn(&T, &T) -> bool) -> u32 {
    let found = list.iter().position(|old| same(old, new));
    found.unwrap_or_else(|| {
        list.push(new.clone());
        list.len() - 1
    }) as u32
}
