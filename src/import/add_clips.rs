//! Clips of one file for the character of another, matched by names.

use super::RawCharacter;
use super::assemble::{Adopted, adopt, check_clip_joints};
use super::fault::fault;
use super::imported::Imported;
use super::options::ImportOptions;
use super::repair::{Repair, RepairKind, of_file};
use super::weight_match::{match_weights, matched_parts};
use crate::character::{Character, EventDesc};
use crate::clip::CurveClip;
use crate::error::{AssetFault, Error, Object, ObjectKind, Result, listed};
use crate::id::Id;
use crate::mesh::MorphWeight;
use crate::skeleton::{NO_PARENT, Skeleton, Transform};
use std::collections::{BTreeMap, HashMap, HashSet};

impl RawCharacter {
    /// Adds the animations of this file to `character`, matched by name.
    ///
    /// `character` itself is not changed. The result has the new clips after its own, in the file's
    /// order. Its repairs list the parts of the file that did not match ([`RepairKind`]).
    ///
    /// Joints match if they have exactly the same name. A name that several joints have is decided
    /// by position in the hierarchy: children of two matched joints, or roots, are matched in order
    /// if as many of them have the name on both sides. Such names are reported, and joints that
    /// stay undecided are left out. Joints without a name match nothing. If names differ by a
    /// prefix or a naming scheme, use [`retarget`](crate::retarget).
    ///
    /// Morph weights match in these cases:
    /// - They have the same target name and owner.
    /// - They have the same owner, one side names no targets, and both sides have as many weights.
    /// - They are the only ones with their target name on both sides.
    ///
    /// Tracks keep their keys. Tracks of joints and weights that are not found are left out and
    /// reported, and so are animations with no track left. The events of the animations are added
    /// with them.
    ///
    /// The clips of a VRM Animation are [retargeted](crate::retarget#vrm-animations) if `character`
    /// is from a VRM model. Joints then match if they are the same bone of the humanoid, whatever
    /// their names, and [`Imported::retargeted`] is set. Channels that such a file must not have
    /// are left out and reported.
    ///
    /// A clip keeps its name, unless the character or an earlier clip of the file has the same
    /// name. It then gets the first free number as a suffix, as in `Walk (2)`, so that
    /// [`Character::clip`] finds each. A clip without a name gets [`ImportOptions::name`], because
    /// files with one clip each often do not name it, or all use the same name.
    ///
    /// If there is only a skeleton and no character, make one of it with
    /// [`RawCharacter::from_skeleton`] and [`ImportOptions::curves_only`].
    ///
    /// # Errors
    /// - [`Error::Asset`], naming the object at fault and the reason. Also if there is no
    ///   animation, or none with tracks.
    /// - [`Error::NoCommonJoints`] if nothing that is animated is found in `character`.
    pub fn add_clips(mut self, character: &Character, options: &ImportOptions) -> Result<Imported> {
        let mut repairs = std::mem::take(&mut self.repairs);
        let name = match &*options.name {
            "" => self.name.clone(),
            name => name.into(),
        };
        let (to, weights) = (character.skeleton(), character.morph_weights());
        let (fitted, retargeted) = fitted(self, &name, (to, weights), options, &mut repairs)?;
        check_clip_joints(options, character.clip_count() + fitted.len(), to)?;
        let mut names = Names::of(character.clip_names());
        let mut clips = Vec::with_capacity(fitted.len());
        for fit in fitted {
            let name = names.free(fit.clip.name());
            if *name != *fit.clip.name() {
                let object = Object::new(ObjectKind::Animation, fit.index, fit.clip.name());
                Repair::note(&mut repairs, &object, RepairKind::RenamedClip, 1);
            }
            clips.push((fit.clip.with_name(&name), fit.events));
        }
        let character = character.clone().with_clips_and_events(clips)?;
        Ok(Imported {
            retargeted,
            ..Imported::new(character, of_file(repairs, &name))
        })
    }
}

/// A clip of a file on another skeleton.
struct FittedClip {
    /// The index of its animation in the file.
    index: usize,
    clip: CurveClip,
    events: Vec<EventDesc>,
}

