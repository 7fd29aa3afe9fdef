//! The map from source joints to the target joints that follow them.

use super::humanoid::Humanoid;
use super::words::loose;
use crate::error::{Error, Result, listed};
use crate::id::{Id, unknown};
use crate::skeleton::role::Role;
use crate::skeleton::{Joint, Skeleton, match_names};
use std::collections::{BTreeMap, HashMap};

/// A joint of the target and the source joint that it follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct JointLink {
    pub(super) target: Id<Joint>,
    pub(super) source: Id<Joint>,
    pub(super) toward: Option<(Id<Joint>, f32)>,
    pub(super) role: Option<Role>,
}

/// A map from the joints of a source skeleton to those of a target skeleton.
///
/// Each target joint follows at most one source joint. One source joint may move several target
/// joints.
///
/// ```
/// use throng::builtin;
/// use throng::retarget::{JointMap, Role};
///
/// let skeleton = builtin::mannequin()?.skeleton().clone();
/// let map = JointMap::humanoid(&skeleton, &skeleton)?;
/// assert!(map.pairs().all(|(source, target)| source == target));
/// assert_eq!(map.role(skeleton.joint("Hips")?), Some(Role::Hips));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointMap {
    links: Vec<JointLink>,
    unmatched_roles: Vec<UnmatchedRole>,
    /// The numbers of joints in the two skeletons.
    pub(super) joints: [usize; 2],
}

impl JointMap {
    /// Maps joints of the same name.
    ///
    /// 1. Joints whose names are identical. If several joints have the same name, their position in
    ///    the hierarchy decides.
    /// 2. Of the remaining joints, those whose names differ only in case, separators, namespaces
    ///    (`Armature|Hips`, `rig:Hips`) or Mixamo's prefix, if the match is unique.
    ///
    /// # Errors
    /// [`Error::NoCommonJoints`] if no joint matches.
    pub fn by_names(source: &Skeleton, target: &Skeleton) -> Result<Self> {
        let exact = match_names(source, target).of;
        let mut of_target: BTreeMap<Id<Joint>, Id<Joint>> = BTreeMap::new();
        for (source, target) in exact.iter().enumerate() {
            of_target.extend(target.map(|target| (Id::new(target), Id::new(source as u16))));
        }
        let mut by_name: HashMap<String, [Vec<Id<Joint>>; 2]> = HashMap::new();
        for (side, skeleton) in [source, target].into_iter().enumerate() {
            for (index, joint) in skeleton.joints().iter().enumerate() {
                let is_open = match side {
                    0 => exact[index].is_none(),
                    _ => !of_target.contains_key(&Id::new(index as u16)),
                };
                if is_open && !joint.name.is_empty() {
                    by_name.entry(loose(&joint.name)).or_default()[side]
                        .push(Id::new(index as u16));
                }
            }
        }
        for (name, sides) in by_name {
            if let ([source], [target], false) = (&*sides[0], &*sides[1], name.is_empty()) {
                of_target.insert(*target, *source);
            }
        }
        Self::of_pairs(of_target, source, target)
    }

    /// Maps joints by pairs of names, source first.
    ///
    /// If several joints have a name, the first one is used.
    ///
    /// # Errors
    /// - [`Error::UnknownName`] if no joint has a name.
    /// - [`Error::Argument`] if a target joint appears twice.
    /// - [`Error::NoCommonJoints`] if there are no pairs.
    pub fn from_pairs(
        source: &Skeleton,
        target: &Skeleton,
        pairs: &[(&str, &str)],
    ) -> Result<Self> {
        let mut of_target = BTreeMap::new();
        for (from, to) in pairs {
            let from = find(source, "source joint", from)?;
            let to = find(target, "target joint", to)?;
            if of_target.insert(to, from).is_some() {
                return Err(Error::invalid("pairs", "a target joint appears twice"));
            }
        }
        Self::of_pairs(of_target, source, target)
    }

