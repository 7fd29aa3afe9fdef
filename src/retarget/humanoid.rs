//! Finds the joints of a skeleton that are the parts of a humanoid.

use super::words::{BodyPart, BoneCopy, Named, named};
use crate::id::Id;
use crate::order;
use crate::skeleton::role::{Finger, Role, Side};
use crate::skeleton::{Joint, NO_PARENT, Skeleton};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

impl Skeleton {
    /// Finds the joints of a humanoid, by their roles. There may be none.
    ///
    /// They are [`Skeleton::roles`], if there are any (VRM files set them). The other joints are
    /// found by name. If several joints have a suitable name, the hierarchy decides.
    ///
    /// These naming schemes are known:
    ///
    /// - Mixamo (`mixamorig:LeftForeArm`)
    /// - Unreal (`lowerarm_l`)
    /// - VRM (`J_Bip_L_LowerArm`, and the humanoid bones' own `leftLowerArm`)
    /// - Blender's Rigify (`DEF-forearm.L`, `ORG-forearm.L`, the metarig's `forearm.L`)
    /// - Biped (`Bip01 L Forearm`)
    /// - Names of the same words in another order or with other separators
    ///
    /// Twist joints, controls and ends of chains are ignored. Left and right are told by names
    /// alone.
    ///
    /// ```
    /// use throng::builtin;
    /// use throng::retarget::Role;
    ///
    /// let character = builtin::mannequin()?.character;
    /// let humanoid = character.skeleton().humanoid();
    /// assert_eq!(humanoid[&Role::Hips], character.skeleton().joint("Hips")?);
    /// # Ok::<(), throng::Error>(())
    /// ```
    #[must_use]
    pub fn humanoid(&self) -> BTreeMap<Role, Id<Joint>> {
        Humanoid::find(self).roles
    }
}

/// The joints of a humanoid.
#[derive(Debug, Default)]
pub(super) struct Humanoid {
    roles: BTreeMap<Role, Id<Joint>>,
    spine: Vec<Id<Joint>>,
    neck: Vec<Id<Joint>>,
}

impl Humanoid {
    /// Finds the humanoid of a skeleton, which may be empty.
    pub(super) fn find(skeleton: &Skeleton) -> Self {
        let mut search = Search::new(skeleton);
        for side in Side::BOTH {
            search.arm(side);
            search.leg(side);
            for finger in Finger::ALL {
                search.finger(side, finger);
            }
            let eye = search.best(BodyPart::Eye, Some(side), None);
            search.set(Role::LeftEye.on(side), eye);
        }
        search.trunk();
        search.found
    }

    /// The joints that the skeleton's file states, without those that only have a suitable name.
    pub(super) fn stated(skeleton: &Skeleton) -> Self {
        Self {
            roles: skeleton.roles().iter().copied().collect(),
            ..Self::default()
        }
    }

    /// The joint of a role, if it was found.
    pub(super) fn joint(&self, role: Role) -> Option<Id<Joint>> {
        self.roles.get(&role).copied()
    }

    /// The roles that were found, with their joints.
    pub(super) fn roles(&self) -> impl Iterator<Item = (Role, Id<Joint>)> {
        self.roles.iter().map(|(role, joint)| (*role, *joint))
    }

    /// All joints of the spine, from above the hips on. At most three of them have a role.
    pub(super) fn spine(&self) -> &[Id<Joint>] {
        &self.spine
    }

    /// All joints of the neck. The first one has a role.
    pub(super) fn neck(&self) -> &[Id<Joint>] {
        &self.neck
    }
}

/// If one of Rigify's copies has this many joints, only that copy counts.
const ENOUGH_OF_A_COPY: usize = 5;

/// The roles of the spine, from below.
const SPINE: [Role; 3] = [Role::Spine, Role::Chest, Role::UpperChest];

/// The number in a joint's name, and the joint. Lists of these are sorted.
type Numbered = (i32, Id<Joint>);

