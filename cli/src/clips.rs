//! Adds the clips of one file to the character of another.

use crate::failure::Failure;
use crate::model::{Space, is_builtin, load};
use crate::output;
use crate::words::{note, plural, shown, warn};
use clap::ValueEnum;
use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use throng::character::{AnimationDesc, Character, ClipDesc, EventDesc};
use throng::clip::{Clip, CurveClip};
use throng::error::ObjectKind;
use throng::import::{ImportOptions, Imported, Repair, RepairKind};
use throng::retarget::{JointMap, Retarget, RetargetOptions, Role, VrmKind};
use throng::skeleton::{Joint, Skeleton};
use throng::{Error, Id};

/// The ways to match the joints of two skeletons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Matching {
    /// `copy` if the skeletons are alike or the clips have none, otherwise `names` or `humanoid`,
    /// whichever matches more joints.
    Auto,
    /// By exact names, with the keys as they are. For skeletons with the same rest pose.
    Copy,
    /// By names, also if case, separators or prefixes differ. The motion is retargeted.
    Names,
    /// By parts of the body. The motion is retargeted.
    Humanoid,
}

impl Matching {
    /// The value of `--match`.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// The arguments for adding clips.
#[derive(Debug, clap::Args)]
pub(crate) struct More {
    /// Another file whose clips are added, after the file's own. May be repeated.
    #[arg(long, value_name = "FILE")]
    clips: Vec<PathBuf>,
    /// Matching of the joints of --clips.
    #[arg(long = "match", value_enum, default_value = "auto", value_name = "HOW")]
    matching: Matching,
}

/// A character with the clips of several files.
pub(crate) struct Extended {
    pub(crate) character: Character,
    /// The repairs of all files.
    pub(crate) repairs: Vec<Repair>,
    /// Everything that did not match, one line each.
    pub(crate) remarks: Vec<String>,
}

impl More {
    /// The files that are read, with that of the character.
    pub(crate) fn sources<'a>(&'a self, input: &'a Path) -> Vec<&'a Path> {
        let clips = self.clips.iter().map(PathBuf::as_path);
        clips.chain([input]).collect()
    }

