//! The parts of a character that an export leaves out or changes.

use throng::Id;
use throng::character::Character;

/// A kind of part that an export leaves out or changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Omission {
    /// Extracted root motion of clips. The clips stay in place.
    #[error("root motion of clips left out")]
    RootMotion,
    /// Chains of spring bones.
    #[error("chains of spring bones left out")]
    SpringChains,
    /// Expressions. Their morph targets are written.
    #[error("expressions left out")]
    Expressions,
    /// Primitives without triangles.
    #[error("primitives without triangles left out")]
    NoTriangles,
    /// Materials whose vertex alpha is a tint mask. In glTF it is opacity.
    #[error("tint masks of materials left out")]
    TintByAlpha,
    /// Material variants. Primitives have the materials of the file.
    #[error("material variants left out")]
    Variants,
    /// Vertex colours outside 0 to 1, which were clamped.
    #[error("vertex colours clamped to 0 to 1")]
    ColorsClamped,
    /// Morph weights that no written primitive has.
    #[error("morph weights without a mesh left out")]
    UnusedWeights,
    /// Spline keys of rotations that were not of unit length, which were normalised.
    #[error("spline keys of rotations normalised")]
    SplineKeysNormalised,
    /// Tracks of weights with steps or splines, which were sampled because they drive a part of a
    /// mesh's weights.
    #[error("tracks of morph weights sampled")]
    WeightsSampled,
    /// Additive tracks on joints whose rest scale is 0, which have no difference.
    #[error("additive scale tracks of joints of scale 0 left out")]
    AdditiveScale,
    /// Nodes that were added, because vertices of one mesh follow a joint in several ways. An
    /// import makes them joints.
    #[error("nodes added for skins")]
    NodesAdded,
    /// Additive clips and roles that the description cannot name, because names are missing or not
    /// unique.
    #[error("additive clips and roles without a unique name left out")]
    Unnamed,
}

/// The kinds with the number of such parts, each kind once.
#[derive(Debug, Default)]
pub(super) struct Omissions {
    pub(super) list: Vec<(Omission, u64)>,
}

impl Omissions {
    /// Counts parts, unless there are none.
    pub(super) fn add(&mut self, kind: Omission, count: usize) {
        let known = self.list.iter_mut().find(|(one, _)| *one == kind);
        match known {
            _ if count == 0 => {}
            Some((_, known)) => *known += count as u64,
            None => self.list.push((kind, count as u64)),
        }
    }

    /// Counts the parts that no other step of the export looks at.
    pub(super) fn rest_of(&mut self, character: &Character) {
        let clips = character.clips().len().max(character.curves().len());
        let moving = (0..clips).filter(|clip| {
            let clip = Id::new(*clip as u16);
            let motion = character.root_motion(clip);
            motion.is_some_and(|motion| motion.joint().is_some() || motion.is_still())
        });
        self.add(Omission::RootMotion, moving.count());
        let chains = character.springs().chains.len();
        self.add(Omission::SpringChains, chains);
        self.add(Omission::Expressions, character.expressions().len());
        let tinted = character.materials().iter().filter(|of| of.tint_by_alpha);
        self.add(Omission::TintByAlpha, tinted.count());
        self.add(Omission::Variants, character.variants().len());
    }
}
