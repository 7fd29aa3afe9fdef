//! Clips from other files.

use super::RawCharacter;
use super::build::{Adopted, adopt, check_clip_joints};
use super::options::ImportOptions;
use super::repair::Repair;
use super::weight_match::{match_weights, matched_parts};
use crate::character::{Character, NamedTimes};
use crate::clip::CurveClip;
use crate::error::{Error, Result, listed};
use crate::ids::JointId;
use crate::mesh::MorphWeight;
use crate::skeleton::{NO_PARENT, Skeleton, Transform};
use std::collections::{HashMap, HashSet};

/// A character with the clips of another file.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedClips {
    /// The character, with the new clips after its own.
    pub character: Character,
    /// The clips that were added, in the file's order.
    pub clips: Vec<AddedClip>,
    /// The joints and weights that were matched and those that were not.
    pub report: ClipsReport,
}

/// A clip that was added to a character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedClip {
    /// Index into [`Character::clips`].
    pub index: usize,
    /// Its name in the character.
    pub name: Box<str>,
    /// Its name in the file, or empty.
    pub name_in_file: Box<str>,
}

/// The clips of a file, on the skeleton of another file.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipsFor {
    /// The clips in the file's order, with the file's names. Clips without a name have the name of
    /// the file.
    pub clips: Vec<CurveClip>,
    /// The joints and weights that were matched and those that were not.
    pub report: ClipsReport,
}

/// Report on how well a file's clips fit a skeleton.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClipsReport {
    /// The number of animated joints that were found.
    pub matched: usize,
    /// Animated joints that were not found. Their tracks were left out.
    pub unmatched: Vec<UnmatchedJoint>,
    /// Names that several joints have, in the file or in the skeleton.
    pub ambiguous: Vec<AmbiguousName>,
    /// Matched joints whose rest transform or parent differs.
    ///
    /// Properties that the clips do not drive stay as in the skeleton. Those that they drive were
    /// authored for another rest pose. Use retargeting ([`pose::retarget`](crate::retarget)) for
    /// such skeletons.
    pub rest: Vec<RestDifference>,
    /// Animated morph weights that were not found. Their tracks were left out.
    pub unmatched_weights: Vec<UnmatchedWeight>,
    /// Names of animations that were not added because no track was left.
    pub empty: Vec<Box<str>>,
    /// Harmless faults of the file that were repaired.
    pub repairs: Vec<Repair>,
}

/// A joint that a file animates but a skeleton does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedJoint {
    /// Its name in the file, or empty.
    pub name: Box<str>,
    /// The number of its tracks that were left out, over all clips.
    pub tracks: u64,
}

/// A name that several joints have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousName {
    /// The name.
    pub name: Box<str>,
    /// The number of joints in the file with this name.
    pub in_file: usize,
    /// The number of joints in the skeleton with this name.
    pub in_skeleton: usize,
    /// The number that were matched by their position in the hierarchy. The others were left out.
    pub matched: usize,
}

/// Difference between a joint's rest transform in the file and in the skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct RestDifference {
    /// The joint, in the skeleton that the clips are for.
    pub joint: JointId,
    /// Its name.
    pub name: Box<str>,
    /// The distance between the two translations, in metres of the parent's space.
    pub translation_m: f32,
    /// The angle between the two rotations.
    pub rotation_rad: f32,
    /// The largest difference of a component of the two scales.
    pub scale: f32,
    /// True if the parents differ, or only one has a parent.
    pub other_parent: bool,
}

/// A morph weight that a file animates but a character does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmatchedWeight {
    /// The name of its node or mesh in the file, or empty.
    pub owner: Box<str>,
    /// The name of its target, or empty.
    pub name: Box<str>,
    /// The number of its tracks that were left out, over all clips.
    pub tracks: u64,
}

impl RawCharacter {
    /// Adds the animations of this file to `character`, matched by name.
    ///
    /// `character` itself is not changed.
    ///
    /// Joints match if they have exactly the same name. A name that several joints have is decided
    /// by position in the hierarchy: children of two matched joints, or roots, are matched in order
    /// if as many of them have the name on both sides. Such names are reported, and joints that
    /// stay undecided are left out. Joints without a name match nothing. If names differ by a
    /// prefix or a naming scheme, use [`pose::retarget`](crate::retarget).
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
    /// A clip keeps its name, unless the character or an earlier clip of the file has the same
    /// name. It then gets the first free number as a suffix, as in `Walk (2)`, so that
    /// [`Character::clip`] finds each. A clip without a name gets [`ImportOptions::name`], because
    /// files with one clip each often do not name it, or all use the same name.
    ///
    /// # Errors
    /// - [`Error::Asset`], naming the object at fault and the reason. Also if there is no
    ///   animation.
    /// - [`Error::NoCommonJoints`] if nothing that is animated is found in `character`.
    pub fn add_clips(self, character: &Character, options: &ImportOptions) -> Result<AddedClips> {
        let weights = &character.model.morph_weights;
        let found = fitted(self, character.skeleton(), weights, options)?;
        let clips = character.clip_count() + found.clips.len();
        check_clip_joints(options, clips, character)?;
        let mut names = Names::of(character.clip_names());
        let (mut list, mut clips) = (Vec::new(), Vec::new());
        for (name_in_file, clip, events) in found.clips {
            let name = names.free(clip.name());
            let index = character.clip_count() + clips.len();
            clips.push((clip.with_name(&name), events));
            list.push(AddedClip {
                index,
                name,
                name_in_file,
            });
        }
        Ok(AddedClips {
            character: character.clone().with_clips_and_events(clips)?,
            clips: list,
            report: found.report,
        })
    }

