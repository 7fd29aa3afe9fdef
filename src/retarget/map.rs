//! The map from source joints to the target joints that follow them.

use super::humanoid::Humanoid;
use super::options::is_vrm_pair;
use super::words::{loose, without_number};
use crate::error::{Error, Result, expect_len, listed};
use crate::id::{Id, unknown};
use crate::skeleton::role::Role;
use crate::skeleton::{Joint, Skeleton, match_names};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A joint of the target and the source joint that it follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointLink {
    /// The joint of the target.
    pub target: Id<Joint>,
    /// The source joint that it follows.
    pub source: Id<Joint>,
    /// A second source joint that it follows.
    ///
    /// Chains with different numbers of joints have them. The motion of the target joint is
    /// interpolated from that of `source` to that of this joint.
    pub second_source: Option<Id<Joint>>,
    /// The weight of the second source joint, from 0 to 1. It is 0 if there is none.
    pub second_weight: f32,
    /// The humanoid role of both joints, if their names agree on one.
    ///
    /// In a [humanoid](JointMap::humanoid) map, it is the role of the target joint.
    pub role: Option<Role>,
}

impl JointLink {
    pub(super) fn new(source: Id<Joint>, target: Id<Joint>) -> Self {
        Self {
            target,
            source,
            second_source: None,
            second_weight: 0.0,
            role: None,
        }
    }

    pub(super) fn is_hips(&self) -> bool {
        self.role == Some(Role::Hips)
    }
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
/// assert!(map.links().iter().all(|link| link.source == link.target));
/// let hips = skeleton.joint("Hips")?;
/// let hips = map.links().iter().find(|link| link.target == hips);
/// assert_eq!(hips.and_then(|link| link.role), Some(Role::Hips));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointMap {
    pub(super) links: Vec<JointLink>,
    /// The roles that only the source has, and those that only the target has.
    unmatched_roles: [Vec<Role>; 2],
    /// The numbers of joints in the two skeletons.
    pub(super) joints: [usize; 2],
    /// The joints of the source that are mapped, ascending. `None`: all of them.
    pub(super) part: Option<Box<[u16]>>,
}