struct Search {
    /// The subtree of each joint, as a range of positions in depth-first order, children after
    /// parents.
    below: Vec<Range<usize>>,
    of: BTreeMap<(BodyPart, Option<Side>), Vec<Numbered>>,
    taken: BTreeSet<Id<Joint>>,
    found: Humanoid,
}

impl Search {
    fn new(skeleton: &Skeleton) -> Self {
        let joints = skeleton.joints().iter().enumerate();
        let all: Vec<(Id<Joint>, Named)> = joints
            .filter_map(|(index, joint)| Some((Id::new(index as u16), named(&joint.name)?)))
            .collect();
        let has = |copy| all.iter().filter(|(_, n)| n.copy == copy).count() >= ENOUGH_OF_A_COPY;
        let only = [BoneCopy::Deform, BoneCopy::Original]
            .into_iter()
            .find(|c| has(*c));
        let mut of: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (joint, named) in all {
            if only.is_none_or(|copy| named.copy == copy) {
                let list = of.entry((named.part, named.side)).or_default();
                list.push((named.number, joint));
            }
        }
        for list in of.values_mut() {
            order::sort(list);
        }
        let roles = skeleton.roles();
        Self {
            below: walk(skeleton),
            of,
            taken: roles.iter().map(|(_, joint)| *joint).collect(),
            found: Humanoid {
                roles: roles.iter().copied().collect(),
                ..Humanoid::default()
            },
        }
    }

    fn list(&self, part: BodyPart, side: Option<Side>) -> &[Numbered] {
        self.of.get(&(part, side)).map_or(&[], Vec::as_slice)
    }

    /// The joint that has a role, or the best one for a part.
    fn known_or_best(
        &self,
        role: Role,
        (part, side): (BodyPart, Option<Side>),
        above: Option<Id<Joint>>,
    ) -> Option<Id<Joint>> {
        let known = self.found.joint(role);
        known.or_else(|| self.best(part, side, above))
    }

    /// The best joint for a part.
    ///
    /// It is below `above` if any such joint is. Then the lowest number wins, then the joint
    /// nearest to the root.
    fn best(
        &self,
        part: BodyPart,
        side: Option<Side>,
        above: Option<Id<Joint>>,
    ) -> Option<Id<Joint>> {
        let free = || {
            let all = self.list(part, side).iter().map(|(_, joint)| *joint);
            all.filter(|joint| !self.taken.contains(joint))
        };
        let below = above.and_then(|above| free().find(|joint| self.is_below(*joint, above)));
        below.or_else(|| free().next())
    }

    fn is_below(&self, joint: Id<Joint>, above: Id<Joint>) -> bool {
        let [joint, above] = [joint, above].map(|joint| &self.below[usize::from(joint)]);
        above.start < joint.start && joint.start < above.end
    }

    /// Gives a joint a role, unless one of them is taken.
    fn set(&mut self, role: Role, joint: Option<Id<Joint>>) {
        if let Some(joint) = joint
            && !self.found.roles.contains_key(&role)
            && self.taken.insert(joint)
        {
            self.found.roles.insert(role, joint);
        }
    }

    /// Joints called just `arm` or `leg`, from the body on, each below the one before it.
    fn pieces(&self, part: BodyPart, side: Side) -> Vec<Id<Joint>> {
        let mut joints: Vec<Id<Joint>> = self.list(part, Some(side)).iter().map(|p| p.1).collect();
        joints.retain(|joint| !self.taken.contains(joint));
        order::sort(&mut joints);
        self.nested(joints)
    }

    /// The joints that form a chain, each below the one before it, or all joints if none do.
    ///
    /// The joints are in the skeleton's order.
    fn nested(&self, joints: Vec<Id<Joint>>) -> Vec<Id<Joint>> {
        let mut chain: Vec<Id<Joint>> = Vec::new();
        for joint in &joints {
            if chain.last().is_none_or(|last| self.is_below(*joint, *last)) {
                chain.push(*joint);
            }
        }
        if chain.len() > 1 { chain } else { joints }
    }

