//! Skins: which meshes follow one joint, and which joints the others follow.

use super::data::Data;
use super::groups::Group;
use super::objects::{at, named, rest_model_pose};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use throng::Result;
use throng::character::Character;
use throng::glam::{Affine3A, Mat4};
use throng::mesh::PaletteJoint;
use throng::skeleton::Joint;

/// The joints that move the mesh of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    /// The node of this joint, rigidly.
    Joint(usize),
    /// This skin.
    Skin(usize),
}

/// A skin: joints, each with one inverse bind matrix.
///
/// glTF allows a joint only once. For others of its matrices there are nodes below it.
#[derive(Debug, Default)]
pub(super) struct Skin {
    binds: BTreeMap<u16, Affine3A>,
    /// Joints for which nodes are added, with their inverse bind matrices.
    pub(super) added: Vec<(u16, Affine3A)>,
    /// The roots of the hierarchies that it belongs to.
    roots: BTreeSet<u16>,
    /// The joints of these hierarchies, ascending.
    joints: Vec<u16>,
}

/// The carriers of all groups, and the skins.
#[derive(Debug)]
pub(super) struct Skins {
    pub(super) carriers: Vec<Carrier>,
    pub(super) list: Vec<Skin>,
    /// True if a node is needed above all roots, because the joints of a skin need a common one.
    pub(super) needs_root: bool,
}