impl JointMap {
    /// Maps joints of the same name.
    ///
    /// 1. Joints whose names are identical. If several joints have the same name, their position in
    ///    the hierarchy decides.
    /// 2. Of the remaining joints, those whose names differ only in case, separators, namespaces
    ///    (`Armature|Hips`, `rig:Hips`) or Mixamo's prefix, if the match is unique.
    /// 3. Of the remaining joints, those of the source whose names only have a number more
    ///    (`Hips_1`, `Hips.001`), if the match is unique and holds for at least half of the joints
    ///    with that number. Programs tell equal names apart like this.
    ///
    /// # Errors
    /// [`Error::NoCommonJoints`] if no joint matches.
    pub fn by_names(source: &Skeleton, target: &Skeleton) -> Result<Self> {
        let exact = match_names(source, target).of;
        let mut of_target = vec![None; target.len()];
        for (source, target) in exact.iter().enumerate() {
            if let Some(target) = target {
                of_target[usize::from(*target)] = Some(Id::new(source as u16));
            }
        }
        let open = |index: &u16| exact[usize::from(*index)].is_none();
        let open: Vec<u16> = (0..source.len() as u16).filter(open).collect();
        let name = |joint: u16| &*source.joints()[usize::from(joint)].name;
        let all = open.iter().map(|joint| (*joint, loose(name(*joint))));
        match_unique(all, &mut of_target, target, 1);
        let matched: HashSet<Id<Joint>> = of_target.iter().flatten().copied().collect();
        let mut by_number: BTreeMap<&str, Vec<(u16, String)>> = BTreeMap::new();
        for joint in open {
            let (stem, number) = without_number(name(joint));
            if !number.is_empty() && !matched.contains(&Id::new(joint)) {
                by_number
                    .entry(number)
                    .or_default()
                    .push((joint, loose(stem)));
            }
        }
        for joints in by_number.into_values() {
            let least = joints.len().div_ceil(2);
            match_unique(joints.into_iter(), &mut of_target, target, least);
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
        let mut of_target = vec![None; target.len()];
        for (from, to) in pairs {
            let from = find(source, "source joint", from)?;
            let to = find(target, "target joint", to)?;
            if of_target[usize::from(to)].replace(from).is_some() {
                return Err(Error::invalid("pairs", "a target joint appears twice"));
            }
        }
        Self::of_pairs(of_target, source, target)
    }

    fn of_pairs(
        of_target: Vec<Option<Id<Joint>>>,
        source: &Skeleton,
        target: &Skeleton,
    ) -> Result<Self> {
        let links = (0..).zip(of_target);
        let links =
            links.filter_map(|(target, source)| Some(JointLink::new(source?, Id::new(target))));
        Self::with_roles(links.collect(), source, target)
    }

    /// Maps joints of the same role, found by [`Skeleton::humanoid`].
    ///
    /// Spines and necks with different numbers of joints distribute the bend. Each target joint
    /// follows the two source joints between which it lies, counted along the chain.
    ///
    /// The clips of a VRM Animation are an exception on a VRM model: joints follow the one that has
    /// the same role in its file, or none. See [the module](crate::retarget#vrm-animations).
    ///
    /// # Errors
    /// [`Error::NoCommonJoints`] if the two have no role in common.
    pub fn humanoid(source: &Skeleton, target: &Skeleton) -> Result<Self> {
        let of_vrm = is_vrm_pair(source, target);
        let [from, to] = [source, target].map(|skeleton| match of_vrm {
            true => Humanoid::stated(skeleton),
            false => Humanoid::find(skeleton),
        });
        let links = match of_vrm {
            true => Self::of_roles(&from, &to),
            false => Self::of_humanoids(&from, &to, target.len()),
        };
        let mut map = Self::of(links, source, target)?;
        for role in Role::all() {
            match [&from, &to].map(|humanoid| humanoid.joint(role).is_some()) {
                [true, false] => map.unmatched_roles[0].push(role),
                [false, true] => map.unmatched_roles[1].push(role),
                _ => {}
            }
        }
        Ok(map)
    }

    /// The joints that have the same role in both.
    fn of_roles(from: &Humanoid, to: &Humanoid) -> Vec<JointLink> {
        let links = to.roles().filter_map(|(role, joint)| {
            Some(JointLink {
                role: Some(role),
                ..JointLink::new(from.joint(role)?, joint)
            })
        });
        let mut links: Vec<JointLink> = links.collect();
        links.sort_by_key(|link| link.target);
        links
    }

    fn of_humanoids(from: &Humanoid, to: &Humanoid, joints: usize) -> Vec<JointLink> {
        let mut links: Vec<Option<JointLink>> = vec![None; joints];
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
                    role: Some(role),
                    ..JointLink::new(source, joint)
                };
                links[usize::from(joint)] = Some(link);
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
                links[usize::from(link.target)].get_or_insert(link);
            }
        }
        links.into_iter().flatten().collect()
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
            unmatched_roles: Default::default(),
            joints: [source.len(), target.len()],
            part: None,
        })
    }

    /// The joints of the target that follow a source joint, in the order of the target's joints.
    #[must_use]
    pub fn links(&self) -> &[JointLink] {
        &self.links
    }

    /// The link of a target joint, if it follows a source joint.
    pub(crate) fn link(&self, target: Id<Joint>) -> Option<&JointLink> {
        let at = self.links.binary_search_by_key(&target, |link| link.target);
        at.ok().and_then(|at| self.links.get(at))
    }

    /// For each joint of the source, the first joint of the target that follows it.
    ///
    /// # Errors
    /// [`Error::Argument`] if the map is for other skeletons.
    pub(crate) fn targets(
        &self,
        source: &Skeleton,
        target: &Skeleton,
    ) -> Result<Vec<Option<Id<Joint>>>> {
        expect_len("joints of the map's source", source.len(), self.joints[0])?;
        expect_len("joints of the map's target", target.len(), self.joints[1])?;
        let mut of = vec![None; source.len()];
        for link in &self.links {
            of[link.source.index()].get_or_insert(link.target);
        }
        Ok(of)
    }

    /// The number of source joints that the map is for.
    ///
    /// These are all joints, or those of some armatures and the joints above them. See
    /// [`Self::for_clip`].
    pub(crate) fn source_len(&self) -> usize {
        self.part.as_ref().map_or(self.joints[0], |part| part.len())
    }

    /// The joints of the source and of the target that found no partner.
    ///
    /// Source joints without one move no target joint by themselves, but their motion still affects
    /// the joints below them that do. Source joints that the map is not for are left out, see
    /// [`Self::for_clip`]. Target joints without one keep their rest transform.
    #[must_use]
    pub fn unmatched_joints(&self) -> [Vec<Id<Joint>>; 2] {
        let mut used = vec![false; self.joints[0]];
        for link in &self.links {
            for joint in [Some(link.source), link.second_source] {
                if let Some(used) = joint.and_then(|joint| used.get_mut(usize::from(joint))) {
                    *used = true;
                }
            }
        }
        let is_mapped = |joint: &u16| {
            let part = self.part.as_ref();
            part.is_none_or(|part| part.binary_search(joint).is_ok())
        };
        let unused = (0..).zip(used).filter(|(_, used)| !used);
        let unused = unused.map(|(joint, _)| joint).filter(is_mapped);
        let count = self.joints[1].min(Skeleton::MAX_JOINTS) as u16;
        let all = (0..count).map(Id::new);
        [
            unused.map(Id::new).collect(),
            all.filter(|joint| self.link(*joint).is_none()).collect(),
        ]
    }

    /// The roles that only the source has, and those that only the target has.
    ///
    /// Empty if the map was not made by [`humanoid`](Self::humanoid).
    #[must_use]
    pub fn unmatched_roles(&self) -> &[Vec<Role>; 2] {
        &self.unmatched_roles
    }
}