    fn arm(&mut self, side: Side) {
        let at = Some(side);
        let mut shoulder =
            self.known_or_best(Role::LeftShoulder.on(side), (BodyPart::Shoulder, at), None);
        let mut upper = self.known_or_best(
            Role::LeftUpperArm.on(side),
            (BodyPart::UpperArm, at),
            shoulder,
        );
        let pieces = self.pieces(BodyPart::ArmPiece, side);
        let above = upper.or(pieces.first().copied());
        let mut lower =
            self.known_or_best(Role::LeftLowerArm.on(side), (BodyPart::LowerArm, at), above);
        let hand = self.known_or_best(Role::LeftHand.on(side), (BodyPart::Hand, at), lower);
        let mut hand = hand.or_else(|| self.best(BodyPart::Wrist, at, lower));
        if upper.is_none() {
            let mut pieces = pieces.into_iter();
            let spare = pieces.len() + usize::from(lower.is_some()) + usize::from(hand.is_some());
            if spare > 3 && shoulder.is_none() {
                shoulder = pieces.next();
            }
            upper = pieces.next();
            lower = lower.or_else(|| pieces.next());
            hand = hand.or_else(|| pieces.next());
        }
        if upper.is_none() && lower.is_some() {
            // If joints are named after the part that bends there, the upper arm starts at
            // `shoulder`.
            upper = shoulder.take();
        }
        self.set(Role::LeftShoulder.on(side), shoulder);
        self.set(Role::LeftUpperArm.on(side), upper);
        self.set(Role::LeftLowerArm.on(side), lower);
        self.set(Role::LeftHand.on(side), hand);
    }

    fn leg(&mut self, side: Side) {
        let at = Some(side);
        let upper = self.known_or_best(Role::LeftUpperLeg.on(side), (BodyPart::UpperLeg, at), None);
        let upper = upper.or_else(|| self.best(BodyPart::SideHip, at, None));
        let pieces = self.pieces(BodyPart::LegPiece, side);
        let above = upper.or(pieces.first().copied());
        let mut lower =
            self.known_or_best(Role::LeftLowerLeg.on(side), (BodyPart::LowerLeg, at), above);
        let mut pieces = pieces.into_iter();
        let upper = upper.or_else(|| pieces.next());
        lower = lower.or_else(|| pieces.next());
        let foot = self.known_or_best(Role::LeftFoot.on(side), (BodyPart::Foot, at), lower);
        let foot = foot.or_else(|| pieces.next());
        let toes = self.known_or_best(Role::LeftToes.on(side), (BodyPart::Toes, at), foot);
        let toes = toes.or_else(|| pieces.next());
        self.set(Role::LeftUpperLeg.on(side), upper);
        self.set(Role::LeftLowerLeg.on(side), lower);
        self.set(Role::LeftFoot.on(side), foot);
        self.set(Role::LeftToes.on(side), toes);
    }

    /// Assigns the first three numbers that exist.
    ///
    /// They may count from 0 or 1, or name the phalanges.
    fn finger(&mut self, side: Side, finger: Finger) {
        let mut list = self.list(BodyPart::Finger(finger), Some(side)).to_vec();
        list.dedup_by_key(|(number, _)| *number);
        for (role, (_, joint)) in finger.roles(side).zip(list) {
            self.set(role, Some(joint));
        }
    }

