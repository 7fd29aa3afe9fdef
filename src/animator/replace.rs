//! Replaces the character of an animator while its actors go on playing.

use super::library::Library;
use super::{Animator, EventQueue, Mix, PlayRecord, SpringMode};
use crate::animator::library::Mapping;
use crate::character::Character;
use crate::error::Result;
use crate::palette::PaletteFormat;
use core::fmt::{Display, Formatter};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something that a replaced character had, and that the new one lacks.
///
/// See [`Animator::replace`] and `Crowd::replace_character`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplaceIssue {
    /// The kind of thing, such as `clip`, `mask`, `state` or `part`.
    pub what: &'static str,
    /// Its name in the old character.
    pub name: Box<str>,
    /// The number of actors or instances that used it.
    pub affected: usize,
}

impl Display for ReplaceIssue {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        let Self {
            what,
            name,
            affected,
        } = self;
        write!(
            f,
            "{what} \"{}\" is gone: {affected} used it",
            name.escape_debug()
        )
    }
}

/// The issues that were found so far, by kind and name.
#[derive(Debug, Default)]
pub(crate) struct ReplaceIssues(BTreeMap<(&'static str, Box<str>), Users>);

/// The number of actors that used something, and the last of them.
#[derive(Debug, Default)]
struct Users {
    count: usize,
    last: Option<u32>,
}

impl ReplaceIssues {
    /// Counts an actor once for each thing. Without an actor, nobody uses the thing.
    pub(crate) fn note(&mut self, actor: Option<u32>, what: &'static str, name: &str) {
        let users = self.0.entry((what, name.into())).or_default();
        if actor.is_some() && users.last != actor {
            (users.count, users.last) = (users.count + 1, actor);
        }
    }

    pub(crate) fn list(self) -> Vec<ReplaceIssue> {
        let all = self.0.into_iter();
        let issue = |((what, name), users): (_, Users)| ReplaceIssue {
            what,
            name,
            affected: users.count,
        };
        all.map(issue).collect()
    }
}

impl Animator {
    /// Replaces the character, while the actors go on playing.
    ///
    /// Use it if an artist has saved a file again. Ids of actors stay valid. Everything that an
    /// actor has is found by its name in the new character: clips, masks, blend spaces, the state
    /// machine's parameters, layers and states, expressions, morph weights, and the joints of
    /// inverse kinematics solvers and of poses that the caller set.
    ///
    /// - A looping clip keeps its phase if its duration has changed, and a clip that plays once
    ///   keeps its time.
    /// - A fade between states goes on if its transition still exists. A state that is gone is
    ///   replaced by the state in which its layer starts.
    /// - What is gone ends at once, and is listed in the result with the number of actors that it
    ///   affects. The list is empty if everything fits.
    /// - A pose that the caller set ends, too, if the new character cannot represent it.
    /// - Spring bones start anew, and inertialised transitions end.
    /// - Events that were not delivered yet are lost, and so are those of the last update.
    ///
    /// Ids of clips, joints and so on that the caller keeps are those of the old character: look
    /// them up again.
    ///
    /// ```
    /// use throng::animator::Animator;
    /// use throng::import::{ImportOptions, RawCharacter};
    ///
    /// let mut file = RawCharacter::mannequin();
    /// let before = file.clone().build(&ImportOptions::default())?;
    /// let mut animator = Animator::new(&before.character)?;
    /// let guard = animator.add("Walk")?;
    /// let dancer = animator.add("Wave")?;
    ///
    /// file.animations.retain(|clip| &*clip.name != "Wave");
    /// let issues = animator.replace(&file.build(&ImportOptions::default())?.character)?;
    /// assert_eq!(issues[0].to_string(), "clip \"Wave\" is gone: 1 used it");
    /// assert_eq!(animator.actor(guard)?.playing().count(), 1);
    /// assert_eq!(animator.actor(dancer)?.playing().count(), 0);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// None for a character that an importer made. The animator is unchanged then.
    #[doc(alias("reload", "hot reload"))]
    pub fn replace(&mut self, character: &Character) -> Result<Vec<ReplaceIssue>> {
        let mut issues = ReplaceIssues::default();
        self.replace_noting(character, None, &mut issues)?;
        Ok(issues.list())
    }

    /// Replaces the character, and adds what is gone to `issues`. Poses that the caller set must
    /// fit the palette format `fits`, if there is one.
    pub(crate) fn replace_noting(
        &mut self,
        character: &Character,
        fits: Option<(Arc<Character>, PaletteFormat)>,
        issues: &mut ReplaceIssues,
    ) -> Result<()> {
        let mut fresh = Self::new(character)?;
        fresh.set_simd_level(self.poser.simd_level())?;
        let actors: Vec<u32> = self.actors.ids().map(|id| id.index).collect();
        for index in &actors {
            self.touch(*index);
        }
        let old = core::mem::replace(&mut self.library, fresh.library);
        (self.poser, self.fits) = (fresh.poser, fits);
        let map = Mapping::new(&old, &self.library);
        self.queue = EventQueue::default();
        self.queue.reserve(self.actors.len());
        self.work.forget_character();
        self.bounds.forget_character();
        self.bounds.make_room(&self.library, self.actors.list.len());
        self.schedule.warmed = 0;
        self.edits = fresh.edits;
        self.solvers
            .adopt(&old.skeleton, &self.library.skeleton, &map.joints);
        for index in actors {
            self.adopt(index, (&old, &map), issues);
            self.adopt_pose(index, (&old, &map), issues);
            self.changed(index);
        }
        Ok(())
    }

    /// Fits one actor to the new character.
    fn adopt(&mut self, index: u32, (old, map): (&Library, &Mapping), issues: &mut ReplaceIssues) {
        let mut lost = |what, name: &str| issues.note(Some(index), what, name);
        let now_s = self.now_s;
        let Self {
            library,
            pools,
            actors,
            solvers,
            ..
        } = self;
        let actor = &mut actors[index];
        let local_s = actor.clock.local_s(now_s);
        let mut mix = Mix::new(library, pools, &mut actor.layers, local_s);
        mix.adopt(old, map, &mut lost);
        let machines = (old.state_machine(), library.state_machine());
        let mut inertialised = false;
        match (&mut actor.driver, machines) {
            (Some(driver), (Some(before), Some(machine))) => {
                driver.adopt(before, machine, &mut lost);
                mix.clear_below(machine.layer_count());
                driver.write(machine, &mut mix);
                inertialised = machine.has_inertialisation();
            }
            (Some(_), _) => {
                lost(
                    "state machine",
                    old.state_machine().map_or("", |it| it.layer_name(0)),
                );
                actor.driver = None;
            }
            (None, _) => {}
        }
        actor.inertialisation = None;
        let counts = [library.expressions.len(), library.morph_weights.len()];
        if let Some(weights) = &mut actor.weights {
            weights.adopt(old, map, counts, &mut lost);
        }
        actor.goals.adopt(solvers, &mut lost);
        let mode = match old.springs.is_empty() {
            true => SpringMode::default(),
            false => actor.springs.mode(),
        };
        self.set_springs(index, SpringMode::Off);
        self.set_springs(index, mode);
        if inertialised || self.actors[index].may_be_special {
            self.expect_special(index);
        }
    }

    /// Fits the pose that the caller set for an actor. The actor loses it if the new skeleton or
    /// palette format cannot represent it.
    fn adopt_pose(
        &mut self,
        index: u32,
        (old, map): (&Library, &Mapping),
        issues: &mut ReplaceIssues,
    ) {
        // Its clip has the joints of the old character.
        self.actors[index].own_clip = None;
        let Some(mut own) = self.actors[index].own_pose.take() else {
            return;
        };
        own.adopt((&old.skeleton, &self.library.skeleton), &map.joints);
        let fits = self.check_own(&own).is_ok();
        let actor = &mut self.actors[index];
        if fits {
            actor.own_pose = Some(own);
            actor.update_own_clip(&self.poser);
            return;
        }
        let (local_s, layers) = (actor.clock.local_s(self.now_s), &mut actor.layers);
        let mut mix = Mix::new(&self.library, &mut self.pools, layers, local_s);
        let is_pose = |record: &PlayRecord| record.has(PlayRecord::FLAG_POSE);
        if mix.records().iter().any(is_pose) {
            issues.note(Some(index), "pose", "set by the caller");
            mix.retain_records(|record| !is_pose(record));
        }
    }
}
