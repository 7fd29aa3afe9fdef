//! Everything that the actors of a character can play, and the names behind a snapshot's indices.

use super::name_or_id::NameOrId;
use super::play::{Play, Resolved, What};
use super::record::PlayRecord;
use crate::character::{AnimationSet, BlendAt, Character};
use crate::clip::{Clip, ClipReach};
use crate::error::{
    ArgumentFault, Error, Result, expect_all_finite, expect_finite, expect_in, expect_index,
    expect_len,
};
use crate::hash;
use crate::id::Id;
use crate::mesh::{Expression, MorphWeight};
use crate::motion::{BlendSpace, ClipEvents, MAX_FADE_S, RootMotion, Stride};
use crate::skeleton::{Mask, Skeleton};
use crate::skin::ReachRig;
use crate::spring::SpringRig;
use crate::state_machine::StateMachine;
use glam::Vec2;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A character's animations, shared with the character.
#[derive(Debug, Clone)]
pub(crate) struct Library {
    pub(crate) skeleton: Skeleton,
    pub(crate) clips: Arc<Vec<Clip>>,
    pub(crate) set: Arc<AnimationSet>,
    pub(crate) springs: Arc<SpringRig>,
    pub(crate) expressions: Vec<Expression>,
    /// Morph weights of the rest pose.
    pub(crate) morph_weights: Vec<f32>,
    /// The names behind the indices in snapshots.
    pub(crate) fingerprint: Fingerprint,
    pub(crate) morph_names: Vec<Box<str>>,
    /// The data that bounding spheres are computed from: of the character, and of each clip.
    pub(crate) reach: ReachRig,
    pub(crate) clip_reaches: Arc<Vec<ClipReach>>,
}

impl Library {
    pub(crate) fn new(character: &Character) -> Self {
        let weights = character.morph_weights();
        Self {
            skeleton: character.skeleton().clone(),
            clips: Arc::clone(character.shared_clips()),
            set: Arc::clone(character.animation_set()),
            springs: Arc::clone(character.spring_rig()),
            expressions: character.expressions().to_vec(),
            morph_weights: weights.iter().map(|weight| weight.rest).collect(),
            fingerprint: Fingerprint::new(character),
            morph_names: weights.iter().map(|weight| weight.name.clone()).collect(),
            reach: ReachRig::new(character),
            clip_reaches: Arc::clone(character.clip_reaches()),
        }
    }

    pub(crate) fn clip(&self, clip: NameOrId<'_, Id<Clip>>) -> Result<u16> {
        let names = self.clips.iter().map(Clip::name);
        Ok(clip.find("clip", names)?.0)
    }

    /// The index of a blend space, and the position in it. The default is the origin.
    pub(crate) fn blend_space(
        &self,
        space: NameOrId<'_, Id<BlendSpace>>,
        at: Option<BlendAt>,
    ) -> Result<(u16, Vec2)> {
        let names = self.blend_spaces().iter().map(BlendSpace::name);
        let index = space.find("blend space", names)?.0;
        let at = at.map_or(Ok(Vec2::ZERO), |at| self.blend_position(index, at))?;
        Ok((index, at))
    }

    /// Checks a position in a blend space that exists.
    pub(crate) fn blend_position(&self, space: u16, at: BlendAt) -> Result<Vec2> {
        let what = "position in the blend space";
        let space = self.blend_spaces().get(usize::from(space));
        let (got, need) = (at.dimensions(), space.map_or(1, BlendSpace::dimensions));
        let position = at.to_vec2();
        expect_len(what, got, need)?;
        expect_all_finite(what, position.to_array())?;
        Ok(position)
    }

    pub(crate) fn blend_spaces(&self) -> &[BlendSpace] {
        &self.set.blend_spaces
    }

    pub(crate) fn mask(&self, mask: Option<NameOrId<'_, Id<Mask>>>) -> Result<Option<u16>> {
        let names = self.set.masks.iter().map(|mask| &*mask.name);
        mask.map(|mask| Ok(mask.find("mask", names)?.0)).transpose()
    }

    pub(crate) fn duration_s(&self, clip: u16) -> f64 {
        let clip = self.clips.get(usize::from(clip));
        clip.map_or(0.0, Clip::duration_s)
    }

    /// A clip of a blend, at this weight.
    pub(crate) fn stride(&self, clip: u16, weight: f32) -> Stride {
        Stride {
            weight,
            duration_s: self.duration_s(clip),
            velocity: self.set.of(Id::new(clip)).ground_velocity(),
        }
    }

    pub(crate) fn events(&self, clip: u16) -> Option<&ClipEvents> {
        let events = &self.set.of(Id::new(clip)).events;
        (!events.list().is_empty()).then_some(events)
    }

    pub(crate) fn motion(&self, clip: u16) -> Option<&RootMotion> {
        let motion = self.set.of(Id::new(clip)).root_motion.as_ref();
        motion.filter(|motion| !motion.is_still())
    }