/// Matches joints of the source with these names, unless fewer than `least` are matched.
///
/// A joint of the target that follows none is matched if its name, in the same form, occurs once on
/// both sides.
fn match_unique(
    source: impl Iterator<Item = (u16, String)>,
    of_target: &mut [Option<Id<Joint>>],
    target: &Skeleton,
    least: usize,
) {
    let mut by_name: HashMap<String, [Vec<u16>; 2]> = HashMap::new();
    for (joint, name) in source {
        by_name.entry(name).or_default()[0].push(joint);
    }
    for (index, joint) in (0..).zip(target.joints()) {
        if of_target[usize::from(index)].is_none() {
            by_name.entry(loose(&joint.name)).or_default()[1].push(index);
        }
    }
    let pairs = by_name.into_iter().filter_map(|(name, sides)| {
        match sides.each_ref().map(|side| &side[..]) {
            [[source], [target]] if !name.is_empty() => Some((*source, *target)),
            _ => None,
        }
    });
    let pairs: Vec<(u16, u16)> = pairs.collect();
    if pairs.len() >= least {
        for (source, target) in pairs {
            of_target[usize::from(target)] = Some(Id::new(source));
        }
    }
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
        let second = (rest > 0).then(|| source(position + 1)).flatten();
        let Some(source) = source(position) else {
            return second.map(|second| JointLink::new(second, *target));
        };
        Some(JointLink {
            second_source: second,
            second_weight: second.map_or(0.0, |_| rest as f32 / m as f32),
            ..JointLink::new(source, *target)
        })
    };
    if n == 0 {
        return Vec::new();
    }
    targets.iter().enumerate().filter_map(link).collect()
}