/// The clips, and true if they were retargeted.
fn fitted(
    raw: RawCharacter,
    name: &str,
    (to, weights): (&Skeleton, &[MorphWeight]),
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<(Vec<FittedClip>, bool)> {
    let has_tracks = raw.animations.iter().any(|one| !one.channels.is_empty());
    let adopted = adopt(raw, to, options, repairs).map_err(|error: Error| error.in_file(name))?;
    note_joints(&adopted, to, repairs);
    let of_weight = match_weights(&adopted.weights, weights);
    let mut driven = vec![0_u64; adopted.weights.len()];
    let (mut clips, mut empty) = (Vec::new(), Vec::new());
    for (index, (clip, events)) in adopted.clips.iter().zip(&adopted.events).enumerate() {
        let mut parts = Vec::new();
        for track in clip.weight_tracks() {
            parts.extend(matched_parts(track, &of_weight));
            let first = track.first_weight.index();
            for driven in driven.iter_mut().skip(first).take(track.count as usize) {
                *driven += 1;
            }
        }
        if clip.tracks().is_empty() && parts.is_empty() {
            empty.push(Object::new(ObjectKind::Animation, index, clip.name()));
            continue;
        }
        let title = if clip.name().is_empty() {
            name
        } else {
            clip.name()
        };
        let fit = clip.clone().with_name(title);
        clips.push(FittedClip {
            index,
            clip: fit.with_weight_tracks(parts, weights.len())?,
            events: events.clone(),
        });
    }
    if clips.is_empty() && !has_tracks {
        let why = AssetFault::Invalid("has no animation with tracks");
        return Err(fault(ObjectKind::File, None, "", why).in_file(name));
    }
    if clips.is_empty() {
        let names = |skeleton: &Skeleton| listed(skeleton.joints().iter().map(|j| &*j.name));
        return Err(Error::NoCommonJoints {
            file: name.into(),
            from: names(&adopted.skeleton),
            to: names(to),
        });
    }
    note_weights(&adopted.weights, &of_weight, &driven, repairs);
    for object in empty {
        Repair::note(repairs, &object, RepairKind::EmptyClip, 1);
    }
    Ok((clips, adopted.retargeted))
}

fn node(name: &str) -> Object {
    let (kind, index, part) = (ObjectKind::Node, None, name.into());
    Object { kind, index, part }
}

/// Reports joints that are not matched, have ambiguous names, or differ at rest.
fn note_joints(adopted: &Adopted, to: &Skeleton, repairs: &mut Vec<Repair>) {
    let mut told = HashSet::new();
    for tie in adopted.matches.iter().flat_map(|one| &one.names.ties) {
        if told.insert(&*tie.name) {
            let [in_file, in_skeleton] = tie.bearers;
            let kind = RepairKind::AmbiguousName {
                in_skeleton,
                matched: tie.matched,
            };
            Repair::note(repairs, &node(&tie.name), kind, in_file as u64);
        }
    }
    // The first match of each joint, and that of its parent.
    let mut found: BTreeMap<u16, (u16, u16)> = BTreeMap::new();
    let joints = adopted.skeleton.joints();
    for one in &adopted.matches {
        for (joint, theirs) in one.pairs() {
            let parent = joints[usize::from(joint)].parent;
            let parent = parent.and_then(|parent| one.of(parent));
            let both = (theirs, parent.unwrap_or(NO_PARENT));
            found.entry(joint).or_insert(both);
        }
    }
    for (index, (joint, unmatched)) in (0..).zip(joints.iter().zip(&adopted.unmatched)) {
        let object = node(&joint.name);
        Repair::note(repairs, &object, RepairKind::UnmatchedJoint, *unmatched);
        if let Some((theirs, parent)) = found.get(&index) {
            let other_parent = to.joints()[usize::from(*theirs)].parent_index() != *parent;
            let differs = || difference(*theirs, to, &joint.rest, other_parent);
            if let (false, Some(kind)) = (adopted.retargeted, differs()) {
                Repair::note(repairs, &object, kind, 1);
            }
        }
    }
}

/// Thresholds for different rest poses: more than the difference between files that round the same
/// value differently.
const TRANSLATION_PART: f32 = 1e-4;
const ROTATION_RAD: f32 = 1e-3;
const SCALE: f32 = 1e-4;

fn difference(
    joint: u16,
    to: &Skeleton,
    rest: &Transform,
    other_parent: bool,
) -> Option<RepairKind> {
    let (a, b) = (rest, &to.joints()[usize::from(joint)].rest);
    let (q, p) = (a.rotation.as_dquat(), b.rotation.as_dquat());
    // Computed from the chord, because the arc cosine is inaccurate near 1.
    let chord = (q - p).length().min((q + p).length());
    let translation_m = a.translation.distance(b.translation);
    let rotation_rad = (4.0 * (chord * 0.5).min(1.0).asin()) as f32;
    let scale = (a.scale - b.scale).abs().max_element();
    let reach = a.translation.length().max(b.translation.length());
    let is_same = translation_m <= TRANSLATION_PART * reach
        && rotation_rad <= ROTATION_RAD
        && scale <= SCALE * a.scale.abs().max(b.scale.abs()).max_element();
    (other_parent || !is_same).then_some(RepairKind::RestDiffers {
        joint: Id::new(joint),
        translation_m,
        rotation_rad,
        scale,
        other_parent,
    })
}

/// Reports weights that are driven but not matched.
fn note_weights(
    weights: &[MorphWeight],
    of: &[Option<u32>],
    driven: &[u64],
    repairs: &mut Vec<Repair>,
) {
    for ((weight, found), tracks) in weights.iter().zip(of).zip(driven) {
        if found.is_none() {
            let object = node(&format!("{}.weights[{}]", weight.owner, weight.name));
            Repair::note(repairs, &object, RepairKind::UnmatchedWeight, *tracks);
        }
    }
}

/// The names of clips, each once.
struct Names {
    taken: HashSet<Box<str>>,
    /// The next number to try as a suffix of a name.
    next: HashMap<Box<str>, u64>,
}

impl Names {
    fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self {
            taken: names.map(Into::into).collect(),
            next: HashMap::new(),
        }
    }

    /// A free name: the name itself, or with a number after it if it is taken. An empty name stays
    /// empty.
    fn free(&mut self, name: &str) -> Box<str> {
        if name.is_empty() || self.taken.insert(name.into()) {
            return name.into();
        }
        let number = self.next.entry(name.into()).or_insert(2);
        loop {
            let numbered = format!("{name} ({number})").into_boxed_str();
            *number += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}