    fn trunk(&mut self) {
        // The joints that have one of these roles, and those that have the name of the part.
        let sorted = |part, roles: &[Role]| {
            let mut joints: Vec<Id<Joint>> = self.list(part, None).iter().map(|p| p.1).collect();
            joints.retain(|joint| !self.taken.contains(joint));
            joints.extend(roles.iter().filter_map(|role| self.found.joint(*role)));
            order::sort(&mut joints);
            joints
        };
        let mut spine = sorted(BodyPart::Spine, &SPINE);
        let mut neck = sorted(BodyPart::Neck, &[Role::Neck]);
        let [knows_hips, knows_spine] = [&[Role::Hips][..], &SPINE].map(|roles| {
            let mut joints = roles.iter().map(|role| self.found.joint(*role));
            joints.any(|joint| joint.is_some())
        });
        let mut hips = self.known_or_best(Role::Hips, (BodyPart::Hips, None), None);
        let mut head = self.known_or_best(Role::Head, (BodyPart::Head, None), None);
        if let Some(first) = self.found.joint(Role::Neck) {
            neck.retain(|joint| *joint == first || self.is_below(*joint, first));
        }
        if let Some(hips) = hips
            && spine.iter().any(|joint| self.is_below(*joint, hips))
        {
            spine.retain(|joint| self.is_below(*joint, hips));
        }
        spine = self.nested(spine);
        neck = self.nested(neck);
        let numbers: BTreeMap<Id<Joint>, i32> = {
            let list = self.list(BodyPart::Spine, None).iter();
            list.map(|(number, joint)| (*joint, *number)).collect()
        };
        if (hips.is_none() || knows_hips) && spine.len() > 1 && !knows_spine {
            // Rigify and other schemes that number the trunk.
            if hips.is_none() {
                hips = Some(spine.remove(0));
            }
            if head.is_none() && neck.is_empty() {
                let limbs = [Role::LeftShoulder, Role::LeftUpperArm].into_iter();
                let limbs = limbs.flat_map(|role| [role, role.mirrored()]);
                let limbs: Vec<Id<Joint>> =
                    limbs.filter_map(|role| self.found.joint(role)).collect();
                let carries =
                    |joint: &Id<Joint>| limbs.iter().any(|limb| self.is_below(*limb, *joint));
                let chest = spine.iter().rposition(carries);
                // If the hierarchy does not decide, Rigify's numbers do: 1 to 3 belong to the
                // spine.
                let numbered = || {
                    spine
                        .iter()
                        .take_while(|j| numbers.get(j).is_some_and(|number| *number < 4))
                        .count()
                };
                let above = chest.map_or_else(numbered, |chest| chest + 1);
                neck = spine.split_off(above.min(spine.len()));
                head = neck.pop();
            }
        }
        if head.is_none() && neck.len() > 1 {
            head = neck.pop();
        }
        self.set_trunk(hips, spine, neck, head);
    }

    fn set_trunk(
        &mut self,
        hips: Option<Id<Joint>>,
        spine: Vec<Id<Joint>>,
        neck: Vec<Id<Joint>>,
        head: Option<Id<Joint>>,
    ) {
        self.set(Role::Hips, hips);
        let last = spine.len().checked_sub(1);
        self.set(Role::Spine, spine.first().copied());
        if let Some(last) = last.filter(|last| *last > 0) {
            let middle = if last == 1 { 1 } else { spine.len() / 2 };
            self.set(Role::Chest, Some(spine[middle]));
            if last > 1 {
                self.set(Role::UpperChest, Some(spine[last]));
            }
        }
        self.set(Role::Neck, neck.first().copied());
        self.set(Role::Head, head);
        let jaw = self.best(BodyPart::Jaw, None, None);
        self.set(Role::Jaw, jaw);
        (self.found.spine, self.found.neck) = (spine, neck);
    }
}

/// The range of each joint's subtree in depth-first order.
fn walk(skeleton: &Skeleton) -> Vec<Range<usize>> {
    let joints = skeleton.joints();
    let mut sizes = vec![1; joints.len()];
    for (index, joint) in joints.iter().enumerate().rev() {
        if joint.parent_index() != NO_PARENT {
            sizes[usize::from(joint.parent_index())] += sizes[index];
        }
    }
    // The index for the next child of each joint; the last one is for roots.
    let mut next = vec![0; joints.len() + 1];
    let mut ranges = Vec::with_capacity(joints.len());
    for (index, joint) in joints.iter().enumerate() {
        let parent = match joint.parent_index() {
            NO_PARENT => joints.len(),
            parent => usize::from(parent),
        };
        let start = next[parent];
        next[parent] += sizes[index];
        next[index] = start + 1;
        ranges.push(start..start + sizes[index]);
    }
    ranges
}