/// Assigns groups to joints and skins.
pub(super) fn plan(character: &Character, groups: &[Group<'_>]) -> Skins {
    let roots = roots(character);
    let entries: Vec<Vec<&PaletteJoint>> = groups
        .iter()
        .map(|group| entries(character, group))
        .collect();
    let rigid = rigid(character, groups, &entries, &roots);
    let mut skins: Vec<Skin> = Vec::new();
    let mut needs_root = false;
    let mut carriers = Vec::with_capacity(groups.len());
    for (entries, rigid) in entries.iter().zip(rigid) {
        carriers.push(match rigid {
            Some(joint) => Carrier::Joint(joint),
            None => {
                let made = Skin::of(entries, &roots);
                needs_root |= made.roots.len() > 1;
                let fits = skins.iter().position(|skin| skin.accepts(&made));
                let index = fits.unwrap_or_else(|| {
                    skins.push(Skin::default());
                    skins.len() - 1
                });
                skins[index].binds.extend(made.binds);
                skins[index].added.extend(made.added);
                skins[index].roots.extend(made.roots);
                Carrier::Skin(index)
            }
        });
    }
    if groups.is_empty() {
        // Tells joints from sockets, and other tools that the nodes are bones.
        let all = roots.iter().copied().collect::<BTreeSet<u16>>().into_iter();
        skins.extend(all.map(|root| Skin {
            roots: [root].into(),
            ..Skin::default()
        }));
    }
    for skin in &mut skins {
        let joints = (0..).zip(&roots);
        let own = joints.filter(|(_, root)| needs_root || skin.roots.contains(root));
        skin.joints = own.map(|(joint, _)| joint).collect();
    }
    Skins {
        carriers,
        list: skins,
        needs_root,
    }
}

impl Skin {
    fn of(entries: &[&PaletteJoint], roots: &[u16]) -> Self {
        let mut skin = Self::default();
        for entry in entries {
            let joint = entry.joint.0;
            skin.roots.extend(roots.get(usize::from(joint)));
            match skin.binds.get(&joint) {
                Some(known) if is_same(known, &entry.inverse_bind) => {}
                Some(_) => skin.added.push((joint, entry.inverse_bind)),
                None => {
                    skin.binds.insert(joint, entry.inverse_bind);
                }
            }
        }
        skin
    }

    /// True if the joints that both have are bound in the same way.
    fn accepts(&self, other: &Self) -> bool {
        let same = |(joint, bind): (&u16, &Affine3A)| {
            let own = self.binds.get(joint);
            own.is_none_or(|own| is_same(own, bind))
        };
        self.added.is_empty()
            && other.added.is_empty()
            && self.roots == other.roots
            && other.binds.iter().all(same)
    }

    /// The index of a palette entry among the joints of the skin.
    pub(super) fn index_of(&self, entry: &PaletteJoint) -> usize {
        let joint = entry.joint.0;
        let is_own = self.binds.get(&joint);
        if is_own.is_some_and(|own| is_same(own, &entry.inverse_bind)) {
            return self.joints.binary_search(&joint).unwrap_or(0);
        }
        let is_it =
            |(of, bind): &(u16, Affine3A)| *of == joint && is_same(bind, &entry.inverse_bind);
        self.joints.len() + self.added.iter().position(is_it).unwrap_or(0)
    }

    pub(super) fn len(&self) -> usize {
        self.joints.len() + self.added.len()
    }
}

fn is_same(a: &Affine3A, b: &Affine3A) -> bool {
    a.to_cols_array().map(f32::to_bits) == b.to_cols_array().map(f32::to_bits)
}

/// The root of each joint's hierarchy.
fn roots(character: &Character) -> Vec<u16> {
    let joints = character.skeleton().joints();
    let mut roots: Vec<u16> = Vec::with_capacity(joints.len());
    for (index, joint) in (0..).zip(joints) {
        roots.push(match joint.parent {
            None => index,
            Some(parent) => roots[parent.index()],
        });
    }
    roots
}

/// The palette entries that the vertices of a group use, each once.
fn entries<'a>(character: &'a Character, group: &Group<'_>) -> Vec<&'a PaletteJoint> {
    let palette = character.palette();
    let mut used = BTreeSet::new();
    for number in &group.primitives {
        let primitive = &character.primitives()[*number];
        let mut here = vec![false; primitive.palette.len()];
        let vertices = 0..primitive.vertex_count();
        for (joint, _) in vertices.flat_map(|vertex| primitive.influences(vertex)) {
            here[joint] = true;
        }
        let here = (primitive.palette.clone()).zip(here);
        used.extend(here.filter(|(_, used)| *used).map(|(entry, _)| entry));
    }
    let mut known = BTreeSet::new();
    let entries = used.into_iter().map(|entry| &palette[entry as usize]);
    let is_new = |entry: &&PaletteJoint| {
        let bits = entry.inverse_bind.to_cols_array().map(f32::to_bits);
        known.insert((entry.joint, bits))
    };
    entries.filter(is_new).collect()
}

/// The joint that carries the mesh of each group, if it follows one as a part of its node.
///
/// A hierarchy in which nothing is skinned keeps only the joints that carry something and those
/// above them. If it has others, one of its groups is skinned.
fn rigid(
    character: &Character,
    groups: &[Group<'_>],
    entries: &[Vec<&PaletteJoint>],
    roots: &[u16],
) -> Vec<Option<usize>> {
    let joints = character.skeleton().joints();
    let mut taken = BTreeSet::new();
    let mut rigid: Vec<Option<usize>> = Vec::with_capacity(groups.len());
    for (group, entries) in groups.iter().zip(entries) {
        rigid.push(match entries[..] {
            [entry] if is_same(&entry.inverse_bind, &Affine3A::IDENTITY) => {
                let name = &*joints[entry.joint.index()].name;
                let is_its_node =
                    name == group.part || (name.is_empty() && group.part == group.name);
                let free = is_its_node && taken.insert(entry.joint);
                free.then_some(entry.joint.index())
            }
            _ => None,
        });
    }
    let mut kept = vec![false; joints.len()];
    let mut skinned = BTreeSet::new();
    for (rigid, entries) in rigid.iter().zip(entries) {
        match rigid {
            Some(joint) => kept[*joint] = true,
            None => skinned.extend(entries.iter().map(|entry| roots[entry.joint.index()])),
        }
    }
    for (index, joint) in joints.iter().enumerate().rev() {
        if let (true, Some(parent)) = (kept[index], joint.parent) {
            kept[parent.index()] = true;
        }
    }
    for lost in (0..joints.len()).filter(|joint| !kept[*joint]) {
        let root = roots[lost];
        if skinned.contains(&root) {
            continue;
        }
        let of_tree = |carrier: &&mut Option<usize>| carrier.is_some_and(|j| roots[j] == root);
        if let Some(carrier) = rigid.iter_mut().find(of_tree) {
            *carrier = None;
            skinned.insert(root);
        }
    }
    rigid
}

/// The skins, whose joints without vertices are bound in the rest pose. `added` has the nodes of
/// [`Skin::added`] for each skin.
pub(super) fn write(
    character: &Character,
    skins: &Skins,
    added: &[Vec<usize>],
    data: &mut Data,
) -> Result<Vec<Value>> {
    let rest = rest_model_pose(character.skeleton())?;
    let mut written = Vec::with_capacity(skins.list.len());
    for (index, (skin, added)) in skins.list.iter().zip(added).enumerate() {
        let bind = |joint: &u16| {
            let own = skin.binds.get(joint).copied();
            let at_rest = rest[usize::from(*joint)].inverse();
            let at_rest = if at_rest.is_finite() {
                at_rest
            } else {
                Affine3A::IDENTITY
            };
            own.unwrap_or(at_rest)
        };
        let binds = skin.joints.iter().map(bind);
        let binds = binds.chain(skin.added.iter().map(|(_, bind)| *bind));
        let binds: Vec<[f32; 16]> = binds.map(|bind| Mat4::from(bind).to_cols_array()).collect();
        let joints = skin.joints.iter().map(|joint| usize::from(*joint));
        let joints: Vec<usize> = joints.chain(added.iter().copied()).collect();
        let mut one = named(name(character, skin));
        one["joints"] = joints.into();
        let matrices = data.matrices(&binds).map_err(at("skin", index))?;
        one["inverseBindMatrices"] = matrices.into();
        written.push(one);
    }
    Ok(written)
}

/// The name of the first skin of the character's file that has the joints of the vertices.
fn name<'a>(character: &'a Character, skin: &Skin) -> &'a str {
    let has_all = |joints: &[throng::Id<Joint>]| {
        let joints: BTreeSet<u16> = joints.iter().map(|joint| joint.0).collect();
        skin.binds.keys().all(|joint| joints.contains(joint))
    };
    let found = character.skins().find(|(_, joints)| has_all(joints));
    found.map_or("", |(name, _)| name)
}
