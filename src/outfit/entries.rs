//! Palette entries of another character, for the joints of this one.

use super::options::OutfitOptions;
use super::report::OutfitIssue;
use crate::character::Character;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::mesh::{Aabb, PaletteJoint, linear};
use crate::retarget::JointMap;
use crate::skeleton::{Joint, Skeleton, rest_model_pose};
use glam::{Affine3A, DMat3, DVec3, Vec3};

/// The largest element of a change that counts as rounding of files.
const SAME: f64 = 1e-4;
/// Joints that lie closer together than this part of the character's size give no scale.
const SPREAD: f64 = 1e-2;

/// A palette entry that fits, and the names of a joint that is held and of the one that holds it.
pub(super) struct Entry {
    pub(super) entry: PaletteJoint,
    pub(super) distance_m: f32,
    pub(super) held: Option<(Box<str>, Box<str>)>,
}

/// The entries of the other character's palette on the skeleton of this one.
pub(super) struct Entries<'a> {
    /// The skeletons and rest poses: of this character, and of the other.
    skeletons: [&'a Skeleton; 2],
    rests: [Vec<Affine3A>; 2],
    /// For each joint of the other character, its match.
    of: Vec<Option<Id<Joint>>>,
    keep_binds: bool,
    allowed_m: f64,
    pub(super) scale: f64,
    translation_m: DVec3,
}

impl<'a> Entries<'a> {
    pub(super) fn new(
        own: &'a Character,
        other: &'a Character,
        options: &OutfitOptions,
    ) -> Result<Self> {
        let (far, most) = (options.max_distance, f32::MAX);
        if !(0.0..=most).contains(&far) {
            return Err(Error::out_of_range("max_distance", far, 0.0, most));
        }
        let skeletons = [own.skeleton(), other.skeleton()];
        let by_names = || JointMap::by_names(skeletons[1], skeletons[0]);
        let map = options.joints.clone().map_or_else(by_names, Ok)?;
        let size = f64::from(own.rest_bounds().size().max_element());
        let mut all = Self {
            rests: skeletons.map(rest_model_pose),
            skeletons,
            of: map.targets(skeletons[1], skeletons[0])?,
            keep_binds: options.keep_binds,
            allowed_m: match options.keep_binds {
                true => f64::INFINITY,
                false => f64::from(far) * size,
            },
            scale: 1.0,
            translation_m: DVec3::ZERO,
        };
        if !options.keep_binds {
            all.align(&all.followed(own, other), SPREAD * size);
        }
        Ok(all)
    }

    /// The positions at rest, here and there, of matched joints that vertices follow.
    fn followed(&self, own: &Character, other: &Character) -> Vec<[DVec3; 2]> {
        let mut used = [own, other].map(|one| vec![false; one.skeleton().len()]);
        for entry in own.palette() {
            used[0][entry.joint.index()] = true;
        }
        for entry in other.palette() {
            if let Some(joint) = self.nearest(entry.joint.index()) {
                used[1][joint] = true;
            }
        }
        let pairs = self.of.iter().enumerate();
        let pairs = pairs.filter_map(|(there, here)| Some((there, (*here)?.index())));
        let pairs = pairs.filter(|(there, here)| used[0][*here] || used[1][*there]);
        let pairs = pairs.map(|(there, here)| [self.origin(0, here), self.origin(1, there)]);
        pairs.collect()
    }

    /// The position of a joint at rest.
    fn origin(&self, side: usize, joint: usize) -> DVec3 {
        Vec3::from(self.rests[side][joint].translation).as_dvec3()
    }

    /// Finds the scale and the translation with the least squared distances between the pairs.
    fn align(&mut self, pairs: &[[DVec3; 2]], spread_m: f64) {
        let count = pairs.len().max(1) as f64;
        let middle = |side: usize| pairs.iter().map(|pair| pair[side]).sum::<DVec3>() / count;
        let middles = [middle(0), middle(1)];
        let away = |pair: &[DVec3; 2], side: usize| pair[side] - middles[side];
        let product = |a: usize, b: usize| -> f64 {
            let products = pairs.iter().map(|pair| away(pair, a).dot(away(pair, b)));
            products.sum::<f64>() / count
        };
        let scale = product(0, 1) / product(1, 1);
        let is_spread = product(0, 0).min(product(1, 1)).sqrt() > spread_m;
        if is_spread && scale > 0.0 && (scale - 1.0).abs() > SAME {
            self.scale = scale;
        }
        self.translation_m = middles[0] - self.scale * middles[1];
    }

    /// The nearest joint of the other character that has a match: the joint itself, or one above
    /// it.
    fn nearest(&self, mut joint: usize) -> Option<usize> {
        while self.of[joint].is_none() {
            joint = self.skeletons[1].joints()[joint].parent?.index();
        }
        Some(joint)
    }

    /// The entry with which vertices follow the match of their joint. If `may_hold`, it may be that
    /// of a joint above.
    pub(super) fn fit(&self, entry: &PaletteJoint, may_hold: bool) -> Result<Entry, OutfitIssue> {
        let own = entry.joint.index();
        let name = |side: usize, joint: usize| self.skeletons[side].joints()[joint].name.clone();
        let nearest = self.nearest(own);
        let Some(there) = nearest.filter(|joint| may_hold || *joint == own) else {
            return Err(OutfitIssue::MissingJoint {
                joint: name(1, own),
            });
        };
        let here = self.of[there].map_or(0, Id::index);
        let aligned = self.scale * self.origin(1, there) + self.translation_m;
        let distance_m = self.origin(0, here).distance(aligned);
        if distance_m.is_nan() || distance_m > self.allowed_m {
            return Err(OutfitIssue::TooFar {
                joint: name(1, there),
                distance_m: distance_m as f32,
                allowed_m: self.allowed_m as f32,
            });
        }
        let (mut bind, mut at) = (entry.inverse_bind, own);
        while at != there {
            let held = &self.skeletons[1].joints()[at];
            bind = held.rest.to_affine() * bind;
            at = held.parent.map_or(there, Id::index);
        }
        let rest = linear(&self.rests[0][here]);
        let change = self.scale * rest.inverse() * linear(&self.rests[1][there]);
        if !self.keep_binds && !change.abs_diff_eq(DMat3::IDENTITY, SAME) {
            let offset = change * Vec3::from(bind.translation).as_dvec3();
            let matrix = (change * linear(&bind)).as_mat3();
            bind = Affine3A::from_mat3_translation(matrix, offset.as_vec3());
        }
        let flipped = (rest * linear(&bind)).determinant() < 0.0;
        if !bind.is_finite() || flipped != entry.flipped {
            return Err(OutfitIssue::Mirrored {
                joint: name(1, there),
            });
        }
        Ok(Entry {
            entry: PaletteJoint {
                joint: Id::new(here as u16),
                inverse_bind: bind,
                bounds: Aabb::EMPTY,
                ..*entry
            },
            distance_m: distance_m as f32,
            held: (there != own).then(|| (name(1, own), name(0, here))),
        })
    }
}
