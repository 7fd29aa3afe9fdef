//! Indices in a character that is replaced, and those of the same names in the new one.

use super::library::Library;
use crate::clip::Clip;
use crate::motion::BlendSpace;
use crate::skeleton::Skeleton;
use std::collections::BTreeMap;

/// For each index of something in the old character, that of the same name in the new one.
///
/// Of several with equal names, the first belongs to the first, and so on.
pub(crate) fn by_name<'a>(
    old: impl Iterator<Item = &'a str>,
    new: impl Iterator<Item = &'a str>,
) -> Vec<Option<u16>> {
    let mut known: BTreeMap<&str, Vec<u16>> = BTreeMap::new();
    for (index, name) in (0..).zip(new) {
        known.entry(name).or_default().push(index);
    }
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    let find = |name| {
        let rank = met.entry(name).or_default();
        *rank += 1;
        known.get(name)?.get(*rank - 1).copied()
    };
    old.map(find).collect()
}

/// The new indices of everything that actors refer to, by old index.
#[derive(Debug)]
pub(crate) struct Mapping {
    pub(crate) joints: Vec<Option<u16>>,
    pub(crate) clips: Vec<Option<u16>>,
    pub(crate) masks: Vec<Option<u16>>,
    pub(crate) blend_spaces: Vec<Option<u16>>,
    pub(crate) expressions: Vec<Option<u16>>,
    pub(crate) morph_weights: Vec<Option<u16>>,
}

impl Mapping {
    pub(super) fn new(old: &Library, new: &Library) -> Self {
        let boxed = |old: &[Box<str>], new: &[Box<str>]| {
            let [old, new] = [old, new].map(|names| names.to_vec());
            by_name(
                old.iter().map(|name| &**name),
                new.iter().map(|name| &**name),
            )
        };
        let [old_spaces, new_spaces] = [old, new].map(|library| library.blend_spaces());
        let mut blend_spaces = by_name(
            old_spaces.iter().map(BlendSpace::name),
            new_spaces.iter().map(BlendSpace::name),
        );
        // A position fits only as many coordinates as it has.
        for (space, mapped) in old_spaces.iter().zip(&mut blend_spaces) {
            let dimensions = |index: u16| new_spaces[usize::from(index)].dimensions();
            *mapped = mapped.filter(|index| dimensions(*index) == space.dimensions());
        }
        Self {
            joints: joints_by_name(&old.skeleton, &new.skeleton),
            clips: by_name(
                old.clips.iter().map(Clip::name),
                new.clips.iter().map(Clip::name),
            ),
            masks: boxed(&old.set.mask_names, &new.set.mask_names),
            blend_spaces,
            expressions: by_name(
                old.expressions.iter().map(|it| &*it.name),
                new.expressions.iter().map(|it| &*it.name),
            ),
            morph_weights: boxed(&old.morph_names, &new.morph_names),
        }
    }
}

/// For each joint of the old skeleton, that of the same name in the new one.
pub(crate) fn joints_by_name(old: &Skeleton, new: &Skeleton) -> Vec<Option<u16>> {
    let [old, new] = [old, new].map(|skeleton| skeleton.joints().iter().map(|it| &*it.name));
    by_name(old, new)
}

/// The new index of something, if it still exists.
pub(crate) fn moved(map: &[Option<u16>], index: u16) -> Option<u16> {
    map.get(usize::from(index)).copied().flatten()
}