    /// Adds the clips of all files to an import, and tells what happened on the error stream.
    ///
    /// Fails if an output would replace one of the files that were read.
    pub(crate) fn add_to(
        &self,
        model: Imported,
        space: Space,
        outputs: &[&Path],
    ) -> Result<Extended, Failure> {
        let mut all = Extended {
            character: model.character,
            repairs: model.repairs,
            remarks: Vec::new(),
        };
        for path in &self.clips {
            let added = add(&all.character, path, self.matching, space)?;
            output::check_unread(outputs, path, &added.files)?;
            let clips = plural(added.clips.len(), "clip");
            note(&format!("{}: {clips} added", shown(path)));
            if let Some(warning) = &added.warning {
                warn(warning);
            }
            added.remarks.iter().for_each(|line| note(line));
            all.character = added.character;
            all.repairs.extend(added.repairs);
            all.remarks.extend(added.remarks);
        }
        Ok(all)
    }
}

/// A character with added clips, and what happened to them.
pub(crate) struct Added {
    pub(crate) character: Character,
    /// The joints were matched like this. Never [`Matching::Auto`].
    pub(crate) matching: Matching,
    pub(crate) clips: Vec<AddedClip>,
    /// The reason that the retargeted motion may look wrong.
    pub(crate) warning: Option<String>,
    /// Everything that did not match, one line each, and a summary of the repairs.
    pub(crate) remarks: Vec<String>,
    pub(crate) repairs: Vec<Repair>,
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
}

pub(crate) struct AddedClip {
    pub(crate) name: String,
    pub(crate) duration_s: f32,
    pub(crate) tracks: usize,
    /// The largest error between the keys, if the clip was retargeted, in metres.
    pub(crate) error_m: Option<f64>,
}

/// Adds the clips of a file to a character.
///
/// `space` is that of the file, as far as the file does not state it.
pub(crate) fn add(
    onto: &Character,
    path: &Path,
    matching: Matching,
    space: Space,
) -> Result<Added, Failure> {
    let fault = |error: Error| Failure::of_file(path, &error);
    let is_character = is_builtin(path) || is_saved(path);
    let has_hierarchy = is_character || throng_import::has_hierarchy(path);
    let matching = match matching {
        Matching::Copy => Matching::Copy,
        _ if has_hierarchy => matching,
        // Keys without the parents of their joints cannot be retargeted.
        Matching::Auto => Matching::Copy,
        Matching::Names | Matching::Humanoid => {
            return Err(Failure::Usage(format!(
                "{}: --match {} needs the skeleton of the clips, and the file has none: \
                 use --match copy",
                shown(path),
                matching.name()
            )));
        }
    };
    match matching {
        Matching::Auto | Matching::Copy if !is_character => {
            let options = space.of(ImportOptions::curves_only());
            match throng_import::add_clips(onto, path, &options) {
                // Once more, with the report of how joints were matched.
                Ok(added) if added.retargeted => {
                    let from = load(path, &space.of(clips_only()))?;
                    retargeted(onto, &from, path, Matching::Humanoid)
                }
                Ok(added) if matching == Matching::Copy || is_alike(&added) => {
                    Ok(copied(onto, added))
                }
                Ok(_) | Err(Error::NoCommonJoints { .. }) if matching == Matching::Auto => {
                    match load(path, &space.of(clips_only())) {
                        Ok(from) => retargeted(onto, &from, path, matching),
                        Err(_) => add(onto, path, Matching::Copy, space),
                    }
                }
                Ok(added) => Ok(copied(onto, added)),
                Err(Error::NoCommonJoints { .. }) if !has_hierarchy => {
                    Err(unknown_tracks(onto, path)?)
                }
                Err(error) => Err(fault(error)),
            }
        }
        Matching::Copy => Err(Failure::Usage(format!(
            "{}: --match copy needs a file that is imported, not a character",
            shown(path)
        ))),
        _ => {
            let from = load(path, &space.of(clips_only()))?;
            retargeted(onto, &from, path, matching)
        }
    }
}

/// The error for a file without a skeleton whose tracks have no name of a joint.
fn unknown_tracks(onto: &Character, path: &Path) -> Result<Failure, Failure> {
    let names = |character: &Character| {
        let joints = character.skeleton().joints().iter();
        let names: Vec<&str> = joints.map(|joint| &*joint.name).collect();
        some(&names)
    };
    let tracks = load(path, &clips_only())?;
    Ok(Failure::File(format!(
        "{}: no track has exactly the name of a joint: the tracks are for {}; the joints are {}",
        shown(path),
        names(&tracks),
        names(onto)
    )))
}

/// True for a saved character, whose clips can only be retargeted.
fn is_saved(path: &Path) -> bool {
    // Opening a pipe would wait for its other end. The import refuses it.
    if !path.is_file() {
        return false;
    }
    let mut start = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"throng\r\n"
}

/// True if every joint that moves was found, with the same rest pose.
fn is_alike(added: &Imported) -> bool {
    let differs = |kind: &RepairKind| {
        matches!(
            kind,
            RepairKind::RestDiffers { .. } | RepairKind::UnmatchedJoint
        )
    };
    !added.repairs.iter().any(|repair| differs(&repair.kind))
}

fn copied(onto: &Character, mut added: Imported) -> Added {
    let is_unmatched = |repair: &mut Repair| {
        repair.kind == RepairKind::UnmatchedJoint && repair.object.kind == ObjectKind::Node
    };
    let strangers: Vec<Repair> = added.repairs.extract_if(.., is_unmatched).collect();
    let strangers: Vec<&str> = strangers.iter().map(|one| &*one.object.part).collect();
    let mut remarks = added.repair_summary();
    remarks.extend(listed("no joint follows", &strangers));
    let first = crate::model::clips(onto).len();
    let curves = added.curves().iter().skip(onto.curves().len());
    let mut clips: Vec<AddedClip> = curves.map(|clip| of_curve(clip, None)).collect();
    if clips.is_empty() {
        // The curves are not kept.
        let packed = added.clips().iter().skip(first);
        clips.extend(packed.map(|clip| AddedClip {
            name: clip.name().into(),
            duration_s: clip.duration_s() as f32,
            tracks: 0,
            error_m: None,
        }));
    }
    Added {
        matching: Matching::Copy,
        clips,
        warning: None,
        remarks,
        repairs: added.repairs,
        character: added.character,
        files: added.files,
    }
}

fn of_curve(clip: &CurveClip, error_m: Option<f64>) -> AddedClip {
    AddedClip {
        name: clip.name().into(),
        duration_s: clip.duration_s(),
        tracks: clip.tracks().len() + clip.weight_tracks().len(),
        error_m,
    }
}

fn retargeted(
    onto: &Character,
    from: &Imported,
    path: &Path,
    matching: Matching,
) -> Result<Added, Failure> {
    if from.curves().is_empty() {
        let words = match from.clips().is_empty() {
            true => "has no clips",
            false => "has packed clips only: bake it again with --keep-curves",
        };
        return Err(Failure::File(format!("{}: {words}", shown(path))));
    }
    let (matching, maps) =
        maps(from, onto.skeleton(), matching).map_err(|error| Failure::of_file(path, &error))?;
    let mut made = Made::new(onto);
    for (index, map) in (0..).zip(maps) {
        made.add(from, Id::new(index), map)?;
    }
    let mut remarks = from.repair_summary();
    remarks.extend(made.remarks());
    let mut character = onto.clone().with_clips(made.curves)?;
    if !made.events.is_empty() {
        let desc = AnimationDesc {
            clips: made.events,
            ..character.animation_desc().clone()
        };
        character = character.with_animation(&desc)?;
    }
    Ok(Added {
        character,
        matching,
        clips: made.clips,
        warning: made.warning,
        remarks,
        repairs: from.repairs.clone(),
        files: from.files.clone(),
    })
}

/// Clips that are retargeted one by one.
struct Made<'a> {
    onto: &'a Character,
    taken: HashSet<String>,
    /// The last map, and what it is used by.
    last: Option<(JointMap, Retarget)>,
    clips: Vec<AddedClip>,
    curves: Vec<CurveClip>,
    /// The events of the clips that have some.
    events: Vec<ClipDesc>,
    warning: Option<String>,
    /// Lines about joints that the maps leave out, each once.
    unmatched: Vec<String>,
    /// Clips without a map, tracks of morph weights, and clips with root motion.
    unmapped: Vec<String>,
    morphs: usize,
    moving: usize,
}

