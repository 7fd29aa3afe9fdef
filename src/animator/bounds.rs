//! The bounding spheres of actors, by the sets of clips that they play.

use super::actors::ActorState;
use super::library::Library;
use super::record::PlayRecord;
use super::solvers::{IkSolver, Solvers};
use super::state::OwnPose;
use crate::grow::reserve_all;
use crate::id::Id;
use crate::ik::FootPlacement;
use crate::mesh::Sphere;
use crate::palette::SkinningMethod;
use crate::skeleton::Joint;
use crate::skin::{Nodes, Poses, Posing, Reach};

/// The number of sets of clips whose spheres are kept: 12 KB.
const SETS: usize = 128;

/// The most clips of a set that is kept.
const CLIPS: usize = 8;

/// The weights of additive clips are rounded up to multiples of 1 over this.
const STEPS: f32 = 8.0;

/// A set of clips, and everything else that decides a sphere.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Set {
    /// Ascending, with the steps of the weight if the clip is additive.
    clips: [(u16, u16); CLIPS],
    count: u16,
    springs: bool,
    /// One bit for each solver with a target.
    solvers: u64,
}

/// The spheres of sets of clips, and the actors that changed.
///
/// Nothing is allocated while actors play.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    pub(super) method: SkinningMethod,
    sets: Box<[Option<(Set, Reach)>]>,
    /// Actors that changed since the list was last taken, each once.
    pub(super) changed: Vec<u32>,
    poses: Poses,
    nodes: Nodes,
}

impl Set {
    /// `None` if it does not fit.
    fn of(library: &Library, records: &[PlayRecord], actor: &ActorState) -> Option<Self> {
        let mut set = Self {
            springs: actor.springs.is_on(),
            ..Self::default()
        };
        for (clip, weight) in played(records) {
            let reach = library.clip_reaches.get(usize::from(clip))?;
            let changes = reach.additive && !(reach.moves.is_empty() && reach.weights.is_empty());
            let steps = if changes {
                (weight * STEPS).ceil()
            } else {
                0.0
            };
            if steps > f32::from(u16::MAX) {
                return None;
            }
            set.insert(clip, steps as u16)?;
        }
        for solver in actor.goals.solvers() {
            set.solvers |= 1_u64.checked_shl(solver.0.into())?;
        }
        Some(set)
    }

    fn clips(&self) -> &[(u16, u16)] {
        self.clips.get(..self.count.into()).unwrap_or_default()
    }

    fn insert(&mut self, clip: u16, steps: u16) -> Option<()> {
        let found = self.clips().binary_search_by_key(&clip, |(own, _)| *own);
        match found {
            Ok(at) => {
                let (_, own) = self.clips.get_mut(at)?;
                *own = own.checked_add(steps)?;
            }
            Err(at) => {
                let count = usize::from(self.count);
                let clips = self.clips.get_mut(at..=count)?;
                clips.rotate_right(1);
                *clips.first_mut()? = (clip, steps);
                self.count += 1;
            }
        }
        Some(())
    }

    /// The index of its slot in the cache.
    fn slot(&self) -> usize {
        let numbers = self.clips().iter();
        let numbers = numbers.map(|(clip, steps)| u64::from(*clip) << 16 | u64::from(*steps));
        let start = self.solvers << 1 | u64::from(self.springs);
        // The multiplier of Fx hashing.
        let hash = numbers.fold(start, |hash, number| {
            (hash.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95)
        });
        (hash >> 32) as usize % SETS
    }
}

/// The clips of records that can be seen at some time, and their largest weights.
fn played(records: &[PlayRecord]) -> impl Iterator<Item = (u16, f32)> + Clone + '_ {
    let clips = records.iter();
    let clips = clips.filter(|record| !record.has(PlayRecord::FLAG_POSE));
    let weighted = clips.map(|record| (record.clip, record.from_weight.max(record.to_weight)));
    weighted.filter(|(_, weight)| *weight > 0.0)
}

impl Bounds {
    pub(super) fn new(method: SkinningMethod) -> Self {
        Self {
            method,
            sets: vec![None; SETS].into(),
            changed: Vec::new(),
            poses: Poses::default(),
            nodes: Nodes::default(),
        }
    }

    /// Reserves memory for a character, and for the list of this many actors.
    pub(super) fn make_room(&mut self, library: &Library, actors: usize) {
        self.poses.begin(&library.reach);
        self.nodes.make_room(&library.reach);
        self.reserve(actors);
    }

    /// Reserves memory for the list of this many actors.
    pub(super) fn reserve(&mut self, actors: usize) {
        self.changed
            .reserve(actors.saturating_sub(self.changed.len()));
    }

    /// The same, without memory for more.
    pub(super) fn reserve_exact(&mut self, actors: usize) {
        reserve_all(&mut self.changed, actors);
    }

    /// Forgets what depends on the character.
    pub(super) fn forget_character(&mut self) {
        self.sets.fill(None);
    }