    fn of_pairs(
        of_target: BTreeMap<Id<Joint>, Id<Joint>>,
        source: &Skeleton,
        target: &Skeleton,
    ) -> Result<Self> {
        let links = of_target.into_iter().map(|(target, source)| JointLink {
            target,
            source,
            toward: None,
            role: None,
        });
        Self::with_roles(links.collect(), source, target)
    }

    /// Maps joints of the same role, found by [`Humanoid::find`].
    ///
    /// Spines and necks with different numbers of joints distribute the bend. Each target joint
    /// follows the two source joints between which it lies, counted along the chain.
    ///
    /// # Errors
    /// [`Error::NoCommonJoints`] if the two have no role in common.
    pub fn humanoid(source: &Skeleton, target: &Skeleton) -> Result<Self> {
        Self::of_humanoids(
            (source, &Humanoid::find(source)),
            (target, &Humanoid::find(target)),
        )
    }

    fn of_humanoids(
        (source, from): (&Skeleton, &Humanoid),
        (target, to): (&Skeleton, &Humanoid),
    ) -> Result<Self> {
        let mut links: BTreeMap<Id<Joint>, JointLink> = BTreeMap::new();
        let role_of: HashMap<Id<Joint>, Role> =
            to.roles().map(|(role, joint)| (joint, role)).collect();
        let in_chain = |role| {
            matches!(
                role,
                Role::Spine | Role::Chest | Role::UpperChest | Role::Neck
            )
        };
        for (role, joint) in to.roles().filter(|(role, _)| !in_chain(*role)) {
            if let Some(source) = from.joint(role) {
                let link = JointLink {
                    target: joint,
                    source,
                    toward: None,
                    role: Some(role),
                };
                links.insert(joint, link);
            }
        }
        let hips = from.joint(Role::Hips);
        let chest = from.spine().last().copied().or(hips);
        for (base, chain, targets) in [
            (hips, from.spine(), to.spine()),
            (chest, from.neck(), to.neck()),
        ] {
            for mut link in shared(base, chain, targets) {
                link.role = role_of.get(&link.target).copied();
                links.entry(link.target).or_insert(link);
            }
        }
        let mut map = Self::of(links.into_values().collect(), source, target)?;
        for role in Role::all() {
            let in_source = from.joint(role).is_some();
            if in_source != to.joint(role).is_some() {
                map.unmatched_roles.push(UnmatchedRole { role, in_source });
            }
        }
        Ok(map)
    }

    /// Fills in the roles on which the names of both sides agree.
    fn with_roles(mut links: Vec<JointLink>, source: &Skeleton, target: &Skeleton) -> Result<Self> {
        let from = Humanoid::find(source);
        for (role, joint) in Humanoid::find(target).roles() {
            let at = links.binary_search_by_key(&joint, |link| link.target);
            if let Some(link) = at.ok().and_then(|at| links.get_mut(at))
                && from.joint(role) == Some(link.source)
            {
                link.role = Some(role);
            }
        }
        Self::of(links, source, target)
    }

    fn of(links: Vec<JointLink>, source: &Skeleton, target: &Skeleton) -> Result<Self> {
        if links.is_empty() {
            let names = |skeleton: &Skeleton| listed(skeleton.joints().iter().map(|j| &*j.name));
            return Err(Error::NoCommonJoints {
                file: Box::default(),
                from: names(source),
                to: names(target),
            });
        }
        Ok(Self {
            links,
            unmatched_roles: Vec::new(),
            joints: [source.len(), target.len()],
        })
    }