    /// Checks a play request and looks up its names. `None` is the rest pose.
    pub(crate) fn resolve(&self, play: &Play<'_>) -> Result<Option<Resolved>> {
        expect_finite("Play::start_s", play.start_s.unwrap_or(0.0))?;
        expect_finite("Play::offset_s", play.offset_s)?;
        expect_finite("Play::speed", play.speed)?;
        check_fade("Play::fade_s", play.fade_s)?;
        check_fade("Play::inertial_s", play.inertial_s)?;
        expect_in("Play::weight", play.weight, 0.0, f32::MAX)?;
        let mask = self.mask(play.mask)?;
        let what = match (play.clip, play.blend_space) {
            (None, Some(space)) => {
                let (space, at) = self.blend_space(space, play.at)?;
                Some(What::BlendSpace(space, at))
            }
            (Some(_), Some(_)) => {
                return Err(Error::invalid(
                    "Play::clip",
                    "must be None for a blend space",
                ));
            }
            _ if play.at.is_some() => {
                return Err(Error::invalid("Play::at", "is for blend spaces only"));
            }
            (Some(clip), None) => Some(What::Clip(self.clip(clip)?)),
            (None, None) => None,
        };
        Ok(what.map(|what| Resolved { what, mask }))
    }

    pub(crate) fn expression(&self, expression: NameOrId<'_, Id<Expression>>) -> Result<usize> {
        let names = self.expressions.iter().map(|one| &*one.name);
        Ok(expression.find("expression", names)?.index())
    }

    pub(crate) fn morph_weight(&self, weight: NameOrId<'_, Id<MorphWeight>>) -> Result<usize> {
        let names = self.morph_names.iter().map(|name| &**name);
        Ok(weight.find("morph weight", names)?.index())
    }

    /// Checks a record that was saved.
    ///
    /// Times, offsets and speeds may have any value: extreme ones can come from valid calls, and
    /// only the pose depends on them.
    pub(crate) fn check_record(&self, record: &PlayRecord) -> Result<()> {
        if !record.has(PlayRecord::FLAG_POSE) {
            expect_index("clip", record.clip.into(), self.clips.len())?;
        }
        self.check_mask(record.mask)?;
        for weight in [record.from_weight, record.to_weight] {
            expect_in("PlayRecord::weight", weight, 0.0, f32::MAX)?;
        }
        expect_in("PlayRecord::loop_mode", record.loop_mode, 0, 2)?;
        expect_in("PlayRecord::ease", record.ease, 0, 1)
    }

    /// Checks the mask of a record that was saved.
    pub(crate) fn check_mask(&self, mask: u16) -> Result<()> {
        match mask {
            PlayRecord::NO_MASK => Ok(()),
            mask => expect_index("mask", mask.into(), self.set.masks.len()),
        }
    }

    pub(crate) fn state_machine(&self) -> Option<&StateMachine> {
        self.set.state_machine.as_ref()
    }

    /// The state machine, or an error if the character has none.
    pub(crate) fn expect_state_machine(&self) -> Result<&StateMachine> {
        let machine = self.state_machine();
        machine.ok_or(Error::invalid("state machine", "the character has none"))
    }
}

pub(crate) fn check_fade(what: &'static str, fade_s: f32) -> Result<()> {
    expect_in(what, fade_s, 0.0, MAX_FADE_S)
}

/// The kinds of things that a snapshot names by index.
const KINDS: [&str; 9] = [
    "joints",
    "clips",
    "masks",
    "blend spaces",
    "event names",
    "expressions",
    "morph weights",
    "spring bones",
    "layers of the state machine",
];

/// For each of [`KINDS`], how many there are, and a hash of their names in order.
///
/// Two characters with equal ones have the same things at the same indices. Durations, curves,
/// meshes and so on may differ.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Fingerprint([(u32, u64); KINDS.len()]);

impl Fingerprint {
    pub(crate) fn new(character: &Character) -> Self {
        let set = character.animation_set();
        let machine = set.state_machine.as_ref();
        let boxed = |names: &'_ [Box<str>]| of(names.iter().map(|name| &**name));
        Self([
            of(character
                .skeleton()
                .joints()
                .iter()
                .map(|joint| &*joint.name)),
            of(character.clips().iter().map(Clip::name)),
            of(set.masks.iter().map(|mask| &*mask.name)),
            of(set.blend_spaces.iter().map(BlendSpace::name)),
            boxed(&set.event_names),
            of(character
                .expressions()
                .iter()
                .map(|expression: &Expression| &*expression.name)),
            of(character.morph_weights().iter().map(|weight| &*weight.name)),
            character.spring_rig().fingerprint(),
            machine.map_or((0, 0), |machine| {
                (machine.layer_count() as u32, machine.fingerprint)
            }),
        ])
    }

    /// Checks that a snapshot with this fingerprint fits a character.
    pub(crate) fn check(&self, here: &Self) -> Result<()> {
        let pairs = self.0.iter().zip(&here.0);
        let differs = KINDS
            .iter()
            .zip(pairs)
            .find(|(_, (there, here))| there != here);
        differs.map_or(Ok(()), |(kind, (there, here))| {
            let (got, need) = (there.0, here.0);
            let (what, why) = (
                "snapshot",
                ArgumentFault::OtherCharacter { kind, got, need },
            );
            Err(Error::Argument { what, why })
        })
    }
}

/// The number and the hash of names.
fn of<'a>(names: impl Iterator<Item = &'a str>) -> (u32, u64) {
    let (mut count, mut all) = (0, hash::EMPTY);
    for name in names {
        count += 1;
        all = hash::add(all, name.len() as u64);
        all = name
            .bytes()
            .fold(all, |all, byte| hash::add(all, byte.into()));
    }
    // 63 bits only, because text formats have signed numbers.
    (count, all >> 1)
}

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
            masks: by_name(
                old.set.masks.iter().map(|it| &*it.name),
                new.set.masks.iter().map(|it| &*it.name),
            ),
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