    /// The sphere of an actor at a time of its own, and at all later ones.
    pub(super) fn sphere(
        &mut self,
        (library, solvers): (&Library, &Solvers),
        records: &[PlayRecord],
        actor: &ActorState,
        local_s: f64,
    ) -> Sphere {
        let shows = records.iter().any(|own| own.has(PlayRecord::FLAG_POSE));
        let own = actor.own_pose.as_deref().filter(|_| shows);
        let is_plain = own.is_none() && actor.inertialised_at(local_s).is_none();
        let set = is_plain.then(|| Set::of(library, records, actor)).flatten();
        let found = match set {
            None => {
                let clips = played(records).map(|(clip, weight)| (clip, f64::from(weight)));
                self.reach((library, solvers), clips, actor, (own, local_s))
            }
            Some(set) => {
                let slot = set.slot();
                match self.sets.get(slot) {
                    Some(Some((kept, found))) if *kept == set => *found,
                    _ => {
                        let weight = |steps: u16| f64::from(steps) / f64::from(STEPS);
                        let clips = set.clips().iter();
                        let clips = clips.map(|(clip, steps)| (*clip, weight(*steps)));
                        let found = self.reach((library, solvers), clips, actor, (None, local_s));
                        if let Some(kept) = self.sets.get_mut(slot) {
                            *kept = Some((set, found));
                        }
                        found
                    }
                }
            }
        };
        let weights = actor.weights.iter();
        let added = weights.flat_map(|weights| weights.added(library));
        let morphed_m = library.reach.morphed_m(added);
        found.sphere.widened(found.morph_scale * morphed_m)
    }

    /// Computes the sphere of some clips, of a pose that the caller gave, and of what changes them.
    fn reach(
        &mut self,
        (library, solvers): (&Library, &Solvers),
        clips: impl Iterator<Item = (u16, f64)> + Clone,
        actor: &ActorState,
        (own, local_s): (Option<&OwnPose>, f64),
    ) -> Reach {
        let Self { poses, nodes, .. } = self;
        let reach_of = |clip: u16| library.clip_reaches.get(usize::from(clip));
        let clips = clips.filter_map(|(clip, weight)| Some((reach_of(clip)?, weight)));
        poses.begin(&library.reach);
        for (clip, _) in clips.clone().filter(|(clip, _)| !clip.additive) {
            poses.mean(clip);
        }
        if let Some(own) = own {
            poses.pose(&library.reach, own.local());
        }
        for (clip, weight) in clips.filter(|(clip, _)| clip.additive) {
            poses.add(clip, weight);
        }
        if let Some(transition) = actor.inertialised_at(local_s) {
            poses.offset(transition);
        }
        let springs = actor.springs.is_on().then_some(&*library.springs);
        for joint in springs.iter().flat_map(|springs| springs.swinging()) {
            poses.turn(joint);
        }
        for solver in actor.goals.solvers().filter_map(|id| solvers.get(id).ok()) {
            solver.turned(|joint| poses.turn(joint.index()));
        }
        let mut posing = Posing {
            method: self.method,
            model: None,
            springs,
        };
        let mut found = library.reach.reach(poses, &posing, nodes);
        let moved_m = moved_m(library, solvers, actor, nodes);
        if let Some(model) = own.and_then(OwnPose::model) {
            posing.model = Some(model);
            let shown = library.reach.reach(poses, &posing, nodes);
            found.sphere = found.sphere.union(shown.sphere);
            found.morph_scale = found.morph_scale.max(shown.morph_scale);
        }
        if moved_m > 0.0 {
            let far = f64::from(found.sphere.center.length() + found.sphere.radius) + moved_m;
            let rounding_m = f64::from(FootPlacement::MOST_ROUNDING) * far;
            found.sphere = found.sphere.widened(moved_m + rounding_m);
        }
        found
    }
}

/// The largest distance by which foot placement moves joints, in metres.
///
/// It moves the pelvis in character space. If a later solver or a spring bone turns a joint above
/// the pelvis, then lengths count in the space of the pelvis's parent, where uneven scales can
/// enlarge them.
fn moved_m(library: &Library, solvers: &Solvers, actor: &ActorState, nodes: &Nodes) -> f64 {
    let joints = library.skeleton.joints();
    let mut sum = 0.0;
    for id in actor.goals.solvers() {
        let Ok(IkSolver::Feet(feet)) = solvers.get(id) else {
            continue;
        };
        let is_above = |turned: Id<Joint>| {
            let mut above = joints.get(feet.pelvis.index()).and_then(|own| own.parent);
            while let Some(joint) = above.filter(|joint| *joint != turned) {
                above = joints.get(joint.index()).and_then(|own| own.parent);
            }
            above.is_some()
        };
        let mut turns = actor.springs.is_on()
            && library
                .springs
                .swinging()
                .any(|joint| is_above(Id::new(joint as u16)));
        let later = actor.goals.solvers().filter(|other| *other > id);
        for solver in later.filter_map(|id| solvers.get(id).ok()) {
            solver.turned(|joint| turns |= is_above(joint));
        }
        let parent = joints.get(feet.pelvis.index()).and_then(|own| own.parent);
        let uneven = match parent {
            Some(parent) if turns => nodes.unevenness(parent.index()),
            _ => 1.0,
        };
        sum += feet.most_m() * uneven;
    }
    sum
}