    /// The pairs of joints, source first, in the order of the target's joints.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (Id<Joint>, Id<Joint>)> {
        self.links.iter().map(|link| (link.source, link.target))
    }

    /// The source joint that a target joint follows, if any.
    #[must_use]
    pub fn source(&self, target: Id<Joint>) -> Option<Id<Joint>> {
        self.link(target).map(|link| link.source)
    }

    /// A second source joint that a target joint follows, and its weight, 0 to 1.
    ///
    /// Chains with different numbers of joints have them. The motion of the target joint is
    /// interpolated from that of its [`source`](Self::source) (weight 0) to that of this joint
    /// (weight 1).
    #[must_use]
    pub fn toward(&self, target: Id<Joint>) -> Option<(Id<Joint>, f32)> {
        self.link(target)?.toward
    }

    /// The humanoid role of a target joint and its source joint, if their names agree on one.
    ///
    /// In a [humanoid](Self::humanoid) map, it is the role of the target joint.
    #[must_use]
    pub fn role(&self, target: Id<Joint>) -> Option<Role> {
        self.link(target)?.role
    }

    /// The links, in the order of the target's joints.
    pub(super) fn links(&self) -> &[JointLink] {
        &self.links
    }

    fn link(&self, target: Id<Joint>) -> Option<&JointLink> {
        let at = self.links.binary_search_by_key(&target, |link| link.target);
        at.ok().and_then(|at| self.links.get(at))
    }

    /// The source joints that move no target joint by themselves.
    ///
    /// Their motion still affects the joints below them that do.
    pub fn unmatched_source(&self) -> impl Iterator<Item = Id<Joint>> {
        let mut used = vec![false; self.joints[0]];
        for link in &self.links {
            for joint in [Some(link.source), link.toward.map(|toward| toward.0)] {
                if let Some(used) = joint.and_then(|joint| used.get_mut(usize::from(joint))) {
                    *used = true;
                }
            }
        }
        (0..)
            .zip(used)
            .filter(|(_, used)| !used)
            .map(|(joint, _)| Id::new(joint))
    }

    /// The target joints that follow none. They keep their rest transform.
    pub fn unmatched_target(&self) -> impl Iterator<Item = Id<Joint>> {
        let count = self.joints[1].min(Skeleton::MAX_JOINTS) as u16;
        let all = (0..count).map(Id::new);
        all.filter(|joint| self.link(*joint).is_none())
    }

    /// The roles that only one of two humanoids has.
    ///
    /// Empty if the map was not made by [`humanoid`](Self::humanoid).
    #[must_use]
    pub fn unmatched_roles(&self) -> &[UnmatchedRole] {
        &self.unmatched_roles
    }
}

/// A role that only one of two humanoids has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnmatchedRole {
    /// The role.
    pub role: Role,
    /// True if the source has it, and false if the target has it.
    pub in_source: bool,
}

fn find(skeleton: &Skeleton, what: &'static str, name: &str) -> Result<Id<Joint>> {
    let names = skeleton.joints().iter().map(|joint| &*joint.name);
    let found = skeleton.joint(name);
    found.map_err(|_| unknown(what, name, names))
}

/// Distributes a chain of `n` joints over one of `m` joints.
///
/// Joint `k` of `m` follows position `k · n / m`. Position 0 is the joint before the chain.
fn shared(base: Option<Id<Joint>>, chain: &[Id<Joint>], targets: &[Id<Joint>]) -> Vec<JointLink> {
    let (n, m) = (chain.len(), targets.len());
    let source = |position: usize| match position.checked_sub(1) {
        None => base,
        Some(at) => chain.get(at).copied(),
    };
    let link = |(at, target): (usize, &Id<Joint>)| {
        let along = (at + 1) * n;
        let (position, rest) = (along / m, along % m);
        let toward = (rest > 0).then(|| Some((source(position + 1)?, rest as f32 / m as f32)));
        let toward = toward.flatten();
        let (source, toward) = match source(position) {
            Some(source) => (source, toward),
            None => (toward?.0, None),
        };
        Some(JointLink {
            target: *target,
            source,
            toward,
            role: None,
        })
    };
    if n == 0 {
        return Vec::new();
    }
    targets.iter().enumerate().filter_map(link).collect()
}