impl<'a> Made<'a> {
    fn new(onto: &'a Character) -> Self {
        let names = crate::model::clips(onto);
        Self {
            onto,
            taken: names.iter().map(|(name, _)| (*name).to_owned()).collect(),
            last: None,
            clips: Vec::new(),
            curves: Vec::new(),
            events: Vec::new(),
            warning: None,
            unmatched: Vec::new(),
            unmapped: Vec::new(),
            morphs: 0,
            moving: 0,
        }
    }

    /// Retargets a clip. Without a map, it is left out.
    fn add(
        &mut self,
        from: &Character,
        id: Id<Clip>,
        map: Option<JointMap>,
    ) -> Result<(), Failure> {
        let clip = &from.curves()[id.index()];
        let Some(map) = map else {
            self.unmapped.push(clip.name().to_owned());
            return Ok(());
        };
        let retarget = match self.last.take() {
            Some((last, retarget)) if last == map => retarget,
            _ => self.retarget(from, &map)?,
        };
        let (_, retarget) = self.last.insert((map, retarget));
        let (made, report) = retarget.clip(clip)?;
        let made = made.with_name(&free_name(clip.name(), &mut self.taken));
        self.morphs += report.weight_tracks;
        self.clips.push(of_curve(&made, Some(report.max_error_m)));
        let end_s = f64::from(made.duration_s());
        let events = from.events(id).map(|(name, time_s)| EventDesc {
            name: name.into(),
            time_s: time_s.min(end_s),
        });
        let events: Vec<_> = events.collect();
        self.moving += usize::from(from.root_motion(id).is_some());
        if !events.is_empty() {
            self.events.push(ClipDesc {
                name: made.name().into(),
                events,
                ..ClipDesc::default()
            });
        }
        self.curves.push(made);
        Ok(())
    }

    /// A retarget by a map, after noting what it leaves out.
    fn retarget(&mut self, from: &Character, map: &JointMap) -> Result<Retarget, Failure> {
        let (source, target) = (from.skeleton(), self.onto.skeleton());
        let retarget = Retarget::new(source, target, map, &RetargetOptions::default())?;
        let fit = retarget.fit();
        if !fit.is_good() && self.warning.is_none() {
            self.warning = Some(format!("the skeletons are of different builds: {fit}"));
        }
        let mut lines = vec![format!(
            "{} of {} follow {} of {}",
            map.links().len(),
            plural(target.len(), "joint"),
            fit.source_matched,
            fit.source_joints
        )];
        let whose = ["the file with the clips", "the target"];
        for (roles, whose) in map.unmatched_roles().iter().zip(whose) {
            let roles: Vec<String> = roles.iter().map(Role::to_string).collect();
            if !roles.is_empty() {
                lines.push(format!("only {whose} has joints for {}", some(&roles)));
            }
        }
        let [of_source, of_target] = map.unmatched_joints();
        lines.extend(unmatched("no joint follows", from, of_source));
        lines.extend(unmatched("nothing moves", self.onto, of_target));
        lines.retain(|line| !self.unmatched.contains(line));
        self.unmatched.extend(lines);
        Ok(retarget)
    }