    /// Makes clips for the joints of `skeleton` from the animations of this file.
    ///
    /// They are matched as by [`Self::add_clips`]. A skeleton has no morph weights, so tracks of
    /// those are left out and reported.
    ///
    /// # Errors
    /// As [`Self::add_clips`].
    pub fn clips_for(self, skeleton: &Skeleton, options: &ImportOptions) -> Result<ClipsFor> {
        let found = fitted(self, skeleton, &[], options)?;
        Ok(ClipsFor {
            clips: found.clips.into_iter().map(|(_, clip, _)| clip).collect(),
            report: found.report,
        })
    }
}

/// Clips with their names in the file.
struct Fitted {
    clips: Vec<(Box<str>, CurveClip, NamedTimes)>,
    report: ClipsReport,
}

fn fitted(
    raw: RawCharacter,
    to: &Skeleton,
    weights: &[MorphWeight],
    options: &ImportOptions,
) -> Result<Fitted> {
    let name = if options.name.is_empty() {
        raw.name.clone()
    } else {
        options.name.clone()
    };
    let mut repairs = Vec::new();
    let adopted =
        adopt(raw, to, options, &mut repairs).map_err(|error: Error| error.in_file(&name))?;
    let of_weight = match_weights(&adopted.weights, weights);
    let mut driven = vec![0_u64; adopted.weights.len()];
    let (mut clips, mut empty) = (Vec::new(), Vec::new());
    for (clip, events) in adopted.clips.iter().zip(&adopted.events) {
        let mut parts = Vec::new();
        for track in clip.weight_tracks() {
            parts.extend(matched_parts(track, &of_weight));
            let first = track.first_weight as usize;
            for driven in driven.iter_mut().skip(first).take(track.count as usize) {
                *driven += 1;
            }
        }
        if clip.tracks().is_empty() && parts.is_empty() {
            empty.push(clip.name().into());
            continue;
        }
        let title = if clip.name().is_empty() {
            &name
        } else {
            clip.name()
        };
        let fit = clip.clone().with_name(title);
        clips.push((
            clip.name().into(),
            fit.with_weight_tracks(parts, weights.len())?,
            events.clone(),
        ));
    }
    if clips.is_empty() {
        let names = |skeleton: &Skeleton| listed(skeleton.joints().iter().map(|j| &*j.name));
        return Err(Error::NoCommonJoints {
            from: names(&adopted.skeleton),
            to: names(to),
        });
    }
    let mut report = report(&adopted, to);
    report.unmatched_weights = unmatched_weights(&adopted.weights, &of_weight, &driven);
    report.empty = empty;
    report.repairs = repairs;
    Ok(Fitted { clips, report })
}

fn report(adopted: &Adopted, to: &Skeleton) -> ClipsReport {
    let mut report = ClipsReport {
        ambiguous: adopted
            .names
            .ties
            .iter()
            .map(|tie| AmbiguousName {
                name: tie.name.clone(),
                in_file: tie.bearers[0],
                in_skeleton: tie.bearers[1],
                matched: tie.matched,
            })
            .collect(),
        ..ClipsReport::default()
    };
    let of = &adopted.names.of;
    for ((joint, found), tracks) in adopted
        .skeleton
        .joints()
        .iter()
        .zip(of)
        .zip(&adopted.tracks)
    {
        match found {
            Some(_) => report.matched += usize::from(*tracks > 0),
            None if *tracks > 0 => report.unmatched.push(UnmatchedJoint {
                name: joint.name.clone(),
                tracks: *tracks,
            }),
            None => {}
        }
        if let Some(found) = *found {
            let parent = of.get(usize::from(joint.parent_index())).copied().flatten();
            let theirs = &to.joints()[usize::from(found)];
            let other_parent = theirs.parent_index() != parent.unwrap_or(NO_PARENT);
            report
                .rest
                .extend(difference(found, to, &joint.rest, other_parent));
        }
    }
    report
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
) -> Option<RestDifference> {
    let theirs = &to.joints()[usize::from(joint)];
    let (a, b) = (rest, &theirs.rest);
    let (q, p) = (a.rotation.as_dquat(), b.rotation.as_dquat());
    // Computed from the chord, because the arc cosine is inaccurate near 1.
    let chord = (q - p).length().min((q + p).length());
    let found = RestDifference {
        joint: JointId(joint),
        name: theirs.name.clone(),
        translation_m: a.translation.distance(b.translation),
        rotation_rad: (4.0 * (chord * 0.5).min(1.0).asin()) as f32,
        scale: (a.scale - b.scale).abs().max_element(),
        other_parent,
    };
    let reach = a.translation.length().max(b.translation.length());
    let is_same = found.translation_m <= TRANSLATION_PART * reach
        && found.rotation_rad <= ROTATION_RAD
        && found.scale <= SCALE * a.scale.abs().max(b.scale.abs()).max_element();
    (other_parent || !is_same).then_some(found)
}

fn unmatched_weights(
    weights: &[MorphWeight],
    of: &[Option<u32>],
    driven: &[u64],
) -> Vec<UnmatchedWeight> {
    let all = weights.iter().zip(of).zip(driven);
    all.filter(|((_, found), tracks)| found.is_none() && **tracks > 0)
        .map(|((weight, _), tracks)| UnmatchedWeight {
            owner: weight.owner.clone(),
            name: weight.name.clone(),
            tracks: *tracks,
        })
        .collect()
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