    /// Lines about everything that did not match.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.unmatched.clone();
        if !self.unmapped.is_empty() {
            let clips = plural(self.unmapped.len(), "clip");
            let names = some(&self.unmapped);
            remarks.push(format!(
                "{clips} left out, for which no joint matches: {names}"
            ));
        }
        if self.morphs > 0 {
            let tracks = plural(self.morphs, "track");
            remarks.push(format!("{tracks} of morph weights left out"));
        }
        if self.moving > 0 {
            let clips = plural(self.moving, "clip");
            remarks.push(format!("root motion of {clips} left out"));
        }
        remarks
    }
}

/// The map of each clip for retargeting, and the matching that they are from. `None` for a clip of
/// which nothing matches, if something matches of another.
fn maps(
    from: &Character,
    onto: &Skeleton,
    matching: Matching,
) -> throng::Result<(Matching, Vec<Option<JointMap>>)> {
    let names = || each_map(from, onto, JointMap::by_names).map(|maps| (Matching::Names, maps));
    let humanoid = || each_map(from, onto, JointMap::humanoid);
    let humanoid = || humanoid().map(|maps| (Matching::Humanoid, maps));
    let is_vrm_animation = from.skeleton().vrm() == Some(VrmKind::Animation);
    let links = |maps: &[Option<JointMap>]| -> usize {
        maps.iter().flatten().map(|map| map.links().len()).sum()
    };
    match matching {
        Matching::Names => names(),
        Matching::Humanoid => humanoid(),
        // Its clips are for all models, whose joints may have any names.
        Matching::Auto if is_vrm_animation && onto.vrm().is_some() => humanoid(),
        Matching::Auto | Matching::Copy => match (names(), humanoid()) {
            (Ok(names), Ok(humanoid)) => {
                let more = links(&names.1) >= links(&humanoid.1);
                Ok(if more { names } else { humanoid })
            }
            // A few names that are alike by chance are no match.
            (Ok(names), Err(error)) => match matches_most(from, &names.1) {
                true => Ok(names),
                false => Err(error),
            },
            (Err(_), humanoid) => humanoid,
        },
    }
}

/// The map of each clip. Fails if there is none for any clip.
fn each_map(
    from: &Character,
    onto: &Skeleton,
    map: fn(&Skeleton, &Skeleton) -> throng::Result<JointMap>,
) -> throng::Result<Vec<Option<JointMap>>> {
    let (mut maps, mut fault) = (Vec::new(), None);
    for clip in from.curves() {
        match JointMap::for_clip(clip, from.skeleton(), onto, map) {
            Ok(map) => maps.push(Some(map)),
            Err(error) => {
                fault.get_or_insert(error);
                maps.push(None);
            }
        }
    }
    match fault {
        Some(error) if maps.iter().all(Option::is_none) => Err(error),
        _ => Ok(maps),
    }
}

/// True if at least half of the joints that the clips move are matched.
fn matches_most(from: &Character, maps: &[Option<JointMap>]) -> bool {
    let (mut moved, mut unmatched) = (0, 0);
    for (clip, map) in from.curves().iter().zip(maps) {
        let joints: HashSet<Id<Joint>> = clip.tracks().iter().map(|track| track.joint).collect();
        let others: HashSet<Id<Joint>> = match map {
            Some(map) => map.unmatched_joints()[0].iter().copied().collect(),
            None => joints.clone(),
        };
        moved += joints.len();
        unmatched += joints.intersection(&others).count();
    }
    2 * unmatched <= moved
}

/// The name, with the first free number after it if another clip has it.
fn free_name(name: &str, taken: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    // The list has no end, so there is a free name.
    let free = names.find(|name| name.is_empty() || taken.insert(name.clone()));
    free.unwrap_or_default()
}

/// The names of joints that did not match, some of them if there are many.
fn unmatched(what: &str, character: &Character, joints: Vec<Id<Joint>>) -> Option<String> {
    let all = character.skeleton().joints();
    let names = joints.into_iter();
    let names: Vec<&str> = names.map(|joint| &*all[joint.index()].name).collect();
    listed(what, &names)
}

/// A number of joints and their names. `None` if there are none.
fn listed(what: &str, names: &[&str]) -> Option<String> {
    let joints = plural(names.len(), "joint");
    (!names.is_empty()).then(|| format!("{what} {joints}: {}", some(names)))
}

/// The first names of a list, and the number of the others.
fn some<T: AsRef<str>>(names: &[T]) -> String {
    const SHOWN: usize = 12;
    let shown = names.iter().take(SHOWN).map(AsRef::as_ref);
    let shown: Vec<&str> = shown.collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Options for a file of which only the clips are used.
fn clips_only() -> ImportOptions {
    ImportOptions {
        meshes: false,
        ..ImportOptions::curves_only()
    }
}
